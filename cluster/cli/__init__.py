"""The command line.

    main                 start.py      what is installed as ``orderly``
      main               app.py        errors and exit codes
      commands/          names, options and help by section
      options.py, group.py, complete.py   what commands share: options, help, completion
    run.py, verify.py, sql.py, ...     what each command does, besides what cluster/answers knows

Uses everything else in ``cluster``; nothing uses it.
"""
