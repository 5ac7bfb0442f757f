from .breaker import Breaker, Spec, Unit, UnitResult, break_class
from .local.methods import Find, local_search
from .params import Params
from .scoring.scorer import Found, Scorer, score
from .solvers import holds, solve

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
    "holds",
    "local_search",
    "score",
    "solve",
]
