"""A match with a described function as C: loops around one call."""

from __future__ import annotations

import math
from collections.abc import Iterator

import islpy as isl

from polysched.errors import NoIntrinsicMatchError
from polysched.records import dataclass
from polysched.scop.body import Binary, Call, Cast, Expr, Literal, Load, Select, Unary
from polysched.scop.c_frontend.subscripts.polyhedra import c_condition, widened
from polysched.scop.scop import Array, Storage
from polysched.tensorize.description.library_function import HEADERS
from polysched.tensorize.description.semantics import C_NAMES
from polysched.tensorize.functions.addresses import step_name
from polysched.tensorize.functions.function_match import FunctionMatch
from polysched.tensorize.functions.recurrences import OUTER
from polysched.tensorize.functions.state import Number, Operand
from polysched.tensorize.functions.units import extents_of_operand
from polysched.tensorize.software.polynomials import (
    Polynomial,
    add,
    affine_text,
    multiply,
    of_affine,
    polynomial_c,
    substituted,
)

COUNTER = "polysched_call"   # the variables of the loops around


@dataclass(frozen=True, kw_only=True)
class Calls:
    """The calls of a match as lines of C, and what they need at the top of the file."""

    lines: tuple[str, ...]
    preamble: str


def calls_c(found: FunctionMatch, *, called: str = "") -> Calls:
    """The loops around the call, and the call.

    Parameters
    ----------
    called : another function of the same parameters, which somebody else defines; "" for the match's own.

    Raises
    ------
    NoIntrinsicMatchError : the iterations of the loops around are no nest of loops with affine bounds.
    """
    spelling = {p.name: p.spelling for p in found.scop.parameters}
    spelling |= {f"{OUTER}{at}": f"{COUNTER}_{at}" for at in range(found.depth)}
    words = dict(_words(found, spelling))
    copied = dict(_copies(found, spelling, words)) if found.function.packs else {}
    words |= {name: copy.name for name, copy in copied.items()}
    for p in found.variant.signature.parameters:   # pointers to rows are of another type than those to elements
        if len(p.c_extents) > 1 and p.name in words:
            words[p.name] = f"({'' if p.name in found.program_writes else 'const '}void *){words[p.name]}"
    call = _call(found, words, called)
    lines = [call]
    if copied:
        lines = ["{", *(f"    {line}" for line in (
            *(line for c in copied.values() for line in c.before), call,
            *(line for c in copied.values() for line in c.behind))), "}"]
    for at, bounds in reversed(list(enumerate(_bounds(found)))):
        lines = [_head(f"{COUNTER}_{at}", *bounds, spelling), *(f"    {line}" for line in lines)]
    return Calls(lines=tuple(lines), preamble=preamble(found))


def _head(name: str, low: Polynomial, high: Polynomial, step: int, spelling: dict[str, str]) -> str:
    forward = f"{name}++" if step == 1 else f"{name} += {step}"
    return f"for (long {name} = {polynomial_c(low, spelling)}; {name} <= {polynomial_c(high, spelling)}; {forward})"


def _call(found: FunctionMatch, words: dict[str, str], called: str) -> str:
    call = found.variant.called_with(words)
    return f"{called}{call.removeprefix(found.variant.name)}" if called else call


@dataclass(frozen=True, kw_only=True)
class _Copied:
    """An operand of a unit that is copied: the lines ahead of the call and behind it."""

    name: str
    before: tuple[str, ...]
    behind: tuple[str, ...]


def _copies(found: FunctionMatch, spelling: dict[str, str], words: dict[str, str]) -> Iterator[tuple[str, _Copied]]:
    """The operands that do not lie as the unit reads them."""
    scop, fixed = found.variant.scop, _fixed(found.context)
    for theirs in found.state.operands:
        array = scop.array(theirs)
        extents = extents_of_operand(scop, theirs)
        steps = [substituted(found.state.values.get(step_name(theirs, at), {}), fixed) for at in range(len(extents))]
        natural = [{(): math.prod(extents[at + 1:])} for at in range(len(extents))]
        if all(s == n or e == 1 for s, n, e in zip(steps, natural, extents, strict=True)):
            continue
        kind, own = C_NAMES[array.dtype.name], f"polysched_{theirs}"
        loops = " ".join(f"for (long e{at} = 0; e{at} < {e}; e{at}++)" for at, e in enumerate(extents))
        here = own + "".join(f"[e{at}]" for at in range(len(extents)))
        there = " + ".join(f"({polynomial_c(s, spelling)}) * e{at}" for at, s in enumerate(steps)) or "0"
        element = f"({words[theirs]})[{there}]"
        shape = "".join(f"[{e}]" for e in extents)
        yield theirs, _Copied(name=own, before=(f"{kind} {own}{shape};", f"{loops} {here} = {element};"),
                              behind=(f"{loops} {element} = {here};",) if theirs in found.program_writes else ())


