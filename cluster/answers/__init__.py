"""What the program answers about boards, classes and runs: as records, and as text for a terminal.

    boards.py       boards: scores, words, neighbours, dice; draw_board.py: as pictures; board_list.py: lists of them
    explain.py      classes: the story of one, its trees as pictures
    status.py       runs: how far one is, whether some are proven, the word list of one
    render.py       tables, JSON, CSV, boards as text

The command line, the terminal view and the web pages show these.  Uses ``driver`` and what lies under it.
"""
