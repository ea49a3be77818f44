"""The operations that a kernel is said to have are those that its text has, for every instruction."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from polysched.measure.timing.peak_source import INSTRUCTIONS, peak_program, stream_program
from polysched.target import find_compiler

ELEMENT_BITS = {"float32": 32, "float64": 64}
FACTOR_BITS = {"int8": 8, "bfloat16": 16}


def kernel(text: str, name: str) -> str:
    found = re.search(rf"void peak_{name}\(long repetitions\) {{(.*?)^}}", text, re.DOTALL | re.MULTILINE)
    assert found is not None
    return found.group(1)


def vector_bytes(text: str, name: str) -> int:
    found = re.search(rf"vector_{name} __attribute__\(\(vector_size\((\d+)\)\)\)", text)
    assert found is not None
    return int(found.group(1))


@pytest.mark.parametrize("bits", [0, 128, 256, 512])
def test_multiply_adds_are_two_operations_a_lane(bits: int) -> None:
    text, operations = peak_program(bits, frozenset())
    assert set(operations) == set(ELEMENT_BITS)
    for name, element in ELEMENT_BITS.items():
        steps = re.findall(r"^    a(\d+) = a\1 \* x \+ y;$", kernel(text, name), re.MULTILINE)
        assert len(set(steps)) == len(steps) >= 10   # five cycles on two pipes
        assert operations[name] == 2 * len(steps) * 8 * vector_bytes(text, name) // element


@pytest.mark.parametrize("bits", [128, 256, 512])
@pytest.mark.parametrize(("name", "feature"), [(n, i.feature) for n, all_ in INSTRUCTIONS.items() for i in all_])
def test_an_instruction_multiplies_every_short_number_of_its_register(name: str, feature: str, bits: int) -> None:
    text, operations = peak_program(bits, frozenset({feature}))
    steps = re.findall(r'"\+[vxw]"\(a(\d+)\)', kernel(text, name))
    assert len(set(steps)) == len(steps) >= 10
    assert operations[name] == 2 * len(steps) * 8 * vector_bytes(text, name) // FACTOR_BITS[name]
    assert vector_bytes(text, name) * 8 <= {"asimddp": 128, "bf16": 128, "avx_vnni": 256}.get(feature, 512)


def test_the_first_instruction_that_is_there_counts() -> None:
    text, operations = peak_program(512, frozenset({"avx_vnni", "avx512_vnni", "avx512_bf16"}))
    assert "{vex}" not in text
    assert set(operations) == {*ELEMENT_BITS, *INSTRUCTIONS}


@pytest.mark.parametrize("bits", [128, 512])
def test_a_stream_reads_each_word_of_a_step_once(bits: int) -> None:
    text = stream_program(bits)
    offsets = re.findall(r"s(\d+) \+= p\[\1\];", text)
    step = re.search(r"stream_step\(void\) { return (\d+); }", text)
    assert step is not None
    assert int(step.group(1)) == len(set(offsets)) * bits // 64
    assert f"p += {len(offsets)})" in text


def test_threads_read_parts_that_do_not_overlap(tmp_path: Path) -> None:
    """The text of the stream beside another `stream`, which says what it was given."""
    text = stream_program(128).replace("EXPORTED void stream(", "EXPORTED void real_stream(")
    head, tail = text.split("EXPORTED long stream_step")
    main = """int main(void) {
  double data[1000];
  base = data;
  for (int threads = 1; threads < 5; threads++) stream_threads(data, 1000, 7, threads);
}
"""
    told = ("#include <stdio.h>\nstatic const double *base;\nstatic void stream(const double *data, long words, long r)"
            ' { printf("%ld %ld %ld\\n", (long)(data - base), words, r); }\n')
    (tmp_path / "parts.c").write_text(f"{head}{told}EXPORTED long stream_step{tail}{main}")
    compiler = find_compiler()
    assert compiler.run(["-w", str(tmp_path / "parts.c"), "-o", str(tmp_path / "parts")]).returncode == 0
    lines = output_of(tmp_path / "parts")
    at = 0
    for threads in range(1, 5):
        words = 1000 // threads // 16 * 16
        assert lines[at:at + threads] == [(t * words, words, 7) for t in range(threads)]
        at += threads


def output_of(program: Path) -> list[tuple[int, ...]]:
    done = subprocess.run([str(program)], capture_output=True, text=True, check=True)
    return [tuple(map(int, line.split())) for line in done.stdout.splitlines()]
