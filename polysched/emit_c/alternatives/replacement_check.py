"""What runs a replaced statement beside the original: two C functions of the same arrays, and how results compare.

    for i, j, k: C[i][j] += A[i][k] * B[k][j]     (the statement alone, its loops in the order of the program)
    for t { polysched_S1(C, A, B, t); }           (its nest around the instruction, as it stands in the emitted region)

The first is printed from the Scop without any rewrite of `tensorize`; the second is what `instructions` prints.
A check is a value: `measure.bit_for_bit` compiles and runs it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from enum import Enum

import islpy as isl

from polysched.dependence import analyse
from polysched.emit_c.alternatives.instructions import with_instruction
from polysched.emit_c.c_source import CSource, EmitOptions
from polysched.emit_c.function import CFunction, emit_function, with_region
from polysched.emit_c.limits import LIMITS
from polysched.errors import UnsupportedScopError
from polysched.scheduling.original import original
from polysched.scop.body import Binary, Call, Cast, Expr, Literal, Load, statement_expressions, walk
from polysched.scop.dtypes import Kind
from polysched.scop.points import fix_parameters, isl_value
from polysched.scop.scop import Array, Scop, Statement, Storage
from polysched.tensorize.equality.normal_form import Normaliser
from polysched.tensorize.matching.facts import Numerics
from polysched.tensorize.matching.mapping import Match
from polysched.tensorize.matching.match import MatchOptions, match
from polysched.tensorize.program import LoopAround, TensorizedProgram, part, tensorize
from polysched.tensorize.software.fragment import Fragment, statement_fragment
from polysched.tensorize.software.zero_points import reduction_loops
from polysched.tiling.tiled_schedule import TiledSchedule

EXPORTED = "#pragma GCC visibility push(default)\n"
MOST_WORK = LIMITS.most_check_work
MOST_BYTES = LIMITS.most_check_bytes
BLOCKS_KEPT = LIMITS.blocks_kept
OUTER_KEPT = (13, 7, 5, 3)   # iterations of a loop around the instruction, the most that MOST_OF_FEWER allows
MOST_OF_FEWER = LIMITS.most_smaller_work
TRIED_SIZES = ((128, 128, 128), (67, 131, 41), (37, 41, 43), (16, 17, 19))   # of code for all sizes
SIGNIFICANT_BITS = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53, "longdouble": 64}
LARGEST_WHOLE = LIMITS.largest_whole
SAMPLED = LIMITS.sampled_iterations
EXACT_CALLS = frozenset({"fmaf", "fma", "fabs", "fabsf", "fmin", "fminf", "fmax", "fmaxf", "abs", "min", "max"})


class Values(Enum):
    """What an array of a check is filled with."""

    ANY = "any"            # all bits, corners of the type more often
    WHOLE = "whole"        # whole numbers of small magnitude, whose sums and products are exact
    POSITIVE = "positive"  # from one to seven: divisors and numbers of places to shift
    INDEX = "index"        # subscripts below `most`


class Equality(Enum):
    """How results compare."""

    BITS = "bit for bit"       # one NaN is as good as another
    NUMBERS = "as numbers"     # additions may change places: of data whose sums are exact; zeros may differ in sign
    ROUNDED = "up to rounding"  # and the statement's other operations round


@dataclass(frozen=True, kw_only=True)
class CheckedArray:
    """One array of a check.

    Parameters
    ----------
    dtype : the element type's name in `scop.dtypes`.
    most : largest magnitude of whole numbers; the bound of subscripts.
    compared : its values are of use behind the statement.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    values: Values
    most: int = 0
    compared: bool = True


@dataclass(frozen=True, kw_only=True)
class ReplacementCheck:
    """The original of a replaced statement and the code that stands for it, ready to be compiled and run.

    Parameters
    ----------
    statement, instruction : names, for messages.
    entry : of the functions: `original_ENTRY` and `replaced_ENTRY`, both of `parameters` and pointers to `arrays`; the
        second sets `skipped_ENTRY` where it leaves these sizes to ordinary code.
    sizes : iterations of every loop, in words.
    original_text, replaced_text : whole translation units.
    flags : what compiles or links the instruction or library.
    sampled : the original leaves most of the result as it was; these elements do not compare.
    """

    statement: str
    instruction: str
    entry: str
    sizes: str
    original_text: str
    replaced_text: str
    arrays: tuple[CheckedArray, ...]
    parameters: tuple[int, ...]
    equality: Equality
    flags: tuple[str, ...] = ()
    sampled: bool = False


