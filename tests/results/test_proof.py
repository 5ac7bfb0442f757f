"""Coverage, the exact pass and the claim: nothing missing, foreign, wrongly split or scored passes
for a proof.
"""

from __future__ import annotations

import json
from dataclasses import replace
from string import ascii_lowercase
from typing import Any, ClassVar

import numpy as np
import pytest

from orderly_boggle.boardclass.canonical import images
from orderly_boggle.boardclass.errors import IncompleteError, InputError, MismatchError, StoreError
from orderly_boggle.boardclass.geometry import geometry
from orderly_boggle.boardclass.partition import parse_partition
from orderly_boggle.boardclass.parts import last_part
from orderly_boggle.boardclass.scores import parse_scores
from orderly_boggle.results.errors import ConflictError, DamagedError, RowError
from orderly_boggle.results.proof.claim import (
    COMPLETE,
    Claim,
    digest_of,
    disagreement,
    read_claim,
    scored_again,
    statement_of,
)
from orderly_boggle.results.proof.coverage import (
    Coverage,
    check_apart,
    check_coverage,
    class_sizes,
    rows_out_of_space,
    uncovered,
    unit_letters,
)
from orderly_boggle.results.proof.nodes import SearchNodes
from orderly_boggle.results.proof.prove import boards, summary, top
from orderly_boggle.results.proof.summary import (
    REFUTED,
    BoardList,
    ListedBoard,
    State,
    Wording,
    distinct_names,
    searched,
    standing,
)
from orderly_boggle.results.proof.verify import (
    Searched,
    record,
    statistics,
    verdict_digest,
    verify_files,
)
from orderly_boggle.results.storage import files
from orderly_boggle.results.store.documents import format_document
from orderly_boggle.results.store.made import Climbed, Made
from orderly_boggle.results.store.rows import Row
from orderly_boggle.results.store.run import open_run
from orderly_boggle.results.store.store import Store
from orderly_boggle.search import node
from orderly_boggle.search.breaker import Breaker, Unit, UnitResult
from orderly_boggle.search.question import ask
from tests.classes import n_boards_of
from tests.params import Params, spec_of
from tests.results.helpers import (
    BUCKETS,
    POINTS,
    ToyScorer,
    all_rows,
    claimed,
    make_run,
    row,
    split_rows,
    toy_question,
    toy_score,
    write_rows,
)


def cover(tmp_path, rows: list[Row]) -> Coverage:
    with Store.open(tmp_path, toy_question()) as store:
        try:
            store.append(rows)
        except ConflictError:
            store.flush()
    return check_coverage(open_run(tmp_path), Nodes())


class Nodes:
    """The splits of helpers.split_rows, as a search would make them."""

    made: ClassVar = {"": ["0=ae", "0=iou"], "0=ae": ["0=ae/1=a", "0=ae/1=eiou"]}
    sizes: ClassVar = {"0=ae": 250, "0=iou": 375, "0=ae/1=a": 50, "0=ae/1=eiou": 200}

    def n_boards(self, class_id: int, path: str) -> int:
        if path not in self.sizes:
            raise InputError(f"no node {path!r}")
        return self.sizes[path]

    def parts(self, class_id: int, path: str, cell: int) -> list[str]:
        return [part for part in self.made.get(path, []) if last_part(part)[0] == cell]


def with_split(*, without: int | None = None, **changes: Any) -> list[Row]:
    """All rows, class 0 split in two levels; one of the five rows altered or left out."""
    split = split_rows(0)
    if without is not None:
        del split[without]
    for index, values in changes.items():
        place = int(index.removeprefix("row"))
        split[place] = replace(split[place], **values)
    return [*split, *all_rows()[1:]]


def settled_rows(children: tuple[str, ...], settled: tuple[str, ...]) -> list[Row]:
    """Return a class whose root says what it settled, with a verdict for each child."""
    root = replace(split_rows(0)[0], children=children, settled=settled)
    return [
        root,
        *(row(0, path=path, n_boards=Nodes.sizes[path]) for path in children),
        *all_rows()[1:],
    ]


