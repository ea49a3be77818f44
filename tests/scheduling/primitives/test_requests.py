"""Steps that ask later rooms for something change no order, and are stored like all others."""

from __future__ import annotations

import json

import pytest

from polysched.errors import UsageError
from polysched.scheduling.primitives import BandStep, Pack, RegisterBlock, SplitTiles, UseInstruction
from polysched.scheduling.primitives.stored import step_from_json

STEPS = (BandStep(loops=("i", "j")), RegisterBlock(loops=("i",), rows=4, columns=8), Pack(loops=("i",), arrays=("B",)),
         SplitTiles(loops=(0, 1)),
         UseInstruction(statement="S0", name="vpmaddwd", loops=(("j",), ("l",)), operands=("A", "B"), tiling="caches"))


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.NAME)
def test_they_are_stored(step):
    assert step_from_json(json.loads(json.dumps(step.to_json()))) == step


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.NAME)
def test_they_leave_the_tree_alone(step):
    tree = object()
    assert step.rewrite(tree) is tree


def test_what_makes_no_sense_is_refused():
    with pytest.raises(UsageError, match="names no loop"):
        BandStep(loops=())
    with pytest.raises(UsageError, match="has rows and columns"):
        RegisterBlock(loops=("i",), rows=4, columns=0)
