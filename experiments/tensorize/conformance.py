"""Every shipped description against the real instruction, wherever this machine can execute it.

    python experiments/tensorize/conformance.py [--trials 20000] [--json FILE]
"""

import argparse
import json
import sys
from pathlib import Path

from polysched.tensorize import INTRINSICS
from polysched.tensorize.conformance import Verdict, conformance
from polysched.tensorize.contraction import same_function


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=20000)
    parser.add_argument("--json", metavar="FILE")
    arguments = parser.parse_args()
    rows = []
    for name, intrinsic in INTRINSICS.items():
        result = conformance(intrinsic, trials=arguments.trials)
        sizes = dict(zip(intrinsic.parsed.sizes, (3, 2, 5, 4), strict=False))
        derived = same_function(intrinsic.parsed, intrinsic.contraction, sizes=sizes)
        rows.append({"intrinsic": name, "isa": intrinsic.isa.name, "verdict": result.verdict.value, "how": result.how,
                     "trials": result.trials, "mismatches": result.mismatches, "reason": result.reason,
                     "matcher_sees_the_same_function": derived})
        print(f"{result}{'' if derived else '; the matcher sees another function'}")
    counts = {v.value: sum(r["verdict"] == v.value for r in rows) for v in Verdict}
    print(", ".join(f"{n} {verdict}" for verdict, n in counts.items()))
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(rows, indent=2))
    return 1 if counts[Verdict.DIFFERS.value] or not all(r["matcher_sees_the_same_function"] for r in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
