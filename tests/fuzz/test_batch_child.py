"""What a child of a batch says of each call: the arrays, stray writes, the instances, and the first difference."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polysched.fuzz import batch_child
from polysched.fuzz.batch import Argument, inputs_of
from polysched.fuzz.batch_child import SCALARS, Keep, differences
from polysched.measure.processes.building import compile_shared
from polysched.measure.programs.inputs import WHOLE
from polysched.measure.programs.instance_trace import recorder
from polysched.measure.programs.trace_run import TRACE
from polysched.target import find_compiler
from tests.measure.told import Told

INF, NAN = np.inf, np.nan
HEAD = "(int n, double A[n], unsigned char *B)"
FUNCTIONS = {
    "plain": "for (int i = 0; i < n; i++) A[i] += B[i];",
    "other": "for (int i = 0; i < n; i++) A[i] += B[i] + (i == 2);",
    "stray": "B[n] = 1;",
    "rounded": "for (int i = 0; i < n; i++) A[i] = (A[i] + B[i]) * (1 + 1e-9);",
    "signs": "for (int i = 0; i < n; i++) A[i] = -0.0;",
    "zeros": "for (int i = 0; i < n; i++) A[i] = 0;",
    "talks": f"for (int i = 0; i < n; i++) {TRACE}_1(i, n);",
}
NUMBERS = "(signed char a, unsigned short b, long c, float d, double e, double *A)"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> str:
    text = "\n".join(["#pragma GCC visibility push(default)", recorder(2),
                      *(f"void {name}{HEAD} {{ {body} }}" for name, body in FUNCTIONS.items()),
                      f"void numbers{NUMBERS} {{ A[0] = a; A[1] = b; A[2] = c; A[3] = d; A[4] = e; }}"])
    return str(compile_shared(text, name="batch", folder=tmp_path_factory.mktemp("batch"), compiler=find_compiler(),
                              flags=("-O1",), openmp=False).path)


def job(label: str, keep: Keep = Keep.ARRAYS, *, n: int = 4, **other: Any) -> dict[str, Any]:
    arguments = [{"name": "n", "dtype": "int32", "value": n, "shape": []},
                 {"name": "A", "dtype": "float64", "value": None, "shape": [n]},
                 {"name": "B", "dtype": "uint8", "value": None, "shape": [n]}]
    return {"label": label, "arguments": arguments, "seed": 3, "trace_size": 0, "keep": keep.value, "tolerance": 0.0,
            "recipe": "dominant"} | other


def told(library: str, folder: Path, monkeypatch: pytest.MonkeyPatch, *jobs: dict[str, Any]) -> list[dict[str, Any]]:
    reporter = Told()
    request = {"libraries": [library], "outputs": str(folder), "jobs": jobs}
    monkeypatch.setattr(batch_child, "start", lambda arguments: (request, reporter))
    batch_child.main([])
    assert reporter.reports[-1] == {"end": "finished"}
    return [r for r in reporter.reports if "job" in r]


def test_arrays_start_from_the_inputs_and_come_back(library: str, tmp_path: Path,
                                                    monkeypatch: pytest.MonkeyPatch) -> None:
    reports = told(library, tmp_path, monkeypatch, job("plain"), job("other"), job("plain", n=0))
    assert reports == [{"job": "", "stored": True, "difference": ""}] * 3
    inputs = inputs_of([Argument(name="A", dtype="float64", shape=(4,)), Argument(name="B", dtype="uint8", shape=(4,))],
                       3)
    for number, more in ((0, 0), (1, 1)):
        with np.load(tmp_path / f"{number}.npz") as stored:
            np.testing.assert_array_equal(stored["array_A"], inputs["A"] + inputs["B"] + np.array([0, 0, more, 0]))
            np.testing.assert_array_equal(stored["array_B"], inputs["B"])


def test_the_last_reference_counts(library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reports = told(library, tmp_path, monkeypatch, job("plain", Keep.REFERENCE), job("plain", Keep.DIFFERENCE),
                   job("other", Keep.DIFFERENCE), job("other", Keep.REFERENCE), job("other", Keep.DIFFERENCE),
                   job("plain", Keep.DIFFERENCE))
    assert [bool(r["difference"]) for r in reports] == [False, False, True, False, False, True]
    assert reports[2]["difference"].startswith("A[2] is ")
    assert not any(r["stored"] for r in reports)
    assert not list(tmp_path.iterdir())


def test_a_write_outside_is_told_beside_what_else_is_found(library: str, tmp_path: Path,
                                                           monkeypatch: pytest.MonkeyPatch) -> None:
    (report,) = told(library, tmp_path, monkeypatch, job("stray"))
    assert report == {"job": "wrote outside B", "stored": True, "difference": ""}


def test_a_tolerance_and_exact_sums_are_of_their_jobs(library: str, tmp_path: Path,
                                                      monkeypatch: pytest.MonkeyPatch) -> None:
    reference = job("plain", Keep.REFERENCE)
    compared = [job("rounded", Keep.DIFFERENCE, tolerance=t) for t in (0.0, 1e-3)]
    for recipe in ("dominant", WHOLE):
        compared += [job("zeros", Keep.REFERENCE, recipe=recipe), job("signs", Keep.DIFFERENCE, recipe=recipe)]
    found = [r["difference"] for r in told(library, tmp_path, monkeypatch, reference, *compared)]
    assert [bool(d) for d in found] == [False, True, False, False, True, False, False]
    assert found[4] == "A[0] is -0.0 instead of 0.0"


def test_instances_are_stored_and_too_many_are_no_result(library: str, tmp_path: Path,
                                                         monkeypatch: pytest.MonkeyPatch) -> None:
    told(library, tmp_path, monkeypatch, job("talks", n=2, trace_size=8))
    with np.load(tmp_path / "0.npz") as stored:
        assert stored["records"].tolist() == [1, 2, 0, 2, 1, 2, 1, 2]
    with pytest.raises(SystemExit, match="talks reported 8 numbers"):
        told(library, tmp_path, monkeypatch, job("talks", n=2, trace_size=7))


def test_scalars_have_the_width_of_their_types(library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"int8": -100, "uint16": 60000, "int64": 1 << 40, "float32": 1.25, "float64": -2.5}
    arguments = [{"name": n, "dtype": n, "value": v, "shape": []} for n, v in given.items()]
    arguments.append({"name": "A", "dtype": "float64", "value": None, "shape": [5]})
    told(library, tmp_path, monkeypatch, job("numbers", arguments=arguments))
    with np.load(tmp_path / "0.npz") as stored:
        assert stored["array_A"].tolist() == list(given.values())
    for name, ctype in SCALARS.items():
        kind = np.dtype(name)
        assert np.ctypeslib.as_ctypes_type(kind) is ctype


@pytest.mark.parametrize(("left", "right", "tolerance", "equal"), [
    (0.0, -0.0, 0, False), (0.0, -0.0, 1e-3, True), (NAN, -NAN, 0, True), (NAN, 1.0, 0, False), (INF, -INF, 0, False),
    (INF, NAN, 1e-3, True), (INF, 1e300, 1e-3, False), (1.0, NAN, 1e-3, False), (1.0, INF, 1e-3, False),
    (1e-5, 2e-4, 1e-3, True), (1.0, 1.0 + 2**-52, 0, False)])
def test_two_floats(left: float, right: float, tolerance: float, equal: bool) -> None:
    for a, b in ((left, right), (right, left)):
        assert (differences({"A": np.array([a])}, {"A": np.array([b])}, tolerance) == "") == equal


def test_an_element_of_several_dimensions_and_a_scalar_are_named() -> None:
    right = {"A": np.zeros((2, 3), "int8"), "s": np.array(5, "uint8")}
    left = {"A": np.array([[0, 0, 0], [0, 7, 9]], "int8"), "s": np.array(6, "uint8")}
    assert differences(right, left) == "A[1][1] is 7 instead of 0"
    assert differences({"s": right["s"]}, left) == "s is 6 instead of 5"
    assert differences({}, left) == ""
    assert differences({"A": np.zeros((0, 3))}, {"A": np.zeros((0, 3))}, 1e-3) == ""
