"""Sums in one form, however a manual writes them.

    sum = C[i]; for k: sum += v; C[i] = sum           ->  for k: C[i] += v          (Arm, RISC-V)
    C[i] = C[i] + a[0] * b[0] + a[1] * b[1]           ->  for k < 2: C[i] += a[k] * b[k]     (AMX, Hexagon, CUDA)
    if (p) C[i] += v                                  ->  C[i] += p ? v : 0

Only the contraction is made of these forms; the two other readings of a text keep to its words, and all are compared.
A local in the place of one element is a second name of it.  Integers add up in any order modulo the width of the
result; floats keep the order of the text, and a choice of floats stays one, since -0 + 0 is not -0.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from polysched.records import dataclass
from polysched.scop.body import Binary, Cast, Expr, Literal, Load, Select, rebuild, walk
from polysched.scop.dtypes import INT32, DType
from polysched.tensorize.description.blocks import Block, arrays_of
from polysched.tensorize.description.contraction import Result
from polysched.tensorize.description.intervals import unconverted, unwrapped, wraps
from polysched.tensorize.description.semantics import Affine, Element, Item, Local, Loop, Semantics, Update


def without_second_names(items: Sequence[Item]) -> tuple[Item, ...]:
    """Items in which no scalar local stands for one element from a load to the store of it."""
    found = list(items)
    for at, item in enumerate(found):
        if isinstance(item, Local) and (stored := _stored(item, found[at + 1:])) is not None:
            inside, element, rest = stored
            return without_second_names((*found[:at], *_renamed(inside, item, element), *rest))
    return tuple(replace(i, body=without_second_names(i.body)) if isinstance(i, Loop) else i for i in found)


def _stored(local: Local, behind: Sequence[Item]) -> tuple[Sequence[Item], Element, Sequence[Item]] | None:
    """The items until a local is stored to the element that it began as, that element, and the items from then on.

    None where the local is no second name.
    """
    if local.variable.shape or len(local.elements) != 1:
        return None
    (element,), own = local.elements, Element(local.variable.name)
    if local.value != Load(str(element), local.variable.dtype):   # of its type, with no conversion
        return None
    for end, item in enumerate(behind):
        if isinstance(item, Update) and item.target == element and item.value == Load(str(own), item.dtype):
            rest = behind[end + 1:]
            return None if own.array in arrays_of(rest) else (behind[:end], element, rest)
        if element.array in arrays_of([item]):
            return None
    return None


def _renamed(items: Sequence[Item], local: Local, element: Element) -> Iterator[Item]:
    """The items with the element in the place of a local."""
    old = Element(local.variable.name)
    load = Load(str(element), local.variable.dtype)

    def value(e: Expr) -> Expr:
        return load if isinstance(e, Load) and e.reference == str(old) else e

    def elements(read: tuple[Element, ...]) -> tuple[Element, ...]:
        return tuple(dict.fromkeys(element if e == old else e for e in read))

    for item in items:
        if isinstance(item, Loop):
            yield replace(item, body=tuple(_renamed(item.body, local, element)))
        elif isinstance(item, Update):
            yield replace(item, target=element if item.target == old else item.target,
                          value=rebuild(item.value, value), elements=elements(item.elements))
        else:
            yield item if item.value is None else replace(
                item, value=rebuild(item.value, value), elements=elements(item.elements))


def in_loops(semantics: Semantics, block: Block) -> tuple[Block, ...]:
    """A block whose one sum is written out as the loop that it is; the block itself where it has none.

    What a sum replaces is cleared in a block of its own ahead of it.
    """
    if len(block.results) != 1 or block.starts:
        return (block,)
    result = _added_choice(block.results[0])
    if not result.reads_itself and any(loop.name not in result.output.names for loop in block.loops):
        return (block,)   # the last of several values stays
    if (found := _sum(result)) is None or (steps := _steps(found, result)) is None:
        return (replace(block, results=(result,)),)
    name = _fresh(semantics)
    first, *_ = found.terms
    moved = {e: Element(e.array, tuple(s.plus(Affine(((name, c),))) if c else s for s, c in zip(
        e.subscripts, steps[e], strict=True))) for e in _read(first, result)}
    term = rebuild(first, lambda e: Load(str(moved[_element(e, result)]), e.dtype) if isinstance(e, Load) else e)
    value = _added(Load(str(result.output), result.output_dtype), term)
    loops = (*block.loops, Loop(name, len(found.terms), False, ()))
    summed = Block(loops, (Result(result.output, value.dtype, value, (result.output, *moved.values())),))
    if result.reads_itself:
        return (summed,)
    zero = Result(result.output, value.dtype, Literal("0", 0, value.dtype), ())
    return Block(block.loops, (zero,)), summed


def _added(old: Load, *terms: Expr) -> Expr:
    """The old value and terms in the type that C adds them in, at least as wide as the old value's."""
    value: Expr = old
    for term in terms:
        wide = max(old.dtype, term.dtype, INT32, key=lambda d: d.bits) if old.dtype.is_integer else old.dtype
        value = Binary("+", value, term, wide)
    return value if value.dtype == old.dtype else Cast(value, old.dtype)


