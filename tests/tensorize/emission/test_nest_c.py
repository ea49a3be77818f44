"""Nests of loads, executions and stores in registers compute the product at every edge of blocks, tiles and vectors."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from polysched.target import host
from polysched.tensorize import match
from polysched.tensorize.emission import EmissionOptions, Emitted, emit_match
from polysched.tensorize.emission.plan import PlanChoice, Tiling, make_plan
from tests.tensorize.compiled import call, compiled
from tests.tensorize.emission.native import FOUR, expected, matrices, product

SIZES = [(5, 7, 3), (4, 8, 1), (9, 13, 11), (1, 17, 5)]
UNROLLS = [None, (1, 1), (3, 2)]


def emitted(m: int, n: int, k: int, name: str, **given: object) -> Emitted:
    (found, *_) = match(product(m, n, k), FOUR).matches
    return emit_match(found, name, EmissionOptions(target=host(), **given))   # type: ignore[arg-type]


def test_every_block_of_registers_computes_the_product(tmp_path: Path) -> None:
    functions, sizes = [], []
    for at, (m, n, k) in enumerate(SIZES):
        for number, unroll in enumerate(UNROLLS):
            functions.append(emitted(m, n, k, f"f{at}_{number}", unroll=unroll, parallel=(at + number) % 2 == 0))
            sizes.append((m, n, k))
    library = compiled(functions, tmp_path)
    for function, (m, n, k) in zip(functions, sizes, strict=True):
        given = matrices(m, n, k)
        wanted = expected(given)
        call(library, function, given)
        np.testing.assert_array_equal(given["C"], wanted, err_msg=function.name)


@pytest.mark.parametrize("tiling", [Tiling.NONE, Tiling.CACHES, Tiling.DEEPER, Tiling.HANDED_OUT])
def test_tiles_around_the_nest_leave_nothing_out(tiling: Tiling, tmp_path: Path) -> None:
    functions, sizes = [], [(9, 13, 11), (8, 16, 8)]
    for at, (m, n, k) in enumerate(sizes):
        (found, *_) = match(product(m, n, k), FOUR).matches
        plan = make_plan(found, emulated=False, target=host(), parallel=True, choice=PlanChoice(tiling=tiling))
        functions.append(emit_match(found, f"t{at}", EmissionOptions(target=host(), plan=plan)))
    library = compiled(functions, tmp_path)
    for function, (m, n, k) in zip(functions, sizes, strict=True):
        given = matrices(m, n, k)
        wanted = expected(given)
        call(library, function, given)
        np.testing.assert_array_equal(given["C"], wanted)


def test_results_that_start_at_zero_read_no_old_value(tmp_path: Path) -> None:
    functions = [emitted(5, 7, 3, "zeroed", zero=True), emitted(5, 7, 3, "emulated", zero=True, emulated=True)]
    for function in functions:
        given = matrices(5, 7, 3)
        wanted = expected(given, zero=True)
        call(compiled([function], tmp_path, function.name), function, given)
        np.testing.assert_array_equal(given["C"], wanted)


def test_registers_without_a_text_that_clears_them_start_at_zero(tmp_path: Path) -> None:
    silent = replace(FOUR, name="silent", operands=tuple(
        replace(o, register=replace(o.register, zero="")) for o in FOUR.operands))
    (found, *_) = match(product(5, 7, 3), silent).matches
    function = emit_match(found, "silent", EmissionOptions(target=host(), zero=True))
    given = matrices(5, 7, 3)
    wanted = expected(given, zero=True)
    call(compiled([function], tmp_path), function, given)
    np.testing.assert_array_equal(given["C"], wanted)


def test_nothing_past_the_arrays_is_read_or_written(tmp_path: Path) -> None:
    """The arrays lie in one block between marks, which stay."""
    functions = [emitted(m, n, k, f"g{m}", unroll=(2, 2)) for m, n, k in ((5, 7, 3), (3, 5, 2))]
    library = compiled(functions, tmp_path)
    for function, (m, n, k) in zip(functions, ((5, 7, 3), (3, 5, 2)), strict=True):
        given, guarded, blocks = matrices(m, n, k), {}, []
        for name, values in given.items():
            block = np.full(values.size + 32, 77, np.int32)
            block[16:-16] = values.ravel()
            guarded[name] = block[16:-16].reshape(values.shape)
            blocks.append(block)
        wanted = expected(given)
        call(library, function, guarded)
        np.testing.assert_array_equal(guarded["C"], wanted)
        assert all((b[:16] == 77).all() and (b[-16:] == 77).all() for b in blocks)


def test_what_nothing_has_read_is_fetched_for_writing() -> None:
    """Where the sums are long enough for that, and the results lie in the program's array."""
    for k, zero, fetched in ((64, True, True), (64, False, False), (63, True, False)):
        text = emitted(64, 64, k, "f", zero=zero, unroll=(3, 2)).text
        assert bool(re.search(r"__builtin_prefetch\([^;]*, 1\);", text)) is fetched
