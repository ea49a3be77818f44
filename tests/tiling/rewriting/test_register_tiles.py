"""Register blocks: their size from the machine, their loops, and where they may stand."""

from dataclasses import replace

import islpy as isl
import pytest

import polysched
from polysched.scheduling.tree.loop_tree import Band, Sequence, from_isl, walk
from polysched.scop import from_c_text
from polysched.scop.points import fix_parameters
from polysched.target.target import CacheLevel, Target
from polysched.tiling import TilingOptions, tile
from polysched.tiling.footprints.nest import Nest
from polysched.tiling.planning.register_shape import MOST_FOLDED, register_shapes, row_loss
from polysched.tiling.tree.distribute import sets_of
from tests.tiling import kernels
from tests.tiling.footprints.test_traffic import product_nest
from tests.tiling.test_tile_bands import assert_legal, marks, scheduled, shape

AVX512 = Target(vector_bits=512, vector_registers=32, cores=2)
AVX2 = Target(vector_bits=256, vector_registers=16, cores=2)


@pytest.mark.parametrize("target", [AVX512, AVX2, Target()])
def test_a_block_fits_the_registers_and_hides_the_latency(target):
    best = register_shapes(product_nest(1024), "S", target)[0]
    vectors = best.column_count // target.lanes(64)
    assert (best.rows, best.columns, best.inner) == (0, 1, (2,))
    assert best.row_count * vectors + vectors + 1 <= target.vector_registers
    assert best.row_count * vectors >= target.ports.fma_pipes * target.ports.fma_latency_cycles


@pytest.mark.parametrize("element_bytes", [4, 8])
def test_no_compiler_reads_the_vectors_of_a_block_again_for_every_row(element_bytes):
    nest = product_nest(1024)
    nest = replace(nest, references=tuple(replace(r, element_bytes=element_bytes) for r in nest.references))
    best = register_shapes(nest, "S", AVX2)[0]
    assert best.row_count > MOST_FOLDED
    assert best.column_count == 2 * AVX2.lanes(8 * element_bytes)


@pytest.mark.parametrize(("target", "even", "uneven"), [
    (AVX2, (2, 4, 8), (1, 3, 7, 9)), (AVX512, (3, 6, 12), (1, 5, 7))])
def test_rows_lose_what_no_block_divides(target, even, uneven):
    assert [row_loss(vectors, target) for vectors in even] == [1.0] * len(even)
    assert all(1.0625 < row_loss(vectors, target) < 1.5 for vectors in uneven)
    assert row_loss(999, target) < 1.01


def test_a_scalar_machine_gets_no_block():
    assert register_shapes(product_nest(1024), "S", Target(vector_bits=0)) == ()


def test_a_product_gets_block_loops_above_the_sum():
    tiled = tile(scheduled(kernels.product()), TilingOptions(sizes=(64, 64, 32), target=AVX512))
    assert_legal(tiled)
    rows, columns = tiled.bands[0].register
    assert shape(tiled) == ["tile0p", "tile1", "tile2", "tile0", "tile1", "point2", "point0", "point1s"]
    assert [(m.unroll, m.register) for m in marks(tiled)][-2:] == [(rows, True), (columns, True)]


def test_a_start_value_stands_beside_the_block():
    tiled = tile(scheduled(kernels.product_with_start()), TilingOptions(sizes=(64, 64, 32), target=AVX512))
    assert_legal(tiled)
    registers = [m.register for m in marks(tiled)]
    assert registers == [False] * 9 + [True, True]


def test_a_triangular_nest_has_blocks_off_its_diagonal():
    tiled = tile(scheduled(kernels.elimination()), TilingOptions(sizes=32, target=AVX512))
    assert_legal(tiled)
    found = marks(tiled)
    assert sum(m.register for m in found) == 2
    assert sum(m.register for m in found if m.simd) == 1
    # where the sum may run as blocks, no other statement stands; where it may not, little of it is left
    split = next(n for n in walk(from_isl(tiled.tree).root) if isinstance(n, Sequence))
    pure, shared = (keep for keep, child in sorted(split.branches, key=lambda b: -has_registers(b[1])))
    sizes = {"N": 60}
    count = {name: sum(int(fix_parameters(part, sizes).count_val().to_python()) for part in sets_of(keep)
                       if part.get_tuple_name() == "U")
             for name, keep in (("pure", pure), ("shared", shared))}
    assert [part.get_tuple_name() for part in sets_of(pure)] == ["U"]
    assert count["pure"] > 2 * count["shared"]


def test_parts_of_a_sum_end_where_blocks_end():
    """Blocks of 12 columns: all of the sum that lies before a block off the diagonal runs in registers."""
    tiled = tile(scheduled(kernels.elimination()), TilingOptions(sizes=48, register=(4, 12), target=AVX2))
    assert_legal(tiled)
    split = next(n for n in walk(from_isl(tiled.tree).root) if isinstance(n, Sequence))
    plain = next(keep for keep, child in split.branches if not has_registers(child))
    before = isl.Set("[N] -> { U[k, i, j] : k < 12*floor(j/12) and k < 4*floor(i/4) and N = 100 }")
    left = [part.intersect(before) for part in sets_of(plain) if part.get_tuple_name() == "U"]
    assert left
    assert all(part.is_empty() for part in left)


def has_registers(node) -> bool:
    return any(isinstance(n, Band) and n.mark is not None and n.mark.register for n in walk(node))


@pytest.mark.parametrize("kernel", [kernels.gauss_seidel, kernels.jacobi, kernels.copy])
def test_nests_without_a_sum_have_no_block(kernel):
    tiled = tile(scheduled(kernel()), TilingOptions(sizes=16, target=AVX512))
    assert_legal(tiled)
    assert all(not m.register for m in marks(tiled))


def test_blocks_stay_where_cache_tiles_are_off():
    tiled = tile(scheduled(kernels.product()), TilingOptions(sizes="off", target=AVX512))
    assert_legal(tiled)
    assert shape(tiled)[0] == "tile0p"
    assert sum(m.register for m in marks(tiled)) == 2


def test_the_model_tiles_a_product_but_not_a_copy():
    machine = Target(vector_bits=512, vector_registers=32, cores=2, caches=(
        CacheLevel(level=1, size_bytes=32 << 10), CacheLevel(level=2, size_bytes=1 << 20)))
    assert tile(scheduled(kernels.product()), TilingOptions(target=machine)).bands[0].sizes
    assert not tile(scheduled(kernels.copy()), TilingOptions(target=machine)).bands[0].sizes


def test_of_loops_that_serve_equally_well_the_nearer_rows_are_taken():
    """`C[b, t, o] += A[b, t, i] * W[i, o]`: a row of `b` is as many pages away as `t` has rows."""
    nest = nest_of_text("""
        void f(int n, double C[restrict n][n][n], double A[restrict n][n][n], double W[restrict n][n])
        {
        #pragma scop
          for (int b = 0; b < n; b++)
            for (int t = 0; t < n; t++)
              for (int i = 0; i < n; i++)
                for (int o = 0; o < n; o++)
                  C[b][t][o] += A[b][t][i] * W[i][o];
        #pragma endscop
        }
        """)
    best = register_shapes(nest, "S0", AVX512)[0]
    assert (nest.loops[best.rows], nest.loops[best.columns]) == ("t", "o")


def nest_of_text(text: str) -> Nest:
    """The nest of the only band of a program."""
    tiled = polysched.optimize(from_c_text(text)).tiled
    (band,) = (b for b in tiled.bands if b.plan is not None)
    return band.plan.nest
