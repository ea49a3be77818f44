"""Features are as many numbers as names, finite, and tell recipes apart."""

from __future__ import annotations

from math import isfinite

from polysched.pipeline.recipe import Recipe
from polysched.search.automatic import automatic
from polysched.search.features import features_of, names
from polysched.search.space import Explorer
from polysched.tiling import BandOptions
from tests.search.programs import OPTIONS, product


def test_features_of_a_product():
    explorer = Explorer(automatic, product(), OPTIONS, {"n": 500})
    recipes = [Recipe(), Recipe(vector_bits=0), *(Recipe(bands={0: BandOptions(sizes=e, register=r, packed=p)})
                                                  for e in (8, 500) for r in (True, False) for p in (None, ("A",)))]
    rows = [features_of(explorer, recipe) for recipe in recipes]
    assert {len(row) for row in rows} == {len(names()) - 1}, "spills are known after compiling"
    assert len(set(rows)) == len(rows)
    assert all(isfinite(value) for row in rows for value in row)
    small, large = (dict(zip(names(), rows[k], strict=False)) for k in (4, 8))
    assert small["footprint over capacity, L1"] < large["footprint over capacity, L1"]
    assert small["remainders"] > large["remainders"] == 0
