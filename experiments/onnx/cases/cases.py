"""ONNX's node tests against the compiled path: one JSON line per case, in processes that may crash.

    python experiments/onnx/cases/cases.py RESULTS.jsonl [--kind node|simple|pytorch-operator|...] [--match WORD]
    python experiments/onnx/cases/cases.py RESULTS.jsonl --table

A case passes where every output has the type, the shape and, within ONNX's own tolerances, the values of the case.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import warnings
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from polysched.errors import PolyschedError

TWO_UNITS = 2.0 ** -6
"""Of bfloat16 in the last place, over the number: ONNX does not say which values in between are rounded."""
KINDS = ("node", "simple", "pytorch-operator", "pytorch-converted", "light")


@dataclass(frozen=True)
class LightModel:
    """A model of onnx's wheel whose weights are made by its nodes; its input is a ramp, as onnx's runner has it."""

    path: Path
    rtol: float = 1e-3
    atol: float = 1e-7
    model: None = None

    @property
    def name(self) -> str:
        """Of the file."""
        return self.path.stem


def cases(kind: str) -> list[Any]:
    """The cases of a kind; node cases are made by onnx itself."""
    warnings.simplefilter("ignore")
    if kind == "light":
        import onnx.backend.test
        return [LightModel(path) for path in sorted(Path(onnx.backend.test.__file__).parent.glob("data/light/*.onnx"))]
    if kind == "node":
        from onnx.backend.test.case.node import collect_testcases
        return list(collect_testcases(None))
    from onnx.backend.test.loader import load_model_tests
    return list(load_model_tests(kind=kind))


def data_sets(case: Any) -> tuple[Any, list[tuple[list[Any], list[Any]]]]:
    """The model and its inputs and outputs."""
    import onnx
    if case.model is not None:
        def plain(values: Any) -> list[Any]:
            return [onnx.numpy_helper.to_array(v) if isinstance(v, onnx.TensorProto) else v for v in values]
        return case.model, [(plain(i), plain(o)) for i, o in case.data_sets]
    if isinstance(case, LightModel):
        return light(case.path)
    folder = Path(case.model_dir)
    model = onnx.load(folder / "model.onnx")
    found = []
    for data in sorted(folder.glob("test_data_set_*")):
        def values(stem: str, data: Path = data) -> list[Any]:
            arrays: list[Any] = []
            for place in range(len(list(data.glob(f"{stem}_*.pb")))):
                text = (data / f"{stem}_{place}.pb").read_bytes()
                declared = (model.graph.input if stem == "input" else model.graph.output)[place].type
                if declared.HasField("sequence_type"):
                    arrays.append(onnx.numpy_helper.to_list(onnx.SequenceProto.FromString(text)))
                else:
                    arrays.append(onnx.numpy_helper.to_array(onnx.TensorProto.FromString(text)))
            return arrays
        found.append((values("input"), values("output")))
    return model, found


def light(path: Path) -> tuple[Any, list[tuple[list[Any], list[Any]]]]:
    """A light model with its ramp and its outputs."""
    import onnx
    model = onnx.load(path)
    constants = {t.name for t in model.graph.initializer}
    inputs = []
    for value in model.graph.input:
        if value.name not in constants:
            shape = [d.dim_value if d.HasField("dim_value") else 1 for d in value.type.tensor_type.shape.dim]
            count = int(np.prod(shape))
            inputs.append((np.arange(count).reshape(shape) / count).astype(np.float32))
    wanted = [onnx.TensorProto.FromString(path.with_name(f"{path.stem}_output_{k}.pb").read_bytes())
              for k in range(len(model.graph.output))]
    return model, [(inputs, [onnx.numpy_helper.to_array(t) for t in wanted])]


def difference(result: Any, wanted: Any, rtol: float, atol: float) -> str | None:
    """What is wrong with an output; None where nothing is."""
    if isinstance(wanted, list):
        if not isinstance(result, list) or len(result) != len(wanted):
            return f"{len(result) if isinstance(result, list) else 'no'} elements, wanted {len(wanted)}"
        return next(filter(None, (difference(r, w, rtol, atol) for r, w in zip(result, wanted, strict=True))), None)
    if not isinstance(wanted, np.ndarray | np.generic):
        return f"a {type(wanted).__name__} is wanted"
    expected = np.asarray(wanted)
    if result.shape != expected.shape or result.dtype != expected.dtype:
        return f"{result.dtype}{result.shape}, wanted {expected.dtype}{expected.shape}"
    if expected.dtype.kind == "V":   # the short types of ml_dtypes
        rtol = max(rtol, TWO_UNITS) if expected.dtype.name == "bfloat16" else rtol
        result, expected = result.astype(np.float32), expected.astype(np.float32)
    if expected.dtype.kind not in "fiub":
        return None if (result == expected).all() else "values"
    close = np.isclose(result.astype(np.float64), expected.astype(np.float64), rtol=rtol, atol=atol, equal_nan=True)
    if expected.dtype.kind in "iub":
        close = result == expected if rtol < 1 else close
    if close.all():
        return None
    worst = np.unravel_index(np.argmin(close), close.shape)
    return f"{int((~close).sum())} of {close.size} elements, {result[worst]} for {expected[worst]}"


class OnnxRuntime:
    """ONNX Runtime behind the interface that our backend has."""

    class Refused(PolyschedError):
        """Whatever it raises while it loads or runs a model."""

    @staticmethod
    def prepare(model: Any) -> Any:
        import onnxruntime
        try:
            session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        except Exception as error:  # its own classes of errors are many
            raise OnnxRuntime.Refused(str(error)[:200]) from None

        class Ready:
            """One session."""

            @staticmethod
            def run(inputs: list[Any]) -> list[Any]:
                names = [i.name for i in session.get_inputs()]
                try:
                    return list(session.run(None, dict(zip(names, inputs, strict=False))))
                except Exception as error:
                    raise OnnxRuntime.Refused(str(error)[:200]) from None
        return Ready


def run(case: Any, backend: str = "polysched") -> dict[str, Any]:
    """One case as a record."""
    from polysched.model import onnx_backend as ours
    onnx_backend = OnnxRuntime if backend == "onnxruntime" else ours
    model, data = data_sets(case)
    ops = [n.op_type for n in model.graph.node]
    record: dict[str, Any] = {"name": case.name, "op": ops[0] if len(ops) == 1 else "", "ops": sorted(set(ops))}
    started = time.process_time()
    try:
        ready = onnx_backend.prepare(model)
        for inputs, outputs in data:
            results = ready.run(inputs)
            for result, wanted in zip(results, outputs, strict=True):
                problem = difference(result, wanted, case.rtol, case.atol)
                if problem is not None:
                    return {**record, "status": "wrong", "reason": problem}
    except PolyschedError as error:
        record |= {"status": "refused", "reason": error.problem, "class": type(error).__name__,
                   "where": str(error.where), "witness": error.witness}
    except Exception as error:  # a fault of ours: it is counted apart
        record |= {"status": "fault", "reason": f"{type(error).__name__}: {error}"[:500]}
    else:
        record |= {"status": "passed"}
    return record | {"seconds": round(time.process_time() - started, 3)}


def child(kind: str, out: Path, match: str, skip: set[str], backend: str) -> None:
    """Run what is not done, one after the other; the name is written before the case runs."""
    for case in cases(kind):
        if case.name in skip or match not in case.name:
            continue
        with out.open("a") as file:
            file.write(json.dumps({"name": case.name, "status": "crashed"}) + "\n")
        record = run(case, backend)
        with out.open("a") as file:
            file.write(json.dumps(record) + "\n")


def read(path: Path) -> dict[str, dict[str, Any]]:
    """The last record of every case."""
    lines = path.read_text().splitlines() if path.exists() else []
    return {r["name"]: r for r in map(json.loads, lines)}


def table(records: dict[str, dict[str, Any]]) -> str:
    """Counts in all and by operator, then why cases were refused, the most first."""
    lines = ["  ".join(f"{s} {n}" for s, n in Counter(r["status"] for r in records.values()).most_common())]
    by_op: dict[str, Counter[str]] = defaultdict(Counter)
    for r in records.values():
        by_op[r.get("op") or "several"][r["status"]] += 1
    for op, counts in sorted(by_op.items(), key=lambda item: -sum(item[1].values())):
        lines.append(f"{op:28}" + "".join(f"{s} {n:4}  " for s, n in counts.most_common()))
    reasons = Counter(r["reason"] for r in records.values() if r["status"] == "refused")
    lines += ["", *(f"{n:5} {reason}" for reason, n in reasons.most_common(60))]
    lines += ["", *(f"{r['status']} {r['name']}: {r.get('reason')}" for r in records.values()
                    if r["status"] in ("wrong", "fault", "crashed"))]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path)
    parser.add_argument("--kind", default="node")
    parser.add_argument("--backend", default="polysched", choices=("polysched", "onnxruntime"))
    parser.add_argument("--match", default="")
    parser.add_argument("--again", default="", help="statuses that are run again, with commas between")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    again = set(arguments.again.split(",")) - {""}
    if arguments.child:
        done = {n for n, r in read(arguments.results).items() if r["status"] not in again}
        child(arguments.kind, arguments.results, arguments.match, done, arguments.backend)
        return
    while not arguments.table:
        command = [sys.executable, __file__, str(arguments.results), "--kind", arguments.kind, "--match",
                   arguments.match, "--backend", arguments.backend, "--again", ",".join(sorted(again)), "--child"]
        if subprocess.run(command, check=False).returncode >= 0:
            break
        again = set()
    print(table(read(arguments.results)))


if __name__ == "__main__":
    main()
