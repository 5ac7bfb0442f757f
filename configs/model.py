"""The config of a run: TOML preset or file, options on top, validated as a whole before anything is
written.

>>> load_config("3x3", {"cutoff": "500"}).cutoff
500
>>> load_config(None, {"dims": "4x3"}).search.rules().max_free
12
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    create_model,
)
from pydantic_core import ErrorDetails

from orderly_boggle.boardclass.errors import ConfigError, quote
from orderly_boggle.boardclass.geometry import cell_order_of, parse_dims
from orderly_boggle.boardclass.wordlist import WordList
from orderly_boggle.search.params import Budgets, Rules
from orderly_boggle.search.question import Question, ask, later_fields

MAX_FILE_BYTES = 2**20
_FOLDER = Path(__file__).resolve().parent


def _number_or_text(value: object) -> object:
    """Turn the text of a whole number into the number: options arrive as text."""
    if isinstance(value, str) and re.fullmatch(r"\d{1,10}", value.strip(), re.ASCII):
        return int(value)
    return value


class _Search(BaseModel):
    """What the ``[search]`` table is read as."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    def rules(self, otherwise: Rules | None = None) -> Rules:
        """Return the rules of splitting: what is given, and ``otherwise`` or the defaults."""
        return replace(otherwise or Rules(), **self._given(Rules))

    def budgets(self) -> Budgets:
        """Return the budgets: what is given, and the default of everything else."""
        return Budgets(**self._given(Budgets))

    def _given(self, kind: type[Rules | Budgets]) -> dict[str, Any]:
        given = {}
        for name in kind.__dataclass_fields__:
            value = getattr(self, name)
            if value is not None:
                if isinstance(value, list):
                    given[name] = tuple(value)
                else:
                    given[name] = value
        return given


def _accepted_by(kind: type[Rules | Budgets], name: str) -> AfterValidator:
    """Refuse what the rules or budgets themselves refuse."""

    def check(value: object) -> object:
        given: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value}
        try:
            kind(**given)
        except ConfigError as error:
            raise ValueError(str(error).rpartition(": ")[2]) from error
        return value

    return AfterValidator(check)


def _settings() -> dict[str, Any]:
    """Return the fields of the ``[search]`` table: those of rules and budgets, each of which may be
    left to its default.
    """
    settings = {}
    for kind in (Rules, Budgets):
        for each in fields(kind):
            if each.type in (int, str):
                written = each.type
            else:
                written = list[str]
            own = Field(**each.metadata), _accepted_by(kind, each.name)
            given = Annotated[written, *own]  # type: ignore[valid-type]
            settings[each.name] = (given | None, None)
    return settings


if TYPE_CHECKING:

    class SearchConfig(_Search):
        """The ``[search]`` table: :class:`orderly_boggle.search.params.Rules` and
        :class:`orderly_boggle.search.params.Budgets`, which tell what each value does.
        """

        def __init__(self, **values: object) -> None: ...

        def __getattr__(self, name: str) -> Any: ...
else:
    SearchConfig = create_model("SearchConfig", __base__=_Search, **_settings())


def _keys() -> dict[str, tuple[Any, Any]]:
    """Return the keys that ask a question: each stands with the value that it tells, in
    :class:`orderly_boggle.search.question.Question`.
    """
    keys = {}
    for each in fields(Question):
        if how := each.metadata.get("written"):
            kind: Any = how.kind
            if how.limits:
                kind = Annotated[kind, Field(**how.limits)]
            if how.words:  # first, so that a fault names them
                kind = Literal[how.words] | kind
            if how.kind is int:
                kind = Annotated[kind, BeforeValidator(_number_or_text)]
            keys[how.key] = (kind, how.default)
    return keys


if TYPE_CHECKING:
    # Any for mypy, while pydantic checks the kind of each: fields with types would be a second list
    # of the keys, which whoever adds one to Question would have to know of (tests/test_house.py)
    class _Asking(BaseModel):
        def __getattr__(self, name: str) -> Any: ...
