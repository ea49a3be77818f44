"""Why a nest is tiled as it is: traffic per level, limits that bind, and formulas of edges and extents."""

from __future__ import annotations

import json
from typing import Any

import pytest
import sympy

from polysched.target import Target
from polysched.tiling import TilingOptions, tile
from polysched.tiling.explain import BandExplanation, byte_text, explain_text, explanations, volume_formula
from tests.schedules import pluto_of
from tests.tiling.footprints.test_traffic import product_nest

MACHINE = Target(vector_bits=256, vector_registers=16, cores=2)
TEXT = """void f(float C[700][700], float A[700][700], float B[700][700]) {
#pragma scop
  for (int i = 0; i < 700; i++)
    for (int j = 0; j < 700; j++)
      for (int k = 0; k < 700; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""


def explained(sizes: Any = "auto") -> BandExplanation:
    tiled = tile(pluto_of(TEXT), TilingOptions(target=MACHINE, sizes=sizes))
    (found,) = explanations(tiled, MACHINE)
    return found


def test_every_cache_sees_less_with_tiles_and_never_less_than_the_bound() -> None:
    found = explained((64, 64, 64))
    assert [level.level for level in found.levels] == [cache.level for cache in MACHINE.caches]
    assert all(level.bound.bytes <= level.tiled_bytes for level in found.levels)
    assert found.levels[0].tiled_bytes < found.levels[0].untiled_bytes


def test_for_scripts_it_is_json() -> None:
    value = json.loads(json.dumps(explained((64, 32, 128)).to_json()))
    assert value["edges"] == [64, 32, 128]
    assert value["extents"] == [700, 700, 700]
    assert {key.split("#")[0] for key in value["volume"]} == {"A", "B", "C"}
    assert all("T_" in volume or "N_" in volume for volume in value["volume"].values())


def test_for_people_it_names_loops_tiles_and_bytes() -> None:
    text = explain_text(explained((64, 32, 128)))
    assert text.startswith("band 0: loops i, j, k; extents 700 x 700 x 700")
    assert "tiles, outermost first: " in text
    assert "lower bound" in text
    assert "MiB" in text


def test_a_band_that_nobody_looked_at() -> None:
    assert explain_text(BandExplanation(band=3, plan=None)) == "band 3: no tiles: nobody asked for any"
    assert BandExplanation(band=3, plan=None).to_json() == {"band": 3}


def test_the_volume_of_an_operand_is_the_textbooks() -> None:
    nest = product_nest(1000)
    a = next(r for r in nest.references if r.array == "A")
    formula = volume_formula(nest, a, (0, 1, 2))
    edges = {symbol.name: symbol for symbol in formula.free_symbols}
    assert all(isinstance(symbol, sympy.Symbol) for symbol in edges.values())
    halved = formula.subs({s: 2 * s for name, s in edges.items() if name == "T_j"})
    assert sympy.simplify(formula / halved) == 2, "twice as wide tiles of j read A half as often"


@pytest.mark.parametrize(("count", "text"), [
    (0, "0 B"), (999, "999 B"), (10239, "10239 B"), (10240, "10 KiB"), (123456, "121 KiB"), (64 << 20, "64 MiB"),
    (3 << 40, "3072 GiB")])
def test_bytes_for_people(count: int, text: str) -> None:
    assert byte_text(count) == text
