"""Who computes what: pure logic, without a clock, files or processes.

    Scheduler.handle   scheduler.py   events in, instructions out: units, workers, assignments and
                       leases
      Crew             crew.py        workers and hosts, idle or busy, and their leases
      Backlog          backlog.py     units that wait, and their failures
      Forecast         forecast.py    how long they should take
      Machines         machines.py    those on which no worker comes up
      Trust            trust.py       replicas, and hosts that are not believed
    events.py          the language of the run loop: events, instructions, Policy, Report

What classes are expected to cost is worked out in ``search/costs.py``.  Uses nothing else in
``cluster``.
"""
