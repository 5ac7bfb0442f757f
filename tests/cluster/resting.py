"""``orderly`` with a search that rests before each unit: a run to be watched for a while, with a
processor to spare.
"""

from __future__ import annotations

import time
from unittest import mock

from orderly_boggle.cluster.cli.start import main
from orderly_boggle.search.breaker import Breaker

REST_S = 0.2
_break_unit = Breaker.break_unit


def _rest_and_break_unit(self, unit):
    time.sleep(REST_S)
    return _break_unit(self, unit)


if __name__ == "__main__":
    with mock.patch.object(Breaker, "break_unit", _rest_and_break_unit):
        main()
