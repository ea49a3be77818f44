"""C that copies program arrays into operand buffers and results back, element by element of the match's relation.

For every block of the buffer and every coordinate of the operand: the fused index of each group is tile * extent +
coordinate; where it is inside, its digits are the program's iterators, and the element is the program's expression
there; elsewhere the buffer holds zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import islpy as isl

from polysched.errors import UsageError
from polysched.scop.body import Cast, Expr, IteratorRef, Literal, Load, ParameterRef, rebuild, walk
from polysched.scop.dtypes import BFLOAT16, FLOAT16, FLOAT32, DType
from polysched.scop.plain_c import expression_in_c
from polysched.target import Target
from polysched.tensorize.description.emulator import expression_c
from polysched.tensorize.description.semantics import C_NAMES, Element
from polysched.tensorize.emission.copy_c import copy_loops, worth_threads
from polysched.tensorize.emission.gather import digits, gather, operand_offset, separable, shared_loop, worth_gathering
from polysched.tensorize.emission.nest import (
    NestLoop,
    argument_name,
    content_of,
    copied_element,
    kept_parameters,
    uses,
)
from polysched.tensorize.emission.place import Place
from polysched.tensorize.emission.plan import Plan
from polysched.tensorize.emission.table import table_copy
from polysched.tensorize.emission.team import NEVER, SHARED, in_team, worth_from
from polysched.tensorize.matching.mapping import Match
from polysched.tensorize.proofs.contents import parts_of, places_of
from polysched.tensorize.proofs.correspondence import is_shared
from polysched.tensorize.software.sizes import argument_of, divides, same

ONE = {"float16": "0x3c00", "bfloat16": "0x3f80"}
NEGATIVE_ZERO = {"float16": "0x8000", "bfloat16": "0x8000"}


def pack_c(plan: Plan, operand: str, name: str, *, once: bool = False) -> str:
    """A function that fills the buffer of one operand.

    Parameters
    ----------
    once : for all iterations of the kept loops that do not choose its elements.
    """
    variable = plan.match.intrinsic.parsed.operand(operand)
    held = content_of(plan.match, operand)
    arrays = sorted({plan.match.fragment.statement.access(e.reference).array for e in walk(held)
                     if isinstance(e, Load)})
    c_type = C_NAMES[variable.dtype.name]
    copy = plan.place(operand).copy
    parameters = [f"{c_type} *restrict ps_to", *(f"const {_c(plan.match, a)} *restrict {a}" for a in arrays),
                  *kept_parameters(plan.match)]
    source = copied_element(plan.match, operand)

    def value(element: str) -> str:
        return value_c(plan.match, held, variable.dtype, element=lambda _: element)

    if operand in plan.match.intrinsic.contraction.tables:
        body = table_copy(plan.match, operand)
    elif copy is not None:
        body = list(copy_loops(copy, array=arrays[0], buffer="ps_to", to_buffer=True, team=_team_of(plan), value=value))
    elif source is not None and separable(plan.match, operand, source) and not _has_places(plan, operand):
        loaded = value(f"{arrays[0]}[ps_from_at]")
        copy_c = f"if (ps_inside) ps_to[ps_at] = {loaded};" if is_shared(plan.match.intrinsic, operand) else \
            f"ps_to[ps_at] = ps_inside ? {loaded} : {_nothing(plan.match, operand)};"
        body = [*_cleared(plan, operand), *gather(plan, operand, source, copy=copy_c)]
    else:
        body = [*_cleared(plan, operand), *_packed_by_element(plan, operand, once=once)]
    return _function(plan, name, parameters, body)


def _function(plan: Plan, name: str, parameters: Sequence[str], body: Sequence[str]) -> str:
    """A function that copies; where threads share the nest, all of them call it."""
    lines = in_team(body) if plan.parallel else body
    return "\n".join([f"static void {name}({', '.join(parameters)})", "{", *(f"    {x}" for x in lines), "}", ""])


def worth_copying(plan: Plan, operand: str) -> str:
    """The condition under which the copy of an operand pays for a team of threads."""
    copy = plan.place(operand).copy
    return worth_gathering(plan, operand) if copy is None else worth_threads(copy, plan.match.target)


def worth_mapping(plan: Plan, operand: str) -> str:
    """The same for a function of every element of an array."""
    there, match = plan.place(operand).in_place, plan.match
    assert there is not None
    return worth_from(there.copied, match.target.team_iterations(match.costs.copied_element_cycles))


def map_c(plan: Plan, operand: str, name: str) -> str:
    """A function that computes a function of every element of an array, in the array's own order."""
    place, match = plan.place(operand), plan.match
    source, held, variable = copied_element(match, operand), content_of(match, operand), \
        match.intrinsic.parsed.operand(operand)
    assert place.in_place is not None
    assert source is not None
    array, count = match.fragment.statement.access(source.reference).array, place.in_place.copied
    parameters = [f"{C_NAMES[variable.dtype.name]} *restrict ps_to", f"const {_c(match, array)} *restrict {array}",
                  *kept_parameters(match)]
    shared = [f"{SHARED} simd nowait"] if plan.parallel and worth_mapping(plan, operand) != NEVER else []
    body = [*shared, f"for (long ps_at = 0; ps_at < {count}; ps_at++)",
            f"    ps_to[ps_at] = {value_c(match, held, variable.dtype, element=lambda _: f'{array}[ps_at]')};"]
    return _function(plan, name, parameters, body)


