"""The loops of a work item -> the text of a kernel."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from polysched.emit_c.loop_ir.traversal import instances
from polysched.emit_c.scalar_code.c_text import CText
from polysched.emit_c.scalar_code.helper_macros import HelperMacros
from polysched.emit_c.scalar_code.index_printer import IndexPrinter, parameter_ranges
from polysched.emit_c.scalar_code.statements import INDENT
from polysched.emit_gpu.arrays import Buffer
from polysched.emit_gpu.body_text import BodyPrinter
from polysched.emit_gpu.dialect import device_type, with_bytes_for_truths
from polysched.emit_gpu.interface import OPENCL, Interface
from polysched.emit_gpu.kernel_loops import KernelLoops
from polysched.emit_gpu.names import DeviceNames
from polysched.emit_gpu.phase_text import PhasePrinter
from polysched.emit_gpu.tensor_cores.printers import printer_of
from polysched.records import dataclass
from polysched.scop.body import ParameterRef, statement_expressions, walk
from polysched.scop.dtypes import BOOL, UINT8, DType
from polysched.scop.scop import Array, Scop


@dataclass(frozen=True, kw_only=True)
class Argument:
    """An argument of a kernel.

    Parameters
    ----------
    declaration : in the kernel's head.
    c_type : of the value on the host.
    value : its C on the host; a buffer's name for a buffer.
    buffer : the array, for a buffer.
    """

    declaration: str
    c_type: str
    value: str
    buffer: str = ""


@dataclass(frozen=True, eq=False, kw_only=True)
class Kernel:
    """A kernel as text.

    Parameters
    ----------
    loops : of one work item.
    name : in the program of the device.
    arguments : in order; last are those of the launch itself: first coordinates, loops of the host.
    text : the function.
    combining : the kernel that combines what the blocks of this one found; None where they need none.
    parts : the array with one element per block, in which they left it; it is the last argument of both.
    parts_type : C of the type of its elements.
    """

    loops: KernelLoops
    name: str
    arguments: tuple[Argument, ...]
    text: str
    combining: Kernel | None = None
    parts: str = ""
    parts_type: str = ""


@dataclass(frozen=True, eq=False, kw_only=True)
class KernelPrinter:
    """Prints the kernels of a region.

    Parameters
    ----------
    scop : the program.
    names : of arrays and parameters in device code.
    buffers : by array.
    macros : collects the helper macros that the kernels use.
    interface : the language.
    """

    scop: Scop
    names: DeviceNames
    buffers: dict[str, Buffer]
    macros: HelperMacros
    interface: Interface = OPENCL

    def kernel(self, loops: KernelLoops, name: str) -> Kernel:
        """The text of one kernel."""
        spellings = {p.name: CText(self.names.parameters[p.name]) for p in self.scop.parameters}
        index = IndexPrinter(parameters=parameter_ranges(self.scop, self.scop.context.params()), spellings=spellings,
                             macros=self.macros)
        device = with_bytes_for_truths(
            replace(self.scop, arrays=tuple(self._device_array(a) for a in self.scop.arrays)))
        body = BodyPrinter(scop=device, index=index, interface=self.interface)
        printer = PhasePrinter(body=body, loops=loops, interface=self.interface, names=self.names)
        if loops.launch.shares == 1:
            return self._printed(loops, name, printer.lines(), 1)
        (team,) = (phase.team for phase in loops.phases if phase.team is not None)
        parts, dtype = printer.parts_name, self.scop.array(team.element.temporary.array).dtype.c_name
        combining = self._printed(loops, f"{name}_combined", printer.combining(team), 1,
                                  self._parts(parts, dtype, "const "))
        first = self._printed(loops, name, printer.lines(), loops.launch.shares, self._parts(parts, dtype, ""))
        return replace(first, combining=combining, parts=parts, parts_type=dtype)

    def _parts(self, name: str, c_type: str, const: str) -> Argument:
        return Argument(declaration=self.interface.pointer.format(const=const, c_type=c_type, name=name),
                        c_type="polysched_device_buffer", value=name)

    def _printed(self, loops: KernelLoops, name: str, body: list[str], shares: int, *more: Argument) -> Kernel:
        arguments = (*self._arguments(loops), *(_long(name, name) for name in (*loops.firsts, *loops.host)), *more)
        head = [argument.declaration for argument in arguments]
        ids = self._places(loops, shares)
        lines = [f"{self.interface.kernel_head.format(items=loops.launch.items)} {name}({', '.join(head)})", "{",
                 *(INDENT + line for line in (*ids, *body)), "}"]
        return Kernel(loops=loops, name=name, arguments=arguments, text="".join(f"{line}\n" for line in lines))

    def _places(self, loops: KernelLoops, shares: int) -> list[str]:
        """The values of the coordinates, and where the block begins if that is of use."""
        lines = []
        for k, (own, first) in enumerate(zip(loops.coordinates, loops.firsts, strict=True)):
            group, item = (text.format(dimension=k, axis="xyz"[k]) for text in (self.interface.group,
                                                                                self.interface.item))
            group = f"{group} / {shares}" if shares > 1 and k == 0 else group
            begin = f"{first} + {group} * {loops.launch.edges[k]}"
            if loops.places is not None:
                lines.append(f"const long {loops.places.firsts[k]} = {begin};")
                begin = loops.places.firsts[k]
            lines.append(f"const long {own} = {begin}{'' if loops.launch.team else f' + {item}'};")
        return lines

    def _device_array(self, array: Array) -> Array:
        buffer = self.buffers.get(array.name)
        return replace(array, c_element=self.names.arrays[array.name] if buffer is None else buffer.element)

    def _arguments(self, loops: KernelLoops) -> list[Argument]:
        """Buffers with their extents, scalars, and all parameters."""
        used = {i.statement for i in instances(loops.loops)}
        touched = {a.array for s in self.scop.statements if s.name in used for a in s.accesses} - loops.private
        written = {a.array for s in self.scop.statements if s.name in used for a in s.writes}
        found = []
        for array in self.scop.arrays:
            if array.name in touched:
                found += self._array_arguments(array, array.name in written)
        found += [_value(p.dtype, self.names.parameters[p.name], p.spelling) for p in self.scop.parameters]
        return found

    def _array_arguments(self, array: Array, written: bool) -> list[Argument]:
        buffer, name, c_type = self.buffers.get(array.name), self.names.arrays[array.name], device_type(array.dtype)
        if buffer is None:
            return [_value(array.dtype, name, array.c_element or array.name)]
        const = "" if written else "const "
        pointer = Argument(declaration=self.interface.pointer.format(const=const, c_type=c_type, name=name),
                           c_type="polysched_device_buffer", value=name, buffer=array.name)
        extents = [_long(own, text) for own, text in zip(buffer.extent_names, buffer.extents, strict=True)
                   if own != text and buffer.fields > 1]
        return [pointer, *extents]


def all_kernels(kernels: Iterable[Kernel]) -> tuple[Kernel, ...]:
    """The kernels, those that combine parts behind their own."""
    return tuple(own for kernel in kernels for own in (kernel, kernel.combining) if own is not None)


def _value(dtype: DType, name: str, value: str) -> Argument:
    """A number as an argument; no kernel takes a `_Bool` (OpenCL C 1.2, section 6.9)."""
    c_type = UINT8.c_name if dtype == BOOL else dtype.c_name
    return Argument(declaration=f"const {c_type} {name}", c_type=c_type, value=value)


def _long(name: str, value: str) -> Argument:
    """A size, or a place in the index space."""
    return Argument(declaration=f"const long {name}", c_type="long", value=value)


def program_text(kernels: Sequence[Kernel], macros: HelperMacros, scop: Scop,
                 interface: Interface = OPENCL) -> str:
    """The whole program of the device."""
    doubles = any(a.dtype.name == "float64" for a in scop.arrays) or any(
        e.dtype.name == "float64" for s in scop.statements for top in statement_expressions(s.body)
        for e in walk(top) if not isinstance(e, ParameterRef))
    head = [*(interface.double_head if doubles else ()), *interface.program_head, *macros.definitions()]
    products = {phase.tensor.product.intrinsic.name: phase.tensor.product
                for kernel in kernels for phase in kernel.loops.phases if phase.tensor is not None}
    functions = "".join(f"\n{printer_of(own).functions(own.intrinsic)}" for own in products.values())
    texts = "".join(f"\n{kernel.text}" for kernel in all_kernels(kernels))
    return "".join(f"{line}\n" for line in head) + functions + texts
