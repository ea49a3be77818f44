"""`polysched block`: block programs as text of each target."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from tests.cli.command import is_refusal, polysched
from tests.kernel.test_triton_calls import needs_triton

PROGRAMS = """\
import polysched
import polysched.scop.block_frontend.language as bl


@polysched.block_program
def double(x, out, BLOCK=16):
    n = out.shape[0]
    at = bl.program_id(0, bl.cdiv(n, BLOCK)) * BLOCK
    bl.store(bl.block(out, (n,), (at,), (BLOCK,)), 2 * bl.load(bl.block(x, (n,), (at,), (BLOCK,))))


def shifted(out, BLOCK=16):
    n = out.shape[0]
    at = bl.program_id(0, bl.cdiv(n, BLOCK)) * BLOCK
    bl.store(bl.block(out, (n,), (at,), (BLOCK,)), bl.load(bl.block(out, (n,), (at + 1,), (BLOCK,))))


number = 3
"""


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> Path:
    (tmp_path / "own_block_programs.py").write_text(PROGRAMS)
    return tmp_path


def block(folder: Path, name: str, *words: str, from_nothing: bool = False):
    return polysched("block", f"own_block_programs:{name}", *words, folder=folder, from_nothing=from_nothing)


def test_triton_to_a_file_with_its_json(folder: Path) -> None:
    done = block(folder, "double", "--target", "triton", "-o", "double.py", "--constant", "BLOCK=8", "--json",
                 from_nothing=True)
    assert done.returncode == 0, done.stderr
    value = json.loads(done.stdout)
    assert (value["constants"], value["arguments"]) == ({"BLOCK": 8}, {"x": "float64", "out": "float64"})
    assert value["text"] == (folder / "double.py").read_text()
    assert ast.parse(value["text"])
    assert "BLOCK=8" in value["text"]


@needs_triton
def test_compiled_for_two_architectures(folder: Path) -> None:
    done = block(folder, "double", "--target", "triton", "-o", "double.py", "--compile", "sm_80", "--compile", "sm_90")
    assert done.returncode == 0, done.stderr
    assert [line.partition(" registers")[0].split(":")[:2] for line in done.stdout.splitlines()] == [
        [a, " double_kernel"] for a in ("sm_80", "sm_90")]


@pytest.mark.parametrize(("target", "words"), [
    ("host", "void polysched_kernel(long x_0, long n, const float x"), ("opencl", "__kernel void"),
    ("cuda", "__global__ void")])
def test_c_of_a_target(folder: Path, target: str, words: str) -> None:
    done = block(folder, "double", "--target", target, "--type", "float32")
    assert done.returncode == 0, done.stderr
    assert words in done.stdout


@pytest.mark.parametrize(("words", "told"), [
    (("shifted", "--target", "triton"), "programs (1,) and (0,) reach out[16]"),
    (("number",), "own_block_programs:number is a int"),
    (("double", "--compile", "sm_80"), "--compile is for --target triton"),
    (("double", "--type", "y=float32"), "the program has no argument y"),
    (("double", "--type", "fp32"), "no type 'fp32'"),
    (("double", "--constant", "N=3"), "double has no constant N"),
    (("double", "--target", "avx2"), "costs of a machine change nothing"),
    (("double", "--target", "triton", "--constant", "BLOCK=12"), "BLOCK is 12"),
    (("absent",), "own_block_programs has no 'absent'")])
def test_misuse_is_refused(folder: Path, words: tuple[str, ...], told: str) -> None:
    done = block(folder, *words)
    assert is_refusal(done), done.stderr
    assert told in done.stderr
