"""From the exact text of an instruction to its contraction.

The matcher compares loops and bodies, so rounding, flushing and the detour over local partial sums are taken out of
the update, and kept as traits, limits and a finish.  Of integers each step is proved: a sum may take its detour where
the local is as wide as the result (both wrap modulo the same power of two) or where intervals show that it holds every
partial sum; otherwise the part is a limit.  What fits no such form stays a text of several stages.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache

from polysched.errors import SourceSyntaxError
from polysched.records import dataclass
from polysched.scop.body import Binary, Call, Cast, Expr, Load, rebuild_shared, walk
from polysched.scop.dtypes import DType
from polysched.tensorize.description.blocks import Block, Blocks, blocks_of, dimension, is_zero, stages_of
from polysched.tensorize.description.contraction import Contraction, Limit, Result
from polysched.tensorize.description.exact_arithmetic import FUNCTIONS, Ideal
from polysched.tensorize.description.intervals import Interval, interval, unwrapped, wraps
from polysched.tensorize.description.semantics import Affine, Element, Loop, Semantics
from polysched.tensorize.description.sums import in_loops, without_second_names


@lru_cache(maxsize=512)
def derive(semantics: Semantics, *, as_written: bool = False) -> Contraction:
    """The contraction of an instruction.

    Parameters
    ----------
    as_written : sums that the text writes out, and choices between a sum and its old value, are no loops and addends.

    Raises
    ------
    SourceSyntaxError : the text writes nothing, or reads a local that has no value.
    """
    blocks = _blocks(semantics, as_written)
    writing = [b for b in blocks.blocks if any(r.output.array in _operands(semantics) for r in b.results)]
    if not writing:
        raise SourceSyntaxError("the text of an intrinsic writes an operand", where=semantics.name,
                                hint="a written parameter is an array without const")
    scale, rest = _scaled(semantics, blocks)
    one = _of_one_block(semantics, rest[0]) if len(rest) == 1 else _cleared(semantics, rest) or _of_sum(
        semantics, blocks, rest)
    stages, expanded = stages_of(blocks)
    if one is not None:
        return replace(one, scale=scale, stages=stages, locals=expanded)
    last = writing[-1]
    return replace(_of_one_block(semantics, last), whole=False, in_order=False, finish=None,
                   update=last.results[0].update, stages=stages, locals=expanded)


@lru_cache(maxsize=512)
def _blocks(semantics: Semantics, as_written: bool = False) -> Blocks:
    """The blocks of a text, with the sums in one form."""
    read = blocks_of(replace(semantics, body=without_second_names(semantics.body)))
    return read if as_written else Blocks(
        tuple(made for block in read.blocks for made in in_loops(semantics, block)), read.locals)


def _operands(semantics: Semantics) -> frozenset[str]:
    return frozenset(o.name for o in semantics.operands)


def _scaled(semantics: Semantics, blocks: Blocks) -> tuple[str, tuple[Block, ...]]:
    """The operand that a first statement multiplies the result by, or ""; and the other blocks."""
    first, numbers = blocks.blocks[0], {o.name for o in semantics.operands if not o.shape}
    if len(blocks.blocks) > 1 and len(first.results) == 1:
        value, target = first.results[0].update, first.results[0].output
        if isinstance(value, Binary) and value.op == "*" and target.array in _operands(semantics):
            sides = [e.reference for e in (value.left, value.right) if isinstance(e, Load)]
            scale = [r for r in sides if r in numbers]
            if len(sides) == 2 and str(target) in sides and scale:
                return scale[0], blocks.blocks[1:]
    return "", blocks.blocks


def _of_one_block(semantics: Semantics, block: Block) -> Contraction:
    """A perfect nest: its update is the exact one, but for what rounds."""
    first, *others = block.results
    written = {r.output for r in block.results}
    reads = dict.fromkeys(e for r in block.results for e in r.reads if e not in written)
    body, finish = (first.update, "") if others else _finished(first, block.loops)
    descending = frozenset(loop.name for loop in block.loops if loop.descending)
    return Contraction(
        dimensions=tuple(map(dimension, block.loops)), output=first.output, output_dtype=first.output_dtype,
        inputs=tuple(reads), input_dtypes=_dtypes(semantics, reads), update=ideal_of(body),
        accumulates=any(first.output in r.reads for r in block.results), finish=finish or None,
        traits=_traits([r.update for r in block.results], finish),
        others=tuple(replace(r, update=ideal_of(r.update)) for r in others),
        rounds_anew=bool(first.output_dtype.is_float and descending) or any(map(_result_rounds_anew, block.results)),
        in_order=True, descending=descending)


def _finished(result: Result, loops: tuple[Loop, ...]) -> tuple[Expr, str]:
    """What a result is before a last function cuts it, and the name of that; where nothing is added up, the update."""
    body = result.update
    reduces = any(loop.name not in result.output.names for loop in loops)
    if not reduces and result.reads_itself and isinstance(body, Call) and _clamps(body):
        return body.arguments[0], body.function
    return body, ""


def _result_rounds_anew(result: Result) -> bool:
    return _rounds_anew(result.update)


def _cleared(semantics: Semantics, rest: tuple[Block, ...]) -> Contraction | None:
    """`C[i] = 0; for k: C[i] += ...`, which replaces the result by a sum from zero; None for another text."""
    if len(rest) != 2 or any(len(b.results) != 1 for b in rest):
        return None
    (start, add), (first, last) = rest, (b.results[0] for b in rest)
    if first.output != last.output or not is_zero(first.update) or not last.reads_itself \
            or last.output.array not in _operands(semantics):
        return None
    cleared, added = ({loop.name: dimension(loop) for loop in b.loops} for b in (start, add))
    if cleared.keys() != last.output.names or any(added.get(n) != d for n, d in cleared.items()) \
            or not _all_added_to(add):
        return None
    return replace(_of_one_block(semantics, add), accumulates=False)


def _all_added_to(block: Block) -> bool:
    """Whether each loop of a sum has an iteration wherever it stands: else an element may only be cleared."""
    extents = {loop.name: loop.extent for loop in block.loops}
    return all(_has_iterations(loop, extents) for loop in block.loops)


def _has_iterations(loop: Loop, extents: Mapping[str, int | str]) -> bool:
    """Whether a loop is known to have an iteration for all values of the loops around it."""
    if loop.upper is None and isinstance(loop.extent, str):   # from 0, or from an iterator that stays below the same
        return loop.lower.constant <= 0 and len(loop.lower.terms) <= 1 and all(
            c == 1 and extents[n] == loop.extent for n, c in loop.lower.terms)
    length = (loop.upper or Affine((), int(loop.extent))).plus(loop.lower, -1)
    falling = [(c, extents[n]) for n, c in length.terms if c < 0]
    steps = [c * (extent - 1) for c, extent in falling if isinstance(extent, int)]
    return len(steps) == len(falling) and length.constant + sum(steps) >= 1


def _dtypes(semantics: Semantics, elements: dict[Element, None]) -> tuple[DType, ...]:
    known = {o.name: o.dtype for o in semantics.operands}
    loaded = {v.name: v.dtype for v, _ in _blocks(semantics).locals.values()}
    return tuple((known | loaded)[e.array] for e in elements)


def _traits(updates: list[Expr], finish: str = "") -> tuple[str, ...]:
    found = [FUNCTIONS[finish].traits] if finish else []
    found += [FUNCTIONS[e.function].traits for u in updates for e in walk(u) if isinstance(e, Call)
              and e.function in FUNCTIONS and FUNCTIONS[e.function].ideal is not Ideal.CLAMP]
    return tuple(dict.fromkeys(t for traits in found for t in traits))


def _clamps(e: Call) -> bool:
    return e.function in FUNCTIONS and FUNCTIONS[e.function].ideal is Ideal.CLAMP


def _rounds_anew(e: Expr) -> bool:
    return any(isinstance(x, Call) and x.function in FUNCTIONS and (
        FUNCTIONS[x.function].traits or FUNCTIONS[x.function].ideal in (Ideal.SUM, Ideal.PRODUCT, Ideal.MULTIPLY_ADD))
        and x.dtype.is_float for x in walk(e))


def ideal_of(value: Expr) -> Expr:
    """The same over numbers that are not rounded; functions that operators can say become these."""
    def change(e: Expr) -> Expr:
        if not isinstance(e, Call) or e.function not in FUNCTIONS:
            return e
        a, function = e.arguments, FUNCTIONS[e.function]
        match function.ideal:
            case Ideal.IDENTITY:
                return a[0] if a[0].dtype == e.dtype else Cast(a[0], e.dtype)
            case Ideal.SUM:
                return Binary("+", a[0], a[1], e.dtype)
            case Ideal.PRODUCT:
                return Binary("*", a[0], a[1], e.dtype)
            case Ideal.MULTIPLY_ADD:
                return Binary("+", a[2], Binary("*", a[0], a[1], e.dtype), e.dtype)
        return function.meaning(*a) if function.meaning is not None else e
    return rebuild_shared(value, change)


@dataclass(frozen=True)
class _Sum:
    """A text that adds up in a local and then adds this to its result.

    Parameters
    ----------
    core : adds to the local; `addend` is what it adds.
    last : adds the local to the result.
    inside : the loops of the core whose iterations one value of the local sums up.
    """

    core: Result
    addend: Expr
    last: Result
    loops: tuple[Loop, ...]
    inside: tuple[Loop, ...]

    @property
    def partial(self) -> Load:
        return Load(str(self.core.output), self.core.output_dtype)

    @property
    def result(self) -> Load:
        return Load(str(self.last.output), self.last.output_dtype)


def _of_sum(semantics: Semantics, blocks: Blocks, rest: tuple[Block, ...]) -> Contraction | None:
    """The contraction of a text that adds up in locals; None where it is another one."""
    nests = [b for b in rest if not b.starts]
    plain = len(nests) >= 2 and all(len(b.results) == 1 for b in nests)
    core = _core_of(semantics, blocks, nests) if plain else None
    if core is None:
        return None
    last = nests[-1].results[0]
    if last.output_dtype.is_float:
        return _of_floats(semantics, core, last)
    if len(nests) != 2 or not _starts_from_zero(blocks, rest, nests):
        return None
    return _of_integers(semantics, blocks, core, last)


def _core_of(semantics: Semantics, blocks: Blocks, nests: list[Block]) -> Block | None:
    """Of nests of one result each, the one that reads the operands: others add up locals, the last into the result."""
    constant = {o.name for o in semantics.operands if not o.written}
    cores = [b for b in nests if any(e.array in constant for e in b.results[0].reads)]
    if len(cores) != 1 or cores[0] is nests[-1] or not _only_the_last_is_kept(nests, blocks):
        return None
    (core,), others = cores, [b.results[0] for b in nests if b is not cores[0]]
    named = {loop.name for loop in core.loops}
    return core if all(_adds_up(r, blocks) for r in others) and others[-1].output.names <= named else None


def _only_the_last_is_kept(nests: list[Block], blocks: Blocks) -> bool:
    """Whether all nests but the last write locals."""
    *arrays, last = (b.results[0].output.array for b in nests)
    return last not in blocks.locals and all(array in blocks.locals for array in arrays)


def _starts_from_zero(blocks: Blocks, rest: tuple[Block, ...], nests: list[Block]) -> bool:
    """Whether the local of a sum is declared, cleared, added to, and added to the result in the same loops."""
    core, last = nests
    own = core.results[0].output
    starts = [b for b in rest if b.starts == own.array]
    declared = {loop.name: dimension(loop) for loop in blocks.locals[own.array][1]}
    adding, used = ({loop.name: dimension(loop) for loop in b.loops} for b in (core, last))
    return len(starts) == 1 and is_zero(starts[0].results[0].update) and used.keys() == declared.keys() | own.names \
        and all(adding.get(n) == d for n, d in used.items()) and all(used[n] == d for n, d in declared.items())


def _adds_up(result: Result, blocks: Blocks) -> bool:
    """Whether a value is a sum of locals and its own old value, each once, roundings and clamps aside."""
    terms = list(_terms(result.update))
    return all(isinstance(t, Load) for t in terms) and len(set(terms)) == len(terms) and all(
        e.array in blocks.locals or e == result.output for e in result.reads)


def _terms(e: Expr) -> Iterator[Expr]:
    if isinstance(e, Binary) and e.op == "+":
        for side in (e.left, e.right):
            yield from _terms(side)
    elif isinstance(e, Cast) and e.operand.dtype.is_float == e.dtype.is_float:
        yield from _terms(e.operand)
    elif isinstance(e, Call) and e.function in FUNCTIONS and FUNCTIONS[e.function].ideal in (
            Ideal.SUM, Ideal.IDENTITY, Ideal.CLAMP):
        for argument in e.arguments:
            yield from _terms(argument)
    else:
        yield e


def _of_floats(semantics: Semantics, core: Block, last: Result) -> Contraction:
    """Sums of floats over locals: over numbers without rounding they are one sum, which `same_function` proves."""
    (own,) = core.results
    update = _in_place(ideal_of(own.update), own, Load(str(last.output), last.output_dtype))
    calls = [r.update for b in _blocks(semantics).blocks for r in b.results]
    return _contraction(semantics, core.loops, own, last, update=update, traits=_traits(calls), rounds_anew=True)


def _in_place(update: Expr, own: Result, old: Load) -> Expr:
    """The update of a local as one of the result, whose old value is added where the local's is or was zero."""
    partial = Load(str(own.output), own.output_dtype)
    if own.output in own.reads:
        return rebuild_shared(update, lambda e: old if e == partial else e)
    return Binary("+", old, update, old.dtype)


