"""No code with an instruction is emitted before it was run beside the statement that it replaces."""

import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from polysched.dependence import analyse
from polysched.dependence.dependences import Dependences
from polysched.emit_c.alternatives.replacement_check import ReplacementCheck
from polysched.errors import CompileError, RunFailedError, UsageError, WrongResultError
from polysched.measure.bit_for_bit import check as bit_for_bit
from polysched.measure.bit_for_bit.check import CheckOutcome
from polysched.measure.processes.isolation import Limits
from polysched.pipeline import optimize, stages, transform_file, verified_replacements, way
from polysched.pipeline.options import PipelineOptions
from polysched.scop import from_c_text
from polysched.target import Target
from polysched.tensorize import options as choosing
from polysched.tensorize import registry
from polysched.tensorize.description.intrinsic import Intrinsic
from polysched.tensorize.description.library_function import LibraryFunction, Variant
from polysched.tensorize.emission import packing
from polysched.tensorize.matching.mapping import Match
from polysched.tensorize.options import TensorizeOptions
from polysched.tensorize.program import part
from polysched.tiling import TilingOptions
from tests.pipeline.replacements import LOOPS, NO_C, PRODUCT, RIGHT, TRAPS, WRONG
from tests.tensorize.compiled import AS_WRITTEN


@pytest.fixture(autouse=True)
def _no_earlier_verdicts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYSCHED_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(verified_replacements, "_KNOWN", {})


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> Callable[[Intrinsic], None]:
    """Makes an instruction the only one, which this machine is taken to execute as described."""
    def only(intrinsic: Intrinsic) -> None:
        monkeypatch.setattr(registry, "INTRINSICS", {intrinsic.name: intrinsic})
        monkeypatch.setattr(choosing, "INTRINSICS", {intrinsic.name: intrinsic})
        monkeypatch.setattr(choosing, "executes_here", lambda _: True)
    return only


def options(name: str = "lanes_of_four", **more: Any) -> PipelineOptions:
    return PipelineOptions(tensorize=TensorizeOptions(intrinsic=name), **(AS_WRITTEN | more))


def told(made: Any) -> str:
    return "\n".join(s for s in made.steps() if s.startswith("instruction: "))


def test_the_report_says_at_which_sizes_the_code_was_compared(known: Callable[[Intrinsic], None]) -> None:
    known(RIGHT)
    made = optimize(from_c_text(PRODUCT), options())
    assert "/* S0 by lanes_of_four */" in made.text
    assert "verified: S0: lanes_of_four equals the statement at i 24 x j 24 x k 24, i 13 x j 11 x k 13" in told(made)


def test_the_same_pair_runs_once(known: Callable[[Intrinsic], None], monkeypatch: pytest.MonkeyPatch,
                                 tmp_path: Path) -> None:
    known(RIGHT)
    optimize(from_c_text(PRODUCT), options())
    (verdict,) = (tmp_path / "cache" / "verdicts").glob("*/verdict.json")
    assert json.loads(verdict.read_text())["difference"] is None

    def run(*_: Any, **__: Any) -> None:
        raise AssertionError("it runs again")
    monkeypatch.setattr(verified_replacements, "run_checks", run)
    optimize(from_c_text(PRODUCT), options())
    verified_replacements._KNOWN.clear()
    assert "equals the statement" in told(optimize(from_c_text(PRODUCT), options()))
    with pytest.raises(AssertionError, match="runs again"):
        optimize(from_c_text(PRODUCT), options(verify_instructions="always"))
    known(replace(RIGHT, semantics=RIGHT.semantics.replace("A[0] * B[i]", "B[i] * A[0]")))
    with pytest.raises(AssertionError, match="runs again"):   # another description
        optimize(from_c_text(PRODUCT), options())
    with pytest.raises(AssertionError, match="runs again"):   # another statement
        optimize(from_c_text(PRODUCT.replace("k < 24", "k < 23")), options())