COVERED = [
    all_rows(),
    with_split(),
    [*with_split(), *with_split()],
    settled_rows(("0=ae/1=eiou", "0=iou"), ("0=ae/1=a",)),
    settled_rows(("0=ae",), ("0=iou",)),  # behind the first child
    settled_rows(("0=iou",), ("0=ae",)),  # before it
    settled_rows(("0=iou",), ("0=ae/1=eiou", "0=ae/1=a")),
    settled_rows(("0=ae/1=a",), ("0=iou", "0=ae/1=eiou")),
    settled_rows(("0=iou", "0=ae/1=a"), ("0=ae/1=eiou",)),
]


@pytest.mark.parametrize("rows", COVERED)
def test_complete(tmp_path, rows):
    coverage = cover(tmp_path, rows)
    assert coverage.complete, coverage.message()
    assert coverage.n_boards == coverage.n_boards_expected == 26**4
    assert (coverage.n_classes, coverage.n_classes_done) == (6, 6)
    assert coverage.message() == "all 6 classes settled, 456,976 boards covered"


MISSING = [
    *((all_rows()[:i] + all_rows()[i + 1 :], f"class {all_rows()[i].class_id}") for i in range(6)),
    *((with_split(without=i), f"class 0 path {split_rows(0)[i].path}") for i in range(1, 5)),
    (with_split(without=0), "class 0"),  # units without their root do not count
    ([replace(all_rows()[0], status="error", message="worker died"), *all_rows()[1:]], "class 0"),
]


@pytest.mark.parametrize(("rows", "missing"), MISSING)
def test_what_is_missing_is_named(tmp_path, rows, missing):
    coverage = cover(tmp_path, rows)
    assert not coverage.complete
    assert coverage.missing == [missing]
    assert coverage.n_classes_done == 5
    assert missing in coverage.message()


WRONG = [
    (
        [replace(all_rows()[0], n_boards=624), *all_rows()[1:]],
        "class 0 has 625 boards, its row says 624",
    ),
    (
        [replace(all_rows()[0], n_boards=626), *all_rows()[1:]],
        "class 0 has 625 boards, its row says 626",
    ),
    (with_split(row0={"children": ("0=ae", "0=eiou")}), "share boards"),
    (with_split(row0={"children": ("0=ae", "1=iou")}), "share boards"),
    (with_split(row0={"children": ("0=ae", "0=iou", "0=ae/1=b")}), "share boards"),
    (with_split(row0={"children": ("0=ae", "0=bcd")}), "no node '0=bcd'"),
    (
        with_split(row0={"children": ("0=ae", "0=iou"), "n_boards": 624}),
        "hold 625 boards, it has 624",
    ),
    (with_split(row2={"children": ("0=ae/0=i", "0=ae/1=b")}), "share boards"),
    (with_split(row2={"children": ("0=ae/0=i",)}), "no node '0=ae/0=i'"),
    (with_split(row1={"n_boards": 376}), "has 375 boards, its row says 376"),
    (
        with_split(row4={"status": "candidates", "candidates": (("zzzz", 100),)}),
        "lists zzzz, which is not in it",
    ),
    (
        with_split(
            row4={
                "status": "candidates",
                "candidates": (
                    ("aeaa", 100),
                    ("iaaa", 100),
                ),
            }
        ),
        "lists iaaa, which is not in it",
    ),
    (
        with_split(row1={"n_boards": 374}),
        "has 375 boards, its row says 374",
    ),
    (
        with_split(
            row4={
                "status": "split",
                "children": ("0=ae/1=eiou/2=a",),
            }
        ),
        "no node '0=ae/1=eiou/2=a'",
    ),
    # settled parts and children that the search would not make
    (settled_rows(("0=ae",), ()), "part '0=iou' is neither"),
    (settled_rows(("0=iou",), ()), "part '0=ae' is neither"),
    (settled_rows(("0=ae/1=a",), ("0=ae/1=eiou",)), "part '0=iou' is neither"),
    (settled_rows(("0=ae/1=a",), ("0=iou",)), "part '0=ae/1=eiou' is neither"),
    (settled_rows(("0=ae/1=eiou", "0=iou"), ()), "part '0=ae/1=a' is neither"),
    (settled_rows(("0=iou",), ("0=ae/1=a",)), "part '0=ae/1=eiou' is neither"),
    (settled_rows(("0=ae", "0=iou"), ("0=ae/1=a",)), "share boards"),  # below a child
    (settled_rows(("0=ae/1=a", "0=iou"), ("0=ae",)), "share boards"),  # above one
    (settled_rows(("0=ae",), ("0=io",)), "no node '0=io'"),
    (settled_rows(("0=ae",), ("1=iou",)), "share boards"),
    (
        with_split(row2={"children": ("0=ae/1=a",)}),
        "part '0=ae/1=eiou' is neither a child nor settled",
    ),
]


