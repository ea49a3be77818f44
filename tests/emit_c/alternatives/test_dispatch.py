"""Instruction code beside ordinary code in one file: compiled without flags, chosen by the processor that runs it."""

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from polysched.emit_c.alternatives.dispatch import dispatch
from polysched.errors import UsageError
from polysched.pipeline import transform_file
from polysched.pipeline.options import PipelineOptions
from polysched.tensorize.intrinsics import amx, arm_i8mm, avx2_integer, riscv_v
from polysched.tensorize.options import TensorizeOptions

PROGRAM = """#include <stdint.h>
#include <stdio.h>
#define N 96
static int32_t C[N][N]; static uint8_t A[N][N]; static int8_t B[N][N];
int main(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            C[i][j] = 1000000 * (i - j);
            A[i][j] = (uint8_t)(255 - 7 * i * j);
            B[i][j] = (int8_t)(11 * i + 5 * j - 128);
        }
#pragma scop
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < N; k++)
                C[i][j] += A[i][k] * B[k][j];
#pragma endscop
    uint32_t all = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            all = all * 31 + (uint32_t)C[i][j];
    printf("%u%s", all, SAYS);
    return 0;
}
"""
SAYS = "#ifndef SAYS\n#define SAYS \"\"\n#endif\n"


def built(compiler: str, source: Path, *flags: str) -> Path:
    binary = source.with_name(f"{source.stem}-{compiler}")
    done = subprocess.run([compiler, "-O2", *flags, str(source), "-o", str(binary)], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stderr
    assert not done.stderr, done.stderr
    return binary


def printed(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, (command, done.returncode, done.stderr)
    return done.stdout


@pytest.mark.parametrize("compiler", ["gcc", "clang", "clang-19"])
@pytest.mark.parametrize("threads", [True, False])
def test_one_file_for_processors_with_and_without_the_instruction(compiler: str, threads: bool, tmp_path: Path) -> None:
    """Without flags and warnings; the file asks once, here and on an emulated processor without AVX2."""
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    original, made = tmp_path / "original.c", tmp_path / "made.c"
    original.write_text(SAYS + PROGRAM)
    done = transform_file(original, PipelineOptions(parallel=threads, verify_instructions="never",
                                                    tensorize=TensorizeOptions(intrinsic="vpmaddwd")))
    assert '__attribute__((target("avx2"))) static void' in done.text
    made.write_text(done.text.replace("polysched_has_avx2()) {", "polysched_has_avx2()) {\n#undef SAYS\n"
                                                                 '#define SAYS (polysched_has_avx2() ? " avx2" : "")'))
    before = printed(str(built("gcc", original)))
    binary = built(compiler, made, "-Wall", "-Wextra", *(["-fopenmp"] if threads else ["-Wno-unknown-pragmas"]))
    assert printed(str(binary)) in (before, f"{before} avx2")
    if shutil.which("qemu-x86_64") is None:
        pytest.skip("no qemu-x86_64")
    assert printed("qemu-x86_64", "-cpu", "Nehalem", str(binary)) == before
    assert printed("qemu-x86_64", "-cpu", "max", str(binary)) == f"{before} avx2"


def test_arm_processors_are_asked_through_the_auxiliary_vector(tmp_path: Path) -> None:
    compiler = "aarch64-linux-gnu-gcc"
    if shutil.which(compiler) is None or shutil.which("qemu-aarch64") is None:
        pytest.skip(f"no {compiler} or no qemu-aarch64")
    found = dispatch(arm_i8mm.ISA)
    source = tmp_path / "asks.c"
    source.write_text(f"#include <stdio.h>\n{found.helper}int main(void) {{ printf(\"%d\", {found.condition}); }}\n")
    binary = built(compiler, source, "-static", "-Wall", "-Wextra")
    assert printed("qemu-aarch64", "-cpu", "cortex-a53", str(binary)) == "0"
    assert printed("qemu-aarch64", "-cpu", "max", str(binary)) == "1"


def test_permission_for_tiles_is_part_of_the_test(tmp_path: Path) -> None:
    """Where the system gives no tiles, the answer is no; the code does not end the process."""
    found = dispatch(amx.INT8)
    assert '__builtin_cpu_supports("amx-tile")' in found.helper
    assert "polysched_has_amx_int8_prepared()" in found.helper
    assert "return 0;" in found.helper
    source = tmp_path / "asks.c"
    headers = "".join(f"#include <{h}>\n" for h in ("stdio.h", *amx.INT8.headers))
    source.write_text(f"{headers}{found.helper}int main(void) {{ printf(\"%d\", {found.condition}); }}\n")
    assert printed(str(built("gcc", source, "-Wall", "-Wextra"))) in ("0", "1")


def test_other_machines_compile_for_what_they_have() -> None:
    assert dispatch(riscv_v.ISA).condition == ""
    assert dispatch(riscv_v.ISA).only_there("x\n") == "x\n"


def test_an_extension_that_nobody_can_ask_for_is_refused() -> None:
    strange = replace(avx2_integer.ISA, name="strange", flags=("-mavx2", "-mapxf"))
    with pytest.raises(UsageError, match="how to ask a processor for apxf is not known"):
        dispatch(strange)
    assert "strange_prepared()" in dispatch(replace(strange, prepare="if (!getpid()) {refuse};")).helper
