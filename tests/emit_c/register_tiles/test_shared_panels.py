"""Panels that all threads share: what is moved in front of a parallel loop, what stays, and that sums are right."""

from __future__ import annotations

import ctypes
import itertools
import threading
from pathlib import Path

import numpy as np
import pytest

from polysched.emit_c import CSource, EmitOptions, emit, splice
from polysched.emit_c.loop_ir.loops import Packed
from polysched.emit_c.loop_ir.traversal import walk_nodes
from polysched.target.target import Target
from polysched.tiling import TilingOptions, tile
from tests.emit_c.compiled import load
from tests.emit_c.nodes import for_loops, panels
from tests.schedules import pluto_of

MACHINE = Target(vector_bits=128, vector_registers=16, cores=2)
EDGES = (16, 48, 8)
HEAD = "void f(int n, int m, int l, {arrays}) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
PRODUCT = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) for (int k = 0; k < l; k++) C[i][j] += {term};"
# Arrays, statements, the arrays packed once and those packed per tile.
PROGRAMS = {
    "product": ("float C[n][m], float A[n][l], float B[l][m]", PRODUCT.format(term="A[i][k] * B[k][j]"), "B", "A"),
    "second operand transposed": (
        "double C[n][m], double A[n][l], double B[m][l]", PRODUCT.format(term="A[i][k] * B[j][k]"), "B", "A"),
    "an operand that an outer loop changes": (
        "double C[n][n], double A[n][n], double B[n][n]",
        "for (int t = 0; t < 3; t++) { " + PRODUCT.format(term="A[i][k] * B[k][j]").replace("< m", "< n").replace(
            "< l", "< n") + " for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"
        " B[i][j] = B[i][j] * 0.5 + C[j][i] * 0.25; }", "B", "A"),
    "an operand of its own per iteration": (
        "float C[3][n][m], float A[3][n][l], float B[3][l][m]",
        "for (int b = 0; b < 3; b++) " + PRODUCT.replace("C[i]", "C[b][i]").format(term="A[b][i][k] * B[b][k][j]"),
        "", "AB"),
    "sums that start beside a loop that may not run": (
        "float C[n][m], float A[n][64], float B[64][m]", "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) { "
        "C[i][j] = 0.5f; for (int k = 0; k < l; k++) C[i][j] += A[i][k] * B[k][j]; }", "B", "A"),
}
FIXED = {"n": 67, "m": 101, "l": 35}


def emitted(name: str, *, fixed: bool = False, **options: object) -> tuple[str, CSource]:
    arrays, body, *_ = PROGRAMS[name]
    text = HEAD.format(arrays=arrays, body=body)
    if fixed:
        text = text.replace("int n, int m, int l, ", "")
        text = "".join(f"#define {size} {value}\n" for size, value in FIXED.items()) + text
    sizes = "auto" if "t = 0" in body else (1, *EDGES) if "b = 0" in body else EDGES
    tiled = tile(pluto_of(text), TilingOptions(target=MACHINE, sizes=sizes))
    return text, emit(tiled, options=EmitOptions(vector_bits=128, **options))


def arguments(heads: str, sizes: dict[str, int]) -> list[np.ndarray]:
    """Small multiples of an eighth, so that sums are exact in any order."""
    generator = np.random.default_rng(sorted(sizes.values()))
    arrays = []
    for head in heads.split(","):
        shape = tuple(eval(part.rstrip("] "), dict(sizes)) for part in head.split("[")[1:])
        values = generator.integers(-30, 30, size=shape) / 8
        arrays.append(values.astype(np.float64 if "double" in head else np.float32))
    return arrays


def result(function, sizes: list[int], arrays: list[np.ndarray]) -> list[bytes]:
    copies = [a.copy() for a in arrays]
    function(*sizes, *(ctypes.c_void_p(c.ctypes.data) for c in copies))
    return [c.tobytes() for c in copies]


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_a_parallel_loop_leaves_alone_is_packed_once(name: str, tmp_path: Path) -> None:
    heads, _, once, per_tile = PROGRAMS[name]
    text, source = emitted(name)
    found = panels(source.loops).values()
    shared, own = (sorted(p.name[0] for p in found if bool(p.shared) is by_all) for by_all in (True, False))
    assert ("".join(shared), "".join(own)) == (once, per_tile), source.text
    for panel in found:
        assert f"/* {panel.name[0]}, packed {'once for all threads ' if panel.shared else ''}*/" in source.text
    original, ours = load(text, tmp_path, strict=False).f, load(splice(text, [source]), tmp_path).f
    around = itertools.product((1, 16, 35), (47, 48, 97), (7, 9, 16))
    for sizes in [*around, (64, 96, 0), (0, 5, 4), (5, 0, 4), (90, 100, 40)]:
        arrays = arguments(heads, dict(zip("nml", sizes, strict=True)))
        assert result(ours, list(sizes), arrays) == result(original, list(sizes), arrays), f"{sizes}\n{source.text}"


SANITIZED = ("-O1", "-fsanitize=undefined", "-fno-sanitize=bounds", "-fno-sanitize-recover")  # prefetches pass rows


@pytest.mark.parametrize(("name", "flags"), [
    ("product", SANITIZED), ("second operand transposed", ("-O2",))])
