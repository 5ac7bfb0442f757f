"""Search parameters that would lose boards or never end are refused."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from boardclass.errors import ConfigError
from configs.model import SearchConfig
from search.params import LETTER_ORDER, Params

ALPHABET = "abcdefghijklmnopqrstuvwxyz"
BUDGETS = (
    "node_budget",
    "least_budget",
    "whole_terms",
    "fused_budget",
    "fused_per_term",
    "fused_misses",
    "unit_budget",
    "absorb_limit",
    "product_limit",
)


def test_defaults_are_accepted():
    assert "".join(sorted(LETTER_ORDER)) == ALPHABET
    assert Params().force_groups == tuple(LETTER_ORDER)


@pytest.mark.parametrize(
    "order", ["", "abc", ALPHABET + "a", ALPHABET[:-1] + "y", ALPHABET.upper(), ALPHABET[:-1] + "é"]
)
def test_letter_orders_that_lack_or_repeat_a_letter(order):
    with pytest.raises(ConfigError, match=r"letter_order .*expected each letter a-z once"):
        Params(letter_order=order)


@pytest.mark.parametrize(
    "groups",
    [
        (),
        ("abc",),
        tuple(LETTER_ORDER[1:]),
        (*LETTER_ORDER, "a"),
        (*LETTER_ORDER[:-1], "s"),
        (ALPHABET[:13], ALPHABET[12:]),
        (ALPHABET, ALPHABET),
        (ALPHABET.upper(),),
    ],
)
def test_force_groups_that_lack_or_repeat_a_letter(groups):
    with pytest.raises(ConfigError, match=r"force_groups .*each letter a-z in exactly one group"):
        Params(force_groups=groups)


@pytest.mark.parametrize(
    "groups", [(ALPHABET,), (ALPHABET[:5], ALPHABET[5:]), ("", ALPHABET), tuple(reversed(ALPHABET))]
)
def test_any_partition_of_the_letters_is_accepted(groups):
    assert Params(force_groups=groups).force_groups == groups


@pytest.mark.parametrize("parts", [1, 0, -1])
def test_a_split_into_one_part_would_never_end(parts):
    with pytest.raises(ConfigError, match=f"unfuse_parts {parts}: expected 2 or more"):
        Params(unfuse_parts=parts)


@pytest.mark.parametrize("name", BUDGETS)
def test_budgets(name):
    assert getattr(replace(Params(), **{name: 0}), name) == 0
    with pytest.raises(ConfigError, match=f"{name} -1: expected 0 or more"):
        replace(Params(), **{name: -1})


@pytest.mark.parametrize("memory_mb", [0, -1])
def test_no_memory(memory_mb):
    assert Params(memory_mb=1).memory_mb == 1
    with pytest.raises(ConfigError, match=f"memory_mb {memory_mb}: expected 1 or more"):
        Params(memory_mb=memory_mb)


def test_the_error_is_an_input_error_of_one_line():
    with pytest.raises(ConfigError) as caught:
        Params(letter_order="abc")
    assert caught.value.exit_code == 2
    assert "\n" not in str(caught.value)


def test_demands_that_no_rule_makes():
    with pytest.raises(ConfigError, match="demands 'some': expected one of open, every"):
        Params(demands="some")


def test_every_parameter_reaches_the_search_from_a_config():
    order, groups = ALPHABET[::-1], [ALPHABET[:13], ALPHABET[13:]]
    given = {
        "fused": ["corner", "edge"],
        "letter_order": order,
        "force_groups": groups,
        "memory_mb": 77,
        "demands": "every",
    }
    numbers = [field.name for field in fields(Params) if isinstance(field.default, int) and field.name not in given]
    given |= {name: 3 + place for place, name in enumerate(numbers)}
    params = SearchConfig.model_validate(given).params()
    for name, value in given.items():
        assert getattr(params, name) == (tuple(value) if isinstance(value, list) else value)
    assert set(given) == {field.name for field in fields(Params)}
    assert SearchConfig(fused=[]).params().fused == ()
    assert SearchConfig().params() == Params()


def test_the_search_section_of_a_config_has_these_fields_and_leaves_each_to_its_default():
    assert list(SearchConfig.model_fields) == [field.name for field in fields(Params)]
    assert set(SearchConfig().model_dump().values()) == {None}
