"""Other people's programs on the questions of this one, side by side; nothing here runs in CI.

    solvers.py   general solvers on whole classes          -> docs/solvers.md
    ask.py       one solver on one model, in an environment of its own
    peers.py     programs that solve boards, on ten boards -> docs/peers.md
    peer.py      one of them on some boards, in an environment of its own
    climbs.py    how often each method of climbing finds the best known board, and at what cost
    records.py   the best boards known                     -> docs/records.md
    foreign_proof.py   boards of a published run, listed by toulbar2
    solver_tables.py   the tables of docs/solvers.md
    pages.py     tables between marks of a page

Each script makes an environment for the pinned programs of others, or takes one by --python.
"""
