"""GpuMapping -> the C of the host: buffers, copies, loops with launches."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import islpy as isl

from polysched.dependence.legality import filtered_sets
from polysched.emit_c.c_source import EmitOptions
from polysched.emit_c.generation.ast_build import build_ast
from polysched.emit_c.generation.ast_reader import read_ast
from polysched.emit_c.loop_ir.index import Linear
from polysched.emit_c.loop_ir.loops import Node, StatementInstance
from polysched.emit_c.loop_ir.names import TakenNames, name_loops
from polysched.emit_c.scalar_code.c_text import Level
from polysched.emit_c.scalar_code.statements import INDENT
from polysched.emit_gpu.arrays import Buffer
from polysched.emit_gpu.fixed_values import host_instances, when
from polysched.emit_gpu.kernel_text import Argument, Kernel, all_kernels
from polysched.emit_gpu.loop_printer import LoopPrinter, indented
from polysched.errors import UnsupportedScopError
from polysched.gpu.mapping import GpuMapping, HostLoop, HostNode, HostSequence, Launch, launches
from polysched.records import dataclass
from polysched.scop.scop import union_set


def host_loops(mapping: GpuMapping, kernels: dict[str, Kernel], taken: TakenNames) -> Node:
    """The loops of the host; a statement `kernel0` is a launch."""
    context = mapping.scop.context.params()
    tree = _host_schedule(mapping.host, 0, context)
    loops = read_ast(build_ast(tree, context=context, max_operations=EmitOptions.max_operations).root)
    return name_loops(loops, iterators={name: tuple(f"at_{host}" for host in kernel.loops.host)
                                         for name, kernel in kernels.items()}, taken=taken)


def _host_schedule(node: HostNode, depth: int, context: isl.Set) -> isl.Schedule:
    match node:
        case Launch():
            return isl.Schedule.from_domain(isl.UnionSet.from_set(host_instances(node, context)))
        case HostSequence():
            return reduce(isl.Schedule.sequence, [_host_schedule(part, depth, context) for part in node.parts])
        case HostLoop():
            tree = _host_schedule(node.body, depth + 1, context)
            domain = union_set(host_instances(launch, context) for launch in launches(node))
            members = [isl.PwAff.var_on_domain(isl.LocalSpace.from_space(s.get_space()), isl.dim_type.set, depth)
                       for s in filtered_sets(domain).values()]
            value = reduce(lambda total, member: total.union_add(isl.UnionPwAff.from_pw_aff(member)), members[1:],
                           isl.UnionPwAff.from_pw_aff(members[0]))
            return tree.insert_partial_schedule(isl.MultiUnionPwAff.from_union_pw_aff(value))


def _width(buffer: Buffer) -> str:
    """C of the elements of a row, and of the bytes of one."""
    return f"{buffer.row_elements}, sizeof({buffer.array.dtype.c_name})"


def _items(count: str, points: int) -> str:
    """C of how many work items have all values of a coordinate, some points each."""
    return count if points == 1 else f"({count} + {points - 1}) / {points}"


@dataclass(frozen=True, eq=False, kw_only=True)
class HostPrinter(LoopPrinter):
    """Prints the region on the host.

    Parameters
    ----------
    mapping : what is printed.
    buffers : by array.
    kernels : by the name of their launch.
    names : C names of the buffers on the host, by array.
    program : C name of the text of the device's program.
    """

    mapping: GpuMapping
    buffers: dict[str, Buffer]
    kernels: dict[str, Kernel]
    names: dict[str, str]
    program: str

    def region(self, loops: Node) -> list[str]:
        """The whole region."""
        kept, names = self.buffers.values(), self._kernel_names
        table = ", ".join(f'"{name}"' for name in names)
        lines = ["static polysched_device_program polysched_program;",
                 f"polysched_device_kernel polysched_kernels[{len(names)}];",
                 f"static const char *const polysched_names[] = {{{table}}};",
                 f"polysched_device_build(&polysched_program, polysched_kernels, {len(names)}, {self.program}, "
                 "polysched_names);"]
        lines += [line for buffer in kept for line in self._refused(buffer)]
        for buffer in kept:
            rows = f"(long)({self.index.bound(buffer.rows)})"
            made = f"hold({self._host(buffer)}, " if buffer.host else "allocate("
            lines.append(f"polysched_device_buffer {self._name(buffer)} = polysched_device_{made}{rows}, "
                         f"{_width(buffer)});")
        lines += [*self._to_device(), *self.lines(loops), *self._to_host()]
        lines += [f"polysched_device_drop({self._name(buffer)}, {self._host(buffer)});" if buffer.host
                  else f"polysched_device_release({self._name(buffer)});" for buffer in kept]
        lines.append(f"polysched_device_end(polysched_kernels, {len(names)});")
        return ["{", *indented(lines), "}"]

    def _to_device(self) -> list[str]:
        """The copies ahead of all launches; what comes back in part is kept as it went there."""
        lines = []
        for buffer in self.buffers.values():
            if buffer.own.partly_written:
                lines.append(f"polysched_device_kept {self._kept_name(buffer)} = {{0}};")
            if not buffer.own.copied_in.is_empty():
                lines.append(self._copy("keep" if buffer.own.partly_written else "write", buffer, buffer.live_in))
        return lines

    def _to_host(self) -> list[str]:
        """The copies behind all launches."""
        lines = []
        for buffer in self.buffers.values():
            if not buffer.own.copied_out.is_empty():
                way = "read_changed" if buffer.own.partly_written else "read"
                lines.append(self._copy(way, buffer, buffer.live_out))
            if buffer.own.partly_written:
                lines.append(f"polysched_device_forget(&{self._kept_name(buffer)});")
        return lines

    def _refused(self, buffer: Buffer) -> list[str]:
        """An error for sizes with which the region reaches in front of an array."""
        if buffer.own.in_front.is_empty():
            return []
        reached = when(buffer.own.in_front, self.mapping.scop.context.params())
        assert reached is not None, "refused before"
        return [f"if ({self.index.condition(reached)})",
                f'{INDENT}polysched_device_refuse("{buffer.array.name} is used in front of its first element");']

    def _name(self, buffer: Buffer) -> str:
        return self.names[buffer.array.name]

    def _host(self, buffer: Buffer) -> str:
        return f"(void *)({buffer.host})"

    def _kept_name(self, buffer: Buffer) -> str:
        """The name of the rows as they went to the device, beside that of the buffer."""
        return f"polysched_device_kept_{self._name(buffer)}"

    def _copy(self, way: str, buffer: Buffer, rows: tuple[Linear, Linear]) -> str:
        first, end = (self.index.bound(row) for row in rows)
        given = {"keep": f"&{self._kept_name(buffer)}, {self._name(buffer)}, {self._host(buffer)}",
                 "read_changed": f"{self._name(buffer)}, {self._host(buffer)}, &{self._kept_name(buffer)}"}
        call = (f"polysched_device_{way}({given.get(way, f'{self._name(buffer)}, {self._host(buffer)}')}, "
                f"{first}, {end}, {_width(buffer)});")
        live = buffer.own.copied_in if way in ("keep", "write") else buffer.own.copied_out
        needed = when(live, self.mapping.scop.context.params())
        return call if needed is None else f"if ({self.index.condition(needed)}) {call}"

    def leaf(self, node: Node) -> list[str]:
        """A launch."""
        if isinstance(node, StatementInstance):
            return self._launch(node)
        raise UnsupportedScopError(f"no host code for {type(node).__name__}", where=self.mapping.scop.name)

    def _launch(self, node: StatementInstance) -> list[str]:
        """One launch: its arguments, and the index space that covers all coordinates."""
        kernel = self.kernels[node.statement]
        loops = kernel.loops
        lines = [f"const long {name} = {self.index.bound(value)};"
                 for name, value in zip(loops.host, node.iterators, strict=True)]
        for own_first, own_count, (first, end) in zip(loops.firsts, loops.counts, loops.ranges, strict=True):
            lines += [f"const long {own_first} = {self.index.bound(first)};",
                      f"const long {own_count} = {self.index.bound(end).at(Level.ADDITIVE)} - {own_first};"]
        counts = [_items(name, points) for name, points in zip(
            loops.counts, loops.launch.points or (1,) * len(loops.counts), strict=True)] or ["1"]
        blocks = [str(edge) for edge in loops.launch.block] or ["1"]
        if loops.launch.team:   # one block for each value of the first coordinate
            counts[0], blocks[0] = f"{counts[0]} * {loops.launch.team}", str(loops.launch.team)
        if kernel.combining is None:
            return ["{", *indented([*lines, *self._launched(kernel, counts, blocks)]), "}"]
        shared = [f"{counts[0]} * {loops.launch.shares}", *counts[1:]]
        spread = [f"({count}) / {edge}" for count, edge in zip(shared, blocks, strict=True)]
        lines.append(f"polysched_device_buffer {kernel.parts} = polysched_device_allocate({' * '.join(spread)}, 1, "
                     f"sizeof({kernel.parts_type}));")
        return ["{", *indented([*lines, *self._launched(kernel, shared, blocks),
                                 *self._launched(kernel.combining, counts, blocks),
                                 f"polysched_device_release({kernel.parts});"]), "}"]

    def _launched(self, kernel: Kernel, counts: Sequence[str], blocks: Sequence[str]) -> list[str]:
        own = f"&polysched_kernels[{self._kernel_names.index(kernel.name)}]"
        return [*(self._argument(own, k, argument) for k, argument in enumerate(kernel.arguments)),
                f"polysched_device_launch({own}, {len(counts)}, (const long[]){{{', '.join(counts)}}}, "
                f"(const size_t[]){{{', '.join(blocks)}}});"]

    @property
    def _kernel_names(self) -> list[str]:
        """The names of all kernels, in the order of the table."""
        return [kernel.name for kernel in all_kernels(self.kernels.values())]

    def _argument(self, kernel: str, position: int, argument: Argument) -> str:
        value = self.names[argument.buffer] if argument.buffer else argument.value
        return (f"polysched_device_set({kernel}, {position}, sizeof({argument.c_type}), "
                f"&({argument.c_type}){{{value}}});")
