"""One example for each command, with which its ``--help`` ends; tests/cluster/test_examples.py runs
them all.

Those that only ask name a record that comes with the program, so that they work anywhere.  Files
and runs of one's own are ``./mylist.txt`` and those of ``runs/``.
"""

EXAMPLES = {
    "plan": "orderly plan 3x3 --wordlist ./mylist.txt --seconds 5",
    "tune": "orderly tune 2x2 --wordlist ./mylist.txt --rounds 1",
    "run": "orderly run 3x3 --wordlist ./mylist.txt",
    "merge": "orderly merge runs/all runs/share1 runs/share2 runs/share3",
    "derive": "orderly derive 3x3-scowl70 --cutoff 430",
    "status": "orderly status 4x4-enable2k",
    "verify": "orderly verify runs/2x2-scowl70-auto",
    "repeat": "orderly repeat runs/2x2-scowl70-auto --classes 0",
    "certify": "orderly certify runs/2x2-scowl70-auto",
    "audit": "orderly audit runs/2x2-scowl70-auto --leaves 100",
    "runs": "orderly runs runs",
    "watch": "orderly watch runs/2x2-scowl70-auto",
    "serve": "orderly serve runs --port 8765",
    "top": "orderly top 4x4-enable2k -n 3 --contains tiger",
    "query": "orderly query 3x3-scowl70 'SELECT status, count(*) FROM classes GROUP BY ALL'",
    "compare": "orderly compare 3x3-scowl70 ./boards.txt",
    "report": "orderly report 3x3-scowl70",
    "climb": "orderly climb --dims 3x3 --wordlist ./mylist.txt",
    "longest": "orderly longest --dims 3x3 --wordlist ./mylist.txt",
    "neighbours": "orderly neighbours berlatdes -n 5",
    "roll": "orderly roll --dice big -n 3",
    "show": "orderly show bld/eae/rts",
    "score": "orderly score --wordlist scowl70 < ./boards.txt",
    "solve": "orderly solve berlatdes --method trie",
    "lists": "orderly lists berlatdes",
    "play": "orderly play --dice new",
    "paths": "orderly paths 4x4",
    "bound": "orderly bound 'lnrsy aeiou lnrsy aeiou'",
    "explain": "orderly explain 0 --dims 2x2 --cutoff 14",
    "export": "orderly export 'lnrsy aeiou lnrsy aeiou' --format mps",
    "wordlist": "orderly wordlist check scowl70",
    "wordlist list": "orderly wordlist list",
    "wordlist check": "orderly wordlist check ./mylist.txt",
    "wordlist import": "orderly wordlist import ./words.csv --column 2 --name mine",
    "wordlist get": "orderly wordlist get enable2k",
}


def example_of(command: str) -> str:
    """Return what ``--help`` of a command ends with.

    >>> example_of("runs")
    '\\x08\\nExample: orderly runs runs'
    """
    return f"\b\nExample: {EXAMPLES[command]}"
