"""Golden schedule trees of Pluto's algorithm on the project's kernels, with the source of each expectation.

The golden text is the whole tree.  The table says what the literature gives: per kernel the permutable
bands of its main statements, outermost first, as one letter per member, `P` for parallel and `-` for not.
Where no paper prints the schedule of this very program, the expectation is derived from the distances of its
dependences, which are given: a band is permutable where no distance has a negative part, a member is parallel
where all parts are zero (Bondhugula et al., PLDI 2008, section 3).

The trees are those of the programs as written; `polysched schedule` gives temporaries a copy per iteration first, which
makes the rows of deriche parallel and changes no other of these bands.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import islpy as isl
import pytest

from polysched.dependence import analyse
from polysched.scheduling import pluto
from polysched.scheduling.tree.tree_text import tree_text
from polysched.scop import from_c_file
from polysched.scop.schedule_nodes import NodeKind, kind_of

HERE = Path(__file__).parent
KERNELS = HERE.parent / "kernels"

PLDI08 = "Bondhugula, Hartono, Ramanujam, Sadayappan, PLDI 2008"
TESTS = "the expected output in Pluto's own tests"
PLUTO_PLUS = "Bondhugula, Acharya, Cohen, The Pluto+ algorithm, TOPLAS 38(3), 2016"
NUSSINOV = "Palkowski, Bielecki, Tiling Nussinov's RNA folding loop nest, BMC Bioinformatics 20:208, 2019"


@dataclass(frozen=True)
class Expectation:
    """Bands around one statement, outermost first, and where that is said."""

    kernel: str
    statement: str
    bands: tuple[str, ...]
    source: str


EXPECTED = [
    Expectation("gemm", "S1", ("PP-",), f"{TESTS} (matmul.c): (i, j, k); i and j parallel, k carries the sum"),
    Expectation("mm2", "S1", ("PP-",),
                "each product as the single one, (i, j, k); fused, k of the first would have to end before the second "
                "begins, which leaves one common permutable loop (i)"),
    Expectation("mm3", "S5", ("PP-",), "as mm2"),
    Expectation("jacobi_1d", "S0", ("--",), f"{TESTS} (jacobi-1d-imper.c): (t, 2t + i) and (t, 2t + i + 1)"),
    Expectation("jacobi_2d", "S1", ("---",), f"{TESTS} (jacobi-2d-imper.c): (t, 2t+i, 2t+j), (t, 2t+i+1, 2t+j+1)"),
    Expectation("heat_3d", "S0", ("----",), f"as jacobi_2d, one dimension more; {TESTS} (jacobi-3d-25pt.c)"),
    Expectation("seidel_2d", "S0", ("---",), f"{TESTS} (seidel.c): (t, t + i, 2t + i + j)"),
    Expectation("fdtd_2d", "S3", ("---",), f"{TESTS} (fdtd-2d.c): (t, t + j, t + i), hz at (t, t + j + 1, t + i + 1)"),
    Expectation("adi", "S12", ("-", "P-"),
                "derived: (t, i) rows are independent and each is a recurrence, distance (0, 0, 1); the other half "
                "step reads across all rows, so t carries distances of any sign and is a band of its own"),
    Expectation("lu", "S1", ("---",), f"{PLDI08}, evaluation (LU): three permutable loops, parallel as a pipeline"),
    Expectation("cholesky", "S2", ("---",), "as lu; the root and the division sink into the band"),
    Expectation("gramschmidt", "S5", ("-", "P-"),
                "derived: q_k uses every column before, so k is a band of its own; the updates of the later columns j "
                "meet no element of each other, and i adds up one of them"),
    Expectation("correlation", "S10", ("PP-",), "the product of the centred matrix with its transpose: as gemm"),
    Expectation("doitgen", "S1", ("-", "-", "P-"),
                "derived: one row buffer serves every (r, q): distances (0, 1) and (1, 1 - nq), so r and q are no "
                "permutable band; each row is a vector-matrix product, (p, s)"),
    Expectation("nussinov", "S4", ("--", "-"),
                f"{NUSSINOV}: only the two outer loops can be tiled by affine transformations, (j, -i) here, since k "
                f"reads on both sides; i runs downwards by a negative coefficient, as in {PLUTO_PLUS}"),
    Expectation("floyd_warshall", "S0", ("-", "--"),
                "derived: distances (1, 0, j - k) and (1, i - k, 0) of any sign, so k is a band of its own; inside it "
                "row k and column k order i and j, forwards, so these two may be tiled"),
    Expectation("deriche", "S10", ("-", "-"),
                "derived: the filter's state is in scalars, so rows follow each other, and along a row distance (0, 1) "
                "is left; the passes backwards have a negative coefficient"),
]

@pytest.mark.parametrize("expected", EXPECTED, ids=lambda e: e.kernel)
def test_golden_schedule(expected: Expectation, golden) -> None:  # type: ignore[no-untyped-def]
    schedule = pluto(analyse(from_c_file(KERNELS / f"{expected.kernel}.c")))
    assert bands_around(schedule.tree, expected.statement) == expected.bands, tree_text(schedule.tree)
    head = f"# {expected.source}\n# {expected.statement} stands in {' '.join(expected.bands)}\n"
    golden(HERE / "golden" / f"{expected.kernel}.txt", head + tree_text(schedule.tree))


def bands_around(tree: isl.Schedule, statement: str) -> tuple[str, ...]:
    """The flags of the bands above a statement's leaf."""
    return tuple(_bands(tree.get_root(), statement))


def _bands(node: isl.ScheduleNode, statement: str) -> Iterator[str]:
    kind = kind_of(node)
    if kind == NodeKind.leaf:
        return
    if kind == NodeKind.band:
        assert node.band_get_permutable() or node.band_n_member() == 1
        yield "".join("P" if node.band_member_get_coincident(i) else "-" for i in range(node.band_n_member()))
    for position in range(node.n_children()):
        child = node.child(position)
        sets = child.get_domain().get_set_list()
        if any(sets.get_at(i).get_tuple_name() == statement for i in range(sets.n_set())):
            yield from _bands(child, statement)
