"""*How* a class is searched: the rules by which it is cut into parts, and budgets.  None of it may
change what is found.

>>> Rules().max_free, Rules().demand_order[:4]
(12, 'eait')
>>> Rules(max_free=15)
Traceback (most recent call last):
    ...
orderly_boggle.boardclass.errors.ConfigError: max_free 15: expected 1 to 14
"""

from dataclasses import dataclass, field

from orderly_boggle.boardclass.errors import ConfigError
from orderly_boggle.boardclass.geometry import CELL_TYPES

LETTER_ORDER = "jqxzvwkfybughmpcdlnorstiae"
DEMANDS = ("open", "every")
KEY_CELLS = 12  # as many free cells as a key has room for
MAX_FREE_CELLS = 14  # of a node whose tree is grown, if the first ones may be outside the keys
MOST_CELLS_OUTSIDE = 20  # of a board whose nodes may have cells outside the keys

# The metadata of a field are the values that a config may choose from and a run may tell: pydantic
# reads them.  Tests go further.
_AMOUNT = {"ge": 1, "lt": 2**62}


@dataclass(frozen=True)
class Rules:
    """The rules by which a class is cut into parts: the path of a part depends on them, so a run
    keeps them for life.

    Runs that do not name a rule, because it is newer, are read with its default: that does what
    they did.  (With two rules the oldest runs did otherwise: results.store.format_1.)

    Raises ConfigError for rules that would lose boards or never end.
    """

    # cell types that carry no literal from the start (bare cells; several letters on one count as
    # all present, but kin count once: search.terms.kin)
    fused: tuple[str, ...] = ("center",)
    # order of the letters: fused groups are intervals of it, and residual symmetry compares by it
    letter_order: str = LETTER_ORDER
    # the cells that residual symmetry compares with their images: ``open``, those of several
    # letters, by the reverse of ``letter_order``; ``every``, all cells, by ``letter_order`` (the
    # rule of older runs)
    demands: str = "open"
    # a fused group is split into this many groups
    unfuse_parts: int = field(default=3, metadata={"ge": 2, "le": 26})
    # letter groups that a free cell is forced to when a search splits, in the order of
    # ``letter_order``
    force_groups: tuple[str, ...] = tuple(LETTER_ORDER)
    # a node with more free cells than this is not grown: the next free cell is fused into
    # ``coarse_groups``, and nothing is unfused before that; without groups (older runs) fused cells
    # are unfused first, then cells are forced.  More than KEY_CELLS are for open classes of boards
    # of up to MOST_CELLS_OUTSIDE cells: any other question has KEY_CELLS at most
    max_free: int = field(default=KEY_CELLS, metadata={"ge": 1, "le": MAX_FREE_CELLS})
    coarse_groups: tuple[str, ...] = ("jqxzvwkfy", "bughmpcd", "lnor", "st", "iae")

    def __post_init__(self) -> None:
        """Refuse rules that would lose boards or never end."""
        alphabet = "abcdefghijklmnopqrstuvwxyz"
        if "".join(sorted(self.letter_order)) != alphabet:
            raise ConfigError(f"letter_order {self.letter_order!r}: expected each letter a-z once")
        for name in ("force_groups", "coarse_groups"):
            groups = list(getattr(self, name))
            is_left_out = name == "coarse_groups" and not groups
            if "".join(sorted("".join(groups))) != alphabet and not is_left_out:
                raise ConfigError(
                    f"{name} {groups!r}: expected each letter a-z in exactly one group"
                )
        if not 1 <= self.max_free <= MAX_FREE_CELLS:
            raise ConfigError(f"max_free {self.max_free!r}: expected 1 to {MAX_FREE_CELLS}")
        if self.demands not in DEMANDS:
            raise ConfigError(f"demands {self.demands!r}: expected one of {', '.join(DEMANDS)}")
        if not set(self.fused) <= set(CELL_TYPES):
            raise ConfigError(f"fused {self.fused!r}: expected some of {', '.join(CELL_TYPES)}")
        if self.unfuse_parts < 2:
            raise ConfigError(f"unfuse_parts {self.unfuse_parts!r}: expected 2 or more")

    @property
    def demand_order(self) -> str:
        """Order of the letters by which demands compare: of a cell and its images the first has the
        least letter.
        """
        if self.demands == "every":
            return self.letter_order
        return self.letter_order[::-1]


@dataclass(frozen=True)
class Budgets:
    """What a search may spend, and where it prefers which way: a run may go on with others."""

    # pushes of OrderlyBound behind one letter of the next cell before that letter is forced instead
    node_budget: int = field(default=5_000_000, metadata=_AMOUNT)
    # a node with more terms of its own than this is not searched as one tree but forced at once
    whole_terms: int = field(default=30_000_000, metadata=_AMOUNT)
    # a part of a large class is searched as a loose tree first (search.trees.merge), in which
    # subtrees of no more points than this are bundled; 0: it is not, which suits the usual points
    loose_points: int = field(default=0, metadata={"ge": 0, "lt": 2**27})
    # pushes behind one letter of the next cell, and boards scored in vain, at which the search of a
    # loose tree ends
    loose_budget: int = field(default=1_000_000, metadata=_AMOUNT)
    # each letter that spends the budget halves it for those after it, down to this
    least_budget: int = field(default=5_000_000, metadata=_AMOUNT)
    # ``node_budget`` of a node with fused cells, before it is unfused
    fused_budget: int = field(default=3_000_000, metadata=_AMOUNT)
    # a letter forced before a node is unfused may spend so many pushes for each term grown for it,
    # if that is more than ``fused_budget``: two pushes cost what a term does, and each of the parts
    # would be grown
    fused_per_term: int = field(default=2, metadata={"ge": 0, "le": 1000})
    # before a node is unfused, letters of its next cell are tried for all of its parts at once,
    # weak ones first, until this many could not be ruled out; 0: none is tried.  Loose trees are
    # tried until as many of them were in vain
    fused_misses: int = field(default=2, metadata={"ge": 0, "le": 26})
    # pushes and terms after which the rest of a unit is handed back as children
    unit_budget: int = field(default=2_000_000_000, metadata=_AMOUNT)
    # memory for terms, keys and tree of one worker, in MiB
    memory_mb: int = field(default=1408, metadata={"ge": 16, "le": 2**20})
    # comparisons of absorption per word in the trie walk, 0 = no absorption
    absorb_limit: int = field(default=20_000, metadata={"ge": 0, "lt": 2**62})
    # 1: where a cell is forced over a whole, the terms that absorption takes away are left out;
    # 0: they stay, which raises the bound a little, and the tree is grown in a third of the time
    absorb_forced: int = field(default=1, metadata={"ge": 0, "le": 1})
    # with at least this many letters per free cell on average, terms come from path shapes; with
    # fewer, from the walk
    shape_letters: int = field(default=14, metadata={"ge": 0, "le": 27})
    # boards a survivor with fused cells may stand for and still be scored at once
    product_limit: int = field(default=20_000, metadata={"ge": 0, "lt": 2**31})

    def __post_init__(self) -> None:
        """Refuse what is no amount."""
        for name, value in vars(self).items():
            least = 0
            if name == "memory_mb":
                least = 1
            if isinstance(value, int) and value < least:
                raise ConfigError(f"{name} {value!r}: expected {least} or more")
