"""What a proven run says of an easier question: fewer words, fewer points, a higher cutoff.

Why it is sound.  Let a run have the word list L, the points p and the cutoff C.  Let L' be a part
of L, p' nowhere higher than p on the words of L', and C' not below C.  Each word of L' on a board
counts there for p at least what it counts for p', so

    Score'(B) <= Score(B)    for every board B.

A unit without boards that reach C thus has none that reach C'.  The boards of a unit that reach C'
are among its candidates, so they are found by scoring these again.  Bounds that were discarded stay
upper bounds.  Which classes and parts there are depends on none of the three, so a derived run is
as complete as its source.

>>> from orderly_boggle.boardclass import load_wordlist, parse_scores
>>> from orderly_boggle.results.store.run import open_run
>>> from orderly_boggle.search import Scorer
>>> run = open_run("runs/2x2-scowl70-14")
>>> scorer = Scorer("2x2", load_wordlist("scowl70").words, parse_scores("standard"))
>>> {row.status for row in derived(run, replace(run.question, cutoff=15), scorer)}
{'eliminated'}
"""

from collections.abc import Iterator
from dataclasses import replace

from orderly_boggle.boardclass.errors import InputError, quote
from orderly_boggle.boardclass.scores import n_letters, reaches
from orderly_boggle.boardclass.wordlist import WordList
from orderly_boggle.results.proof.claim import ScorerLike, decided_at
from orderly_boggle.results.store.identity import refuse_another
from orderly_boggle.results.store.rows import Row
from orderly_boggle.results.store.run import Run
from orderly_boggle.results.upkeep.extend import restated, sound_verdicts
from orderly_boggle.search.question import Question


def check_follows(
    source: Run, wanted: Question, source_words: WordList, wanted_words: WordList
) -> None:
    """Raise InputError, with the first word or value that stands in the way, when the answer to
    ``wanted`` does not follow from a run; FingerprintError when size, buckets or cell order differ.
    """
    own = source.question
    where = source.folder.where("")
    like_wanted = replace(
        own,
        cutoff=wanted.cutoff,
        points=wanted.points,
        words_sha256=wanted.words_sha256,
    )
    refuse_another(wanted, like_wanted, where)
    if not reaches(wanted.cutoff, own.cutoff):
        raise InputError(
            f"cutoff {wanted.cutoff:,} is below that of {where}, {own.cutoff:,}: boards in between "
            "are not listed there; orderly run --extend searches what is missing"
        )
    if wanted_words.letters != source_words.letters:
        raise InputError(
            f"{wanted_words.name!r} and {source_words.name!r} write letters beyond a-z with other "
            f"symbols: {wanted_words.letters} and {source_words.letters}; import one like the other"
        )
    known = set(source_words.words)
    for word in wanted_words.words:
        if len(word) > own.n_cells:  # on no board
            continue
        if word not in known:
            raise InputError(
                f"{quote(wanted_words.spell(word))} of {wanted_words.name!r} is not in "
                f"{source_words.name!r}, so boards may score more than {where} says: expected a "
                "list without further words; orderly run searches for any list"
            )
        n = n_letters(word)
        mine = wanted.points[n]
        theirs = own.points[n]
        if mine > theirs:
            raise InputError(
                f"a word of {n} letters, such as {quote(wanted_words.spell(word))}, is "
                f"worth {mine}, and {theirs} in {where}: expected points that are nowhere higher; "
                "orderly run searches for any points"
            )


def derived(source: Run, question: Question, scorer: ScorerLike) -> Iterator[Row]:
    """Yield the verdicts of a run as those of an easier question, which :func:`check_follows` has
    accepted; ``scorer`` knows its words and points.
    """
    message = f"derived from a verdict at cutoff {source.question.cutoff}"
    for row in sound_verdicts(source):
        boards = [board for board, _ in row.candidates]
        if boards:
            scores = [int(score) for score in scorer.scores(boards)]
        else:
            scores = []
        scored = list(zip(boards, scores, strict=True))
        # whose word it is stays known
        is_taken_over = decided_at(row.message) > question.cutoff
        if is_taken_over:
            said = row.message
        else:
            said = message
        yield restated(row, scored, question, said)
