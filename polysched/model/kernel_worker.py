"""The process that builds kernels beside its parent: fragments and options come on standard input."""

from __future__ import annotations

import pickle
import sys

from polysched.errors import PolyschedError
from polysched.model.kernels import build_orders


def main() -> int:
    """Build until a kernel is refused; the parent comes to it, too, and reports it."""
    orders, options = pickle.loads(sys.stdin.buffer.read())
    try:
        build_orders(orders, options)
    except PolyschedError:
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