def replacement_check(program: TensorizedProgram, *, entry: str, parallel: bool, emulated: bool,
                      sizes: Mapping[str, int] | None = None, sampled: bool = False,
                      constant: Collection[str] = ()) -> ReplacementCheck:
    """The check of a program's statement, with those that its nest stands for, too (a cleared result, a factor).

    Parameters
    ----------
    entry : a name that no other check in the same process has.
    sizes : of the parameters, for code of all sizes; those that the match was found at where None.
    sampled : the original computes some elements of the result only, for programs that take long.
    constant : arrays that `prepare_ENTRY` packs.

    Raises
    ------
    UnsupportedScopError : the statement alone is no function of arrays (unknown extents, too much memory).
    """
    values = program.match.fragment.sizes if sizes is None else sizes
    scop = with_plain_arrays(program.match.fragment.scop, values)
    found, fragment = program.match, program.match.fragment
    alone = part(scop, _replaced(program))
    assert alone is not None
    plain = replace(fragment, scop=scop)
    stripped = replace(program, match=replace(found, fragment=plain), before=None, after=None, outside=(), around=tuple(
        LoopAround(loop=loop, before=None, after=None) for loop in program.loops), least_work=0.0)
    alone_c = as_written_function(_sampled(alone, found) if sampled else alone, f"original_{entry}")
    left_out = replace(alone_c.source, text=f"skipped_{entry} = 1;\n")
    region = with_instruction(left_out, stripped, (), name=f"instruction_{entry}", parallel=parallel,
                              emulated=emulated, constant=constant)
    renamed = replace(alone_c, signature=replace(alone_c.signature, name=f"replaced_{entry}"))
    at_sizes = plain if sizes is None else statement_fragment(scop, fragment.statement, values)
    assert at_sizes is not None
    ran = replace(found, fragment=at_sizes)
    return ReplacementCheck(
        statement=fragment.statement.name, instruction=found.intrinsic.name, entry=entry, sizes=_sizes(at_sizes),
        original_text=EXPORTED + alone_c.text,
        replaced_text=f"{EXPORTED}int skipped_{entry};\n{with_region(renamed, region).text}"
                      f"{with_timing(renamed, region)}",
        arrays=tuple(_checked(a, ran, alone) for a in alone.arrays),
        parameters=tuple(values[p.name] for p in alone.parameters), equality=_equality(ran, alone),
        flags=found.intrinsic.isa.flags if found.intrinsic.library else (), sampled=sampled)


def with_timing(replaced: CFunction, region: CSource) -> str:
    """`prepare_ENTRY`, which packs constant arrays, and `timed_ENTRY`: seconds per call, of two behind another."""
    entry = replaced.signature.name.removeprefix("replaced_")
    declared = ", ".join(p.c_declaration for p in replaced.signature.parameters) or "void"
    call = f"{replaced.signature.name}({', '.join(p.name for p in replaced.signature.parameters)});"
    ready = " ".join(dict.fromkeys(line for at, line in region.prologue if at < 0))
    return f"""#include <time.h>
void prepare_{entry}({declared}) {{ {ready} }}
double timed_{entry}({declared}) {{
    struct timespec start, end;
    {call}
    clock_gettime(CLOCK_MONOTONIC, &start);
    {call} {call}
    clock_gettime(CLOCK_MONOTONIC, &end);
    return ((end.tv_sec - start.tv_sec) + 1e-9 * (end.tv_nsec - start.tv_nsec)) / 2;
}}
"""


def sizes_to_try(program: TensorizedProgram, *, most_work: int) -> list[dict[str, int]]:
    """Values of the parameters that code of all sizes is run with: some whole executions, and remainders."""
    general, fragment = program.general, program.match.fragment
    if general is None:
        return []
    found = []
    for values in TRIED_SIZES:
        sizes = dict(fragment.sizes) | {n: values[i % len(values)] for i, n in enumerate(general.unknown)}
        if fix_parameters(fragment.scop.context, sizes).is_empty():
            continue
        there = statement_fragment(fragment.scop, fragment.statement, sizes)
        if there is not None and there.work <= most_work:
            found.append(sizes)
    return found


