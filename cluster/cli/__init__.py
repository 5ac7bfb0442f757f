"""The command line.

    main              start.py     what is installed as ``orderly``
      main            app.py       which command is in which file; errors and exit codes
        plan, run, verify, ...     each command in one file: names, options, help and body
        options.py    what commands share: options, completion, the run that is meant

A command is a function whose docstring is its help.  Heavy modules are imported in its body, since
``--help`` imports every command.  What the terminal view or the pages show as well is in
``cluster/answers``.  Uses everything else in ``cluster``; nothing uses it.
"""
