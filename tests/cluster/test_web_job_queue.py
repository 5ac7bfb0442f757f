"""Work for a page has limits: it is ended, the next question is answered, and nobody waits for
somebody else's.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import socket
import sys
import threading
import time
from contextlib import aclosing, suppress

import pytest

pytest.importorskip("uvicorn", reason="needs the extra: pip install 'orderly-boggle[serve]'")

import anyio

from orderly_boggle.cluster.web import jobs
from orderly_boggle.cluster.web.job_queue import MAX_WAITING, JobQueue, Priority, Refused
from orderly_boggle.cluster.web.server import LocalServer
from orderly_boggle.results.reading.limits import GRACE_S
from orderly_boggle.results.storage.files import PUBLISHED
from tests.cluster.processes import command_line, descendants, has_let_go, parent
from tests.cluster.web import Client, asking, cookie_of, serving
from tests.conftest import ROOT, make_in


def in_queue(ask):
    """Return what a function makes of a queue."""

    async def whole():
        async with aclosing(JobQueue()) as queue:
            return await ask(queue)

    return anyio.run(whole)


def test_the_next_question_is_answered_and_no_module_of_the_folder_at_hand_counts(
    elsewhere, monkeypatch
):
    monkeypatch.chdir(elsewhere)

    async def ask(queue):
        with pytest.raises(Refused, match=r"takes more than 6 s"):
            await queue.ask(Priority.quick, time.sleep, 1000, seconds=GRACE_S + 1)
        # a bug must not be asked for again
        with pytest.raises(Refused, match="internal error, TypeError"):
            await queue.ask(Priority.quick, len, 1)
        with pytest.raises(Refused, match="MiB: ask for less"):
            await queue.ask(Priority.quick, bytearray, 2**36, memory_mb=64)
        first = await queue.ask(Priority.quick, os.getpid)
        os.kill(first, signal.SIGKILL)
        while parent(first):
            await anyio.sleep(0.01)
        with suppress(Refused):  # the loop hears of it from a thread, maybe a moment later
            await queue.ask(Priority.quick, os.getpid)
        second = await queue.ask(Priority.quick, os.getpid)
        with anyio.move_on_after(0.2) as scope:  # nobody waits any more
            await queue.ask(Priority.quick, time.sleep, 1000)
        assert scope.cancelled_caught
        assert has_let_go(second)
        assert await queue.ask(Priority.quick, os.getpid) not in (first, second)
        asked = jobs.BoardRequest("aert", size="2x2")
        return await queue.ask(Priority.quick, jobs.score_board, asked)

    assert in_queue(ask)["score"] == 14


def test_quick_questions_do_not_wait_for_long_ones_and_a_closed_queue_says_why_it_refuses():
    async def refused(queue, job, *values):
        with pytest.raises(Refused, match="the server is stopping"):
            await queue.ask(Priority.long, job, *values)

    async def ask():
        async with anyio.create_task_group() as group, aclosing(JobQueue()) as queue:
            await queue.ask(Priority.long, len, "")
            group.start_soon(refused, queue, time.sleep, 1000)
            await anyio.sleep(0.2)
            assert await queue.ask(Priority.quick, len, "") == 0
        await refused(queue, len, "")

    anyio.run(ask)


def test_a_question_waits_a_moment_for_those_that_nobody_waits_for_any_more():
    answers = []

    async def ask(queue):
        async def late():
            answers.append(await queue.ask(Priority.quick, len, "tea"))

        async with anyio.create_task_group() as group, anyio.create_task_group() as gone:
            for _ in range(MAX_WAITING + 1):
                gone.start_soon(queue.ask, Priority.quick, time.sleep, 1000)
            await anyio.sleep(0.1)
            group.start_soon(late)
            await anyio.sleep(0.1)
            gone.cancel_scope.cancel()

    in_queue(ask)
    assert answers == [3]


def test_a_question_too_many_is_refused_and_not_kept_waiting():
    async def ask(queue):
        async with anyio.create_task_group() as group:
            for _ in range(MAX_WAITING + 1):
                group.start_soon(queue.ask, Priority.quick, time.sleep, 1000)
            await anyio.sleep(0.1)
            with anyio.fail_after(15), pytest.raises(Refused, match="too many requests") as error:
                await queue.ask(Priority.quick, len, "tea")
            assert error.value.status == 503
            group.cancel_scope.cancel()

    in_queue(ask)


def silent(client):
    """Connect and begin a request that never ends."""
    made = socket.create_connection((client.host, client.port), timeout=30)
    made.sendall(b"GET / HTTP/1.1\r\nHost: ")
    return made


def test_connections_that_ask_nothing_shut_nobody_out_and_are_closed_after_a_while(monkeypatch):
    monkeypatch.setattr("orderly_boggle.cluster.web.server.HEADERS_S", 2.0)
    with serving(PUBLISHED) as client, contextlib.ExitStack() as held:
        climbing = asking(client, "/api/climb?letters=aert", cookie_of(client))
        held.enter_context(contextlib.closing(climbing))
        for _ in range(220):
            made = held.enter_context(contextlib.closing(silent(client)))
        for _ in range(5):  # who is not read yet is not closed
            assert client.ask("/").status == 200
        assert made.recv(1) == b""
        # nor who has asked, and waits longer
        assert climbing.recv(2**16).startswith(b"HTTP/1.1 200")
        asked = asking(client, "/class", cookie_of(client))
        kept = held.enter_context(contextlib.closing(asked))
        assert kept.recv(2**16).startswith(b"HTTP/1.1 200")
        kept.sendall(b"GET / ")  # a part of the next one
        kept.settimeout(15)
        while kept.recv(2**16):
            pass


def test_who_is_not_let_in_is_answered_and_disconnected():
    with serving(PUBLISHED) as client, contextlib.ExitStack() as held:
        strangers = [
            held.enter_context(contextlib.closing(asking(client, "/"))) for _ in range(230)
        ]
        assert [client.ask("/").status for _ in range(3)] == [200] * 3
        for stranger in strangers:
            said = b"".join(iter(lambda made=stranger: made.recv(2**16), b""))
            assert said.startswith(b"HTTP/1.1 403"), "and no more comes"
            assert b"\r\nconnection: close\r\n" in said.lower(), "nor waits the server for more"


@contextlib.contextmanager
def asked_early(paths, n_gone=0):
    """Yield clients that asked for a path each before the server ran; the first ones have gone."""
    server = LocalServer([str(PUBLISHED)], "127.0.0.1", 0, 0.0)
    client = Client(server.address)
    thread = threading.Thread(target=server.run)
    with contextlib.ExitStack() as held:
        made = [
            held.enter_context(contextlib.closing(asking(client, each, cookie_of(client))))
            for each in paths
        ]
        for gone in made[:n_gone]:
            gone.close()
        thread.start()
        try:
            yield made[n_gone:]
        finally:
            server.stop()
            thread.join(30)


def test_questions_that_nobody_waits_for_leave_room_for_the_next():
    climbs = ["/api/climb?letters=aert"] * (MAX_WAITING + 6)
    with asked_early([*climbs, "/class?class=a+e+r+t"], len(climbs)) as (client,):
        assert client.recv(2**16).startswith(b"HTTP/1.1 200")


def processes_of_jobs():
    return {child for child in descendants() if "spawn_main" in command_line(child)}


def test_a_climb_that_nobody_waits_for_is_ended():
    with serving(PUBLISHED) as client:
        for _ in range(3):
            with contextlib.closing(asking(client, "/api/climb?letters=aert", cookie_of(client))):
                while len(working := processes_of_jobs()) < 2:  # one for single boards, one climbs
                    time.sleep(0.01)
            for _ in range(50):  # climbing takes eight seconds, and then its process stays
                if ended := working - processes_of_jobs():
                    break
                time.sleep(0.1)
            assert len(ended) == 1


def test_a_server_that_stops_while_a_process_starts_leaves_nothing(monkeypatch):
    gc.collect()
    heard = []
    monkeypatch.setattr(sys, "unraisablehook", lambda said: heard.append(str(said.exc_value)))
    for pause_s in (0.0, 0.03, 0.1, 0.3):
        with serving():
            time.sleep(pause_s)
        assert not processes_of_jobs()
    gc.collect()  # pipes that are still open say so
    assert heard == []


def test_climbing_gives_what_it_has_when_time_is_up(monkeypatch):
    monkeypatch.setattr(jobs, "CLIMB_S", 0.0)
    climb = jobs.climb_from(jobs.BoardRequest("z" * 9, size="3x3"))
    assert (climb["pool"], climb["complete"]) == (1, False)
    assert climb["found"][0][1] > 0


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
