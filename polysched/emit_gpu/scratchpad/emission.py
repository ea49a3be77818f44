"""ScratchpadMapping -> C in which each memory of the chip is an array, each move a loop, and each buffer poisoned."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import islpy as isl

from polysched.emit_c.c_source import CSource, EmitOptions
from polysched.emit_c.generation.ast_build import build_ast
from polysched.emit_c.generation.ast_reader import read_ast
from polysched.emit_c.generation.unit_steps import count_by_one
from polysched.emit_c.generation.unskewing import unskew
from polysched.emit_c.loop_ir.loops import Block, Node, StatementInstance, Temporary
from polysched.emit_c.loop_ir.names import TakenNames, identifier_of, name_loops, taken_names
from polysched.emit_c.register_tiles.tile_accesses import Point, iterators_at
from polysched.emit_c.scalar_code.c_text import CText
from polysched.emit_c.scalar_code.expressions import ExpressionPrinter, element_template, fill_element
from polysched.emit_c.scalar_code.helper_macros import HelperMacros
from polysched.emit_c.scalar_code.index_printer import IndexPrinter, parameter_ranges, parameter_spellings
from polysched.emit_c.scalar_code.original_code import inside as one_level_in
from polysched.emit_c.scalar_code.original_code import original_lines
from polysched.emit_c.scalar_code.statements import INDENT, branches, print_body
from polysched.emit_gpu.loop_printer import LoopPrinter
from polysched.emit_gpu.scratchpad.cube_text import CubeText, instruction_function, loop_names
from polysched.emit_gpu.scratchpad.texts import PREAMBLE, linear, pointer, poisoned, type_lines
from polysched.errors import UnsupportedScopError
from polysched.gpu.instances import image_of
from polysched.gpu.mapping import HostLoop, HostNode, HostSequence, Launch
from polysched.gpu.scratchpad import ScratchpadMapping
from polysched.gpu.scratchpad.choice import PlacedGroup
from polysched.gpu.scratchpad.instructions import last_use
from polysched.gpu.scratchpad.plan import Buffer, Home
from polysched.gpu.scratchpad.stages import CubeStage, VectorStage
from polysched.records import dataclass
from polysched.scheduling.tree.loop_tree import multi_union_pw_aff
from polysched.scop.scop import Array, Scop, Storage
from polysched.scop.shown import Shown
from polysched.target.scratchpads.description import Memory
from polysched.tiling.tiled_schedule import TiledSchedule

MOVE = "polysched_move"
OWN_NAMES = ("polysched_scratchpad", "polysched_tile", "polysched_host", MOVE)


@dataclass(frozen=True, eq=False, kw_only=True)
class ScratchpadSource(Shown):
    """A region for an accelerator.

    Parameters
    ----------
    mapping : what is printed; holds everything before it.
    source : the C.
    """

    mapping: ScratchpadMapping
    source: CSource

    def headline(self) -> str:
        """For instance `of gemm on davinci: 120 lines of C`."""
        name = self.mapping.scop.name
        return f"of {name} on {self.mapping.target.name}: {self.source.text.count(chr(10))} lines of C"

    def __str__(self) -> str:
        return self.source.preamble + self.source.text


def emit_scratchpad(mapping: ScratchpadMapping, given: Scop) -> ScratchpadSource:
    """Print a mapping as C that any compiler of GNU C takes.

    Parameters
    ----------
    given : the region as it was read; its original code runs for other sizes.

    Raises
    ------
    UnsupportedScopError : the program has names of the emitted C.
    BudgetExceededError : isl's loop generation does not fit into its budget.
    """
    scop = mapping.scop
    visible = taken_names(scop)
    buffers = {b.name for own in mapping.groups.values() for b in own.plan.buffers}
    used = sorted(name for name in visible.visible if name.startswith(OWN_NAMES) or name in buffers)
    if used:
        raise UnsupportedScopError(f"{used[0]} is a name of the C that is emitted for accelerators", where=scop.name,
                                   hint="rename it")
    printer = _Printer(mapping, visible)
    lines = printer.region()
    macros = printer.index.macros
    lines = [*macros.definitions(), *lines, *macros.undefinitions()]
    sizes = [f"{parameter_spellings(scop)[p.name].code} == {mapping.sizes[p.name]}" for p in scop.parameters]
    if sizes:
        if given.source is None:
            raise UnsupportedScopError("code for known sizes needs the original code for others", where=scop.name,
                                       hint="regions of C files have it")
        lines = branches(" && ".join(sizes), map(one_level_in, lines), original_lines(given))
    tiled = TiledSchedule(schedule=mapping.schedule, tree=mapping.tree)
    source = CSource(tiled=tiled, text="".join(f"{line}\n" for line in lines), loops=Block(()),
                     preamble=printer.preamble())
    return ScratchpadSource(mapping=mapping, source=source)


class _Printer:
    """Prints one region."""

    def __init__(self, mapping: ScratchpadMapping, taken: TakenNames) -> None:
        self.mapping, self.scop, self.target, self.taken = mapping, mapping.scop, mapping.target, taken
        self.index = IndexPrinter(parameters=parameter_ranges(self.scop, self.scop.context.params()),
                                  spellings=parameter_spellings(self.scop), macros=HelperMacros(taken))
        self.locals = {a.name: taken.fresh(f"{identifier_of(a.name)}_in_memory") for a in self.scop.arrays
                       if a.storage is Storage.LOCAL and not a.is_scalar}
        self.scalars = {a.name: taken.fresh(identifier_of(a.name)) for a in self.scop.arrays
                        if a.storage is Storage.LOCAL and a.is_scalar}
        self.names = {**self.locals, **self.scalars}
        self.place = self.scop.source.start if self.scop.source is not None else 0
        self.functions: dict[tuple[str, str, str], str] = {}
        self.memories = {memory.name: taken.fresh(memory.name) for memory in self.target.memories}

    # the file

    def preamble(self) -> str:
        """What stands at the top of the file: types, and the instruction."""
        types = {b.c_type for own in self.mapping.groups.values() for b in own.plan.buffers}
        functions = "".join(self.functions.values())
        return PREAMBLE + type_lines(types) + functions

    def region(self) -> list[str]:
        """The whole region."""
        lines = [f"static _Thread_local unsigned char {self.memories[memory.name]}[{memory.capacity_bytes}] "
                 "__attribute__((aligned(64)));" for memory in self._memories()]
        for array in self.scop.arrays:
            if array.name in self.names and self._in_memory(array):
                extents = "".join(f"[{last + 1}]" for _, last in self._ends(array))
                lines.append(f"static _Thread_local {array.dtype.c_name} {self.names[array.name]}{extents};")
        lines += [f"polysched_scratchpad_poison({name}, sizeof({name}));"
                  for name in (self.memories[memory.name] for memory in self._memories())]
        lines += self._host(self.mapping.host, 0)
        return ["{", *(INDENT + line for line in lines), "}"]

    def _memories(self) -> Iterator[Memory]:
        used = {b.memory for own in self.mapping.groups.values() for b in own.plan.buffers}
        yield from (memory for memory in self.target.memories if memory.name in used)

    def _in_memory(self, array: Array) -> bool:
        """Whether an array of the region has elements in the program's memory."""
        if array.is_scalar:
            return True
        for own in self.mapping.groups.values():
            home = own.plan.homes.get(array.name)
            users = any(a.array == array.name for stage in own.plan.stages for name in stage.statements
                        for a in self.scop.statement(name).accesses)
            if users and (home is None or home.is_loaded or home.is_stored):
                return True
        return False

    def _ends(self, array: Array) -> tuple[tuple[int, int], ...]:
        return () if array.is_scalar else next(own.plan.ends[array.name] for own in self.mapping.groups.values())

    # the host

    def _host(self, node: HostNode, depth: int) -> list[str]:
        match node:
            case HostSequence():
                return [line for part in node.parts for line in self._host(part, depth)]
            case HostLoop():
                values = image_of(self.mapping.schedule.tree.get_domain(), node.function)
                name = f"polysched_host{depth}"
                first, last = values.dim_min_val(0), values.dim_max_val(0)
                return [f"for (long {name} = {first}; {name} <= {last}; {name}++) {{",
                        *(INDENT + line for line in self._host(node.body, depth + 1)), "}"]
            case Launch():
                return _Group(self, self.mapping.groups[node.name]).lines()

    def pointer(self, buffer: Buffer, placed: PlacedGroup, turn: str) -> str:
        """The declaration of a buffer."""
        return pointer(buffer, self.memories[buffer.memory], placed.placement.of(buffer.name), turn)

    def instruction(self, name: str, placed: PlacedGroup, number: int) -> str:
        """The name of the function of an instruction on some types, which stands in the preamble."""
        cube = placed.plan.cubes[number]
        own = f"polysched_scratchpad_{name}_{self.place}"
        types = (cube.sums.c_type, cube.left.matrix.c_type, cube.right.matrix.c_type)
        if types not in self.functions:
            own = f"{own}_{len(self.functions)}" if self.functions else own
            self.functions[types] = instruction_function(own, cube.sums, cube.left.matrix, cube.right.matrix)
        return self.functions[types].split("(")[0].split()[-1]


