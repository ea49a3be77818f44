"""One compilation of an ONNX model in a process of its own: what it took, as one JSON line.

    python experiments/onnx/networks/compiling.py MODEL.onnx [--batch N] [--verify]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import time
from typing import Any

THREADS = 2


def processor_seconds() -> float:
    """Of this process and of those that it waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def compiled(path: str, sizes: dict[str, int]) -> tuple[Any, dict[str, Any]]:
    """The model, and seconds from the file to a function that runs; imports apart."""
    import polysched
    from polysched.graph import load
    from polysched.model import compile_graph
    started, used = time.perf_counter(), processor_seconds()
    graph = load(path)
    loaded = time.perf_counter() - started
    model = compile_graph(graph, sizes=sizes)
    model.prepare()
    seconds, arena = time.perf_counter() - started, model.plan.arena
    return model, {"load_seconds": round(loaded, 2), "seconds": round(seconds, 2),
                   "processor_seconds": round(processor_seconds() - used, 2), "version": polysched.__version__,
                   "kernels": len(model.plan.kernels), "different": len(model.kernels),
                   "arena_bytes": arena.bytes, "peak_bytes": arena.peak_bytes}


def compared(model: Any, path: str) -> dict[str, Any]:
    """Errors against float64, ours and ONNX Runtime's, and times side by side."""
    from polysched.model.verification import by_onnxruntime, error, exact, random_inputs, timed
    arrays = random_inputs(model.graph)
    theirs = by_onnxruntime(path, THREADS)
    found, other, right = model.run(arrays), theirs(arrays), exact(model.graph)(arrays)
    (name,) = right
    times = timed(lambda _: model.run(arrays), theirs, arrays)
    return {"error": error(found[name], right[name]), "their_error": error(other[name], right[name]),
            "largest": float(abs(right[name]).max()), "call_seconds": times.seconds, "ratio": times.ratio,
            "interval": list(times.interval)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--batch", type=int)
    parser.add_argument("--verify", action="store_true")
    arguments = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", str(THREADS))
    model, record = compiled(arguments.model, {} if arguments.batch is None else {"batch": arguments.batch})
    if arguments.verify:
        record |= compared(model, arguments.model)
    print(json.dumps(record))


if __name__ == "__main__":
    main()
