"""Padding around what a kernel makes: the kernel writes its result into the padded value, and no copy is needed.

    conv, HardSwish, PadConstant  ->  one kernel, which writes the inside; copies of the value around it

Only a result of known shape that nothing else reads, of a kernel without stages in memory, has its place there.  Where
an equal border stands in the same memory from before, and nothing was written over it, it is not written again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from polysched.graph.evaluation.inference import Inferred, site_of
from polysched.graph.operators.control import CLOSED
from polysched.graph.operators.moves import Move
from polysched.graph.operators.registry import operator_of
from polysched.graph.planning.expressions import has_stages, is_epilogue
from polysched.graph.planning.partition import PADDED, Beside, Group, fragment_of, is_inlined
from polysched.graph.planning.steps import Copies, Kernel, Sizes, Step, Together
from polysched.graph.values.graph import Graph, Node
from polysched.graph.values.types import TensorType
from polysched.records import dataclass


def padded_in_place(graph: Graph, groups: Sequence[Group | Beside], inferred: Inferred) -> tuple[Group | Beside, ...]:
    """The groups, those whose result is only padded together with the padding."""
    users = graph.users
    makers = {group.last.outputs[0]: place for place, group in enumerate(groups)
              if isinstance(group, Group) and len(group.results) == 1}
    found: list[Group | Beside | None] = list(groups)
    for place, group in enumerate(groups):
        if not isinstance(group, Group) or group.last.op != PADDED or len(group.nodes) > 1:
            continue
        name = group.last.inputs[0]
        maker = found[makers[name]] if name in makers else None
        if isinstance(maker, Group) and len(users[name]) == 1 and name not in graph.outputs and (
                _may_pad(graph, joined := Group(nodes=(*maker.nodes, group.last)), inferred)):
            found[makers[name]], found[place] = None, joined
    return tuple(group for group in found if group is not None)


def _may_pad(graph: Graph, joined: Group, inferred: Inferred) -> bool:
    """Whether a kernel can write into its padded result: its elements are made one by one, or in the tiles of a sum."""
    if not inferred.types[joined.last.outputs[0]].is_static or any(node.op in CLOSED for node in joined.nodes):
        return False
    fragment = fragment_of(graph, joined, inferred)[0]
    if is_epilogue(fragment):
        return True
    *inner, last = joined.nodes[:-1]
    return operator_of(last).element is not None and not has_stages(fragment) and all(
        is_inlined(node, site_of(node, inferred.types, inferred.known, results=True)) for node in inner)


def around(node: Node, inferred: Inferred) -> Copies:
    """The step that writes the value around what a kernel writes."""
    moves = operator_of(node).moves
    assert moves is not None
    border = moves(site_of(node, inferred.types, inferred.known, results=True))[0][:-1]
    return Copies(moves=tuple(replace(move, operand=0) for move in border), inputs=node.inputs[1:],
                  output=node.outputs[0])


@dataclass(frozen=True, kw_only=True)
class _Border:
    """What stands around a kernel's result.

    Parameters
    ----------
    moves, value, type : how it is written, of what, in what.
    start : where the memory begins.
    """

    moves: tuple[Move, ...]
    value: bytes
    type: TensorType
    start: int

    def is_met(self, start: int, size: int) -> bool:
        """Whether memory of a size overlaps that of the padded value."""
        return start < self.start + self.type.bytes and self.start < start + size


def lasting_borders(graph: Graph, steps: Sequence[Step], roots: Mapping[str, str],
                    offsets: Mapping[str, int]) -> Iterator[Copies]:
    """The steps that would write a border where an equal one stands; none beside control flow.

    Parameters
    ----------
    graph : of known sizes, with the types of all values.
    offsets : where values stand in the arena; the others have memory of their own, which callers write.
    """
    if not all(isinstance(step, Copies | Kernel | Sizes | Together) for step in steps):
        return
    standing: list[_Border] = []
    for before, step, behind in zip((None, *steps), steps, (*steps[1:], None), strict=False):
        border = _border_of(step, behind, graph, roots, offsets)
        if border in standing:
            assert isinstance(step, Copies)
            yield step
            continue
        if not _has_border(before, step):
            places = [roots[name] for name in step.outputs if roots[name] in offsets]
            written = [(offsets[name], graph.type_of(name).bytes) for name in places]
            standing = [each for each in standing if not any(each.is_met(*place) for place in written)]
        standing += [] if border is None else [border]


def _has_border(ahead: Step | None, step: Step | None) -> bool:
    """Whether a step runs the kernel inside the border that the step ahead of it writes."""
    return isinstance(ahead, Copies) and isinstance(step, Kernel) and ahead.outputs == step.outputs


def _border_of(step: Step, behind: Step | None, graph: Graph, roots: Mapping[str, str],
               offsets: Mapping[str, int]) -> _Border | None:
    """What a step writes around the result of the kernel behind it; None of another step."""
    if not isinstance(step, Copies) or not _has_border(step, behind):
        return None
    root, value = roots[step.output], graph.constants.get(step.inputs[0])
    if root not in offsets or value is None:
        return None
    return _Border(moves=step.moves, value=value.tobytes(), type=graph.type_of(root), start=offsets[root])
