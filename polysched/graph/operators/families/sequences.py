"""Sequences and optionals: operators whose operands or results are no tensors.

Their structure follows from the graph: `polysched.graph.evaluation.sequences` puts the elements in their place before
anything is planned, and runs them in the interpreter.
"""

from __future__ import annotations

from typing import Any

from polysched.graph.operators.operator import Kind, Operator, Site
from polysched.graph.values.refusals import Part, Remedy
from polysched.graph.values.types import TensorType

MAP = "SequenceMap"


def _unresolved(site: Site) -> tuple[TensorType, ...]:
    """Refuse what is still there when all structures that are known were resolved."""
    raise site.refusal("the structure of a sequence depends on data", Part.WHOLE, hint=Remedy.VALUES)


def _no_reference(site: Site, *operands: Any) -> Any:
    """The interpreter runs them itself."""
    raise site.refusal("sequences are run by the interpreter", Part.WHOLE, hint="call polysched.graph.interpret")


OPERATORS = tuple(Operator(name=name, kind=Kind.TUPLE, types=_unresolved, reference=_no_reference, steering=steering)
                  for name, steering in (
                      ("SequenceConstruct", ()), ("SequenceEmpty", ()), ("SequenceInsert", (2,)),
                      ("SequenceErase", (1,)), ("SequenceAt", (1,)), ("SequenceLength", ()),
                      ("SplitToSequence", (1,)), ("ConcatFromSequence", ()), (MAP, ()), ("Optional", ()),
                      ("OptionalHasElement", ()), ("OptionalGetElement", ())))
STRUCTURED = frozenset(operator.name for operator in OPERATORS)
"""Operators that take or make sequences or optionals."""
