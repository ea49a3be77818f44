"""Names in device code: of OpenCL C and CUDA, whose keywords and types a C program may use for its own."""

from __future__ import annotations

import re
from collections.abc import Iterable

from polysched.emit_c.loop_ir.names import TakenNames, identifier_of, taken_names
from polysched.emit_gpu.dialect import FUNCTIONS
from polysched.records import dataclass
from polysched.scop.scop import Scop

_WORDS = """
    kernel global local constant private generic read_only write_only read_write half uchar ushort uint ulong bool
    size_t ptrdiff_t intptr_t uintptr_t event_t sampler_t queue_t pipe image1d_t image2d_t image3d_t class namespace
    template typename operator new delete this public protected friend virtual explicit using try catch throw asm
    device shared threadIdx blockIdx blockDim gridDim NULL true false barrier vec_step as_double complex imaginary
    as_int as_long
    warpSize mutable and or not xor bitand bitor compl and_eq or_eq not_eq xor_eq typeid static_cast const_cast
    dynamic_cast reinterpret_cast export wchar_t char8_t char16_t char32_t constexpr consteval constinit decltype
    noexcept nullptr alignas alignof concept requires co_await co_return co_yield static_assert thread_local"""
RESERVED = frozenset(_WORDS.split())
_VECTOR = re.compile(r"(u?(char|short|int|long)|float|double|half|quad)(2|3|4|8|16)(x\d+)?|__\w+|get_\w+|cl_\w+|CL_\w+")


def device_name(name: str, taken: Iterable[str] = ()) -> str:
    """The name as an identifier of device code; `own_` in front where the language or another name has it."""
    found = identifier_of(name)
    others = set(taken)
    while found in RESERVED or found in FUNCTIONS or found in others or _VECTOR.fullmatch(found):
        found = f"own_{found}"
    return found


@dataclass(frozen=True, kw_only=True)
class DeviceNames:
    """The names that all kernels of a region use.

    Parameters
    ----------
    arrays, parameters : by their names in the Scop.
    extents : of each array, behind the first.
    iterators : of each statement; what a loop over one of them is called.
    taken : identifiers that nothing made up may have.
    """

    arrays: dict[str, str]
    parameters: dict[str, str]
    extents: dict[str, tuple[str, ...]]
    iterators: dict[str, tuple[str, ...]]
    taken: TakenNames


def device_names(scop: Scop) -> DeviceNames:
    """A name for each array, its extents, each parameter and each iterator."""
    given = taken_names(scop)
    iterators = {s.name: tuple(map(device_name, s.iterators)) for s in scop.statements}
    found: dict[str, str] = {}
    for name in (*(a.name for a in scop.arrays), *(p.name for p in scop.parameters)):
        found[name] = device_name(name, found.values())
    used = given.used | set(found.values()) | RESERVED
    taken = TakenNames(used=used, visible=(given.visible | used).union(*iterators.values()))
    extents: dict[str, tuple[str, ...]] = {}
    for array in scop.arrays:
        extents[array.name] = tuple(taken.fresh(f"{found[array.name]}_{k}") for k in range(1, len(array.extents)))
        used |= set(extents[array.name])
        taken = TakenNames(used=used, visible=taken.visible | used)
    return DeviceNames(arrays={a.name: found[a.name] for a in scop.arrays},
                       parameters={p.name: found[p.name] for p in scop.parameters},
                       extents=extents, iterators=iterators, taken=taken)