def test_a_verdict_that_cannot_be_read_is_made_again(known: Callable[[Intrinsic], None], tmp_path: Path) -> None:
    known(RIGHT)
    optimize(from_c_text(PRODUCT), options())
    (verdict,) = (tmp_path / "cache" / "verdicts").glob("*/verdict.json")
    verdict.write_text("{")
    verified_replacements._KNOWN.clear()
    assert "equals the statement" in told(optimize(from_c_text(PRODUCT), options()))


def test_an_instruction_unlike_its_text_is_refused_with_the_element(known: Callable[[Intrinsic], None]) -> None:
    known(WRONG)
    with pytest.raises(WrongResultError) as refused:
        optimize(from_c_text(PRODUCT), options())
    assert "the code with lanes_of_four computes something else" in refused.value.problem
    assert refused.value.where == "statement S0"
    assert str(refused.value.witness).startswith("C[0][")
    assert " has to be " in str(refused.value.witness)
    assert "description of lanes_of_four" in str(refused.value.hint)


def test_auto_takes_the_ordinary_code_instead_and_says_so(known: Callable[[Intrinsic], None]) -> None:
    known(WRONG)
    made = optimize(from_c_text(PRODUCT), options("auto"))
    assert "lanes_of_four" not in made.text
    assert "S0: lanes_of_four is not used: C[0][" in told(made)
    assert "elements differ; i 24 x j 24 x k 24;" in told(made)


def test_unverified_only_when_asked(known: Callable[[Intrinsic], None]) -> None:
    known(WRONG)
    made = optimize(from_c_text(PRODUCT), options(verify_instructions="never"))
    assert "/* S0 by lanes_of_four */" in made.text
    assert "verified" not in told(made)
    with pytest.raises(UsageError, match="cannot be verified 'seldom'"):
        options(verify_instructions="seldom")


def test_wrong_packing_is_found(known: Callable[[Intrinsic], None], monkeypatch: pytest.MonkeyPatch) -> None:
    known(RIGHT)
    right = packing.value_c
    monkeypatch.setattr(packing, "value_c", lambda *given, **more: f"({right(*given, **more)} + 1)")
    text = PRODUCT.replace("B[k][j]", "B[j][k]")   # so that it is packed
    with pytest.raises(WrongResultError, match="has to be"):
        optimize(from_c_text(text), options())
    made = optimize(from_c_text(text), options("auto"))
    assert "lanes_of_four" not in made.text


@pytest.mark.parametrize(("intrinsic", "error", "why"), [
    (TRAPS, RunFailedError, "crashed with SIG"), (LOOPS, RunFailedError, "hung: no progress for 2 seconds"),
    (NO_C, CompileError, "refused the code with the instruction")])
def test_what_traps_loops_or_does_not_compile_is_not_emitted(
        intrinsic: Intrinsic, error: type[Exception], why: str, known: Callable[[Intrinsic], None],
        monkeypatch: pytest.MonkeyPatch) -> None:
    known(intrinsic)
    monkeypatch.setattr(bit_for_bit.run_checks, "__kwdefaults__",
                        {**bit_for_bit.run_checks.__kwdefaults__, "limits": Limits(seconds=2.0)})
    with pytest.raises(error, match=why):
        optimize(from_c_text(PRODUCT), options())
    made = optimize(from_c_text(PRODUCT), options("auto"))
    assert "lanes_of_four" not in made.text
    assert why in told(made)


CLEARED = PRODUCT.replace("#pragma scop", """#pragma scop
    for (int i = 0; i < 24; i++)
        for (int j = 0; j < 24; j++)
            C[i][j] = 0;""")


