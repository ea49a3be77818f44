"""The ablation: which constants are varied, where a limit stands, what a forked process gives back, and the table."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from polysched.emit_c.nests import independent_rows, summed_rows
from polysched.pipeline.options import PipelineOptions
from polysched.pipeline.stages import analysed, scheduled
from polysched.scop import from_c_text
from polysched.target import Target
from polysched.tiling.planning import block_orders

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
    assert "emit_c.jammed_rows" in found
    assert "tiling.copy_operations" not in found


def test_a_limit_is_found_where_it_is_read() -> None:
    assert (independent_rows, "ROWS") in ROOM.places("emit_c", "jammed_rows")
    assert (summed_rows, "ROWS") not in ROOM.places("emit_c", "jammed_rows")   # a limit of its own
    assert (block_orders, "LARGEST_PANEL_BYTES") in ROOM.places("tiling", "largest_panel_bytes")


def test_what_a_forked_process_changes_is_gone_with_it() -> None:
    before = independent_rows.ROWS

    def change() -> int:
        independent_rows.ROWS = 1
        return int(independent_rows.ROWS)
    assert ROOM.in_child(change) == 1
    assert before == independent_rows.ROWS


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
    read, digest = ROOM._traced(schedule, options)
    assert "costs.row_cycles" in read
    assert digest == ROOM._digest(ROOM.emitted(schedule, options, options.target()).text)
    assert ROOM._varied(schedule, options, ROOM.Variant("costs", "call_cycles", 2.0, 24)) == (digest, "")


def test_the_table_counts_kernels_whose_c_differs() -> None:
    def record(case: str, *changed: float) -> SimpleNamespace:
        return SimpleNamespace(case=case, values={"variants": [
            {"constant": "costs.row_cycles", "factor": factor, "value": 20 * factor, "changes": factor in changed}
            for factor in ROOM.FACTORS]})
    table = ROOM.table([record("gemm"), record("lu", 0.5), record("mvt", 0.5, 2.0)])
    assert [cell.strip() for cell in table.splitlines()[2].split("|")[1:-1]] == [
        "`costs.row_cycles`", "3", "2", "1", "lu, mvt"]
