"""Questions about accesses and dependences: which instances touch which elements, and in which order they must run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import islpy as isl

from polysched.dependence.dependences import DependenceKind, Dependences
from polysched.errors import UsageError
from polysched.measure.programs.point_count import count_points
from polysched.notebook.tutorial.answers import Verdict, as_text, as_words, right, sizes_text, wrong
from polysched.notebook.tutorial.sets import first_point, require_parameters
from polysched.records import dataclass
from polysched.scop.points import fix_parameters, points_of
from polysched.scop.scop import Access, Scop

ORDERING = (DependenceKind.FLOW, DependenceKind.ANTI, DependenceKind.OUTPUT)
MOST_DISTANCES = 100
IN_WORDS = {DependenceKind.FLOW: "writes an element that the second reads",
            DependenceKind.ANTI: "reads an element that the second overwrites",
            DependenceKind.OUTPUT: "writes an element that the second writes again"}


@dataclass(frozen=True, eq=False, kw_only=True)
class AccessIs:
    """Which element does each instance touch through one reference?  The answer is a relation in isl's notation."""

    scop: Scop
    access: Access

    @property
    def expects(self) -> str:
        """A relation."""
        return f"a relation in isl's notation, {_example(self.access.relation)}"

    def judge(self, answer: object) -> Verdict:
        """By isl, on the instances of the statement."""
        found = self.access.relation.intersect_params(self.scop.context)
        given = read_relation(answer, _example(found), self.scop).intersect_domain(
            isl.UnionSet.from_set(found.domain()))
        return _compared(isl.UnionMap.from_map(found), given, "touches this element, which your relation has not",
                         "is in your relation, and the reference does not touch it", self.scop.domain)


@dataclass(frozen=True, eq=False, kw_only=True)
class RelationIs:
    """Which pairs of instances have a dependence of one kind?  The answer is a relation in isl's notation."""

    dependences: Dependences
    kind: str = "flow"

    expects = 'a relation in isl\'s notation, "[n] -> { S0[i, j] -> S0[i, j + 2] : ... }"'

    def judge(self, answer: object) -> Verdict:
        """By isl, against the exact analysis."""
        scop = self.dependences.scop
        found = self.dependences.of_kind(DependenceKind(self.kind)).intersect_params(scop.context)
        given = read_relation(answer, self.expects, scop).intersect_params(scop.context)
        return _compared(found, given, f"is a {self.kind} dependence, which your relation has not",
                         f"is in your relation, and no {self.kind} dependence",
                         scop.domain.intersect_params(scop.context))


@dataclass(frozen=True, eq=False, kw_only=True)
class KindsOf:
    """Of which kinds are the dependences of a program?  The answer is a set of the words flow, anti, output."""

    dependences: Dependences

    expects = "a set of some of the words 'flow', 'anti' and 'output'"

    def judge(self, answer: object) -> Verdict:
        """By the exact analysis."""
        given, told = as_words(answer, [kind.value for kind in ORDERING]), []
        for kind in ORDERING:
            relation = self.dependences.of_kind(kind).intersect_params(self.dependences.scop.context)
            there = not relation.is_empty()
            if there and kind.value not in given:
                return wrong(f"there is more than {', '.join(sorted(given)) or 'nothing'}",
                             f"look at {_first_pair(relation)}: the first {IN_WORDS[kind]}")
            if not there and kind.value in given:
                return wrong(f"there is no {kind.value} dependence", f"no instance {IN_WORDS[kind]}")
            told += [f"{kind.value} {_first_pair(relation)}"] if there else []
        return right("; ".join(told) or "no two instances touch one element")


@dataclass(frozen=True, eq=False, kw_only=True)
class PairOf:
    """Which two instances must keep their order?  The answer is one pair, as text; see `read_pair`.

    Parameters
    ----------
    kinds : of the dependence between the two.
    sizes : a value of every parameter.
    """

    dependences: Dependences
    sizes: Mapping[str, int]
    kinds: tuple[str, ...] = ("flow",)

    expects = 'one pair of instances, "S0[1, 2] -> S0[3, 4]"'

    def judge(self, answer: object) -> Verdict:
        """By looking it up in the exact relation."""
        scop = self.dependences.scop
        pair = read_pair(answer, scop, self.sizes)
        told = touched(scop, pair, self.sizes)
        wanted = self.dependences.of_kind(*map(DependenceKind, self.kinds))
        kinds = " or ".join(self.kinds)
        if pair.is_subset(at_sizes(wanted, self.sizes)):
            return right(told)
        back = pair.reverse().is_subset(at_sizes(wanted, self.sizes))
        return wrong(f"there is no {kinds} dependence from the first to the second",
                     f"{told}{'; turn the pair around' if back else ''}")


