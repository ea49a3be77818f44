"""Only the headers of the instruction sets that a text uses are included, and the code is the same."""

import shutil
from pathlib import Path

import pytest

from polysched.emit_c.alternatives.dispatch import dispatch
from polysched.measure.processes.building import compile_shared
from polysched.measure.processes.narrow_headers import WHOLE, with_narrow_headers
from polysched.target import Compiler, find_compiler
from polysched.tensorize.conformance.conformance import instruction_c
from polysched.tensorize.conformance.cross_compile import TYPES
from polysched.tensorize.description.intrinsic import Intrinsic, Isa
from polysched.tensorize.intrinsics.shipped import shipped, shipped_for

TEXT = f"""#pragma GCC visibility push(default)
{WHOLE}__attribute__((target("avx2"))) void add(int *a, const int *b) {{
    _mm256_storeu_si256((__m256i *)a, _mm256_add_epi32(_mm256_loadu_si256((__m256i *)a),
                                                       _mm256_loadu_si256((const __m256i *)b)));
}}
"""


def gcc() -> Compiler:
    compiler = find_compiler("gcc" if shutil.which("gcc") else None)
    if compiler.kind != "gcc":
        pytest.skip("no gcc here: other compilers take the whole header")
    return compiler


def test_the_headers_are_those_of_the_targets() -> None:
    narrow = with_narrow_headers(TEXT)
    assert narrow is not None
    assert "avx2intrin.h" in narrow
    assert "avx512" not in narrow
    assert "immintrin.h" not in narrow


@pytest.mark.parametrize("text", ["int x;", WHOLE, WHOLE + '__attribute__((target("amx-tile"))) void f(void) {}'])
def test_other_texts_keep_what_they_include(text: str) -> None:
    assert with_narrow_headers(text) is None


def test_a_text_compiles_with_them(tmp_path: Path) -> None:
    compile_shared(TEXT, name="add", folder=tmp_path, compiler=gcc())
    assert "immintrin.h>" not in (tmp_path / "add.c").read_text()


def test_what_they_do_not_declare_takes_the_whole_header(tmp_path: Path) -> None:
    text = TEXT.replace("_mm256_storeu", "a[0] += _rotwl(a[1], 3);\n    _mm256_storeu")
    compile_shared(text, name="add", folder=tmp_path, compiler=gcc())
    assert WHOLE in (tmp_path / "add.c").read_text()


def test_every_instruction_of_x86_is_declared_by_them(tmp_path: Path) -> None:
    """One text per instruction set; those whose headers need the masks of others take the whole one."""
    compiler = gcc()
    sets: dict[Isa, list[Intrinsic]] = {}
    for intrinsic in shipped_for("x86_64"):
        sets.setdefault(intrinsic.isa, []).append(intrinsic)
    whole = set()
    for isa, intrinsics in sets.items():
        bodies = "".join(dispatch(isa).compiled_for(instruction_c(i, name=f"executed_{n}"))
                         for n, i in enumerate(intrinsics))
        if with_narrow_headers(WHOLE + TYPES + bodies) is None:
            whole.add(isa.name)
            continue
        compile_shared(WHOLE + TYPES + bodies, name="all", folder=tmp_path, compiler=compiler, flags=("-O0",))
        assert WHOLE not in (tmp_path / "all.c").read_text(), isa.name
    assert whole == {"amx_int8", "amx_bf16", "avx512_bf16", "avx512bw", "avx512_vbmi"}


def test_shipped_instructions_of_a_machine_are_those_of_the_list() -> None:
    assert shipped_for("x86_64") == tuple(i for i in shipped() if i.isa.machine == "x86_64")
