"""The C driver of a model: one function that runs every step of a plan, with no Python between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from polysched.graph.operators.moves import Move, Place
from polysched.graph.planning.plan import Copies, Kernel, Plan
from polysched.graph.values.sizes import Size
from polysched.graph.values.types import TensorType

ENTRY = "polysched_model_run"
WORDS = {1: "unsigned char", 2: "unsigned short", 4: "unsigned int", 8: "unsigned long"}
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
            lines += _copies(plan, step, places)
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


def _copies(plan: Plan, step: Copies, places: Mapping[str, str]) -> list[str]:
    result = plan.type_of(step.output)
    word = WORDS[result.dtype.bytes]
    lines = []
    for move in step.moves:
        if any(e == 0 for e in move.loops):
            continue
        source = step.inputs[move.operand]
        own = plan.type_of(source)
        lines += ["  {", f"    const {word} *restrict from = (const {word} *)({places[plan.roots[source]]});",
                  f"    {word} *restrict to = ({word} *)({places[plan.roots[step.output]]});"]
        lines += [f"    {line}" for line in _loops(move, own, result)]
        lines.append("  }")
    return lines


def _loops(move: Move, own: TensorType, result: TensorType) -> list[str]:
    """The loops of a move; those that run once are left out."""
    lines, depth = [], 0
    for number, extent in enumerate(move.loops):
        if extent != 1:
            lines.append(f"{'  ' * depth}for (long l{number} = 0; l{number} < {_c(extent)}; l{number}++)")
            depth += 1
    target, source = _offset(move.target, result, move.loops), _offset(move.source, own, move.loops)
    return [*lines, f"{'  ' * depth}to[{target}] = from[{source}];"]


def _offset(places: Sequence[Place], shape: TensorType, loops: Sequence[Size]) -> str:
    """The place of an element in row-major memory."""
    factors: dict[int, int] = {}
    start, stride = 0, 1
    for place, extent in zip(reversed(places), reversed(shape.shape), strict=True):
        start += int(place.start) * stride
        for loop, factor in place.terms:
            if loops[loop] != 1:
                factors[loop] = factors.get(loop, 0) + int(factor) * stride
        stride *= int(extent)
    terms = [f"l{loop}" if f == 1 else f"{f} * l{loop}" for loop, f in sorted(factors.items()) if f]
    return " + ".join([*terms, *([str(start)] if start or not terms else [])])


def _c(size: Size) -> str:
    return str(int(size))
