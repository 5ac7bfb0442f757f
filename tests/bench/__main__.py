"""Entry of ``python -m tests.bench``: a started process imports the main module anew, but not one
of this name.
"""

import sys

from tests.bench.figures import main

sys.exit(main())
