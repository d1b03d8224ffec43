"""`python -m xoff` is the command `xoff`."""

import sys

from xoff.cli.entry import main

sys.exit(main())