else:
    _Asking = create_model("_Asking", **_keys())


class RunConfig(_Asking):
    """How a run is asked its question, and carried out."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    # Worker processes; 0: all in this process, or with an address one on each processor of the
    # cluster.
    workers: Annotated[int, Field(ge=0, le=4096)] = 0
    # Ray cluster to join; ``local`` starts one on this machine.  Without it workers are processes
    # of this machine.
    address: (
        Annotated[str, Field(pattern=r"^(auto|local|(ray://)?[^\s/@:]+:[0-9]{1,5})$")] | None
    ) = None
    # Percent of the verdicts that are found a second time in another way, on another machine if
    # there is one; the first verdicts of a new machine all are.  0: none.
    replicate: Annotated[float, Field(ge=0, le=100)] = 1.0
    out: Annotated[str, Field(min_length=1)] | None = None  # run directory
    # of the climb and the order of the first units, not of the result
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    search: SearchConfig = SearchConfig()

    if TYPE_CHECKING:  # the keys of a question as well

        def __init__(self, **values: object) -> None: ...

    def resolve(self, words: WordList, cutoff: int, known: Question | None = None) -> Question:
        """Return what is asked of a word list with a cutoff; cell order and demands that are not
        named are those of a ``known`` question of the same size.

        Raises InputError when something cannot be read.
        """
        dims = parse_dims(self.dims)
        rules = self.search.rules()
        order = tuple[int, ...]()
        if known and known.dims == str(dims):
            order = known.cell_order
            rules = self.search.rules(replace(rules, demands=known.rules.demands))
        if self.order:
            order = cell_order_of(dims, self.order)
        later = {}
        for each in later_fields():
            later[each.name] = getattr(self, each.metadata["written"].key)
        return ask(dims, words.sha256, self.scores, cutoff, self.buckets, order, rules, **later)


def bundled_names(folder: Path = _FOLDER) -> list[str]:
    """Return the names of the bundled TOML files in a folder, by default of the presets."""
    return sorted(path.stem for path in folder.glob("*.toml"))


def read_toml(
    source: str | Path, folder: Path, what: str, expected: str
) -> tuple[str, str, dict[str, Any]]:
    """Return the name, the text and the values of a bundled file, by name, or of another one, by
    path.

    Raises ConfigError if there is neither, with the nearest name, or it cannot be read or is no
    TOML.
    """
    names = bundled_names(folder)
    text = str(source)
    try:
        if text in names:
            path = folder / f"{text}.toml"
        else:
            path = Path(source).expanduser()
        is_file = path.is_file()
    except (OSError, ValueError, RuntimeError):  # name too long, NUL in it, no such user
        is_file = False
    if not is_file:
        near = difflib.get_close_matches(text.lower().removesuffix(".toml"), names, 1, 0.5)
        hint = ""
        if near:
            hint = f"; did you mean {near[0]!r}?"
        raise ConfigError(
            f"no {what} {quote(text)}: expected a TOML file or one of {', '.join(names)}{hint}"
        )
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
        if len(data) > MAX_FILE_BYTES:
            raise ValueError(f"more than {MAX_FILE_BYTES} bytes")
        text = data.decode("utf-8-sig")
        return path.stem, text, tomllib.loads(text)
    except (OSError, ValueError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or str(error)[:200]
        at = re.search(r"line (\d+)", reason)
        lines = text.splitlines()
        if at and int(at[1]) <= len(lines):  # where the parser stopped
            reason += f" in {quote(lines[int(at[1]) - 1])}"
        raise ConfigError(
            f"cannot read the {what} {quote(str(path))}: {reason}; expected {expected}"
        ) from error


def load_config(source: str | Path | None, overrides: Mapping[str, Any] | None = None) -> RunConfig:
    """Return the validated config of a run.

    ``source`` is the path of a TOML file or the name of a preset; without it, it is the preset of
    ``overrides["dims"]`` if there is one.  ``overrides`` are options that replace keys of the file,
    ``search`` key by key; a value of None means not given.  Raises ConfigError when the file cannot
    be read, a key is unknown (the nearest one is suggested) or a value is out of range.
    """
    options = {}
    for key, value in (overrides or {}).items():
        if value is not None:
            options[key] = value
    if isinstance(options.get("out"), Path):
        options["out"] = str(options["out"])
    if source is None:
        dims = str(options.get("dims", "")).strip().lower()
        preset = "x".join(sorted(dims.split("x")))
        source = None
        if preset in bundled_names():
            source = preset
    text = ""
    where = "options"
    settings = dict[str, Any]()
    if source is not None:
        where = f"config {quote(str(source))}"
        _, text, settings = read_toml(source, _FOLDER, "config", "TOML such as cutoff = 500")
    if isinstance(options.get("search"), Mapping) and isinstance(settings.get("search"), dict):
        given = {k: v for k, v in options["search"].items() if v is not None}
        options["search"] = settings["search"] | given
    try:
        return RunConfig.model_validate(settings | options)
    except ValidationError as error:
        raise ConfigError(_message(telling_fault(error), where, text, set(options))) from error


def telling_fault(error: ValidationError) -> ErrorDetails:
    """Return what to tell of an error: an unknown key explains a missing one, too."""
    faults = error.errors()
    unknown = [fault for fault in faults if fault["type"] == "extra_forbidden"]
    return [*unknown, *faults][0]


def _message(detail: ErrorDetails, where: str, text: str, options: set[str]) -> str:
    """Return one sentence on the first validation error: place, key, value, what was expected, the
    nearest key.
    """
    keys = [str(part) for part in detail["loc"] if not isinstance(part, int)]
    in_search = len(keys) > 1 and keys[0] == "search"
    known = list((SearchConfig if in_search else RunConfig).model_fields)
    if in_search:
        key = ".".join(keys[:2])
    else:
        key = keys[0]
    if key.split(".")[0] in options:
        place = "options"
    else:
        line = _line_of(keys[1] if in_search else keys[0], text)
        if line:
            place = f"{where}, line {line}"
        else:
            place = where
    if detail["type"] == "extra_forbidden":
        nearest = difflib.get_close_matches(keys[-1], known, 1, 0.0)
        prefix = ""
        if in_search:
            prefix = "search."
        hint = ""
        if nearest:
            hint = f"did you mean {prefix + nearest[0]!r}? "
        return (
            f"{place}: unknown key {quote(key)} (value {quote(detail['input'])}); {hint}Known: "
            f"{', '.join(known)}"
        )
    if detail["type"] == "missing":
        return f"{place}: {key!r} is missing; add it, for example dims = '3x3'"
    return f"{place}: {key} = {quote(detail['input'])}: {_expected(key, detail['msg'])}"


def _expected(key: str, message: str) -> str:
    expected = {
        "cutoff": "expected a whole number of at least 1, or 'auto'",
        "scores": "expected 'standard', 'words', 'powers' or a list of points from 3 letters on",
        "address": "expected 'auto', 'local', 'HOST:PORT' or 'ray://HOST:PORT', such as "
        "'10.0.0.1:6379'",
    }
    message = message.removeprefix("Value error, ")
    return expected.get(key) or f"{message[0].lower()}{message[1:]}"


def _line_of(key: str, text: str) -> int | None:
    """Return the number of the first line that sets ``key`` or opens its table, if it can be
    told.
    """
    pattern = re.compile(rf"""\s*(?:\[+\s*)?["']?(?:search\.)?{re.escape(key)}["']?\s*[=.\]]""")
    for number, line in enumerate(text.splitlines(), 1):
        if pattern.match(line):
            return number
    return None
