"""Which address gets which answer."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from boardclass.board_svg import STYLE
from boardclass.wordlist import DEFAULT_WORDLIST
from cluster.web import answers, jobs, pages
from cluster.web.job_queue import Priority, Refused
from cluster.web.site import Site

_FOLDER = Path(__file__).resolve().parent


def make_app(site: Site) -> Starlette:
    """Return the application; :class:`cluster.web.guard.Guard` goes around it.

    A separate process loads the default word list and the kernels at once, not with the first question.
    """

    @contextlib.asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        warming = asyncio.get_running_loop().create_task(_warm(site))
        yield
        await site.queue.aclose()
        await warming

    routes = [
        Route("/", pages.runs),
        Route("/runs/{key:str}", pages.run),
        Route("/records", pages.records),
        Route("/board", pages.board),
        Route("/class", pages.board_class),
        Route("/api/runs", answers.runs),
        Route("/api/records", answers.records),
        Route("/api/runs/{key:str}", answers.pulse),
        Route("/api/runs/{key:str}/proven", answers.proven),
        Route("/api/board", answers.board),
        Route("/api/board.svg", answers.picture),
        Route("/api/board.html", answers.page),
        Route("/api/around", answers.around),
        Route("/api/climb", answers.climb),
        Route("/api/roll", answers.rolled),
        Route("/api/class", answers.story),
        Route("/api/trees", answers.trees),
        Route("/static/board.css", _board_style),
        Mount("/static", StaticFiles(directory=_FOLDER / "static")),
    ]
    app = Starlette(routes=routes, lifespan=lifespan, exception_handlers={404: _missing})
    app.router.redirect_slashes = False
    app.state.site = site
    return app


async def _warm(site: Site) -> None:
    with contextlib.suppress(Refused):
        await site.queue.ask(Priority.quick, jobs.warm, DEFAULT_WORDLIST)


async def _board_style(_request: Request) -> Response:
    return FileResponse(STYLE, media_type="text/css")


async def _missing(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return pages.missing(request)
