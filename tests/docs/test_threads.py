"""What is public and has state, in several threads at once: right, or an error that says what to do
instead.

A thread lets go of the interpreter while a kernel runs, so boards with many paths are what makes
two threads meet.
"""

from __future__ import annotations

import itertools
import pickle
import random
import re
import resource
import runpy
import threading
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import pytest
from werkzeug.serving import make_server

from orderly_boggle.boardclass.errors import InputError
from orderly_boggle.boardclass.geometry import geometry
from orderly_boggle.results import boards, connect, open_run, summary, top
from orderly_boggle.results.reading.limits import Limits
from orderly_boggle.search import (
    Breaker,
    Scorer,
    Spec,
    Unit,
    ask,
    break_class,
    local_search,
    score,
    solve,
)
from orderly_boggle.search.certificate import Certifier
from orderly_boggle.search.local.batches import HoldingScorer, ParallelScorer
from orderly_boggle.search.params import Budgets
from tests.conftest import ROOT
from tests.results.helpers import all_rows, drive, write_rows

N_THREADS = 8
# words of a and b: each path of a board of such letters spells one, so it has paths by the thousand
WORDS = ["".join(letters) for n in (3, 5, 6) for letters in itertools.product("ab", repeat=n)]


def drawn(n, n_cells):
    draw = random.Random(n_cells)
    return ["".join(draw.choice("aab") for _ in range(n_cells)) for _ in range(n)]


def in_threads(work, given):
    """Return the answers of ``work``, called by several threads that begin at the same moment."""
    gate = threading.Barrier(N_THREADS)

    def share(first):
        gate.wait(60)
        return [work(value) for value in given[first::N_THREADS]]

    answers = [None] * len(given)
    with ThreadPoolExecutor(N_THREADS) as pool:
        for first, found in enumerate(pool.map(share, range(N_THREADS))):
            answers[first::N_THREADS] = found
    return answers


def test_score_is_right_in_any_number_of_threads():
    asked = [board for n_cells in (9, 12, 16) for board in drawn(300, n_cells)]

    def points(board):
        return score(board, WORDS)

    alone = list(map(points, asked))
    assert len(set(alone)) > 30
    assert in_threads(points, asked) == alone


@pytest.mark.parametrize("portable", [False, True])
def test_threads_share_a_scorer(portable):
    scorer = Scorer("4x4", WORDS, portable=portable)
    batches = [drawn(100, 16) for _ in range(2 * N_THREADS)]
    alone = scorer.scores(batches[0]).tolist()
    assert in_threads(lambda batch: scorer.scores(batch).tolist(), batches) == [alone] * 16


def test_a_scorer_goes_to_other_processes():
    scorer = Scorer("3x3", WORDS, "words", portable=True)
    sent = pickle.loads(pickle.dumps(scorer))
    assert sent.score("aabbabaab") == scorer.score("aabbabaab")
    assert repr(sent) == repr(scorer)


SCORER = Scorer("3x3", WORDS)


@pytest.mark.parametrize(
    "scorer", [SCORER, ParallelScorer(SCORER, 2), HoldingScorer(SCORER, "aba")]
)
def test_threads_climb_with_the_same_scorer(scorer):

    def climbed(seed):
        return local_search(scorer, pool=20, runs=2, seed=seed, letters="abc")

    seeds = list(range(2 * N_THREADS))
    assert in_threads(climbed, seeds) == list(map(climbed, seeds))


def test_threads_solve():
    asked = drawn(40, 9)
    alone = [solve(board, WORDS) for board in asked]
    assert in_threads(lambda board: solve(board, WORDS), asked) == alone


SMALL = Budgets(memory_mb=16)
SPEC = Spec.of("2x3", WORDS, "standard", 20, "ab cdefghijklmnopqrstuvwxyz", SMALL)


def known(result):
    return result.status, result.candidates, result.max_bound, result.counters


def test_threads_search_a_class_each():
    ids = list(range(2 * N_THREADS))

    def searched(class_id):
        return known(break_class(SPEC, class_id))

    assert in_threads(searched, ids) == list(map(searched, ids))


