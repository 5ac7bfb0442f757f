"""Whole runs in this process, from config to claim, with the real search on tiny questions."""

from __future__ import annotations

import io
import itertools
import json
import os
import re
import signal
import string
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache, partial
from math import prod
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

from orderly_boggle.boardclass.canonical import canonical_board
from orderly_boggle.boardclass.errors import MismatchError
from orderly_boggle.boardclass.geometry import geometry
from orderly_boggle.boardclass.scores import parse_scores
from orderly_boggle.boardclass.wordlist import REASONS
from orderly_boggle.cluster.driver.driver import Interrupted, run
from orderly_boggle.cluster.driver.prepared import history
from orderly_boggle.cluster.driver.progress import Progress
from orderly_boggle.cluster.driver.signals import StopSignals
from orderly_boggle.cluster.planning.plan import make_plan
from orderly_boggle.cluster.workers.executors import InProcessExecutor
from orderly_boggle.configs.model import RunConfig, SearchConfig
from orderly_boggle.results.errors import DamagedError, FingerprintError
from orderly_boggle.results.log import read_events
from orderly_boggle.results.log_events import Dropped, Reused
from orderly_boggle.results.proof.claim import read_claim
from orderly_boggle.results.proof.prove import prove
from orderly_boggle.results.storage import files
from orderly_boggle.results.storage.local import LocalFolder
from orderly_boggle.results.store.made import ListTold
from orderly_boggle.results.store.parts import read_parts
from orderly_boggle.results.store.rows import QUARANTINED, Row, from_table
from orderly_boggle.results.store.run import open_run
from orderly_boggle.results.store.store import Store
from orderly_boggle.search.breaker import Breaker, Unit
from orderly_boggle.search.costs import likely_costs, predicted_costs
from orderly_boggle.search.node import class_node, split
from orderly_boggle.search.params import Budgets
from orderly_boggle.search.question import DEFAULT_BUCKETS
from orderly_boggle.search.scoring.scorer import Scorer
from tests.cluster.fakes import REPORT
from tests.cluster.small import WORDS, cut_into_parts, tiny, with_breaker
from tests.results.helpers import write_rows


@pytest.fixture
def config(tmp_path):
    return tiny(tmp_path)


def change(config, **changes):
    return RunConfig.model_validate(config.model_dump() | changes)


@cache
def all_scores():
    """Return every 2x2 board with its score."""
    boards = ["".join(board) for board in itertools.product(string.ascii_lowercase, repeat=4)]
    return boards, Scorer("2x2", WORDS, parse_scores("words")).scores(boards)


def expected_boards(cutoff):
    """Return the canonical 2x2 boards that reach the cutoff, with their scores."""
    boards, scores = all_scores()
    reaching = np.flatnonzero(scores >= cutoff)
    return {
        (canonical_board(boards[place], geometry("2x2")), int(scores[place])) for place in reaching
    }


def test_proves_the_boards_that_are_there_and_again_without_an_executor(config):
    progress = mock.Mock(spec=Progress)
    outcome = run(config, progress=progress)
    assert outcome.complete
    assert {(board.board, board.score) for board in outcome.listed.boards} == expected_boards(4)
    assert outcome.claim is not None
    assert outcome.claim.result_digest == outcome.digest
    assert (outcome.n_reused, outcome.coverage.quarantined, outcome.message) == (0, [], "")
    (report,) = progress.update.call_args.args
    assert progress.begin.call_args.args[1] == report.n_classes_done == outcome.coverage.n_classes
    assert report.best_score == outcome.listed.boards[0].score
    progress.end.assert_called_once_with()
    made = open_run(config.out).made
    assert made.words == ListTold("tiny", config.wordlist, len(WORDS), dict.fromkeys(REASONS, 0))
    assert {"python", "numba", "numpy"} <= set(made.versions)
    assert json.loads(made.config)["search"]["memory_mb"] == made.budgets.memory_mb == 16
    assert "token" not in str(made).lower()
    again = run(config, make_executor=lambda spec: pytest.fail("nothing is left to compute"))
    assert (again.complete, again.digest) == (True, outcome.digest)
    assert (again.n_reused, again.n_computed) == (outcome.n_computed, 0)


