"""cluster: who computes what and where, what happens when machines die; and the command line.

    cli/          the commands
    web/          runs, records, boards and classes in a browser
    watch/        a run in the terminal, live
    boards/       boards that people play with; nothing of the proof uses it
    answers/      what these three show: records and text
    driver/       one run from beginning to end
    workers/      threads, processes or Ray actors around a breaker
    planning/     what is to be searched, and what it will cost
    scheduling/   who computes what: pure logic
    streams.py    standard output and error

Each uses only what stands below it (tests/test_house.py).  Exports nothing: import the modules.
"""