def test_a_breaker_at_work_refuses_another_thread_and_says_what_to_do():
    refused = []

    def ask_meanwhile(share):
        calls = (
            lambda: breaker.break_unit(Unit(0)),
            lambda: breaker.replicate(Unit(0), [""], 1),
            lambda: breaker.turn(geometry("2x3")),
        )
        with ThreadPoolExecutor(1) as another:
            for call in calls:
                error = another.submit(call).exception()
                refused.append((type(error), str(error)))
        with pytest.raises(InputError):
            breaker.break_unit(Unit(0))  # nor may the function that is told of the progress

    breaker = Breaker(SPEC, ask_meanwhile)
    found = breaker.break_unit(Unit(5))
    assert len(refused) == 3
    for kind, told in refused:
        assert kind is InputError
        assert re.search("Breaker of 2x3 boards .* at work .* make a Breaker for each", told)
    assert known(found) == known(Breaker(SPEC).break_unit(Unit(5)))
    assert known(breaker.replicate(Unit(5), [""], 1))[:2] == known(found)[:2]


def test_certifiers_in_threads_are_right_or_refuse():
    words, letters = tuple(WORDS), ["ab"] * 6
    certifier = Certifier(
        ask("2x3", "0" * 64, "words", 5, "abcdefghijklmnopqrstuvwxyz"), words, memory_mb=16
    )

    def shaped(_):
        try:
            return certifier.shape(letters).n_boards
        except InputError as error:
            return str(error)

    answers = set(in_threads(shaped, list(range(20 * N_THREADS))))
    refusals = answers - {shaped(0)}
    assert all("make a Certifier for each thread" in told for told in refusals)


def test_threads_read_a_run():
    def read(_):
        return len(boards(run)), top(run, 3), summary(run).statement

    for _ in range(3):
        run = open_run("3x3-scowl70")  # nothing of it was read
        answers = in_threads(read, list(range(N_THREADS)))
        assert answers == [read(0)] * N_THREADS


def test_threads_read_a_run_in_an_object_store(bucket):
    write_rows(bucket, all_rows()[:3])
    write_rows(bucket, all_rows()[3:])
    drive(bucket, [])

    def read(_):
        ids = [row.class_id for row in run.rows()]
        return ids, len(boards(run)), top(run, 3), summary(run).statement

    for _ in range(3):
        run = open_run(bucket)  # nothing of it was read
        answers = in_threads(read, list(range(N_THREADS)))
        assert answers == [read(0)] * N_THREADS
    assert len(read(0)[0]) == len(all_rows())


@pytest.mark.parametrize("limits", [None, Limits()])
def test_threads_ask_in_sql(limits):
    before = resource.getrlimit(resource.RLIMIT_AS)
    databases = [connect("3x3-scowl70") for _ in range(2)]

    def asked(number):
        sql = f"SELECT count(*), {number} FROM classes a, classes b, boards c"
        return databases[number % 2].query(sql, limits).rows[0][1]

    numbers = list(range(20 * N_THREADS))
    assert in_threads(asked, numbers) == numbers
    in_threads(lambda number: databases[number % 2].close(), numbers[:N_THREADS])
    assert resource.getrlimit(resource.RLIMIT_AS) == before


def test_the_service_of_the_page_answers_threads(tmp_path):
    page = ROOT.joinpath("docs", "library.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len([line for line in code.splitlines() if line]) == 6
    tmp_path.joinpath("service.py").write_text(code)
    app = runpy.run_path(str(tmp_path / "service.py"), run_name="service")["app"]
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    draw = random.Random(1)
    asked = ["".join(draw.choice("etaoinsrlhdc") for _ in range(16)) for _ in range(80)]

    def points(board):
        address = f"http://127.0.0.1:{server.server_port}/score/{board}"
        with urllib.request.urlopen(address, timeout=60) as answer:
            return int(answer.read())

    try:
        answers = in_threads(points, asked)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    assert answers == Scorer("4x4", "scowl70").scores(asked).tolist()