def test_memory_that_is_short_for_layers_is_told_once_and_changes_nothing(config):
    class Cramped(Breaker):
        n_short_layers = 3

    progress = mock.Mock(spec=Progress)
    outcome = run(config, progress=progress, make_executor=with_breaker(Cramped))
    (told,) = [call.args[0] for call in progress.note.call_args_list]
    assert "do not fit 16 MiB" in told
    assert "larger --memory" in told
    assert outcome.complete
    assert outcome.n_computed > 1


def test_same_digest_however_it_is_found(config):
    with ThreadPoolExecutor() as threads:
        first = threads.submit(run, config).result()
    ways = (
        {"buckets": "abcdefghijklmnopqrstuvwxyz"},
        {"seed": 5},
        {"search": {"memory_mb": 16, "node_budget": 50}},
    )
    for number, changes in enumerate(ways):
        other = run(change(config, out=f"{config.out}{number}", **changes))
        assert (other.complete, other.digest) == (True, first.digest)


def test_auto_cutoff_is_the_best_board_and_stays(config):
    def climbs(progress):
        return any("climbing" in call.args[0] for call in progress.stage.call_args_list)

    auto = change(config, cutoff="auto")
    progress = mock.Mock(spec=Progress)
    first = run(auto, progress=progress)
    assert climbs(progress)
    best = max(score for _, score in expected_boards(1))
    assert open_run(auto.out).question.cutoff == best
    assert {(board.board, board.score) for board in first.listed.boards} == expected_boards(best)
    made = open_run(auto.out).made
    assert made.climbed is not None
    assert made.climbed.score == best
    assert json.loads(made.config)["cutoff"] == "auto"
    progress = mock.Mock(spec=Progress)
    other = make_plan(change(auto, scores="powers"))
    assert other.question.cutoff > best, "that of other points says nothing"
    # a run with another cutoff would be refused
    assert run(change(auto, seed=9), progress=progress).n_computed == 0
    assert not climbs(progress)


class PartialExecutor(InProcessExecutor):
    """Splits every class, and stops with a signal, as from a terminal, after a few verdicts."""

    def __init__(self, spec, n_left, number=signal.SIGINT):
        super().__init__(spec, TiredBreaker)
        self.n_left, self.number, self.held = n_left, number, []

    def poll(self, timeout_s):
        """Hand on one event at a time, however many have piled up, so that the run is not over
        before the signal.
        """
        events = super().poll(0.0 if self.held else timeout_s)
        self.held += events
        self.n_left -= bool(self.held)
        if self.n_left == 0:
            self.n_left = -1
            os.kill(os.getpid(), self.number)
        events, self.held = self.held[:1], self.held[1:]
        return events


class LyingBreaker(Breaker):
    """Finds a board that does not reach the cutoff in class 0."""

    def break_unit(self, unit):
        found = super().break_unit(unit)
        return (
            replace(found, status="candidates", candidates=(("aaaa", 1),))
            if unit.class_id == 0
            else found
        )


def test_verdicts_that_break_the_schema_never_enter_the_store(config):
    outcome = run(config, make_executor=with_breaker(LyingBreaker))
    assert not outcome.complete
    assert outcome.claim is None
    assert outcome.coverage.quarantined == ["class 0"]
    assert (
        "scores 1, below cutoff 4"
        in next(row for row in open_run(config.out).rows() if not row.is_verdict).message
    )
    assert "given up: 1: class 0" in outcome.message
    repaired = run(config)
    assert repaired.complete, "a unit that was given up is tried again"


