"""Boards that people play with: typed in any way, of any tiles and size, rolled, solved, drawn.

    typed.py        the boards of the proof as people type them: tiles.py (any grid, with
                    board_tables.py for what other programs write), or the size and letters
    scoring.py      boards as they are listed, scores, words, hints; pictures.py: as pictures
    comparison.py   a list of boards beside those of a run
    solver.py       the solver of boards that no proof takes
    dicesets.py     sets of dice, in dice/*.toml; rolling.py rolls them

Nothing of the proof imports this (tests/test_house.py): ``boardclass.board`` reads letters and rows
by itself.  The commands about such boards are in ``cluster/cli``, as all commands are.  Their pages
are in ``cluster/web``: the one that is a file of its own has the scripts, the style and the game of
the Board page.
"""
