"""*How* a class is searched: budgets, fusing, order of letters.  None of it may change what is found."""

from __future__ import annotations

from dataclasses import dataclass

from boardclass.errors import ConfigError

LETTER_ORDER = "jqxzvwkfybughmpcdlnorstiae"
DEMANDS = ("open", "every")


@dataclass(frozen=True)
class Params:
    """Search parameters; every value gives the same candidates.

    fused : cell types that carry no literal from the start (bare cells; several letters on one count as all present)
    letter_order : order of the letters: fused groups are intervals of it, and residual symmetry compares by it
    demands : the cells that residual symmetry compares with their images: ``open``, those of several letters, by the
        reverse of ``letter_order``; ``every``, all cells, by ``letter_order`` (the rule of older runs)
    unfuse_parts : a fused group is split into this many groups
    force_groups : letter groups that a free cell is forced to when a search splits, in the order of ``letter_order``
    node_budget : pushes of OrderlyBound behind one letter of the next cell before that letter is forced instead
    whole_terms : a node with more terms of its own than this is not searched as one tree but forced at once
    least_budget : each letter that spends the budget halves it for the letters after it, down to this
    fused_budget : ``node_budget`` of a node with fused cells, before it is unfused
    fused_per_term : a letter forced before a node is unfused may spend so many pushes for each term grown for it, if
        that is more than ``fused_budget``: two pushes cost what a term does, and each of the parts would be grown
    fused_misses : before a node is unfused, letters of its next cell are tried for all of its parts at once, weak ones
        first, until this many could not be ruled out; 0: none is tried
    unit_budget : pushes and terms after which the rest of a unit is handed back as children
    memory_mb : memory for terms, keys and tree of one worker, in MiB
    absorb_limit : comparisons of absorption per word in the trie walk, 0 = no absorption
    shape_letters : with at least this many letters per free cell on average, terms come from path shapes; with fewer,
        from the walk
    product_limit : boards a survivor with fused cells may stand for and still be scored at once
    """

    fused: tuple[str, ...] = ("center",)
    letter_order: str = LETTER_ORDER
    demands: str = "open"
    unfuse_parts: int = 3
    force_groups: tuple[str, ...] = tuple(LETTER_ORDER)
    node_budget: int = 5_000_000
    whole_terms: int = 30_000_000
    least_budget: int = 5_000_000
    fused_budget: int = 3_000_000
    fused_per_term: int = 2
    fused_misses: int = 2
    unit_budget: int = 2_000_000_000
    memory_mb: int = 1408
    absorb_limit: int = 20_000
    shape_letters: int = 14
    product_limit: int = 20_000

    def __post_init__(self) -> None:
        """Refuse values that would lose boards or never end."""
        alphabet = "abcdefghijklmnopqrstuvwxyz"
        if "".join(sorted(self.letter_order)) != alphabet:
            raise ConfigError(f"letter_order {self.letter_order!r}: expected each letter a-z once")
        if "".join(sorted("".join(self.force_groups))) != alphabet:
            raise ConfigError(
                f"force_groups {list(self.force_groups)!r}: expected each letter a-z in exactly one group"
            )
        if self.demands not in DEMANDS:
            raise ConfigError(f"demands {self.demands!r}: expected one of {', '.join(DEMANDS)}")
        if self.unfuse_parts < 2:
            raise ConfigError(f"unfuse_parts {self.unfuse_parts!r}: expected 2 or more")
        if self.memory_mb < 1:
            raise ConfigError(f"memory_mb {self.memory_mb!r}: expected 1 or more")
        for name, value in vars(self).items():
            if isinstance(value, int) and value < 0:
                raise ConfigError(f"{name} {value!r}: expected 0 or more")

    @property
    def demand_order(self) -> str:
        """Order of the letters by which demands compare: of a cell and its images the first has the least letter."""
        return self.letter_order if self.demands == "every" else self.letter_order[::-1]
