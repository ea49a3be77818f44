"""A stage of the cube as C: moves to its buffers, blocks of the instruction, moves of the sums."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from polysched.emit_c.loop_ir.names import TakenNames
from polysched.emit_c.scalar_code.statements import INDENT
from polysched.emit_gpu.scratchpad.texts import (
    at,
    least,
    minus,
    most,
    nested,
    poisoned,
    total,
    type_name,
)
from polysched.gpu.scratchpad.plan import Buffer, CubePlan, Feed, GroupPlan
from polysched.gpu.scratchpad.stages import CubeOperand, Loop
from polysched.records import dataclass

ElementText = Callable[[str, list[str]], str]
"""C of an element of an array by its subscripts, where the array is while a tile runs."""


@dataclass(frozen=True, eq=False, kw_only=True)
class CubeText:
    """Prints one stage.

    Parameters
    ----------
    plan, cube : of the group and of the stage.
    element : where elements of arrays are.
    pointer : the declaration of a buffer at a turn.
    names_of : a name that hides none of the program's.
    bounds : per homed array the first subscript that is held and one past the last, as C.
    names, blocks, steps : variables for the values of loops, of their blocks and of their steps.
    counters : variables that tell which slot of a buffer is next.
    function : the name of the instruction's function.
    tile : the variable with the number of the tile.
    """

    plan: GroupPlan
    cube: CubePlan
    element: ElementText
    pointer: Callable[[Buffer, str], str]
    names_of: Callable[[str], str]
    bounds: Mapping[str, list[tuple[str, str]]]
    names: Mapping[str, str]
    blocks: Mapping[str, str]
    steps: Mapping[str, str]
    counters: Mapping[str, str]
    function: str
    tile: str

    def lines(self) -> list[str]:
        """The whole stage."""
        stage = self.cube.stage
        sums = self.cube.sums
        inside = [self.pointer(sums, "0"), poisoned(sums.name, sums),
                  f"__builtin_memset({sums.name}, 0, {sums.bytes});"]
        if self.cube.into is not None:
            inside += self._over_sums(lambda sum_, element: f"{sum_} = {element};")
        inside += self._with_steps()
        inside += self._over_sums(lambda sum_, element: f"{element} = {sum_};")
        outer = [(self.names[loop.name], *self._valid(loop)) for loop in stage.outer]
        return [f"/* {stage} */", *(nested(outer, inside) if outer else ["{", *(INDENT + x for x in inside), "}"])]

    # ranges of loops

    def _origin(self, loop: Loop) -> str:
        """The first value of a loop in a tile, whether the program has it or not."""
        mover = self.plan.mover(loop)
        return total([(mover, 1)], -loop.offset) if mover else str(loop.first)

    def _valid(self, loop: Loop) -> tuple[str, str]:
        """The values of a loop in a tile that the program has: the first, and one past the last."""
        origin = self._origin(loop)
        end = _plus(origin, self.cube.edges[loop.name])
        return most(origin, str(loop.first)), least(end, str(loop.first + loop.extent))

    def _base(self, loop: Loop) -> str:
        """The first value of a loop in a step and block."""
        base = self._step_base(loop)
        if self._block_count(loop) > 1:
            base = f"{base} + {self.blocks[loop.name]} * {self.cube.chunks[loop.name]}"
        return base

    def _step_base(self, loop: Loop) -> str:
        origin = self._origin(loop)
        if self._step_count(loop) > 1:
            return f"{origin} + {self.steps[loop.name]} * {self.cube.steps[loop.name]}"
        return origin

    def _step_count(self, loop: Loop) -> int:
        sums = self.cube.stage.sums
        return dict(zip((own.name for own in sums), self.cube.step_counts, strict=True)).get(loop.name, 1)

    def _block_count(self, loop: Loop) -> int:
        inside = {**self.cube.edges, **self.cube.steps}
        return 1 if loop in self.cube.stage.outer else self.cube.blocks((loop,), inside)[0]

    def _block_range(self, loop: Loop) -> tuple[str, str]:
        """The values of a loop in a block, within step and program."""
        first, end = self._valid(loop)
        if self._step_count(loop) == self._block_count(loop) == 1:
            return first, end
        base = self._base(loop)
        found_end = _plus(base, self.cube.chunks[loop.name])
        if self._step_count(loop) > 1 and self._block_count(loop) > 1:
            found_end = least(found_end, _plus(self._step_base(loop), self.cube.steps[loop.name]))
        return most(base, first), least(found_end, end)

    def _place(self, loops: tuple[Loop, ...]) -> str:
        """The place of an iteration in a block, innermost loop fastest."""
        text = ""
        for loop in loops:
            own = minus(self.names[loop.name], self._base(loop))
            text = f"({text}) * {self.cube.chunks[loop.name]} + {own}" if text else own
        return text or "0"

    def _ranges(self, *groups: tuple[Loop, ...]) -> list[tuple[str, str, str]]:
        return [(self.names[loop.name], *self._block_range(loop)) for loops in groups for loop in loops]

    def _block_loops(self, loops: tuple[Loop, ...]) -> list[tuple[str, str, str]]:
        return [(self.blocks[loop.name], "0", str(self._block_count(loop)))
                for loop in loops if self._block_count(loop) > 1]

    # sums

    def _number(self) -> str:
        """The number of a block of rows and columns."""
        text = ""
        for loop in (*self.cube.stage.rows, *self.cube.stage.columns):
            count = self._block_count(loop)
            if count > 1:
                own = self.blocks[loop.name]
                text = f"({text}) * {count} + {own}" if text else own
        return text or "0"

    def _over_sums(self, move: Callable[[str, str], str]) -> list[str]:
        """A line for every sum of the tile and its element."""
        stage, sums = self.cube.stage, self.cube.sums
        place = f"{sums.name}[{self._number()}][{self._place(stage.rows)}][{self._place(stage.columns)}]"
        element = self.element(stage.result.array, self._subscripts(stage.result))
        return nested([*self._block_loops((*stage.rows, *stage.columns)), *self._ranges(stage.rows, stage.columns)],
                      [move(place, element)])

    def _subscripts(self, operand: CubeOperand) -> list[str]:
        return [at(subscript, self.names) for subscript in operand.subscripts]

    # inputs

    def _with_steps(self) -> list[str]:
        stage = self.cube.stage
        body: list[str] = []
        for feed in (self.cube.left, self.cube.right):
            if feed.box is not None:
                body += self._box(feed)
        body += self._blocks()
        body.append(f"{self.counters['steps']}++;")
        loops = [(self.steps[loop.name], "0", str(self._step_count(loop)))
                 for loop in stage.sums if self._step_count(loop) > 1]
        return nested(loops, body) if loops else ["{", *(INDENT + line for line in body), "}"]

    def _if_due(self, feed: Feed, lines: list[str]) -> list[str]:
        """Lines that only the first of some tiles runs."""
        if feed.every == 1:
            return lines
        return [f"if ({self.tile} % {feed.every} == 0) {{", *(INDENT + line for line in lines), "}"]

    def _box(self, feed: Feed) -> list[str]:
        """The declaration of a box, and the move to it."""
        box = feed.box
        assert box is not None, "asked for only where there is one"
        turn = f"{self.tile} / {feed.every}" if feed.every > 1 else self.counters["steps"]
        subscripts = [self.names_of(f"x{k}") for k in range(len(box.extents))]
        source = self.element(feed.operand.array, subscripts)
        loops = []
        for k, (base, extent) in enumerate(zip(self._bases(feed), box.extents, strict=True)):
            first, last = self.plan.ends[feed.operand.array][k]
            low, high = most(base, str(first)), least(_plus(base, extent), str(last + 1))
            if feed.place:
                held = self.bounds[feed.place][k]
                low, high = most(low, held[0]), least(high, held[1])
            loops.append((subscripts[k], low, high))
        into = box.name + "".join(f"[{minus(x, base)}]" for x, base in zip(subscripts, self._bases(feed), strict=True))
        move = [poisoned(box.name, box), *nested(loops, [f"{into} = {source};"])]
        return [self.pointer(box, turn), *self._if_due(feed, move)]

    def _bases(self, feed: Feed) -> list[str]:
        """The least subscripts of a box in a step."""
        loops = {loop.name: loop for loop in self.cube.stage.loops}
        inside = {**self.cube.edges, **self.cube.steps}
        found = []
        for subscript in feed.operand.subscripts:
            terms, number = [], subscript.constant
            for name, factor in subscript.factors:
                outer = loops[name] in self.cube.stage.outer
                base = self.names[name] if outer else self._step_base(loops[name])
                if base.lstrip("-").isdecimal():
                    number += factor * int(base)
                else:
                    terms.append((base if base.isidentifier() else f"({base})", factor))
                number += 0 if factor > 0 or outer else factor * (inside[name] - 1)
            found.append(total(terms, number))
        return found

    def _blocks(self) -> list[str]:
        """Blocks of rows and sums around blocks of columns."""
        stage = self.cube.stage
        right = [*self._matrix(self.cube.right, self.counters["rights"]), self._call(),
                 f"{self.counters['rights']}++;"]
        inner = nested(self._block_loops(stage.columns), right)
        if not self._block_loops(stage.columns):
            inner = ["{", *(INDENT + line for line in right), "}"]
        body = [*self._matrix(self.cube.left, self.counters["lefts"]), *inner, f"{self.counters['lefts']}++;"]
        loops = self._block_loops((*stage.rows, *stage.sums))
        return nested(loops, body) if loops else ["{", *(INDENT + line for line in body), "}"]

    def _matrix(self, feed: Feed, counter: str) -> list[str]:
        """The declaration of a matrix in front of the cube, and the move to it."""
        matrix, operand = feed.matrix, feed.operand
        kept = feed.box is None and feed.every > 1
        turn = f"{self.tile} / {feed.every}" if kept else counter
        place = f"{matrix.name}[{self._place(operand.rows)}][{self._place(operand.columns)}]"
        move = [poisoned(matrix.name, matrix), *self._zeros(feed),
                *nested(self._ranges(operand.rows, operand.columns), [f"{place} = {self._source(feed)};"])]
        return [self.pointer(matrix, turn),
                *(self._if_due(feed, move) if kept else move)]

    def _zeros(self, feed: Feed) -> list[str]:
        """Zeros where blocks end early; negative ones on the left leave an old sum of -0.0 as it is."""
        matrix = feed.matrix
        if feed is not self.cube.left or self.cube.into is None:
            return [f"__builtin_memset({matrix.name}, 0, {matrix.bytes});"]
        row, column = self.names_of("row"), self.names_of("column")
        loops = [(row, "0", str(matrix.extents[0])), (column, "0", str(matrix.extents[1]))]
        return nested(loops, [f"{matrix.name}[{row}][{column}] = -({type_name(matrix.c_type)})0;"])

    def _source(self, feed: Feed) -> str:
        subscripts = self._subscripts(feed.operand)
        if feed.box is None:
            return self.element(feed.operand.array, subscripts)
        return feed.box.name + "".join(
            f"[{minus(own, base)}]" for own, base in zip(subscripts, self._bases(feed), strict=True))

    def _call(self) -> str:
        """The instruction, for all of its blocks."""
        sums = self.cube.sums
        _, rows, columns = sums.extents
        deep = self.cube.left.matrix.extents[1]
        return (f"{self.function}({sums.name}[{self._number()}][0], {self.cube.left.matrix.name}[0], "
                f"{self.cube.right.matrix.name}[0], {rows}, {columns}, {deep});")


def instruction_function(name: str, sums: Buffer, left: Buffer, right: Buffer) -> str:
    """The instruction on matrices in rows: what it computes of a block, in the order of its sums."""
    own, a, b = (type_name(buffer.c_type) for buffer in (sums, left, right))
    return (f"static void {name}({own} *c, const {a} *a, const {b} *b, long rows, long columns, long sums) {{\n"
            "  for (long i = 0; i < rows; i++)\n    for (long k = 0; k < sums; k++)\n"
            "      for (long j = 0; j < columns; j++)\n"
            f"        c[i * columns + j] += ({sums.c_type})a[i * sums + k] * ({sums.c_type})b[k * columns + j];\n}}\n")


def _plus(text: str, number: int) -> str:
    try:
        return str(int(text) + number)
    except ValueError:
        return f"{text} + {number}" if number else text


def loop_names(taken: TakenNames, cube: CubePlan) -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
    """Names for the values, the blocks and the steps of a stage's loops."""
    found: list[dict[str, str]] = []
    for wish in ("at_{}", "block_{}", "step_{}"):
        found.append({loop.name: taken.fresh(wish.format(loop.name)) for loop in cube.stage.loops})
    return found[0], found[1], found[2]
