"""The command line: one file per command.

    main                 app.py        the commands and their options; workbench.py: those on boards and lists
      options.py, group.py, complete.py   what commands share: options, help, completion
      query.py           opens runs, and says whether they are proven
      render.py          tables, boards, trees as text; draw_board.py, draw_tree.py
    boards.py, run.py, status.py, ...    what each command does

Uses everything else in ``cluster``; nothing uses it.
"""
