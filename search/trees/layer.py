"""What the forest keeps in the shared arrays: a layer of the stack, and a tree that was grown.

>>> n_bytes_of(n_keys=100, tip=51)  # keys of 8 bytes, points and cells of 4; cell 0 stays free
1400
"""

from typing import NamedTuple

from orderly_boggle.search.trees.generator import Bare
from orderly_boggle.search.trees.tree import Tree


class Layer(NamedTuple):
    """What is in the arrays for one node of the layers."""

    bare: Bare
    base: int  # root over the terms that the next layer can keep: none uses the first free cell
    n_keys: int  # first unused place of the keys behind the base, and of the cells
    tip: int
    end_keys: int  # the same behind the whole
    end_tip: int
    # root over all terms, 0 if it is not there; what only the whole has lies behind the base
    whole: int = 0
    bound: int = 0  # of the whole
    n_bytes: int = 0  # size of all layers so far
    n_terms: int = 0  # terms generated for it

    def with_whole(
        self, whole: int, bound: int, end_keys: int, end_tip: int, n_terms: int
    ) -> "Layer":
        """Return the layer with a whole behind its base."""
        return self._replace(
            whole=whole,
            bound=bound,
            end_keys=end_keys,
            end_tip=end_tip,
            n_bytes=n_bytes_of(end_keys, end_tip),
            n_terms=n_terms,
        )

    def without_whole(self) -> "Layer":
        """Return the layer with its base alone."""
        return self._replace(whole=0, end_keys=self.n_keys, end_tip=self.tip)

    def root_under_whole(self, above: Bare) -> int:
        """Return the root of what the whole of the layer above is merged from, besides its base: of
        all terms, if that layer fills the hole of this one; otherwise of the base of this one.
        """
        if len(above) == len(self.bare):
            return self.whole
        return self.base


def n_bytes_of(n_keys: int, tip: int) -> int:
    """Return the size of ``n_keys`` keys and points and of the cells before ``tip``."""
    return 12 * n_keys + 4 * (tip - 1)


class Grown(NamedTuple):
    """A tree over a node: the shared arrays, the root and its bound, how many terms were generated
    for it, bytes.
    """

    orderly: Tree
    root: int
    bound: int
    n_terms: int
    n_bytes: int
