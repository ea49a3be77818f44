"""Tiling: which loops come out, in which order, with which marks; always exactly legal."""

from dataclasses import replace
from functools import lru_cache

import islpy as isl
import pytest

from polysched.dependence.analysis import analyse
from polysched.dependence.legality import violation
from polysched.errors import IllegalScheduleError, UsageError
from polysched.scheduling.marks import LoopMark, Role
from polysched.scheduling.pluto_scheduler import pluto
from polysched.scheduling.primitives import Parallel
from polysched.scheduling.schedule import Schedule
from polysched.scheduling.steps import apply
from polysched.scheduling.tree.loop_tree import Band, children, from_isl, walk, with_children
from polysched.scop import from_c_text
from polysched.scop.scop import Scop
from polysched.target.target import CacheLevel, Target
from polysched.tiling import tile_bands
from polysched.tiling.explain import explain_text, explanations
from polysched.tiling.options import TilingOptions
from polysched.tiling.planning.band_plan import TileLevel
from polysched.tiling.planning.repacking import packing_bytes
from polysched.tiling.planning.shared_steps import in_steps, lost_by_steps
from polysched.tiling.tile_bands import tile
from polysched.tiling.tiled_schedule import TiledSchedule
from tests.schedules import original_of, pluto_of
from tests.scop_builder import build_scop
from tests.tiling import kernels

MACHINE = Target(vector_bits=512, vector_registers=32, cores=2)


@lru_cache(maxsize=64)
def scheduled(scop):
    """isl's schedule: permutable bands with coincident flags."""
    dependences = analyse(scop)
    order = dependences.validity
    constraints = isl.ScheduleConstraints.on_domain(scop.domain).set_context(scop.context)
    constraints = constraints.set_validity(order).set_proximity(order).set_coincidence(order)
    return Schedule(dependences=dependences, tree=constraints.compute_schedule(), algorithm="isl")


def by_hand(scop, tree):
    return Schedule(dependences=analyse(scop), algorithm="original",
                    tree=isl.Schedule.read_from_str(isl.DEFAULT_CONTEXT, tree))


def plain(**options) -> TilingOptions:
    """Options for a fixed machine, without register blocks."""
    return TilingOptions(**{"register": False, "target": MACHINE, **options})


def marks(tiled: TiledSchedule) -> list[LoopMark]:
    return [node.mark for node in walk(from_isl(tiled.tree).root) if isinstance(node, Band) and node.mark]


def shape(tiled: TiledSchedule) -> list[str]:
    """One word per loop in pre-order: role, member, and p or s for parallel or simd."""
    return [f"{m.role.value}{m.member}{'p' * m.parallel}{'s' * m.simd}" for m in marks(tiled)]


def assert_legal(tiled: TiledSchedule) -> None:
    assert violation(tiled.schedule.dependences, tiled.tree) is None
    assert tiled.tree.get_domain().is_equal(tiled.schedule.tree.get_domain())


def test_a_product_is_tiled_and_its_unit_stride_loop_is_innermost():
    tiled = tile(scheduled(kernels.product()), plain(sizes=32))
    assert_legal(tiled)
    assert shape(tiled) == ["tile0p", "tile1", "tile2", "point0", "point2", "point1s"]
    (band,) = tiled.bands
    assert (band.sizes, band.wavefront, band.parallel_member) == ((32, 32, 32), False, 0)


def test_a_statement_that_runs_once_leaves_the_innermost_loop_of_others():
    tiled = tile(scheduled(kernels.product_with_start()), plain(sizes=32))
    assert_legal(tiled)
    assert shape(tiled) == ["tile0p", "tile1", "tile2", "point0", "point2", "point1s", "point1s"]


def test_orders_by_hand():
    given = {"order": (2, 0), "point_order": (1, 2, 0), "parallel": False}
    tiled = tile(scheduled(kernels.product()), plain(sizes=32, outer_sizes=(128,), outer_orders=((1,),), **given))
    assert_legal(tiled)
    assert shape(tiled) == ["tile1", "tile0", "tile2", "tile2", "tile0", "tile1", "point1", "point2", "point0s"]
    chosen = tile(scheduled(kernels.product()), TilingOptions(order=(2, 1, 0), parallel=False))
    assert chosen.bands[0].plan.order == (2, 1, 0)
    assert_legal(tile(scheduled(kernels.gauss_seidel()), plain(sizes=8, order=(2, 1, 0), point_order=(2, 1, 0))))


