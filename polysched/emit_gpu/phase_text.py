"""The phases of a work item as text: copies to shared memory, barriers, tiles, variables that hold elements."""

from __future__ import annotations

from polysched.emit_c.loop_ir.index import Condition, Linear
from polysched.emit_c.scalar_code.c_text import CText, Level
from polysched.emit_c.scalar_code.expressions import element_template, fill_element
from polysched.emit_c.scalar_code.statements import INDENT
from polysched.emit_gpu.body_text import BodyPrinter
from polysched.emit_gpu.interface import Interface
from polysched.emit_gpu.kernel_loops import KernelLoops
from polysched.emit_gpu.loop_printer import indented
from polysched.emit_gpu.names import DeviceNames
from polysched.emit_gpu.phases import ITEM, Kept, PhaseLoops, TeamResult
from polysched.emit_gpu.staged_copies import CopyPrinter
from polysched.emit_gpu.team_operators import combined, neutral_element
from polysched.emit_gpu.tensor_cores.loops import TensorLoops
from polysched.emit_gpu.tensor_cores.printers import printer_of
from polysched.emit_gpu.tensor_cores.text import TensorPrinter
from polysched.emit_gpu.time_tile_text import TimeTilePrinter
from polysched.gpu.limits import LIMITS
from polysched.records import dataclass
from polysched.scop.dtypes import INT32


