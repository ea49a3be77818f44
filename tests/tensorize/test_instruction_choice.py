"""An instruction, its mapping and plan, chosen for one statement."""

from __future__ import annotations

import json

import pytest

from polysched.errors import NoIntrinsicMatchError, UsageError
from polysched.pipeline import optimize
from polysched.pipeline.options import PipelineOptions
from polysched.pipeline.recipe import Recipe, apply_recipe
from polysched.scheduling.primitives import UseInstruction
from polysched.scop import from_c_text
from polysched.target import host
from polysched.tensorize.decision import offered
from polysched.tensorize.instruction_choice import InstructionChoice
from polysched.tensorize.options import BY_DEFAULT
from polysched.tensorize.probes import is_listed_here
from polysched.tensorize.registry import find_intrinsic

DOT = """void dot(int m, int n, int k, int C[m][n], short A[m][k], short B[n][k]) {
#pragma scop
  for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) for (int l = 0; l < k; l++) C[i][j] += A[i][l] * B[j][l];
#pragma endscop
}
"""
SIZES = {"m": 64, "n": 64, "k": 64}
needs_it = pytest.mark.skipif(not is_listed_here(find_intrinsic("vpmaddwd")), reason="this machine has no vpmaddwd")


def by(recipe: Recipe):
    return optimize(from_c_text(DOT), apply_recipe(PipelineOptions(verify_instructions="never"), recipe))


@needs_it
def test_what_is_offered_is_what_is_taken():
    choices = offered(from_c_text(DOT), BY_DEFAULT, host())["S0"]
    assert len(choices) == len(set(choices)) > 2
    for choice in choices:
        assert InstructionChoice.from_json(json.loads(json.dumps(choice.to_json()))) == choice
    made = by(Recipe(instructions={"S0": choices[1]}))
    assert made.instructions[0].startswith(f"S0: {choices[1].name} about ")


@needs_it
def test_a_step_chooses_as_a_recipe_does():
    step = UseInstruction(statement="S0", name="vpmaddwd", loops=(("i",), ("l",)), operands=("B", "A"))
    choice = InstructionChoice(name="vpmaddwd", loops=(("i",), ("l",)), operands=("B", "A"))
    assert "vpmaddwd" in by(Recipe(steps=(step,))).instructions[0]
    assert by(Recipe(steps=(step,))).options.tensorize.chosen == {"S0": choice}


@needs_it
def test_none_leaves_the_statement_alone():
    assert by(Recipe(instructions={"S0": InstructionChoice(name="none")})).instructions == ()


def test_what_does_not_match_is_refused():
    with pytest.raises(NoIntrinsicMatchError, match="does not compute S0"):
        by(Recipe(instructions={"S0": InstructionChoice(name="vpmaddwd", loops=(("k",), ("q",)))}))
    with pytest.raises(UsageError, match="there is no statement 'S7'"):
        by(Recipe(instructions={"S7": InstructionChoice(name="vpmaddwd")}))
    with pytest.raises(UsageError, match="there is no plan by 'luck'"):
        InstructionChoice(name="vpmaddwd", tiling="luck")
    with pytest.raises(UsageError, match="this chooses no instruction"):
        InstructionChoice(name="vpmaddwd", block=-1)


def test_names_of_another_program_are_translated():
    recipe = Recipe(instructions={"S0": InstructionChoice(name="vpmaddwd", loops=(("j",), ("l",)), operands=("A+C",))})
    other = recipe.renamed({"S0": "T", "l": "z", "A": "X", "vpmaddwd": "no"})
    assert other.instructions == {"T": InstructionChoice(name="vpmaddwd", loops=(("j",), ("z",)), operands=("X+C",))}
    assert Recipe.from_json(json.loads(recipe.text)) == recipe
