"""One run from beginning to end.

    run            driver.py     plan -> store -> search -> rescore -> claim
      run_loop     loop.py       carries events and instructions between scheduler and executor;
                                 Ledger: accepted verdicts -> rows of the store
      Journal      journal.py    what is noted in the event log; progress.py: what a person sees
    repeat.py      stored verdicts found again

Uses ``workers``, ``planning`` and ``scheduling``.
"""