@pytest.mark.parametrize(("rows", "message"), WRONG)
def test_what_is_wrong_is_a_problem(tmp_path, rows, message):
    coverage = cover(tmp_path, rows)
    assert not coverage.complete
    assert any(message in problem for problem in coverage.problems), coverage.problems


def test_conflicts_and_quarantined_units_are_named(tmp_path):
    rows = all_rows()
    given_up = replace(rows[2], status="quarantined", n_boards=0, max_bound=0)
    conflict = replace(rows[1], n_boards=rows[1].n_boards + 1)
    coverage = cover(tmp_path, [*rows[:2], given_up, *rows[3:], conflict])
    assert not coverage.complete
    assert coverage.conflicting == [f"class {rows[1].class_id}"]
    assert coverage.quarantined == [f"class {rows[2].class_id}"]
    assert coverage.missing == [f"class {rows[2].class_id}"]
    assert coverage.n_classes_done == 4


@pytest.mark.parametrize("class_id", [1, 16, 2**62])
def test_foreign_classes_are_problems(tmp_path, class_id):
    coverage = cover(tmp_path, [*all_rows(), row(class_id, n_boards=625)])
    assert not coverage.complete
    (problem,) = coverage.problems
    assert f"rows of 1 class that is not its own: {class_id}, in {files.RESULTS}/" in problem
    assert "--drop-damaged" in problem


def test_only_the_parts_with_rows_of_other_classes_are_named(tmp_path):
    with Store.open(tmp_path, toy_question()) as store:
        for rows in (all_rows(), [row(1, n_boards=625)]):
            store.append(rows)
            store.flush()
    run = open_run(tmp_path)
    first, second = (part.name for part in run.manifest.parts)
    told = rows_out_of_space(run)
    assert second in told
    assert first not in told


def test_an_enumeration_that_loses_a_class_is_noticed(tmp_path):
    """Two ways of counting must agree: here Burnside's lemma counts a class that is enumerated
    nowhere.
    """
    cover(tmp_path, all_rows())
    run = open_run(tmp_path)
    vars(run.partition)["n_canonical"] = run.partition.n_canonical + 1
    coverage = check_coverage(run)
    assert coverage.problems == ["6 canonical classes enumerated, 7 counted"]
    assert not coverage.complete


def test_messages_stay_short(tmp_path):
    cut = parse_partition(" ".join(ascii_lowercase), "2x2")
    Store.open(tmp_path, toy_question(buckets=cut.text)).close()
    coverage = check_coverage(open_run(tmp_path))
    assert len(coverage.missing) == coverage.n_classes == cut.n_canonical
    assert len(coverage.message()) < 300


