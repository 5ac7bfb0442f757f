"""What the program answers about boards, classes and runs: as records, and as text for a terminal.

    boards.py       boards: as they are typed and listed, scores, words, dice; pictures.py: as
                    pictures
    explain.py      classes: the story of one, its trees as pictures
    status.py       runs: how far one is, whether some are proven, the word list of one, what
                    published ones prove
    render.py       tables, JSON, CSV, boards as text

The command line, the terminal view and the web pages show these.  Uses ``driver`` and what lies
under it.
"""
