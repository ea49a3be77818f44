"""Regions in OpenScop as programs: C in the order of their scattering, which the C front end reads.

OpenScop says nothing of types and extents.  Elements are of `double` where no other type is given.  Extents are what
the accesses reach: an affine function of the parameters, or else a parameter of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import islpy as isl

from polysched.errors import UnsupportedScopError, UsageError
from polysched.records import dataclass
from polysched.scop.c_frontend.frontend import from_c_text
from polysched.scop.construction.reading import within_budget
from polysched.scop.openscop.matrices import parameter_space
from polysched.scop.openscop.naming import WORDS, with_names
from polysched.scop.openscop.region import OpenScopRegion, OpenScopStatement
from polysched.scop.openscop.scoplib import regions_of
from polysched.scop.plain_c import c_expression, expression_in_c
from polysched.scop.points import isl_value, point_in_words
from polysched.scop.scop import AccessKind, Scop

_OUT, _IN = isl.dim_type.out, isl.dim_type.in_
_NODE: Any = isl.ast_node_type
_TOKEN = re.compile(r"""(?P<member>\.|->)?\s*(?<![\w.])(?P<name>[A-Za-z_]\w*)(?P<call>(?=\s*\())?"""
                    r"""|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'""")
_LITERAL = re.compile(r""""(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'""")
_HIDING = re.compile(r"""^else\b|//|/\*|<%|%>|<:|:>|%:|["'\\]""")
"""What takes the statement before, comments, brackets in other spellings, and texts without end."""
_BRACKETS = {")": "(", "]": "[", "}": "{"}
INDENT = "    "


@dataclass(frozen=True, eq=False, kw_only=True)
class OpenScopProgram:
    """A region as C.

    Parameters
    ----------
    region : the region.
    text : a function with the region, marked by pragmas.
    lines : per line of the text with a body the position of its statement.
    loops : the names of the loops, one per dimension of the scattering.
    """

    region: OpenScopRegion
    text: str
    lines: Mapping[int, int]
    loops: tuple[str, ...]


def from_openscop(text: str, *, path: str = "OpenScop", types: Mapping[str, str] | None = None) -> Scop:
    """The Scop of the only region of a text of OpenScop, or of ScopLib's form before it.

    What its bodies access is compared with the accesses that the region lists.

    Parameters
    ----------
    path : for messages.
    types : the C type of elements by array, where it is not `double`.

    Raises
    ------
    UsageError : the text is none, or has several regions; a type is given for what is no array.
    UnsupportedScopError : the C front end cannot represent a body, or a body accesses what the region does not list.
    """
    regions = regions_of(text, path=path)
    if len(regions) != 1:
        raise UsageError(f"the text has {len(regions)} regions where one was asked for", where=path,
                         hint="all_from_openscop reads them all")
    return from_region(regions[0], path=path, types=types)


def all_from_openscop(text: str, *, path: str = "OpenScop", types: Mapping[str, str] | None = None
                      ) -> tuple[Scop, ...]:
    """The Scops of all regions; a type is of the arrays of that name in each.  Raises as `from_openscop`."""
    regions, types = [with_names(region) for region in regions_of(text, path=path)], dict(types or {})
    own = [{array for statement in region.statements for _, array, _ in statement.accesses} for region in regions]
    if unknown := sorted(set(types).difference(*own)):
        raise UsageError(f"no array {unknown[0]} in the OpenScop regions", where=path,
                         witness=f"their arrays are {', '.join(sorted(set().union(*own)))}")
    names = ["region"] if len(regions) == 1 else [f"region{number}" for number in range(1, len(regions) + 1)]
    return tuple(from_region(region, path=path, name=name, types={a: types[a] for a in sorted(arrays & set(types))})
                 for region, name, arrays in zip(regions, names, own, strict=True))


def from_region(region: OpenScopRegion, *, path: str = "OpenScop", name: str = "region",
                types: Mapping[str, str] | None = None) -> Scop:
    """The Scop of a region, in a function of this name.

    Raises
    ------
    BudgetExceededError : isl needs too much for its loops; other refusals as `from_openscop`.
    """
    def read() -> Scop:
        program = c_program(region, path=path, name=name, types=types)
        scop = from_c_text(program.text, path=f"{path} as C")
        _require_listed_accesses(program, scop, path)
        return scop

    return within_budget(read, path, hint="use smaller constants in its constraints, or fewer statements")


def c_program(region: OpenScopRegion, *, path: str = "OpenScop", name: str = "region",
              types: Mapping[str, str] | None = None) -> OpenScopProgram:
    """The region as a C function; raises as `from_region`."""
    writer = _Writer(region, path)
    return writer.program(name, dict(types or {}))


class _Writer:
    """Writes one region."""

    def __init__(self, region: OpenScopRegion, path: str) -> None:
        region = with_names(region)
        self.region, self.path = region, path
        if not region.statements:
            raise UnsupportedScopError("the OpenScop region has no statements", where=path)
        self.arrays = _arrays(region, path)
        self.used = {name for statement in region.statements for name, _ in _names(statement.body)}
        self.taken = {*region.parameters, *self.arrays, *self.used}
        self.loops = self._loop_names()
        self.lines: list[str] = []
        self.bodies: dict[int, int] = {}

    def program(self, name: str, types: dict[str, str]) -> OpenScopProgram:
        if unknown := sorted(set(types) - set(self.arrays)):
            raise UsageError(f"no array {unknown[0]} in the OpenScop region", where=self.path,
                             witness=f"its arrays are {', '.join(sorted(self.arrays))}")
        nest = self._loop_nest()
        written = _written(self.region)
        sizes: list[str] = []
        globals_: list[str] = []
        arguments: list[str] = []
        for array, relation in self.arrays.items():
            declared = f"{types.get(array, 'double')} {array}{''.join(self._extents(array, relation, sizes))}"
            outside = array in written and not relation.dim(_OUT)
            (globals_ if outside else arguments).append(declared)
        self._line("#include <math.h>")
        for declared in globals_:
            self._line(f"{declared};")
        heads = [*(f"long {parameter}" for parameter in (*self.region.parameters, *sizes)), *arguments]
        self._line(f"void {name}({', '.join(heads) or 'void'})")
        self._line("{")
        self._line("#pragma scop")
        self._nodes(nest, 1, {})
        self._line("#pragma endscop")
        self._line("}")
        return OpenScopProgram(region=self.region, text="".join(f"{line}\n" for line in self.lines), lines=self.bodies,
                               loops=self.loops)

    def _line(self, text: str) -> None:
        self.lines.append(text)

    def _fresh(self, stem: str) -> str:
        name, count = stem, 0
        while name in self.taken:
            name, count = f"{stem}{count}", count + 1
        self.taken.add(name)
        return name

    def _loop_names(self) -> tuple[str, ...]:
        """A loop is called as the first iterator that runs along it."""
        depth = max(statement.scattering.dim(_OUT) for statement in self.region.statements)
        names: list[str] = []
        for position, statement in enumerate(self.region.statements, start=1):
            own = statement.iterators
            if len(set(own)) != len(own) or not all(name.isidentifier() for name in own):
                raise UnsupportedScopError(f"the iterators of statement {position} of the OpenScop region have no "
                                           "different names", where=self.path, witness=repr(own))
        for dimension in range(depth):
            found = (_along(statement, dimension) for statement in self.region.statements)
            unused = (name for name in found if name and name not in (*names, *self.region.parameters, *self.arrays))
            names.append(next(unused, "") or self._fresh(f"c{dimension}"))
        return tuple(names)

    def _extents(self, array: str, elements: isl.Set, sizes: list[str]) -> Iterator[str]:
        """The extents of an array as C, and names of parameters for those that are no one affine function."""
        context = self.region.context
        if elements.dim(_OUT) and elements.is_empty():
            raise UnsupportedScopError(f"{array} is accessed by no instance", where=self.path,
                                       hint="leave out the statements that never run")
        for dimension in range(elements.dim(_OUT)):
            if not _has_ends(elements, dimension):
                raise UnsupportedScopError(f"{array} is accessed without end", where=self.path,
                                           witness=f"subscript {dimension + 1} has no least or no greatest value",
                                           hint="give each loop both bounds")
            least = elements.dim_min(dimension)
            if least.nonneg_set().is_empty():
                below = elements.upper_bound_val(_OUT, dimension, isl_value(-1))
                raise UnsupportedScopError(f"{array} is accessed below its first element", where=self.path,
                                           witness=point_in_words(below, array, "]["),
                                           hint="move the subscripts")
            last = elements.dim_max(dimension).coalesce()
            if last.n_piece() == 1:
                ((_, aff),) = last.get_pieces()
                one = isl.PwAff.from_aff(aff).project_domain_on_params()
                yield f"[{c_expression(one.add_constant_val(isl.Val.one(one.get_ctx())), context)}]"
            else:
                sizes.append(self._fresh(f"{array}_size{dimension}"))
                yield f"[{sizes[-1]}]"

    def _loop_nest(self) -> isl.AstNode:
        """Loops over all instances in the order of their dates."""
        depth = len(self.loops)
        dates = isl.UnionMap.empty(parameter_space(self.region.parameters))
        for position, statement in enumerate(self.region.statements):
            self._require_ends(statement.domain, position + 1)
            own = statement.scattering.intersect_domain(statement.domain.intersect_params(self.region.context))
            if not own.is_single_valued():
                raise UnsupportedScopError(f"statement {position + 1} of the OpenScop region has instances with "
                                           "several dates", where=self.path, witness=_dates_of_one(own, position),
                                           hint="give each dimension of the scattering one value")
            for dimension in range(own.dim(_OUT), depth):
                own = own.insert_dims(_OUT, dimension, 1).fix_val(_OUT, dimension, isl.Val.zero(own.get_ctx()))
            dates = dates.union(isl.UnionMap.from_map(own.set_tuple_name(_IN, f"s{position}")))
        if not dates.is_injective():
            raise UnsupportedScopError("the OpenScop region leaves the order of some instances open", where=self.path,
                                       witness="two have one date", hint="give every instance a date of its own")
        iterators = isl.IdList.alloc(isl.DEFAULT_CONTEXT, depth)
        for name in self.loops:
            iterators = iterators.add(isl.Id(name))
        return isl.AstBuild.from_context(self.region.context).set_iterators(iterators).node_from_schedule_map(dates)

    def _require_ends(self, domain: isl.Set, number: int) -> None:
        """Refuse a statement whose loops have no end."""
        for dimension in range(domain.dim(isl.dim_type.set)):
            if not _has_ends(domain, dimension):
                raise UnsupportedScopError(f"statement {number} of the OpenScop region runs without end",
                                           where=self.path,
                                           witness=f"iterator {dimension + 1} has no least or no greatest value",
                                           hint="give each loop both bounds")

    def _nodes(self, node: isl.AstNode, depth: int, values: dict[str, str]) -> None:
        kind = node.get_type()
        indent = INDENT * depth
        if kind == _NODE.block:
            children = node.block_get_children()
            for position in range(children.n_ast_node()):
                self._nodes(children.get_at(position), depth, values)
        elif kind == _NODE.if_:
            self._line(f"{indent}if ({self._expr(node.if_get_cond(), values)}) {{")
            self._nodes(node.if_get_then(), depth + 1, values)
            if node.if_has_else():
                self._line(f"{indent}}} else {{")
                self._nodes(node.if_get_else(), depth + 1, values)
            self._line(f"{indent}}}")
        elif kind == _NODE.for_:
            self._loop(node, depth, values)
        else:
            self._body(node.user_get_expr(), indent, values)

    def _loop(self, node: isl.AstNode, depth: int, values: dict[str, str]) -> None:
        name = str(node.for_get_iterator().get_id().get_name())
        first = self._expr(node.for_get_init(), values)
        if node.for_is_degenerate():
            self._nodes(node.for_get_body(), depth, {**values, name: first})
            return
        condition, step = self._expr(node.for_get_cond(), values), self._expr(node.for_get_inc(), values)
        self._line(f"{INDENT * depth}for (long {name} = {first}; {condition}; {name} += {step}) {{")
        self._nodes(node.for_get_body(), depth + 1, values)
        self._line(f"{INDENT * depth}}}")

    def _expr(self, expr: isl.AstExpr, values: dict[str, str]) -> str:
        return _replaced(expression_in_c(expr), values)

    def _body(self, call: isl.AstExpr, indent: str, values: dict[str, str]) -> None:
        position = int(str(call.get_op_arg(0).get_id().get_name())[1:])
        statement = self.region.statements[position]
        where, body = f"statement {position + 1}", statement.body.strip()
        if not body:
            raise UnsupportedScopError(f"{where} of the OpenScop region has no body", where=self.path,
                                       hint="a schedule for a program in C is read from it nevertheless: --given")
        if not _is_closed(body):
            raise UnsupportedScopError(f"{where} of the OpenScop region is no whole statement of C", where=self.path,
                                       witness=body, hint="close its brackets, and leave comments out")
        iterators = statement.iterators
        if len(iterators) != statement.domain.dim(isl.dim_type.set):
            raise UnsupportedScopError(f"{where} of the OpenScop region has no names for its iterators",
                                       where=self.path, witness=body)
        known = {*iterators, *self.region.parameters, *self.arrays, *WORDS}
        if strange := [name for name, is_call in _names(body) if name not in known and not is_call]:
            raise UnsupportedScopError(
                f"{where} of the OpenScop region uses {strange[0]}, which is neither a parameter, nor an iterator, nor "
                "an array that the region accesses", where=self.path, witness=body)
        given = [self._expr(call.get_op_arg(k + 1), values) for k in range(len(iterators))]
        self._line(indent + _replaced(body if body.endswith((";", "}")) else f"{body};",
                                      dict(zip(iterators, given, strict=True))))
        self.bodies[len(self.lines)] = position


def _dates_of_one(dates: isl.Map, position: int) -> str:
    """An instance with two dates, statements numbered from one."""
    pairs, depth = dates.flat_range_product(dates), dates.dim(_OUT)
    same = isl.Map.universe(pairs.get_space())
    for dimension in range(depth):
        same = same.equate(_OUT, dimension, _OUT, depth + dimension)
    return point_in_words(pairs.subtract(same).domain(), f"S{position + 1}")


def _has_ends(points: isl.Set, dimension: int) -> bool:
    """Whether a coordinate has a least and a greatest value for all values of the parameters."""
    kind = isl.dim_type.set
    values = points.project_out(kind, dimension + 1, points.dim(kind) - dimension - 1).project_out(
        kind, 0, dimension).remove_divs()   # a stride is no bound
    return bool(values.dim_has_lower_bound(kind, 0) and values.dim_has_upper_bound(kind, 0))


def _written(region: OpenScopRegion) -> set[str]:
    return {array for statement in region.statements for kind, array, _ in statement.accesses
            if kind is not AccessKind.READ}


def _along(statement: OpenScopStatement, dimension: int) -> str | None:
    """The iterator that a dimension of the dates is equal to; None where there is none."""
    if dimension >= statement.scattering.dim(_OUT) or len(statement.iterators) != statement.scattering.dim(_IN):
        return None
    for position, name in enumerate(statement.iterators):
        if statement.scattering.is_subset(statement.scattering.equate(_IN, position, _OUT, dimension)):
            return name
    return None


def _arrays(region: OpenScopRegion, path: str) -> dict[str, isl.Set]:
    """The elements that are accessed of each array, in the order of the first access."""
    found: dict[str, isl.Set] = {}
    for position, statement in enumerate(region.statements, start=1):
        for _, array, relation in statement.accesses:
            elements = relation.intersect_domain(statement.domain.intersect_params(region.context)).range()
            if not array.isidentifier():
                raise UnsupportedScopError(f"array {array} of the OpenScop region has no name", where=path,
                                           witness="no array of the bodies is accessed as it is in all of them",
                                           hint="an extension <arrays> names it")
            if array in region.parameters:   # Clan lists the reads of parameters, too
                if array in _written(region):
                    raise UnsupportedScopError(f"the OpenScop region writes its parameter {array}", where=path,
                                               witness=f"statement {position}: {statement.body}")
                continue
            if array in found and found[array].dim(isl.dim_type.set) != elements.dim(isl.dim_type.set):
                raise UnsupportedScopError(f"{array} has accesses of different dimensions", where=path,
                                           witness=f"one of them in statement {position}: {statement.body}")
            found[array] = found[array].union(elements) if array in found else elements
    return found


def _is_closed(body: str) -> bool:
    """Whether a text of C ends in itself: its brackets match, and nothing in it hides or takes what follows."""
    text = _LITERAL.sub("", body)
    opened: list[str] = []
    for character in text:
        if character in _BRACKETS.values():
            opened.append(character)
        elif character in _BRACKETS and (not opened or opened.pop() != _BRACKETS[character]):
            return False
    return not opened and _HIDING.search(text) is None


def _names(body: str) -> Iterator[tuple[str, bool]]:
    """The names in a text of C that are no members, and whether each is called."""
    for found in _TOKEN.finditer(body):
        if found["name"] and not found["member"]:
            yield found["name"], found["call"] is not None


def _replaced(text: str, values: Mapping[str, str]) -> str:
    """The text with other expressions for names."""
    def other(found: re.Match[str]) -> str:
        name = found["name"]
        if not name or found["member"] or name not in values:
            return found[0]
        value = values[name]
        return found[0].replace(name, value if value.isalnum() else f"({value})")
    return _TOKEN.sub(other, text)


def _require_listed_accesses(program: OpenScopProgram, scop: Scop, path: str) -> None:
    """Refuse a body that accesses other elements than its statement lists."""
    for own in scop.statements:
        if own.line not in program.lines:
            raise UnsupportedScopError("the C front end finds no affine loops in the OpenScop region", where=path,
                                       witness=program.text.splitlines()[own.line - 1].strip())
        position = program.lines[own.line]
        statement = program.region.statements[position]
        instances = _instances(statement, [program.loops.index(name) for name in own.iterators])
        for access in own.accesses:
            reached = access.relation.reset_tuple_id(_OUT).reset_tuple_id(_IN).intersect_params(program.region.context)
            for kind, array, relation in statement.accesses:
                if array == access.array and access.is_write is (kind is not AccessKind.READ):
                    reached = reached.subtract(instances.apply_range(relation))
            if not reached.is_empty():
                raise UnsupportedScopError(
                    f"statement {position + 1} of the OpenScop region {'writes' if access.is_write else 'reads'} an "
                    f"element of {access.array} that it does not list", where=path,
                    witness=f"{statement.body.strip()} at {reached.sample()}", hint="complete its accesses")


def _instances(statement: OpenScopStatement, dimensions: Sequence[int]) -> isl.Map:
    """From the values of some dimensions of the dates to the instances that have them."""
    dates = statement.scattering.intersect_domain(statement.domain)
    known = isl.Map.identity(dates.range().get_space().map_from_set())
    for dimension in reversed(range(dates.dim(_OUT))):
        if dimension not in dimensions:
            known = known.project_out(_OUT, dimension, 1)
    return dates.apply_range(known).reverse()