@dataclass(frozen=True, eq=False, kw_only=True)
class DistancesOf:
    """How far apart are the two instances of a dependence, loop by loop?  The answer is a set of tuples."""

    dependences: Dependences
    kinds: tuple[str, ...] = ("flow",)

    expects = "a set of tuples with a number per loop, {(0, 2), (3, -4)}"

    def judge(self, answer: object) -> Verdict:
        """By isl: the second instance minus the first, of every pair."""
        relation = self.dependences.of_kind(*map(DependenceKind, self.kinds)).intersect_params(
            self.dependences.scop.context)
        found: dict[tuple[int, ...], isl.Map] = {}
        for part in _maps(relation):
            found |= dict.fromkeys(_distances(part), part)
        given = _tuples(answer, len(self.dependences.scop.statements[0].iterators))
        if missing := sorted(set(found) - given):
            return wrong(f"{len(missing)} distance{'s are' if len(missing) > 1 else ' is'} missing",
                         f"subtract the two instances of {_first_pair_at(found[missing[0]], missing[0])}")
        if extra := sorted(given - set(found)):
            return wrong(f"no pair of instances is {extra[0]} apart", "a distance is the second instance, which must "
                         "run later, minus the first")
        return right(f"every pair is one of {', '.join(map(str, sorted(found)))} apart" if found
                     else "there is no such pair")


@dataclass(frozen=True, eq=False, kw_only=True)
class LoopsThat:
    """Which loops carry a dependence, or else may run in parallel?  The answer is a set of names of loops.

    Parameters
    ----------
    carry : whether those are asked for that carry one; otherwise those that carry none.
    """

    dependences: Dependences
    carry: bool = True

    expects = "a set of names of loops, {'j'}; none is set()"

    def judge(self, answer: object) -> Verdict:
        """By the exact analysis, loop by loop."""
        loops = tuple(dict.fromkeys(i for s in self.dependences.scop.statements for i in s.iterators))
        given, told = as_words(answer, loops), []
        for loop in loops:
            carried = [pair for pair in self.dependences.carried_by(loop) if pair.kind in ORDERING]
            if (loop in given) != (bool(carried) == self.carry):
                if not carried:
                    return wrong(f"loop {loop} carries nothing", f"look for two instances with different {loop}, and "
                                 "equal iterators of all loops around it, that touch one element: there are none")
                pair = first_pair(carried[0].relation)
                return wrong(f"loop {loop} carries a dependence", f"{pair} on {carried[0].array}")
            told.append(f"{loop} {'carries ' + carried[0].kind.value if carried else 'carries nothing'}")
        return right("; ".join(told))


def read_relation(answer: object, example: str, scop: Scop) -> isl.UnionMap:
    """A relation that somebody typed.

    Raises
    ------
    UsageError : it is none, or has a parameter that the program does not have.
    """
    text = str(answer) if isinstance(answer, isl.Map | isl.UnionMap) else as_text(answer, example)
    try:
        given = isl.UnionMap.read_from_str(isl.DEFAULT_CONTEXT, text)
    except isl.Error:
        raise UsageError("isl cannot read this as a relation", witness=text[:80], hint=f"write {example}") from None
    require_parameters(given, scop)
    return given


def read_pair(answer: object, scop: Scop, sizes: Mapping[str, int]) -> isl.UnionMap:
    """Two instances that somebody typed, `S0[1, 2] -> S0[3, 4]`; both are in the program.

    Raises
    ------
    UsageError : it is no pair, or one of the two does not run at these sizes.
    """
    example = '"S0[1, 2] -> S0[3, 4]"'
    text = as_text(answer, example).strip()
    relation = read_relation(text if text.startswith("{") else f"{{ {text} }}", example, scop)
    maps = list(_maps(relation))
    if len(maps) != 1 or not (maps[0].domain().is_singleton() and maps[0].range().is_singleton()):
        raise UsageError("the answer should be one pair of instances", witness=text[:80], hint=f"write {example}")
    for end in (relation.domain(), relation.range()):
        if not end.is_subset(_fixed_set(scop.domain, sizes)):
            instance = str(end.get_set_list().get_at(0)).strip("{ }")
            raise UsageError(f"{instance} does not run{sizes_text(sizes.items())}")
    return relation


def touched(scop: Scop, pair: isl.UnionMap, sizes: Mapping[str, int]) -> str:
    """What the two instances of a pair touch, in words."""
    return "; ".join(_touches(scop, end.get_set_list().get_at(0), sizes) for end in (pair.domain(), pair.range()))