@pytest.mark.parametrize(
    ("dims", "text"), [("2x3", BUCKETS), ("3x3", f"{BUCKETS}, corner: abc defghijklmnopqrstuvwxyz")]
)
def test_sizes_agree_with_the_partition(dims, text):
    cut = parse_partition(text, dims)
    total = 0
    for ranks in cut.canonical_ranks():
        sizes, size_of, n_images = class_sizes(cut, ranks)
        n_boards = np.array(sizes, object)[size_of]
        assert n_boards.tolist() == [n_boards_of(cut, int(rank)) for rank in ranks]
        assert n_images.tolist() == [
            len(images(cut.unrank(int(rank)), cut.geometry)) for rank in ranks
        ]
        total += int(np.sum(n_boards * n_images))
    assert total == 26**cut.dims.n


def test_sizes_beyond_64_bits_are_exact():
    cut = parse_partition("abcdefghijklmnopqrstuvwxyz", "4x4")
    sizes, _, n_images = class_sizes(cut, np.zeros(1, dtype=np.int64))
    assert (sizes, n_images.tolist()) == ([26**16], [1])
    several = parse_partition("a bc defg hijklmnopqrstuvwxyz", "4x4")
    ranks = np.arange(5000) * (several.n_classes // 5000)
    sizes, size_of, _ = class_sizes(several, ranks)
    expected = [n_boards_of(several, rank) for rank in ranks.tolist()]
    assert [sizes[place] for place in size_of] == expected
    assert len(set(sizes)) == len(sizes), "the same product of other factors"


def test_children_apart():
    check_apart("", ["0=a/1=c", "0=a/1=d", "0=b"])
    check_apart("3=x", ["3=x/0=a", "3=x/0=b/0=b"])
    overlapping = ("0=a 0=a/1=c", "0=ab 0=b", "0=a 1=c", "0=a/1=c 0=a/2=d", "0=a/1=c 0=a/1=cd")
    for shared in map(str.split, overlapping):
        with pytest.raises(RowError, match="share"):
            check_apart("", shared)


# ---- scores and the claim


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path, toy_question()) as opened:
        opened.append(all_rows())
        yield opened


def expected() -> list[ListedBoard]:
    """Canonical images by hand from the symmetries, for the boards in the rows."""
    shape = geometry("2x2")
    found = set()
    for board in ("xyzw", "wzyx", "tvzy"):
        images = {
            "".join(board[cell] for cell in symmetry) for symmetry in shape.symmetries.tolist()
        }
        found.add(ListedBoard(min(images), toy_score(board), len(images)))
    return sorted(found, key=lambda item: (-item.score, item.board))


def test_symmetric_candidates_are_one_board(store, tmp_path):
    listed = scored_again(store.snapshot(), ToyScorer())
    assert list(listed.boards) == expected()
    assert (listed.n_candidates, listed.n_canonical) == (3, len(expected()))
    assert listed.n_raw == sum(board.n_images for board in expected())
    assert boards(tmp_path) == expected()
    assert top(tmp_path, 1) == expected()[:1]
    assert top(tmp_path, 0) == []


class Lopsided(ToyScorer):
    """Disagrees with itself about the images of a board."""

    def scores(self, boards):
        return super().scores(boards) + np.array([board == expected()[0].board for board in boards])


def test_a_wrong_stored_score_and_a_scorer_that_is_not_symmetric_are_mismatches(store, tmp_path):
    with pytest.raises(MismatchError, match="symmetric image"):
        scored_again(store.snapshot(), Lopsided())
    bad = replace(all_rows()[-1], candidates=(("xyzw", 95),))
    with Store.open(tmp_path / "bad", toy_question()) as other:
        other.append([*all_rows()[:-1], bad])
        with pytest.raises(
            MismatchError, match=rf"class {bad.class_id}.*xyzw scores 95, it scores 94"
        ):
            scored_again(other.snapshot(), ToyScorer())


class OneMore(ToyScorer):
    """Disagrees about every board."""

    def scores(self, boards):
        return super().scores(boards) + 1


