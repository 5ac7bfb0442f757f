"""The tables of docs/solvers.md, made from the answers that tests.field.solvers has collected.

>>> seconds(0.0423), seconds(41.7), number(403.0000001)
('0.04', '42', '403')
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.field import pages

_NO_BOUND = 1e19
Known = Mapping[str, Mapping[str, Any]]
ORDER = ("C2", "C3", "C4", "P", "A", "W", "F", "S")

# how a row of the table of proofs is asked: solver, form, given
PROOFS = {
    "toulbar2, the optimum": ("toulbar2", "cfn", ""),
    "toulbar2, all boards above": ("toulbar2", "cfn", "above"),
    "DIDP (CABS)": ("didp", "cfn", ""),
    "clingo": ("clingo", "cfn", ""),
    "SCIP, tree": ("scip", "lp", ""),
    "HiGHS, tree": ("highs", "lp", ""),
    "HiGHS, scopes": ("highs", "cfn", "form=scopes"),
    "CP-SAT, tree": ("cp_sat_mps", "mps", ""),
    "CP-SAT, equivalences": ("cp_sat", "cfn", "form=equivalence"),
    "RC2": ("rc2", "cfn", ""),
    "z3": ("z3", "cfn", ""),
}
SYMMETRY = {
    "toulbar2": ("toulbar2 cfn", ""),
    "toulbar2, the first cell the least of the four": ("toulbar2 cfn", "order=1,2,3"),
    "HiGHS, scopes": ("highs cfn", "form=scopes"),
    "HiGHS, finds symmetries": ("highs lp", "mip_detect_symmetry=true"),
    "HiGHS, does not": ("highs lp", "mip_detect_symmetry=false"),
    "SCIP, uses symmetries": ("scip lp", "usesymmetry=7"),
    "SCIP, does not": ("scip lp", "usesymmetry=0"),
    "CP-SAT, finds symmetries": ("cp_sat cfn", "form=equivalence symmetry_level=2"),
    "CP-SAT, does not": ("cp_sat cfn", "form=equivalence symmetry_level=0"),
}


def seconds(value: float | None) -> str:
    """Return CPU seconds with two digits that count."""
    if value is None:
        return ""
    if value < 0.095:
        return f"{value:.1g}" if value < 0.01 else f"{value:.2f}"
    return f"{value:.2g}" if value < 10 else f"{value:,.0f}"


def number(value: float | None) -> str:
    """Return a value of a solver; one decimal where it is no integer."""
    if value is None:
        return ""
    nearest = round(value)
    return f"{nearest:,}" if abs(value - nearest) < 1e-4 else f"{value:,.1f}"


def is_known(bound: float | None) -> bool:
    """Tell whether a solver has a bound: one without says infinity, 1e20 or 0 (CP-SAT).

    >>> [is_known(bound) for bound in (403.0, 1e20, float("inf"), 0.0, None)]
    [True, False, False, False, False]
    """
    return bound is not None and 0 < bound < _NO_BOUND


def find(known: Known, name: str, start: str, given: str) -> Mapping[str, Any] | None:
    """Return the answer on a class that was asked with exactly what is ``given``."""
    for asked, answer in known.items():
        own, _, rest = asked.partition(" ")
        if own != name or not rest.startswith(f"{start} "):
            continue
        words = rest.removeprefix(f"{start} ").partition(" ")[2]
        if words == given or (given == "above" and words.startswith("above=")):
            return answer
    return None


def proof(answer: Mapping[str, Any] | None) -> str:
    """Return the cell of an answer: seconds to the proof, or the state at the limit."""
    if answer is None:
        return ""
    status = answer["status"]
    if answer.get("value") is not None and answer.get("value") == answer.get("bound"):
        status = "optimal"
    if status == "optimal" and "boards" in answer:
        best = answer["best_of_boards"]
        listed = f"{answer['boards']:,} boards, best {best}" if best else "none"
        return f"{seconds(answer['cpu_s'])}: {listed}"
    if status == "optimal":
        return f"{seconds(answer['cpu_s'])}: {number(answer['value'])}"
    if status != "limit":
        return str(status)
    value = number(answer.get("value")) or "none"
    bound = ""
    if is_known(answer.get("bound")):
        bound = f", bound {number(answer['bound'])}"
    limit = seconds(answer["cpu_s"]) if "cpu_s" in answer else "limit"
    return f"({limit}: {value}{bound})"


def classes(known: Known) -> str:
    """Return the table of the classes."""
    from tests.field.solvers import CLASSES

    rows = []
    for name in ORDER:
        asked, own = CLASSES[name], known.get(f"{name} figures", {})
        groups = asked.letters.replace("abcdefghijklmnopqrstuvwxyz", "a-z")
        rows.append(
            [
                name, f"{asked.told}: `{groups}`", asked.words, number(own.get("boards")),
                number(own.get("best")), number(own.get("multi")), number(own.get("terms")),
                number(own.get("nodes")), _mb(own.get("cfn_bytes")), _mb(own.get("lp_bytes")),
            ]
        )  # fmt: skip
    head = ("", "class", "list", "boards", "best score", "best multi-score", "terms",
            "nodes of the tree", "cfn, MB", "lp, MB")  # fmt: skip
    return pages.table(head, rows)


def _mb(n: int | None) -> str:
    return "" if n is None else f"{n / 1e6:,.1f}"


def proofs(known: Known) -> str:
    """Return the table of seconds to the proof."""
    names = [name for name in ORDER if name != "S"]
    own = ["**orderly**, nothing above the best score"]
    for name in names:
        used_s = known.get(f"{name} figures", {}).get("search_s")
        own.append(f"**{seconds(used_s)}**" if used_s is not None else "")
    rows = [own]
    for title, (solver, form, given) in PROOFS.items():
        cells = [proof(find(known, name, f"{solver} {form}", given)) for name in names]
        if any(cells):
            rows.append([title, *cells])
    return pages.table(("CPU s", *names), rows)


def roots(known: Known) -> str:
    """Return the table of bounds before any branching."""
    names = [name for name in ORDER if name != "S"]
    rows = []
    for title, key in (
        ("sum bound", "sum"),
        ("max bound", "max"),
        ("**orderly bound**", "orderly"),
    ):
        rows.append([title, *(number(known.get(f"{n} figures", {}).get(key)) for n in names)])
    asked = {
        "LP of the tree without letters (HiGHS)": ("highs relaxed.lp", "", "value"),
        "LP of the tree, letters linked (HiGHS)": ("highs lp", "solve_relaxation=true", "value"),
        "SCIP at its root": ("scip lp", "", "root"),
        "toulbar2 after preprocessing": ("toulbar2_root cfn", "", "root"),
    }
    for title, (start, given, key) in asked.items():
        cells = []
        for name in names:
            answer = find(known, name, start, given) or {}
            value, used_s = answer.get(key), answer.get("cpu_s")
            tells = key == "value" and answer.get("status") == "optimal"
            text = ""
            if is_known(value) and (key != "value" or tells):
                text = number(value)
            cells.append(f"{text} ({seconds(used_s)} s)" if text and start != "scip lp" else text)
        rows.append([title, *cells])
    best = [number(known.get(f"{n} figures", {}).get("multi")) for n in names]
    return pages.table(("bound", *names), [*rows, ["*best multi-score*", *best]])


def symmetry(known: Known) -> str:
    """Return what symmetry brings on the class of which every image is itself."""
    rows = []
    for title, (start, given) in SYMMETRY.items():
        rows.append([title, proof(find(known, "S", start, given))])
    return pages.table(("CPU s", "S"), rows)


def diagrams(known: Known) -> str:
    """Return the sizes of exact decision diagrams."""
    rows = []
    for name in ORDER:
        own = known.get(f"{name} figures", {})
        if "diagram" in own:
            share = own["widest"] / own["boards"]
            rows.append(
                [
                    name,
                    number(own["boards"]),
                    number(own["diagram"]),
                    number(own["widest"]),
                    f"{share:.2f}",
                ]
            )
    head = ("class", "boards", "nodes", "in the widest layer", "of the boards")
    return pages.table(head, rows)


def disagreements(known: Known) -> list[str]:
    """Return what contradicts an optimum: of another solver, of orderly, or of all boards added
    up.
    """
    wrong = []
    for asked, answer in known.items():
        figures = known.get(f"{asked.partition(' ')[0]} figures", {})
        value, best = answer.get("value"), figures.get("multi")
        if "boards" in answer and answer.get("best_of_boards"):
            if answer["best_of_boards"] > figures.get("best", answer["best_of_boards"]):
                wrong.append(f"{asked}: {answer}")
        elif "relax" in asked or answer.get("status") != "optimal" or best is None:
            continue
        elif abs(value - best) > 1e-4:
            wrong.append(f"{asked}: {value}, all boards added up {best}")
    return wrong


def write(known: Known) -> None:
    """Write the tables into docs/solvers.md."""
    if wrong := disagreements(known):
        raise SystemExit("\n".join(wrong))
    commits = sorted({str(answer["commit"]) for answer in known.values()})
    tables = {
        "classes": classes(known),
        "proofs": proofs(known),
        "roots": roots(known),
        "symmetry": symmetry(known),
        "diagrams": diagrams(known),
        "made": f"Made at commit {', '.join(commits)}.",
    }
    pages.fill("solvers.md", tables)
