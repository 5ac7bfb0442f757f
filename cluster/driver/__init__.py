"""One run from beginning to end.

    run            driver.py     plan -> store -> prepare -> search -> conclude
      prepare      prepared.py   what is open in a store
      search       run_search.py scheduler, executor and ledger in the run loop; signals.py: what
                                 stops it; lookout.py: what was removed meanwhile
      run_loop     loop.py       carries events and instructions between scheduler and executor;
                                 Ledger: accepted verdicts -> rows of the store
      why_stuck    stuck.py      whether starting it again would help
      Journal      journal.py    what is noted in the event log; progress.py: what a person sees

Uses ``workers``, ``planning`` and ``scheduling``.
"""