def smaller_program(program: TensorizedProgram, numerics: Numerics, *,
                    most_work: int | None = None) -> TensorizedProgram | None:
    """The same match in fewer iterations of the same arrays, which leave remainders; None where there is none.

    Parameters
    ----------
    most_work : keep as many iterations as that, and whole executions; None for a few executions and a remainder.
    """
    found, scop = program.match, program.match.fragment.scop
    extents = _fewer(found) if most_work is None else _as_many(found, most_work)
    alone = part(scop, _replaced(program))
    assert alone is not None
    fewer = _restricted(alone, found, _cut(found, extents))
    wanted = MatchOptions(numerics=numerics, partial_sums=found.adds_at_the_end and not found.overlapping)
    again = match(fewer, found.intrinsic, wanted, sizes=found.fragment.sizes, kept=len(found.fragment.kept))
    same = [m for m in again.with_mirrors if m.signature == found.signature and m.fragment.kept == found.fragment.kept]
    if not same:
        return None
    made = tensorize(same[0])
    alike = made.zero == program.zero and (made.scale is None) == (program.scale is None)
    return replace(made, choice=program.choice) if alike else None


def work_of(program: TensorizedProgram) -> int:
    """Iterations of the replaced statement."""
    return program.match.fragment.work * program.match.fragment.times


def _replaced(program: TensorizedProgram) -> list[str]:
    """The statements that the nest or the calls stand for."""
    left = {s.name for p, _ in program.parts for s in p.statements}
    return [s.name for s in program.match.fragment.scop.statements if s.name not in left]


def _fewer(found: Match) -> dict[str, int]:
    """Iterations per loop: some executions of the instruction and a remainder."""
    kept: dict[str, int] = {}
    fragment = found.fragment
    extents = {loop.name: loop.extent for loop in fragment.loops}
    extents |= dict(zip(fragment.kept, fragment.kept_extents, strict=True))
    for group, members in enumerate(found.loops):
        inner = found.groups[group].extent or LARGEST_WHOLE
        for position, name in enumerate(reversed(members)):
            wanted = int(BLOCKS_KEPT * inner) + 1 if position == 0 else OUTER_KEPT[-1]
            kept[name] = wanted if wanted < extents[name] else max(1, extents[name] - 1)
    around = [name for name in extents if name not in kept]
    tried = [kept | {name: min(most, extents[name]) for name in around} for most in OUTER_KEPT]
    return next((t for t in tried if math.prod(t.values()) <= MOST_OF_FEWER), tried[-1])