@pytest.mark.parametrize("wrong", [{"order": (1, 1)}, {"point_order": (-1,)}, {"outer_orders": ((0, 1),)}])
def test_an_order_that_is_none_is_refused(wrong):
    with pytest.raises(UsageError, match="order"):
        TilingOptions(**wrong)


def test_a_gauss_seidel_stencil_becomes_a_wavefront():
    tiled = tile(scheduled(kernels.gauss_seidel()), plain(sizes=(4, 8, 16)))
    assert_legal(tiled)
    assert shape(tiled) == ["wavefront0", "tile1p", "tile2", "point0", "point1", "point2"]
    assert tiled.bands[0].wavefront
    assert tiled.bands[0].parallel_member == 1


def test_rows_of_interleaved_statements_become_vector_loops():
    tiled = tile(scheduled(kernels.jacobi()), plain(sizes=32))
    assert_legal(tiled)
    assert shape(tiled) == ["wavefront0", "tile1p", "tile2", "point0", "point1", "point2s", "point2s"]


def test_statements_that_share_values_in_one_iteration_stay_in_one_row():
    text = """
    void f(int n, int steps, double A[n], double B[n], double C[n]) {
    #pragma scop
      for (int t = 0; t < steps; t++)
        for (int j = 2; j < n; j++) {
          B[j] = 0.5 * A[j];
          C[j] = B[j] * B[j];
          A[j - 1] = C[j - 2] + C[j];
        }
    #pragma endscop
    }"""
    tiled = tile(original_of(text), plain())
    rows = [node.child for node in walk(from_isl(tiled.tree).root)
            if isinstance(node, Band) and node.mark and node.mark.simd]
    assert [len(children(row)) for row in rows] == [2, 0]    # B and C, then A
    assert_legal(tiled)


def test_rows_stay_together_when_their_dependences_form_a_cycle():
    scop = build_scop([
        ("S", "{ S[i, j] : 0 < i < N and 0 < j < N }", ["{ S[i, j] -> B[i, j - 1] }"], ["{ S[i, j] -> A[i, j] }"]),
        ("T", "{ T[i, j] : 0 < i < N and 0 < j < N }", ["{ T[i, j] -> A[i, j] }"], ["{ T[i, j] -> B[i, j] }"]),
    ], "{ S[i, j] -> [i, j, 0]; T[i, j] -> [i, j, 1] }")
    tiled = tile(scheduled(scop), plain(sizes="off", parallel=False))
    assert_legal(tiled)
    assert not any(m.simd for m in marks(tiled) if m.member == 1)


def test_without_threads_nothing_is_parallel_and_nothing_is_skewed():
    tiled = tile(scheduled(kernels.gauss_seidel()), plain(sizes=32, parallel=False))
    assert_legal(tiled)
    assert shape(tiled) == ["tile0", "tile1", "tile2", "point0", "point1", "point2"]


def test_without_vectors_the_order_stays():
    tiled = tile(scheduled(kernels.product()), plain(sizes=32, simd=False))
    assert_legal(tiled)
    assert shape(tiled) == ["tile0p", "tile1", "tile2", "point0", "point1", "point2"]


def test_off_leaves_loops_untiled_but_ordered_and_marked():
    tiled = tile(scheduled(kernels.product()), plain(sizes="off"))
    assert_legal(tiled)
    assert shape(tiled) == ["loop0p", "loop2", "loop1s"]
    assert tiled.bands[0].sizes == ()


def test_a_coincident_inner_loop_of_a_band_moves_outside_for_threads():
    # columns are independent: the tile loop of j goes out, the point loop of j stays inside
    scop = build_scop([("S", "{ S[i, j] : 0 < i < N and 0 <= j < N }",
                        ["{ S[i, j] -> A[i - 1, j] }"], ["{ S[i, j] -> A[i, j] }"])], "{ S[i, j] -> [i, j] }")
    tree = ('{ domain: "[N] -> { S[i, j] : 0 < i < N and 0 <= j < N }", child: { schedule: "[N] -> [{ S[i, j] -> [(i)] '
            '}, { S[i, j] -> [(j)] }]", permutable: 1, coincident: [ 0, 1 ] } }')
    tiled = tile(by_hand(scop, tree), plain(sizes=8))
    assert_legal(tiled)
    assert shape(tiled) == ["tile1p", "tile0", "point0", "point1s"]


