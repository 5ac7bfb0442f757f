"""Search parameters that would lose boards or never end are refused."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from boardclass.errors import ConfigError
from configs.model import SearchConfig
from search.params import LETTER_ORDER, Params

ALPHABET = "abcdefghijklmnopqrstuvwxyz"
BUDGETS = [field.name for field in fields(Params) if isinstance(field.default, int)]
ORDERS = ["", "abc", ALPHABET + "a", ALPHABET[:-1] + "y", ALPHABET.upper(), ALPHABET[:-1] + "é"]
GROUPS = [
    *((), ("abc",), tuple(LETTER_ORDER[1:]), (*LETTER_ORDER, "a"), (*LETTER_ORDER[:-1], "s")),
    *((ALPHABET[:13], ALPHABET[12:]), (ALPHABET, ALPHABET), (ALPHABET.upper(),)),
]
REFUSED = [
    *(({"letter_order": order}, "letter_order .*expected each letter a-z once") for order in ORDERS),
    *(({"force_groups": groups}, "force_groups .*each letter a-z in exactly one group") for groups in GROUPS),
    *(({"unfuse_parts": n}, f"unfuse_parts {n}: expected 2 or more") for n in (1, 0, -1)),
    *(({"memory_mb": n}, f"memory_mb {n}: expected 1 or more") for n in (0, -1)),
    *(({name: -1}, f"{name} -1: expected") for name in BUDGETS),
    ({"demands": "some"}, "demands 'some': expected one of open, every"),
]


@pytest.mark.parametrize(("values", "said"), REFUSED)
def test_values_that_would_lose_boards_or_never_end_are_refused(values, said):
    with pytest.raises(ConfigError, match=said) as caught:
        Params(**values)
    assert caught.value.exit_code == 2
    assert "\n" not in str(caught.value)


def test_others_are_accepted():
    assert Params().force_groups == tuple(LETTER_ORDER)
    for groups in ((ALPHABET,), (ALPHABET[:5], ALPHABET[5:]), ("", ALPHABET), tuple(reversed(ALPHABET))):
        assert Params(force_groups=groups).force_groups == groups
    least = {name: {"unfuse_parts": 2, "memory_mb": 1}.get(name, 0) for name in BUDGETS}
    assert vars(replace(Params(), **least)).items() >= least.items()


def test_every_parameter_reaches_the_search_from_a_config():
    order, groups = ALPHABET[::-1], [ALPHABET[:13], ALPHABET[13:]]
    given = {
        "fused": ["corner", "edge"],
        "letter_order": order,
        "force_groups": groups,
        "demands": "every",
        "memory_mb": 77,
    }
    given |= {name: 3 + place for place, name in enumerate(BUDGETS) if name not in given}
    params = SearchConfig.model_validate(given).params()
    for name, value in given.items():
        assert getattr(params, name) == (tuple(value) if isinstance(value, list) else value)
    assert set(given) == {field.name for field in fields(Params)}
    assert list(SearchConfig.model_fields) == [field.name for field in fields(Params)]
    assert set(SearchConfig().model_dump().values()) == {None}, "each is left to its default"
    assert SearchConfig(fused=[]).params().fused == ()
    assert SearchConfig().params() == Params()
