"""The program that compares emitted versions with their originals: what is equal, and what is said of the others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from polysched.fuzz.affine import Affine
from polysched.fuzz.matches import harness
from polysched.fuzz.matches.attempt import Emission
from polysched.fuzz.matches.c_tree import Assign, Element, Function, Loop
from polysched.fuzz.matches.harness import Version, compared, unit_text
from polysched.fuzz.matches.pairs import SAME, Pair
from polysched.fuzz.matches.units import unit
from polysched.measure.processes.execution import Ran
from polysched.target import find_compiler

AT = Affine((("i", 1),))


def version(seed: int, region: str, ctype: str = "int32_t", *, strict: bool = False, preamble: str = "") -> Version:
    """`C[i] = A[i]` for five elements, with something in the place of its region."""
    body = (Loop("i", Affine(), Affine((), 5), (Assign(Element("C", (AT,)), "=", Element("A", (AT,))),)),)
    program = Function("f", (("C", ctype), ("A", ctype)), body)
    described = replace(unit(3), function=program)
    return Version(Pair(seed, described, SAME, (), "", (program, program), strict=strict), 0, 0,
                   Emission(mapping="by hand", preamble=preamble, region=region))


def loop(value: str, end: int = 5) -> str:
    return f"for (int i = 0; i < {end}; i++) C[i] = {value};"


CASES = {
    "equal": (loop("A[i]"), "int8_t", ""),
    "a wrapped sum is equal": (loop("(int8_t)(A[i] + 256)"), "int8_t", ""),
    "one bit": (loop("A[i] ^ (i == 4)"), "uint16_t", "element 4 of array 0 is "),
    "the last bit of eight bytes": (loop("A[i] ^ 1"), "uint64_t", "element 0 of array 0 is "),
    "seldom": (loop("A[i] == -128 ? 0 : A[i]"), "int8_t", "element"),
    "the least int": (loop("A[i] == INT32_MIN ? 0 : A[i]"), "int32_t", "element"),
    "behind": (loop("A[i]") + " C[5] = 0;", "int16_t", "a write outside of array 0"),
    "ahead": (loop("A[i]") + " A[-1] ^= 1;", "int16_t", "a write outside of array 1"),
    "an input": (loop("A[i]") + " A[3]++;", "int64_t", "element 3 of array 1 is "),
    "never ends": (loop("A[i]") + " for (volatile int i = 0; i < 1; i--) i = 0;", "int8_t", "the emitted program ends"),
    "divides by nothing": (loop("A[i] / (A[i] - A[i])"), "int32_t", "the emitted program ends with status -8"),
    "no number": (loop("A[i] - 0.0f"), "float", ""),
    "the sign of a zero": (loop("A[i] + 0.0f"), "float", "element"),
    "rounds": (loop("A[i] + 1e-9f * A[i]"), "float", ""),
    "off by a half": (loop("A[i] + 0.5"), "double", "element 0 of array 0 is "),
}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What is said of every case, in one program; a hang costs a tenth of a second here."""
    versions = [version(seed, region, ctype) for seed, (region, ctype, _) in enumerate(CASES.values())]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(harness, "MAIN", harness.MAIN.replace("alarm(VERSION_SECONDS)", "ualarm(300000, 0)"))
        said = compared(versions, tmp_path_factory.mktemp("harness"), find_compiler())
    return {name: said[v.label] for name, v in zip(CASES, versions, strict=True)}


@pytest.mark.parametrize("name", CASES)
def test_what_a_version_does_is_said(name: str, found: dict[str, str]) -> None:
    expected = CASES[name][2]
    assert found[name].startswith(expected) if expected else found[name] == ""


def test_a_difference_has_both_numbers(found: dict[str, str]) -> None:
    words = found["one bit"].split(" is ")[1].split(" instead of ")
    assert abs(float(words[0]) - float(words[1])) == 1
    words = found["off by a half"].split(" is ")[1].split(" instead of ")
    assert float(words[0]) - float(words[1]) == 0.5


def test_random_floats_have_digits_to_lose(tmp_path: Path) -> None:
    """In the strict case sums that are rounded otherwise differ; whole numbers of the other lose nothing."""
    versions = [version(seed, loop("A[i] == 0 ? A[i] : (A[i] + 1e6f) - 1e6f"), "float", strict=strict)
                for seed, strict in enumerate((False, True))]
    found = compared(versions, tmp_path, find_compiler())
    assert found["0_0_0"] == ""
    assert found["1_0_0"].startswith("element")


def test_nothing_is_compiled_for_nothing(tmp_path: Path) -> None:
    assert compared([], tmp_path, find_compiler()) == {}
    assert not list(tmp_path.iterdir())


def test_one_original_serves_all_its_versions() -> None:
    own = version(1, loop("A[i]"))
    text = unit_text([own, replace(own, number=1), replace(own, size=1)])
    assert text.count("static void original_1_0(") == text.count("static void original_1_1(") == 1
    assert text.count("static void static_1_0_0(") == text.count("static void static_1_0_1(") == 1
    assert text.count('{"1_0_') == 2


def test_a_run_that_takes_too_long_names_the_version_that_ran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first run ends too late in its second version, the next one goes on behind it."""
    outputs = ["begin 0 0_0_0\nend 0_0_0 equal\nbegin 1 1_0_0\n", "begin 2 2_0_0\nend 2_0_0 differs element 1\n"]
    asked: list[str] = []
    limits: list[object] = []

    def run(command: list[str], *, seconds: float, folder: Path) -> Ran:
        asked.append(command[1])
        limits.append(seconds)
        return Ran(output=outputs[len(asked) - 1], errors="", status=None if len(asked) == 1 else 0)

    monkeypatch.setattr(harness, "run_program", run)
    found = harness._ran(tmp_path, [version(n, "") for n in range(3)], tmp_path)
    assert asked == ["0", "2"]
    assert limits == [35.0, 25.0]   # a run of many versions is not ended for their number
    assert found == {"0_0_0": "", "1_0_0": "the emitted program is not done after 35 seconds", "2_0_0": "element 1"}
