"""Loops that wait for their own results beside the loops of the iteration before."""

import pytest

from polysched.dependence.analysis import analyse
from polysched.dependence.legality import violation
from polysched.dependence.reductions import find_reductions
from polysched.pipeline import PipelineOptions, optimize
from polysched.scheduling.original import original
from polysched.scheduling.schedule import Schedule
from polysched.scheduling.tree.loop_tree import Band, children, from_isl, walk
from polysched.scop import from_c_text
from polysched.target.target import CorePorts
from polysched.tiling.rewriting import retiming
from polysched.tiling.rewriting.retiming import retime
from tests.schedules import original_of

PROGRAM = """
void f(int n, float a, float r[n], float y[n], float z[n]) {
#pragma scop
  for (int k = 1; k < n; k++) {
    SUM_TYPE sum = START;
    for (int i = 0; i < k; i++) sum += r[k - i - 1] * y[i];
    a = r[k] + sum;
    for (int i = 0; i < k; i++) z[i] = WORK;
    for (int i = 0; i < k; i++) y[i] = z[i];
    y[k] = a;
  }
#pragma endscop
}
"""


def program(work: str = "y[i] + a * y[k - i - 1]", sum_type: str = "float", start: str = "0") -> str:
    return PROGRAM.replace("WORK", work).replace("SUM_TYPE", sum_type).replace("START", start)


def plain(text: str) -> Schedule:
    return original_of(text)


def together(schedule: Schedule) -> list[int]:
    """How many nodes stand in each loop that is marked to stay."""
    return [len(children(band.child)) for band in walk(from_isl(schedule.tree).root)
            if isinstance(band, Band) and band.mark is not None]


def test_a_sum_is_computed_beside_the_copy_of_the_iteration_before():
    given = plain(program())
    retimed = retime(given, CorePorts())
    assert together(given) == []
    assert together(retimed) == [2]
    assert violation(retimed.dependences, retimed.tree) is None
    text = optimize(from_c_text(program()), PipelineOptions()).source.text
    loop = text[text.index("y[i] = z[i];"):]
    assert "+= r[k - i] * y[i];" in loop[:loop.index("}")]


@pytest.mark.parametrize("step", ["sum *= r[k - i - 1] + y[i]", "sum = sum * a + y[i]", "sum = r[k - i - 1] - sum"],
                         ids=["product", "Horner's rule", "alternating"])
def test_whatever_waits_for_its_own_results_is(step: str):
    given = plain(program().replace("sum += r[k - i - 1] * y[i]", step))
    retimed = retime(given, CorePorts())
    assert together(retimed) == [2]
    assert violation(retimed.dependences, retimed.tree) is None


@pytest.mark.parametrize("text", [
    program(sum_type="int", start="1"),
    program().replace("sum += r[k - i - 1] * y[i]", "sum = y[i] > sum ? y[i] : sum"),
    program().replace("y[i] = z[i];", "y[i] = z[i] / (z[i] + 1);"),
    program().replace("i = 0; i < k; i++) y[i] = z[i];", "i = 1; i < k; i++) y[i] = z[i] + y[i - 1];"),
    program().replace("y[k] = a;", "y[k] = a; for (int i = 0; i < k; i++) r[i] = r[i] * y[k - i];"),
], ids=["integers do not wait", "a maximum is computed in lanes", "a division takes long", "waits itself",
        "needed whole by the next sum"])
def test_what_gains_nothing_or_is_not_legal_stays(text: str):
    given = plain(text)
    assert retime(given, CorePorts()) is given


def test_a_sum_in_any_order_stays():
    given = original(analyse(from_c_text(program()), reductions="reassociate"))
    assert retime(given, CorePorts()) is given


def test_the_reductions_of_a_program_are_found_once(monkeypatch: pytest.MonkeyPatch):
    asked = []
    monkeypatch.setattr(retiming, "find_reductions", lambda scop: asked.append(scop) or find_reductions(scop))
    nest = program().partition("#pragma scop")[2].partition("#pragma endscop")[0]
    given = plain(program().replace("#pragma endscop", nest + "#pragma endscop"))
    assert together(retime(given, CorePorts())) == [2, 2]
    assert asked == [given.scop]
