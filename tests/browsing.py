"""Pages in a real browser: devices, tabs in which nothing fails, and what must hold on every
page.
"""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip(
    "playwright.sync_api", reason="needs playwright: pip install 'orderly-boggle[test]'"
)
pytest.importorskip(
    "axe_playwright_python",
    reason="needs axe-playwright-python: pip install 'orderly-boggle[test]'",
)

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

DESK: dict[str, Any] = {"viewport": {"width": 1280, "height": 900}}
TABLET: dict[str, Any] = {"viewport": {"width": 768, "height": 1000}}
PHONE: dict[str, Any] = {
    "viewport": {"width": 360, "height": 740},
    "is_mobile": True,
    "has_touch": True,
}
DEVICES = {"desk": DESK, "tablet": TABLET, "phone": PHONE}
SLOW_MS = 60_000  # kernels may have to be compiled first
expect.set_options(timeout=SLOW_MS)
POINTS = (
    "line => Array.from(line.points, p => { const q = p.matrixTransform(line.getScreenCTM()); "
    "return [q.x, q.y]; })"
)


class Tabs:
    """Tabs of a browser, each as a device would open it: what they asked for, and what failed in
    them.
    """

    def __init__(self, browser):
        self.browser, self.asked, self.failed = browser, [], []
        self.contexts = []

    def new(self, *, expected_faults=False, **device):
        context = self.browser.new_context(strict_selectors=True, **device)
        self.contexts.append(context)
        tab = context.new_page()
        tab.set_default_timeout(SLOW_MS)
        tab.on("request", lambda request: self.asked.append(request.url))
        tab.on("pageerror", lambda error: self.failed.append(str(error)))
        if not expected_faults:
            tab.on(
                "console",
                lambda said: (
                    self.failed.append(said.text) if said.type in ("error", "warning") else None
                ),
            )
        return tab

    def close(self):
        for context in self.contexts:
            for tab in context.pages:
                tab.unroute_all(behavior="ignoreErrors")  # a page asks again while it is closed
            context.close()
        assert self.failed == []


def has_text(tab, selector, text):
    """Wait until an element has this text."""
    expect(tab.locator(selector)).to_have_text(text)


def contains_text(tab, selector, text):
    """Wait until the text of an element contains this."""
    expect(tab.locator(selector)).to_contain_text(text)


def keeps_nobody_out(tab, device):
    """Axe finds nothing, and nothing has to be scrolled sideways."""
    found = Axe().run(tab)
    assert found.violations_count == 0, found.generate_report()
    assert tab.evaluate("document.documentElement.scrollWidth") <= device["viewport"]["width"]


def middle(box):
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
