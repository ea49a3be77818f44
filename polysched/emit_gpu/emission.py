"""GpuMapping -> DeviceSource: the program of the device, the region on the host, and what the file needs at its top."""

from __future__ import annotations

from collections.abc import Iterator

from polysched.emit_c.c_source import CSource
from polysched.emit_c.loop_ir.names import taken_names
from polysched.emit_c.scalar_code.helper_macros import HelperMacros
from polysched.emit_c.scalar_code.index_printer import IndexPrinter, parameter_ranges, parameter_spellings
from polysched.emit_gpu.arrays import Buffer, buffer_of
from polysched.emit_gpu.dialect import refuse_unsupported
from polysched.emit_gpu.host_text import HostPrinter, host_loops
from polysched.emit_gpu.interface import CUDA, OPENCL, Interface
from polysched.emit_gpu.kernel_loops import KernelLoops, kernel_loops, launch_has_all, private_bytes
from polysched.emit_gpu.kernel_text import Kernel, KernelPrinter, program_text
from polysched.emit_gpu.limits import LIMITS
from polysched.emit_gpu.names import device_names
from polysched.errors import UnsupportedScopError
from polysched.gpu.mapping import GpuMapping
from polysched.records import dataclass
from polysched.scop.scop import Scop
from polysched.scop.shown import Shown
from polysched.tiling.tiled_schedule import TiledSchedule


@dataclass(frozen=True, eq=False, kw_only=True)
class DeviceSource(Shown):
    """A region for a device.

    Parameters
    ----------
    mapping : what is printed; holds everything before it.
    program : the text of the kernels.
    source : the region on the host.
    kernels : in the order of their launches.
    interface : the language of the program.
    notes : a line per kernel whose work items have buffers of their own: how many bytes, and what had no room.
    """

    mapping: GpuMapping
    program: str
    source: CSource
    kernels: tuple[Kernel, ...]
    interface: Interface
    notes: tuple[str, ...] = ()

    def headline(self) -> str:
        """For instance `of gemm: 2 kernels, 40 lines of OpenCL C`."""
        return (f"of {self.mapping.scop.name}: {len(self.kernels)} kernels, {self.program.count(chr(10))} lines of "
                f"{self.interface.language}")

    def __str__(self) -> str:
        return self.program + "\n" + self.source.text

    def _repr_html_(self) -> str:
        from polysched.scop.html import c_code, card
        return card(f"{self.mapping.scop.name} for a device", c_code(self.program), c_code(self.source.text))


def emit_opencl(mapping: GpuMapping) -> DeviceSource:
    """Print a mapping as OpenCL C and C for the host, which includes `CL/cl.h` and is linked with `-lOpenCL`.

    Raises
    ------
    UnsupportedScopError : a type or a function that devices lack, or an array that is not one piece of memory.
    BudgetExceededError : isl's loop generation does not fit into its budget.
    """
    return emit(mapping, OPENCL)


def emit_cuda(mapping: GpuMapping) -> DeviceSource:
    """Print a mapping as CUDA C++ and C for the host, which compiles the kernels by NVRTC and uses the driver's API.

    The C includes `cuda.h` and `nvrtc.h` and is linked with `-lcuda -lnvrtc`; the headers of
    `interface.CUDA_ON_CPU` run it on the CPU.

    Raises
    ------
    UnsupportedScopError, BudgetExceededError : as `emit_opencl`.
    """
    return emit(mapping, CUDA)


