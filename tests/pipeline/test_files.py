"""Every region of a file is replaced and nothing else of it, byte for byte; options that fit no region are refused."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

from polysched.errors import UnsupportedScopError, UsageError
from polysched.pipeline import PipelineOptions, optimize, source_to_source, transform_file
from polysched.pipeline.files import check_packed, compiler_flags
from polysched.scop import from_c_text
from polysched.tiling import TilingOptions
from tests.emit_c.compiled import load

REGION = "#pragma scop\n  for (int i = 0; i < n; i++)\n    A[i] = 2 * B[i];\n#pragma endscop"
FILE = ("/* \u00fcber */\r\n#define X \\\n 3\nstatic const char *s = \"#pragma scop\";\n"
        f"void f(int n, double *restrict A, double *restrict B) {{\n\t{REGION}\n  A[0] = X ;\n}}\n"
        f"void g(int n, double *restrict A, double *restrict B) {{\n{REGION}\n}}")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "in.c").write_bytes(FILE.encode())
    return tmp_path / "in.c"


def test_everything_around_the_regions_stays_byte_for_byte(path: Path) -> None:
    made = transform_file(path, PipelineOptions(parallel=False, portable=False))
    assert [r.scop.name for r in made.regions] == ["f", "g"]
    first, second, third = FILE.split(REGION)
    assert made.text.startswith(first.rstrip("\t"))
    assert made.text.endswith(third)
    assert second.strip() in made.text
    assert made.text.count("#pragma scop") == 1, "the one in the string"
    assert source_to_source(path, PipelineOptions(parallel=False, portable=False)) == made.text
    assert made.seconds.keys() == {"scop", "splice"}
    assert made.refused == ()


def test_all_stages_may_be_given(path: Path) -> None:
    seen, given = [], []

    def region(scop, options, seconds):
        seen.append(scop.name)
        if scop.name == "g":
            raise UnsupportedScopError("not this one", where=scop.source.location)
        given.append(optimize(scop, options))
        return given[0]

    made = transform_file(path, PipelineOptions(parallel=False), region=region)
    assert seen == ["f", "g"]
    assert made.regions == tuple(given)
    assert len(made.refused) == 1
    assert "not this one" in made.refused[0]
    assert made.text.count("#pragma endscop") == 1


def test_a_file_whose_regions_are_all_refused_is_refused(path: Path) -> None:
    def region(scop, options, seconds):
        raise UnsupportedScopError(f"not {scop.name}")

    with pytest.raises(UnsupportedScopError, match="not f"):
        transform_file(path, PipelineOptions(), region=region)


def test_arrays_to_pack_have_to_be_arrays_of_some_region(path: Path) -> None:
    options = PipelineOptions(tiling=TilingOptions(packed=("A", "Z")))
    scop = from_c_text(FILE.rpartition("void g")[0])
    with pytest.raises(UsageError, match="no array Z to pack"):
        check_packed(options, (scop,))
    check_packed(options, ())
    check_packed(PipelineOptions(tiling=TilingOptions(packed=("A",))), (scop,))
    with pytest.raises(UsageError, match="no array Z to pack"):
        transform_file(path, options)


def test_a_database_is_for_those_who_look_things_up(path: Path) -> None:
    for call in (transform_file, optimize):
        with pytest.raises(UsageError, match="looks nothing up in a database"):
            call(path, PipelineOptions(database="there"))


def test_each_flag_of_the_compiler_comes_once(path: Path) -> None:
    made = optimize(from_c_text(FILE.rpartition("void g")[0]), PipelineOptions(parallel=False, flags=("-O2",)))
    assert compiler_flags([made, made]) == ("-O2",)
    assert compiler_flags([]) == ()


@pytest.mark.parametrize("own", ["", "int {} = len;\n"])
def test_names_that_two_regions_declare_are_in_brackets(own: str, tmp_path: Path) -> None:
    """`long n_steps_in1` stood twice in one block, which no compiler takes."""
    first, second = ("#pragma scop\n" + own.format(name)
                     + f"for (k = {start}; k < len; k += 2) {{ b[n] = a[k] + b[n]; ++n; }}\n#pragma endscop\n"
                     for name, start in (("p", 0), ("q", 1)))
    text = ("int f(int len, double *restrict a, double *restrict b)\n{\nint n = 0, k;\n" + first + "b[n] = 7;\nn = 0;\n"
            + second + ("return n + p + q;" if own else "return n;") + "\n}\n")
    (tmp_path / "f.c").write_text(text)
    made = transform_file(tmp_path / "f.c", PipelineOptions(parallel=False)).text
    assert made.count("long n_steps_in1 =") == 2
    results = []
    for library in (load(made, tmp_path), load(text, tmp_path)):
        a, b = np.arange(9.0), np.ones(9)
        results.append((library.f(9, *(ctypes.c_void_p(x.ctypes.data) for x in (a, b))), b.tolist()))
    assert results[0] == results[1]
