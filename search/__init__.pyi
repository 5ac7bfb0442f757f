from .breaker import Breaker, Spec, Unit, UnitResult, break_class
from .local.methods import Find, local_search
from .params import Params
from .scoring.scorer import Found, Scorer, score
from .solvers import solve

__all__ = [
    "Breaker",
    "Find",
    "Found",
    "Params",
    "Scorer",
    "Spec",
    "Unit",
    "UnitResult",
    "break_class",
    "local_search",
    "score",
    "solve",
]