def emit(mapping: GpuMapping, interface: Interface) -> DeviceSource:
    """Print a mapping in the language of an interface.

    Raises
    ------
    UnsupportedScopError, BudgetExceededError : as `emit_opencl`.
    UsageError : a block is larger than those of any device.
    """
    scop = mapping.scop
    for launch in mapping.launches:
        interface.check_block((launch.team,) if launch.team else launch.block)
    refuse_unsupported(scop, _on_tensor_cores(mapping, interface))
    names = device_names(scop)
    loops = [kernel_loops(mapping, launch, names) for launch in mapping.launches]
    private = frozenset[str]().union(*(own.private for own in loops))
    buffers = {own.array.name: buffer_of(scop, own, names) for own in mapping.arrays
               if not own.by_value and own.array.name not in private}
    macros = HelperMacros(names.taken)
    printer = KernelPrinter(scop=scop, names=names, buffers=buffers, macros=macros, interface=interface)
    place = scop.source.start if scop.source is not None else 0
    kernels = {own.launch.name: printer.kernel(own, f"polysched_{own.launch.name}_{place}") for own in loops}
    program = program_text(tuple(kernels.values()), macros, scop, interface)
    in_c = _Program(name=f"polysched_program_{place}", text=program)
    source = _host_source(mapping, buffers, kernels, in_c, interface)
    return DeviceSource(mapping=mapping, program=program, kernels=tuple(kernels.values()), source=source,
                        interface=interface, notes=tuple(note for own in loops for note in _notes(scop, own)))


def _notes(scop: Scop, loops: KernelLoops) -> Iterator[str]:
    """What a work item keeps in buffers of its own, beyond what registers of any device hold."""
    own = sum(private_bytes(scop, loops.loops).values())
    if own > LIMITS.register_bytes:
        yield f"{loops.launch.name}: {own} bytes of buffers per work item, more than registers hold"
    if loops.spilled:
        yield (f"{loops.launch.name}: {', '.join(loops.spilled)} stay in the device's memory, since buffers of "
               f"{loops.launch.items} work items in a block have no room for them; --block names fewer")


def _on_tensor_cores(mapping: GpuMapping, interface: Interface) -> frozenset[str]:
    """The statements all of whose instances tensor cores compute.

    Raises
    ------
    UnsupportedScopError : the language has no instructions for them.
    """
    parts = [(launch, phase) for launch in mapping.launches for phase in launch.phases if phase.tensor is not None]
    if parts and interface is not CUDA:
        raise UnsupportedScopError(f"{interface.language} has no instructions for tensor cores",
                                   where=mapping.scop.name, hint="leave --tensor-cores out, or take --target cuda")
    return frozenset(s.name for s in mapping.scop.statements for launch, phase in parts
                     if launch.runs_any_of(s, phase.domain) and launch_has_all(mapping, launch, s.name))


@dataclass(frozen=True, kw_only=True)
class _Program:
    """The program of the device as a string of the host."""

    name: str
    text: str


def _host_source(mapping: GpuMapping, buffers: dict[str, Buffer], kernels: dict[str, Kernel], program: _Program,
                 interface: Interface) -> CSource:
    scop = mapping.scop
    taken, macros = taken_names(scop), HelperMacros(taken_names(scop))
    index = IndexPrinter(parameters=parameter_ranges(scop, scop.context.params()),
                         spellings=parameter_spellings(scop), macros=macros)
    on_host = {array: taken.fresh(f"{buffer.name}_device") for array, buffer in buffers.items()}
    loops = host_loops(mapping, kernels, taken)
    host = HostPrinter(mapping=mapping, buffers=buffers, kernels=kernels, index=index, names=on_host,
                       program=program.name)
    lines = host.region(loops)
    text = "".join(f"{line}\n" for line in (*macros.definitions(), *lines, *macros.undefinitions()))
    tiled = TiledSchedule(schedule=mapping.schedule, tree=mapping.tree)
    preamble = interface.runtime + _literal(program.name, program.text)
    return CSource(tiled=tiled, text=text, loops=loops, preamble=preamble)


def _literal(name: str, text: str) -> str:
    """A text as a C string, a line per line."""
    lines = [f'  "{_escaped(line)}\\n"' for line in text.splitlines()]
    return "\n".join([f"static const char {name}[] =", *lines]) + ";\n"


def _escaped(line: str) -> str:
    return line.replace("\\", "\\\\").replace('"', '\\"')
