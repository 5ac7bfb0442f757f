"""Verdicts taken over at another cutoff: each is what a search at that cutoff would have found, by
brute force.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from math import prod
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from orderly_boggle.results.errors import ConflictError, DamagedError, FingerprintError
from orderly_boggle.results.proof.claim import DECIDED
from orderly_boggle.results.proof.coverage import unit_letters
from orderly_boggle.results.storage import files
from orderly_boggle.results.store.made import EVERYTHING, Extended, Made
from orderly_boggle.results.store.rows import Checked, Row
from orderly_boggle.results.store.run import open_run
from orderly_boggle.results.store.store import Store
from orderly_boggle.results.upkeep.extend import (
    check_source,
    extend,
    inherited,
    restated,
    reusable,
    taken,
)
from tests.results.helpers import partition, row, toy_question, toy_score, write_rows

ALL_COVERED = Made(covers=EVERYTHING)
CUTOFFS = st.integers(60, 101)  # the best board has 94 points: z y x w


@cache
def boards_of(class_id: int, path: str) -> list[tuple[str, int]]:
    """Return the better boards of a unit with their scores; those below 50 points play no part
    here.
    """
    boards = map("".join, itertools.product(*unit_letters(partition(), (class_id, path))))
    return [(board, score) for board in boards if (score := toy_score(board)) >= 50]


def has_board(key: tuple[int, str], least: int, below: int) -> bool:
    """Return whether a unit has a board with a score in a range."""
    return any(least <= score < below for _, score in boards_of(*key))


def n_boards(class_id: int, path: str) -> int:
    return prod(map(len, unit_letters(partition(), (class_id, path))))


def searched(cutoff: int, class_id: int, path: str = "", parts: Iterable[str] | None = None) -> Row:
    """Return the true row of a unit at a cutoff, or of the ``parts`` of it that were settled when
    it was split.
    """
    boards = []
    for part in parts if parts is not None else [path]:
        boards += boards_of(class_id, part)
    found = tuple((board, score) for board, score in boards if score >= cutoff)
    bound = max((score for _, score in boards if score < cutoff), default=0)
    counters = {"n_nodes": 7, "n_pushes": 9, "n_survivors": len(found) + 1}
    return row(
        class_id,
        path=path,
        fingerprint=toy_question(cutoff=cutoff).digest,
        status="candidates" if found else "eliminated",
        n_boards=n_boards(class_id, path),
        candidates=found,
        max_bound=bound,
        counters=counters,
    )


def split(
    cutoff: int, class_id: int, path: str, children: list[str], settled: list[str] | None = None
) -> Row:
    found = searched(cutoff, class_id, path, settled or ())
    return replace(found, status="split", children=tuple(children), settled=tuple(settled or ()))


def halves(class_id: int, cell: int) -> tuple[str, str]:
    letters = partition().class_letters(class_id)[cell]
    middle = len(letters) // 2
    return f"{cell}={letters[:middle]}", f"{cell}={letters[middle:]}"


IDS = [int(rank) for ranks in partition().canonical_ranks() for rank in ranks]


def whole_run(cutoff: int) -> list[Row]:
    """Return a run with undivided classes, one that was split in two levels and one that settled a
    part itself.
    """
    *plain, mixed, deep = IDS
    rows = [searched(cutoff, class_id) for class_id in plain]
    low, high = halves(mixed, 0)
    rows += [split(cutoff, mixed, "", [high], [low]), searched(cutoff, mixed, high)]
    low, high = halves(deep, 0)
    one, two = (f"{low}/{half}" for half in halves(deep, 1))
    rows += [
        split(cutoff, deep, "", [low, high]),
        searched(cutoff, deep, high),
        split(cutoff, deep, low, [two], [one]),
    ]
    return [*rows, searched(cutoff, deep, two)]


def write(run: Path, cutoff: int, rows: Iterable[Row], made: Made = ALL_COVERED) -> Path:
    write_rows(run, rows, toy_question(cutoff=cutoff), made)
    return run


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Return a function that makes each run once."""

    @cache
    def make(cutoff: int, covered: bool = True) -> Path:
        return write(
            tmp_path_factory.mktemp("run"),
            cutoff,
            whole_run(cutoff),
            ALL_COVERED if covered else Made(),
        )

    return make


def truth(cutoff: int) -> dict[tuple[int, str], Row]:
    return {each.key: each for each in whole_run(cutoff)}


