"""`python -m polysched` is the `polysched` command."""

import sys

from polysched.cli import main

if __name__ == "__main__":
    sys.exit(main())
