"""Random operator graphs, compiled and behind every pass, against the interpreter, with records that are gone on from.

    python experiments/onnx/random_graphs.py RECORDS.jsonl --count 5000 [--seed 0] [--jobs 1] [--drawn models]

A graph that has its line is not run again.  The last lines are the counts of the whole file.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import get_args

from polysched.fuzz.graph_campaign import Drawn, GraphCampaign, GraphRecord, run_graphs, summary

CHUNK = 16


def recorded(path: Path) -> list[GraphRecord]:
    """The records of a file; a last line that was cut off is left out."""
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    return [GraphRecord(**json.loads(line)) for line in lines if line.endswith("\n")]


def left(seeds: range, done: set[int]) -> Iterator[range]:
    """Runs of seeds that have no record, of one chunk at most."""
    start = seeds.start
    while start < seeds.stop:
        end = start
        while end < min(start + CHUNK, seeds.stop) and end not in done:
            end += 1
        if end > start:
            yield range(start, end)
        start = max(end, start + 1)


def main() -> int:
    """Run what is left, and count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", type=Path)
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--drawn", choices=get_args(Drawn), default="graphs",
                        help="models: of ONNX, against ONNX Runtime and ONNX's references; readings: not compiled")
    arguments = parser.parse_args()
    records = recorded(arguments.records)
    others = {r.drawn for r in records} - {arguments.drawn}
    if others:
        parser.error(f"{arguments.records} has records of --drawn {', '.join(sorted(others))}: name another file")
    arguments.records.write_text("".join(json.dumps(asdict(r)) + "\n" for r in records), encoding="utf-8")
    with arguments.records.open("a", encoding="utf-8") as file:
        def write(record: GraphRecord) -> None:
            print(json.dumps(asdict(record)), file=file, flush=True)
            records.append(record)
            if record.is_fault:
                print(f"{record.verdict}: graph {record.seed} {record.reason}", flush=True)

        for seeds in left(range(arguments.seed, arguments.seed + arguments.count), {r.seed for r in records}):
            run_graphs(GraphCampaign(count=len(seeds), seed=seeds.start, jobs=arguments.jobs, drawn=arguments.drawn,
                                     chunk=max(len(seeds) // arguments.jobs, 1)), on_record=write)
    print(summary(records))
    return 1 if any(r.is_fault for r in records) else 0


if __name__ == "__main__":
    raise SystemExit(main())
