"""A process that places the operators of some regions: `python -m polysched.mesh.region_worker REGIONS.npz PLACES.npz`.

Mt-KaHyPar is native code: what goes wrong in it ends this process, and not the one that waits for it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from polysched.errors import PolyschedError
from polysched.mesh.regions import placed_regions, read_regions


def main(arguments: Sequence[str]) -> int:
    """Read regions, write rows and columns of their members; 1 after one line of what went wrong."""
    given, made = map(Path, arguments)
    regions, alive, seed = read_regions(given)
    members = np.concatenate([r.members for r in regions])
    try:
        rows, columns = placed_regions(regions, int(members.max(initial=-1)) + 1, alive, seed)
    except PolyschedError as error:
        print(error, file=sys.stderr)
        return 1
    np.savez(made, rows=rows[members], columns=columns[members])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