def _fixed(context: isl.Set) -> dict[str, Polynomial]:
    """The parameters that have one value."""
    found: dict[str, Polynomial] = {}
    for at in range(context.dim(isl.dim_type.param)):
        value = context.plain_get_val_if_fixed(isl.dim_type.param, at)
        if value.is_int():
            found[str(context.get_dim_name(isl.dim_type.param, at))] = {(): int(value.to_python())}
    return found


def preamble(found: FunctionMatch) -> str:
    """The headers of the function, its declaration, or itself."""
    function, text = found.function, found.variant.text.strip()
    headers = "".join(f"#include <{h}>\n" for h in function.isa.headers)
    guard = f"POLYSCHED_FUNCTION_{found.variant.name.upper()}"
    if function.inline:
        return f"{HEADERS}{headers}{found.variant.helpers}#ifndef {guard}\n#define {guard}\nstatic {text}\n#endif\n"
    if headers:
        return headers
    return f"{text[:text.index('{')].strip()};\n"


def conditions_c(found: FunctionMatch) -> Iterator[str]:
    """The conditions on the parameters under which the calls may be made, as C; none where they always may.

    Raises
    ------
    NoIntrinsicMatchError : as `guard_c`.
    """
    if found.assumed is not None:
        yield f"({c_condition(found.assumed, {p.name: widened(p) for p in found.scop.parameters})})"
    if found.guard is not None:
        yield guard_c(found)


def guard_c(found: FunctionMatch) -> str:
    """The condition on the parameters that is not in the context of the match, as C.

    Raises
    ------
    NoIntrinsicMatchError : C spells a parameter in a way that is no name.
    """
    assert found.guard is not None
    if unnamed := [p for p in found.scop.parameters if p.spelling != p.name]:
        raise NoIntrinsicMatchError(f"the calls need a condition on {unnamed[0].spelling}", where=found.scop.name,
                                    witness=str(found.guard))
    wide = {p.name: widened(p) for p in found.scop.parameters}   # `m + 2147483647 >= n` is no sum of ints
    return f"({c_condition(found.guard.gist(found.context), wide)})"


def _words(found: FunctionMatch, spelling: dict[str, str]) -> Iterator[tuple[str, str]]:
    """What the call's words stand for, by the names of the function's parameters."""
    for p in found.variant.scop.parameters:
        yield p.spelling, polynomial_c(found.state.values[p.name], spelling)
    for theirs, operand in found.state.operands.items():
        constant = "" if theirs in found.program_writes else "const "
        yield theirs, pointer_c(found.scop.array(operand.array), operand, spelling, constant)
    for theirs, number in found.state.numbers.items():
        yield theirs, _number_c(found, number, spelling)


def pointer_c(array: Array, operand: Operand, spelling: dict[str, str], constant: str) -> str:
    """A pointer to the element of the program's array that is the function's first one."""
    total: Polynomial = {}
    for monomial, base in operand.base.items():
        value = _constant(base)
        total = add(total, multiply({monomial: 1}, value))
    element = array.c_element.format(*["0"] * array.c_element.count("{}"))
    if array.storage is Storage.LOCAL and array.is_scalar:
        element = f"(*{array.name})"
    offset = polynomial_c(total, spelling)
    return f"({constant}{C_NAMES[array.dtype.name]} *)&{element}" if offset == "0" else \
        f"((({constant}{C_NAMES[array.dtype.name]} *)&{element}) + ({offset}))"


def _constant(base: isl.Map) -> Polynomial:
    value = of_affine(base.as_pw_multi_aff().get_pw_aff(0))
    if value is None:
        raise NoIntrinsicMatchError("an operand of the call starts at no affine element", witness=str(base))
    return value