def test_one_loop_is_tiled_only_for_sizes_given_as_a_tuple():
    schedule = scheduled(kernels.copy())
    assert shape(tile(schedule, plain(sizes=8))) == ["loop0ps"]
    tiled = tile(schedule, plain(sizes=(8,)))
    assert_legal(tiled)
    assert shape(tiled) == ["tile0p", "point0s"]


def test_a_lone_innermost_loop_needs_many_iterations_before_it_gets_threads():
    (mark,) = marks(tile(scheduled(kernels.copy()), plain(sizes="off")))
    assert mark.parallel
    assert mark.least_iterations > 1000


@pytest.mark.parametrize(("statement", "simd", "iterations"), [
    ("a[i] = b[i] + 1;", True, 65536), ("a[i] = b[i] + 1;", False, 16384), ("a[i] = exp(b[i]);", True, 16384),
    ("a[i] += b[i] * c[i + 1] / c[i];", True, 52429),
])
def test_a_lone_loop_in_lanes_needs_more_of_light_iterations(statement, simd, iterations):
    text = ("#include <math.h>\nvoid f(long n, double a[restrict n], double b[restrict n], double c[restrict n + 1])"
            f"{{\n#pragma scop\nfor (long i = 0; i < n; i++) {{ {statement} }}\n#pragma endscop\n}}\n")
    found = marks(tile(pluto_of(text), plain(sizes="off", simd=simd)))
    assert {m.least_iterations for m in found} == {iterations}


@pytest.mark.parametrize(("sizes", "expected"), [((4,), (4, 4, 4)), ((4, 8), (4, 8, 8)), ((4, 8, 2, 9), (4, 8, 2))])
def test_a_tuple_is_stretched_or_cut_to_the_band(sizes, expected):
    tiled = tile(scheduled(kernels.product()), plain(sizes=sizes))
    assert_legal(tiled)
    assert tiled.bands[0].sizes == expected


def test_an_edge_of_one_leaves_no_point_loop():
    tiled = tile(scheduled(kernels.product()), plain(sizes=(1, 8, 8)))
    assert_legal(tiled)
    assert shape(tiled) == ["tile0p", "tile1", "tile2", "point2", "point1s"]


def test_an_imperfect_nest_gets_its_inner_bands_tiled():
    scop = kernels.elimination()
    tree = ('{ domain: "[N] -> { D[k, i] : 0 <= k < N and k < i < N; '
            'U[k, i, j] : 0 <= k < N and k < i < N and k < j < N }", '
            'child: { schedule: "[N] -> [{ D[k, i] -> [(k)]; U[k, i, j] -> [(k)] }]", child: { sequence: [ '
            '{ filter: "[N] -> { D[k, i] }", child: { schedule: "[N] -> [{ D[k, i] -> [(i)] }]", permutable: 1 } }, '
            '{ filter: "[N] -> { U[k, i, j] }", child: { schedule: "[N] -> [{ U[k, i, j] -> [(i)] }, '
            '{ U[k, i, j] -> [(j)] }]", permutable: 1 } } ] } } }')
    tiled = tile(by_hand(scop, tree), plain(sizes=16))
    assert_legal(tiled)
    assert [(m.band, m.role.value, m.member, m.parallel, m.simd) for m in marks(tiled)] == [
        (0, "loop", 0, False, False),
        (1, "loop", 0, False, True),    # a column at each step: too little work for threads
        (2, "tile", 0, True, False), (2, "tile", 1, False, False),
        (2, "point", 0, False, False), (2, "point", 1, False, True)]


def test_an_inner_loop_below_a_sequence_gives_way_to_the_unit_stride_loop():
    # [i, j] above { start; [k] }: j sinks below k
    tree = ('{ domain: "[N] -> { I[i, j] : 0 <= i < N and 0 <= j < N; '
            'S[i, j, k] : 0 <= i < N and 0 <= j < N and 0 <= k < N }", '
            'child: { schedule: "[N] -> [{ I[i, j] -> [(i)]; S[i, j, k] -> [(i)] }, '
            '{ I[i, j] -> [(j)]; S[i, j, k] -> [(j)] }]", permutable: 1, coincident: [ 1, 1 ], child: { sequence: [ '
            '{ filter: "[N] -> { I[i, j] }" }, { filter: "[N] -> { S[i, j, k] }", child: { '
            'schedule: "[N] -> [{ S[i, j, k] -> [(k)] }]" } } ] } } }')
    tiled = tile(by_hand(kernels.product_with_start(), tree), plain(sizes="off"))
    assert_legal(tiled)
    assert [(m.band, m.member, m.simd) for m in marks(tiled)] == [
        (0, 0, False), (0, 1, True), (1, 0, False), (0, 1, True)]