@pytest.mark.parametrize("doubter", ["production scorer", "independent scorer"])
def test_each_of_the_two_scorers_is_listened_to(tmp_path, doubter):
    location = make_run(tmp_path / "run")
    before = read_claim(open_run(location))
    scorers = {
        "production scorer": ToyScorer(),
        "independent scorer": ToyScorer(),
        doubter: OneMore(),
    }
    with pytest.raises(MismatchError, match="class"):
        verify_files(open_run(location), *scorers.values(), Wording("toy", 12, POINTS))
    assert read_claim(open_run(location)) == before, "nothing is claimed anew"
    assert verify_files(
        open_run(location), ToyScorer(), ToyScorer(), Wording("toy", 12, POINTS)
    ).claim


def claim_of(location, rows) -> Claim:
    with Store.open(location, toy_question()) as store:
        store.append(rows)
        return claimed(store)


def test_the_sentence_and_the_file(tmp_path):
    claim = claim_of(tmp_path, all_rows())
    assert claim.strength == COMPLETE
    assert claim.statement.startswith("Of all 456,976 2x2 boards")
    for text in ("12 words of toy", f"{POINTS} points", "80 or more", "highest score is 94"):
        assert text in claim.statement
    assert (claim.best_score, claim.n_canonical, claim.n_raw, claim.n_candidates) == (94, 2, 16, 3)
    assert read_claim(open_run(tmp_path)) == claim
    found = summary(tmp_path)
    assert (found.proven, found.notes, found.result_digest) == (True, (), claim.result_digest)
    assert found.n_rows == {
        "eliminated": 5,
        "candidates": 1,
        "split": 0,
        "error": 0,
        "quarantined": 0,
    }
    claim_of(
        tmp_path / "other", [replace(r, host="other", seconds=3.0) for r in reversed(all_rows())]
    )
    assert (tmp_path / "other" / files.CLAIM).read_bytes() == (tmp_path / files.CLAIM).read_bytes()
    Store.open(tmp_path / "b", toy_question(cutoff=81)).close()
    (tmp_path / "b" / files.CLAIM).write_bytes((tmp_path / files.CLAIM).read_bytes())
    with pytest.raises(DamagedError, match="another run"):
        read_claim(open_run(tmp_path / "b"))


def test_in_what_a_claim_differs_from_the_rows_is_told(tmp_path):
    claim = claim_of(tmp_path, all_rows())
    renamed = replace(
        claim, wordlist="mine", statement=claim.statement.replace(" of toy (", " of mine (")
    )
    for stored in (claim, renamed):
        assert disagreement(stored, claim, "") == ""
    told = disagreement(claim, None, "a class is left")
    assert told == "it says that the run is proven; its rows do not: a class is left"
    told = disagreement(replace(claim, best_score=95), claim, "")
    assert told == "it says best score 95; the rows give 94"
    for changed in (replace(claim, statement="All."), replace(renamed, wordlist="toy")):
        assert disagreement(changed, claim, "").startswith("its statement is ")


def test_no_claim_without_coverage(tmp_path):
    with pytest.raises(IncompleteError, match="proves nothing yet"):
        claim_of(tmp_path, all_rows()[1:])
    assert not (tmp_path / files.CLAIM).exists()
    assert not summary(tmp_path).proven
    listed = scored_again(open_run(tmp_path), ToyScorer())
    assert summary(tmp_path).result_digest == digest_of(toy_question(), listed, complete=False)


def test_the_digest_depends_on_the_answer_alone():
    def digest(boards, complete=True, **changes):
        listed = BoardList.of([ListedBoard(board, score, 8) for board, score in boards], 0)
        return digest_of(toy_question(**changes), listed, complete=complete)

    two = [("wxyz", 94), ("tvyz", 89)]
    base = digest(two)
    assert digest(two[::-1], buckets="abcdefghijklmnopqrstuvwxyz", cell_order=(0, 1, 2, 3)) == base
    changes = (
        {"cutoff": 79},
        {"dims": "2x3"},
        {"words_sha256": "1" * 64},
        {"points": (0, 0, 0, 1)},
    )
    different = [
        *(digest(two, complete=False), digest(two[:1]), digest([("wxyz", 95), two[1]])),
        *(digest(two, **change) for change in changes),
    ]
    assert len({base, *different}) == 1 + len(different)


