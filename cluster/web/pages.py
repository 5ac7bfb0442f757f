"""The pages: HTML with everything that does not change; static/*.js asks for the rest and keeps it up to date."""

from __future__ import annotations

from http import HTTPStatus
from itertools import groupby
from pathlib import Path
from typing import Any

import jinja2
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from boardclass.geometry import DIMS
from boardclass.printable import printable
from boardclass.wordlist import DEFAULT_WORDLIST, available_names
from cluster.watch.catalog import Place
from cluster.web.site import Site
from configs.dicesets import all_dice
from configs.sources import Source, sources

_FOLDER = Path(__file__).resolve().parent
_environment = jinja2.Environment(
    loader=jinja2.FileSystemLoader(_FOLDER / "templates"),
    autoescape=True,
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    finalize=lambda value: printable(value, "\n") if type(value) is str else value,  # no markup of ours is a str
)


def render(request: Request, name: str, status: HTTPStatus = HTTPStatus.OK, **values: Any) -> Response:
    """Return a page."""
    values |= {"page": name, "lan": request.app.state.site.lan}
    return HTMLResponse(_environment.get_template(f"{name}.html.j2").render(**values), status)


async def runs(request: Request) -> Response:
    """Return the list of runs."""
    site: Site = request.app.state.site
    return render(request, "runs", given=site.catalog.given)


async def run(request: Request) -> Response:
    """Return the page of one run."""
    site: Site = request.app.state.site
    place = site.place(request.path_params["key"])
    if place is None:
        return missing(request)
    return render(request, "run", place=place, is_record=place.key not in site.catalog.places(), price=site.price)


async def records(request: Request) -> Response:
    """Return the gallery of published runs, English first."""
    site: Site = request.app.state.site
    known = sources()
    lists = [(place, known.get(place.name.partition("-")[2])) for place in site.records.places().values()]
    places = sorted(lists, key=lambda pair: (_language(pair) != "English", _language(pair)))
    groups = [(language, list(pairs)) for language, pairs in groupby(places, _language)]
    return render(request, "records", groups=groups, has_yawl="yawl" in available_names())


def _language(pair: tuple[Place, Source | None]) -> str:
    return pair[1].language if pair[1] else "Other word lists"


async def board(request: Request) -> Response:
    """Return the page to play with a board."""
    sizes = [*DIMS, "6x6"]
    return render(request, "board", sizes=sizes, lists=_lists(), default_list=DEFAULT_WORDLIST, dice=all_dice())


async def board_class(request: Request) -> Response:
    """Return the page about a class."""
    return render(request, "class", sizes=DIMS, lists=_lists(), default_list=DEFAULT_WORDLIST)


def missing(request: Request) -> Response:
    """Return the page for what is not there."""
    return render(request, "missing", HTTPStatus.NOT_FOUND)


def _lists() -> list[str]:
    return list(available_names())