def at_sizes(relation: isl.UnionMap, sizes: Mapping[str, int]) -> isl.UnionMap:
    """A relation at given sizes, without parameters."""
    fixed = isl.UnionMap.empty(isl.Space.params_alloc(isl.DEFAULT_CONTEXT, 0))
    for part in _maps(relation):
        fixed = fixed.union(isl.UnionMap.from_map(fix_parameters(part, sizes)))
    return fixed


def _fixed_set(domain: isl.UnionSet, sizes: Mapping[str, int]) -> isl.UnionSet:
    return at_sizes(domain.identity(), sizes).domain()


def _touches(scop: Scop, at: isl.Set, sizes: Mapping[str, int]) -> str:
    """For instance `S0[1] reads a[0], writes a[1]`."""
    name = str(at.get_tuple_name())
    told = []
    for access in scop.statement(name).accesses:
        image = fix_parameters(access.relation, sizes).intersect_domain(at).range()
        elements = ", ".join(_brackets(access.array, point) for point in sorted(points_of(image)))
        told.append(f"{'writes' if access.is_write else 'reads'} {elements}")
    return f"{_brackets(name, points_of(at)[0])} {', '.join(told)}"


def _brackets(name: str, at: tuple[int, ...]) -> str:
    return f"{name}[{', '.join(map(str, at))}]" if at else name


def _maps(relation: isl.UnionMap) -> Iterator[isl.Map]:
    maps = relation.get_map_list()
    for at in range(maps.n_map()):
        yield maps.get_at(at)


def _first_pair(relation: isl.UnionMap) -> str:
    """One pair of a relation that is not empty, at small sizes."""
    return first_pair(next(part for part in _maps(relation) if not part.is_empty()))


def first_pair(part: isl.Map) -> str:
    """The least pair of a relation between two statements, with the sizes that it has."""
    sizes, at = first_point(part.wrap().flatten())
    depth = part.dim(isl.dim_type.in_)
    source, sink = (str(part.get_tuple_name(side) or "") for side in (isl.dim_type.in_, isl.dim_type.out))
    return f"{_brackets(source, at[:depth])} -> {_brackets(sink, at[depth:])}{sizes_text(sizes.items())}"


def _first_pair_at(part: isl.Map, distance: tuple[int, ...]) -> str:
    """One pair of a relation that is so far apart."""
    apart = part.deltas_map()
    for at, value in enumerate(distance):
        apart = apart.fix_val(isl.dim_type.out, at, isl.Val(value))
    return first_pair(apart.domain().unwrap())


def _distances(part: isl.Map) -> list[tuple[int, ...]]:
    """The distances of a dependence between instances of one statement.

    Raises
    ------
    UsageError : it is between two statements, or the distances grow with the sizes.
    """
    if part.get_tuple_name(isl.dim_type.in_) != part.get_tuple_name(isl.dim_type.out):
        raise UsageError("a dependence between two statements has no distance here", witness=first_pair(part))
    apart = part.deltas().project_out(isl.dim_type.param, 0, part.dim(isl.dim_type.param))
    if count_points(apart) > MOST_DISTANCES:
        raise UsageError("the distances grow with the sizes, so nobody can list them", witness=str(apart))
    return points_of(apart)


def _compared(found: isl.UnionMap, given: isl.UnionMap, missing: str, extra: str, domain: isl.UnionSet) -> Verdict:
    """The verdict on a relation, with a pair that is in one of the two alone.

    Parameters
    ----------
    domain : what the pairs of the relation may consist of.
    """
    for pairs, problem in ((found.subtract(given), missing), (given.subtract(found), extra)):
        if not pairs.is_empty():
            outside = problem is extra and not pairs.domain().is_subset(domain)
            return wrong(f"{_first_pair(pairs)} {problem}", "not all instances run: say for which the relation holds"
                         if outside else "follow this pair through the program")
    return right("isl finds no pair that is in one of the two relations alone")


def _example(relation: isl.Map) -> str:
    iterators = ", ".join(str(relation.get_dim_name(isl.dim_type.in_, at))
                          for at in range(relation.dim(isl.dim_type.in_)))
    source, sink = (relation.get_tuple_name(side) for side in (isl.dim_type.in_, isl.dim_type.out))
    subscripts = ", ".join(["..."] * relation.dim(isl.dim_type.out))
    return f'"{{ {source}[{iterators}] -> {sink}[{subscripts}] }}"'


def _tuples(answer: object, depth: int) -> set[tuple[int, ...]]:
    if not isinstance(answer, set | frozenset | list) or not all(
            isinstance(at, tuple) and len(at) == depth and all(isinstance(x, int) for x in at) for at in answer):
        raise UsageError(f"the answer should be a set of tuples of {depth} numbers", witness=f"it is {answer!r}"[:80],
                         hint=f"for instance {{{(0,) * depth}}}")
    return set(answer)