def _as_many(found: Match, most_work: int) -> dict[str, int]:
    """Iterations per loop: the longest halved, in whole executions, until there is no more work than that."""
    fragment = found.fragment
    kept = {loop.name: loop.extent for loop in fragment.loops}
    kept |= dict(zip(fragment.kept, fragment.kept_extents, strict=True))
    inner = {name: found.groups[g].extent or 1 for g, members in enumerate(found.loops) for name in members[-1:]}
    while math.prod(kept.values()) > most_work:
        longest = max(kept, key=lambda n: kept[n])
        step = inner.get(longest, 1)
        half = -(-kept[longest] // 2)
        kept[longest] = min(kept[longest] - 1, -(-half // step) * step)
    return kept


def _cut(found: Match, extents: Mapping[str, int]) -> isl.Set:
    """The domain with so many iterations of each loop."""
    own = found.fragment.statement
    domain = fix_parameters(own.domain, found.fragment.sizes)
    for position, name in enumerate(own.iterators):
        first = int(domain.dim_min_val(position).get_num_si())
        last = first + extents[name] - 1
        domain = domain.upper_bound_val(isl.dim_type.set, position, isl_value(last))
    return domain


def can_be_sampled(program: TensorizedProgram) -> bool:
    """Whether elements of the result do not depend on each other, and sizes are known."""
    fragment = program.match.fragment
    result = fragment.statement.access(fragment.target)
    others = [a for a in fragment.statement.reads if a.array == result.array]
    return program.general is None and not fragment.others and all(a.relation.is_equal(result.relation) for a in others)


def _sampled(alone: Scop, found: Match) -> Scop:
    """The statements with all iterations that compute some elements: at both ends of the result, and in the middle."""
    fragment, own = found.fragment, found.fragment.statement
    domain = fix_parameters(own.domain, fragment.sizes)
    written = fragment.loops_of(fragment.result) | {*fragment.kept}
    boxes = isl.Set.empty(domain.get_space())
    for share in (0, 1, 2):
        box = domain
        for position, name in enumerate(own.iterators):
            if name not in written:
                continue
            least, most = (int(v.get_num_si()) for v in (domain.dim_min_val(position), domain.dim_max_val(position)))
            first = least + share * max(0, most - least + 1 - SAMPLED) // 2
            box = box.lower_bound_val(isl.dim_type.set, position, isl_value(first))
            box = box.upper_bound_val(isl.dim_type.set, position, isl_value(first + SAMPLED - 1))
        boxes = boxes.union(box)
    relation = fix_parameters(own.access(fragment.target).relation, fragment.sizes).intersect_domain(domain)
    elements = relation.intersect_domain(boxes).range()
    return _restricted(alone, found, relation.intersect_range(elements).domain())


def _restricted(alone: Scop, found: Match, domain: isl.Set) -> Scop:
    """The statements with fewer iterations, those ahead of the matched one only for the elements that it writes."""
    own = found.fragment.statement
    result = own.access(found.fragment.target)
    elements = fix_parameters(result.relation, found.fragment.sizes).intersect_domain(domain).range()

    def fewer(statement: Statement) -> Statement:
        if statement.name == own.name:
            return replace(statement, domain=statement.domain.intersect(_params_like(domain, statement.domain)))
        writes = [a for a in statement.writes if a.array == result.array]
        mine = fix_parameters(writes[0].relation, found.fragment.sizes).intersect_range(elements).domain()
        return replace(statement, domain=statement.domain.intersect(_params_like(mine, statement.domain)))

    statements = tuple(map(fewer, alone.statements))
    kept = statements[0].domain.get_ctx()
    domains = isl.UnionSet.empty(isl.Space.params_alloc(kept, 0))
    for statement in statements:
        domains = domains.union(isl.UnionSet.from_set(statement.domain))
    return replace(alone, statements=statements, schedule=alone.schedule.intersect_domain(domains))


def _params_like(fixed: isl.Set, like: isl.Set) -> isl.Set:
    return fixed.align_params(like.get_space())


def as_written_function(alone: Scop, name: str) -> CFunction:
    """The statements as a C function, in the order of the program, without threads or vectors."""
    schedule = original(analyse(alone))
    return emit_function(TiledSchedule(schedule=schedule, tree=schedule.tree), name=name, options=EmitOptions(
        openmp=False, simd=False, vector_bits=0, math="libm", packing=False, comments=False))


def with_plain_arrays(scop: Scop, sizes: Mapping[str, int]) -> Scop:
    """The program with arrays of known extents that are handed in as pointers, whatever they are in its source."""
    arrays = tuple(_plain(a, scop, sizes) for a in scop.arrays)
    total = sum(math.prod(map(int, filter(None, a.c_extents))) * a.dtype.bytes for a in arrays)
    if total > MOST_BYTES:
        raise UnsupportedScopError("the arrays are too large to run the replaced statement on", where=scop.name,
                                   witness=f"{total >> 20} MiB, the limit is {MOST_BYTES >> 20}")
    parameters = tuple(replace(p, c_name="", definition="") for p in scop.parameters)
    return replace(scop, arrays=arrays, parameters=parameters)


def _plain(array: Array, scop: Scop, sizes: Mapping[str, int]) -> Array:
    """An argument of the same elements: `grid->A[{}][{}]` becomes `A[{}][{}]` with extents in numbers."""
    written = any(a.array == array.name for s in scop.statements for a in s.writes)
    common = {"storage": Storage.ARGUMENT, "constant": not written, "restrict": True, "dead_after": False}
    if array.is_scalar:
        return replace(array, c_element=f"(*{array.name})", c_extents=(), **common)   # type: ignore[arg-type]
    extents = shape_of(array, scop, sizes)
    subscripts = array.c_element.count("{}") or len(extents)
    if subscripts not in (1, len(extents)):
        raise UnsupportedScopError(f"{array.name} has {len(extents)} dimensions and {subscripts} subscripts",
                                   where=scop.name)
    if subscripts == 1:
        extents = (math.prod(extents), *(1 for _ in extents[1:]))
    shown = f"{array.name}{'[{}]' * subscripts}"
    return replace(array, c_element=shown, c_extents=tuple(map(str, extents[:subscripts])), **common)   # type: ignore[arg-type]


def shape_of(array: Array, scop: Scop, sizes: Mapping[str, int]) -> tuple[int, ...]:
    """The extents at these sizes; what the declaration does not say is as long as the subscripts reach."""
    found = []
    for position, extent in enumerate(array.extents):
        if extent is not None:
            found.append(int(fix_parameters(isl.Set.from_pw_aff(extent), sizes).dim_max_val(0).get_num_si()))
            continue
        reached = [fix_parameters(a.relation.intersect_domain(s.domain), sizes).range()
                   for s in scop.statements for a in s.accesses if a.array == array.name]
        ends = [int(r.dim_max_val(position).get_num_si()) for r in reached if not r.is_empty()]
        found.append(1 + max(ends, default=0))
    return tuple(found)


def _sizes(fragment: Fragment) -> str:
    extents = {loop.name: loop.extent for loop in fragment.loops}
    extents |= dict(zip(fragment.kept, fragment.kept_extents, strict=True))
    return " x ".join(f"{name} {extent}" for name, extent in extents.items())


def expressions_of(alone: Scop) -> list[tuple[Statement, Expr]]:
    return [(s, e) for s in alone.statements for top in statement_expressions(s.body) for e in walk(top)]


def _checked(array: Array, found: Match, alone: Scop) -> CheckedArray:
    """An array with the values that suit the statement."""
    shape = tuple(map(int, filter(None, array.c_extents)))
    made = CheckedArray(name=array.name, dtype=array.dtype.name, shape=shape, values=Values.ANY,
                        compared=array.name not in _locals_of(found.fragment))
    below = subscripted_below(array, alone)
    if below is not None:
        return replace(made, values=Values.INDEX, most=below)
    if limits_values(array, alone):
        return replace(made, values=Values.POSITIVE)
    rounds = found.fragment.update.dtype.is_float and _equality(found, alone) is not Equality.BITS
    if rounds or (array.dtype.is_float and any(cuts(e) for _, e in expressions_of(alone))):
        return replace(made, values=Values.WHOLE, most=_magnitude(found))
    return made


def _locals_of(fragment: Fragment) -> set[str]:
    """What several assignments that stay together write beside their results: temporaries that only they use."""
    statement = fragment.statement
    shown = {statement.access(r.target).array for r in fragment.results}
    return {a.array for a in statement.writes} - shown


def subscripted_below(array: Array, alone: Scop) -> int | None:
    """The bound of an array's elements where they are subscripts."""
    bounds = []
    for statement in alone.statements:
        for access in statement.accesses:
            extents = [int(e) for e in alone.array(access.array).c_extents if e is not None]
            for position, subscript in enumerate(access.subscripts):
                loads = [statement.access(e.reference).array for e in walk(subscript) if isinstance(e, Load)]
                if array.name in loads and not _stays_below(subscript, extents[position]):
                    bounds.append(extents[position])
    return min(bounds, default=None)


def _stays_below(subscript: Expr, extent: int) -> bool:
    """Whether a subscript is one of an array whatever the elements are that it is computed from (`I[i] & 15`)."""
    form = Normaliser({}).form(subscript)
    return form.low is not None and form.high is not None and form.low >= 0 and form.high < extent


def limits_values(array: Array, alone: Scop) -> bool:
    """Whether elements divide, or say how far to shift."""
    for statement, e in expressions_of(alone):
        if isinstance(e, Binary) and e.op in ("/", "%", "<<", ">>"):
            loads = [x for x in walk(e.right) if isinstance(x, Load)]
            if not e.dtype.is_float and array.name in {statement.access(x.reference).array for x in loads}:
                return True
    return False


def cuts(e: Expr) -> bool:
    """A conversion of a float to an integer, which C leaves open for large ones."""
    return isinstance(e, Cast) and e.dtype.is_integer and e.operand.dtype.is_float


def _magnitude(found: Match) -> int:
    """The largest whole number whose products, as many as are added up, have an exact sum in the result's type."""
    dtype = found.fragment.update.dtype
    bits = SIGNIFICANT_BITS.get(dtype.name, dtype.bits - (dtype.kind is Kind.SIGNED))
    length = math.prod(found.fragment.loop(n).extent for n in reduction_loops(found.fragment)) * 2
    fitting = [m for m in (1, 2, 4, LARGEST_WHOLE) if m * m * length < 1 << bits]
    return max(fitting, default=1)


def _equality(found: Match, alone: Scop) -> Equality:
    """What the match promises."""
    if not found.fragment.update.dtype.is_float or not found.assumptions:
        return Equality.BITS
    return Equality.ROUNDED if any(rounds(e) for _, e in expressions_of(alone)) else Equality.NUMBERS


def rounds(e: Expr) -> bool:
    """An operation that rounds whole numbers: a quotient, a fraction, a function."""
    match e:
        case Binary():
            return e.op == "/" and e.dtype.is_float
        case Literal():
            return e.dtype.is_float and not float(e.value).is_integer()
        case Call():
            return e.function not in EXACT_CALLS
        case _:
            return False
