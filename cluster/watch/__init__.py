"""Runs looked at again and again: which there are, what goes on in one, and the terminal of
``orderly watch``.

view.py       the runs that were given, by key; lock and log of one every second, rows when files
              have changed
screen.py     that as a drawing; keys, resizing
"""
