"""The command line: one file per command.

    main                 app.py        errors and exit codes; commands/: names, options and help by section
      options.py, group.py, complete.py   what commands share: options, help, completion
      query.py           opens runs, and says whether they are proven
      render.py          tables, boards, trees as text; draw_board.py, draw_tree.py
    boards.py, run.py, status.py, ...    what each command does

Uses everything else in ``cluster``; nothing uses it.
"""
