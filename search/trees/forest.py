"""The trees of a node, and the layers that they are grown on, one over the other, each merged from
the one below.

    grow(node)            all terms of a node as one tree
    grow_on_layers(node)  the same without terms that contradict a demand, merged layer by layer
    grow_loosely(node)    a tree over the same terms, and more, in a third of the time, where the
                          layer above has no whole; its bound is higher

A node with half of the cells free, or fewer, has little to keep: it is grown at once, by the walk,
behind the layers.

    0  the *rim*: terms that use no bare cell, the same for every class; grown once on a machine,
       and mapped by its workers where their arrays begin (boardclass.shared_arrays)
    1  the class with a *hole*, if a bare cell of it is fused or was: as the class, but that cell
       has no letter
    2  the class: terms that use its bare cells, less the terms that absorption takes away
    3  the next cell forced to a letter, and so on down to the node

Layers lie in the arrays one behind the other, like the nodes of a depth-first search, and stay
until another branch needs the place.  A layer has two trees: the *whole*, over all terms, to be
searched, and the *base*, over the terms that do not use the next free cell.  Forcing that cell to a
letter makes a new whole of the base and of what the whole has behind that letter (the gains); only
the terms that absorption takes away have to be generated (the losses).  With ``absorb_forced = 0``
not even these are: they stay, and the bound is hardly higher.  Where a whole is too large to be
kept, the gains are generated as well.

The cell of the hole is the one that was unfused last, or the one that will be first.  The parts
that it is unfused into differ by the few words that use the cell, so each is grown over what all of
them share.

No layer but the rim adds terms that contradict a demand of the class (search.node): no board that
is searched for has them.  Those of the rim stay, and those of a layer below that contradict one
only since a cell has got its letter.

Where a layer finds no room behind the others, one of those below it is grown by itself, as the
*bottom* of a new stack instead of the rim: it is smaller alone than together with what it was
merged from.

>>> from orderly_boggle.boardclass.geometry import geometry
>>> from orderly_boggle.boardclass.scores import parse_scores
>>> from orderly_boggle.search.scoring.scorer import trie_of
>>> trie = trie_of(("eat", "tea", "teas"), parse_scores("standard"), 4)
>>> forest = Forest(geometry("2x2"), trie, Rules(), Budgets(memory_mb=1))
>>> every = (1 << 26) - 1
>>> forest.grow(Node((every,) * 4, bare=0), [0, 1, 2, 3]).bound
9
"""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orderly_boggle.boardclass.arrays import Int32s, Int64s, UInt64s
from orderly_boggle.boardclass.geometry import Geometry
from orderly_boggle.boardclass.shared_arrays import shared
from orderly_boggle.search.node import Node, OpenClass
from orderly_boggle.search.params import Budgets, Rules
from orderly_boggle.search.scoring.trie import Trie
from orderly_boggle.search.terms.path_table import is_shared
from orderly_boggle.search.terms.shapes import GAINS, LOSSES, TERMS_FULL
from orderly_boggle.search.trees import segments
from orderly_boggle.search.trees.arrays import Arrays, give_back_memory, n_terms_in
from orderly_boggle.search.trees.generator import Bare, Generator
from orderly_boggle.search.trees.layer import Grown, Layer, n_bytes_of
from orderly_boggle.search.trees.steps import steps_to
from orderly_boggle.search.trees.tree import MAX_LAZY_TERMS

# a whole that leaves less than one cell or key in 8 free is given up when one of its parts is grown
_ROOM = 8
# Keys that one new key makes a merge copy: hardly ever more than three, at most itself and a lazy
# subtree.
_SPILLED = (3, MAX_LAZY_TERMS + 1)
_NOTHING = (0,) * 5  # terms, keys, tip, root and bound of what did not fit


