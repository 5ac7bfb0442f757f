"""From rows to a claim, and the checks of it.  Nothing that a run says about itself is believed.

    summary, prove    prove.py         the state of a run: how far it is, what its rows prove
      check_coverage  coverage.py      every board in exactly one unit with a verdict; nodes.py: how
                                       the search splits
    Summary           summary.py       what of that is known afterwards, as values; packaged.py: of
                                       the runs that come with the program, without reading them
    best_known        best_known.py    the best board of each size and list, proven or not
    scored_again      claim.py         exact scores, canonical boards
    make_claim                         the record of what was found, and how it is said
    verify            verify.py        all of it from the files, scored twice over; a climb, and
                                       verdicts found again (repeat.py)
    certificates.py   shapes of the search; audit.py checks them and imports nothing of ours

Uses ``store`` and what lies under it.  Nothing is imported here: the checker must load no other
module of the project.
"""
