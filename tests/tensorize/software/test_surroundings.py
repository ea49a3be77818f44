"""Loops that carry dependences between a matched statement and others stay around the instruction's nest."""

import ctypes
import re

import islpy as isl
import numpy as np
import pytest

from polysched.pipeline import transform_file
from polysched.pipeline.options import PipelineOptions
from polysched.scop import from_c_text
from polysched.scop.interpreter import execute
from polysched.target import find_compiler, host
from polysched.tensorize.decision import decide
from polysched.tensorize.options import TensorizeOptions
from polysched.tensorize.software.surroundings import inside_loops, kept_loop, surroundings

STEP = """  for (int m = 0; m < 3; m++) for (int i = 0; i < n; i++) y[m][i] = b[i];
  for (int m = 0; m < 3; m++) for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) y[m][i] += h[t][m][j] * W[i][j];
  for (int m = 0; m < 3; m++) for (int i = 0; i < n; i++) h[t + 1][m][i] = y[m][i] & 255;
"""
PROGRAMS = {   # each with the number of loops around the operands that are packed ahead of others
    "fused loops, cleared sum": (0, """for (int t = 0; t < 4; t++)
  for (int m = 0; m < 3; m++)
    for (int i = 0; i < n; i++) {
      y[m][i] = 0;
      for (int j = 0; j < n; j++) y[m][i] += h[t][m][j] * W[i][j];
      h[t + 1][m][i] = y[m][i] & 255;
    }"""),
    "weights that a step changes, a value of the loop in them": (
        None, f"for (int t = 0; t < 4; t++) {{\n{STEP}".replace("W[i][j]", "(int8_t)(W[i][j] + t)")
        + "  for (int i = 0; i < n; i++) W[i][t] = y[1][i] >> 9;\n}"),
    "layers of weights": (1, f"""for (int l = 0; l < 3; l++) {{
  for (int i = 0; i < n; i++) h[0][1][i] = h[4][2][i] + l;
  for (int t = 0; t < 4; t++) {{\n{STEP.replace("W[", "V[l][")}  }}
  for (int i = 0; i < n; i++) b[i] += h[4][0][i];
}}"""),
    "a triangle that grows": (0, """for (int t = 0; t < n; t++) {
  for (int i = 0; i <= t; i++) y[0][i] = b[i];
  for (int i = 0; i <= t; i++) for (int j = 0; j < t; j++) y[0][i] += h[0][0][j] * W[i][j];
  for (int i = 0; i <= t; i++) h[0][0][i] = y[0][i] & 255;
}"""),
    "downwards, every second, some without the statement": (None, "for (int t = 4; t >= 0; t -= 2) {\n" + STEP.replace(
        "y[m][i] +=", "if (t < 3) y[m][i] +=").replace("h[t]", "h[t + 2]").replace("h[t + 1]", "h[t]") + "}"),
    "two buffers of sums": (0, """for (int t = 0; t < 4; t++) {
  for (int i = 0; i < n; i++) y[(t + 1) % 2][i] = b[i];
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) y[(t + 1) % 2][i] += h[t % 2][0][j] * W[i][j];
  for (int i = 0; i < n; i++) h[(t + 1) % 2][0][i] = y[(t + 1) % 2][i] & 255;
}"""),
    "two buffers, zero points": (0, f"for (int t = 0; t < 4; t++) {{\n{STEP}}}".replace(
        "h[t + 1]", "h[(t + 1) % 2]").replace("h[t][m][j] * W[i][j]", "(h[t % 2][m][j] - b[t]) * (W[i][j] - 300)")),
}
HEAD = "void {name}(int32_t y[3][n], uint8_t h[8][3][n], int8_t W[n][n], int32_t b[n], int8_t V[3][n][n])"
N = 19
SHAPES = {"y": ((3, N), np.int32), "h": ((8, 3, N), np.uint8), "W": ((N, N), np.int8), "b": ((N,), np.int32),
          "V": ((3, N, N), np.int8)}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, list[ctypes.CDLL]]:
    """The programs with the instruction, and both versions as libraries."""
    folder = tmp_path_factory.mktemp("loops_around")
    text = f"#include <stdint.h>\nenum {{ n = {N} }};\n" + "".join(
        f"{HEAD.format(name=f'f{i}')} {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
        for i, (_, body) in enumerate(PROGRAMS.values()))
    path = folder / "programs.c"
    path.write_text(text)
    done = transform_file(path, PipelineOptions(
        scheduler="original", tile="off", parallel=False, verify_instructions="never",
        tensorize=TensorizeOptions(intrinsic="vpdpbusd")))
    libraries = []
    for name, source in (("before", text), ("after", done.text)):
        (folder / f"{name}.c").write_text(source)
        compiled = find_compiler().run(["-O1", "-fwrapv", "-w", "-shared", "-fPIC", str(folder / f"{name}.c"), "-o",
                                        str(folder / f"{name}.so"), "-lm"])
        assert compiled.returncode == 0, compiled.stderr
        libraries.append(ctypes.CDLL(str(folder / f"{name}.so")))
    return done.text, libraries


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_nest_inside_is_computed_by_the_instruction(name: str, built: tuple[str, list[ctypes.CDLL]]) -> None:
    text, libraries = built
    number = list(PROGRAMS).index(name)
    own = text[text.index(f" f{number}("):text.index(f" f{number + 1}(") if number + 1 < len(PROGRAMS) else None]
    assert re.search(r"^ *(if \(.*\) )?polysched_S\d+_\d+\(.*[lt]\);$", own, re.MULTILINE)
    ahead = own[:own.index("polysched_S")].count("for (int ") if "_prepare_" in own else None
    assert ahead == PROGRAMS[name][0]
    chooser = np.random.default_rng(3)
    arrays = {a: chooser.integers(max(np.iinfo(kind).min, -300), min(np.iinfo(kind).max, 300), shape).astype(kind)
              for a, (shape, kind) in SHAPES.items()}
    copies = [{a: v.copy() for a, v in arrays.items()} for _ in libraries]
    for library, mine in zip(libraries, copies, strict=True):
        for _ in range(2):   # buffers that stay from one call to the next
            getattr(library, f"f{number}")(*(ctypes.c_void_p(v.ctypes.data) for v in mine.values()))
            mine["W"] += 1
    for a, expected in copies[0].items():
        np.testing.assert_array_equal(copies[1][a], expected, err_msg=a)