def _team_of(plan: Plan) -> Target | None:
    return plan.match.target if plan.parallel else None


def _nothing(match: Match, operand: str) -> str:
    """The C of what an operand holds where the program has no iteration."""
    if operand not in match.padded_with_negative_zeros:
        return "0"
    return NEGATIVE_ZERO.get(match.intrinsic.parsed.operand(operand).dtype.name, "-0.0")


def _has_places(plan: Plan, operand: str) -> bool:
    """The instruction reads the operand in several places, of which one element of the program may fill each."""
    return len(places_of(plan.match.intrinsic.contraction, operand)) > 1


def _cleared(plan: Plan, operand: str) -> list[str]:
    """An element that several instances access is written where one of them exists: what is left is zero first."""
    return [f"memset(ps_to, 0, {plan.place(operand).elements} * sizeof *ps_to);"] \
        if is_shared(plan.match.intrinsic, operand) else []


def _packed_by_element(plan: Plan, operand: str, *, once: bool) -> list[str]:
    """Loops over all instances that fill what each of them reads; the places of the text one after the other."""
    match, lines = plan.match, []
    dtype = match.intrinsic.parsed.operand(operand).dtype
    outside = "" if is_shared(match.intrinsic, operand) else f"ps_to[ps_at] = {_nothing(match, operand)};"
    places = places_of(match.intrinsic.contraction, operand)
    for element, part in zip(places, parts_of(content_of(match, operand)), strict=True):
        inside = f"ps_to[ps_at] = {value_c(match, part, dtype)};"
        lines += _for_each(plan, element, inside=inside, outside=outside, once=once)
    return lines


def unpack_c(plan: Plan, operand: str, name: str, *, zero: bool) -> str:
    """A function that writes a result's buffer back to its array.

    Parameters
    ----------
    zero : what the array held does not count.
    """
    match = plan.match
    c_type = C_NAMES[match.intrinsic.parsed.operand(operand).dtype.name]
    held, arrays, plain = content_of(match, operand), result_arrays(match, operand), plan.place(operand).copy
    places = zip(places_of(match.intrinsic.contraction, operand), parts_of(held), strict=True)
    if plain is not None:
        body = list(copy_loops(plain, array=arrays[0], buffer="ps_from", to_buffer=False, team=_team_of(plan)))
    elif isinstance(held, Load) and separable(match, operand, held):
        copy = f"if (ps_inside) {arrays[0]}[ps_from_at] = ps_from[ps_at];"
        body = list(gather(plan, operand, held, copy=copy))
    else:
        body = [line for e, part in places if isinstance(part, Load) for line in _stored_c(plan, e, part, zero=zero)]
    buffer = "" if is_shared(match.intrinsic, operand) else "const "
    parameters = [*(f"{_c(match, a)} *restrict {a}" for a in arrays), f"{buffer}{c_type} *restrict ps_from",
                  *kept_parameters(match)]
    return _function(plan, name, parameters, body)


def result_arrays(match: Match, operand: str) -> list[str]:
    """The arrays of the program that a result is written to."""
    access = match.fragment.statement.access
    return list(dict.fromkeys(access(part.reference).array for part in parts_of(content_of(match, operand))
                              if isinstance(part, Load)))


def _stored_c(plan: Plan, spelt: Element, held: Load, *, zero: bool) -> list[str]:
    """Loops that store one place of a result's buffer, or add it where several belong to one element."""
    output = plan.match.intrinsic.parsed.operand(spelt.array)
    element, partial = element_c(plan.match, held), _partial_groups(plan.match, output.name)
    c_type = C_NAMES[output.dtype.name]
    through = f"uint{output.dtype.bits}_t" if output.dtype.is_integer else c_type
    added = f"({c_type})(({through}){element} + ({through})ps_from[ps_at])"
    if plan.match.overlapping:
        clear = _for_each(plan, spelt, inside=f"{element} = 0;", outside="") if zero else []
        once = " ps_from[ps_at] = 0;" if is_shared(plan.match.intrinsic, output.name) else ""   # instances meet in it
        return [*clear, *_for_each(plan, spelt, inside=f"{element} = {added};{once}", outside="")]
    if not partial:
        return _for_each(plan, spelt, inside=f"{element} = ps_from[ps_at];", outside="")
    first = " && ".join(f"c{g} == 0" for g in partial)
    store = f"{element} = {first} ? ps_from[ps_at] : {added};" if zero else f"{element} = {added};"
    return _for_each(plan, spelt, inside=store, outside="")