def test_the_reference_is_the_region_before_it_was_prepared(known: Callable[[Intrinsic], None],
                                                            monkeypatch: pytest.MonkeyPatch) -> None:
    """A canonical form that loses a statement is found, although the instruction computes what is left of it."""
    known(RIGHT)
    assert "equals the statement" in told(optimize(from_c_text(CLEARED), options()))
    right = stages.canonical_form

    def forgetful(dependences: Dependences) -> Dependences:
        left = part(right(dependences).scop, ["S1"])
        assert left is not None
        return analyse(left)
    monkeypatch.setattr(stages, "canonical_form", forgetful)
    with pytest.raises(WrongResultError, match=r"C\[0\]\["):
        optimize(from_c_text(CLEARED), options())


GENERAL = PRODUCT.replace("int32_t C[24][24], int32_t A[24][24], int32_t B[24][24]",
                          "int n, int32_t C[n][n], int32_t A[n][n], int32_t B[n][n]").replace("< 24", "< n")


def test_code_for_all_sizes_is_compiled_once_for_all_of_them(known: Callable[[Intrinsic], None],
                                                             monkeypatch: pytest.MonkeyPatch) -> None:
    known(RIGHT)
    ran: list[ReplacementCheck] = []

    def run(checks: list[ReplacementCheck], **more: Any) -> bit_for_bit.CheckOutcome:
        ran.extend(checks)
        return bit_for_bit.run_checks(checks, **more)
    monkeypatch.setattr(verified_replacements, "run_checks", run)
    made = optimize(from_c_text(GENERAL), options())
    assert "equals the statement at i 128 x j 128 x k 128, i 67" in told(made)
    assert len({c.replaced_text for c in ran}) == len({c.original_text for c in ran}) == 1
    assert len({c.parameters for c in ran}) == len(ran) >= 3


def test_code_with_an_instruction_is_run_as_it_will_be_compiled(known: Callable[[Intrinsic], None],
                                                                monkeypatch: pytest.MonkeyPatch) -> None:
    """At the level of optimisation of what is emitted, where overflow and aliases are what C makes of them."""
    known(RIGHT)
    flags: dict[str, tuple[str, ...]] = {}
    build = bit_for_bit.compile_shared

    def noted(text: str, **more: Any) -> Any:
        flags[more["name"]] = tuple(more["flags"])
        return build(text, **more)
    monkeypatch.setattr(bit_for_bit, "compile_shared", noted)
    optimize(from_c_text(PRODUCT), options())
    assert set(bit_for_bit.DEFAULT_FLAGS) <= set(flags["replaced"])
    assert not {"-fwrapv", "-fno-strict-aliasing"} & set(flags["replaced"])
    assert {"-fwrapv", "-fno-strict-aliasing"} <= set(flags["original"])


LONG = CLEARED.replace("24", "300")


def test_fixed_extents_that_take_long_are_compared_in_slices(known: Callable[[Intrinsic], None],
                                                             monkeypatch: pytest.MonkeyPatch) -> None:
    """The statement alone, and what was prepared of the region beside the region, for some elements."""
    known(RIGHT)
    words = told(optimize(from_c_text(LONG), options()))
    assert "equals the statement at i 300 x j 300 x k 300 (some elements)" in words
    assert "prepared from what the user wrote" in words
    right = stages.canonical_form

    def forgetful(dependences: Dependences) -> Dependences:
        left = part(right(dependences).scop, ["S1"])
        assert left is not None
        return analyse(left)
    monkeypatch.setattr(stages, "canonical_form", forgetful)
    with pytest.raises(WrongResultError, match="prepared from what the user wrote"):
        optimize(from_c_text(LONG), options())


