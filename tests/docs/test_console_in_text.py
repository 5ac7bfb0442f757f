"""What the documentation shows of the command line is what it prints."""

from __future__ import annotations

import pytest

from tests.conftest import ROOT
from tests.docs.console import Step, agrees, prepared, printed, steps
from tests.samples import daily

PAGES = {
    str(path.relative_to(ROOT)): list(steps(path))
    for path in sorted((ROOT / "README.md", *(ROOT / "docs").rglob("*.md")))
}


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    "page", daily([page for page, found in PAGES.items() if found], lambda page: "examples" not in page)
)
def test_commands_print_what_the_page_says(page, tmp_path):
    environment = prepared(tmp_path)
    for step in PAGES[page]:
        output = printed(step, tmp_path, environment)
        assert agrees(step, output), f"{step.command}\n--- the page\n{step.expected}--- the program\n{output}"


def test_there_are_commands_and_a_difference_is_seen():
    assert len(PAGES["docs/tutorial.md"]) > 5
    assert agrees(Step("x", "a  b\n...\nc ... d\n"), "a b\n1\n2\nc 3 d\n")
    assert not agrees(Step("x", "best 430\n"), "best 431\n")