ONE, TWO = ListedBoard("wxyz", 94, 8), ListedBoard("wyxz", 94, 8)
SENTENCES = [
    ([], {}, "none scores 80 or more."),
    ([ONE], {}, "exactly 1 up to symmetry (8 counting every rotation and reflection) scores 80"),
    ([ONE, TWO], {}, "94, reached by wxyz and wyxz."),
    ([ONE, ListedBoard("tvyz", 89, 8)], {}, "94, reached by wxyz."),
    (
        [ListedBoard(f"aaa{c}", 94, 4) for c in "bcdefgh"],
        {},
        "aaab, aaac, aaad, aaae, aaaf and 2 more.",
    ),
    ([], {"left_out": None}, "words of toy (SHA-256 0000000000000000) and"),  # an older run
    ([], {"left_out": {"too short": 0}}, "(SHA-256 0000000000000000; 0 lines left out) and"),
    (
        [],
        {"left_out": {"too short": 2, "duplicate": 0, "q without u": 1}},
        "; 3 lines left out: 2 too short, 1 q without u) and",
    ),
    (
        [],
        {"left_out": {"duplicate": 1}, "stands_for": {"w": "\u00f1"}},
        "0000; w stands for \u00f1; 1 line left out: 1 duplicate) and",
    ),
]


@pytest.mark.parametrize(("boards", "asked", "text"), SENTENCES)
def test_the_sentence_says_what_there_is_and_with_which_words(boards, asked, text):
    listed = BoardList.of(boards, len(boards))
    assert text in statement_of(toy_question(), listed, Wording("toy", 12, POINTS, *asked.values()))


@pytest.mark.parametrize(
    ("points", "text"),
    [
        ("standard", "2x2 boards with toy, up"),
        (POINTS, f"toy and {POINTS} poi"),
    ],
)
def test_where_a_board_stands_is_said_with_words_and_points(points, text):
    assert text in standing("2x2", Wording("toy", 12, points), 2)


def test_no_board_is_the_best_before_all_is_searched():
    usual = Wording("toy", 12, "standard")
    assert "none of the other 456,975 2x2 boards beats it" in standing("2x2", usual)
    so_far = searched(1, 4)
    assert so_far == "1 of 4 classes are done (25.0 %)"
    assert standing("2x2", usual, so_far=so_far) == f"The best found so far; {so_far}."
    assert standing("2x2", usual, 3, so_far=so_far) == "Number 3 of those found so far."
    assert searched(0, 0) == "nothing is proven"
    assert searched(1, 4, "it is damaged") == "it is damaged"
    assert Wording("toy", 12, "words").points == "one point a word"


def test_what_is_shown_of_a_run_in_each_of_its_states(tmp_path):
    claim_of(tmp_path, all_rows())
    proven = summary(tmp_path)
    unfinished = replace(proven, proven=False, why_not="a class is left")
    faulty = replace(unfinished, is_faulty=True)
    refuted = replace(faulty, is_refuted=True)
    caveat = "found so far, not proven: a class is left"
    kinds = {
        State.PROVEN: (proven, "", "", None),
        State.INCOMPLETE: (unfinished, "", caveat, IncompleteError),
        State.FAULTY: (faulty, "its rows do not fit together", caveat, MismatchError),
        State.REFUTED: (refuted, f"it is {REFUTED}", caveat, MismatchError),
    }
    for state, (shown, *told, error) in kinds.items():
        assert shown.state is state
        assert [shown.fault, shown.caveat] == told
        if error:
            with pytest.raises(error, match=f"here: {caveat}"):
                shown.require_proven("here")
        else:
            shown.require_proven("here")
    assert proven.best_known == ""
    climbed = replace(unfinished, from_climb=ListedBoard("wxyz", 94, 8))
    assert climbed.best_known == "94 points: wxyz, from the climb"


