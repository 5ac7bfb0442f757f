"""For people: boards, figures, SQL and the report.  Every reader says whether the run is proven.

    boards, top, summary   query.py    state.py: the state of a run in one word
    connect -> Database    sql.py      SQL over runs, sealed off from files; views.py, limits.py, answer.py
    render                 report.py   one HTML page from templates/; charts.py
                           work.py     where the time went; stages.py: that of the driver, from its log

Uses everything else in ``results``; nothing else in ``results`` uses it.
"""
