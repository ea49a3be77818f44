"""Which loops of a program run through tiles of a unit, and the iterations behind the last whole tile.

    for i < n: S   ->   for i < 16 * (n / 16): S;  for the others: S_rest        index-set splitting, n known or not

What fills no whole tile becomes statements of their own, which ordinary code computes.  Where n is not known, n / 16 is
one more parameter of the Scop.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field, replace

import islpy as isl

from polysched.dependence.dependences import DependenceKind, Dependences
from polysched.records import dataclass
from polysched.scop.dtypes import INT64
from polysched.scop.points import with_sizes
from polysched.scop.scop import Parameter, Scop, Statement
from polysched.tensorize.description.library_function import Variant
from polysched.tensorize.functions.described import described
from polysched.tensorize.functions.recurrences import Around
from polysched.tensorize.matching.splitting import without_last
from polysched.tensorize.software.polynomials import Polynomial, add, affine_text, of_affine, polynomial_c
from polysched.tensorize.software.renaming import fresh_name

TILES = "polysched_tiles"   # the parameters that count whole tiles


@dataclass(frozen=True, kw_only=True)
class Tiling:
    """The loops around a unit.

    Parameters
    ----------
    around : of the program's deepest statement.
    lengths : iterations of the loops that run through tiles, by the number of the tile in `around`, where these are not
        known to be whole tiles.
    """

    around: Around
    lengths: Mapping[int, Polynomial] = field(default_factory=dict)


def tilings(dependences: Dependences, ours: Statement, variant: Variant, deepest_of_unit: str,
            sizes: Mapping[str, int]) -> Iterator[Tiling | str]:
    """Which loops of the program's deepest statement run through a tile, or why they cannot."""
    theirs = described(variant).equations[deepest_of_unit]
    extents = extents_of(theirs.domain)
    kept = _kept([s.relation for many in theirs.sources.values() for s in many if s.statement == theirs.name],
                 len(extents))
    own = _kept([p.relation for p in dependences.pairs if p.kind is DependenceKind.FLOW
                 and p.source == p.sink == ours.name], ours.depth)
    domain = ours.domain.intersect_params(dependences.scop.context)
    lengths = _lengths(domain, sizes)
    too_short: list[str] = []
    for order in _orders(len(lengths), len(extents), kept, own):
        loops = [_Loop(at, ours.iterators[at], _of_sum(domain, at, wanted, sizes, number in kept) or lengths[at],
                       wanted, number in kept)
                 for number, (at, wanted) in enumerate(zip(order, extents, strict=True))]
        why = next(filter(None, (loop.refusal(variant.name) for loop in loops)), "")
        if why:
            yield why
            continue
        short = next((loop for loop in loops if loop.too_short), None)
        if short is None:
            yield _tiling(loops, len(lengths))
        else:
            too_short.append(f"loop {short.name} has {short.number} iteration{'s' * (short.number != 1)} and "
                             f"{variant.name} takes {short.wanted} at once")
    yield from dict.fromkeys(too_short)


def _orders(depth: int, wanted: int, kept: Collection[int], own: Collection[int]) -> Iterator[tuple[int, ...]]:
    """Which loops of the program may be the unit's: sums for sums; the innermost ones first."""
    orders = itertools.permutations(range(depth), wanted)
    for order in sorted(orders, key=lambda order: [-at for at in order]):
        if all((number in kept) == (at in own) for number, at in enumerate(order)):
            yield order


def _tiling(loops: Sequence[_Loop], depth: int) -> Tiling:
    """The loops that are longer than the unit's run through tiles; all others but the unit's stand around them."""
    tiles = [loop for loop in loops if loop.number is None or loop.number > loop.wanted]
    chosen = {loop.at for loop in loops}
    return Tiling(around=Around(tuple(at for at in range(depth) if at not in chosen),
                                tuple((loop.at, loop.wanted) for loop in tiles)),
                  lengths={t: loop.length for t, loop in enumerate(tiles) if loop.length is not None and loop.ragged})


@dataclass(frozen=True)
class _Loop:
    """A loop of the program for one of the unit.

    Parameters
    ----------
    length : iterations; None where they are no affine function.
    wanted : iterations of the unit's.
    kept : no value is passed from one iteration to another.
    """

    at: int
    name: str
    length: Polynomial | None
    wanted: int
    kept: bool

    @property
    def number(self) -> int | None:
        """The length where it is a number."""
        return None if self.length is None or any(self.length.keys() - {()}) else self.length.get((), 0)

    @property
    def too_short(self) -> bool:
        return self.number is not None and self.number < self.wanted

    @property
    def ragged(self) -> bool:
        """Whether it may end within a tile."""
        return self.number is None or self.number % self.wanted != 0

    def refusal(self, unit: str) -> str:
        """Why the loop cannot be the unit's; "" where it can, or is too short."""
        if self.length is None:
            return f"how many iterations loop {self.name} has is no affine function of the sizes"
        if self.kept or self.number == self.wanted or self.too_short:
            return ""
        terms = f"{self.number} terms" if self.number is not None else "a number of terms that is not known"
        return (f"the sum over {self.name} has {terms} and {unit} adds {self.wanted}: what ends the sum cannot be "
                "applied to parts of it")


def _lengths(domain: isl.Set, sizes: Mapping[str, int]) -> list[Polynomial | None]:
    """Iterations per loop up to its greatest value, over the parameters that have none."""
    domain = with_sizes(domain, sizes).coalesce()
    values = [of_affine(domain.dim_max(at)) for at in range(domain.dim(isl.dim_type.set))]
    return [None if v is None else add(v, {(): 1}) for v in values]