@dataclass(frozen=True, eq=False, kw_only=True)
class PhasePrinter:
    """Prints what a work item runs.

    Parameters
    ----------
    body : prints loops and values.
    loops : of the kernel.
    interface : the language.
    names : of device code.
    """

    body: BodyPrinter
    loops: KernelLoops
    interface: Interface
    names: DeviceNames

    def lines(self) -> list[str]:
        """All lines behind the coordinates."""
        phases = self.loops.phases
        if self.loops.tiles is not None:
            printer = TimeTilePrinter(body=self.body, launch=self.loops.launch, names=self.names, item=self._item_name,
                                      barrier=self.interface.global_barrier)
            return [self._item(), *printer.lines(self.loops.tiles)]
        if not phases:
            return self.body.lines(self.loops.loops)
        shared = [self._copies.declared(tile) for phase in phases for tile in phase.staged]
        shared += [self._declared_team(phase.team) for phase in phases if phase.team is not None]
        products = [phase.tensor for phase in phases if phase.tensor is not None]
        shared += [line for own in products[:1] for line in self._tensor(own).declared(own)]   # all have the same tiles
        print_one = self._of_team if self.loops.launch.team else self._phase
        return [*shared, self._item(), *(line for phase in phases for line in print_one(phase))]

    def combining(self, team: TeamResult) -> list[str]:
        """What a team does with what the blocks of a reduction found, behind the coordinates."""
        part, own = self.names.taken.fresh("part"), team.element.temporary
        found = f"{self.parts_name}[{linear_block(self.interface)} * {self.loops.launch.shares} + {part}]"
        gathered = [f"for (int {part} = {self._item_name}; {part} < {self.loops.launch.shares}; {part} += "
                    f"{self.loops.launch.team})", f"{INDENT}{own.name} = {combined(team.operator, own.name, found)};"]
        return [self._declared_team(team), self._item(), *self._found(team, gathered), *self._tree(team),
                *self._of_first(self._if_there(team.element.condition, self._updated(team)))]

    @property
    def parts_name(self) -> str:
        """The name of the array with what the blocks of a reduction found."""
        return self.names.taken.fresh("parts")

    def _declared_team(self, team: TeamResult) -> str:
        array = team.element.temporary.array
        return f"{self.interface.shared} {self._type(array)} {team.shared}[{self.loops.launch.team}];"

    def _of_team(self, phase: PhaseLoops) -> list[str]:
        """What a team runs together, or one of its items alone."""
        team = phase.team
        if team is None:
            return self._of_first(self.body.lines(phase.loops))
        waiting = [self.interface.global_barrier] if phase.waits else []
        if self.loops.launch.shares > 1:
            result = [f"{self.parts_name}[{linear_block(self.interface)}] = {team.shared}[0];"]
        else:
            result = self._if_there(team.element.condition, self._updated(team))
        return [*waiting, "{", *indented([self._lane(team), *self._found(team, self.body.lines(phase.loops)),
                                           *self._tree(team), *self._of_first(result)]), "}"]

    def _of_first(self, lines: list[str]) -> list[str]:
        """What one item of a team does alone."""
        return [f"if ({self._item_name} == 0) {{", *indented(lines), "}"]

    def _lane(self, team: TeamResult) -> str:
        """The number of an item among all that reduce together."""
        launch, share = self.loops.launch, self.interface.group.format(dimension=0, axis="x")
        before = f"{share} % {launch.shares} * {launch.team} + " if launch.shares > 1 else ""
        return f"const long {team.lane} = {before}{self._item_name};"

    def _found(self, team: TeamResult, lines: list[str]) -> list[str]:
        """What an item finds alone, by some lines that accumulate it, as an element of shared memory."""
        own, scop = team.element.temporary, self.body.scop
        neutral = neutral_element(team.operator, scop.array(own.array).dtype)
        return [f"{self._type(own.array)} {own.name} = {neutral};", *lines,
                f"{team.shared}[{self._item_name}] = {own.name};", self.interface.barrier]

    def _tree(self, team: TeamResult) -> list[str]:
        """Halves of the team combined, level by level; those of a warp by shuffles, where the language has them."""
        item, half = self._item_name, self.names.taken.fresh("half")
        left, right = f"{team.shared}[{item}]", f"{team.shared}[{item} + {half}]"
        least = LIMITS.warp_items if self.interface.shuffle else 1
        levels = [f"for (int {half} = {self.loops.launch.team // 2}; {half} >= {least}; {half} /= 2) {{", *indented([
            f"if ({item} < {half}) {left} = {combined(team.operator, left, right)};", self.interface.barrier]), "}"]
        return [*levels, *self._in_warp(team)] if self.interface.shuffle else levels

    def _in_warp(self, team: TeamResult) -> list[str]:
        """The first warp's elements combined in its variables."""
        own, item = team.element.temporary, self._item_name
        half, further = self.names.taken.fresh("half"), self.names.taken.fresh("further")
        narrow = self.body.scop.array(own.array).dtype.bytes < INT32.bytes   # shuffles have no shorter type
        value = f"({INT32.c_name}){own.name}" if narrow else own.name
        shuffled = self.interface.shuffle.format(value=value, distance=half)
        return [f"if ({item} < {LIMITS.warp_items}) {{", *indented([
            f"{own.name} = {team.shared}[{item}];",
            f"for (int {half} = {LIMITS.warp_items // 2}; {half} > 0; {half} /= 2) {{", *indented([
                f"const {self._type(own.array)} {further} = {shuffled};",
                f"{own.name} = {combined(team.operator, own.name, further)};"]), "}",
            f"if ({item} == 0) {team.shared}[0] = {own.name};"]), "}"]

    def _updated(self, team: TeamResult) -> list[str]:
        """The element with what the team found; where conditions may have picked nothing, only if its bits change.

        Nor with a neutral element: a device may compute another NaN from a NaN and that.
        """
        place, element, found = self._place(team.element), team.element, f"{team.shared}[0]"
        if not element.changed:
            return [f"{place} = {combined(team.operator, place, found)};"]
        array = element.temporary.array
        c_type, neutral = self._type(array), neutral_element(team.operator, self.body.scop.array(array).dtype)
        before, after = (self.names.taken.fresh(f"{element.temporary.name}_{when}") for when in ("before", "after"))
        picked = self._differ(element, f"({c_type})({neutral})", found)
        return ["{", *indented([f"const {c_type} {before} = {place};",
                                f"const {c_type} {after} = {combined(team.operator, before, found)};",
                                f"if ({picked} && {self._differ(element, before, after)})",
                                f"{INDENT}{place} = {after};"]), "}"]

    @property
    def _item_name(self) -> str:
        return self.names.taken.fresh(ITEM)

    def _item(self) -> str:
        """The number of a work item in its block, fastest dimension first."""
        edges, text = self.loops.launch.block, ""
        if self.loops.launch.team:
            return f"const int {self._item_name} = {self.interface.item.format(dimension=0, axis='x')};"
        for k in reversed(range(len(edges))):
            own = self.interface.item.format(dimension=k, axis="xyz"[k])
            text = f"({text}) * {edges[k]} + {own}" if text else own
        return f"const int {self._item_name} = {text};"

    def _type(self, array: str) -> str:
        return self.body.scop.array(array).dtype.c_name

    @property
    def _copies(self) -> CopyPrinter:
        return CopyPrinter(body=self.body, launch=self.loops.launch, interface=self.interface, names=self.names,
                           item=self._item_name)

    def _tensor(self, loops: TensorLoops) -> TensorPrinter:
        places = self.loops.places
        assert places is not None, "a launch with phases has names for its places"
        return printer_of(loops.product)(body=self.body, launch=self.loops.launch, places=places, names=self.names,
                                         item=self._item_name, barrier=self.interface.barrier)

    def _phase(self, phase: PhaseLoops) -> list[str]:
        waiting = [self.interface.global_barrier] if phase.waits else []
        if phase.tensor is not None:
            return [*waiting, *self._tensor(phase.tensor).lines(phase.tensor)]
        return [*waiting, *self._of_items(phase)]

    def _of_items(self, phase: PhaseLoops) -> list[str]:
        """What each work item runs for its own points."""
        if not phase.tile:
            return self.body.lines(phase.loops)
        first, end = (self._bound(value) for value in phase.steps)
        inside = self.body.lines(phase.loops)
        if phase.staged:
            copies = [line for tile in phase.staged for line in self._copies.lines(tile)]
            inside = [*copies, self.interface.barrier, *inside, self.interface.barrier]
        return ["{", *indented([
            *(line for kept in phase.kept for line in self._loaded(kept)),
            f"for (long {phase.tile} = {first}; {phase.tile} < {end}; {phase.tile} += {phase.edge}) {{",
            *indented(inside), "}",
            *(line for kept in phase.kept for line in self._stored(kept))]), "}"]

    def _bound(self, value: Linear) -> str:
        """As an operand of a comparison or a sum."""
        return self.body.index.bound(value).at(Level.ADDITIVE)

    def _element(self, array: str, subscripts: list[CText]) -> str:
        template = element_template(self.body.scop.array(array), len(subscripts), {})
        return fill_element(template, subscripts).code

    def _loaded(self, kept: Kept) -> list[str]:
        own = kept.temporary
        lines = [f"{self._type(own.array)} {own.name};", *self._if_there(kept.condition, [
            f"{own.name} = {self._place(kept)};"])]
        return [*lines, f"const {self._type(own.array)} {self._before(kept)} = {own.name};"] if kept.changed else lines

    def _stored(self, kept: Kept) -> list[str]:
        """No element gets its old value back: others may read it meanwhile, or it may be somebody else's."""
        if not kept.written:
            return []
        own, store = kept.temporary.name, f"{self._place(kept)} = {kept.temporary.name};"
        return self._if_there(kept.stored, [f"if ({self._differ(kept, self._before(kept), own)})", INDENT + store]
                              if kept.changed else [store])

    def _before(self, kept: Kept) -> str:
        return self.names.taken.fresh(f"{kept.temporary.name}_before")

    def _differ(self, kept: Kept, before: str, after: str) -> str:
        """That two values of an element differ in a bit: zeros have signs, and NaN equals nothing."""
        bits = self.interface.bits.get(self._type(kept.temporary.array), "{value}")
        return f"{bits.format(value=after)} != {bits.format(value=before)}"

    def _place(self, kept: Kept) -> str:
        return self._element(kept.temporary.array, [self.body.index.bound(s) for s in kept.subscripts])

    def _if_there(self, condition: Condition | None, lines: list[str]) -> list[str]:
        if condition is None:
            return lines
        return [f"if ({self.body.index.condition(condition).code})", *indented(lines)]


def linear_block(interface: Interface) -> str:
    """The number of a block among all of a launch."""
    groups, counts = ([text.format(dimension=k, axis="xyz"[k]) for k in range(LIMITS.most_coordinates)]
                      for text in (interface.group, interface.groups))
    text = groups[-1]
    for own, count in zip(reversed(groups[:-1]), reversed(counts[:-1]), strict=True):
        text = f"({text}) * {count} + {own}"
    return f"({text})"