def test_what_can_leave_the_loop_leaves_it() -> None:
    """The product with the inputs waits for nothing: it is one product over all steps, and only the other is tied."""
    scop = from_c_text("""#include <stdint.h>
void f(int32_t y[6][33], uint8_t h[7][33], uint8_t x[6][33], int8_t W[33][33], int8_t U[33][33]) {
#pragma scop
  for (int t = 0; t < 6; t++) {
    for (int i = 0; i < 33; i++) for (int j = 0; j < 33; j++) y[t][i] += U[i][j] * x[t][j];
    for (int i = 0; i < 33; i++) for (int j = 0; j < 33; j++) y[t][i] += W[i][j] * h[t][j];
    for (int i = 0; i < 33; i++) h[t + 1][i] = y[t][i] & 255;
  }
#pragma endscop
}
""")
    options = TensorizeOptions(intrinsic="vpdpbusd")
    first = decide(scop, options, host())
    assert first.program is not None
    assert first.program.match.fragment.statement.name == "S0"
    assert not first.program.around
    assert first.program.after is not None
    second = decide(first.program.after, options, host())
    assert second.program is not None
    assert [a.loop.name for a in second.program.around] == ["t"]
    assert "inside loop t" in second.reasons[0]


def test_one_iteration_of_a_loop_is_a_program_with_its_iterator_as_a_parameter() -> None:
    body = "for (int t = 1; t < n; t++) { for (int i = 0; i < t; i++) y[0][i] += h[0][1][i] * t; b[t] = y[0][0]; }"
    scop = from_c_text(f"#include <stdint.h>\nenum {{ n = 9 }};\n{HEAD.format(name='f')} {{\n#pragma scop\n{body}\n"
                       "#pragma endscop\n}\n")
    assert [a.statements for a in surroundings(scop, "S0")] == [("S0", "S1"), ("S0",), ("S0",)]
    loop = kept_loop(scop, ["S0", "S1"], 0, descending=False, sizes={}, taken=())
    inner = inside_loops(scop, (loop,), {})
    assert [p.name for p in inner.parameters] == ["t"]
    assert inner.context.is_equal(isl.Set("[t] -> { : 1 <= t <= 8 }"))
    assert [s.domain.to_str() for s in inner.statements] == [
        "[t] -> { S0[i] : t <= 8 and 0 <= i < t }", "[t] -> { S1[] : 0 < t <= 8 }"]
    arrays = {"y": np.arange(27, dtype=np.int32).reshape(3, 9), "h": np.arange(216, dtype=np.uint8).reshape(8, 3, 9),
              "b": np.zeros(9, np.int32)}
    execute(inner, {"t": 2}, arrays)
    assert arrays["y"][0, :3].tolist() == [0 + 2 * 9, 1 + 2 * 10, 2]
    assert arrays["b"].tolist() == [0, 0, 18, 0, 0, 0, 0, 0, 0]
