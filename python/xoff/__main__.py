"""`python -m xoff` is the command `xoff`."""

import sys

from xoff.cli import main

sys.exit(main())
