"""Chains of calls become steps, and steps chains of calls."""

import pytest

from polysched.dependence import analyse
from polysched.dependence.dependences import Dependences
from polysched.errors import IllegalScheduleError, UsageError
from polysched.scheduling import original, pluto
from polysched.scheduling.interchange import halide
from polysched.scheduling.interchange.halide import has_chains, read_chains, write_chains
from polysched.scheduling.primitives import Interchange, Parallel, Reverse, Tile, Unroll, Vectorize
from polysched.scheduling.steps import apply
from polysched.scheduling.tree.tree_text import tree_text
from tests.scop_builder import build_scop


@pytest.fixture(scope="module")
def product() -> Dependences:
    return analyse(build_scop(
        [("S0", "{ S0[i, j, k] : 0 <= i, j, k < N }",
          ["{ S0[i, j, k] -> C[i, j] }", "{ S0[i, j, k] -> A[i, k] }", "{ S0[i, j, k] -> B[k, j] }"],
          ["{ S0[i, j, k] -> C[i, j] }"])], "{ S0[i, j, k] -> [i, j, k] }"))


def test_a_chain_is_a_row_of_steps(product: Dependences) -> None:
    text = "S0.tile(i, j, io, jo, ii, ji, 32, 16)   // as Halide's: jo is outermost\n  .reorder(ji, k)\n".replace(
        "\n  .", "\nS0.") + "S0.parallel(jo).vectorize(ji);\n"
    assert has_chains(text)
    made = read_chains(text, product)
    assert [type(s).__name__ for s in made.steps] == ["StripMine", "StripMine", "Reorder", "Reorder", "Parallel",
                                                      "Vectorize"]
    rows = [line.split(": ")[1] for line in tree_text(made.tree).splitlines() if "S0: " in line]
    assert len(rows) == 5
    assert rows[2:] == ["k", "i", "j"]
    assert "16" in rows[0]
    assert "32" in rows[1]


def test_steps_round_trip(product: Dependences) -> None:
    made = apply(original(product), Tile(loops=("i", "j"), sizes=(32, 16)), Interchange(outer="j", inner="k"),
                 Parallel(loop=0), Unroll(loop="k", factor=4), Vectorize(loop="j"))
    text = write_chains(made)
    assert text == """\
S0.split(i, i_o, i_i, 32)
S0.split(j, j_o, j_i, 16)
S0.reorder(j_i, i_i, j_o, i_o)
S0.reorder(j_i, k)
S0.parallel(i_o)
S0.unroll(k, 4)
S0.vectorize(j_i)
"""
    again = read_chains(text, product)
    assert again.tree.get_map().is_equal(made.tree.get_map())
    assert write_chains(again) == text


def test_a_schedule_as_people_write_it_for_halide(product: Dependences) -> None:
    made = read_chains("""
        Var io("io"), jo("jo"),
            ii, ji;   // declarations say nothing
        /* C is what writes it:
           S0 */
        C
            .tile(j, i, ji, ii,
                  32, 16, TailStrategy::GuardWithIf)
            .reorder(ji, k, ii)
            .parallel(i, 2).vectorize(ji, 8)
            .serial(k).rename(k, sum);
        C.split(sum, so, si, 4).unroll(si);
        """, product)
    assert write_chains(made) == """\
S0.split(j, j_o, j_i, 32)
S0.split(i, i_o, i_i, 16)
S0.reorder(j_i, i_i, j_o, i_o)
S0.reorder(j_i, k, i_i)
S0.split(i_o, i_o_o, i_o_i, 2)
S0.parallel(i_o_o)
S0.split(j_i, j_i_o, j_i_i, 8)
S0.vectorize(j_i_i)
S0.split(k, k_o, k_i, 4)
S0.unroll(k_i, 4)
"""


@pytest.mark.parametrize(("domain", "chain", "runs"), [
    ("0 <= i < 64", "S0.split(i, io, ii, 16).unroll(io)", 4),
    ("5 <= i < 21", "S0.split(i, io, ii, 8).unroll(io)", 3),      # 5 to 7, 8 to 15, 16 to 20
    ("5 <= i < 21", "S0.split(i, io, ii, 8).unroll(ii)", 8),
    ("0 <= i < 9 and i mod 2 = 0", "S0.unroll(i)", 5),
    ("3 <= i < 20 and i mod 3 = 0", "S0.split(i, io, ii, 6).unroll(io)", 4)])
def test_an_unrolled_loop_is_as_long_as_it_runs(domain: str, chain: str, runs: int) -> None:
    scop = build_scop([("S0", f"{{ S0[i] : {domain} }}", [], ["{ S0[i] -> A[i] }"])], "{ S0[i] -> [i] }")
    assert [step.factor for step in read_chains(chain, analyse(scop)).steps if isinstance(step, Unroll)] == [runs]


@pytest.mark.parametrize(("text", "message"), [
    ("S9.parallel(i)", "line 1: the program has no statement S9"),
    ("S0.compute_root()", "line 1: no call compute_root\n  hint: a program computes and keeps values where it says so"),
    ("S0.fuse(i, j, ij)", "line 1: no call fuse\n  hint: two loops stay two here"),
    ("S0.unroll(i)", r"line 1: loop i around S0 runs as often as sizes say\n  hint: unroll\(i, 4\)"),
    ("S0.split(i, i, ii, 8, TailStrategy::RoundUp)", "TailStrategy::RoundUp runs iterations that the loop"),
    ("S0\n  .parallel(i)\n  .tile(i, j)", "line 3: tile takes 8 or 6 arguments"),
    ("S0.reorder(j, i)\n\nS0\n  .vectorize(j)", r"line 4, vectorize\(j\): loop 'j' is not innermost"),
    ("A.parallel(i)", "line 1: the program has no statement A\n  witness: and none that writes an array A"),
    ("C.update(2).parallel(i)", r"line 1: C has no update\(2\)\n  witness: the statements that write it are S0"),
    ("S0.rename(i, j)", "line 1: two loops around S0 would have the name j"),
    ("\nS0.parallel(x)", "line 2: no loop x is around S0\n  hint: there are, outermost first, i, j, k"),
    ("S0.split(i, io, ii)", "split takes 4 arguments"),
    ("S0.split(i, io, ii, 0)", "'0' is no factor"),
    ("S0.split(i, io, io, 4)", "line 1: two loops around S0 would have the name io"),
    ("S0.split(i, j, ii, 4)", "line 1: two loops around S0 would have the name j"),
    ("S0.reorder(i, i)", "reorder takes each loop once"),
    ("S0.parallel(i) and so on", "line 1: a line is no chain of calls"),
])
def test_refusals(product: Dependences, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read_chains(text, product)


def test_what_breaks_a_dependence_is_refused_with_a_pair(product: Dependences) -> None:
    with pytest.raises(IllegalScheduleError, match=r"the loop marked parallel carries .*\n  witness: S0"):
        read_chains("S0.parallel(k)", product)


def test_what_no_call_does_is_not_written(product: Dependences) -> None:
    with pytest.raises(UsageError, match="no call does what the step reverse does"):
        write_chains(apply(original(product), Reverse(loop="i")))
    with pytest.raises(UsageError, match="begin from the order as written"):
        write_chains(pluto(product))


def test_a_chain_of_many_splits_is_refused(product: Dependences, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(halide, "MOST_LOOPS", 4)
    text = "S0.split(i, io, ii, 64)\nS0.split(ii, im, ix, 8)"
    with pytest.raises(UsageError, match="line 2: more than 4 loops would be around S0"):
        read_chains(text, product)