class TiredBreaker(Breaker):
    """Splits every class once before it does anything."""

    def break_unit(self, unit):
        found = super().break_unit(unit)
        if unit.path:
            return found
        masks = self.partition.class_masks(unit.class_id).tolist()
        parts = split(
            class_node(masks, self.geometry, self.question.rules),
            self.geometry,
            self.question.rules,
        )
        children = tuple(Unit(unit.class_id, part.path) for part in parts)
        return replace(found, status="split", candidates=(), children=children)


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize(
    ("number", "breaker", "search"),
    [
        (signal.SIGINT, TiredBreaker, {}),
        (signal.SIGXCPU, Breaker, {"memory_mb": 32, "node_budget": 50}),
    ],
)
def test_a_signal_stores_what_is_done_and_other_budgets_may_go_on(config, number, breaker, search):
    before = signal.getsignal(number)
    with pytest.raises(Interrupted) as stopped:
        run(config, make_executor=partial(PartialExecutor, n_left=40, number=number))
    index = open_run(config.out).index
    begun = {class_id for class_id, _ in index.pending()}
    n_done = len(set(index.done_ids()) - begun)
    assert n_done
    assert re.match(
        f"stopped by {number.name}: {n_done} of .* the same command resumes",
        str(stopped.value),
    )
    assert signal.getsignal(number) is before
    resumed = run(change(config, search=search), make_executor=with_breaker(breaker))
    assert resumed.complete
    assert resumed.n_reused > 0
    assert (
        resumed.n_reused + resumed.n_computed
        == resumed.coverage.n_units
        > resumed.coverage.n_classes
    )
    assert {(board.board, board.score) for board in resumed.listed.boards} == expected_boards(4)

    class Interrupting(Progress):
        def note(self, text):
            """Hear that the claim is damaged, before there is a search, or need of one."""
            if text.startswith("dropped"):
                signal.raise_signal(number)

    (Path(config.out) / files.CLAIM).write_text("[")
    with pytest.raises(Interrupted, match=f"stopped by {number.name}"):
        run(change(config, search=search), progress=Interrupting(), drop_damaged=True)


@pytest.mark.usefixtures("terminal")
def test_ctrl_c_ends_what_follows_the_search_at_once_and_so_does_a_second_one(config):
    class Impatient(Progress):
        def stage(self, text):
            if text.startswith("rescoring"):
                signal.raise_signal(signal.SIGINT)

    run(config)
    with pytest.raises(KeyboardInterrupt):
        run(config, progress=Impatient())
    with StopSignals() as signals:
        signal.raise_signal(signal.SIGINT)
        assert signals.reason == "SIGINT"
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


@pytest.mark.usefixtures("terminal")
def test_a_run_that_goes_on_knows_what_the_classes_behind_it_took(config):
    with pytest.raises(Interrupted):
        run(config, make_executor=partial(PartialExecutor, n_left=40))
    stored = open_run(config.out)
    unfinished = {class_id for class_id, _ in stored.index.pending()}
    efforts = {}
    for row in stored.rows():
        if row.class_id not in unfinished:
            work = sum(row.counters[name] for name in ("n_terms", "n_pushes", "n_splits"))
            efforts[row.class_id] = efforts.get(row.class_id, 0) + work
    plan = make_plan(config)
    costs, found, seconds, part_s = history(stored, plan, np.array(sorted(efforts)))
    assert seconds > part_s > 0
    assert unfinished
    assert sum(found) > 0
    assert found.tolist() == [efforts[class_id] for class_id in sorted(efforts)]
    assert costs.tolist() == likely_costs(plan.question, np.array(sorted(efforts))).tolist()


