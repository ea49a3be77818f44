"""How many mappings of each operator onto a 16x16x16 matrix unit: AMOS's rule and the sound one, from the rules.

    python experiments/amos_mappings/run.py [--json FILE] [--extra]
"""

import argparse
import json
import sys

from polysched.tensorize import Extents, Match, MatchOptions, Rule, find_intrinsic, match
from polysched.tensorize.operators import OPERATORS

PUBLISHED = {"gmv": 1, "gmm": 1, "c1d": 6, "c2d": 35, "c3d": 180, "t2d": 7, "grp": 35, "dil": 35, "dep": 11,
             "cap": 105, "bcv": 11, "gfc": 1, "men": 1, "var": 1, "scn": 1}


def identity(m: Match) -> tuple[object, ...]:
    return m.signature


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", metavar="FILE", help="write the table and every extra match")
    parser.add_argument("--extra", action="store_true", help="name the matches that AMOS's rule does not admit")
    arguments = parser.parse_args()
    unit = find_intrinsic("mma_16x16x16")
    rows = []
    print(f"{'operator':<10}{'published':>10}{'amos':>8}{'exact':>8}{'amos ms':>10}{'exact ms':>10}")
    for name, operator in OPERATORS.items():
        scop = operator()
        narrow, sound = (match(scop, unit, MatchOptions(rule=rule)) for rule in (Rule.AMOS, Rule.EXACT))
        admitted = {identity(m) for m in narrow.with_mirrors}
        extra = [str(m) for m in sound.matches if identity(m) not in admitted]
        rows.append({"operator": name, "published": PUBLISHED[name], "amos": narrow.count, "exact": sound.count,
                     "amos_milliseconds": narrow.milliseconds, "exact_milliseconds": sound.milliseconds,
                     "extra": extra})
        print(f"{name:<10}{PUBLISHED[name]:>10}{narrow.count:>8}{sound.count:>8}{narrow.milliseconds:>10.0f}"
              f"{sound.milliseconds:>10.0f}")
        for line in extra if arguments.extra else ():
            print(f"    {line}")
    filled = match(OPERATORS["c2d"](), unit, MatchOptions(rule=Rule.AMOS, extents=Extents.REACH), sizes={"batch": 1})
    print(f"c2d, batch 1, loops fill the unit: published 20, amos {filled.count}")
    rows.append({"operator": "c2d, batch 1, extents reach", "published": 20, "amos": filled.count})
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=2)
    wrong = [r["operator"] for r in rows if r["published"] != r["amos"]]
    print("all published counts reproduced" if not wrong else f"differ: {', '.join(map(str, wrong))}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
