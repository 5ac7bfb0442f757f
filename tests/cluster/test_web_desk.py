"""Work for a page has limits: it is ended, the next question is answered, and nobody waits for somebody else's."""

from __future__ import annotations

import time

import pytest

pytest.importorskip("uvicorn", reason="needs the extra: pip install 'orderly-boggle[serve]'")

import anyio

from cluster.web import jobs
from cluster.web.desk import Desk, Lane, Refused
from results.reading.limits import GRACE_S
from tests.cluster.web import serving
from tests.conftest import ROOT, make_in


def test_what_takes_too_long_is_ended_and_the_next_is_answered():
    async def ask():
        desk = Desk()
        with pytest.raises(Refused, match=r"takes more than 6 s"):
            await desk.ask(Lane.quick, time.sleep, 1000, seconds=GRACE_S + 1)
        return await desk.ask(Lane.quick, jobs.score_board, "aert", "2x2", "scowl70")

    assert anyio.run(ask)["score"] == 14


def test_what_takes_too_much_memory_is_refused():
    async def ask():
        with pytest.raises(Refused, match="MiB: ask for less"):
            await Desk().ask(Lane.long, bytearray, 2**36, memory_mb=64)

    anyio.run(ask)


def test_quick_questions_do_not_wait_for_long_ones():
    ended = []

    async def ask():
        desk = Desk()
        await desk.ask(Lane.quick, len, "")

        async def take(lane, job, *values):
            await desk.ask(lane, job, *values)
            ended.append(lane)

        async with anyio.create_task_group() as group:
            group.start_soon(take, Lane.long, time.sleep, 5)
            await anyio.sleep(0.5)
            group.start_soon(take, Lane.quick, len, "")

    anyio.run(ask)
    assert ended == [Lane.quick, Lane.long]


def test_a_bug_is_said_and_not_asked_for_again():
    async def ask():
        with pytest.raises(Refused, match="internal error, TypeError"):
            await Desk().ask(Lane.quick, len, 1)

    anyio.run(ask)


def test_climbing_gives_what_it_has_when_time_is_up(monkeypatch):
    monkeypatch.setattr(jobs, "CLIMB_S", 0.0)
    told = jobs.climb_from("z" * 9, "3x3", "scowl70")
    assert (told["pool"], told["complete"]) == (1, False)
    assert told["found"][0]["score"] > 0


def test_a_run_in_an_object_store_is_served(bucket):
    address = f"{bucket}/runs/mine"
    make_in(ROOT, "run", "2x2", "--cutoff", "10", "--workers", "0", "--out", address)
    with serving(address) as client:
        for _ in range(300):
            (run,) = client.ask("/api/runs").json
            if run["state"] != "reading":
                break
            time.sleep(0.2)
        assert (run["state"], run["name"], run["best"]["score"]) == ("proven", address, 14)
        assert len(client.ask(f"/api/runs/{run['key']}/proven").json["boards"]) == 16
