"""The C driver of a model: one function that runs every step of a plan, with no Python between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from polysched.graph.operators.moves import Move, Place
from polysched.graph.planning.plan import Copies, Kernel, Plan
from polysched.graph.values.sizes import Size
from polysched.graph.values.types import TensorType

ENTRY = "polysched_model_run"
WORDS = {1: "unsigned char", 2: "unsigned short", 4: "unsigned int", 8: "unsigned long"}
NO_MEMORY = 1
FIRST_OF_INDICES = 2
"""What the function returns where the step of number 0 finds an index outside its dimension; then one more per step."""
EXPORTED = '__attribute__((visibility("default")))'


def driver_text(plan: Plan, symbols: Mapping[int, str]) -> str:
    """The C of a plan.

    The function is `int polysched_model_run(void *const *inputs, void *const *outputs, void *const *constants,
    char *arena)`: 0 where there was memory for the temporaries of every kernel.

    Parameters
    ----------
    symbols : the function of every kernel step, by the step's position.
    """
    places = _pointers(plan)
    lines = ["#include <string.h>", ""]
    lines += [f"int {name}(void *const *arrays, const long *sizes);" for name in dict.fromkeys(symbols.values())]
    lines += ["", f"{EXPORTED} int {ENTRY}(void *const *inputs, void *const *outputs, void *const *constants, "
              "char *arena) {", "  (void)inputs; (void)outputs; (void)constants; (void)arena;"]
    for number, step in enumerate(plan.steps):
        if isinstance(step, Kernel):
            arrays = ", ".join(places[plan.roots[n]] for n in (*step.inputs, *step.outputs))
            lines += ["  {", f"    void *const arrays[] = {{ {arrays} }};",
                      f"    if ({symbols[number]}(arrays, 0)) return 1;", "  }"]
        else:
            lines += _copies(plan, number, step, places)
    for output, root in plan.copied.items():
        size = int(plan.type_of(output).elements) * plan.type_of(output).dtype.bytes
        if size:
            lines.append(f"  memcpy(outputs[{plan.graph.outputs.index(output)}], {places[root]}, {size});")
    return "\n".join([*lines, "  return 0;", "}", ""])


def _pointers(plan: Plan) -> dict[str, str]:
    """Where every value with memory of its own stands, as C."""
    graph = plan.graph
    places = {name: f"inputs[{place}]" for place, (name, _) in enumerate(graph.inputs)}
    places |= {name: f"constants[{place}]" for place, name in enumerate(graph.constants)}
    places |= {name: f"arena + {offset}" for name, offset in plan.arena.offsets.items()}
    for place, output in enumerate(graph.outputs):
        if output not in plan.copied:
            places[plan.roots[output]] = f"outputs[{place}]"
    return places


def _copies(plan: Plan, number: int, step: Copies, places: Mapping[str, str]) -> list[str]:
    """The loops of a step's moves."""
    result = plan.type_of(step.output)
    lines = []
    for move in step.moves:
        if any(e == 0 for e in move.loops):
            continue
        word = result.dtype.c_name if move.combine else WORDS[result.dtype.bytes]
        source = step.inputs[move.operand]
        lines += ["  {", f"    const {word} *restrict from = (const {word} *)({places[plan.roots[source]]});",
                  f"    {word} *restrict to = ({word} *)({places[plan.roots[step.output]]});"]
        for operand in dict.fromkeys(p.index[0] for p in (*move.source, *move.target) if p.index is not None):
            own = plan.type_of(step.inputs[operand]).dtype.c_name
            place = places[plan.roots[step.inputs[operand]]]
            lines.append(f"    const {own} *restrict index{operand} = (const {own} *)({place});")
        types = [plan.type_of(n) if n else result for n in step.inputs]
        lines += [f"    {line}" for line in _loops(move, types, result, FIRST_OF_INDICES + number)]
        lines.append("  }")
    return lines


COMBINED = {"add": "{} + {}", "mul": "{} * {}", "max": "{1} > {0} || {1} != {1} ? {1} : {0}",
            "min": "{1} < {0} || {1} != {1} ? {1} : {0}"}
"""What is there and what comes in C; NaN stays, and wins where it comes."""


def _loops(move: Move, types: Sequence[TensorType], result: TensorType, status: int) -> list[str]:
    """The loops of a move; those that run once are left out."""
    lines, depth = [], 0
    for number, extent in enumerate(move.loops):
        if extent != 1:
            lines.append(f"{'  ' * depth}for (long l{number} = 0; l{number} < {int(extent)}; l{number}++) {{")
            depth += 1
    pad, inner = "  " * depth, _Subscripts(move.loops, types, status)
    target, source = inner.offset(move.target, result), inner.offset(move.source, types[move.operand])
    value = f"from[{source}]"
    if move.combine:
        value = COMBINED[move.combine].format(f"to[{target}]", value)
    lines += [f"{pad}{line}" for line in inner.lines]
    return [*lines, f"{pad}to[{target}] = {value};", *("  " * d + "}" for d in reversed(range(depth)))]


class _Subscripts:
    """Places of elements in row-major memory; indices that are read are checked before they are used.

    Parameters
    ----------
    status : what the function returns where an index is outside its dimension.
    """

    def __init__(self, loops: Sequence[Size], types: Sequence[TensorType], status: int) -> None:
        self.loops, self.types, self.status = loops, types, status
        self.lines: list[str] = []

    def offset(self, places: Sequence[Place], shape: TensorType) -> str:
        """The place of an element as C."""
        factors: dict[int, int] = {}
        read: list[str] = []
        stride, start = 1, 0
        for place, extent in zip(reversed(places), reversed(shape.shape), strict=True):
            if place.index is None:
                start += int(place.start) * stride
                for loop, factor in place.terms:
                    if self.loops[loop] != 1:
                        factors[loop] = factors.get(loop, 0) + int(factor) * stride
            else:
                read.append(_times(self.checked(place.index, int(extent)), stride))
            stride *= int(extent)
        terms = [*(_times(f"l{loop}", f) for loop, f in sorted(factors.items()) if f), *reversed(read)]
        return " + ".join([*terms, *([str(start)] if start or not terms else [])])

    def checked(self, index: tuple[int, tuple[Place, ...]], extent: int) -> str:
        """The name of a subscript that is read and is inside the dimension."""
        operand, places = index
        name = f"i{len(self.lines)}"
        element = f"index{operand}[{self.offset(places, self.types[operand])}]"
        self.lines += [f"long {name} = {element};", f"if ({name} < 0) {name} += {extent};",
                       f"if ({name} < 0 || {name} >= {extent}) return {self.status};"]
        return name


def _times(name: str, factor: int) -> str:
    return name if factor == 1 else f"{factor} * {name}"
