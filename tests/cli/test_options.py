"""Options shared by commands, as the values that the rooms take."""

from __future__ import annotations

import argparse
import io
import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from polysched.cli import c2c, options
from polysched.cli.conventions import add_size, separate_sizes
from polysched.cli.options import (
    DESCRIBED_DEVICES,
    FUSIONS,
    SCHEDULERS,
    TENSOR_INSTRUCTIONS,
    add_any_source,
    add_source,
    add_transformation,
    device_mapping,
    known_sizes,
    numerics,
    pipeline_options,
    read_regions,
    read_strategy,
    tensorize_options,
    tiled_options,
)
from polysched.errors import PolyschedError, UsageError
from polysched.gpu import options as gpu_options
from polysched.scheduling import ALGORITHMS
from polysched.scheduling.options import FUSION_POLICIES
from polysched.scop import from_c_file, from_c_text
from polysched.scop.scop import Scop
from polysched.target.gpus import GPUS
from tests.scop.openscop.example import PRODUCT

TEXT = """
void f(int n, int unused, int m, double A[n][m])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            A[i][j] *= 2.0;
#pragma endscop
}
"""


def parsed(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_transformation(parser)
    add_size(parser, "of the test")
    return parser.parse_args(separate_sizes(list(words)))


@pytest.fixture(scope="module")
def scop() -> Scop:
    return from_c_text(TEXT)


@pytest.mark.parametrize("count", range(6))
def test_what_an_instruction_may_change_is_exactly_what_is_allowed(count: int) -> None:
    names = ("reassociate", "contract", "flush", "finite", "narrow")
    for words in itertools.combinations(names, count):
        found = numerics(" , ".join(words))
        assert {name for name in names if getattr(found, name)} == set(words)
    assert numerics("none") == numerics("") == numerics("none,")


def test_a_word_that_is_none_of_them_is_refused() -> None:
    with pytest.raises(UsageError, match="--allow knows no 'contrat'"):
        numerics("flush,contrat")


def test_choices_are_those_of_the_schedulers() -> None:
    assert set(SCHEDULERS) == {*ALGORITHMS, "best"}
    assert set(FUSIONS) == set(FUSION_POLICIES)
    assert TENSOR_INSTRUCTIONS == gpu_options.TENSOR_INSTRUCTIONS
    assert DESCRIBED_DEVICES == tuple(GPUS)


def test_without_options_a_band_is_tiled_by_the_model() -> None:
    found = tiled_options(parsed())
    tiling = found.tiling_options()
    assert (tiling.sizes, tiling.outer_sizes, tiling.order, tiling.parallel) == ("auto", (), (), True)
    assert (found.scheduler, found.fusion, found.strategy, found.collapse, found.expand) == (
        "pluto", "smart", None, True, True)


def test_options_of_tiles_come_to_all_bands_or_to_one() -> None:
    tiling = tiled_options(parsed("--tile", "32,16", "--tile", "1:64", "--outer-tile", "128,0", "--outer-tile", "256",
                                  "--tile-order", "1,0", "--point-order", "2:0,1", "--no-parallel",
                                  "--parallel-degrees", "2")).tiling_options()
    assert (tiling.sizes, tiling.outer_sizes, tiling.order) == ((32, 16), ((128, 0), 256), (1, 0))
    assert (tiling.parallel, tiling.parallel_degrees) == (False, 2)
    assert set(tiling.bands) == {1, 2}
    assert tiling.bands[1].sizes in (64, (64,))
    assert tiling.bands[2].point_order == (0, 1)


def test_scheduling_assumptions_and_blocks(tmp_path: Path) -> None:
    found = tiled_options(parsed("--scheduler", "isl", "--fusion", "max", "--iss", "--concurrent-start", "1",
                                 "--no-expand", "--no-collapse", "--assume", "n=5", "m=-7"))
    assert (found.scheduler, found.fusion, found.split_index_sets, found.concurrent_start) == ("isl", "max", True, 1)
    assert (found.expand, found.collapse, dict(found.assumed)) == (False, False, {"n": 5, "m": -7})
    assert tuple(device_mapping(parsed("--block", "32,8"), None).block)[:2] == (32, 8)


@pytest.mark.parametrize(("target", "steps"), [("cuda", 4), ("opencl", 4), ("host", 0)])
def test_a_device_has_the_iterations_of_a_launch(target: str, steps: int) -> None:
    parser = argparse.ArgumentParser()
    c2c.add_arguments(parser)
    given = parser.parse_args(["f.c", "--target", target, "--time-tile", "4"])
    assert pipeline_options(given).gpu.time_tile == steps


def test_instructions_are_none_the_usual_or_those_asked_for() -> None:
    assert tensorize_options(parsed("--intrinsic", "none")) is None
    usual = tensorize_options(parsed("--size", "n=64"))
    assert usual is not None
    assert dict(usual.sizes) == {"n": 64}
    asked = tensorize_options(parsed("--intrinsic", "vpdpbusd", "--allow", "none", "--measure-plans", "--size", "n=64",
                                     "m=8", "--intrinsics", "mine.py"))
    assert asked is not None
    assert (asked.intrinsic, asked.measure, dict(asked.sizes), asked.files) == (
        "vpdpbusd", True, {"n": 64, "m": 8}, ("mine.py",))
    assert asked.numerics == numerics("none")


def test_sizes_are_those_of_a_region_or_of_its_function(scop: Scop) -> None:
    assert known_sizes([("n", 5), ("unused", 3), ("m", 0)], [scop], "f.c") == {"n": 5, "m": 0}
    assert known_sizes([], [scop], "f.c") == {}
    with pytest.raises(UsageError, match=r"no parameter k\n(.*\n)?.*parameters are m, n"):
        known_sizes([("n", 5), ("k", 3)], [scop], "f.c")
    with pytest.raises(UsageError, match=r"parameters are none"):
        known_sizes([("k", 3)], [], "f.c")


def test_a_name_of_a_region_that_was_left_alone_is_known_where_some_were(scop: Scop) -> None:
    assert known_sizes([("i", 5)], [scop], "f.c", some_left=True) == {}
    with pytest.raises(UsageError, match="no parameter nowhere"):
        known_sizes([("nowhere", 5)], [scop], "f.c", some_left=True)


def test_a_strategy_is_read_from_a_file_or_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = json.dumps({"dimensions": [{"cost": ["feautrier"]}]})
    (tmp_path / "s.json").write_text(text)
    found = read_strategy(str(tmp_path / "s.json"))
    monkeypatch.setattr(options.sys, "stdin", io.StringIO(text))
    assert found == read_strategy("-") is not None
    assert read_strategy(None) is None


@pytest.mark.parametrize(("content", "problem"), [
    (None, "cannot be read"), (b"\xff\xfe\x00", "cannot be read"), (b"{", "."), (b'{"nonsense": 1}', ".")])
def test_a_strategy_that_is_none_names_its_file(content: Any, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UsageError, match=problem) as refused:
        read_strategy(str(path))
    assert str(path) in str(refused.value.where)


SCALED = """func.func @scaled(%n: index, %A: memref<?xf64>) attributes {extents = [affine_map<()[s0] -> (s0)>]} {
  affine.for %i = 0 to %n {
    %0 = affine.load %A[%i] : memref<?xf64>
    %1 = arith.addf %0, %0 : f64
    affine.store %1, %A[%i] : memref<?xf64>
  }
  return
}
"""


def test_a_file_of_mlir_takes_the_place_of_one_of_c(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "scaled.mlir"
    file.write_text(SCALED)
    parser = argparse.ArgumentParser()
    add_source(parser)
    (scop,) = read_regions(parser.parse_args([str(file)]))
    assert scop.name == "scaled"
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(SCALED.encode())))
    (piped,) = read_regions(parser.parse_args(["-"]))
    assert piped.statements[0].domain.is_equal(scop.statements[0].domain)
    with pytest.raises(UsageError, match="-D does nothing for a file of MLIR"):
        read_regions(parser.parse_args([str(file), "-D", "N=4"]))
    with pytest.raises(UsageError, match="the file cannot be read"):
        read_regions(parser.parse_args([str(tmp_path / "none.mlir")]))
    with pytest.raises(UsageError, match=r"a file of MLIR is no C file\n.*from_mlir"):
        from_c_file(file)