def _c(match: Match, array: str) -> str:
    return C_NAMES[match.fragment.scop.array(array).dtype.name]


def _for_each(plan: Plan, element: Element, *, inside: str, outside: str, once: bool = False) -> list[str]:
    operand = element.array
    match, place = plan.match, plan.place(operand)
    mine = [loop for loop in plan.loops if uses(match, operand, loop)]
    lines: list[str] = []
    depth = 0

    def put(text: str) -> None:
        lines.append("    " * depth + text)

    lines += shared_loop(plan, operand)
    for loop in mine:
        put(f"for (long {loop.name} = 0; {loop.name} < {loop.blocks * loop.unroll}; {loop.name}++) {{")
        depth += 1
    groups = [g for g, part in enumerate(match.groups) if operand in part.indexes]
    for g in groups:
        put(f"for (long c{g} = 0; c{g} < {match.extent(g)}; c{g}++) {{")
        depth += 1
    for text in _address(match, element, mine, place, groups, used="ps_at" in inside + outside):
        put(text)
    conditions = list(_conditions(plan, operand, mine, groups))
    decode = list(_decode(match, mine, [g for g in groups if g not in _partial_groups(match, operand)]))
    guard = _domain_guard(match, operand, plan, once=once)
    if conditions:
        put(f"if ({' && '.join(conditions)}) {{")
        depth += 1
    for text in decode:
        put(text)
    put((f"if ({guard}) {{ {inside} }} else {{ {outside} }}" if outside else f"if ({guard}) {{ {inside} }}")
        if guard else inside)
    if conditions:
        depth -= 1
        put(f"}} else {{ {outside} }}" if outside else "}")
    while depth:
        depth -= 1
        put("}")
    return lines


def _address(match: Match, element: Element, mine: list[NestLoop], place: Place, groups: list[int], *,
             used: bool) -> list[str]:
    """Declarations of where an element lies in its operand's buffer; none where that is not used."""
    return [*digits(match, groups), f"long ps_at = {operand_offset(match, element, mine, place)};"] if used else []


def _partial_groups(match: Match, operand: str) -> list[int]:
    """Groups whose coordinate tells partial sums of one element apart."""
    return [g for g in range(len(match.groups)) if operand == match.intrinsic.output.name and match.is_partial(g)]


def _conditions(plan: Plan, operand: str, mine: list[NestLoop], groups: list[int]) -> Iterator[str]:
    match = plan.match
    groups = [g for g in groups if g not in _partial_groups(match, operand)]
    for loop in mine:
        if loop.group < 0 and not divides(loop.unroll, loop.count):
            yield f"{loop.name} < {loop.count}"
    for g in groups:
        tile = next((loop for loop in mine if loop.group == g), None)
        padded = (tile.blocks * tile.unroll if tile else 1) * match.extent(g)
        if not same(padded, match.fused_extent(g)):
            yield f"{_fused(tile, match, g)} < {match.fused_extent(g)}"


def _fused(tile: NestLoop | None, match: Match, g: int) -> str:
    return f"c{g}" if tile is None else f"{tile.name} * {match.extent(g)} + c{g}"


def _decode(match: Match, mine: list[NestLoop], groups: list[int]) -> Iterator[str]:
    """The program's iterators from loops and coordinates; those that do not matter stand at their least value."""
    fragment = match.fragment
    known = set(fragment.kept)
    yield from (f"long {n} = {argument_name(n)};" for n in fragment.kept)
    for loop in mine:
        if loop.group < 0:
            known.add(loop.source)
            yield f"long {loop.source} = {loop.name} + {fragment.loop(loop.source).lower};"
    for g in groups:
        tile = next((loop for loop in mine if loop.group == g), None)
        rest = f"({_fused(tile, match, g)})"
        for position, name in reversed(list(enumerate(match.loops[g]))):
            member = fragment.loop(name)
            known.add(name)
            digit = rest if position == 0 else f"{rest} % {member.extent}"
            yield f"long {name} = {digit} + {member.lower};"
            rest = f"({rest} / {member.extent})"
    yield from (f"long {other.name} = {other.lower};" for other in fragment.loops if other.name not in known)
    names = ", ".join(f"(void){loop.name}" for loop in fragment.loops)
    if names:
        yield names + ";"