def _contraction(semantics: Semantics, loops: tuple[Loop, ...], own: Result, last: Result, *, update: Expr,
                 traits: tuple[str, ...], finish: str | None = None, limits: tuple[Limit, ...] = (),
                 rounds_anew: bool = False) -> Contraction:
    inputs = dict.fromkeys(e for e in own.reads if e != own.output)
    return Contraction(
        dimensions=tuple(map(dimension, loops)), output=last.output, output_dtype=last.output_dtype,
        inputs=tuple(inputs), input_dtypes=_dtypes(semantics, inputs), update=update, accumulates=last.reads_itself,
        finish=finish, traits=traits, limits=limits, rounds_anew=rounds_anew)


def _of_integers(semantics: Semantics, blocks: Blocks, core: Block, last: Result) -> Contraction | None:
    """Sums of integers over one local, where the detour is proved to change nothing or is a limit."""
    (own,) = core.results
    addend = _added(own)
    if addend is None or own.output not in last.reads:
        return None
    around = {loop.name for loop in blocks.locals[own.output.array][1]} | own.output.names
    found = _Sum(own, ideal_of(addend), last, core.loops, tuple(x for x in core.loops if x.name not in around))
    extents = [loop.extent for loop in found.inside]
    count = None if any(isinstance(n, str) for n in extents) else math.prod(map(int, extents))
    each = interval(addend, {loop.name: loop.extent for loop in core.loops})
    total = None if each is None or count is None else (min(0, count * each[0]), max(0, count * each[1]))
    return _detour(semantics, found, total, count)


