"""The list of commands in ``orderly --help``, in sections, the first steps first; imports typer only."""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup

SECTIONS = {
    "Search and prove": ("plan", "tune", "run", "status", "merge", "verify", "repeat", "certify", "audit"),
    "Watch and look": ("runs", "watch", "serve"),
    "Ask what a run found": ("top", "query", "compare", "report"),
    "Good boards fast, without proof": ("climb", "longest", "neighbours", "roll"),
    "Single boards": ("show", "score", "solve", "lists"),
    "Classes of boards and their bounds": ("bound", "explain"),
    "Word lists": ("wordlist",),
}
MORE = "More"
EXIT_INTERRUPTED = 130

INTRO = """Proves which Boggle boards score highest, and keeps the evidence.

\b
  orderly run 3x3                       prove the best 3x3 board; into runs/3x3-scowl70-auto
  orderly top runs/3x3-scowl70-auto     the best boards; then: report, query, verify
  orderly show berlatdes                a board and its words
  orderly climb --dims 4x4              good boards of a larger size in a minute

Boards are written down the columns, or as rows (bld/eae/rts); q is a Qu cell.
orderly COMMAND --help lists the options of a command.
"""
EPILOG = "Exit codes: 0 done or proved, 2 bad input, 3 run directory damaged or foreign, 4 incomplete, 5 mismatch."


class Whole(TyperGroup):
    """The commands with their whole first sentence."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # typer's own types differ from version to version
        """Write the sections."""
        shown = {name: command for name, command in self.commands.items() if not command.hidden}
        width = max(map(len, shown))
        for title, names in self.sections(list(shown)).items():
            rows = [(f"{name:<{width}}", shown[name].get_short_help_str(10**3)) for name in names if name in shown]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)

    def sections(self, names: list[str]) -> dict[str, tuple[str, ...]]:
        """Return the commands under titles."""
        return {"Commands": tuple(names)}


class Sections(Whole):
    """The commands by section; one that no section names comes last."""

    def sections(self, names: list[str]) -> dict[str, tuple[str, ...]]:
        """Return the commands under titles."""
        listed = {name for section in SECTIONS.values() for name in section}
        return {**SECTIONS, MORE: tuple(name for name in names if name not in listed)}
