"""Warm processes make the same C as this one; a process that dies costs one candidate."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from polysched.errors import PolyschedError, RunFailedError, UsageError
from polysched.pipeline.recipe import Recipe
from polysched.scop import from_c_file
from polysched.search.building import Candidate, LocalBuilder, Wanted
from polysched.search.pool import PoolBuilder, _Worker
from polysched.search.space import Proposal
from polysched.tiling import BandOptions
from tests.search.programs import OPTIONS, PRODUCT, product

DYING = """\
import sys
sys.stdin.readline()
print('{"text": "void f;", "code": "c"}', flush=True)
sys.stdin.readline()
"""


def wanted(*recipes: Recipe) -> list[Wanted]:
    return [Wanted(number=k, proposal=Proposal(recipe=recipe)) for k, recipe in enumerate(recipes)]


def test_the_code_is_that_of_one_process(tmp_path: Path):
    path = tmp_path / "product.c"
    path.write_text(PRODUCT)
    scop = from_c_file(str(path))
    every = wanted(Recipe(tile=8), Recipe(tile=16), Recipe(bands={7: BandOptions(sizes=8)}))
    with PoolBuilder(scop, OPTIONS, 2) as pool:
        ready: list[Candidate] = []
        pool.ready = ready.append
        made = pool.build(every)
    assert sorted(c.name for c in ready) == ["v0", "v1"], "what is made is told at once, refusals are not"
    expected = LocalBuilder(scop, OPTIONS).build(every)
    assert [m for m in made if isinstance(m, Candidate)] == [m for m in expected if isinstance(m, Candidate)]
    assert isinstance(made[2], PolyschedError)
    assert made[2].problem == "there is no band 7"


def test_a_process_that_dies_costs_one_candidate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "dying.py").write_text(DYING)
    (tmp_path / "product.c").write_text(PRODUCT)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    with PoolBuilder(from_c_file(str(tmp_path / "product.c")), OPTIONS, 1, module="dying") as pool:
        made = pool.build(wanted(*(Recipe(tile=edge) for edge in (2, 4, 8, 16))))
    assert [isinstance(m, Candidate) for m in made] == [True, False, True, False]
    assert isinstance(made[1], RunFailedError)


def test_flags_of_one_code_are_asked_of_one_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """And where it dies of the first of them, the others are not asked for."""
    (tmp_path / "product.c").write_text(PRODUCT)
    scop = from_c_file(str(tmp_path / "product.c"))
    flags = wanted(Recipe(tile=8), Recipe(tile=16), Recipe(tile=8, flags=("-O2",)), Recipe(tile=16, flags=("-O2",)))
    with PoolBuilder(scop, OPTIONS, 2) as pool:
        made = pool.build(flags)
    assert made == LocalBuilder(scop, OPTIONS).build(flags)
    assert made[0].text == made[2].text
    assert made[0].code != made[2].code
    (tmp_path / "silent.py").write_text("import sys\nsys.stdin.readline()\nsys.stdin.readline()\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    with PoolBuilder(scop, OPTIONS, 1, module="silent") as pool:
        refused = pool.build(flags)
    assert [type(m) for m in refused] == [RunFailedError] * 4
    assert refused[0] is refused[2]


def test_a_process_that_was_asked_in_vain_can_be_ended():
    worker = _Worker("json.tool", "{")
    worker._process.kill()
    worker._process.wait()
    assert worker.ask({"number": 1}) is None
    worker.end()


def test_a_program_without_a_file_is_refused():
    with pytest.raises(UsageError, match="no file that another process can read"):
        PoolBuilder(product(), OPTIONS, 1)
