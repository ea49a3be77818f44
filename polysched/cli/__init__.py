"""The `polysched` command: one file per subcommand, registered in `commands.py`."""

from polysched.cli.entry import main

__all__ = ["main"]