@pytest.mark.parametrize(
    ("board", "score", "is_shown"),
    [("zyxw", 80, True), ("zyxw", 81, False), ("zyxw", None, False), ("zyx", 80, False)],
)
def test_the_board_of_a_climb_is_shown_with_the_cutoff_that_it_gave(
    tmp_path, board, score, is_shown
):
    Store.open(tmp_path, toy_question(), Made(climbed=Climbed(board, score))).close()
    shown = summary(tmp_path).from_climb
    assert (shown is not None) == is_shown


def test_runs_of_one_name_are_told_apart_by_their_folders():
    assert distinct_names(["a/run", "b/other"]) == ["run", "other"]
    assert distinct_names(["a/run", "b/run"]) == ["a/run", "b/run"]
    with pytest.raises(InputError, match="'a/run' is given twice"):
        distinct_names(["a/run", "a/run/"])


BUCKETS = (
    "center: abcdefghijklm nopqrstuvwxyz, edge: aeiou bcdfghjklmnpqrstvwxyz, corner: "
    "abcdefghijklmnopqrstuvwxyz"
)
WORDS = ("ate", "east", "eat", "eta", "sat", "sea", "seat", "tea", "teas")


@pytest.fixture(scope="module")
def partition():
    return parse_partition(BUCKETS, "3x3")


@pytest.mark.parametrize(
    ("fused", "at"), [(("center",), 0), ((), 0), (("edge",), 0), (("edge",), -1)]
)
def test_parts_and_sizes_are_those_of_the_breaker(monkeypatch, partition, fused, at):
    """Whichever of the fused cells a search splits: the paths say it."""
    monkeypatch.setattr(
        node, "split_cell", lambda part, board, params: node.split_cells(part, board, params)[at]
    )
    params = Params(fused=fused, unit_budget=0, node_budget=0, memory_mb=16)
    breaker = Breaker(
        spec_of("3x3", WORDS, parse_scores("words").points, 9, partition.text, params)
    )
    nodes = SearchNodes(breaker.question)
    last = int(next(partition.canonical_ranks())[-1])
    todo, n_splits = [Unit(0), Unit(last)], 0
    while todo:
        unit = todo.pop()
        result = breaker.break_unit(unit)
        assert result.n_boards == nodes.n_boards(unit.class_id, unit.path)
        if result.status == "split":
            children = [child.path for child in result.children]
            named = [*children, *result.settled]
            assert uncovered(nodes, (unit.class_id, unit.path), named) is None
            assert all(
                uncovered(nodes, (unit.class_id, unit.path), [x for x in named if x != lost])
                for lost in named[:9]
            )
            todo += result.children[-2:] if unit.path.count("/") < 4 else ()
            n_splits += 1
    assert n_splits > 3


@pytest.mark.parametrize("path", ["4=a", "4=jkfb/4=q", "0=a", "4=jkfb/1=u", "no path"])
def test_a_part_that_no_split_makes(partition, path):
    nodes = SearchNodes(ask("3x3", "0" * 64, "words", 9, partition.text))
    with pytest.raises(InputError, match="no part"):
        nodes.n_boards(0, path)
    verdict = UnitResult(
        Unit(0),
        "split",
        1,
        0,
        children=(Unit(0, "4=a"),),
        settled=(path,),
        candidates=(),
        counters={},
        seconds=0.0,
    )
    assert "no part" in nodes.difference(verdict, verdict)


def test_a_board_has_no_parts():
    nodes = SearchNodes(ask("2x2", "0" * 64, "words", 1, " ".join("abcdefghijklmnopqrstuvwxyz")))
    assert nodes.n_boards(0, "") == 1
    with pytest.raises(InputError, match="single board"):
        nodes.parts(0, "", 0)