def _added(own: Result) -> Expr | None:
    """What an update adds to its old value, in its own type."""
    value = own.update.operand if isinstance(own.update, Cast) else own.update
    if not (isinstance(value, Binary) and value.op == "+" and value.dtype.is_integer):
        return None
    old = Load(str(own.output), own.output_dtype)
    for side, other in ((value.left, value.right), (value.right, value.left)):
        if (side == old or (isinstance(side, Cast) and side.operand == old)) and old not in walk(other):
            return other
    return None


def _wrapping(semantics: Semantics, found: _Sum, count: int) -> Contraction:
    """A sum of so many integers in a narrower local, whose partial sums may wrap."""
    own, last, dtype = found.core, found.last, found.core.output_dtype
    if count == 1:   # one addend wraps by itself
        return _contraction(semantics, found.loops, own, last, traits=(), update=_sum_of(
            found.result, Cast(found.addend, dtype), last.output_dtype))
    return _contraction(semantics, found.loops, own, last, traits=(), update=_sum_of(
        found.result, found.addend, last.output_dtype), limits=(
            _limit(found, count, dtype.value_range(), wraps_=True),))


def _detour(semantics: Semantics, found: _Sum, total: Interval | None, count: int | None) -> Contraction | None:
    """The contraction of a sum of integers; None where a partial sum may wrap in a way that no limit describes."""
    own, last, dtype = found.core, found.last, found.core.output_dtype
    fits = total is not None and not wraps(total, dtype)
    clamps = [e for e in walk(last.update) if isinstance(e, Call) and _clamps(e)]
    update = _sum_of(found.result, found.addend, last.output_dtype)
    if not clamps and _plain(last.update, found):
        if fits or dtype.bits >= last.output_dtype.bits:
            return _contraction(semantics, found.loops, own, last, update=update, traits=(), limits=())
        return None if count is None else _wrapping(semantics, found, count)
    if len(clamps) != 1 or not fits or count is None or total is None \
            or not _holds(clamps[0].arguments[0], found, total):
        return None
    (clamp,) = clamps
    cut = FUNCTIONS[clamp.function]
    if last.update == clamp and found.result in walk(clamp):
        return _contraction(semantics, found.loops, own, last, traits=cut.traits, finish=clamp.function,
                            update=_sum_of(found.result, found.addend, clamp.arguments[0].dtype))
    if found.result in walk(clamp) or not _plain(last.update, found):
        return None
    limit = _limit(found, count, cut.dtype.value_range(), wraps_=False)
    return _contraction(semantics, found.loops, own, last, update=update, traits=cut.traits, limits=(limit,))