def _domain_guard(match: Match, operand: str, plan: Plan, *, once: bool) -> str:
    """A C condition that the domain, seen by the loops that this operand knows, holds the point; "" for a box."""
    fragment = match.fragment
    if match.holds_box(operand):
        return ""
    known = set(fragment.kept) & (fragment.loops_of(content_of(match, operand)) if once else {*fragment.kept})
    for loop in plan.loops:
        if uses(match, operand, loop) and loop.group < 0:
            known.add(loop.source)
    partial = _partial_groups(match, operand)   # an element is stored for whichever iterations add to it
    for g, part in enumerate(match.groups):
        if operand in part.indexes and g not in partial:
            known |= set(match.loops[g])
    domain = fragment.iterations_of_all_sizes[0].reset_tuple_id()
    for at, parameter in enumerate(str(domain.get_dim_name(isl.dim_type.param, p))
                                   for p in range(domain.dim(isl.dim_type.param))):
        domain = domain.set_dim_name(isl.dim_type.param, at, argument_of(parameter))
    for position, name in reversed(list(enumerate(fragment.statement.iterators))):
        if name not in known:
            domain = domain.project_out(isl.dim_type.set, position, 1)
    return condition_c(domain, [n for n in fragment.statement.iterators if n in known])


def condition_c(points: isl.Set, names: Sequence[str]) -> str:
    """A C condition that these variables are a point of a set."""
    moved = points.move_dims(isl.dim_type.param, 0, isl.dim_type.set, 0, points.dim(isl.dim_type.set))
    for position, name in enumerate(names):
        moved = moved.set_dim_name(isl.dim_type.param, position, name)
    build = isl.AstBuild.from_context(isl.Set.universe(moved.params().get_space()))
    return expression_in_c(build.expr_from_set(moved.params()))


def value_c(match: Match, e: Expr, wanted: DType, *, element: Callable[[Load], str] | None = None) -> str:
    """The element as C, in the operand's own type.

    Parameters
    ----------
    element : the C of an element of an array; by the program's iterators when None.
    """
    def loaded(x: Load) -> str:
        return element_c(match, x) if element is None else element(x)

    if isinstance(e, Literal):
        return ONE.get(wanted.name, e.text)
    if isinstance(e, Load) and e.dtype == wanted:
        return loaded(e)
    short = {FLOAT16: "f32_to_f16", BFLOAT16: "f32_to_bf16"}

    def change(x: Expr) -> Expr:
        if isinstance(x, Cast) and x.dtype in short:
            widening = {FLOAT16: "f16_to_f32", BFLOAT16: "bf16_to_f32"}[x.dtype]
            return Load(f"{widening}({short[x.dtype]}({expression_c(x.operand)}))", FLOAT32)
        if isinstance(x, Load):
            return Load(_as_computed(loaded(x), x.dtype), x.dtype)
        if isinstance(x, IteratorRef | ParameterRef):   # the C's own iterators are long
            number = x.name if isinstance(x, IteratorRef) else str(match.fragment.sizes[x.name])
            return Load(f"(({C_NAMES[x.dtype.name]}){number})", x.dtype)
        return x

    if wanted in short:   # arithmetic of short floats happens in f32, conversions round where the program has them
        return f"{short[wanted]}({expression_c(rebuild(e, change))})"
    return expression_c(rebuild(e if e.dtype == wanted else Cast(e, wanted), change))


def _as_computed(text: str, dtype: DType) -> str:
    """An element in the type that C computes with."""
    if dtype == BFLOAT16:
        return f"bf16_to_f32({text})"
    return f"f16_to_f32({text})" if dtype == FLOAT16 else text


def element_c(match: Match, e: Load) -> str:
    """`array[linear index]` over the program's iterators."""
    access = match.fragment.statement.access(e.reference)
    strides = match.fragment.array_strides[e.reference]
    if strides is None:
        raise UsageError(f"the extents of {access.array} are not known", where=match.fragment.scop.name)
    terms = []
    subscripts = match.fragment.subscripts[e.reference]
    for at, (step, index) in enumerate(zip(strides, match.fragment.indices[e.reference], strict=True)):
        if index.affine:
            parts = [f"{c} * {n}" for n, c in index.coefficients]
            text = " + ".join([*parts, str(match.fragment.constant(e.reference, at))])
        else:
            text = expression_c(rebuild(subscripts[at], lambda x: Load(
                x.name if isinstance(x, IteratorRef) else str(match.fragment.sizes[x.name]), x.dtype)
                if isinstance(x, IteratorRef | ParameterRef) else x))
        terms.append(f"({text}) * {step}")
    return f"{access.array}[{' + '.join(terms) or '0'}]"
