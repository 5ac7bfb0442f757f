"""Who computes what: pure logic, without a clock, files or processes.

    Scheduler.handle   scheduler.py   events in, instructions out
      Crew             crew.py        workers, their assignments and leases
      Outcomes         outcomes.py    what becomes of a unit that was given out
      Backlog          backlog.py     units that wait, and their failures;  calibration.py: how long they should take
      policy.py        limits and the order of classes; trust.py: replicas, and hosts that are not believed
    events.py          the language of the run loop;  figures.py: the figures of progress

Uses nothing else in ``cluster``.
"""