@settings(max_examples=settings().max_examples // 3)  # each writes runs
@given(before=CUTOFFS, after=CUTOFFS, covered=st.booleans())
def test_every_reused_verdict_is_true_at_the_new_cutoff(
    made, tmp_path_factory, before, after, covered
):
    source = open_run(made(before, covered))
    with Store.open(
        tmp_path_factory.mktemp("to") / "run", toy_question(cutoff=after), inherited(source)
    ) as store:
        extension = extend(source, store)
        true, rows = truth(after), list(store.snapshot().rows())
    assert extension.n_reused == len(rows)
    assert extension.n_verdicts == len(true)
    for found in rows:
        assert found.verdict == true[found.key].verdict
        assert found.max_bound < after
        if covered:
            assert found.max_bound >= true[found.key].max_bound, (
                "it still covers all that was discarded"
            )
    if after >= before:
        assert len(rows) == len(true), "a higher cutoff needs nothing new"
    elif not covered:
        assert {found.status for found in rows} <= {"split"}, (
            "verdicts that prove nothing below their cutoff"
        )
        assert all(not found.settled for found in rows)


def test_a_lower_cutoff_reuses_what_proves_it(made):
    """Class by class: what is reused is exactly what has no board between the two cutoffs."""
    source = open_run(made(90))
    reused = {found.key for found in reusable(source, 70)}
    whole = [each for each in source.rows() if each.status != "split"]
    between = {each.key for each in whole if has_board(each.key, 70, 90)}
    assert between
    assert reused
    assert not reused & between
    unsplit = {each.key for each in whole if not each.path}
    assert reused & unsplit == unsplit - between


def test_parts_below_a_split_that_does_not_hold_are_left_out(tmp_path):
    """The upper half settled itself has boards in between; the lower half, which has none, hangs in
    the air then.
    """
    class_id = IDS[-1]
    low, high = halves(class_id, 0)
    assert max(score for _, score in boards_of(class_id, low)) < 85
    source = open_run(
        write(tmp_path, 90, [split(90, class_id, "", [low], [high]), searched(90, class_id, low)])
    )
    assert list(reusable(source, 85)) == []
    assert [found.key for found in reusable(source, 95)] == [(class_id, ""), (class_id, low)]


def test_one_bound_for_a_whole_unit_proves_lower_cutoffs_in_any_version(tmp_path):
    at_once = {"n_terms": 99, "max_tree_bytes": 10}
    efforts = [at_once | {name: 1} for name in ("n_nodes", "n_pushes", "n_splits", "n_survivors")]
    cases = [(69, at_once), (70, at_once), (0, at_once), *((69, counters) for counters in efforts)]
    here = toy_question(cutoff=90).digest
    rows = [
        row(i, fingerprint=here, max_bound=bound, counters=each)
        for i, (bound, each) in enumerate(cases)
    ]
    rows.append(row(99, fingerprint=here, status="quarantined", n_boards=0))
    source = open_run(write(tmp_path, 90, rows, {}))
    assert [found.class_id for found in reusable(source, 70)] == [0]
    assert 99 not in {found.class_id for found in reusable(source, 91)}, "it was given up"


def test_boards_that_fall_below_a_higher_cutoff_count_for_the_bound_and_others_do_not():
    class_id = next(x for x in IDS if len({score for _, score in searched(80, x).candidates}) > 1)
    found = searched(80, class_id)
    scores = sorted({score for _, score in found.candidates})
    for cutoff in (80, *(score + 1 for score in scores)):
        asked = toy_question(cutoff=cutoff)
        again = restated(found, found.candidates, asked, "")
        wanted = searched(cutoff, class_id)
        assert (again.status, again.candidates) == (wanted.status, wanted.candidates)
        assert again.max_bound == wanted.max_bound


def test_a_split_that_settled_nothing_holds_at_any_cutoff(tmp_path):
    class_id = IDS[-1]
    rows = [split(90, class_id, "", [*halves(class_id, 0)])]
    source = open_run(write(tmp_path, 90, rows, {}))
    assert [found.key for found in reusable(source, 70)] == [(class_id, "")]


def test_a_unit_that_is_stored_twice_is_taken_over_once(tmp_path):
    one = searched(90, IDS[-1])
    with Store.open(tmp_path, toy_question(cutoff=90), ALL_COVERED) as store:
        store.append([one, replace(one, host="another")], copied=True)
    source = open_run(tmp_path)
    assert len(list(source.rows())) == 2
    assert [found.key for found in reusable(source, 95)] == [one.key]


def test_an_extension_that_was_killed_goes_on(made, tmp_path, monkeypatch):
    source = open_run(made(80))
    monkeypatch.setattr("orderly_boggle.results.upkeep.extend.FLUSH_ROWS", 3)

    class Dying(Store):
        def append(self, rows: Iterable[Row | Checked], *, copied: bool = False) -> None:
            if len(self.index.places) == 6:
                raise KeyboardInterrupt
            super().append(rows, copied=copied)

    store = Dying.open(tmp_path, toy_question(cutoff=85), inherited(source))
    with pytest.raises(KeyboardInterrupt):
        extend(source, store)
    store.close()
    true = {key: each.verdict for key, each in truth(85).items()}
    with Store.open(tmp_path, toy_question(cutoff=85)) as store:
        extension = extend(source, store)
        assert (extension.n_before, extension.n_reused) == (6, len(true) - 6)
        assert {found.key: found.verdict for found in store.snapshot().rows()} == true
        assert store.run.made.extends == Extended(str(made(80)), 80)


def test_a_chain_of_extensions_knows_what_the_first_run_knew(made, tmp_path):
    """Up and down again: boards dropped on the way up are remembered as discarded."""
    source = open_run(made(70))
    with Store.open(tmp_path, toy_question(cutoff=90), inherited(source)) as store:
        extend(source, store)
    assert open_run(tmp_path).made.covers == EVERYTHING
    down = [found.key for found in reusable(open_run(tmp_path), 75) if found.status != "split"]
    assert down
    assert not [key for key in down if has_board(key, 75, 90)]
    assert inherited(open_run(made(70, False))).covers != EVERYTHING


def test_a_run_of_another_question_or_that_cannot_be_trusted_is_not_extended(tmp_path):
    run = write(tmp_path / "run", 80, [row(1), row(2)])
    with Store.open(run, toy_question()) as store, pytest.raises(ConflictError):
        store.append([row(2, n_boards=5)])
    with pytest.raises(FingerprintError, match="dims: asked for"):
        check_source(open_run(run), toy_question(cutoff=90, dims="3x3"))
    with pytest.raises(ConflictError):
        check_source(open_run(run), toy_question(cutoff=90))
    part = next((run / files.RESULTS).iterdir())
    part.write_bytes(part.read_bytes()[:-1])
    with pytest.raises(DamagedError):
        check_source(open_run(run), toy_question(cutoff=90))


def test_verdicts_of_a_host_in_doubt_are_not_taken_over_and_the_doubt_is(tmp_path):
    rows = [replace(each, host="box") for each in whole_run(80)]
    one, *others = [each for each in rows if each.status == "eliminated" and not each.path]
    sound = replace(one, host="other")
    doubt = row(
        others[0].class_id,
        fingerprint=one.fingerprint,
        status="quarantined",
        n_boards=0,
        host="box",
    )
    source = tmp_path / "source"
    write_rows(source, [sound, *others], toy_question(cutoff=80), ALL_COVERED)
    write_rows(source, [doubt], toy_question(cutoff=80), ALL_COVERED)
    run = open_run(source)
    assert [each.key for each in reusable(run, 85)] == [sound.key]
    for _ in range(2):  # the same command, given again
        with Store.open(tmp_path / "new", toy_question(cutoff=85), ALL_COVERED) as store:
            extend(run, store)
    brought, taken_over = open_run(tmp_path / "new").rows()
    assert taken_over.key == sound.key
    assert (brought.status, brought.host) == ("quarantined", "box")


def test_verdicts_of_a_host_that_is_in_doubt_here_are_not_taken_over(tmp_path):
    """They would be stored, and only the next call would find out that they are in doubt."""
    rows = [each for each in whole_run(80) if each.status == "eliminated" and not each.path]
    source = tmp_path / "source"
    asked = toy_question(cutoff=85)
    write_rows(
        source,
        [replace(each, host="box" if each is rows[0] else "other") for each in rows],
        toy_question(cutoff=80),
        ALL_COVERED,
    )
    doubt = replace(rows[0], fingerprint=asked.digest, status="quarantined", n_boards=0, host="box")
    with Store.open(tmp_path / "new", asked, ALL_COVERED) as store:
        store.append([doubt], copied=True)
        found = extend(open_run(source), store)
    assert (found.n_reused, found.n_before) == (len(rows) - 1, 0)
    assert rows[0].key not in open_run(tmp_path / "new").index.places
    assert "1 do not hold at the new cutoff or are in doubt" in found.describe()


def test_a_verdict_taken_over_twice_names_the_highest_cutoff_it_was_decided_at(tmp_path):
    asked = toy_question(cutoff=90)
    rows = [each for each in whole_run(90) if each.status == "eliminated" and not each.path]
    held = [
        replace(rows[0], message=f"{DECIDED}94"),
        replace(rows[1], message=f"{DECIDED}70"),
        *rows[2:],
    ]
    write_rows(tmp_path / "source", held, asked, ALL_COVERED)
    found = taken(open_run(tmp_path / "source"), toy_question(cutoff=92))
    told = {each.key: each.message for each in found}
    expected = [f"{DECIDED}94", *[f"{DECIDED}90"] * (len(rows) - 1)]
    assert [told[each.key] for each in rows] == expected