def test_reversed_and_skewed_rows_are_tiled():
    # a sweep that runs from high to low indices, skewed against time
    scop = build_scop([("S", "{ S[t, i] : 0 <= t < T and 0 <= i < N }",
                        ["{ S[t, i] -> A[i + 1] }", "{ S[t, i] -> A[i - 1] }"], ["{ S[t, i] -> A[i] }"])],
                      "{ S[t, i] -> [t, -i] }")
    tree = ('{ domain: "[T, N] -> { S[t, i] : 0 <= t < T and 0 <= i < N }", child: { schedule: '
            '"[T, N] -> [{ S[t, i] -> [(t)] }, { S[t, i] -> [(t - i)] }]", permutable: 1 } }')
    tiled = tile(by_hand(scop, tree), plain(sizes=(3, 5)))
    assert_legal(tiled)
    assert shape(tiled) == ["wavefront0", "tile1p", "point0", "point1"]


def test_a_band_that_is_not_permutable_is_not_tiled():
    tree = kernels.gauss_seidel().schedule  # as written: one-member bands
    schedule = Schedule(dependences=analyse(kernels.gauss_seidel()), tree=tree, algorithm="original")
    tiled = tile(schedule, plain(sizes=8))
    assert_legal(tiled)
    assert shape(tiled) == ["loop0", "loop0", "loop0"]


def test_marked_loops_keep_their_place():
    mark = LoopMark(role=Role.TILE, band=7, unroll=4).to_text()
    tree = ('{ domain: "[N] -> { S[i, j, k] : 0 <= i < N and 0 <= j < N and 0 <= k < N }", '
            f'child: {{ mark: "{mark}", child: {{ schedule: "[N] -> [{{ S[i, j, k] -> [(j)] }}]", child: {{ '
            'schedule: "[N] -> [{ S[i, j, k] -> [(i)] }, { S[i, j, k] -> [(k)] }]", permutable: 1 } } } }')
    tiled = tile(by_hand(kernels.product(), tree), plain(sizes="off"))
    assert_legal(tiled)
    assert marks(tiled)[0] == LoopMark(role=Role.TILE, band=7, unroll=4, parallel=True, least_iterations=2,
                                       least_work=16384)


def test_an_illegal_schedule_is_refused():
    tree = ('{ domain: "[N] -> { S[i, j, k] : 0 <= i < N and 0 <= j < N and 0 <= k < N }", child: { schedule: '
            '"[N] -> [{ S[i, j, k] -> [(i)] }, { S[i, j, k] -> [(j)] }, { S[i, j, k] -> [(-k)] }]", permutable: 1 } }')
    with pytest.raises(IllegalScheduleError, match=r"breaks the .* dependence .* on C") as refusal:
        tile(by_hand(kernels.product(), tree), plain(sizes=8))
    assert "must run before" in refusal.value.witness


@pytest.mark.parametrize("promise", ["parallel", "simd"])
def test_no_loop_leaves_that_is_marked_independent_and_is_not(promise, monkeypatch):
    """Whoever sets a mark, by hand or a pass that is wrong: the finished tree is checked, not the passes."""
    mark = LoopMark(role=Role.LOOP, **{promise: True}).to_text()
    tree = ('{ domain: "[N] -> { S[i, j, k] : 0 <= i < N and 0 <= j < N and 0 <= k < N }", child: { schedule: '
            '"[N] -> [{ S[i, j, k] -> [(i)] }, { S[i, j, k] -> [(j)] }]", permutable: 1, child: { '
            f'mark: "{mark}", child: {{ schedule: "[N] -> [{{ S[i, j, k] -> [(k)] }}]" }} }} }} }}')
    with pytest.raises(IllegalScheduleError, match=f"tiled schedule: the loop marked {promise} carries") as refusal:
        tile(by_hand(kernels.product(), tree), plain(sizes=8))
    assert "different iterations of that loop" in refusal.value.witness
    wrong = LoopMark(**{promise: True})
    monkeypatch.setattr(tile_bands, "mark_loops", lambda start, root, options, scop: with_marks(root, wrong))
    with pytest.raises(IllegalScheduleError, match=f"tiled schedule: the loop marked {promise} carries"):
        tile(scheduled(kernels.gauss_seidel()), plain(sizes=8))


