"""The ablation: which constants are varied, where a limit stands, what a forked process gives back, and the table."""

import importlib.util
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from polysched.dependence import analyse
from polysched.emit_c.alternatives import crossover
from polysched.emit_c.nests import independent_rows, summed_rows
from polysched.pipeline.options import PipelineOptions
from polysched.pipeline.stages import analysed, scheduled
from polysched.scheduling import pluto
from polysched.scheduling.schedule import Schedule
from polysched.scop import from_c_file, from_c_text
from polysched.target import CacheLevel, Target
from polysched.tensorize import find_intrinsic
from polysched.tensorize.choice import executes_here
from polysched.tiling import TilingOptions, tile
from polysched.tiling.planning import block_orders
from polysched.tiling.planning.skewed_tiles import choose_skewed_tile

FILE = Path(__file__).parents[2] / "experiments" / "ablation" / "run.py"


def loaded() -> ModuleType:
    spec = importlib.util.spec_from_file_location("ablation_run", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module   # its dataclasses look themselves up
    spec.loader.exec_module(module)
    return module


ROOM = loaded()


def test_constants_that_are_read_vary_by_half_and_twice() -> None:
    found = list(ROOM.variants(Target(), {"costs.row_cycles"}, limits=False))
    assert [(v.constant, v.value) for v in found] == [("costs.row_cycles", 10), ("costs.row_cycles", 40)]


def test_limits_vary_but_for_budgets() -> None:
    found = {v.constant for v in ROOM.variants(Target(), set(), limits=True)}
    assert "emit_c.jammed_rows_of_several" in found
    assert "tiling.copy_operations" not in found


def test_a_limit_is_found_where_it_is_read() -> None:
    assert (independent_rows, "ROWS_OF_SEVERAL") in ROOM.places("emit_c", "jammed_rows_of_several")
    assert (summed_rows, "ROWS") not in ROOM.places("emit_c", "jammed_rows_of_several")   # a limit of its own
    assert ROOM.places("tiling", "longest_chain") == []   # asked of the record itself
    assert (block_orders, "LARGEST_PANEL_BYTES") in ROOM.places("tiling", "largest_panel_bytes")


def test_what_a_forked_process_changes_is_gone_with_it() -> None:
    before = independent_rows.ROWS_OF_SEVERAL

    def change() -> int:
        independent_rows.ROWS_OF_SEVERAL = 1
        return int(independent_rows.ROWS_OF_SEVERAL)
    assert ROOM.in_child(change) == 1
    assert before == independent_rows.ROWS_OF_SEVERAL


def test_a_forked_process_that_fails_is_an_error() -> None:
    def fail() -> None:
        raise SystemExit(3)
    with pytest.raises(ChildProcessError):
        ROOM.in_child(fail)


def test_costs_that_are_read_are_noted_and_change_nothing() -> None:
    scop = from_c_text("void f(int n, double *a, double *b) {\n#pragma scop\nfor (int i = 0; i < n; i++)\n"
                       "for (int j = 0; j < n; j++) a[i] += b[j] * b[i];\n#pragma endscop\n}\n")
    options = PipelineOptions(tensorize=None)
    schedule = scheduled(analysed(scop).dependences, options)
    program = ROOM.Program(scop, options, schedule)
    read, digest = ROOM._traced(program)
    assert {"costs.row_cycles", "costs.lane_operation_cycles"} <= set(read)
    assert digest == ROOM._digest(ROOM.emitted(schedule, options).text)
    assert ROOM._varied(program, ROOM.Variant("costs", "call_cycles", 2.0, 24)) == (digest, "")


def test_the_table_counts_kernels_whose_c_differs() -> None:
    def record(case: str, *changed: float) -> SimpleNamespace:
        return SimpleNamespace(case=case, values={"variants": [
            {"constant": "costs.row_cycles", "factor": factor, "value": 20 * factor, "changes": factor in changed}
            for factor in ROOM.FACTORS]})
    table = ROOM.table([record("gemm"), record("lu", 0.5), record("mvt", 0.5, 2.0)])
    assert [cell.strip() for cell in table.splitlines()[2].split("|")[1:-1]] == [
        "`costs.row_cycles`", "3", "2", "1", "-", "-", "lu, mvt"]


def test_what_a_constant_is_worth_is_the_time_of_the_c_that_it_gives() -> None:
    def record(seconds: float, *versions: str) -> SimpleNamespace:
        return SimpleNamespace(case="gemm", values={
            "variants": [{"constant": "costs.row_cycles", "factor": factor, "changes": True, "version": name}
                         for factor, name in zip(ROOM.FACTORS, versions, strict=True)],
            "times": [{"version": "shipped", "seconds": [1.0, 2.0, 9.0]},
                      {"version": "costs.row_cycles x 0.5", "seconds": [seconds, seconds, 0.5]}]})
    other = "costs.byte_cycles x 2"   # raced by nobody
    half = "costs.row_cycles x 0.5"
    records = [record(2.2, half, half), record(3.0, half, other)]
    assert ROOM.worth(records) == {"costs.row_cycles": {0.5: [1.1, 1.5], 2.0: [1.1]}}
    assert [cell.strip() for cell in ROOM.table(records).splitlines()[2].split("|")[5:7]] == ["1.10 to 1.50", "1.10"]


MACHINE = Target(vector_bits=256, vector_registers=16, cores=2, frequency_hz=2.4e9, caches=(
    CacheLevel(level=1, size_bytes=32 << 10, ways=8), CacheLevel(level=2, size_bytes=512 << 10, ways=8),
    CacheLevel(level=3, size_bytes=32 << 20, ways=16, shared_by=2)))
OPTIONS = PipelineOptions(tensorize=None, safe=True)


@cache
def scheduled_program(name: str) -> Schedule:
    return scheduled(analysed(from_c_file(ROOM.file_of(name)), vector_bytes=32).dependences, OPTIONS)


@cache
def choice(program: str, constant: str, factor: float) -> str:
    """The tiles of a program at another value of a constant; of a guarded one the condition of its code."""
    target = MACHINE
    if constant:
        shipped = getattr(MACHINE.costs, constant)
        target = replace(MACHINE, costs=replace(MACHINE.costs, **{constant: type(shipped)(shipped * factor)}))
    schedule = scheduled_program(program)
    if program.startswith("guarded"):
        source = ROOM.emitted(schedule, replace(OPTIONS, tiling=replace(OPTIONS.tiling, target=MACHINE)))
        return str(crossover.crossover(source, target).conditions)
    return str(tile(schedule, replace(OPTIONS.tiling_options(), target=target), alone=False).tree)


@pytest.mark.parametrize(("program", "constant", "factor"), [
    ("cut_blocks", "cut_block_share", 2.0), ("cut_blocks_in_place", "partial_block_slowdown", 0.5),
    ("channels_in_lanes", "transposed_cycles", 2.0), ("channels_in_lanes", "spread_cycles", 2.0),
    ("rows_in_place", "tlb_pages", 0.5), ("sweeps", "handed_over_share", 0.5),
    ("sweeps", "memory_bytes_per_cycle", 0.5),
    ("guarded_product", "team_start_seconds", 2.0), ("guarded_product", "barrier_seconds", 2.0),
    ("guarded_product", "allocation_seconds", 2.0), ("guarded_calls", "call_cycles", 2.0)])
def test_a_constant_that_no_kernel_depends_on_decides_about_a_program(program: str, constant: str,
                                                                      factor: float) -> None:
    assert choice(program, constant, factor) != choice(program, "", 1.0)


HANDED_ON = """void f(double a[40000], double b[40000], double c[40000]) {
#pragma scop
  for (int i = 0; i < 40000; i++) b[i] = 2.0 * a[i];
  for (int i = 0; i < 40000; i++) c[i] = 3.0 * b[i];
#pragma endscop
}"""


def test_what_a_cache_keeps_decides_about_fusion_before_the_experiment_varies_it() -> None:
    def tree(kept_share: float) -> str:
        own = replace(MACHINE, costs=replace(MACHINE.costs, kept_share=kept_share))
        options = PipelineOptions(fusion="cost")
        return str(scheduled(analysed(from_c_text(HANDED_ON)).dependences,
                             replace(options, tiling=replace(options.tiling, target=own))).tree)
    assert tree(0.25) == tree(0.5) != tree(1.0)


INSTRUCTED = Target(
    vector_bits=512, vector_registers=32, cores=2, frequency_hz=2.3e9,
    features=frozenset({"avx2", "fma", "avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512_vnni"}), caches=(
        CacheLevel(level=1, size_bytes=48 << 10, ways=12), CacheLevel(level=2, size_bytes=2 << 20, ways=16),
        CacheLevel(level=3, size_bytes=32 << 20, shared_by=2)))


@pytest.mark.parametrize(("name", "constant"), [
    ("bytes_product_any_size", "copied_element_cycles"), ("bytes_product_any_size", "copied_byte_cycles"),
    ("bytes_product_any_size", "team_worth"), ("bytes_windows", "turned_element_cycles"),
    ("bytes_triangle", "table_element_cycles"), ("bytes_rows", "added_element_cycles")])
def test_what_packing_for_an_instruction_costs_decides_about_a_program(name: str, constant: str) -> None:
    if not executes_here(find_intrinsic("vpdpbusd")):
        pytest.skip("this machine does not execute vpdpbusd, and no program is made for it")
    program = ROOM.Program(from_c_file(ROOM.file_of(name)), PipelineOptions(verify_instructions="never"))
    costs = replace(INSTRUCTED.costs, **{constant: getattr(INSTRUCTED.costs, constant) / 2})
    assert program.text(replace(INSTRUCTED, costs=costs)) != program.text(INSTRUCTED)


STEPS = """void heat(int T, int n, double a[restrict n][n], double b[restrict n][n]) {
#pragma scop
  for (int t = 0; t < T; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        b[i][j] = 0.2 * (a[i][j] + a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        a[i][j] = 0.2 * (b[i][j] + b[i - 1][j] + b[i + 1][j] + b[i][j - 1] + b[i][j + 1]);
  }
#pragma endscop
}"""


def test_how_long_runs_of_addresses_begin_decides_about_few_steps_over_much_data() -> None:
    tiled = tile(pluto(analyse(from_c_text(STEPS))), TilingOptions(target=INSTRUCTED, parameters={"T": 10, "n": 2000}))
    plan = tiled.bands[0].plan
    assert plan is not None
    own, longer = (choose_skewed_tile(plan.problem, replace(INSTRUCTED, costs=replace(
        INSTRUCTED.costs, run_start_bytes=factor * INSTRUCTED.costs.run_start_bytes))) for factor in (1, 2))
    assert own.edges < longer.edges


def test_the_time_of_an_unknown_statement_decides_where_the_model_ran_out_of_its_budget(
        monkeypatch: pytest.MonkeyPatch) -> None:
    schedule = scheduled_program("guarded_product")
    source = ROOM.emitted(schedule, replace(OPTIONS, tiling=replace(OPTIONS.tiling, target=MACHINE)))
    monkeypatch.setattr(crossover, "MODEL_OPERATIONS", 1)
    slower = replace(MACHINE, costs=replace(MACHINE.costs, unknown_statement_seconds=4e-10))
    assert crossover.crossover(source, slower).conditions != crossover.crossover(source, MACHINE).conditions


def test_pages_at_hand_decide_about_products_of_few_known_rows() -> None:
    schedule = pluto(analyse(from_c_text("""void f(float C[16][1024], float A[16][1024], float B[1024][1024]) {
#pragma scop
  for (int i = 0; i < 16; i++)
    for (int j = 0; j < 1024; j++)
      for (int k = 0; k < 1024; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}""")))

    def edges(**changed: int) -> tuple[int | None, ...]:
        target = replace(INSTRUCTED, costs=replace(INSTRUCTED.costs, **changed))
        (band,) = tile(schedule, TilingOptions(target=target)).bands
        assert band.plan is not None
        return band.plan.edges
    shipped = edges()
    assert shipped != edges(first_tlb_pages=INSTRUCTED.costs.first_tlb_pages // 2)
    assert shipped != edges(page_bytes=2 * INSTRUCTED.costs.page_bytes)


def test_how_wide_sums_in_order_are_decides_about_choices_of_addends() -> None:
    scop = from_c_text("void f(int n, double A[restrict n], double B[restrict n], double r[restrict 2]) {\n"
                       "#pragma scop\nfor (int i = 0; i < n; i++) r[0] += A[i] > 0.5 ? A[i] : B[i];\n"
                       "#pragma endscop\n}\n")
    options = PipelineOptions(tensorize=None)
    program = ROOM.Program(scop, options, scheduled(analysed(scop).dependences, options))
    costs = replace(INSTRUCTED.costs, ordered_sum_bits=INSTRUCTED.costs.ordered_sum_bits // 2)
    assert program.text(replace(INSTRUCTED, costs=costs)) != program.text(INSTRUCTED)
