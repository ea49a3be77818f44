"""The C of accelerators computes what the original does; a move that is missing, or a life that is too short, shows."""

from __future__ import annotations

import re
from dataclasses import replace

import islpy as isl
import pytest

from polysched.errors import UnsupportedScopError
from polysched.gpu.scratchpad import ScratchpadMapping
from polysched.gpu.scratchpad.placement import place
from polysched.gpu.scratchpad.plan import Home
from polysched.target.scratchpads import SCRATCHPADS
from tests.gpu.scratchpad.accelerated import chain, emitted, is_same, mapped, norm, product, program, read

MOVE = re.compile(r"^\s*(?P<move>[\w\[\]\-+() *]+\] = [\w\[\]\-+() *]+\];)$", re.MULTILINE)


@pytest.mark.parametrize("target", SCRATCHPADS)
@pytest.mark.parametrize("edges", [(), (16, 16), (16, 48), (17, 33)])
def test_products_of_any_tile_are_those_of_the_original(target: str, edges: tuple[int, ...]) -> None:
    text = product(33, 50, 37, integers=target == "gemmini")
    assert is_same(text, mapped(text, target, tile=edges))


@pytest.mark.parametrize("double_buffering", [True, False])
@pytest.mark.parametrize("share", [True, False])
def test_a_chain_is_that_of_the_original(double_buffering: bool, share: bool) -> None:
    text = chain(40, 33, 20, 18)
    mapping = mapped(text, double_buffering=double_buffering, share=share, tile=(16,))
    assert is_same(text, mapping)
    assert len(mapping.groups) in ((1, 2) if share else (2,))


def test_rows_on_the_vector_unit() -> None:
    text = norm(19, 23)
    for tile in ((), (1,), (7,), (19,)):
        assert is_same(text, mapped(text, tile=tile))


def test_a_sum_that_starts_from_what_was_there() -> None:
    text = program("float C[20][20], const _Float16 A[20][20], const _Float16 B[20][20]",
                   "for (int i = 0; i < 20; i++) for (int j = 0; j < 20; j++) for (int k = 0; k < 20; k++)\n"
                   "  C[i][j] += (float)A[i][k] * (float)B[k][j];")
    mapping = mapped(text, tile=(16, 16))
    assert "sums of S0" in str([run.instruction.name for run in mapping.timeline.runs])
    assert is_same(text, mapping)


POWER = program("float h[18][20], _Float16 g[18][20], const _Float16 W[18][18]", """
for (int t = 0; t < 3; t++) {
  for (int i = 0; i < 18; i++) for (int b = 0; b < 20; b++) { h[i][b] = 0.0f;
    for (int k = 0; k < 18; k++) h[i][b] += (float)W[i][k] * (float)g[k][b]; }
  for (int i = 0; i < 18; i++) for (int b = 0; b < 20; b++) g[i][b] = (_Float16)(h[i][b] * 0.2f); }""")
CLEARED_ONCE = program("float C[18][20], float D[18][20], const _Float16 A[3][18][17], const _Float16 B[3][17][20]", """
for (int t = 0; t < 3; t++) {
  for (int i = 0; i < 18; i++) for (int j = 0; j < 20; j++) if (t == 0) C[i][j] = 0.0f;
  for (int i = 0; i < 18; i++) for (int j = 0; j < 20; j++) for (int k = 0; k < 17; k++)
    C[i][j] += (float)A[t][i][k] * (float)B[t][k][j];
  for (int i = 0; i < 18; i++) for (int j = 0; j < 20; j++) D[i][j] = D[i][j] * 0.5f + C[i][j]; }""")


@pytest.mark.parametrize(("text", "cleared"), [(POWER, "S0"), (CLEARED_ONCE, "")])
def test_products_in_a_loop_of_the_host(text: str, cleared: str) -> None:
    mapping = mapped(text, tile=(16,))
    (cube,) = (cube.stage for own in mapping.groups.values() for cube in own.plan.cubes.values())
    assert cube.cleared == cleared   # at every iteration, or not by the cube
    assert is_same(text, mapping)


def test_elements_that_move_at_two_speeds() -> None:
    text = program("float y[39], const float x[20]", "for (int i = 0; i < 39; i++) y[i] = x[i / 2] + x[i / 3];")
    assert is_same(text, mapped(text))


@pytest.mark.parametrize(("target", "text"), [
    ("davinci", product(20, 18, 40)), ("gemmini", product(20, 18, 40, integers=True)),
    ("davinci", norm(9, 8))])
def test_every_move_is_needed(target: str, text: str) -> None:
    mapping = mapped(text, target, tile=(16,))
    whole = emitted(text, mapping)
    moves = list(MOVE.finditer(whole))
    assert len(moves) >= 3
    for own in moves:
        assert not is_same(text, mapping, lambda c, own=own: c[:own.start("move")] + ";" + c[own.end("move"):]), own[0]


@pytest.mark.parametrize("array", ["X", "m", "v"])
def test_a_life_that_ends_too_early_shows(array: str) -> None:
    text = norm(16, 16)
    mapping = mapped(text, double_buffering=False, tile=(16,))
    assert is_same(text, mapping)
    assert not is_same(text, _shortened(mapping, array))


