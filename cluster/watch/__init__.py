"""Runs looked at again and again: which there are, what goes on in one, and the terminal of ``orderly watch``.

catalog.py    the runs that were given, by key
view.py       what is known of one run: lock and log every second, rows when files have changed
screen.py     that as a drawing; keys, resizing
"""
