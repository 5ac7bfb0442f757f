"""Which address gets which answer, and the pages: HTML with what does not change; static/*.js asks
for the rest.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from http import HTTPStatus
from itertools import groupby
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from boardclass.board_svg import SCRIPT, STYLE
from boardclass.errors import OrderlyError
from boardclass.geometry import DIMS
from boardclass.wordlist import DEFAULT_WORDLIST, Source, available_names, sources
from cluster.watch.view import Place
from cluster.web import answers, jobs
from cluster.web.job_queue import Priority, Refused
from cluster.web.site import Site
from configs.dicesets import all_dice
from results.reading.markup import templates

_FOLDER = Path(__file__).resolve().parent
_environment = templates(_FOLDER / "templates")


def make_app(site: Site) -> Starlette:
    """Return the application; :class:`cluster.web.server.Guard` goes around it.

    A separate process loads the default word list and the kernels at once, not with the first
    question.
    """

    @contextlib.asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        warming = asyncio.get_running_loop().create_task(_warm(site))
        yield
        await site.queue.aclose()
        await warming

    svg, html = 'inline; filename="board.svg"', 'attachment; filename="board.html"'
    routes = {
        "/": _page("runs"),
        "/runs/{key:str}": _run_page,
        "/records": _records_page,
        "/board": _page("board", sizes=[*DIMS, "6x6"], dice=all_dice()),
        "/class": _class_page,
        "/api/runs": answers.pulses("catalog"),
        "/api/records": answers.pulses("records"),
        "/api/runs/{key:str}": answers.about_run(Site.pulse),
        "/api/runs/{key:str}/proven": answers.about_run(Site.proven),
        "/api/board": answers.about_board(jobs.score_board),
        "/api/around": answers.about_board(jobs.around_board),
        "/api/board.svg": answers.about_board(jobs.draw, "image/svg+xml", svg),
        "/api/board.html": answers.about_board(jobs.page, "text/html", html),
        "/api/game": answers.about_board(jobs.roll_game),
        "/api/climb": answers.climb,
        "/static/board.css": _file(STYLE, "text/css"),
        "/static/words.js": _file(SCRIPT, "text/javascript"),
    }
    listed = [Route(path, handler) for path, handler in routes.items()]
    static = Mount("/static", StaticFiles(directory=_FOLDER / "static"))
    faults: dict[Any, Any] = {404: _missing, OrderlyError: answers.refused}
    app = Starlette(routes=[*listed, static], lifespan=lifespan, exception_handlers=faults)
    app.router.redirect_slashes = False
    app.state.site = site
    return app


async def _warm(site: Site) -> None:
    with contextlib.suppress(Refused):
        await site.queue.ask(Priority.quick, jobs.score_board, jobs.BoardRequest("berlatdes"))


def _file(path: Path, media_type: str) -> answers.Handler:
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
        "site": answers.site_of(request),
        "lists": list(available_names()),
        "default_list": DEFAULT_WORDLIST,
    }
    page = _environment.get_template(f"{name}.html.j2")
    return HTMLResponse(page.render(shared | values), status)


def _page(name: str, **values: Any) -> answers.Handler:
    async def handle(request: Request) -> Response:
        return _render(request, name, **values)

    return handle


async def _run_page(request: Request) -> Response:
    site = answers.site_of(request)
    place = site.place(request.path_params["key"])
    if place is None:
        return _missing(request)
    is_record = place.key not in site.catalog.places()
    return _render(request, "run", place=place, is_record=is_record)


async def _class_page(request: Request) -> Response:
    page, fault, status = answers.ClassPage(), "", HTTPStatus.OK
    try:
        page = await answers.about_class(request)
    except OrderlyError as error:
        fault, status = str(error), answers.status_of(error)
    given = request.query_params
    return _render(request, "class", status, script="", fault=fault, given=given, **page._asdict())


async def _records_page(request: Request) -> Response:
    site = answers.site_of(request)
    known = sources()
    lists = [
        (place, known.get(place.name.partition("-")[2]))
        for place in reversed(site.records.places().values())
    ]
    # the largest boards first
    places = sorted(lists, key=lambda pair: (_language(pair) != "English", _language(pair)))
    groups = [(language, list(pairs)) for language, pairs in groupby(places, _language)]
    return _render(request, "records", script="runs", groups=groups)


def _language(pair: tuple[Place, Source | None]) -> str:
    return pair[1].language if pair[1] else "Other word lists"


def _missing(request: Request, _error: Exception | None = None) -> Response:
    fault = "There is no such page, or the run is gone."
    return _render(request, "base", HTTPStatus.NOT_FOUND, page="not here", script="", fault=fault)
