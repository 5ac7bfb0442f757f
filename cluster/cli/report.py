"""``orderly report``: one HTML page about a run."""

from __future__ import annotations

import webbrowser
from pathlib import Path

from boardclass.errors import InputError, quote
from boardclass.scores import ScoreTable
from cluster.answers.query import check_run_directory, tell_notes
from cluster.streams import console


def report(directory: str, out: str | None, n_boards: int, wordlist: str | None, *, show: bool = False) -> None:
    """Write the report to a file, by default one in the current directory with the name of the run.

    With ``show`` the page is opened in the browser of this machine, if there is one.

    Raises
    ------
    InputError
        When the file cannot be written, or the packages that draw it are missing.
    StoreError
        When the run is damaged.
    IncompleteError, MismatchError
        When the run is not proven; the page is written all the same, and says so.
    """
    check_run_directory(directory)
    from cluster.cli.verify import run_wordlist
    from cluster.planning.nodes import run_nodes
    from results.reading.report import render
    from results.store.run import open_run
    from search.scoring.scorer import Scorer

    run = open_run(directory)
    words = run_wordlist(run, wordlist)
    scorer = Scorer(run.fingerprint.dims, words.words, ScoreTable("run", run.fingerprint.scores))
    page, found = render(run, scorer, n_boards, run_nodes)
    html = page.encode()
    where = default_page(directory) if out is None else out
    try:
        Path(where).write_bytes(html)
    except OSError as error:
        raise InputError(f"cannot write {quote(where)}: {error.strerror}; choose another --out") from error
    is_open = show and webbrowser.open(Path(where).resolve().as_uri())
    told = "handed to a browser" if is_open else "no browser was found to open it" if show else "open it in a browser"
    console().print(f"{where}: {len(html) / 1024:,.0f} KiB, {told}", markup=False, soft_wrap=True)
    tell_notes(found)
    found.require_proven(directory)


def default_page(directory: str) -> str:
    """Return the name of the page of a run: the run's name, in the current directory; nothing is put into the run."""
    name = directory.partition("?")[0].rstrip("/").rpartition("/")[2]
    return f"{Path(name).resolve().name if name in ('', '.', '..') else name}.html"
