"""`python -m xoff` is the command `xoff`."""

import sys

from xoff.cli.app import main

sys.exit(main())
