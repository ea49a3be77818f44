"""`optimize` applies a record of this machine, compiler, threads and numerics whose C is still the measured one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from time import thread_time

import numpy as np
import pytest

import polysched
from polysched.errors import UsageError
from polysched.measure.timing.race import Gain
from polysched.pipeline.optimized import Optimized
from polysched.pipeline.recipe import Recipe
from polysched.scheduling.primitives import Interchange, SplitReduction, StripMine
from polysched.scop import from_c_text
from polysched.scop.scop import Scop
from polysched.search import lookup as looking_up
from polysched.search.building import code_of, emitted
from polysched.search.database import Case, Database, Range, Winner
from polysched.search.identity import canonical_scop, key_of, place_of
from polysched.search.limits import LIMITS
from polysched.search.lookup import (
    DEFAULT_FLAGS,
    checked,
    distance,
    optimize,
    replayed_region,
    source_to_source,
    state_of,
)
from polysched.target import find_compiler
from polysched.tiling import BandOptions
from tests.search.programs import COPY, OPTIONS, PRODUCT, RENAMED, product

TILES = Recipe(bands={0: BandOptions(sizes=(16, 24, 40), register=False)})


def record(path: Path, scop: Scop, n: int, recipe: Recipe, *, code: str = "", **place: object) -> None:
    canonical = canonical_scop(scop)
    where = replace(place_of(OPTIONS, find_compiler(), threads=2, flags=DEFAULT_FLAGS), **place)
    key = key_of(canonical, {scop.parameters[0].name: n}, where)
    with Database(path) as database:
        database.begin(key, scop.name)
        database.set_winner(Winner(key=key, name=scop.name, recipe=recipe.renamed(canonical.to_canonical()),
                                   code=code or made_once(scop, recipe),
                                   gain=Gain(median=1.5, low=1.4, high=1.6, pairs=25)))


def made_once(scop: Scop, recipe: Recipe) -> str:
    """The code of a recipe, which most tests record of the same product."""
    key = (scop.source, recipe.text)
    if key not in _MADE:
        _MADE[key] = code_of(emitted(scop, OPTIONS, recipe))
    return _MADE[key]


_MADE: dict[tuple[object, str], str] = {}


def options(path: Path, n: int | None = None) -> polysched.PipelineOptions:
    return replace(OPTIONS, database=str(path), assumed=() if n is None else (("n", n),))


def test_an_exact_record_is_applied(tmp_path):
    record(tmp_path / "t.db", product(), 64, TILES)
    made = optimize(product(), options(tmp_path / "t.db", 64))
    assert made.looked_up == "the record, gain 1.500 [1.400, 1.600] in 25 pairs"
    assert made.tiled.bands[0].sizes == (16, 24, 40)
    assert made.steps()[0] == f"database: {made.looked_up}"


def test_the_nearest_size_is_next(tmp_path):
    for n, edge in ((64, 16), (1024, 32)):
        record(tmp_path / "t.db", product(), n, Recipe(bands={0: BandOptions(sizes=edge, register=False)}))
    for n, edge in ((100, 16), (700, 32)):
        made = optimize(product(), options(tmp_path / "t.db", n))
        assert made.tiled.bands[0].sizes == (edge,) * 3
        assert "of the nearest size p0=" in made.looked_up


def test_a_renamed_and_reformatted_source_still_hits(tmp_path):
    record(tmp_path / "t.db", product(), 64, TILES)
    made = optimize(from_c_text(RENAMED), options(tmp_path / "t.db"))
    assert made.looked_up.startswith("the record")
    assert "Out[" in made.text


@pytest.mark.parametrize("step", [StripMine(loop="S0.k", size=4), Interchange(outer="i", inner="j"),
                                  SplitReduction(loop="S0.k", parts=4)])
def test_a_renamed_source_hits_a_recipe_with_steps(tmp_path, step):
    here = OPTIONS.but(reassociate=True)
    canonical, recipe = canonical_scop(product()), Recipe(steps=(step,))
    place = place_of(here, find_compiler(), threads=2, flags=DEFAULT_FLAGS)
    with Database(tmp_path / "t.db") as database:
        key = key_of(canonical, {"n": 64}, place)
        database.begin(key, "product")
        database.set_winner(Winner(key=key, name="product", recipe=recipe.renamed(canonical.to_canonical()),
                                   code=code_of(emitted(product(), here, recipe)), gain=Gain()))
    made = optimize(from_c_text(RENAMED), replace(here, database=str(tmp_path / "t.db")))
    assert made.looked_up.startswith("the record"), made.looked_up
    assert made.schedule.steps


@pytest.mark.parametrize("place", [{"machine": "another"}, {"threads": 3}, {"compiler": "another"},
                                   {"numerics": "another"}])
def test_a_record_of_another_place_is_not_applied(tmp_path, place):
    record(tmp_path / "t.db", product(), 64, TILES, **place)
    made = optimize(product(), options(tmp_path / "t.db"))
    assert made.looked_up == "has nothing for the region here"
    assert made.tiled.bands[0].sizes != (16, 24, 40)


def test_a_record_whose_code_changed_is_not_believed(tmp_path):
    record(tmp_path / "t.db", product(), 64, TILES, code="0" * 64)
    made = optimize(product(), options(tmp_path / "t.db"))
    assert "is not used: its C is no longer the one that was measured" in made.looked_up
    assert made.tiled.bands[0].sizes != (16, 24, 40)


def test_a_replay_refuses_a_record_whose_code_changed(tmp_path):
    record(tmp_path / "t.db", product(), 64, TILES, code="0" * 64)
    with pytest.raises(UsageError, match="no record that can be replayed") as refusal:
        replayed_region(product(), options(tmp_path / "t.db"), {})
    assert "is not used: its C is no longer the one that was measured" in refusal.value.witness


def test_a_record_that_is_no_longer_legal_is_not_used(tmp_path):
    record(tmp_path / "t.db", product(), 64, Recipe(bands={7: BandOptions(sizes=8)}), code="0" * 64)
    made = optimize(product(), options(tmp_path / "t.db"))
    assert "is not used: there is no band 7" in made.looked_up


def test_choices_by_hand_go_before_the_database(tmp_path):
    record(tmp_path / "t.db", product(), 64, TILES)
    made = optimize(product(), options(tmp_path / "t.db").but(tile=8))
    assert made.tiled.bands[0].sizes == (8, 8, 8)
    assert "by hand" in made.looked_up


def test_a_file_with_regions_takes_what_is_known_of_each(tmp_path):
    record(tmp_path / "t.db", product(), 64, TILES)
    (tmp_path / "two.c").write_text(PRODUCT + COPY)
    text = source_to_source(tmp_path / "two.c", options(tmp_path / "t.db"))
    assert text != polysched.source_to_source(tmp_path / "two.c", OPTIONS)
    assert "24" in text


def test_every_record_of_a_program_is_checked(tmp_path):
    record(tmp_path / "t.db", product(), 64, TILES)
    record(tmp_path / "t.db", product(), 128, TILES, code="1" * 64)
    with Database(tmp_path / "t.db") as database:
        reasons = [why for _, why in checked(product(), OPTIONS, database)]
    assert sorted(map(bool, reasons)) == [False, True]


def test_a_missing_database_is_refused(tmp_path):
    with pytest.raises(UsageError, match="no such database"):
        optimize(product(), options(tmp_path / "none.db"))


def test_a_compiled_function_looks_up_and_is_made_anew_when_the_record_changes(tmp_path, monkeypatch):
    monkeypatch.setenv("POLYSCHED_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "product.c").write_text(PRODUCT)
    scop, texts = product(), []
    for edge in (16, 24):
        record(tmp_path / "t.db", scop, 64, Recipe(bands={0: BandOptions(sizes=edge, register=False)}))
        function = polysched.compile(tmp_path / "product.c", options=options(tmp_path / "t.db"))
        a = np.eye(30)
        c = np.zeros((30, 30))
        function(c, a, 3 * a) if "n" not in str(function.__signature__).split("C")[0] else function(30, c, a, 3 * a)
        assert (c == 3 * a).all()
        texts.append(function.text if hasattr(function, "text") else str(state_of(options(tmp_path / "t.db"))))
    assert texts[0] != texts[1]
    assert state_of(OPTIONS) == ""


def test_sizes_are_near_by_factors():
    assert distance({"n": 64, "m": 8}, {"n": 128, "m": 8, "k": 9}) == 1.0


def keep_range(path: Path, scop: Scop, edges: dict[int, int], **changed: object) -> None:
    canonical = canonical_scop(scop)
    place = place_of(OPTIONS, find_compiler(), threads=2, flags=DEFAULT_FLAGS)
    recipes = {least: Recipe(bands={0: BandOptions(sizes=edge, register=False)}, **changed if least else {})
               for least, edge in edges.items()}
    with Database(path) as database:
        database.set_range(Range(key=key_of(canonical, {}, place), name=scop.name, parameter="p0", cases=tuple(
            Case(least=least, recipe=recipe.renamed(canonical.to_canonical()),
                 code=code_of(emitted(scop, OPTIONS, recipe))) for least, recipe in recipes.items())))


def test_a_range_gives_variants_behind_a_test_of_the_size(tmp_path):
    keep_range(tmp_path / "t.db", product(), {0: 4, 20: 8, 40: 16})
    made = optimize(from_c_text(RENAMED), options(tmp_path / "t.db"))
    assert made.looked_up == "3 variants by size, from 20, 40 on"
    assert "if ((size) < 20) {" in made.text
    (tmp_path / "product.c").write_text(PRODUCT)
    function = polysched.compile(tmp_path / "product.c", options=options(tmp_path / "t.db"))
    for n in (19, 20, 39, 41):
        a, c = np.arange(n * n, dtype=float).reshape(n, n), np.zeros((n, n))
        function(c, a, a.copy())
        np.testing.assert_allclose(c, a @ a)


def test_a_stated_size_goes_before_a_range(tmp_path):
    keep_range(tmp_path / "t.db", product(), {0: 4, 20: 8})
    record(tmp_path / "t.db", product(), 64, TILES)
    assert optimize(product(), options(tmp_path / "t.db", 64)).looked_up.startswith("the record")
    assert "2 variants" in optimize(product(), options(tmp_path / "t.db")).looked_up


def test_a_range_with_other_code_or_flags_is_not_used(tmp_path):
    keep_range(tmp_path / "t.db", product(), {0: 4, 20: 8}, flags=("-O2",))
    assert "have different compiler flags" in optimize(product(), options(tmp_path / "t.db")).looked_up
    with Database(tmp_path / "t.db") as database:
        (chosen,) = database.ranges()
        database.set_range(replace(chosen, cases=(replace(chosen.cases[0], code="0" * 64),)))
    assert "no longer the one" in optimize(product(), options(tmp_path / "t.db")).looked_up
    with pytest.raises(UsageError, match="begin at 0 and grow"):
        replace(chosen, cases=chosen.cases[1:])


def test_a_record_that_takes_long_leaves_time_for_the_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for n in (64, 65):
        record(tmp_path / "tuned.db", product(), n, TILES)
    monkeypatch.setattr(looking_up, "LIMITS", replace(LIMITS, replay_seconds=1e-4))
    found = optimize(product(), options(tmp_path / "tuned.db", 64))
    assert "is not used: its C takes more than 0.0001 s of processor time; others are not looked at" in found.looked_up
    assert found.options.tiling.bands == {}


def test_the_codes_of_a_range_take_no_longer_than_a_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep_range(tmp_path / "t.db", product(), {0: 4, 20: 8, 40: 16})
    made = optimize(product(), options(tmp_path / "t.db"))

    def slow(*given: object) -> Optimized:
        started = thread_time()
        while thread_time() - started < 0.03:
            pass
        return made
    monkeypatch.setattr(looking_up, "LIMITS", replace(LIMITS, replay_seconds=0.05))
    monkeypatch.setattr(looking_up, "replayed", slow)
    found = optimize(product(), options(tmp_path / "t.db"))
    assert "is not used: its C takes more than 0.05 s of processor time" in found.looked_up
    assert found.options.tiling.bands == {}
