"""Loops that stay around an instruction whose sizes only the running program knows, beside the region as it stood."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path

import numpy as np
import pytest

from polysched.pipeline import transform_file
from polysched.pipeline.options import PipelineOptions
from polysched.scop import from_c_text
from polysched.target import find_compiler
from polysched.tensorize.options import TensorizeOptions
from polysched.tensorize.software.surroundings import shared_loop
from tests.tensorize.imagined_units import DESCRIBED

UNIT = DESCRIBED.format(parameters="int32_t Y[4], const int16_t X[4], const int16_t W[1]",
                        body="for (int i = 0; i < 4; i++) Y[i] += X[i] * W[0];", names="YXW")
STEP = "for (int i = 0; i < m; i++) for (int k = 0; k < m; k++) C[{}][i] += A[i][k] * x[k]; "
BACK = "for (int i = 0; i < m; i++) x[i] = (int16_t)(C[{}][i] >> 3); "
PROGRAMS = {
    "upwards": f"for (int t = 0; t < n; t++) {{ {STEP.format('t')} {BACK.format('t')} }}",
    "downwards": f"for (int t = n - 1; t >= 0; t--) {{ {STEP.format('t')} {BACK.format('t')} }}",
    "from a size on": f"for (int t = m; t < n; t++) {{ {STEP.format('t')} {BACK.format('t')} }}",
    "in steps": f"for (int t = 0; t < n; t += 2) {{ {STEP.format('t')} {BACK.format('t')} }}",
    "in steps downwards": f"for (int t = n - 1; t >= 0; t -= 3) {{ {STEP.format('t')} {BACK.format('t')} }}",
    "with temporaries": "for (int t = 0; t < n; t++) { int s[m]; int last = 0; for (int i = 0; i < m; i++) { s[i] = 0; "
                        "for (int k = 0; k < m; k++) s[i] += A[i][k] * x[k]; C[t][i] = s[i]; } "
                        "for (int i = 0; i < m; i++) { last += s[i]; x[i] = (int16_t)((s[i] >> 3) + last); } }",
    "two loops": f"for (int s = 0; s < 3; s++) for (int t = 0; t < n; t++) {{ {STEP.format('t')} {BACK.format('t')} }}",
    "a statement around": f"for (int t = 0; t < n; t++) {{ x[0] = x[0] + t; {STEP.format('t')} {BACK.format('t')} }}"}
SIZES = ((1, 1), (3, 5), (4, 8), (9, 7), (2, 33), (17, 16), (6, 0), (0, 4))


def written(body: str, folder: Path) -> tuple[str, str]:
    """The file before and behind the transformation."""
    text = (f"#include <stdint.h>\nvoid f(int n, int m, int32_t C[n][m], int16_t A[m][m], int16_t x[m]) {{\n"
            f"#pragma scop\n{body}\n#pragma endscop\n}}\n")
    (folder / "program.c").write_text(text)
    (folder / "units.py").write_text(UNIT)
    done = transform_file(folder / "program.c", PipelineOptions(verify_instructions="never", tensorize=TensorizeOptions(
        intrinsic="unit", files=(str(folder / "units.py"),))))
    assert " by unit */" in done.text, done.regions[0].instructions
    assert any("inside the loop of" in line for line in done.regions[0].instructions)
    return text, re.sub(r"    if \(!\([^;]*\(double\)[^;]* >= [^;]*\)\) return 0;\n", "", done.text)   # paying or not


def library(text: str, path: Path) -> ctypes.CDLL:
    compiler = find_compiler()
    path.write_text(text)
    done = compiler.run(["-O1", "-fwrapv", "-w", "-shared", "-fPIC", *compiler.openmp_compile, str(path), "-o",
                         str(path.with_suffix(".so")), *compiler.openmp_link, "-lm"])
    assert not done.returncode, done.stderr
    return ctypes.CDLL(str(path.with_suffix(".so")))


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_iteration_computes_what_it_did(name: str, tmp_path: Path) -> None:
    texts = written(PROGRAMS[name], tmp_path)
    before, after = (library(text, tmp_path / f"{at}.c") for at, text in enumerate(texts))
    for n, m in SIZES:
        chooser, results = np.random.default_rng(n * m), []
        given = [chooser.integers(-(1 << 15), 1 << 15, shape).astype(dtype) for shape, dtype in (
            ((n, m), np.int32), ((m, m), np.int16), ((m,), np.int16))]
        for made in (before, after):
            own = [a.copy() for a in given]
            made.f(n, m, *(ctypes.c_void_p(a.ctypes.data) for a in own))
            results.append(own)
        for x, y in zip(*results, strict=True):
            np.testing.assert_array_equal(y, x, err_msg=f"{n} {m}")


def test_a_part_never_runs_the_whole_region(tmp_path: Path) -> None:
    """Not even where there is no memory for what it packs."""
    _, text = written(PROGRAMS["upwards"], tmp_path)
    assert text.count("for (int t") <= 2   # the loop, and the region as it stood for other machines
    assert len(re.findall(r"if \(\w+_panels\)", text)) == text.count("/* no memory for a part of the region */")


@pytest.mark.parametrize(("body", "head"), [
    ("for (int t = 2; t < n; t++) { s[t] = 1; u[t] = 2; }", "for (int t = 2; t <= n - 1; t++) {"),
    ("for (int t = n; t >= m; t--) { s[t] = 1; u[t] = s[t]; }", "for (int t = n; t >= m; t--) {"),
    ("for (int t = 0; t < n; t++) s[t] = 1; for (int t = 0; t < n; t++) u[t] = 2;", None),
    ("for (int t = 0; t < n; t++) { s[t] = 1; if (t > 2) u[t] = 2; }", "for (int t = 0; t <= n - 1; t++) {"),
    ("for (int t = 1; t < n; t += 3) { s[t] = 1; u[t] = 2; }", "for (int t = 1; t <= n - 1; t += 3) {"),
    ("for (int t = n; t >= m; t -= 2) { s[t] = 1; u[t] = 2; }", "for (int t = n; t >= m; t -= 2) {"),
    ("for (int t = 0; t < n && t < 2 * m; t++) { s[t] = 1; u[t] = 2; }", None)])
def test_the_loop_that_all_statements_share(body: str, head: str | None) -> None:
    scop = from_c_text(f"void f(int n, int m, int s[n + 1], int u[n + 1]) {{\n#pragma scop\n{body}\n#pragma endscop\n"
                       "}\n")
    found = shared_loop(scop)
    assert (found and found.head) == head
    if found is not None:
        assert [s.depth for s in found.inside.statements] == [0, 0]
        assert found.inside.parameters[-1].name == found.name == "t"
        assert found.inside.source is not None
        assert not found.inside.source.whole