def test_a_file_of_openscop_takes_the_place_of_one_of_c(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "product.scop"
    file.write_text(PRODUCT.replace("B[i-1]", "B[i]").replace("0   -1    ## [1]", "0    0    ## [1]"))
    parser = argparse.ArgumentParser()
    add_source(parser)
    (scop,) = read_regions(parser.parse_args([str(file)]))
    assert [array.name for array in scop.arrays] == ["B", "A"]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(file.read_bytes())))
    (piped,) = read_regions(parser.parse_args(["-"]))
    assert piped.statements[0].domain.is_equal(scop.statements[0].domain)
    with pytest.raises(UsageError, match="-I does nothing for a file of OpenScop"):
        read_regions(parser.parse_args([str(file), "-I", "."]))
    assert {array.dtype.name for array in scop.arrays} == {"float64"}


def test_an_option_says_the_element_types_of_openscop(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, parser = tmp_path / "two.scop", argparse.ArgumentParser()
    file.write_text(PRODUCT.replace("B[i-1]", "B[i]").replace("0   -1    ## [1]", "0    0    ## [1]"))
    (tmp_path / "in.c").write_text(TEXT)
    add_any_source(parser)
    given = ["--element-type", "B=unsigned char", "--element-type", "A=float"]
    (scop,) = read_regions(parser.parse_args([str(file), *given]))
    assert [array.dtype.name for array in scop.arrays] == ["uint8", "float32"]
    for wrong, said in (("Q=float", "no array Q in the OpenScop regions"), ("B=floot", "floot")):
        with pytest.raises(PolyschedError, match=said):
            read_regions(parser.parse_args([str(file), "--element-type", wrong]))
    with pytest.raises(UsageError, match="--element-type does nothing for a file of C, which names its types"):
        read_regions(parser.parse_args([str(tmp_path / "in.c"), "--element-type", "B=float"]))
    for wrong in ("B", "B=float*", "B=int; x"):
        with pytest.raises(SystemExit):
            parser.parse_args([str(file), "--element-type", wrong])
        assert f"{wrong!r} is not ARRAY=TYPE with a type of C" in capsys.readouterr().err


def test_openscop_is_no_c_file(tmp_path: Path) -> None:
    file = tmp_path / "product.scop"
    file.write_text(PRODUCT)
    with pytest.raises(UsageError, match=r"a file of OpenScop is no C file\n.*from_openscop"):
        from_c_file(file)
