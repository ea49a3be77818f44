"""The kinds of random programs, by name: what is drawn for a number, and how it is checked."""

from __future__ import annotations

from collections.abc import Callable

from polysched.fuzz.batch import RECIPE
from polysched.fuzz.configuration import MOST_ISL_OPERATIONS, Configuration
from polysched.fuzz.contractions import contraction
from polysched.fuzz.drawing import random_configurations
from polysched.fuzz.generator import Shape, generate
from polysched.fuzz.instruction_drawing import contraction_configurations
from polysched.fuzz.program import Program
from polysched.measure.programs.inputs import WHOLE
from polysched.records import dataclass


@dataclass(frozen=True)
class ProgramKind:
    """One kind.

    Parameters
    ----------
    program : of a number, no larger than a shape says.
    configurations : of a number.
    recipe : of the inputs, as in `measure.programs.inputs`.
    in_python : whether there is a text in Python to be checked, too.
    schedules : whether the interpreter and the order of the instances are witnesses besides the compiled code.
    operations : of isl, for each configuration.
    """

    program: Callable[[int, Shape], Program]
    configurations: Callable[[int], tuple[Configuration, ...]]
    recipe: str = RECIPE
    in_python: bool = True
    schedules: bool = True
    operations: int = MOST_ISL_OPERATIONS


AFFINE, CONTRACTIONS = "affine", "contractions"
PROGRAM_KINDS = {
    AFFINE: ProgramKind(lambda seed, shape: generate(seed, shape=shape), random_configurations),
    CONTRACTIONS: ProgramKind(lambda seed, shape: contraction(seed), contraction_configurations, WHOLE,
                              in_python=False, schedules=False, operations=3 * MOST_ISL_OPERATIONS),
}