class _Group:
    """Prints one group: the loop over tiles, the loads of the next one in front of the stages of each."""

    def __init__(self, outer: _Printer, placed: PlacedGroup) -> None:
        self.outer, self.placed, self.plan = outer, placed, placed.plan
        self.scop, self.taken = outer.scop, outer.taken
        self.tile, self.next = self.taken.fresh("tile"), self.taken.fresh("next_tile")
        self.counters = {k: {kind: self.taken.fresh(f"{kind}_{k}") for kind in ("steps", "lefts", "rights")}
                         for k in self.plan.cubes}

    def lines(self) -> list[str]:
        """The whole group."""
        plan = self.plan
        counters = [f"long {name} = 0;" for own in self.counters.values() for name in own.values()]
        stages = self._stages()
        loads = self._loads()
        if plan.slots > 1 and loads:
            ahead = [f"const long {self.next} = {self.tile} + 1;", *self._place_lines(self.next), *loads]
            body = [f"if ({self.tile} + 1 < {plan.tiles}) {{", *(INDENT + line for line in ahead), "}",
                    f"if ({self.tile} >= 0) {{", *(INDENT + line for line in [*self._place_lines(self.tile),
                                                                              *stages]), "}"]
            first = -1
        else:
            body = [*self._place_lines(self.tile), *stages]
            first = 0
        lines = [*counters, f"for (long {self.tile} = {first}; {self.tile} < {plan.tiles}; {self.tile}++) {{",
                 *(INDENT + line for line in body), "}"]
        return [f"/* {self.plan} */", *(["{", *(INDENT + line for line in lines), "}"] if counters else lines)]

    def _place_lines(self, tile: str) -> list[str]:
        """The least value of each coordinate in a tile."""
        lines, inside = [], 1
        for coordinate in reversed(self.plan.order):
            first, _ = self.plan.ranges[coordinate]
            count, edge = self.plan.counts[coordinate], self.plan.edges[coordinate]
            number = tile if inside == 1 else f"{tile} / {inside}"
            number = f"{number} % {count}"
            name = self.plan.tile_names[coordinate]
            value = f"{number} * {edge}" + (f" + {first}" if first else "")
            lines.append(f"const long {name} = {value if count > 1 else first};")
            inside *= count
        return lines

    def _pointer(self, home: Home, turn: str) -> str:
        return self.outer.pointer(home.buffer, self.placed, turn)

    # moves of homes

    def _loads(self) -> list[str]:
        lines = []
        for array, home in self.plan.homes.items():
            if home.is_loaded and home.buffer.slots > 1:
                lines += self._load(array, home)
        return lines

    def _load(self, array: str, home: Home) -> list[str]:
        """The start of a buffer's life: poison, and what the tile needs of the array."""
        lines = [self._pointer(home, self.next), poisoned(home.buffer.name, home.buffer),
                 *self._moved(array, home, home.loaded, to_memory=False)]
        return ["{", *(INDENT + line for line in lines), "}"]

    def _moved(self, array: str, home: Home, elements: isl.Set, *, to_memory: bool) -> list[str]:
        """Loops over elements of an array that are moved."""
        own = self.scop.array(array)
        loops = self._over(elements, len(own.extents))
        temporary = _temporary(home)

        def move(node: StatementInstance) -> list[str]:
            texts = [self.outer.index.form(form).text for form in node.iterators]
            here = home.buffer.name + "".join(
                f"[{self.outer.index.form(form).text}]" for form in temporary.subscripts(node.iterators))
            there = fill_element(element_template(own, len(texts), self.outer.names), texts).code
            return [f"{there} = {here};" if to_memory else f"{here} = {there};"]
        return _Lines(index=self.outer.index, text=move).lines(loops)

    def _over(self, elements: isl.Set, dimensions: int) -> Node:
        named = elements.set_tuple_name(MOVE).coalesce()
        space = isl.LocalSpace.from_space(named.get_space())
        members = tuple(isl.UnionPwAff.from_pw_aff(isl.PwAff.var_on_domain(space, isl.dim_type.set, k))
                        for k in range(dimensions))
        tree = isl.Schedule.from_domain(isl.UnionSet.from_set(named))
        tree = tree.insert_partial_schedule(multi_union_pw_aff(members))
        return self._generated(tree, {MOVE: tuple(self.taken.fresh(f"e{k}") for k in range(dimensions))})

    def _generated(self, tree: isl.Schedule, iterators: dict[str, tuple[str, ...]]) -> Node:
        built = build_ast(tree, context=self._context(), max_operations=EmitOptions.max_operations)
        return name_loops(count_by_one(unskew(read_ast(built.root))), iterators=iterators, taken=self.taken)

    def _context(self) -> isl.Set:
        """What is known of the place of a tile."""
        known = self.scop.context.params()
        for name, (first, count) in zip(self.plan.tile_names, self.plan.ranges, strict=True):
            known = known.intersect(isl.Set(f"[{name}] -> {{ : {first} <= {name} < {first + count} }}"))
        return known

    # stages

    def _stages(self) -> list[str]:
        plan = self.plan
        lines = []
        for home in plan.homes.values():
            lines.append(self._pointer(home, self.tile))
        for number, stage in enumerate(plan.stages):
            for array, home in plan.homes.items():
                if self._first_use(array) == number and not (home.is_loaded and home.buffer.slots > 1):
                    lines += self._born(array, home)
            lines += self._cube(number, stage) if isinstance(stage, CubeStage) else self._vector(stage)
            for array, home in plan.homes.items():
                if home.is_stored and last_use(self.scop, plan, array) == number:
                    lines += [f"/* {home.buffer.memory} to memory: {array} */",
                              *self._moved(array, home, home.stored, to_memory=True)]
        return lines

    def _born(self, array: str, home: Home) -> list[str]:
        lines = [poisoned(home.buffer.name, home.buffer)]
        if home.is_loaded:
            lines += self._moved(array, home, home.loaded, to_memory=False)
        return lines

    def _first_use(self, array: str) -> int:
        return min(number for number, stage in enumerate(self.plan.stages) for name in stage.statements
                   for access in self.scop.statement(name).accesses if access.array == array)

    def _vector(self, stage: VectorStage) -> list[str]:
        names = [isl.UnionSet.from_set(self.scop.statement(name).domain) for name in stage.statements]
        domain = names[0]
        for own in names[1:]:
            domain = domain.union(own)
        tree = self.outer.mapping.schedule.tree.intersect_domain(self.plan.domain.intersect(domain))
        loops = self._generated(tree, {name: self.scop.statement(name).iterators for name in stage.statements})
        temporaries = tuple(_temporary(home) for home in self.plan.homes.values())

        def body(node: StatementInstance) -> list[str]:
            printer = ExpressionPrinter(
                scop=self.scop, statement=self.scop.statement(node.statement), index=self.outer.index,
                iterators=iterators_at(self.scop, node, Point(())), local_names=self.outer.names,
                temporaries=temporaries)
            return print_body(printer.statement.body, printer)
        return [f"/* {stage} */", *_Lines(index=self.outer.index, text=body).lines(loops)]

    def _cube(self, number: int, stage: CubeStage) -> list[str]:
        cube = self.plan.cubes[number]
        values, blocks, steps = loop_names(self.taken, cube)
        return CubeText(plan=self.plan, cube=cube, element=self._element, names_of=self.taken.fresh,
                        pointer=lambda buffer, turn: self.outer.pointer(buffer, self.placed, turn),
                        bounds={array: self._held(home) for array, home in self.plan.homes.items()}, names=values,
                        blocks=blocks, steps=steps, counters=self.counters[number], tile=self.tile,
                        function=self.outer.instruction(stage.match.intrinsic.name, self.placed, number)).lines()

    def _held(self, home: Home) -> list[tuple[str, str]]:
        bounds = []
        for edge in home.buffer.box or ():
            base = self.outer.index.bound(linear(edge)).code
            bounds.append((base, f"{base} + {edge.extent}"))
        return bounds

    def _element(self, array: str, subscripts: list[str]) -> str:
        """C of an element where it is while a tile runs."""
        home = self.plan.homes.get(array)
        if home is None:
            own = self.scop.array(array)
            template = element_template(own, len(subscripts), self.outer.names)
            return fill_element(template, [CText(text) for text in subscripts]).code
        texts = []
        for subscript, (base, _) in zip(subscripts, self._held(home), strict=True):
            texts.append(f"[{subscript}]" if base == "0" else f"[{subscript} - ({base})]")
        return home.buffer.name + "".join(texts)


@dataclass(frozen=True, eq=False, kw_only=True)
class _Lines(LoopPrinter):
    """Prints loops, with a text of its own for each instance."""

    text: Callable[[StatementInstance], list[str]]

    def leaf(self, node: Node) -> list[str]:
        if isinstance(node, StatementInstance):
            return self.text(node)
        raise UnsupportedScopError(f"no accelerator code for {type(node).__name__}")


def _temporary(home: Home) -> Temporary:
    """The buffer in the place of its array."""
    box = home.buffer.box or ()
    return Temporary(array=home.buffer.array, name=home.buffer.name, kept=tuple(range(len(box))),
                     bases=tuple(linear(edge) for edge in box), extents=home.buffer.extents)


