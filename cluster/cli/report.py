"""``orderly report``: one HTML page about a run."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from cluster.answers.status import run_wordlist, tell_notes
from cluster.cli import options
from cluster.streams import console, write_file


def report(
    directory: options.Run = None,
    out: Annotated[
        str | None, typer.Option(metavar="FILE", help="Where to write it.", show_default="NAME-OF-DIR.html")
    ] = None,
    n: Annotated[int, typer.Option("-n", metavar="N", min=0, help="Boards drawn with their words.")] = 6,
    wordlist: options.RunWordlist = None,
    show: Annotated[bool, typer.Option("--open", help="Open it in a browser.")] = False,
) -> None:
    """Write one self-contained HTML page about a run: claim, boards with their words, charts."""
    directory = options.chosen_run(directory)
    from boardclass.scores import ScoreTable
    from results.reading.report import render
    from results.store.run import open_run
    from search.scoring.scorer import Scorer

    run = open_run(directory)
    words = run_wordlist(run, wordlist)
    scorer = Scorer(run.fingerprint.dims, words.words, ScoreTable("run", run.fingerprint.scores))
    page, found = render(run, scorer, n)
    html = page.encode()
    name = directory.partition("?")[0].rstrip("/").rpartition("/")[2]
    name = Path(name).resolve().name if name in ("", ".", "..") else name
    where = f"{name}.html" if out is None else out  # in the current directory: nothing is put into the run
    write_file(Path(where), html)
    is_open = show and webbrowser.open(Path(where).resolve().as_uri())
    told = "handed to a browser" if is_open else "no browser was found to open it" if show else "open it in a browser"
    console().print(f"{where}: {len(html) / 1024:,.0f} KiB, {told}", markup=False, soft_wrap=True)
    tell_notes(found)
    found.require_proven(directory)
