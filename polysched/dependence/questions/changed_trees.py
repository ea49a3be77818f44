"""A loop of a tree with another value: reversed, skewed by a loop around it, or as a wavefront."""

from __future__ import annotations

import islpy as isl

from polysched.dependence.questions.program_loops import ProgramLoop
from polysched.scop.points import isl_value


def reversed_loop(loop: ProgramLoop) -> isl.Schedule:
    """The tree in which one loop counts the other way.

    Rewrite:  [i]  ->  [-i]
    """
    return _with_value(loop, _value(loop).neg())


def skewed_loop(loop: ProgramLoop, by: ProgramLoop, factor: int) -> isl.Schedule:
    """The tree in which a loop is skewed by a loop of its perfect nest.

    Rewrite:  [i, j]  ->  [i, j + factor i]
    """
    return _with_value(loop, _value(loop).add(_value(by).scale_val(isl_value(factor))))


def wavefronts(outer: ProgramLoop, inner: ProgramLoop, factor: int) -> isl.Schedule:
    """The tree whose outer loop runs over wavefronts.

    Rewrite:  [i, j]  ->  [factor i + j, j]
    """
    return _with_value(outer, _value(outer).scale_val(isl_value(factor)).add(_value(inner)))


def _value(loop: ProgramLoop) -> isl.UnionPwAff:
    return loop.node.band_get_partial_schedule().get_union_pw_aff(loop.member)


def _with_value(loop: ProgramLoop, value: isl.UnionPwAff) -> isl.Schedule:
    partial = loop.node.band_get_partial_schedule().set_union_pw_aff(loop.member, value)
    changed = loop.node.delete().insert_partial_schedule(partial)
    return changed.get_schedule()
