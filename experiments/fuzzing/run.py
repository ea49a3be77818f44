"""Ten thousand random programs: is any of them wrong?

    python experiments/fuzzing/run.py [--count 10000] [--seed 0] [--jobs 2] [--results DIR]

The campaign runs in slices, one result file each, so that it can be stopped and goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter
from pathlib import Path

from polysched.fuzz.campaign import CampaignOptions, as_json, run_campaign, save_wrong, summary

SLICE = 200


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--limit-seconds", type=float, default=120.0)
    parser.add_argument("--results", type=Path, default=Path("fuzzing-results"))
    return parser.parse_args()


def run_slice(first: int, count: int, options: argparse.Namespace, path: Path) -> None:
    """One slice into its result file; wrong programs beside it."""
    campaign = CampaignOptions(count=count, seed=first, jobs=options.jobs, limit_seconds=options.limit_seconds)
    results = run_campaign(campaign)
    save_wrong(results, campaign, options.results / "wrong")
    print(f"{first}: {summary(results)}", flush=True)
    part = path.with_suffix(".part")
    part.write_text(as_json(results, campaign))
    part.rename(path)


def main() -> int:
    options = arguments()
    options.results.mkdir(parents=True, exist_ok=True)
    totals: Counter[str] = Counter()
    last = options.seed + options.count
    for first in range(options.seed, last, SLICE):
        path = options.results / f"{first}.json"
        if not path.exists():
            run_slice(first, min(SLICE, last - first), options, path)
        stored = json.loads(path.read_text())
        totals.update({key: stored[key] for key in ("programs", "configurations", "wrong", "refused")})
    print(f"{totals['programs']} programs in {totals['configurations']} configurations, {totals['wrong']} wrong, "
          f"{totals['refused']} refused")
    return 1 if totals["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
