"""For people: SQL and the report.  Every reader says whether the run is proven.

    connect -> Database    sql.py      SQL over runs, sealed off from files; limits.py
    render                 report.py   one HTML page from templates/

Uses everything else in ``results``; nothing else in ``results`` uses it.
"""