class Forest:
    """Holds the word arrays and the working memory; grows the trees of one node at a time.

    ``trie`` has the words that fit the board.  On cells that are fused to the letters of one of the
    ``buckets`` (masks) words have kin (search.terms.kin).  ``stack`` holds the layers that are
    there, the rim first, or another bottom.
    """

    def __init__(
        self,
        board: Geometry,
        trie: Trie,
        rules: Rules,
        budgets: Budgets,
        buckets: Iterable[int] = (),
    ) -> None:
        # before the arrays are made: what is freed from now on goes back to the system
        give_back_memory()
        capacity = n_terms_in(budgets.memory_mb)
        generator = Generator(board, rules, budgets, trie, capacity, buckets)
        self._generator = generator
        self._arrays = Arrays(budgets.memory_mb, generator.code_bits, generator.points_of_code)
        self._rules = rules
        self._budgets = budgets
        self.trie = generator.trie
        self.geometry = board
        self.max_free = generator.max_free
        self.max_open = generator.max_open
        self.stack: list[Layer] = []
        # remembered, because an attempt generates millions of terms before it fails
        self._too_large: set[Bare] = set()  # layers that are known not to fit over the rim
        self.n_short = 0  # attempts of this unit at a layer that found too little room

    def turn(self, board: Geometry) -> None:
        """Go on with another cell order of the same board, or another rim; what was grown is given
        up.
        """
        self.geometry = board
        self._generator.board = board
        self.stack.clear()
        self._too_large.clear()
        self._generator.rim = ()

    def begin(self) -> None:
        """Give up a bottom other than the rim: which one is there depends on what was searched
        before.

        Terms that contradict a demand may be in the tree over one bottom and not in that over
        another.
        """
        self.n_short = 0
        if self.stack and self.stack[0].bare:
            self.stack.clear()

    def grow(self, node: Node, free: list[int]) -> Grown | None:
        """Return one tree over all terms of a node; None if it does not fit the memory.

        It goes behind the layers.  If it does not fit, they are reduced to one of them, then given
        up.
        """
        # from the most layers to none: each attempt that fails leaves more room to the next
        while self.stack:
            last = self._with_room()
            if grown := self._grow_at(node, free, last.end_keys, last.end_tip):
                return grown
            if not self._start_anew():
                self.stack.clear()
        return self._grow_at(node, free, 0, 1)

    def _grow_at(self, node: Node, free: list[int], begin: int, tip: int) -> Grown | None:
        n = self._generator.of_node(node, free, self._arrays.terms[begin:])
        built = self._built(n, begin, tip, len(free))
        if built is None:
            return None
        n_keys, end, root, bound = built
        orderly = self._arrays.as_tree(len(free), 0, end)
        n_bytes = n_bytes_of(n_keys, end - tip + 1)
        return Grown(orderly, root, bound, n, n_bytes)

    def terms(self, node: Node, free: list[int]) -> tuple[int, UInt64s, Int32s] | None:
        """Return how many distinct keys a node has, and arrays that begin with these, sorted, and
        with their points; None if they do not fit the memory.

        All words count in full: a checker does not know which literals were dropped, and the bound
        of fewer literals may be the lower one.  What is behind them in the arrays is free until the
        next call, which overwrites all.
        """
        self.stack.clear()
        n = self._generator.of_node(node, free, self._arrays.terms, needs_whole_words=True)
        if n < 0:
            return None
        n_keys = self._arrays.sort(0, n, len(free), 1)
        return n_keys, self._arrays.terms, self._arrays.points

    def suits_layers(self, open_class: OpenClass, node: Node) -> bool:
        """Return whether :meth:`grow_on_layers` applies to a node of an open class.

        The bare cells of the class, then those of the node, must come first in cell order, so that
        every layer numbers them alike and levels are taken away from the top.  The free cells must
        fit a key and be more than the walk is for.
        """
        order = self.geometry.cell_order
        n_bare = node.bare.bit_count()
        class_bare = set(open_class.bare)
        if class_bare != set(order[: len(class_bare)]):
            return False
        if not all(map(node.is_bare, order[:n_bare])):
            return False
        n_free = self.geometry.n - n_bare
        return self._generator.max_walked < n_free <= self.max_open

    def grow_on_layers(self, open_class: OpenClass, node: Node) -> Grown | None:
        """Return one tree over the terms of a node of an open class, all letters on its free cells.

        Terms that no board of the class has, for they contradict its demands, may be missing.  What
        the free cells of the node may hold is left to the search.

        Returns None if the tree does not fit the memory or has more than ``whole_terms`` terms of
        its own.  The base, from which its parts start, may still be there.
        """
        layer = self._reach(open_class, node)
        # a base alone cannot be searched: it lacks the terms through the next cell
        if layer is None or not layer.whole:
            return None
        orderly = self._arrays.as_tree(self._n_levels, self._n_forced(layer.bare), layer.end_tip)
        return Grown(orderly, layer.whole, layer.bound, layer.n_terms, layer.n_bytes)

    def grow_loosely(self, open_class: OpenClass, node: Node) -> Grown | None:
        """Return a loose tree over a node of an open class whose last bare cell was forced: the
        base of the layer below, with the tree of the terms that use this cell.

        It stands behind that layer and is no layer itself.  What absorption would take from the
        base stays.  Returns None if that layer is not there, if it has a whole, which has these
        terms already, or if there is no room.
        """
        if not (self._budgets.loose_points and self.suits_layers(open_class, node)):
            return None
        # the node itself is left off: it is the one that no layer is made for
        *steps, bare = self._keep_below(open_class, node)
        n_forced = self._n_forced(bare)
        if n_forced == 0 or self._generator.n_outside(bare):
            return None
        if self.stack and self.stack[-1].bare == bare:
            self.stack.pop()
        if not self._lay(steps):
            return None
        below = self._with_room()
        if below.bare != bare[:-1] or below.whole:
            return None
        begin = below.end_keys
        room = self._arrays.terms[begin:][: self._budgets.whole_terms]
        last_cell = 1 << (len(bare) - 1)
        n = self._generator.of_open(bare, room, last_cell, only=GAINS)
        built = self._built(n, begin, below.end_tip, self._n_levels, n_forced)
        if built is None:
            return None
        n_keys, tip, root, bound = built
        end = begin + n_keys
        merged = self._arrays.merge(
            end, end, self._n_levels, n_forced, tip, below.base, (bound, root),
            loose=self._budgets.loose_points,
        )  # fmt: skip
        if merged is None:
            return None
        tip, root, bound, spill = merged
        orderly = self._arrays.as_tree(self._n_levels, n_forced, tip)
        return Grown(orderly, root, bound, n, n_bytes_of(spill, tip))

    def _reach(self, open_class: OpenClass, node: Node) -> Layer | None:
        """Return the layer of a node of an open class, perhaps without its whole; None if its base
        does not fit.
        """
        steps = self._keep_below(open_class, node)
        bare = steps[-1]
        # its whole was given up to make room for a part of it: it is grown again
        if self.stack and self.stack[-1].bare == bare and not self.stack[-1].whole:
            self.stack.pop()
        # if a layer does not fit, those behind it are grown over the last one that did
        self._lay(steps)
        if self.stack and self.stack[-1].bare == bare:
            reached = self.stack.pop()
        else:
            reached = None
        if not (reached and reached.whole) and self._start_anew():
            return self._reach(open_class, node)
        if reached:
            self.stack.append(reached)
        elif not self._start_from(bare):
            return None
        return self.stack[-1]

    def _keep_below(self, open_class: OpenClass, node: Node) -> list[Bare]:
        """Keep only the layers that a node of an open class is grown on, and its own; return the
        bare cells of each of them, whether it is there or not.
        """
        order = self.geometry.cell_order
        # cells that neither keys nor segments can hold must have no letter in the rim either
        n_rim = max(len(open_class.bare), self.geometry.n - self.max_open)
        # nothing that was grown over another rim can be used
        if self._generator.rim != order[:n_rim]:
            self.turn(self.geometry)
            self._generator.rim = order[:n_rim]
        # of a class with other demands only the rim can be used
        if self._generator.demands != open_class.demands:
            self.stack = [layer for layer in self.stack if not layer.bare]
            self._too_large.clear()
            self._generator.demands = open_class.demands
        steps = steps_to(node, n_rim, self.geometry, self._rules)
        while self.stack and self.stack[-1].bare not in steps:
            self.stack.pop()
        return steps

    def _lay(self, steps: list[Bare]) -> bool:
        """Put down those of the layers that are not there, as far as they fit; return whether there
        is one.
        """
        if self.stack or self._try(()):
            for step in steps[steps.index(self.stack[-1].bare) + 1 :]:
                self._try(step)
        return bool(self.stack)

    def _try(self, bare: Bare) -> bool:
        """Put down a layer unless it is known to be too large over the rim; return whether it is
        there.
        """
        is_over_rim = not (self.stack and self.stack[0].bare)
        if is_over_rim and bare in self._too_large:
            self.n_short += 1
            return False
        n_free = self._arrays.terms.size
        if bare:
            n_free -= self.stack[-1].end_keys
            is_there = self._add_layer(bare)
        else:
            is_there = self._start_from(())
        # with more room than a whole may take, it was not the room that was too small for it
        had_room = n_free >= self._budgets.whole_terms
        if not is_there or not (had_room or self.stack[-1].whole):
            self.n_short += 1
        if is_over_rim and not is_there:
            self._too_large.add(bare)
        return is_there

    def _start_anew(self) -> bool:
        """Make the first layer that takes at most half of the room by itself the bottom of a new
        stack; return whether there is one.
        """
        half = self._arrays.terms.size // 2
        small = None
        for layer in reversed(self.stack[1:]):  # the deeper, the smaller
            has_hole = not all(letters for _, letters in layer.bare)
            if has_hole or self._generator.n_at_most(layer.bare) > half:
                break
            small = layer
        return small is not None and self._start_from(small.bare)

    def _start_from(self, bare: Bare) -> bool:
        """Make a layer, with all of its terms, the bottom of a new stack; return whether it fits.

        Without bare cells that is the rim, and all of its terms are its base.
        """
        # counted first: to try a bottom that does not fit would lose the stack for nothing
        if bare and self._generator.n_at_most(bare) > self._arrays.terms.size:
            return False
        self.stack.clear()
        if bare:
            grown = self._bottom(bare)
        else:
            grown = self._rim()
        n, n_keys, tip, whole, bound = grown
        if not tip:
            return False
        base = whole
        if bare:
            base, tip = self._arrays.root_of(tip, whole, self._n_forced(bare) + 1, 0)
        bottom = Layer(bare, base, n_keys, tip, n_keys, tip)
        if n <= self._budgets.whole_terms:
            bottom = bottom.with_whole(whole, bound, n_keys, tip, n)
        self.stack.append(bottom)
        return tip < self._arrays.cells.size

    def _bottom(self, bare: Bare) -> Sequence[int]:
        """Build the tree over all terms of a layer where the arrays begin; return (terms, keys,
        tip, root, bound), zeros if it does not fit.
        """
        n = self._generator.of_open(bare, self._arrays.terms, segments=self._arrays.points)
        cuts = self._sorted(n, 0, 1, bare)
        if cuts is None:
            return _NOTHING
        merged = segments.merge(self._arrays, cuts, self._n_levels, self._n_forced(bare), 1)
        if merged:
            return (n, int(cuts[-1]), merged.tip, merged.root, merged.bound)
        return _NOTHING

    def _rim(self) -> Sequence[int]:
        """Return the same of the rim.  That of a large board takes seconds to build: all workers of
        a machine map the same files.
        """
        bare = tuple((c, 0) for c in self._generator.rim)
        if not is_shared(self.geometry):
            return self._bottom(bare)
        terms = self._arrays.terms
        points = self._arrays.points
        cells = self._arrays.cells

        def build() -> list[NDArray[Any]]:
            bottom = self._bottom(bare)
            _, n_keys, tip, *_ = bottom
            return [terms[:n_keys], points[:n_keys], cells[:tip], np.array(bottom)]

        # everything that the rim depends on, or a worker would map the rim of another run
        asked = repr((self.geometry.cell_order, bare, terms.size)).encode()
        digest = hashlib.sha256(b"".join((asked, self.trie.nodes, self.trie.points)))
        *_, bottom = shared(f"rims/{digest.hexdigest()}", build, (terms, points, cells))
        return bottom.tolist()

    def _built(
        self, n: int, begin: int, tip: int, n_levels: int, first: int = 0
    ) -> tuple[int, int, int, int] | None:
        """Build the tree of ``n`` terms, whose levels before ``first`` are forced; return (keys,
        tip, root, bound), or None if it does not fit, or if ``n`` says that the terms did not.
        """
        if n < 0:
            return None
        n_keys = self._arrays.sort(begin, n, n_levels - first, tip)
        merged = self._arrays.merge(begin, begin + n_keys, n_levels, first, tip)
        if merged is None:
            return None
        return (n_keys, *merged[:3])

    def _sorted(self, n: int, begin: int, tip: int, bare: Bare) -> Int64s | None:
        """Sort the ``n`` terms of an open node from ``begin`` on; return where the keys of each of
        its segments begin, and where the last ones end (search.trees.segments).  None if there is
        no room, or if ``n`` says that there was none for the terms.
        """
        if n < 0:
            return None
        n_segments = self._generator.n_segments(bare)
        if n_segments > 1:
            return self._arrays.sort_segments(begin, n, self.max_free, n_segments, tip)
        n_keys = self._arrays.sort(begin, n, self.geometry.n - len(bare), tip)
        return np.array([begin, begin + n_keys])

    @property
    def _n_levels(self) -> int:
        """Number of levels: the cells outside the rim."""
        return self.geometry.n - len(self._generator.rim)

    def _n_forced(self, bare: Bare) -> int:
        """Return how many of the bare cells of a layer are outside the rim: its first levels."""
        return len(bare) - len(self._generator.rim)

    def _with_room(self) -> Layer:
        """Return the last layer; a whole that leaves little room behind it is given up first.

        Only the layers decide whether the whole stays: the search of a node must not depend on
        which nodes were searched before it.
        """
        last = self.stack[-1]
        n_keys = self._arrays.terms.size
        n_cells = self._arrays.cells.size
        few_cells = last.end_tip > n_cells - n_cells // _ROOM
        few_keys = last.end_keys > n_keys - n_keys // _ROOM
        if (few_cells or few_keys) and len(self.stack) > 1 and last.whole:
            last = last.without_whole()
            self.stack[-1] = last
        return last

    def _add_layer(self, bare: Bare) -> bool:
        """Put a layer on the last one; return whether it fits, its base at least."""
        below = self._with_room()
        letters = bare[-1][1]
        if below.bare == bare[:-1] and below.bare and below.whole and letters.bit_count() == 1:
            return self._add_forced(bare, below, letters.bit_length() - 1)
        n_levels = self._n_levels
        first = self._n_forced(bare)
        over_hole = len(bare) == len(below.bare)
        new = 0
        for i, part in enumerate(bare):
            if part[1] and part not in below.bare:
                new |= 1 << i
        begin = below.end_keys
        room = self._arrays.terms[begin:]
        # one term too many is enough to know that there will be no whole
        own = room[: self._budgets.whole_terms]
        if over_hole:
            may_fit = below.whole > 0
        else:  # only the terms of a class may be too many
            may_fit = bool(below.bare) or self._generator.seems_to_fit(bare, own, new)
        where = self._arrays.points[begin:]
        if may_fit:
            n = self._generator.of_open(bare, own, new, segments=where)
        else:
            n = TERMS_FULL
        # the class is the layer with the hole and what fills it: its budget covers both
        n_before = 0
        if over_hole:
            n_before = below.n_terms
        whole = 0 <= n <= self._budgets.whole_terms - n_before
        if not whole:
            n = self._generator.of_base(bare, room, new, where)
        if n < 0:
            return False
        n_whole = None
        if whole:
            n_whole = n + n_before
        if self._generator.n_outside(bare):
            return self._add_wide(bare, below, n, n_whole)
        end = begin + self._arrays.sort(begin, n, n_levels - first, below.end_tip)
        keys = self._arrays.terms[begin:end]
        first_key = np.uint64(self._generator.first_key(bare))
        cut = begin + int(np.searchsorted(keys, first_key))
        # the others are keys of the whole only: they wait behind all that the base may need
        n_later = end - cut
        root, tip = self._arrays.root_of(below.end_tip, below.base, first + 1, 0)
        merged, wait = self._merge_before(n_later, begin, cut, n_levels, first, tip, root)
        if merged is None and n_later:
            whole = False
            merged = self._arrays.merge(begin, cut, n_levels, first, tip, root)
        if merged is None:
            return False
        tip, base, _, spill = merged
        layer = Layer(bare, base, spill, tip, spill, tip)
        if whole:
            self._arrays.move_keys(wait, spill, n_later)
            root, tip = self._arrays.root_of(tip, base, first + 1, below.root_under_whole(bare))
            merged = self._arrays.merge(spill, spill + n_later, n_levels, first, tip, root)
            if merged is not None:
                tip, root, bound, spill = merged
                layer = layer.with_whole(root, bound, spill, tip, n + n_before)
        self.stack.append(layer)
        return True

    def _add_wide(self, bare: Bare, below: Layer, n: int, n_whole: int | None) -> bool:
        """Put a layer with cells outside the keys on the last one; return whether it fits.

        Its ``n`` terms lie behind the layer below: those of its whole, for which ``n_whole`` terms
        were generated in all, or those of its base.
        """
        n_levels = self._n_levels
        first = self._n_forced(bare)
        next_cell = self.geometry.cell_order[len(bare)], 0
        of_base = (*bare, next_cell)
        if n_whole is None:
            cuts = self._sorted(n, below.end_keys, below.end_tip, of_base)
        else:
            cuts = self._sorted(n, below.end_keys, below.end_tip, bare)
        if cuts is None:
            return False
        n_segments = self._generator.n_segments(of_base)
        root, tip = self._arrays.root_of(below.end_tip, below.base, first + 1, 0)
        end = int(cuts[-1])
        in_base = cuts[: n_segments + 1]
        merged = segments.merge(self._arrays, in_base, n_levels, first + 1, tip, root, spill=end)
        if merged is None:
            return False
        layer = Layer(bare, merged.root, merged.spill, merged.tip, merged.spill, merged.tip)
        if n_whole is not None:
            other = below.root_under_whole(bare)
            root, tip = self._arrays.root_of(merged.tip, merged.root, first + 1, other)
            later = segments.cuts_of_later(cuts, n_segments)
            spill = merged.spill
            merged = segments.merge(self._arrays, later, n_levels, first, tip, root, spill=spill)
            if merged is not None:
                tip, root, bound, spill = merged
                layer = layer.with_whole(root, bound, spill, tip, n_whole)
        self.stack.append(layer)
        return True

    def _merge_before(
        self, n_later: int, begin: int, cut: int, n_levels: int, first: int, tip: int, root: int
    ) -> tuple[tuple[int, int, int, int] | None, int]:
        """Merge the keys from ``begin`` to ``cut`` with a tree; return what came of it, and where
        the ``n_later`` keys behind them have gone: they wait behind all that the merge may need.
        """
        wait = cut
        for n_spilled in _SPILLED:
            last = wait
            most = cut + n_spilled * (cut - begin)
            wait = min(most, self._arrays.terms.size - n_later)
            self._arrays.move_keys(last, wait, n_later)
            merged = self._arrays.merge(begin, cut, n_levels, first, tip, root, key_end=wait)
            if merged is not None:
                break
        return merged, wait

    def _add_forced(self, bare: Bare, below: Layer, letter: int) -> bool:
        """Put a layer on the last one, whose first free cell is forced to a letter; return whether
        it fits.

        What the whole below has behind the letter is merged with its base, less the terms that
        absorption takes away: to generate these takes longer, so they may stay (``absorb_forced``).
        """
        n_levels = self._n_levels
        first = self._n_forced(bare)
        begin = below.end_keys
        n = 0
        if self._budgets.absorb_forced:
            room = self._arrays.terms[begin:][: self._budgets.whole_terms]
            where = self._arrays.points[begin:]
            last_cell = 1 << (len(bare) - 1)
            n = self._generator.of_open(bare, room, last_cell, only=LOSSES, segments=where)
        cuts = self._sorted(n, begin, below.end_tip, bare)
        if cuts is None:
            return False
        # the gains (lemma 6): what absorption keeps does not depend on whether the cell is forced
        # yet
        behind = self._arrays.behind(below.whole, first - 1, letter)
        merged = segments.merge(
            self._arrays, cuts, n_levels, first, below.end_tip, below.base, behind
        )
        if merged is None:
            return False
        end_tip, whole, bound, spill = merged
        base, tip = self._arrays.root_of(end_tip, whole, first + 1, 0)
        forced = Layer(bare, base, spill, tip, spill, tip)
        self.stack.append(forced.with_whole(whole, bound, spill, tip, n))
        return tip < self._arrays.cells.size
