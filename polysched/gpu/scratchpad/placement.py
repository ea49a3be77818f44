"""Where each buffer lies in its memory: two that are in use at the same time never share a byte.

Exact where first fit does not do: rectangles of lines and stages, packed by CP-SAT.  What cannot be packed is refused
with the buffers that are in use together and the bytes that they lack.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil

from polysched.errors import BudgetExceededError, UnsupportedScopError
from polysched.gpu.limits import LIMITS
from polysched.gpu.scratchpad.plan import Buffer
from polysched.records import dataclass
from polysched.scheduling.solving.cp_sat import cp_sat, new_model
from polysched.target.scratchpads.description import Memory, ScratchpadTarget


@dataclass(frozen=True, kw_only=True)
class Placed:
    """A slot of a buffer in its memory.

    Parameters
    ----------
    buffer, slot : which.
    memory : of it.
    offset, size : in bytes.
    first, last : stages at which it is in use.
    """

    buffer: str
    slot: int
    memory: str
    offset: int
    size: int
    first: int
    last: int

    def overlaps(self, other: Placed) -> bool:
        """Whether both have some byte, at whatever time."""
        return (self.memory == other.memory and self.offset < other.offset + other.size
                and other.offset < self.offset + self.size)

    def meets(self, other: Placed) -> bool:
        """Whether both are in use at some stage."""
        return self.first <= other.last and other.first <= self.last


@dataclass(frozen=True, eq=False, kw_only=True)
class Placement:
    """Every slot of every buffer of a group.

    Parameters
    ----------
    slots : all of them.
    peaks : bytes of each memory up to the last that is used.
    """

    slots: tuple[Placed, ...]
    peaks: dict[str, int]

    def of(self, buffer: str) -> tuple[Placed, ...]:
        """The slots of a buffer in order."""
        return tuple(sorted((own for own in self.slots if own.buffer == buffer), key=lambda own: own.slot))


def place(target: ScratchpadTarget, buffers: Sequence[Buffer], *, where: str, exact: bool = True) -> Placement:
    """Place all buffers of a group.

    Parameters
    ----------
    exact : the least peak of each memory, else first fit where that does.

    Raises
    ------
    UnsupportedScopError : they do not fit; the binding memory, buffer and stage are named.
    BudgetExceededError : CP-SAT does not tell within its time.
    """
    found: list[Placed] = []
    peaks: dict[str, int] = {}
    for memory in target.memories:
        own = [slot for buffer in buffers if buffer.memory == memory.name for slot in _slots(buffer, memory)]
        _refuse_overflow(memory, own, buffers, where)
        placed = _first_fit(own)
        peak = max((slot.offset + slot.size for slot in placed), default=0)
        if placed and (peak > memory.capacity_bytes or (exact and peak > _demand(own))):
            placed = _packed(memory, own, where)
        found += placed
        peaks[memory.name] = max((slot.offset + slot.size for slot in placed), default=0)
    return Placement(slots=tuple(found), peaks=peaks)


def fits(target: ScratchpadTarget, buffers: Sequence[Buffer]) -> bool:
    """Whether what is in use at each stage is no more than each memory has; a packing needs that."""
    return all(_demand([slot for buffer in buffers if buffer.memory == memory.name for slot in _slots(buffer, memory)])
               <= memory.capacity_bytes for memory in target.memories)


def _slots(buffer: Buffer, memory: Memory) -> Iterator[Placed]:
    size = ceil(buffer.bytes / memory.line_bytes) * memory.line_bytes
    for slot in range(buffer.slots):
        yield Placed(buffer=buffer.name, slot=slot, memory=memory.name, offset=0, size=size, first=buffer.first,
                     last=buffer.last)


def _demand(slots: Sequence[Placed]) -> int:
    """The most bytes in use at a stage."""
    return max((_at(slots, stage.first) for stage in slots), default=0)


def _at(slots: Sequence[Placed], stage: int) -> int:
    return sum(slot.size for slot in slots if slot.first <= stage <= slot.last)


def _refuse_overflow(memory: Memory, slots: Sequence[Placed], buffers: Sequence[Buffer], where: str) -> None:
    """Refuse what no packing can hold.

    Raises
    ------
    UnsupportedScopError : with the largest buffer of the stage that needs most.
    """
    needed = _demand(slots)
    if needed <= memory.capacity_bytes:
        return
    stage = next(slot.first for slot in slots if _at(slots, slot.first) == needed)
    together = [slot for slot in slots if slot.first <= stage <= slot.last]
    largest = max(together, key=lambda slot: slot.size)
    buffer = next(own for own in buffers if own.name == largest.buffer)
    others = needed - sum(slot.size for slot in together if slot.buffer == largest.buffer)
    raise UnsupportedScopError(
        f"{memory.name} has {memory.capacity_bytes} bytes, and stage {stage} needs {needed}", where=where,
        witness=f"the largest is {buffer}, {buffer.slots * largest.size} bytes",
        hint=f"{max(0, memory.capacity_bytes - others) // buffer.slots} bytes for a slot of {buffer.name} would fit: "
             "use smaller tiles, or --no-double-buffering")


def _first_fit(slots: Sequence[Placed]) -> list[Placed]:
    """Large slots first, each at the lowest place where it meets nothing in use."""
    done: list[Placed] = []
    for slot in sorted(slots, key=lambda own: (-own.size, own.first, own.buffer, own.slot)):
        offset = 0
        for other in sorted((own for own in done if own.meets(slot)), key=lambda own: own.offset):
            if other.offset < offset + slot.size and offset < other.offset + other.size:
                offset = other.offset + other.size
        done.append(_moved(slot, offset))
    return done


def _moved(slot: Placed, offset: int) -> Placed:
    return Placed(buffer=slot.buffer, slot=slot.slot, memory=slot.memory, offset=offset, size=slot.size,
                  first=slot.first, last=slot.last)


def _packed(memory: Memory, slots: Sequence[Placed], where: str) -> list[Placed]:
    """A packing of the least peak."""
    cp_model = cp_sat()
    lines = memory.capacity_bytes // memory.line_bytes
    model = new_model()
    peak = model.new_int_var(0, lines, "peak")
    starts, across, along = [], [], []
    for number, slot in enumerate(slots):
        size = slot.size // memory.line_bytes
        start = model.new_int_var(0, max(0, lines - size), f"start{number}")
        starts.append(start)
        across.append(model.new_fixed_size_interval_var(start, size, f"lines{number}"))
        along.append(model.new_fixed_size_interval_var(slot.first, slot.last - slot.first + 1, f"stages{number}"))
        model.add(peak >= start + size)
    model.add_no_overlap_2d(across, along)
    model.minimize(peak)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 1
    solver.parameters.max_deterministic_time = LIMITS.packing_seconds
    status = solver.solve(model)
    if status == cp_model.INFEASIBLE:
        raise UnsupportedScopError(f"the buffers in {memory.name} cannot be packed into {memory.capacity_bytes} bytes",
                                   where=where, hint="use smaller tiles, or --no-double-buffering")
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        raise BudgetExceededError(f"packing {memory.name} needs more than {LIMITS.packing_seconds:g} s", where=where,
                                  hint="use smaller tiles")
    return [_moved(slot, solver.value(start) * memory.line_bytes) for slot, start in zip(slots, starts, strict=True)]
