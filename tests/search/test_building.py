"""A recipe becomes a C file; the runner of this machine builds, verifies and times."""

from __future__ import annotations

import pytest

from polysched.errors import PolyschedError
from polysched.measure.field import Ran, Verdict
from polysched.measure.paired import MeasureOptions
from polysched.pipeline.recipe import Recipe
from polysched.scop import from_c_file
from polysched.search.building import Candidate, LocalBuilder, Wanted, local_runner, made_candidate
from polysched.search.space import Proposal
from polysched.tiling import BandOptions
from tests.search.programs import OPTIONS, PRODUCT, product


def test_a_candidate_has_the_whole_file_and_an_identity():
    made = made_candidate(Wanted(number=3, proposal=Proposal(recipe=Recipe(tile=8))), product(), OPTIONS)
    assert isinstance(made, Candidate)
    assert made.name == "v3"
    assert "void product(int n" in made.text
    flagged = made_candidate(Wanted(number=4, proposal=Proposal(recipe=Recipe(tile=8, flags=("-O2",)))), product(),
                             OPTIONS)
    assert flagged.text == made.text
    assert flagged.code != made.code


def test_a_refusal_of_a_stage_is_a_value():
    (made,) = LocalBuilder(product(), OPTIONS).build([Wanted(number=1, proposal=Proposal(recipe=Recipe(
        bands={9: BandOptions(sizes=8)})))])
    assert isinstance(made, PolyschedError)


def test_candidates_run_on_this_machine(tmp_path):
    path = tmp_path / "product.c"
    path.write_text(PRODUCT)
    scop = from_c_file(str(path))
    told: dict[str, Ran] = {}
    made = [made_candidate(Wanted(number=k, proposal=Proposal(recipe=Recipe(tile=edge))), scop, OPTIONS)
            for k, edge in enumerate((8, 16))]
    with local_runner(scop, {"n": 24}, MeasureOptions(threads=1, flags=("-O1",))) as runner:
        runner.race(made[:1], against=None, pairs=2, slow_ratio=9.0, told=lambda c, ran: told.update({c.name: ran}))
        runner.race(made[1:], against=made[0], pairs=3, slow_ratio=9.0, told=lambda c, ran: told.update({c.name: ran}))
    assert [(told[c.name].verdict, len(told[c.name].pairs)) for c in made] == [(Verdict.TIMED, 2), (Verdict.TIMED, 3)]


def test_what_is_compiled_ahead_is_not_compiled_again_and_ends_before_anything_is_timed(tmp_path, monkeypatch):
    path = tmp_path / "product.c"
    path.write_text(PRODUCT)
    scop = from_c_file(str(path))
    made = [made_candidate(Wanted(number=k, proposal=Proposal(recipe=Recipe(tile=edge))), scop, OPTIONS)
            for k, edge in enumerate((8, 16, 32))]
    compiled: list[str] = []
    with local_runner(scop, {"n": 24}, MeasureOptions(threads=1, flags=("-O1",))) as runner:
        plain = runner._compiled
        monkeypatch.setattr(runner, "_compiled", lambda candidate: compiled.append(candidate.name) or plain(candidate))
        for candidate in made[:2]:
            runner.begin(candidate)
        unraced = runner.started["v1"]
        told: dict[str, Ran] = {}
        runner.race([made[0], made[2]], against=None, pairs=2, slow_ratio=9.0,
                    told=lambda c, ran: told.update({c.name: ran}) if unraced.done() else pytest.fail("it is compiled"))
    assert sorted(compiled) == ["v0", "v1", "v2"]
    assert {name: ran.verdict for name, ran in told.items()} == {"v0": Verdict.TIMED, "v2": Verdict.TIMED}
    assert all(ran.spills is not None for ran in told.values())