def _plain(e: Expr, found: _Sum) -> bool:
    """Whether a value is the local, possibly clamped, plus the result's old value, in types as wide as the result."""
    match e:
        case Cast():
            return _plain(e.operand, found) and e.dtype.bits >= found.result.dtype.bits
        case Binary():
            return _plain(e.left, found) and _plain(e.right, found) and e.dtype.bits >= found.result.dtype.bits
        case Call():
            return e.arguments[0] in (found.partial, Cast(found.partial, e.arguments[0].dtype))
    return e in (found.partial, found.result)


def _holds(e: Expr, found: _Sum, total: Interval) -> bool:
    """Whether no part of a sum of the result and the local wraps, whatever the result was."""
    known = ((x, _with_total(x, found.partial, total)) for x in walk(e))
    return all(values is not None and not wraps(values, x.dtype) for x, values in known)


def _with_total(e: Expr, partial: Load, total: Interval) -> Interval | None:
    """The values of a sum without width, where the local has those of its total."""
    if e == partial:
        return total
    if isinstance(e, Cast):
        return _with_total(e.operand, partial, total)
    if isinstance(e, Binary) and e.op == "+":
        left, right = (_with_total(x, partial, total) for x in (e.left, e.right))
        return None if left is None or right is None else (left[0] + right[0], left[1] + right[1])
    return unwrapped(e, {})


def _sum_of(old: Load, addend: Expr, dtype: DType) -> Expr:
    """`old + addend` in the type that C gives it, or a wider one, converted to the type of the accumulator."""
    common = dtype if dtype.bits >= max(32, addend.dtype.bits) else addend.dtype
    total = Binary("+", old, addend, common)
    return total if common == dtype else Cast(total, dtype)


def _limit(found: _Sum, count: int, ends: Interval, *, wraps_: bool) -> Limit:
    return Limit(count, found.addend, *ends, tuple(loop.name for loop in found.inside), wraps_,
                 found.core.output_dtype)