def _number_c(found: FunctionMatch, number: Number, spelling: dict[str, str]) -> str:
    """What is handed over by value."""
    def loaded(reference: str) -> str:
        name, element = number.elements[int(reference[1:])]
        subscripts = element.as_pw_multi_aff()
        values = [of_affine(subscripts.get_pw_aff(at)) for at in range(element.dim(isl.dim_type.out))]
        texts = [polynomial_c(v, spelling) for v in values if v is not None]
        if len(texts) != len(values):
            raise NoIntrinsicMatchError("a number of the call is at no affine element", witness=str(element))
        if not name:
            return texts[0]
        array = found.scop.array(name)
        if array.storage is Storage.LOCAL and array.is_scalar:
            return f"(*{name})"
        if array.c_element.count("{}") != len(texts):
            raise NoIntrinsicMatchError("a number of the call lies in an array with linearised subscripts",
                                        witness=f"{name}")
        return array.c_element.format(*texts)

    return _value_c(number.value, loaded)


def _value_c(e: Expr, loaded: object) -> str:
    assert callable(loaded)
    match e:
        case Load():
            return f"(({e.dtype.c_name}){loaded(e.reference)})"
        case Literal():
            return f"(({e.dtype.c_name}){_constant_c(e.value)})"
        case Unary():
            return f"({e.op}{_value_c(e.operand, loaded)})"
        case Binary():
            return f"({_value_c(e.left, loaded)} {e.op} {_value_c(e.right, loaded)})"
        case Cast():
            return f"(({e.dtype.c_name}){_value_c(e.operand, loaded)})"
        case Select():
            parts = [_value_c(x, loaded) for x in (e.condition, e.then, e.otherwise)]
            return f"({parts[0]} ? {parts[1]} : {parts[2]})"
        case Call():
            return f"{e.function}({', '.join(_value_c(x, loaded) for x in e.arguments)})"
    raise NoIntrinsicMatchError("a number of the call is no expression of C", witness=str(e))


def _constant_c(value: float) -> str:
    """A number of Python in C."""
    if math.isnan(value):
        return '__builtin_nan("")'
    if math.isinf(value):
        return f"{'-' * (value < 0)}__builtin_inf()"
    return repr(int(value) if isinstance(value, bool) else value)


def _bounds(found: FunctionMatch) -> list[tuple[Polynomial, Polynomial, int]]:
    """Least and greatest value of every loop around, in those outside of it, and its step."""
    iterations = found.program.iterations
    result = []
    for at in range(found.depth):
        mine = iterations
        for later in range(at + 1, found.depth):
            place = mine.find_dim_by_name(isl.dim_type.param, f"{OUTER}{later}")
            mine = mine.project_out(isl.dim_type.param, place, 1)
        place = mine.find_dim_by_name(isl.dim_type.param, f"{OUTER}{at}")
        mine = mine.move_dims(isl.dim_type.set, 0, isl.dim_type.param, place, 1)
        low, high = (of_affine(end, quotients=True) for end in (mine.dim_min(0), mine.dim_max(0)))
        if low is None or high is None:
            raise NoIntrinsicMatchError("the loops around the call have no affine bounds", where=found.scop.name,
                                        witness=str(mine))
        result.append((low, high, int(mine.get_stride(0).to_python())))
    if not _is_nest(found, result):
        raise NoIntrinsicMatchError("the calls are made in an irregular part of the loops around them",
                                    where=found.scop.name, witness=str(iterations))
    return result


def _is_nest(found: FunctionMatch, bounds: list[tuple[Polynomial, Polynomial, int]]) -> bool:
    """Whether these bounds have exactly the iterations in which there is something to compute."""
    names = [p.name for p in found.scop.parameters] + [f"{OUTER}{at}" for at in range(found.depth)]
    parts = [f"{affine_text(low)} <= {OUTER}{at} <= {affine_text(high)}" for at, (low, high, _) in enumerate(bounds)]
    parts += [f"({OUTER}{at} - ({affine_text(low)})) mod {step} = 0"
              for at, (low, _, step) in enumerate(bounds) if step > 1]
    text = f"[{', '.join(names)}] -> {{ : {' and '.join(parts) or 'true'} }}"
    allowed = found.context if found.guard is None else found.guard
    whole = isl.Set.read_from_str(isl.DEFAULT_CONTEXT, text).intersect_params(allowed)
    return bool(whole.is_equal(found.program.iterations.intersect_params(allowed)))
