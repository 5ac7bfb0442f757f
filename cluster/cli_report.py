"""``orderly report``: one HTML page about a run."""

from __future__ import annotations

from pathlib import Path

from boardclass.errors import InputError, quote
from boardclass.scores import ScoreTable
from cluster.cli_query import check_run_directory
from cluster.render import console


def report(directory: str, out: str | None, n_boards: int, wordlist: str | None) -> None:
    """Write the report into the run directory, or to a file.

    Raises
    ------
    InputError
        When the file cannot be written, or the packages that draw it are missing.
    StoreError
        When the run is damaged.
    """
    check_run_directory(directory)
    from cluster.cli_verify import run_wordlist
    from results import files
    from results.report import render
    from results.run import open_run
    from search.scorer import Scorer

    run = open_run(directory)
    words = run_wordlist(run, wordlist)
    scorer = Scorer(run.fingerprint.dims, words.words, ScoreTable("run", run.fingerprint.scores))
    html = render(run, scorer, n_boards).encode()
    if out is None:
        run.folder.publish(files.REPORT, html)
        where = run.folder.where(files.REPORT)
    else:
        where = out
        try:
            Path(out).write_bytes(html)
        except OSError as error:
            raise InputError(f"cannot write {quote(out)}: {error.strerror}; choose another --out") from error
    console().print(f"{where}: {len(html) / 1024:,.0f} KiB, open it in a browser", markup=False, soft_wrap=True)