def test_a_run_that_was_written_to_while_it_was_verified_gets_no_claim(tmp_path):
    location = make_run(tmp_path / "run")
    run = open_run(location)
    verified = verify_files(run, ToyScorer(), ToyScorer(), Wording("toy", 12, POINTS))
    claim = (location / files.CLAIM).read_bytes()
    write_rows(location, [row(0, status="error", n_boards=0, message="it failed")])
    with pytest.raises(StoreError, match="was written to while it was verified: verify it again"):
        record(run, verified)
    assert (location / files.CLAIM).read_bytes() == claim
    record(open_run(location), verified)
    assert (location / files.CLAIM).read_bytes() != claim


def test_a_path_adds_no_letters_to_a_cell():
    classes = parse_partition("abcdefghijklm nopqrstuvwxyz", "2x2")
    assert unit_letters(classes, (0, "0=ab"))[0] == "ab"
    with pytest.raises(RowError, match="forces 'az' on cell 0, which has 'abcdefghijklm'"):
        unit_letters(classes, (0, "0=az"))


def test_a_part_that_no_split_makes_is_one_too_many():
    named = ["0=ae", "0=iou"]
    assert uncovered(Nodes(), (0, ""), named) is None
    with pytest.raises(RowError, match="names a part that no split"):
        uncovered(Nodes(), (0, ""), [*named, "0=b"])


def test_what_was_searched_again_and_what_confirms_a_run(tmp_path):
    location = make_run(tmp_path / "run")
    run, scorers, asked = (
        open_run(location),
        (ToyScorer(), ToyScorer()),
        Wording("toy", 12, POINTS),
    )
    n = verify_files(run, *scorers, asked).n_verdicts
    for again, is_verified in (
        (Searched(n), True),
        (Searched(n - 1, 9, 94), False),
        (Searched(0, 9, 94), False),
    ):
        told = verify_files(run, *scorers, asked, lambda _, found=again: found)
        assert told.verified == is_verified
        n_repeated = again.n_repeated
        begin = f"{n_repeated} of {n} verdicts searched again"
        assert told.checked.startswith(begin)
        is_climbed = "over 9 boards, up to 94 points" in told.checked
        assert is_climbed == bool(again.n_climbed)


def test_a_claim_about_the_same_rows_was_altered_and_one_about_fewer_is_old(tmp_path):
    run = open_run(make_run(tmp_path / "run"))
    path = tmp_path / "run" / files.CLAIM
    stored = json.loads(path.read_text())
    del stored["sha256"]

    def notes_with(**changes: int) -> tuple[str, ...]:
        path.write_bytes(format_document({**stored, **changes}))
        return verify_files(run, ToyScorer(), ToyScorer(), Wording("toy", 12, POINTS)).notes

    assert notes_with() == ()
    with pytest.raises(MismatchError, match="is not about these rows: it says best score 95"):
        notes_with(best_score=95)
    (note,) = notes_with(best_score=95, n_units=stored["n_units"] - 1)
    assert "is out of date: it says " in note


def test_sums_and_digests_of_rows_are_exact(tmp_path):
    counters = {"n_terms": 2**62, "max_tree_bytes": 2}
    rows = [replace(each, counters=counters) for each in all_rows()]
    other = [*rows[:-1], replace(rows[-1], candidates=rows[-1].candidates[:1])]
    turned = replace(rows[-1], candidates=rows[-1].candidates[::-1])
    others = {
        "run": rows,
        "again": [turned, *rows[-2::-1]],
        "fewer": other,
    }
    for name, held in others.items():
        write_rows(tmp_path / name, held)
    run, again, fewer = (open_run(tmp_path / name) for name in ("run", "again", "fewer"))
    assert statistics(run)["n_terms"] == len(rows) * 2**62
    assert statistics(run)["max_tree_bytes"] == 2
    assert verdict_digest(run) == verdict_digest(again) != verdict_digest(fewer)
