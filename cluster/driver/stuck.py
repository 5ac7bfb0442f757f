"""Whether the same command would bring a run further: schedulers start a run again that ends with
exit code 4, and nothing else bounds how often.

>>> N_STARTS
3
"""

from orderly_boggle.cluster.driver.prepared import Prepared
from orderly_boggle.results.log import n_starts_without_progress

N_STARTS = 3


def why_stuck(prepared: Prepared, *, gave_up: bool = False) -> str:
    """Return why it is of no use to start a run again that ends incomplete, in words; empty when it
    is of use: a verdict was added, or few starts have tried.

    gave_up : whether it ends since workers kept dying
    """
    if prepared.ledger.n_rows:
        return ""
    if gave_up:
        return "no verdict came in this start, so the same command would fare no better"
    n_starts = n_starts_without_progress(
        prepared.store.run.folder, prepared.n_reused, str(prepared.share or "")
    )
    if n_starts < N_STARTS:
        return ""
    return (
        f"{n_starts} starts in a row added no verdict: give it more time, more memory or fewer "
        "workers; orderly status shows what it was at work on"
    )
