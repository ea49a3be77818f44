"""The C of one match: packing, the nest around the instruction, and writing back, in one self-contained function."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from polysched.errors import UsageError
from polysched.scop.body import Load, walk
from polysched.tensorize.conformance import fill_in
from polysched.tensorize.emission.packing import pack_c, unpack_c
from polysched.tensorize.emission.plan import CACHE_BYTES, NestLoop, Place, Plan, content_of, make_plan
from polysched.tensorize.emulator import emulator_c
from polysched.tensorize.exact_arithmetic import PRELUDE
from polysched.tensorize.match import Match
from polysched.tensorize.semantics import C_NAMES


@dataclass(frozen=True)
class EmissionOptions:
    """How a match is emitted.

    Parameters
    ----------
    emulated : call the plain-C emulator in place of the instruction.
    parallel : `omp parallel for` on the outermost spatial loop.
    unroll : register block, in iterations of the two unrolled loops; by the register budget when None.
    cache_bytes : what one core keeps close; decides the order of loops.
    keep : input operands that are constant: `NAME_prepare_OPERAND(arrays...)` packs one into a buffer that stays, and
        the function itself no longer packs it; one that lies right as it is needs no preparation.
    """

    emulated: bool = False
    parallel: bool = True
    unroll: tuple[int, int] | None = None
    cache_bytes: int = CACHE_BYTES
    keep: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, kw_only=True)
class Emitted:
    """C for one match.

    Parameters
    ----------
    name : of the function; its arguments are pointers to `arrays`, in this order.
    headers, flags : what the real instruction needs.
    prelude : text that every function shares, once per translation unit.
    text : the function with its helpers.
    """

    name: str
    plan: Plan
    arrays: tuple[str, ...]
    headers: tuple[str, ...]
    flags: tuple[str, ...]
    prelude: str
    text: str

    @property
    def unit(self) -> str:
        """A whole translation unit."""
        return self.prelude + self.text


def emit_match(match: Match, name: str, options: EmissionOptions | None = None) -> Emitted:
    """The C function that runs the fragment's whole statement through the instruction.

    Raises
    ------
    UsageError : a library function is called through `library_call`, not through a nest.
    """
    chosen = options or EmissionOptions()
    if match.intrinsic.library:
        raise UsageError(f"{match.intrinsic.name} is a library function", hint="use library_call")
    plan = make_plan(match, emulated=chosen.emulated, unroll=chosen.unroll,
                     cache_bytes=chosen.cache_bytes, parallel=chosen.parallel)
    arrays = _arrays(match)
    output = match.intrinsic.output.name
    packed = [p for p in plan.places if p.packed]
    parts = [pack_c(plan, p.operand, f"{name}_pack_{p.operand}") for p in packed]
    if plan.place(output).packed:
        parts.append(unpack_c(plan, f"{name}_unpack_{output}"))
    parts.append(_nest_c(plan, name, chosen))
    parts.append(_driver_c(plan, name, arrays, packed, emulated=chosen.emulated, keep=chosen.keep))
    headers = () if chosen.emulated else match.intrinsic.isa.headers
    prelude = "".join(f"#include <{h}>\n" for h in headers) + "#include <stdlib.h>\n" + PRELUDE
    if chosen.emulated:
        prelude += emulator_c(match.intrinsic.parsed, name=f"emulated_{match.intrinsic.name}")
    return Emitted(name=name, plan=plan, arrays=arrays, headers=headers, prelude=prelude, text="\n".join(parts),
                   flags=() if chosen.emulated else match.intrinsic.isa.flags)


def _arrays(match: Match) -> tuple[str, ...]:
    fragment = match.fragment
    found = [fragment.statement.access(fragment.target).array]
    for _, e in match.assignment.operands:
        found += [fragment.statement.access(x.reference).array for x in walk(e) if isinstance(x, Load)]
    return tuple(dict.fromkeys(found))


def _operand_type(plan: Plan, operand: str) -> str:
    return C_NAMES[plan.match.intrinsic.parsed.operand(operand).dtype.name]


def _driver_c(plan: Plan, name: str, arrays: tuple[str, ...], packed: list[Place], *, emulated: bool,
              keep: tuple[str, ...]) -> str:
    """Allocates buffers, packs, runs, writes back."""
    match, fragment = plan.match, plan.match.fragment
    output = match.intrinsic.output.name
    written = fragment.statement.access(fragment.target).array
    parameters = ", ".join(f"{'' if a == written else 'const '}{C_NAMES[fragment.scop.array(a).dtype.name]} *{a}"
                           for a in arrays)
    lines = [*_kept_c(plan, name, keep, packed), f"void {name}({parameters})", "{"]
    if match.intrinsic.isa.prepare and not emulated:
        lines.append("    " + fill_in(match.intrinsic.isa.prepare, refuse="abort()").strip())
    for p in packed:
        if p.operand in keep:
            lines.append(f"    {_operand_type(plan, p.operand)} *packed_{p.operand} = {name}_kept_{p.operand};")
            continue
        lines.append(f"    {_operand_type(plan, p.operand)} *packed_{p.operand} = {_buffer_c(plan, p)};")
        lines.append(f"    {name}_pack_{p.operand}({', '.join([f'packed_{p.operand}', *_sources(match, p.operand)])});")
    arguments = []
    for p in plan.places:
        held = content_of(match, p.operand)
        arguments.append(f"packed_{p.operand}" if p.packed or not isinstance(held, Load)
                         else fragment.statement.access(held.reference).array)
    lines.append(f"    {name}_nest({', '.join(arguments)});")
    if plan.place(output).packed:
        lines.append(f"    {name}_unpack_{output}({written}, packed_{output});")
    lines += [f"    free(packed_{p.operand});" for p in packed if p.operand not in keep]
    return "\n".join([*lines, "}", ""])


def _sources(match: Match, operand: str) -> list[str]:
    """The arrays that an operand is packed from."""
    return sorted({match.fragment.statement.access(e.reference).array for e in walk(content_of(match, operand))
                   if isinstance(e, Load)})


def _buffer_c(plan: Plan, place: Place) -> str:
    width = plan.match.intrinsic.parsed.operand(place.operand).dtype.bytes
    return f"aligned_alloc(64, {-(-place.elements * width // 64) * 64})"


def _kept_c(plan: Plan, name: str, keep: tuple[str, ...], packed: list[Place]) -> list[str]:
    """Buffers that outlive a call, and the functions that fill them."""
    lines = []
    for place in packed:
        if place.operand not in keep:
            continue
        kind, operand = _operand_type(plan, place.operand), place.operand
        sources = _sources(plan.match, operand)
        arrays = {a: C_NAMES[plan.match.fragment.scop.array(a).dtype.name] for a in sources}
        lines += [f"static {kind} *{name}_kept_{operand};",
                  f"void {name}_prepare_{operand}({', '.join(f'const {t} *{a}' for a, t in arrays.items())})", "{",
                  f"    if (!{name}_kept_{operand}) {name}_kept_{operand} = {_buffer_c(plan, place)};",
                  f"    {name}_pack_{operand}({', '.join([f'{name}_kept_{operand}', *sources])});", "}", ""]
    return lines


def _nest_c(plan: Plan, name: str, options: EmissionOptions) -> str:
    output = plan.match.intrinsic.output.name
    parameters = ", ".join(f"{'' if p.operand == output else 'const '}{_operand_type(plan, p.operand)} "
                           f"*restrict {p.operand}" for p in plan.places)
    lines = [f"static void {name}_nest({parameters})", "{"]
    depth = 1

    def put(text: str) -> None:
        lines.append("    " * depth + text)

    configure = plan.match.intrinsic.configure if not options.emulated else ""
    spatial = [loop for loop in plan.loops if not loop.reduction and loop.blocks > 1]
    reductions = [loop for loop in plan.loops if loop.reduction]
    if options.parallel and spatial:
        put("#pragma omp parallel")
        put("{")
        depth += 1
    if configure:
        put(configure)
    for position, loop in enumerate(spatial):
        if position == 0 and options.parallel:
            put("#pragma omp for")
        put(_for(loop))
        depth += 1
    before, body, after = (list(x) for x in (_emulated(plan) if options.emulated else _executed(plan)))
    for text in before:
        put(text)
    for loop in reductions:
        put(_for(loop))
        depth += 1
    for text in body:
        put(text)
    for _ in reductions:
        depth -= 1
        put("}")
    for text in after:
        put(text)
    while depth > 1:
        depth -= 1
        put("}")
    return "\n".join([*lines, "}", ""])


def _for(loop: NestLoop) -> str:
    return f"for (long {loop.name} = 0; {loop.name} < {loop.blocks}; {loop.name}++) {{"


def _pointer(plan: Plan, place: Place, at: dict[str, int]) -> str:
    """`B + t_k * 64 + 1024`: where an operand lies for one point of the unrolled loops."""
    terms = [place.operand]
    constant = place.base
    for loop in plan.loops:
        if plan.uses(place.operand, loop):
            if loop.blocks > 1:
                terms.append(f"{loop.name} * {place.block_strides[loop.name]}")
            constant += at.get(loop.name, 0) * place.unrolled_strides.get(loop.name, 0)
    return " + ".join([*terms, *([str(constant)] if constant else [])])


def _emulated(plan: Plan) -> tuple[list[str], list[str], list[str]]:
    arguments = []
    for v in plan.match.intrinsic.parsed.operands:
        shape = "".join(f"[{e}]" for e in v.shape[1:])
        constant = "" if v.written else "const "
        cast = f"({constant}{C_NAMES[v.dtype.name]} (*){shape})" if shape else ""
        arguments.append(f"{cast}({_pointer(plan, plan.place(v.name), {})})")
    return [], [f"emulated_{plan.match.intrinsic.name}({', '.join(arguments)});"], []


def _executed(plan: Plan) -> tuple[list[str], list[str], list[str]]:
    """Loads of the accumulators, the unrolled executions, stores."""
    intrinsic, output = plan.match.intrinsic, plan.match.intrinsic.output.name
    names = _Registers(plan)
    before, body, after = [], [], []
    points = [dict(zip((loop.name for loop in plan.unrolled), p, strict=True))
              for p in itertools.product(*(range(loop.unroll) for loop in plan.unrolled))]
    for at in names.points(output):
        place, register = plan.place(output), names.name(output, at)
        before += names.declare(output, register)
        common = {"register": register, "pointer": _pointer(plan, place, at), "stride": str(place.row_stride_bytes)}
        before.append(fill_in(intrinsic.operand(output).register.load, **common))
        after.append(fill_in(intrinsic.operand(output).register.store, **common))
    loaded: set[tuple[str, str]] = set()
    inputs = [o.name for o in intrinsic.operands if o.name != output]
    for at in points:
        registers = {output: names.name(output, at)}
        for operand in inputs:
            register = registers[operand] = names.name(operand, at)
            key = (operand, str(sorted((k, v) for k, v in at.items() if k in names.loops(operand))))
            if key not in loaded:
                loaded.add(key)
                body += names.declare(operand, register)
                place = plan.place(operand)
                body.append(fill_in(intrinsic.operand(operand).register.load, register=register,
                                    pointer=_pointer(plan, place, at), stride=str(place.row_stride_bytes)))
        body.append(fill_in(intrinsic.template, **registers))
    return before, body, after


class _Registers:
    """Names of registers: variables `rA_0_1`, or numbers where the instruction set numbers them."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.declared: set[str] = set()
        self.numbers: dict[str, int] = {}
        for operand in plan.match.intrinsic.operands:
            if not operand.register.c_type:
                self._number(operand.name)

    def _number(self, operand: str) -> None:
        """Numbers for an operand's registers; an input that the outer unrolled loop changes is reloaded into one."""
        outer = self.plan.unrolled[:1] if len(self.plan.unrolled) > 1 else ()
        changes = any(self.plan.uses(operand, loop) for loop in outer)
        transient = changes and operand != self.plan.match.intrinsic.output.name
        first = max(self.numbers.values(), default=-1) + 1
        for offset, at in enumerate(self.points(operand)):
            self.numbers[self._label(operand, at)] = first if transient else first + offset

    def loops(self, operand: str) -> tuple[str, ...]:
        return tuple(loop.name for loop in self.plan.unrolled if self.plan.uses(operand, loop))

    def points(self, operand: str) -> Iterator[dict[str, int]]:
        mine = [loop for loop in self.plan.unrolled if self.plan.uses(operand, loop)]
        for point in itertools.product(*(range(loop.unroll) for loop in mine)):
            yield dict(zip((loop.name for loop in mine), point, strict=True))

    def _label(self, operand: str, at: dict[str, int]) -> str:
        return "_".join([f"r{operand}", *(str(at[n]) for n in self.loops(operand))])

    def name(self, operand: str, at: dict[str, int]) -> str:
        label = self._label(operand, at)
        return str(self.numbers[label]) if label in self.numbers else label

    def declare(self, operand: str, register: str) -> list[str]:
        c_type = self.plan.match.intrinsic.operand(operand).register.c_type
        if not c_type or register in self.declared:
            return []
        self.declared.add(register)
        return [f"{c_type} {register};"]
