from .breaker import Breaker, Spec, Unit, UnitResult, break_class
from .class_bounds import Bounds, bounds
from .local.methods import Find, local_search
from .params import Budgets, Rules
from .question import Question, ask
from .scoring.scorer import Found, Scorer, score
from .solvers import holds, solve

__all__ = [
    "Bounds",
    "Breaker",
    "Budgets",
    "Find",
    "Found",
    "Question",
    "Rules",
    "Scorer",
    "Spec",
    "Unit",
    "UnitResult",
    "ask",
    "bounds",
    "break_class",
    "holds",
    "local_search",
    "score",
    "solve",
]