def test_panels_of_known_size(name: str, flags: tuple[str, ...], tmp_path: Path) -> None:
    text, source = emitted(name, fixed=True)
    assert "ul * 3 * 5 + 63) / 64 * 64);" in source.text, source.text
    original = load(text, tmp_path, strict=False).f
    ours = load(splice(text, [source]), tmp_path, flags=flags).f
    arrays = arguments(PROGRAMS[name][0], FIXED)
    assert result(ours, [], arrays) == result(original, [], arrays)


def test_rows_that_are_cut_off_end_in_zeros(tmp_path: Path) -> None:
    """The register tile at the edge is computed in full; what it reads behind the end must be a number."""
    text, source = emitted("product", fixed=True)
    poisoned = splice(text, [source]).replace("void *aligned_alloc(unsigned long, unsigned long);", "").replace(
        "void free(void *);", "")
    poisoned = ("#include <stdlib.h>\n#include <string.h>\n#include <fenv.h>\n"
                "static void *filled(unsigned long a, unsigned long n) "
                "{ void *p = aligned_alloc(a, n); memset(p, 0x7f, n); return p; }\n#define aligned_alloc filled\n"
                + poisoned + "int wrong(void) { return fetestexcept(FE_OVERFLOW); }\n")
    library = load(poisoned, tmp_path, strict=False)
    arrays = arguments(PROGRAMS["product"][0], FIXED)
    (c, *_) = arrays
    expected = c + arrays[1] @ arrays[2]
    assert np.array_equal(np.frombuffer(result(library.f, [], arrays)[0], np.float32).reshape(c.shape), expected)
    assert not library.wrong(), "0x7f7f7f7f is a large number: products with it overflow"


def test_calls_at_the_same_time_have_a_panel_each(tmp_path: Path) -> None:
    text, source = emitted("product", fixed=True, openmp=False)
    function = load(splice(text, [source]), tmp_path).f
    inputs = [arguments(PROGRAMS["product"][0], FIXED) for _ in range(4)]
    for number, arrays in enumerate(inputs):
        arrays[2] += number
    expected = [result(function, [], arrays) for arrays in inputs]
    found: dict[int, list[list[bytes]]] = {}

    def repeat(number: int) -> None:
        found[number] = [result(function, [], inputs[number]) for _ in range(20)]
    threads = [threading.Thread(target=repeat, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(found[number] == [expected[number]] * 20 for number in range(4))


def test_without_threads_there_is_no_team_for_the_copy() -> None:
    assert "#pragma omp" not in emitted("product", openmp=False)[1].text


# A thread has columns to itself, and its tiles of rows one after the other read the same of B.
STARTED = ("for (int j = 0; j < m; j++) for (int i = 0; i < n; i++) { C[i][j] = 1; for (int k = 0; k < 24; k++) "
           "C[i][j] += A[i][k] * B[k][j]; C[i][j] = C[i][j] * 0.5f; }")


def test_a_panel_that_the_tiles_inside_leave_alone_is_packed_in_front_of_them(tmp_path: Path) -> None:
    heads = "float C[n][m], float A[n][24], float B[24][m]"
    text = HEAD.format(arrays=heads, body=STARTED).replace("int l, ", "")
    tiled = tile(pluto_of(text), TilingOptions(target=MACHINE, sizes=(48, 18, 24)))
    source = emit(tiled, options=EmitOptions(vector_bits=128))
    of_b, of_a = (n for n in walk_nodes(source.loops) if isinstance(n, Packed))
    assert (of_b.panel.name, of_a.panel.name) == ("B_panel", "A_panel")
    assert "i_tile" in {loop.variable for loop in for_loops(of_b.body)} - {loop.variable for loop in for_loops(of_a)}
    original, ours = load(text, tmp_path, strict=False).f, load(splice(text, [source]), tmp_path).f
    for n, m in itertools.product((0, 1, 17, 18, 19, 37), (0, 1, 47, 48, 49, 97)):
        arrays = arguments(heads, {"n": n, "m": m})
        assert result(ours, [n, m], arrays) == result(original, [n, m], arrays), f"{n} x {m}\n{source.text}"


@pytest.mark.parametrize(("extent", "on_stack"), [(12, True), (80, False)])
def test_a_shared_panel_of_a_small_array_is_no_allocation(tmp_path: Path, extent: int, on_stack: bool) -> None:
    """An allocation per call costs more than the small products that such functions are called for."""
    text = HEAD.format(arrays=f"double C[n][{extent}], double A[n][{extent}], double B[{extent}][{extent}]",
                       body=PRODUCT.replace("< m", f"< {extent}").replace("< l", f"< {extent}").format(
                           term="A[i][k] * B[j][k]"))
    tiled = tile(pluto_of(text), TilingOptions(target=MACHINE, sizes=(16, extent, extent)))
    source = emit(tiled, options=EmitOptions(vector_bits=128))
    assert panels(source.loops)["B_panels"].shared
    assert ("aligned_alloc" not in source.text) is on_stack
    n = 67
    C, A, B = (np.random.default_rng(4).integers(-30, 30, shape) / 8 for shape in (
        (n, extent), (n, extent), (extent, extent)))
    expected = C + A @ B.T
    load(splice(text, [source]), tmp_path).f(n, n, n, *(ctypes.c_void_p(a.ctypes.data) for a in (C, A, B)))
    np.testing.assert_array_equal(C, expected)
