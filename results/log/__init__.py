"""What happened to a run and what is going on: the event log, never part of a proof.

    EventLog, read_events   eventlog.py   one line of JSON per event
    live                    live.py       whether a driver works on the run, and its last figures
    merge_logs              logmerge.py   logs of several runs as one

Uses ``storage``.
"""