def _shortened(mapping: ScratchpadMapping, array: str) -> ScratchpadMapping:
    """The life of one buffer ends with its first stage, in a memory as small as then suffices."""
    name, placed = next(iter(mapping.groups.items()))
    homes = {own: replace(home, buffer=replace(home.buffer, last=home.buffer.first)) if own == array else home
             for own, home in placed.plan.homes.items()}
    plan = replace(placed.plan, homes=homes)
    again = place(mapping.target, plan.buffers, where="a test")
    return replace(mapping, groups={name: replace(placed, plan=plan, placement=again)})


def test_what_is_not_loaded_or_stored_shows() -> None:
    text = norm(16, 16)
    mapping = mapped(text, tile=(8,))
    name, placed = next(iter(mapping.groups.items()))
    for array, home in placed.plan.homes.items():
        for field in ("loaded", "stored"):
            elements: isl.Set = getattr(home, field)
            if elements.is_empty():
                continue
            changed: Home = replace(home, **{field: isl.Set.empty(elements.get_space())})
            plan = replace(placed.plan, homes={**placed.plan.homes, array: changed})
            assert not is_same(text, replace(mapping, groups={name: replace(placed, plan=plan)})), (array, field)


def test_other_sizes_run_the_original_code() -> None:
    text = program("int n, float x[n], const float y[n]", "for (int i = 0; i < n; i++) x[i] = 2.0f * y[i] + x[i];")
    mapping = mapped(text, sizes={"n": 21})
    whole = emitted(text, mapping)
    assert "if (n == 21)" in whole
    assert is_same(text, mapping, sizes={"n": 21})
    assert is_same(text, mapping, sizes={"n": 20})


def test_loops_of_the_host_stay_outside() -> None:
    text = program("float A[20], float B[20]",
                   "for (int t = 0; t < 5; t++) { for (int i = 1; i < 19; i++) B[i] = A[i - 1] + A[i + 1];\n"
                   "for (int i = 1; i < 19; i++) A[i] = B[i]; }")
    for target in SCRATCHPADS:
        assert is_same(text, mapped(text, target, tile=(7,)))


def test_names_of_the_emitted_c_are_refused() -> None:
    text = program("float polysched_tile0[9]", "for (int i = 0; i < 9; i++) polysched_tile0[i] = 1.0f;")
    with pytest.raises(UnsupportedScopError, match="polysched_tile0 is a name"):
        emitted(text, mapped(text))


def test_arrays_of_the_region_stay_on_the_chip() -> None:
    text = program("float y[12][9], const float x[12][9]",
                   "for (int i = 0; i < 12; i++) { float s = 0.0f; for (int j = 0; j < 9; j++) s += x[i][j];\n"
                   "for (int j = 0; j < 9; j++) y[i][j] = x[i][j] / s; }")
    for target in SCRATCHPADS:
        mapping = mapped(text, target)
        assert is_same(text, mapping)
    assert read(text).statements


def test_a_scalar_of_the_region_is_a_variable() -> None:
    text = program("float x[20], float out[1]",
                   "float s = 0.0f; for (int i = 0; i < 20; i++) s += x[i]; out[0] = s;")
    for target in SCRATCHPADS:
        assert is_same(text, mapped(text, target))


@pytest.mark.parametrize("nothing", ["", "C[t][i][j] = 0;"])
@pytest.mark.parametrize("target", SCRATCHPADS)
def test_a_loop_of_the_host_runs_the_cube_once_per_iteration(target: str, nothing: str) -> None:
    half, real, cast = ("_Float16", "float", "(float)") if target == "davinci" else ("int8_t", "int32_t", "")
    text = program(
        f"{real} C[4][18][20], {real} D[18][20], const {half} A[4][18][17], const {half} B[17][20]",
        f"""for (int t = 1; t < 4; t++) {{
  for (int i = 0; i < 18; i++) for (int j = 0; j < 20; j++) {{ {nothing}
    for (int k = 0; k < 17; k++) C[t][i][j] += {cast}A[t][i][k] * {cast}B[k][j]; }}
  for (int j = 0; j < 20; j++) for (int i = 1; i < 18; i++) D[i][j] = D[i - 1][j] + C[t][i][j]; }}""")
    for tile in ((), (7,)):
        mapping = mapped(text, target, share=False, tile=tile)
        assert is_same(text, mapping)
        assert mapping.timeline.work == 18 * 20 * 17 * 3


def test_an_old_sum_of_negative_zero_stays_one() -> None:
    text = program("float C[18][20], _Float16 A[18][17], _Float16 B[17][20]", """\
for (int i = 0; i < 18; i++) for (int j = 0; j < 20; j++) C[i][j] = -0.0f;
for (int i = 0; i < 18; i++) for (int k = 0; k < 17; k++) A[i][k] = -0.0f;
for (int k = 0; k < 17; k++) for (int j = 0; j < 20; j++) B[k][j] = 1.0f;
for (int i = 0; i < 18; i++) for (int j = 0; j < 20; j++) for (int k = 0; k < 17; k++)
  C[i][j] += (float)A[i][k] * (float)B[k][j];""")
    mapping = mapped(text)
    assert "by davinci_cube" in str(mapping)
    assert is_same(text, mapping)


def test_a_nest_that_never_runs_at_these_sizes() -> None:
    text = program("int n, float x[9], float y[9]", "for (int i = 3; i < n; i++) x[i] = 1.0f;\n"
                   "for (int i = 0; i < n; i++) y[i] = 2.0f * y[i];")
    for target in SCRATCHPADS:
        mapping = mapped(text, target, sizes={"n": 2})
        assert is_same(text, mapping, sizes={"n": 2})
        assert is_same(text, mapping, sizes={"n": 5})
