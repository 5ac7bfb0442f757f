"""What pages are told is what its types say, in Python and in TypeScript."""

from __future__ import annotations

import pytest

from orderly_boggle.cluster.answers import told
from orderly_boggle.cluster.web.jobs import BoardRequest, score_board
from tests.bench import page_types


def test_the_types_of_the_scripts_are_those_of_python():
    assert page_types.FILE.read_text() == page_types.text(), "python -m tests.bench.page_types"


@pytest.mark.parametrize(
    "request_",
    [BoardRequest("berlatdes"), BoardRequest("t[a/e]er", letter_values="a=3,e=2")],
    ids=["usual", "tiles"],
)
def test_a_board_is_told_with_the_names_of_its_type(request_):
    """mypy looks at the values."""
    names = score_board(request_).keys()
    assert told.Told.__required_keys__ <= names <= told.Told.__annotations__.keys()
    is_usual = request_.letters.isalpha()
    assert ("values" in names, "canonical" in names) == (not is_usual, is_usual)


def test_a_type_without_a_name_is_refused():
    with pytest.raises(TypeError, match="has no name"):
        page_types.type_of(set)