def with_marks(node, mark):
    below = with_children(node, tuple(with_marks(child, mark) for child in children(node)))
    return replace(below, mark=mark) if isinstance(below, Band) else below


def test_golden_of_the_tile_loops():
    tiled = tile(scheduled(kernels.copy()), plain(sizes=(8,), simd=False, parallel=False))
    code = isl.AstBuild.from_context(tiled.schedule.scop.context).node_from_schedule(tiled.tree).to_C_str()
    assert code.split("\n") == [
        "// polysched role=tile",
        "for (int c0 = 0; c0 <= floord(N - 1, 8); c0 += 1) {",
        "  // polysched role=point",
        "  for (int c1 = 8 * c0; c1 <= min(N - 1, 8 * c0 + 7); c1 += 1)",
        "    S(c1);",
        "}",
        ""]


def test_several_levels_nest_outside_in():
    tiled = tile(scheduled(kernels.product()), plain(sizes=(8, 8, 4), outer_sizes=(128, (32, 64, 16))))
    assert_legal(tiled)
    assert shape(tiled) == ["tile0p", "tile1", "tile2"] + 2 * ["tile0", "tile1", "tile2"] + [
        "point0", "point2", "point1s"]


def test_a_wavefront_runs_over_the_outermost_level():
    tiled = tile(scheduled(kernels.gauss_seidel()), plain(sizes=4, outer_sizes=(16,)))
    assert_legal(tiled)
    assert shape(tiled)[:6] == ["wavefront0", "tile1p", "tile2", "tile0", "tile1", "tile2"]


def test_the_model_adds_a_level_for_a_larger_cache_when_memory_is_the_limit():
    machine = Target(vector_bits=512, vector_registers=32, cores=1, caches=(
        CacheLevel(level=1, size_bytes=16 << 10), CacheLevel(level=2, size_bytes=128 << 10),
        CacheLevel(level=3, size_bytes=4 << 20, shared_by=2)))
    tiled = tile(scheduled(kernels.product()), plain(sizes="auto", target=machine, parameters={"N": 4096}))
    assert_legal(tiled)
    plan = tiled.bands[0].plan
    (level,) = plan.outer
    assert all(edge is None or edge % inner == 0 for edge, inner in zip(level.edges, plan.edges, strict=True))


def square_product(n: int) -> Scop:
    """C += A B in doubles."""
    loops = "".join(f"for (int {x} = 0; {x} < {n}; {x}++) " for x in "ijk")
    return from_c_text(f"void f(double C[{n}][{n}], double A[{n}][{n}], double B[{n}][{n}]) {{\n#pragma scop\n{loops}"
                       "C[i][j] += A[i][k] * B[k][j];\n#pragma endscop\n}\n")


def test_what_threads_share_comes_in_steps_that_the_shared_cache_holds():
    """32 MiB of B leave a shared cache of 32 MiB before the next rows read them; 8 MiB stay, so those get no steps."""
    machine = Target(vector_bits=512, vector_registers=32, cores=2, caches=(
        CacheLevel(level=1, size_bytes=32 << 10, ways=8), CacheLevel(level=2, size_bytes=1 << 20, ways=8),
        CacheLevel(level=3, size_bytes=32 << 20, ways=16, shared_by=2)))
    large, small = (tile(scheduled(square_product(n)), plain(sizes="auto", register=True, target=machine))
                    for n in (2048, 1024))
    assert_legal(large)
    plan = large.bands[0].plan
    assert plan.in_steps
    assert plan.outer[0].order == (2,)
    assert shape(large)[:2] == ["tile2", "tile0p"]
    assert large.bands[0].sizes == (*plan.edges[:2], plan.outer[0].edges[2])
    assert "steps that all threads take together: k: " in explain_text(explanations(large, machine)[0])
    assert not small.bands[0].plan.outer
    alone = tile(scheduled(square_product(2048)), plain(sizes="auto", register=True, parallel=False, target=machine))
    assert not alone.bands[0].plan.in_steps


