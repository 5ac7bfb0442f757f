"""What the program answers about boards, classes and runs: as records, and as text for a terminal.

    boards.py, longest.py, dice.py    boards: scores, words, neighbours, the longest words, real dice
    explain.py                        classes: the story of one, its trees; draw_tree.py
    status.py                         runs: how far one is; query.py opens runs and says whether they are proven
    render.py                         tables, JSON, CSV, boards as text; draw_board.py: as pictures

The command line, the terminal view and the web pages show these.  Uses ``driver`` and what lies under it.
"""
