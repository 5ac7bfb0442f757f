"""Which commands there are, in the sections of ``orderly --help``; the file of one is imported when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup

SECTIONS = {  # module.function
    "Search and prove": (
        *("plan.plan", "plan.tune", "run.run", "status.status", "merge.merge", "verify.verify", "repeat.repeat"),
        *("certify.certify", "certify.audit"),
    ),
    "Watch and look": ("watch.runs", "watch.watch", "watch.serve"),
    "Ask what a run found": ("top.top", "query.query", "compare.compare", "report.report"),
    "Good boards fast, without proof": ("climb.climb", "longest.longest", "boards.neighbours", "boards.roll"),
    "Single boards": ("boards.show", "boards.score", "solve.solve", "boards.lists"),
    "Classes of boards and their bounds": ("explain.bound", "explain.explain"),
    "Word lists": ("wordlist.wordlist",),
}
EXIT_INTERRUPTED = 130
PLACES = {place.partition(".")[2]: place for section in SECTIONS.values() for place in section}

INTRO = """Proves which Boggle boards score highest, and keeps the evidence.

\b
  orderly run 3x3           prove the best 3x3 board
  orderly top               its best boards; then report, query, verify
  orderly show berlatdes    a board and its words
  orderly climb --dims 4x4  good boards of a larger size in a minute

Boards are written down the columns, or as rows (bld/eae/rts); q is a Qu cell.
orderly COMMAND --help lists the options of a command.
"""
EPILOG = "Exit codes: 0 done or proved, 2 bad input, 3 run directory damaged or foreign, 4 incomplete, 5 mismatch."


class Whole(TyperGroup):
    """The commands with their whole first sentence."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # typer's own types differ from version to version
        """Write the sections."""
        width = max(map(len, self.list_commands(ctx)))
        for title, names in self.sections(ctx).items():
            with formatter.section(title):
                commands = {name: self.get_command(ctx, name) for name in names}
                formatter.write_dl(
                    [(f"{name:<{width}}", each.get_short_help_str(10**3)) for name, each in commands.items() if each]
                )

    def sections(self, ctx: Any) -> dict[str, list[str]]:
        """Return the names of the commands under titles."""
        return {"Commands": self.list_commands(ctx)}


class Sections(Whole):
    """The commands by section, each built when it is asked for: all of them would take longer than most commands."""

    def sections(self, ctx: Any) -> dict[str, list[str]]:
        """Return the names of the commands under titles."""
        return {title: [place.partition(".")[2] for place in places] for title, places in SECTIONS.items()}

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands."""
        return list(PLACES)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command; for a name that is none build them all, since typer suggests the nearest of them."""
        for name in (cmd_name,) if cmd_name in PLACES else PLACES:
            if name not in self.commands:
                self.commands[name] = _built(PLACES[name])
        return self.commands.get(cmd_name)


def _built(place: str) -> Any:
    module, _, name = place.partition(".")
    found = getattr(import_module(f"cluster.cli.{module}"), name)
    if not isinstance(found, typer.Typer):
        body, found = found, typer.Typer(add_completion=False, rich_markup_mode=None)
        found.command(name)(body)
    return typer.main.get_command(found)
