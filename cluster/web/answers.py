"""Answers in JSON: runs by key, boards and classes by what is typed.  Whatever is wrong with a
question is said.
"""

from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any, NamedTuple

import anyio
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from boardclass.errors import InputError, OrderlyError, quote
from boardclass.wordlist import DEFAULT_WORDLIST
from cluster.watch.view import Place
from cluster.web import jobs
from cluster.web.job_queue import Priority, Refused
from cluster.web.site import Site, plain
from configs.dicesets import dice_names

MAX_CLASS_CHARACTERS = 25 * 27
SLOW_S, QUICK_S = 30.0, 15.0
Handler = Callable[[Request], Awaitable[Response]]


async def refused(_request: Request, error: Exception) -> Response:
    """Return what is answered instead of an OrderlyError: one sentence."""
    return JSONResponse({"error": str(error)}, status_of(error))


def status_of(error: Exception) -> HTTPStatus:
    """Return the status of what is refused."""
    return error.status if isinstance(error, Refused) else HTTPStatus.BAD_REQUEST


def site_of(request: Request) -> Site:
    """Return what the server knows."""
    site: Site = request.app.state.site
    return site


def pulses(name: str) -> Handler:
    """Return what answers with all runs of a catalog of the site, ``catalog`` or ``records``."""

    async def handle(request: Request) -> Response:
        site = site_of(request)
        return JSONResponse(plain(await site.pulses(getattr(site, name))))

    return handle


def about_run(read: Callable[[Site, Place], Awaitable[object]]) -> Handler:
    """Return what answers with what a site has read of one run."""

    async def handle(request: Request) -> Response:
        place = site_of(request).place(request.path_params["key"])
        if place is None:
            raise Refused(
                "no such run: it is gone, or was never given to this server", HTTPStatus.NOT_FOUND
            )
        return JSONResponse(plain(await read(site_of(request), place)))

    return handle


def _board(request: Request) -> jobs.BoardRequest:
    """Return what is asked about a board; the list and the points of a run count, if one is
    named.
    """
    values = {name: value for name, value in request.query_params.items() if value}
    key, least, goal = values.get("run"), values.get("min_letters", "3"), values.get("goal", "0")
    place = site_of(request).place(key) if key else None
    if key and place is None:
        raise Refused(
            "the run of this board is gone: choose a word list",
            HTTPStatus.NOT_FOUND,
        )
    for name, number in (("least length", least), ("goal", goal)):
        if not (number.isascii() and number.isdecimal() and len(number) < 4):
            raise InputError(f"{name} {quote(number)}: expected a small number, such as 4")
    dice, known = values.get("dice", ""), dice_names()
    if dice and dice not in known:
        raise InputError(f"no dice {quote(dice)} on this page: expected one of {', '.join(known)}")
    return jobs.BoardRequest(
        text=values.get("letters", ""),
        dims=values.get("size"),
        wordlist=values.get("list", DEFAULT_WORDLIST),
        location=place.check() if place else "",
        scores=values.get("scores", "standard"),
        plain_q="plain_q" in values,
        min_letters=int(least),
        values=values.get("letter_values"),
        bonus=values.get("bonus"),
        word=values.get("word", ""),
        hidden="hidden" in values,
        dice=dice,
        goal=int(goal),
    )


def about_board(job: Callable[..., Any], media_type: str = "", disposition: str = "") -> Handler:
    """Return what answers with the values that a quick job makes of a board, or with a file."""

    async def handle(request: Request) -> Response:
        queue = site_of(request).queue
        made = await queue.ask(Priority.quick, job, _board(request), seconds=QUICK_S)
        if not media_type:
            return JSONResponse(plain(made))
        return Response(made, media_type=media_type, headers={"Content-Disposition": disposition})

    return handle


async def _long(
    request: Request, job: Callable[..., Any], *values: Any, memory_mb: int = 1024
) -> Any:
    """Return the answer to a question of seconds, unless the client disconnects: then the work is
    ended for the next.
    """
    results: list[Any] = []

    async def work() -> None:
        try:
            queue = site_of(request).queue
            results.append(
                await queue.ask(Priority.long, job, *values, seconds=SLOW_S, memory_mb=memory_mb)
            )
        except OrderlyError as error:  # a group would wrap it
            results.append(error)
        group.cancel_scope.cancel()

    async with anyio.create_task_group() as group:
        group.start_soon(work)
        while (await request.receive())["type"] != "http.disconnect":
            pass
        group.cancel_scope.cancel()
    for result in results:
        if isinstance(result, OrderlyError):
            raise result
        return result
    raise Refused("client disconnected", HTTPStatus.REQUEST_TIMEOUT)


async def climb(request: Request) -> Response:
    """Return the best boards found from a board in a few seconds."""
    return JSONResponse(plain(await _long(request, jobs.climb_from, _board(request))))


class ClassPage(NamedTuple):
    """What the page of a class shows besides its question; trees are those of a small class."""

    story: Any = None
    trees: Any = ()
    trees_fault: str = ""  # why there are none


async def about_class(request: Request) -> ClassPage:
    """Return what the page of a class shows."""
    given = request.query_params
    text = " ".join(given.get("class", "").lower().split())
    wordlist, cutoff = given.get("list") or DEFAULT_WORDLIST, given.get("cutoff", "").strip()
    if len(text) > MAX_CLASS_CHARACTERS or text.isdecimal():
        raise InputError(
            f"class {quote(text)}: expected one group of letters for each cell, such "
            "as lnrsy aeiou ..."
        )
    if cutoff and not (cutoff.isascii() and cutoff.isdecimal() and 0 < int(cutoff[:12]) < 2**31):
        raise InputError(f"cutoff {quote(cutoff)}: expected a number of points, or nothing")
    if not text:
        return ClassPage()
    least = int(cutoff) if cutoff else None
    story = await _long(request, jobs.class_story, text, wordlist, least, memory_mb=2048)
    try:
        return ClassPage(story, await _long(request, jobs.class_trees, text, wordlist))
    except OrderlyError as error:
        return ClassPage(story, trees_fault=str(error))
