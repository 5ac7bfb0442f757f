"""What the ledger admits: verdicts that fit the schema, with rows of its own making."""

from dataclasses import replace

import pytest

from boardclass.scores import parse_scores
from cluster.driver.loop import Ledger
from cluster.scheduling.events import Answer, Publish, Quarantine, Tick, UnitFailed
from results.store.documents import Fingerprint
from results.store.rows import Row
from results.store.run import open_run
from results.store.store import Store
from search.breaker import Unit, UnitResult

PRINT = Fingerprint(
    "2x2", "0" * 64, parse_scores("words").points, 4, "corner: abcdefghijklm nopqrstuvwxyz", (0, 1, 2, 3)
)


class ListStore(list):
    """A store that refuses nothing."""

    def append(self, rows):
        self.extend(rows)


@pytest.fixture
def store():
    return ListStore()


@pytest.fixture
def ledger(store):
    return Ledger(store, PRINT)


def answer(class_id, *candidates):
    status = "candidates" if candidates else "eliminated"
    return Answer(1, 2, UnitResult(Unit(class_id), status, 4, 3, candidates, (), (), {}, 1.0), "there")


def test_what_is_admitted_is_stored_with_its_attempt(ledger, store):
    events = ledger.admit([answer(0), Tick(), answer(5, ("abcd", 7))])
    assert events[1] == Tick()
    ledger.publish([Publish(event, 2) for event in events if isinstance(event, Answer)])
    assert [(row.class_id, row.candidates, row.host, row.attempt) for row in store] == [
        (0, (), "there", 2),
        (5, (("abcd", 7),), "there", 2),
    ]
    assert (ledger.n_rows, ledger.n_candidates, ledger.best) == (2, 1, (7, "abcd"))


def test_only_the_bad_one_of_several_answers_is_refused(ledger):
    good, bad = ledger.admit([answer(0), answer(5, ("abcd", 3))])
    assert good.row is not None
    assert bad == UnitFailed(1, 2, Unit(5), bad.message)
    assert "below cutoff 4" in bad.message


def test_an_answer_that_brings_a_row_is_not_believed(ledger, store):
    forged = Row(PRINT.digest, 0, "", "candidates", 4, candidates=(("abcd", 99),))
    (event,) = ledger.admit([replace(answer(0), row=forged)])
    ledger.publish([Publish(event)])
    assert [(row.status, row.candidates) for row in store] == [("eliminated", ())]


def test_a_verdict_of_a_host_that_is_contradicted_in_the_same_turn_is_in_doubt(tmp_path):
    with Store.open(tmp_path, PRINT) as store:
        ledger = Ledger(store, PRINT)
        (event,) = ledger.admit([answer(0)])
        ledger.publish([Publish(event), Quarantine(Unit(5), 1, "contradicted", ("there",))])
    assert open_run(tmp_path).doubted == [(0, "")]


def test_an_answer_of_another_shape_is_a_failure(ledger):
    odd = replace(answer(0), result=replace(answer(0).result, candidates=(1, 2)))
    (event,) = ledger.admit([odd])
    assert isinstance(event, UnitFailed)
    assert "no verdict: TypeError" in event.message


def test_what_was_not_admitted_cannot_be_published(ledger, store):
    with pytest.raises(AssertionError, match="admitted before"):
        ledger.publish([Publish(answer(0))])
    assert store == []
