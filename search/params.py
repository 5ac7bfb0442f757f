"""Everything about *how* a class is searched: budgets, fusing, order of letters.  None of it may change what is found."""

from __future__ import annotations

from dataclasses import dataclass

LETTER_ORDER = "jqxzvwkfybughmpcdlnorstiae"


@dataclass(frozen=True)
class Params:
    """Search parameters; every value gives the same candidates (design: search.md section 5).

    Attributes
    ----------
    fused : cell types that carry no literal from the start (bare cells; several letters on one count as all present)
    letter_order : order of the letters in which fused groups are intervals and residual symmetry compares
    unfuse_parts : a fused group is split into this many groups
    force_groups : letter groups that a free cell is forced to when a search splits, in the order of ``letter_order``
    node_budget : pushes of one OrderlyBound search before it splits
    unit_budget : pushes and terms after which the rest of a unit is handed back as children
    memory_mb : memory for terms, keys and tree of one worker, in MiB
    absorb_limit : comparisons of absorption per word in the trie walk, 0 = no absorption
    shape_letters : mean letters per free cell from which terms come from path shapes, below from the walk
    product_limit : boards a survivor with fused cells may stand for and still be scored at once
    """

    fused: tuple[str, ...] = ("center",)
    letter_order: str = LETTER_ORDER
    unfuse_parts: int = 3
    force_groups: tuple[str, ...] = tuple(LETTER_ORDER)
    node_budget: int = 30_000_000
    unit_budget: int = 2_000_000_000
    memory_mb: int = 1024
    absorb_limit: int = 20_000
    shape_letters: int = 14
    product_limit: int = 20_000