def test_other_regions_of_a_file_keep_their_instructions(known: Callable[[Intrinsic], None], tmp_path: Path,
                                                         monkeypatch: pytest.MonkeyPatch) -> None:
    known(RIGHT)
    right = packing.value_c

    def broken(match: Match, *given: Any, **more: Any) -> str:
        return right(match, *given, **more) + (" + 1" if "second" in match.fragment.scop.name else "")
    monkeypatch.setattr(packing, "value_c", broken)
    second = PRODUCT.partition("void product")[2].replace("B[k][j]", "B[j][k]")
    path = tmp_path / "two.c"
    path.write_text(PRODUCT + "void second" + second)
    made = transform_file(path, options("auto", tiling=TilingOptions(target=Target(vector_bits=128, cores=2))))
    first, last = made.regions
    assert "/* S0 by lanes_of_four */" in first.text
    assert "lanes_of_four" not in last.text
    assert "is not used: C[0][" in told(last)


SCALED = """
void scaled(int n, double x[n], double y[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        y[i] = y[i] * 3.0 + x[i];
#pragma endscop
}
"""
SCALE = "void my_scale(int n, double *y, const double *x) { for (int i = 0; i < n; i++) y[i] = 3.0 * y[i] + x[i]; }"


def test_calls_of_a_described_function_are_run_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call that leaves out the last element is found."""
    right = LibraryFunction(name="my_scale", variants=(Variant(text=SCALE),), inline=True)
    monkeypatch.setattr(TensorizeOptions, "function", lambda _: right)
    made = optimize(from_c_text(SCALED), options("my_scale"))
    assert "my_scale(" in made.text
    assert "verified: S0: my_scale equals the statement at n = 128, n = 67, n = 37, n = 16" in told(made)
    shorter = Variant(text=SCALE, call="my_scale({n} - 1, {y}, {x});")
    wrong = LibraryFunction(name="my_scale", variants=(shorter,), inline=True)
    monkeypatch.setattr(TensorizeOptions, "function", lambda _: wrong)
    with pytest.raises(WrongResultError, match=r"y\[127\] has to be "):
        optimize(from_c_text(SCALED), options("my_scale"))


def test_nothing_runs_any_more_behind_a_region_that_is_refused(known: Callable[[Intrinsic], None],
                                                               monkeypatch: pytest.MonkeyPatch) -> None:
    known(RIGHT)
    running: list[str] = []

    def slowly(checks: Any, **more: Any) -> Any:
        running.append("begun")
        time.sleep(0.5)
        running.append("done")
        return CheckOutcome(sizes=("slow",), trials=1)

    def refused(*_: Any) -> Any:
        raise UsageError("no stage")

    monkeypatch.setattr(verified_replacements, "run_checks", slowly)
    monkeypatch.setattr(way, "_lowered", refused)
    with pytest.raises(UsageError, match="no stage"):
        optimize(from_c_text(PRODUCT), options())
    assert running == ["begun", "done"]


TAKEN = ("skipped_0", "original_0", "replaced_0", "instruction_0", "start", "end", "timespec")


@pytest.mark.parametrize("name", TAKEN)
def test_arrays_may_be_called_what_the_comparison_calls_its_own(name: str, known: Callable[[Intrinsic], None]) -> None:
    known(RIGHT)
    made = optimize(from_c_text(PRODUCT.replace("C[", f"{name}[").replace("B[", "end_[")), options())
    assert "verified: S0: lanes_of_four equals the statement at i 24 x j 24 x k 24" in told(made)


@pytest.mark.parametrize("name", TAKEN)
def test_so_may_those_of_programs_that_call_functions(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    function = LibraryFunction(name="scale", inline=True, variants=(Variant(
        "void scale(int n, float *y) { for (int i = 0; i < n; i++) y[i] = 3.0f * y[i] + 1.0f; }"),))
    monkeypatch.setattr(TensorizeOptions, "function", lambda _: function)
    text = f"void f(int n, float {name}[n]) {{\n#pragma scop\n" \
           f"for (int j = 0; j < n; j++) {name}[j] = 3.0f * {name}[j] + 1.0f;\n#pragma endscop\n}}\n"
    made = optimize(from_c_text(text), options("scale"))
    assert "verified: S0: scale equals the statement" in told(made), told(made)
