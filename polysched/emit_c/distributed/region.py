"""One distributed region as C: the steps, a rank's part of each, messages at its end, and what is gathered last.

    for (step) { PART; pack for each rank; exchange; unpack from each rank }
    gather

Where messages overlap with the interior, the boundary is the part, and the interior stands within the exchange.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import islpy as isl

from polysched.dependence.dependences import Dependence, DependenceKind
from polysched.distribute.distribution import Distributed
from polysched.distribute.messages import left_alone, with_own_writes
from polysched.distribute.steps import step_names
from polysched.emit_c.alternatives.row_loops import point_loops
from polysched.emit_c.c_source import CSource
from polysched.emit_c.limits import LIMITS
from polysched.emit_c.scalar_code.heap import allocated
from polysched.emit_c.scalar_code.original_code import inside
from polysched.emit_c.scalar_code.size_text import size_text
from polysched.errors import BudgetExceededError, UnsupportedScopError
from polysched.scop.budget import in_words, with_budget
from polysched.scop.dtypes import INT64
from polysched.scop.scop import AccessKind, Array, Parameter, Scop, Storage

LOW, HIGH, BLOCK = "polysched_low", "polysched_high", "polysched_block"
ME, RANKS, OTHER = "polysched_me", "polysched_ranks", "polysched_other"
SIZES, VALUE, LAST = "polysched_sizes", "polysched_value", "polysched_last"


def persistent_arrays(distributed: Distributed) -> tuple[Array, ...]:
    """Arrays declared inside the region whose values are read in another step, or part of one, than written in."""
    scop, found = distributed.scop, dict[str, Array]()
    for pair in distributed.dependences.pairs:
        array = scop.array(pair.array)
        if pair.kind is not DependenceKind.FLOW or array.storage is not Storage.LOCAL:
            continue
        inside = pair.relation.is_subset(distributed.shares.same_step(pair.source, pair.sink))
        if not inside or _leaves_boundary(distributed, pair):
            found[array.name] = array
    return tuple(found.values())


def _leaves_boundary(distributed: Distributed, pair: Dependence) -> bool:
    if distributed.boundary is None:
        return False
    source, sink = (distributed.boundary[n] for n in (pair.source, pair.sink))
    return not pair.relation.intersect_domain(source).subtract_range(sink).is_empty()


def part_for_emission(distributed: Distributed) -> Scop:
    """What one rank runs in one step, with arrays that live longer declared around it."""
    return _with_longer(distributed, distributed.part)


def parts_for_emission(distributed: Distributed) -> tuple[Scop, ...]:
    """The same in the parts that run before messages are sent, and while they are on their way."""
    return tuple(_with_longer(distributed, part) for part in distributed.parts)


def _with_longer(distributed: Distributed, part: Scop) -> Scop:
    longer = {a.name for a in persistent_arrays(distributed)}
    return replace(with_own_writes(part), arrays=tuple(
        replace(a, storage=Storage.OUTER, c_element=a.c_element or a.name + "[{}]" * len(a.extents))
        if a.name in longer else a for a in part.arrays))


def distributed_text(distributed: Distributed, *parts: CSource) -> str:
    """The lines of the whole region.

    Parameters
    ----------
    parts : the emitted code of `parts_for_emission`.

    Raises
    ------
    UnsupportedScopError : C has no word for an element of an array that is sent.
    BudgetExceededError : loops over the elements that ranks exchange have too many cases.
    """
    region = _Region(distributed, parts)
    poison = tuple(region.poison())   # within budgets of its own: what is refused does not hang on it
    lines = with_budget(LIMITS.message_operations, lambda: list(region.lines(poison)))
    if lines is None:
        raise BudgetExceededError("loops over the elements that ranks exchange have too many cases",
                                  where=f"program {distributed.scop.name}",
                                  witness=f"more than {in_words(LIMITS.message_operations)}",
                                  hint="another loop or partition, regions of fewer statements, simpler subscripts")
    return "".join(f"{line}\n" for line in lines)


def agreed(scop: Scop, text: str) -> str:
    """Lines that stand for a region, which ranks enter with the same sizes or not at all.

    Rewrite:  if (n >= 1) { REGION } else ORIGINAL   ->   { all ranks have the same n;  if ... }

    Otherwise a rank whose sizes fail the test would take the branch in which nobody waits for messages.
    """
    lines = [*_agreement([p.spelling for p in scop.parameters if p.spelling.isidentifier()]), *text.splitlines()]
    return "".join(f"{line}\n" for line in ["{", *map(inside, lines), "}"])


def _agreement(sizes: Sequence[str]) -> Iterator[str]:
    """That all ranks have the same sizes, which a program may have read from somewhere."""
    if sizes:
        values = ", ".join(f"(long)({size})" for size in sizes)
        names = ", ".join(sizes).replace("\\", "\\\\").replace('"', '\\"')
        yield f"long {SIZES}[{2 * len(sizes)}] = {{{values}}};"
        yield f'if ({RANKS} > 1) polysched_agree({SIZES}, {len(sizes)}, "{names}");'


class _Region:
    def __init__(self, distributed: Distributed, parts: Sequence[CSource]) -> None:
        self.distributed = distributed
        self.first, self.others = parts[0], parts[1:]   # before messages are sent, and while they are on their way
        self.partition = distributed.partition
        self.known = _with_parameters(distributed)
        self.left_alone = left_alone(distributed.scop)

    def lines(self, poison: Sequence[str]) -> Iterator[str]:
        """All lines.

        Parameters
        ----------
        poison : those that spoil what a rank must not read.
        """
        distributed = self.distributed
        yield f"{{ /* {distributed.headline()} */"
        for line in (*self._start(), *poison):
            yield inside(line)
        body = [*self._owned_part(self.first), *self._messages()]
        if distributed.steps:
            steps = distributed.step_set
            hull = isl.Set.from_basic_set(steps.simple_hull())   # of one loop, where it has no step too many
            body = point_loops(self.known, hull if hull.is_subset(steps) else steps,
                               list(step_names(distributed.steps)), body)
        yield from map(inside, body)
        for line in (*self._gathering(), *(f"free({a.name});" for a in self._on_heap())):
            yield inside(line)
        yield "}"

    def _on_heap(self) -> list[Array]:
        return [a for a in persistent_arrays(self.distributed) if not a.is_scalar]

    def _start(self) -> Iterator[str]:
        scop, partition = self.distributed.scop, self.partition
        yield from self._agreement()
        if partition.kind == "block":
            axis = self.distributed.axis_set
            yield f"const long {LOW} = {size_text(scop, axis.dim_min(0))}, {HIGH} = {size_text(scop, axis.dim_max(0))};"
            yield f"const long {BLOCK} = {HIGH} < {LOW} ? 1 : ({HIGH} - {LOW} + {RANKS}) / {RANKS};"
        else:
            wrong = f'polysched_fail("this program is made for {partition.ranks} ranks");'
            yield f"if ({RANKS} != {partition.ranks}) {wrong}"
        yield from self._ends(partition.own_names, ME)
        for array in persistent_arrays(self.distributed):
            if array.is_scalar:
                yield f"{array.dtype.c_name} {array.name};"
            else:
                yield allocated(scop, array, array.name)
                yield f'if (!{array.name}) polysched_fail("no memory for {array.name}");'

    def _agreement(self) -> Iterator[str]:
        """All ranks need the same sizes, also those in memory that a test allows them to read."""
        yield from _agreement([p.spelling for p in self.distributed.scop.parameters if not p.spelling.isidentifier()])

    def _ends(self, names: Sequence[str], rank: str) -> Iterator[str]:
        """The declarations of what says what a rank owns."""
        if self.partition.kind == "block":
            first, end = names
            yield f"const long {first} = {LOW} + {rank} * {BLOCK};"
            yield f"const long {end} = {first} + {BLOCK} <= {HIGH} ? {first} + {BLOCK} : {HIGH} + 1;"
        else:
            yield f"const long {names[0]} = {rank};"
        yield " ".join(f"(void){name};" for name in names)

    def _owned_part(self, part: CSource) -> Iterator[str]:
        assumed = isl.Set.from_params(self.distributed.assumed)
        yield from point_loops(self.known, assumed, [], part.text.splitlines())

    def _messages(self) -> Iterator[str]:
        messages = self.distributed.messages
        if not messages:
            return
        own, other = self.partition.own_names, self.partition.other_names

        def each(use: str) -> Iterator[str]:
            for message in messages:
                yield from self._elements(message.array, message.elements, use, OTHER)

        yield f"if ({RANKS} > 1) {{"
        yield from map(inside, self._for_others((*self._ends(other, OTHER), *each("put"))))
        sender = (*self._ends(other, ME), *self._ends(own, OTHER))
        yield from map(inside, self._for_others((*sender, *each("count"))))
        if self.others:
            yield from (inside("polysched_post(0);"), "}")
            for part in self.others:
                yield from self._owned_part(part)
            yield f"if ({RANKS} > 1) {{"
            yield inside("polysched_wait();")
        else:
            yield inside("polysched_exchange(0);")
        yield from map(inside, self._for_others((*sender, *each("take"))))
        yield inside("polysched_forget();")
        yield "}"

    def _gathering(self) -> Iterator[str]:
        if not self.distributed.gathered:
            return
        own = self.partition.own_names

        def each(use: str, rank: str = OTHER) -> Iterator[str]:
            for part in self.distributed.gathered:
                yield from self._elements(part.array, part.elements, use, rank)

        yield f"if ({RANKS} > 1) {{"
        yield from map(inside, each("put", ME))
        sender = tuple(self._ends(own, OTHER))
        yield from map(inside, self._for_others((*sender, *each("count"))))
        yield inside("polysched_exchange(1);")
        yield from map(inside, self._for_others((*sender, *each("take"))))
        yield inside("polysched_forget();")
        yield "}"

    def _for_others(self, body: Sequence[str]) -> Iterator[str]:
        yield f"for (int {OTHER} = 0; {OTHER} < {RANKS}; {OTHER}++) if ({OTHER} != {ME}) {{"
        yield from map(inside, body)
        yield "}"

    def _elements(self, array: str, elements: isl.Set, use: str, rank: str = ME) -> list[str]:
        """Loops that put, count, take or spoil elements, row by row where they lie together."""
        names = [f"polysched_e{at}" for at in range(elements.dim(isl.dim_type.set))]
        declared = self.distributed.scop.array(array)
        at = _element(self.distributed.scop, declared, names)
        use = "change" if use == "take" and array in self.left_alone else use
        if declared.is_scalar and use != "count":   # a variable of storage class `register` has no address
            kind, call = declared.dtype.c_name, _used(use, VALUE, f"sizeof({VALUE})", rank, VALUE)
            lines = {"put": [f"{kind} {VALUE} = {at};", call],
                     "change": [f"{kind} {VALUE} = {at};", f"if ({call[:-1]}) {at} = {VALUE};"]}
            return point_loops(self.known, elements, names,
                               lines.get(use, [f"{kind} {VALUE};", call, f"{at} = {VALUE};"]))
        rows = with_budget(LIMITS.row_operations, partial(_rows, elements)) if _lies_together(declared) else None
        if rows is None:
            return point_loops(self.known, elements, names, [_used(use, at, f"sizeof({at})", rank, at)])
        size = f"(size_t)({LAST} - {names[-1]} + 1) * sizeof({at})"
        return point_loops(self.known, rows, [*names, LAST], [_used(use, at, size, rank, at)])

    def poison(self) -> Iterator[str]:
        """What somebody writes, and this rank does not read before, gets a value that no result may hang on."""
        lines: list[str] = []
        for array in self.distributed.scop.arrays:
            if array.storage is not Storage.LOCAL:
                spoilt = with_budget(LIMITS.poison_operations, partial(self._spoilt, array.name))
                lines += [f"/* {array.name} is not spoilt: too many cases */"] if spoilt is None else spoilt
        if lines:
            yield from ("#ifdef POLYSCHED_POISON", *lines, "#endif")

    def _spoilt(self, array: str) -> list[str]:
        """The loops that spoil elements of an array."""
        written, read = (_touched(self.distributed, array, writes=writes) for writes in (True, False))
        if written is None:
            return []
        elements = written if read is None else written.subtract(read)
        elements = elements.intersect_params(self.distributed.scop.context).coalesce()
        return [] if elements.is_empty() else self._elements(array, elements, "spoil")


def _used(use: str, at: str, size: str, rank: str, element: str) -> str:
    """The statement for one element, or for those that lie together from it on."""
    return {"put": f"polysched_put({rank}, &{at}, {size});", "count": f"polysched_in[{rank}].size += {size};",
            "take": f"polysched_take({rank}, &{at}, {size});", "spoil": f"memset(&{at}, 0xff, {size});",
            "change": f"polysched_change({rank}, &{at}, {size}, sizeof({element}));"}[use]


def _lies_together(array: Array) -> bool:
    """Whether elements that differ by one in their last subscript stand side by side."""
    return not array.is_scalar and (not array.c_element or array.c_element.endswith("{}]"))


def _rows(elements: isl.Set) -> isl.Set | None:
    """`{ [i, first, last] }` of `{ A[i, j] }`; None where the elements of a row have gaps, or rows have many cases.

    The ends of rows of many pieces may take isl for ever: it is asked under a budget.
    """
    depth = elements.dim(isl.dim_type.set)
    rows = isl.Map.from_range(elements.reset_tuple_id()).move_dims(
        isl.dim_type.in_, 0, isl.dim_type.out, 0, depth - 1)
    ends = rows.lexmin().flat_range_product(rows.lexmax()).coalesce()
    between = isl.Map.read_from_str(isl.DEFAULT_CONTEXT, "{ [l, h] -> [e] : l <= e <= h }")
    if ends.n_basic_map() > LIMITS.most_row_cases or not ends.apply_range(between).is_subset(rows):
        return None
    return ends.move_dims(isl.dim_type.out, 0, isl.dim_type.in_, 0, depth - 1).range()


def _touched(distributed: Distributed, array: str, *, writes: bool) -> isl.Set | None:
    """What anybody writes of an array, or what this rank reads of it as it was before the region."""
    scop, found = distributed.scop, None
    own = distributed.partition.own_names
    for statement in scop.statements:
        for access in statement.accesses:
            if access.array != array or (access.kind is not AccessKind.READ) != writes:
                continue
            instances = statement.domain
            if not writes:
                instances = distributed.shares.executed(statement, own)
                for pair in distributed.dependences.pairs:
                    if access.exact and pair.kind is DependenceKind.FLOW and pair.sink_reference == access.reference:
                        instances = instances.subtract(pair.relation.range())
            elements = access.relation.intersect_domain(instances).range()
            found = elements if found is None else found.union(elements)
    return found


def _element(scop: Scop, array: Array, indices: Sequence[str]) -> str:
    """An element of an array in C."""
    places, rank = array.c_element.count("{}"), len(array.extents)
    if places == rank:
        return (array.c_element or array.name + "[{}]" * rank).format(*indices)
    inner = array.c_extents[1:]
    if places == 1 and None not in inner:
        flat = indices[0]
        for index, extent in zip(indices[1:], inner, strict=True):
            flat = f"({flat}) * ({extent}) + {index}"
        return array.c_element.format(flat)
    raise UnsupportedScopError(f"C has no word for an element of {array.name} by its subscripts", where=scop.name,
                               hint="declare it as an array of several dimensions")


def _with_parameters(distributed: Distributed) -> Scop:
    """The program with the names of ranks and steps as parameters, for loops over messages."""
    scop, partition = distributed.scop, distributed.partition
    names = (*step_names(distributed.steps), *partition.own_names, *partition.other_names)
    return replace(scop, parameters=(*scop.parameters, *(Parameter(name=n, dtype=INT64) for n in names)))