def test_damaged_parts_are_computed_again_and_nothing_else(config):
    """Small parts: rows of splits are lost while those of their children are not, and the other way
    round.
    """
    broken = []

    class Counted(TiredBreaker):
        def break_unit(self, unit):
            broken.append((unit.class_id, unit.path))
            return super().break_unit(unit)

    make = {"make_executor": with_breaker(Counted)}
    first = run(config, **make)
    cut_into_parts(Path(config.out))
    old = open_run(config.out)
    rows = {
        part.name: [row.key for row in from_table(table)]
        for part, table in read_parts(old.folder, old.manifest.parts)
    }
    assert len(rows) > 10
    chosen = np.random.default_rng(5).choice(sorted(rows), len(rows) // 3, replace=False)
    for number, name in enumerate(chosen):
        path = Path(config.out) / name
        path.write_bytes(path.read_bytes()[:-1]) if number % 2 else path.unlink()
    with pytest.raises(DamagedError, match="--drop-damaged"):
        run(config)
    progress = mock.Mock(spec=Progress)
    broken.clear()
    outcome = run(config, drop_damaged=True, progress=progress, **make)
    assert sorted(broken) == sorted(key for name in chosen for key in rows[name])
    assert (outcome.complete, outcome.digest) == (True, first.digest)
    assert outcome.n_reused == sum(map(len, rows.values())) - len(broken)
    (report,) = progress.update.call_args.args
    assert report.n_classes_done == progress.begin.call_args.args[1]
    assert report.n_candidates == outcome.listed.n_candidates, "those of before count"
    told = read_events(LocalFolder(Path(config.out)))
    dropped = [event.name for event in told if isinstance(event, Dropped)]
    assert dropped == sorted(chosen)
    assert len(list(open_run(config.out).rows())) == sum(map(len, rows.values()))


class ForgetfulBreaker(TiredBreaker):
    """Forgets the last part of every class that it splits."""

    def break_unit(self, unit):
        found = super().break_unit(unit)
        return found if unit.path else replace(found, children=found.children[:-1])


def test_a_forgotten_part_is_noticed_before_the_word_proven(config):
    with pytest.raises(MismatchError, match="is neither a child nor settled"):
        run(config, make_executor=with_breaker(ForgetfulBreaker))
    assert read_claim(open_run(config.out)) is None


def test_other_parts_and_another_question_are_refused_on_resume(config):
    others: dict[str, dict[str, object]] = {
        r"fused: asked for \['corner'\], stored \['center'\]": {"fused": ["corner"]},
        "unfuse_parts: asked for 7, stored 3": {"unfuse_parts": 7},
        "letter_order: asked for 'abc.*', stored 'jqx.*'": {
            "letter_order": "abcdefghijklmnopqrstuvwxyz"
        },
        r"force_groups: asked for \['aeiou', .*stored \['j',": {
            "force_groups": ["aeiou", "bcdfghjklmnpqrstvwxyz"]
        },
    }
    run(config)
    more = f"{config.out}-more"
    for message, changes in others.items():
        other = change(config, search={"memory_mb": 16} | changes)
        with pytest.raises(FingerprintError, match=message):
            run(other)
        with pytest.raises(FingerprintError, match=message):
            run(change(other, out=more), extends=config.out)
    assert not Path(more).exists()
    with pytest.raises(FingerprintError, match="cutoff: asked for 5, stored 4"):
        run(change(config, cutoff=5))


def test_a_run_keeps_the_rule_of_demands_that_it_began_with(config):
    """Runs of before there were two rules do not name theirs."""
    old = run(change(config, search={"memory_mb": 16, "demands": "every"}))
    assert open_run(config.out).question.rules.demands == "every"
    assert run(config).digest == old.digest
    with pytest.raises(FingerprintError, match="demands: asked for 'open', stored 'every'"):
        run(change(config, search={"memory_mb": 16, "demands": "open"}))
    new = change(config, out=config.out + "-new")
    assert run(new).digest == old.digest
    assert open_run(new.out).question.rules.demands == "open"
    extended = change(config, out=config.out + "-more", cutoff=config.cutoff + 1)
    assert run(extended, extends=config.out).complete
    told = read_events(LocalFolder(Path(extended.out)))
    assert [event.location for event in told if isinstance(event, Reused)] == [config.out]
    assert open_run(extended.out).question.rules.demands == "every"


NEW_BUDGETS = ({}, {"unit_budget": 1}, {"unit_budget": 40}, {"unit_budget": 1 << 40})


@pytest.mark.parametrize("budget", NEW_BUDGETS)
@pytest.mark.parametrize("first_budget", [1, 40, 1 << 40])
def test_units_in_doubt_are_cut_again_as_they_were_whatever_the_budget_is_now(
    config, first_budget, budget
):
    """One host is contradicted, another has searched what was left of its units."""
    made = {"memory_mb": 16, "product_limit": 0, "node_budget": 1, "least_budget": 1}
    asked = change(config, search=made | {"unit_budget": first_budget})
    whole = run(change(asked, out=config.out + "-whole"))
    stored = open_run(config.out + "-whole")
    rows = list(stored.rows())
    roots = [replace(row, host="liar") for row in rows if not row.path]
    parts = [row for row in rows if row.path]
    assert bool(parts) == (first_budget < 1000)
    doubt = Row(stored.question.digest, roots[0].class_id, "", QUARANTINED, 0, host="liar")
    write_rows(config.out, [*roots, *parts, doubt], stored.question, stored.made)
    again = run(change(asked, search=made | budget))
    assert (again.complete, again.digest) == (True, whole.digest)
    assert again.n_computed == len(roots), "what was found below them by others stays"


def test_a_split_in_a_hurry_that_is_in_doubt_is_found_again(config):
    """Towards its end a run splits units sooner; its only host is contradicted after that."""

    class Hasty(Breaker):
        hurried_budget = 0

    made = {"search": {"memory_mb": 16, "product_limit": 0, "node_budget": 1, "least_budget": 1}}
    asked = change(config, **made)
    whole = run(change(asked, out=config.out + "-whole"))
    plan = make_plan(asked)
    breaker = Hasty(plan.spec)
    breaker.hurries = True
    class_ids = plan.question.class_ids().tolist()
    found = [breaker.break_unit(Unit(class_id)) for class_id in class_ids]
    assert any(each.children and each.settled for each in found)
    doubt = Row(plan.question.digest, class_ids[0], "", QUARANTINED, 0, host="liar")
    with Store.open(config.out, plan.question, plan.made) as store:
        store.append(Row.of_result(each, plan.question, host="liar") for each in found)
        store.append([doubt])
    assert run(asked, make_executor=with_breaker(Hasty)).digest == whole.digest


def test_parts_cut_by_rules_that_are_lost_are_searched_again(config, tmp_path):
    """A run of an older version, in the middle of a class, that lost its ``run.json``: this version
    looks for other images of the boards in a part, so some would be in no part at all.
    """
    words = tmp_path / "oui.txt"
    words.write_text("oui\n")
    asked = change(config, wordlist=str(words), cutoff=1, buckets="aeiou bcdfghjklmnpqrstvwxyz")
    whole = run(change(asked, out=config.out + "-whole"))
    plan = make_plan(change(asked, search={"demands": "every"}))
    small = Budgets(unit_budget=1, node_budget=1, least_budget=1, product_limit=0)
    begun = Breaker(replace(plan.spec, budgets=small)).break_unit(Unit(0))
    assert begun.settled
    assert begun.children
    with Store.open(config.out, plan.question, plan.made) as store:
        consonants = Unit(int(plan.question.class_ids()[-1]))
        for found in (begun, Breaker(plan.spec).break_unit(consonants)):
            store.append([Row.of_result(found, plan.question, host="elsewhere")])
    (Path(config.out) / files.RUN).unlink()
    mended = run(asked, drop_damaged=True)
    assert mended.digest == whole.digest
    assert mended.n_reused == 1, "a class that was eliminated whole was so by any rules"


def test_a_claim_tells_the_rules_of_a_run_that_lost_its_run_json(config):
    old = change(config, search={"demands": "every"})
    run(old)
    (Path(config.out) / files.RUN).unlink()
    with pytest.raises(FingerprintError, match="demands: asked for 'open', stored 'every'"):
        run(config, drop_damaged=True)
    assert run(old, drop_damaged=True).n_computed == 0


def test_a_run_says_how_it_fuses_cells_that_no_key_holds(config):
    """It is a rule of its own from then on; older runs, and those of smaller boards, have none."""
    groups = ["".join(string.ascii_lowercase[i::4]) for i in range(4)]
    rules = {"max_free": 2, "coarse_groups": groups}
    plain = run(config)
    assert open_run(config.out).question.n_fused_first == 0
    fused = change(
        config,
        out=config.out + "-fused",
        search={"memory_mb": 16, "unit_budget": 1, "node_budget": 1} | rules,
    )
    said: list[str] = []
    make_plan(fused, said.append)
    assert "a tree holds 2 cells, a class of 2x2 has 2 more that are open" in said[0]
    done = run(fused)
    assert done.complete
    assert done.digest == plain.digest
    made = open_run(fused.out)
    paths = made.verdict_table.column("path").to_pylist()
    assert any(re.match("[0-9]=[a-z]{2}", path) for path in paths), "parts of fused cells"
    cut_by = made.question.rules
    assert (cut_by.max_free, cut_by.coarse_groups) == (2, tuple(groups))
    assert run(fused).digest == plain.digest
    for name, value in (("max_free", 3), ("coarse_groups", list(string.ascii_lowercase))):
        other = change(fused, search=fused.search.model_dump() | {name: value})
        with pytest.raises(FingerprintError, match=f"{name}: asked for .*, stored"):
            run(other)


def test_predicted_costs_are_products_over_the_cells(config):
    plan = make_plan(change(config, dims="3x4", buckets=DEFAULT_BUCKETS, cutoff=1000))
    ids = plan.question.class_ids()[:: max(1, plan.question.partition.n_canonical // 50)]
    costs = predicted_costs(plan.question, ids)
    place = plan.question.rules.letter_order.index
    expected = []
    for class_id in ids:
        letters = plan.question.partition.class_letters(int(class_id))
        expected.append(prod(1 + max(map(place, cell)) for cell in letters))
    assert costs.tolist() == pytest.approx(expected)
    assert len(set(costs.tolist())) > 1
    assert np.all(np.diff(plan.question.class_ids()) > 0)


def test_plain_lines():
    stream, now = io.StringIO(), [0.0]
    lines = Progress(stream, lambda: now[0])
    lines.begin("3x3, enable2k", 26, 3)
    for now[0] in np.arange(0.0, 65.0, 0.5):
        lines.update(replace(REPORT, remaining_s=3700.0, elapsed_s=now[0], n_quarantined=1))
    lines.end()
    lines.end()
    written = stream.getvalue().splitlines()
    assert written[0] == "3x3, enable2k"
    assert (
        written[1] == "13/26 classes (50.0 %), best 545 abc, 30 s gone, about 1 h 01 min left, "
        "1 worker lost, 1 unit given up"
    )
    assert len(written) == 4


def test_the_executor_is_shown_the_figures_and_people_that_memory_is_short(config):
    shown, progress = set(), mock.Mock(spec=Progress)

    class Showing(InProcessExecutor):
        def show(self, report):
            shown.add(report.n_free_bytes)

    with mock.patch(
        "orderly_boggle.cluster.driver.run_search.machine_memory",
        return_value=(1, 160),
    ):
        run(config, progress=progress, make_executor=Showing)
    assert shown == {1}
    (note,) = progress.note.call_args_list
    assert "memory are free on this machine" in note.args[0]


class LateBreaker(Breaker):
    """It comes, and ends, after the driver has looked at its workers."""

    def __init__(self, spec):
        time.sleep(0.6)
        super().__init__(spec)

    def break_unit(self, unit):
        time.sleep(0.03)
        return super().break_unit(unit)


def test_there_are_no_figures_before_there_are_workers(config):
    progress = mock.Mock(spec=Progress)
    config = change(config, workers=2)
    late = partial(InProcessExecutor, make_breaker=LateBreaker)
    assert run(config, progress=progress, make_executor=late).complete
    progress.stage.assert_any_call("starting workers")
    assert progress.update.call_args_list[0].args[0].n_workers


@pytest.mark.parametrize("dims", ["2x6", "2x7", "4x4"])
def test_a_class_of_more_boards_than_an_integer_holds_is_counted(config, dims):
    """26^12 are fewer than 2^63, 26^14 and 26^16 are more."""
    every = 26 ** geometry(dims).n
    outcome = run(change(config, dims=dims, cutoff=100, buckets=string.ascii_lowercase))
    assert outcome.claim
    assert f"Of all {every:,} {dims} boards" in outcome.claim.statement
    (row,) = open_run(config.out).rows()
    assert (row.status, row.n_boards) == ("eliminated", every)
    assert prove(open_run(config.out)).proven


def test_parts_of_such_a_class_add_up_to_it(config):
    """One word lies on all cells, and a class that is too much is split."""
    path = Path(config.wordlist)
    path.write_text("abcdefghijklmn\n")
    search = SearchConfig(memory_mb=64, unit_budget=2000, node_budget=200)
    outcome = run(
        change(config, dims="2x7", cutoff=1, buckets=string.ascii_lowercase, search=search)
    )
    assert outcome.complete
    rows = list(open_run(config.out).rows())
    assert sum(row.n_boards for row in rows if not row.path) == 26**14
    assert sum(row.n_boards for row in rows if row.path) > 2**63