def _fresh(semantics: Semantics) -> str:
    """A name that the text does not have."""
    name = "k"
    while re.search(rf"\b{name}\b", semantics.text):
        name += "_"
    return name


def _added_choice(result: Result) -> Result:
    """`p ? old + v : old` of integers as `old + (p ? v : 0)`."""
    choice = result.update.operand if isinstance(result.update, Cast) else result.update
    old = Load(str(result.output), result.output_dtype)
    if not isinstance(choice, Select) or not choice.dtype.is_integer or unconverted(choice.otherwise) != old \
            or old in walk(choice.condition):
        return result
    terms = list(_terms(choice.then, old.dtype))
    if terms.count(old) != 1 or len(terms) < 2:
        return result
    terms.remove(old)
    if any(old in walk(t) for t in terms):
        return result
    chosen = (Select(choice.condition, t, Literal("0", 0, t.dtype), t.dtype) for t in terms)
    return replace(result, update=_added(old, *chosen))


@dataclass(frozen=True)
class _Sum:
    """Addends of one form; their elements, in order of appearance."""

    terms: tuple[Expr, ...]
    elements: tuple[tuple[Element, ...], ...]


def _sum(result: Result) -> _Sum | None:
    """What a result adds to its old value, or to zero, where it adds several values of one form."""
    old = Load(str(result.output), result.output_dtype)
    terms = _terms_of(result, old)
    if len(terms) < 2 or any(old in walk(t) for t in terms) or len({_form(t, result) for t in terms}) != 1:
        return None
    made = [(t, _read(t, result)) for t in terms]
    if old.dtype.is_integer:
        made.sort(key=lambda m: [s.constant for e in m[1] for s in e.subscripts])
    return _Sum(tuple(t for t, _ in made), tuple(e for _, e in made))


def _terms_of(result: Result, old: Load) -> list[Expr]:
    """What a result adds to its old value, or to zero; nothing where it does not."""
    terms = list(_terms(result.update, old.dtype))
    if terms.count(old) != result.reads_itself or (old.dtype.is_float and terms[0] != old):
        return []
    if result.reads_itself:
        terms.remove(old)
    return terms


def _terms(e: Expr, dtype: DType) -> Iterator[Expr]:
    """Addends of a value of which a result keeps the low bits; of floats those of the sums that stand on the left."""
    if dtype.is_float:
        if isinstance(e, Binary) and e.op == "+" and e.dtype == dtype:
            yield from _terms(e.left, dtype)
            yield e.right
        else:
            yield e
        return
    inner = _low_bits(e, dtype)
    if isinstance(inner, Binary) and inner.op == "+" and inner.dtype.is_integer and (
            inner.dtype.bits >= dtype.bits or not wraps(unwrapped(inner, {}), inner.dtype)):
        for side in (inner.left, inner.right):
            yield from _terms(side, dtype)
    else:
        yield unconverted(e)


def _low_bits(e: Expr, dtype: DType) -> Expr:
    """An integer before conversions that keep the low bits of which a result takes no more."""
    while isinstance(e, Cast) and e.operand.dtype.is_integer and e.dtype.is_integer and e.dtype.bits >= dtype.bits:
        e = e.operand
    return e


def _element(load: Load, result: Result) -> Element:
    return next(e for e in result.reads if str(e) == load.reference)


def _read(term: Expr, result: Result) -> tuple[Element, ...]:
    """The elements that a term loads, one for each load."""
    return tuple(_element(e, result) for e in walk(term) if isinstance(e, Load))


def _form(term: Expr, result: Result) -> Expr:
    """A term without the constants of its subscripts."""
    def change(e: Expr) -> Expr:
        if not isinstance(e, Load):
            return e
        element = _element(e, result)
        return Load(str(Element(element.array, tuple(Affine(s.terms) for s in element.subscripts))), e.dtype)
    return rebuild(term, change)


def _steps(found: _Sum, result: Result) -> Mapping[Element, tuple[int, ...]] | None:
    """How far each element of the first term goes from term to term; None where steps differ, or all are zero."""
    made: dict[Element, tuple[int, ...]] = {}
    for own in zip(*found.elements, strict=True):
        ways = {_distance(a, b) for a, b in itertools.pairwise(own)}
        if len(ways) != 1 or made.setdefault(own[0], *ways) not in ways or own[0].array == result.output.array:
            return None
    return made if any(any(c) for c in made.values()) else None


def _distance(a: Element, b: Element) -> tuple[int, ...]:
    return tuple(y.constant - x.constant for x, y in zip(a.subscripts, b.subscripts, strict=True))


__all__ = ["in_loops", "without_second_names"]
