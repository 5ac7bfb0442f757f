from .breaker import Breaker, Spec, Unit, UnitResult, break_class
from .class_bounds import Bounds, bounds
from .local.methods import Find, local_search
from .params import Params
from .scoring.scorer import Found, Scorer, score
from .solvers import holds, solve

__all__ = [
    "Bounds",
    "Breaker",
    "Find",
    "Found",
    "Params",
    "Scorer",
    "Spec",
    "Unit",
    "UnitResult",
    "bounds",
    "break_class",
    "holds",
    "local_search",
    "score",
    "solve",
]