def test_steps_are_of_loops_that_threads_do_not_run_and_cut_evenly():
    machine = Target(vector_bits=512, vector_registers=32, cores=2)
    plan = tile(scheduled(square_product(2048)), plain(sizes="auto", register=True, target=machine)).bands[0].plan
    plan = replace(plan, outer=(), in_steps=False, edges=(64, 96, 768), order=(0, 2, 1))
    found = list(in_steps(plan, plan.problem, (0, 1)))
    assert {level.order for p in found for level in p.outer} == {(2,)}
    steps = {p.outer[0].edges[2]: p.edges[2] for p in found}
    assert [steps[256], steps[768], steps[1024]] == [None, None, 512]
    assert all(inside is None or -(-step // inside) == -(-step // 768) for step, inside in steps.items())
    assert (2,) in {level.order for p in in_steps(plan, plan.problem, (0,)) for level in p.outer}
    assert (1,) in {level.order for p in in_steps(plan, plan.problem, (0,)) for level in p.outer}


def test_steps_lose_a_pass_only_where_sums_have_start_values_or_last_steps():
    level = TileLevel((None, None, 512), (2,))
    n, edges = 64, (64, 96, None)
    plan = tile(scheduled(square_product(n)), plain(sizes=(8, 24, 8), register=True)).bands[0].plan
    stepping = replace(plan, outer=(level,), in_steps=True, edges=edges)
    assert lost_by_steps(stepping, 64) == 0
    nest = replace(plan.nest, references=tuple(replace(r, elsewhere=True) for r in plan.nest.references))
    assert lost_by_steps(replace(stepping, nest=nest), 64) > 3 * n * n * 8
    assert lost_by_steps(replace(stepping, nest=nest, in_steps=False), 64) == 0


@pytest.mark.parametrize(("sizes", "wanted"), [((0, 0, 16), ["tile2", "tile0p"]), ((0, 16, 0), ["tile1p", "tile0"]),
                                               ((0, 16, 16), ["tile1p", "tile2"])])
def test_outer_loops_by_hand_are_steps_where_none_can_run_on_threads(sizes, wanted):
    tiled = tile(scheduled(kernels.product()), plain(sizes=(4, 8, 8), outer_sizes=(sizes,)))
    assert_legal(tiled)
    assert shape(tiled)[:2] == wanted


def test_no_level_that_has_the_same_panels_packed_again():
    """Two threads share the panels of B for all tiles; columns in pieces around them would copy B for every 32 rows."""
    machine = Target(vector_bits=256, vector_registers=16, cores=2, caches=(
        CacheLevel(level=1, size_bytes=32 << 10, ways=8), CacheLevel(level=2, size_bytes=1 << 20, ways=8),
        CacheLevel(level=3, size_bytes=32 << 20, ways=16, shared_by=2)))
    plan = tile(scheduled(square_product(2048)), plain(sizes="auto", register=True, target=machine)).bands[0].plan
    plan = replace(plan, outer=(), in_steps=False)
    with_level = replace(plan, outer=(TileLevel((None, 128, None), (1,)),))
    bare, again = (packing_bytes(p, shares=True, line_bytes=64, transfers=3) for p in (plan, with_level))
    assert plan.order[0] == 0
    assert again > 20 * bare


def test_a_band_around_a_sum_runs_in_wavefronts():
    # intervals: each cell needs all cells to its left and below
    scop = build_scop([("S", "{ S[i, j, k] : 0 <= i < N and i < j < N and i <= k < j }",
                        ["{ S[i, j, k] -> A[i, j] }", "{ S[i, j, k] -> A[i, k] }", "{ S[i, j, k] -> A[k + 1, j] }"],
                        ["{ S[i, j, k] -> A[i, j] }"])], "{ S[i, j, k] -> [-i, j, k] }")
    tree = ('{ domain: "[N] -> { S[i, j, k] : 0 <= i < N and i < j < N and i <= k < j }", child: { schedule: '
            '"[N] -> [{ S[i, j, k] -> [(-i)] }, { S[i, j, k] -> [(j)] }]", permutable: 1, child: { schedule: '
            '"[N] -> [{ S[i, j, k] -> [(k)] }]" } } }')
    tiled = tile(by_hand(scop, tree), plain(sizes="auto"))
    assert_legal(tiled)
    assert shape(tiled)[:2] == ["wavefront0", "tile1p"]
    assert not tile(by_hand(scop, tree), plain(sizes="auto", parallel=False)).bands[0].sizes


def test_a_single_tile_starts_no_threads():
    found = marks(tile(scheduled(kernels.product()), plain(sizes=32)))
    assert [m.least_iterations for m in found if m.parallel] == [2]
    found = marks(tile(scheduled(kernels.product()), plain(sizes="off")))
    assert [m.least_iterations for m in found if m.parallel] == [1]


def test_a_loop_over_one_tile_is_not_the_parallel_one() -> None:
    text = """
    void f(double A[100][100]) {
    #pragma scop
      for (int t = 0; t < 50; t++)
        for (int i = 1; i < 99; i++)
          for (int j = 1; j < 99; j++) A[i][j] += A[i - 1][j] + A[i + 1][j] + A[i][j - 1];
    #pragma endscop
    }"""
    tiled = tile(scheduled(from_c_text(text)), plain(sizes=(8, 8, 1024)))
    assert shape(tiled)[:2] == ["wavefront0", "tile1p"]
    assert_legal(tiled)


def test_no_wavefront_inside_a_sequential_loop() -> None:
    scop = from_c_text("""
void blur(double in[67][83], double out[67][83]) {
#pragma scop
  for (int y = 1; y < 66; y++)
    for (int x = 1; x < 82; x++) {
      double s = 0.0;
      for (int d = -1; d <= 1; d++)
        s += in[y + d][x];
      out[y][x] = s / 3.0;
    }
#pragma endscop
}
""")
    tiled = tile(pluto(analyse(scop)), TilingOptions())
    assert not any(band.wavefront for band in tiled.bands)


def test_orders_of_deep_nests_are_not_tried_without_end(monkeypatch):
    """Nine loops around each other, no two in one band: every order of every subtree would be 500 of them."""
    tried = []
    original = tile_bands._with_innermost
    monkeypatch.setattr(tile_bands, "_with_innermost", lambda *args, **kwargs: tried.append(1) or original(
        *args, **kwargs))
    names = [f"i{k}" for k in range(9)]
    bounds = " and ".join(f"0 <= {name} < N" for name in names)
    index = ", ".join(names)
    scop = build_scop([("S0", f"{{ S0[{index}] : {bounds} }}", [], [f"{{ S0[{index}] -> A[{index}] }}"]),
                       ("S1", f"{{ S1[{index}] : {bounds} }}", [], [f"{{ S1[{index}] -> B[{index}] }}"])],
                      f"{{ S0[{index}] -> [{index}, 0]; S1[{index}] -> [{index}, 1] }}")
    inner = f'sequence: [ {{ filter: "{{ S0[{index}] }}" }}, {{ filter: "{{ S1[{index}] }}" }} ]'
    for name in reversed(names):
        inner = f'schedule: "[{{ S0[{index}] -> [{name}]; S1[{index}] -> [{name}] }}]", child: {{ {inner} }}'
    tiled = tile(by_hand(scop, f'{{ domain: "{scop.domain}", child: {{ {inner} }} }}'), plain(sizes="off"))
    assert violation(tiled.schedule.dependences, tiled.tree) is None
    assert len(tried) <= tile_bands.MOST_ORDERS + len(names)


def test_nothing_sinks_below_a_loop_that_is_parallel_by_hand_inside_of_it():
    text = """void f(int n, double A[n + 4], double B[n + 4][n + 4])
{
#pragma scop
    for (int j = 2; j < n; j++)
        for (int k = j + 1; k <= j + 1; k++) {
            for (int l = 0; l < n; l++) A[3] += k * B[j][l];
            for (int l = 0; l < n; l++) B[l][k] = A[3];
        }
#pragma endscop
}"""
    schedule = apply(original_of(text), Parallel(loop="k"))
    tiled = tile(schedule, plain(sizes="off"))
    assert_legal(tiled)
    loops = [n for n in walk(from_isl(tiled.tree).root) if isinstance(n, Band)]
    assert [n.coincident for n in loops if n.mark.parallel] == [(True,)]
