"""A child of `graph_campaign`: `python -m polysched.fuzz.graph_worker SEED ...` prints a JSON line per graph."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict

from polysched.fuzz.graph_campaign import check_graph


def main(seeds: Sequence[str]) -> None:
    """Check graphs one after the other; each is told as soon as it is done."""
    for seed in seeds:
        print(json.dumps(asdict(check_graph(int(seed)))), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