def _of_sum(domain: isl.Set, at: int, wanted: int, sizes: Mapping[str, int], kept: bool) -> Polynomial | None:
    """The length of a loop that adds as many terms as are wanted; None for others, and where none are added."""
    return {(): wanted} if not kept and _terms(domain, at, sizes) == wanted else None


def _terms(domain: isl.Set, at: int, sizes: Mapping[str, int]) -> int | None:
    """Iterations of a loop inside one iteration of all others, at most; None where that is no number.

    A sum over `k0 <= k < k0 + 4` has four terms, wherever it starts.
    """
    domain = with_sizes(domain, sizes)
    pairs = isl.Map.from_domain_and_range(domain, domain)
    for other in range(domain.dim(isl.dim_type.set)):
        if other != at:
            pairs = pairs.equate(isl.dim_type.in_, other, isl.dim_type.out, other)
    most = None if pairs.is_empty() else pairs.deltas().dim_max_val(at)
    return int(most.to_python()) + 1 if most is not None and most.is_int() else None


def _kept(flows: list[isl.Map], depth: int) -> set[int]:
    """The loops that values of a statement stay inside of on their way to itself; the others add up."""
    return {at for at in range(depth) if all(
        f.is_subset(f.equate(isl.dim_type.in_, at, isl.dim_type.out, at)) for f in flows)}


def extents_of(domain: isl.Set) -> list[int]:
    """Iterations per loop of a domain without free parameters that starts at zero; at least to its greatest value."""
    return [int(domain.dim_max_val(at).to_python()) + 1 if not domain.is_empty() else 0
            for at in range(domain.dim(isl.dim_type.set))]


@dataclass(frozen=True, eq=False)
class WholeTiles:
    """A program whose statements keep the iterations in whole tiles.

    Parameters
    ----------
    assumed : the sizes of the program for which its text counts the tiles, if not for all: C rounds towards zero.
    """

    dependences: Dependences
    assumed: isl.Set | None


def with_whole_tiles(dependences: Dependences, names: Collection[str], outer: Mapping[str, Around],
                     tiling: Tiling) -> WholeTiles | str:
    """The program whose statements keep the iterations in whole tiles; why it cannot be said in C otherwise.

    Parameters
    ----------
    names : the statements that become the unit.
    outer : per statement the loops around.
    """
    assumed: isl.Set | None = None
    for number, length in tiling.lengths.items():
        size = tiling.around.tiles[number][1]
        made = _with_count(dependences.scop, length, size)
        if isinstance(made, str):
            return made
        scop, end, wanted = made
        if wanted is not None:
            assumed = wanted if assumed is None else assumed.intersect(wanted)
        dependences = replace(dependences, scop=scop)
        for name in names:
            loop = scop.statement(name).iterators[outer[name].tiles[number][0]]
            cut, _ = without_last(dependences.scop, name, loop, end=end)
            dependences = cut.renamed(dependences)
    return WholeTiles(dependences, assumed)


def _with_count(scop: Scop, length: Polynomial, size: int) -> tuple[Scop, int | str, isl.Set | None] | str:
    """The Scop in which the end of the last whole tile has a name, that end, and the sizes that have such an end."""
    if not any(length.keys() - {()}):
        return scop, length.get((), 0) // size * size, None
    if unnamed := [p for p in scop.parameters if p.spelling != p.name and (p.name,) in length]:
        return f"the number of whole tiles would need the value of {unnamed[0].spelling}"
    wish = f"{TILES}_{'_'.join(n for m in length for n in m)}_{size}"
    name = fresh_name(wish, {p.name for p in scop.parameters} | {a.name for a in scop.arrays})
    text = affine_text(length)
    parameters = ", ".join([*(p.name for p in scop.parameters), name])
    counted = isl.Set.read_from_str(isl.DEFAULT_CONTEXT, f"[{parameters}] -> {{ : {text} >= 0 and {size} * {name} <= "
                                                         f"{text} < {size} * {name} + {size} }}")
    wanted = isl.Set.read_from_str(
        isl.DEFAULT_CONTEXT, f"[{', '.join(p.name for p in scop.parameters)}] -> {{ : {text} >= 0 }}")
    assumed = None if scop.context.is_subset(wanted) else wanted
    parameter = Parameter(name=name, dtype=INT64, c_name=f"(({polynomial_c(length, {})}) / {size})")
    return replace(scop, parameters=(*scop.parameters, parameter),
                   context=scop.context.intersect(counted)), f"{size} * {name}", assumed


def with_counts(scop: Scop, sizes: Mapping[str, int]) -> dict[str, int] | None:
    """Sizes of a program together with the numbers of whole tiles, which follow from them.

    None where the program does not allow these sizes, or where a number does not follow.
    """
    context = with_sizes(scop.context, sizes)
    found = dict(sizes)
    for parameter in scop.parameters:
        if parameter.name not in found and parameter.name.startswith(TILES):
            at = context.find_dim_by_name(isl.dim_type.param, parameter.name)
            counts = context.move_dims(isl.dim_type.set, 0, isl.dim_type.param, at, 1)
            counts = counts.project_out(isl.dim_type.param, 0, counts.dim(isl.dim_type.param))
            if counts.is_empty() or not counts.is_singleton():
                return None
            found[parameter.name] = int(counts.dim_max_val(0).to_python())
    return found
