"""``python -m sgcl`` is the command ``sgcl``."""

import sys

from sgcl.cli import main

sys.exit(main())
