"""Which address gets which answer: pages, HTML with what does not change, and JSON that
static/*.js asks for.  Whatever is wrong with a question is said.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from http import HTTPStatus
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import TypeAdapter, ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from orderly_boggle.boardclass.board_svg import SCRIPT, STYLE
from orderly_boggle.boardclass.errors import InputError, OrderlyError, quote
from orderly_boggle.boardclass.geometry import DIMS
from orderly_boggle.boardclass.wordlist import DEFAULT_WORDLIST, Source, available_names, sources
from orderly_boggle.cluster.boards.dicesets import all_dice, dice_names
from orderly_boggle.cluster.watch.view import Place
from orderly_boggle.cluster.web import jobs
from orderly_boggle.cluster.web.job_queue import Priority, Refused
from orderly_boggle.cluster.web.site import Site, plain
from orderly_boggle.results.proof.best_known import best_known
from orderly_boggle.results.reading.markup import templates
from orderly_boggle.results.store.documents import first_fault

MAX_CLASS_CHARACTERS = 25 * 27
SLOW_S = 30.0
QUICK_S = 15.0
Handler = Callable[[Request], Awaitable[Response]]
_FOLDER = Path(__file__).resolve().parent
_environment = templates(_FOLDER / "templates")
_board_request = TypeAdapter(jobs.BoardRequest)


def make_app(site: Site) -> Starlette:
    """Return the application; :class:`orderly_boggle.cluster.web.server.Guard` goes around it.

    A separate process loads the default word list and the kernels at once, not with the first
    question.
    """

    @contextlib.asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        warming = asyncio.get_running_loop().create_task(_warm(site))
        yield
        await site.queue.aclose()
        await warming

    svg = 'inline; filename="board.svg"'
    html = 'attachment; filename="board.html"'
    routes = {
        "/": _page("runs"),
        "/runs/{key:str}": _run_page,
        "/records": _records_page,
        "/board": _page("board", sizes=[*DIMS, "6x6"], dice=all_dice()),
        "/class": _class_page,
        "/api/runs": _pulses("catalog"),
        "/api/records": _pulses("records"),
        "/api/runs/{key:str}": _about_run(Site.pulse),
        "/api/runs/{key:str}/proven": _about_run(Site.proven),
        "/api/board": _about_board(jobs.score_board),
        "/api/around": _about_board(jobs.around_board),
        "/api/board.svg": _about_board(jobs.draw, "image/svg+xml", svg),
        "/api/board.html": _about_board(jobs.page, "text/html", html),
        "/api/game": _about_board(jobs.roll_game),
        "/api/climb": _climb,
        "/static/board.css": _file(STYLE, "text/css"),
        "/static/words.js": _file(SCRIPT, "text/javascript"),
    }
    listed = [Route(path, handler) for path, handler in routes.items()]
    static = Mount("/static", StaticFiles(directory=_FOLDER / "static"))
    faults: dict[Any, Any] = {404: _missing, OrderlyError: _refused}
    app = Starlette(routes=[*listed, static], lifespan=lifespan, exception_handlers=faults)
    app.router.redirect_slashes = False
    app.state.site = site
    return app


async def _warm(site: Site) -> None:
    with contextlib.suppress(Refused):
        await site.queue.ask(Priority.quick, jobs.score_board, jobs.BoardRequest("berlatdes"))


def _file(path: Path, media_type: str) -> Handler:
    async def handle(_request: Request) -> Response:
        return FileResponse(path, media_type=media_type)

    return handle


def _render(
    request: Request, name: str, status: HTTPStatus = HTTPStatus.OK, **values: Any
) -> Response:
    shared = {
        "page": name,
        "fault": "",
        "script": name,
        "site": _site_of(request),
        "lists": list(available_names()),
        "chosen_list": request.query_params.get("list", DEFAULT_WORDLIST),
    }
    page = _environment.get_template(f"{name}.html.j2")
    return HTMLResponse(page.render(shared | values), status)


def _page(name: str, **values: Any) -> Handler:
    async def handle(request: Request) -> Response:
        return _render(request, name, **values)

    return handle


async def _run_page(request: Request) -> Response:
    site = _site_of(request)
    place = site.place(request.path_params["key"])
    if place is None:
        return _missing(request)
    is_record = place.key not in site.catalog.places()
    return _render(request, "run", place=place, is_record=is_record)


async def _class_page(request: Request) -> Response:
    page = _ClassPage()
    fault = ""
    status = HTTPStatus.OK
    try:
        page = await _about_class(request)
    except OrderlyError as error:
        fault = str(error)
        status = _status_of(error)
    given = request.query_params
    return _render(request, "class", status, script="", fault=fault, given=given, **page._asdict())


async def _records_page(request: Request) -> Response:
    site = _site_of(request)
    places = site.records.places().values()
    lists = [(place, _source_of(place)) for place in places]
    lists.sort(key=lambda pair: pair[0].name[:3], reverse=True)  # the largest boards first
    lists.sort(key=lambda pair: (_language(pair) != "English", _language(pair)))
    groups = [(language, list(pairs)) for language, pairs in groupby(lists, _language)]
    return _render(request, "records", script="runs", groups=groups, best=best_known())


def _source_of(record: Place) -> Source | None:
    """Return what is known of a list from the name of a record, such as ``3x3-debian-danish``,
    or ``4x4-enable2k-words`` where the points are not the usual ones.
    """
    name = record.name.partition("-")[2]
    known = sources()
    begin, _, _ = name.rpartition("-")
    return known.get(name) or known.get(begin)


def _language(pair: tuple[Place, Source | None]) -> str:
    if pair[1]:
        return pair[1].language
    return "Other word lists"


def _missing(request: Request, _error: Exception | None = None) -> Response:
    fault = "There is no such page, or the run is gone."
    return _render(request, "base", HTTPStatus.NOT_FOUND, page="not here", script="", fault=fault)


# --- answers in JSON: runs by key, boards and classes by what is typed ---


async def _refused(_request: Request, error: Exception) -> Response:
    """Return what is answered instead of an OrderlyError: one sentence."""
    return JSONResponse({"error": str(error)}, _status_of(error))


def _status_of(error: Exception) -> HTTPStatus:
    """Return the status of what is refused."""
    if isinstance(error, Refused):
        return error.status
    return HTTPStatus.BAD_REQUEST


def _site_of(request: Request) -> Site:
    """Return what the server knows."""
    site: Site = request.app.state.site
    return site


def _pulses(name: str) -> Handler:
    """Return what answers with all runs of a catalog of the site, ``catalog`` or ``records``."""

    async def handle(request: Request) -> Response:
        site = _site_of(request)
        return JSONResponse(plain(await site.pulses(getattr(site, name))))

    return handle


def _about_run(read: Callable[[Site, Place], Awaitable[object]]) -> Handler:
    """Return what answers with what a site has read of one run."""

    async def handle(request: Request) -> Response:
        place = _site_of(request).place(request.path_params["key"])
        if place is None:
            raise Refused(
                "no such run: it is gone, or was never given to this server", HTTPStatus.NOT_FOUND
            )
        return JSONResponse(plain(await read(_site_of(request), place)))

    return handle


def _board(request: Request) -> jobs.BoardRequest:
    """Return what is asked about a board; the list and the points of a run count, if one is
    named.
    """
    values = {}
    for name, value in request.query_params.items():
        if value:
            values[name] = value
    key = values.get("run")
    dice = values.get("dice", "")
    known = dice_names()
    place = None
    if key:
        place = _site_of(request).place(key)
    if key and place is None:
        raise Refused("the run of this board is gone: choose a word list", HTTPStatus.NOT_FOUND)
    if dice and dice not in known:
        raise InputError(f"no dice {quote(dice)} on this page: expected one of {', '.join(known)}")
    if place:
        values["location"] = place.check()
    else:
        values["location"] = ""
    try:
        return _board_request.validate_python(values)
    except ValidationError as error:
        raise InputError(first_fault(error)) from error


def _about_board(job: Callable[..., Any], media_type: str = "", disposition: str = "") -> Handler:
    """Return what answers with the values that a quick job makes of a board, or with a file."""

    async def handle(request: Request) -> Response:
        queue = _site_of(request).queue
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
    queue = _site_of(request).queue
    asked = queue.ask(Priority.long, job, *values, seconds=SLOW_S, memory_mb=memory_mb)
    answer = asyncio.ensure_future(asked)
    disconnect = asyncio.ensure_future(_disconnected(request))
    try:
        await asyncio.wait((answer, disconnect), return_when=asyncio.FIRST_COMPLETED)
        if answer.done():
            return answer.result()
        raise Refused("client disconnected", HTTPStatus.REQUEST_TIMEOUT)
    finally:
        answer.cancel()
        disconnect.cancel()


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _climb(request: Request) -> Response:
    """Return the best boards found from a board in a few seconds."""
    return JSONResponse(plain(await _long(request, jobs.climb_from, _board(request))))


class _ClassPage(NamedTuple):
    """What the page of a class shows besides its question; trees are those of a small class."""

    story: Any = None
    trees: Any = ()
    trees_fault: str = ""  # why there are none


async def _about_class(request: Request) -> _ClassPage:
    """Return what the page of a class shows."""
    given = request.query_params
    text = " ".join(given.get("class", "").lower().split())
    wordlist = given.get("list") or DEFAULT_WORDLIST
    cutoff = given.get("cutoff", "").strip()
    if len(text) > MAX_CLASS_CHARACTERS or text.isdecimal():
        raise InputError(
            f"class {quote(text)}: expected one group of letters for each cell, such "
            "as lnrsy aeiou ..."
        )
    is_number = cutoff.isascii() and cutoff.isdecimal() and len(cutoff) < 11
    if cutoff and not (is_number and 0 < int(cutoff) < 2**31):
        raise InputError(f"cutoff {quote(cutoff)}: expected a number of points, or nothing")
    if not text:
        return _ClassPage()
    if cutoff:
        least = int(cutoff)
    else:
        least = None
    story = await _long(request, jobs.class_story, text, wordlist, least, memory_mb=2048)
    try:
        return _ClassPage(story, await _long(request, jobs.class_trees, text, wordlist))
    except OrderlyError as error:
        return _ClassPage(story, trees_fault=str(error))
