"""Schedules as dates: every instance has a tuple, and runs in the lexicographic order of these.

    { S0[i, j] -> [0, i, j]; S1[i] -> [1, i, 0] }   <->   a sequence of two filters with bands below

Dimensions that are constants of statements become sequences, the others bands.  The flags of the bands are exact,
since dates promise nothing.
"""

from __future__ import annotations

import islpy as isl

from polysched.dependence.dependences import Dependences
from polysched.errors import UsageError
from polysched.scheduling.tree.flags import with_flags_in_budget
from polysched.scheduling.tree.loop_tree import (
    Band,
    Leaf,
    LoopTree,
    Node,
    Sequence,
    children,
    from_isl,
    split_bands,
    to_isl,
    with_children,
)
from polysched.scop.points import isl_value
from polysched.scop.scop import Scop

MOST_DATES = 200
"""Dimensions of a date; more is no program."""


def dates_of(tree: isl.Schedule) -> isl.UnionMap:
    """The dates that a tree gives its instances, without the constraints of the domain."""
    return tree.get_map().gist_domain(tree.get_domain())


def tree_of_dates(dates: isl.UnionMap, dependences: Dependences) -> isl.Schedule:
    """The tree that runs the program in the order of dates; shorter tuples are filled with zeros.

    Raises
    ------
    UsageError : the dates are of other statements, or an instance has none, or two.
    """
    scop = dependences.scop
    found = _of_statements(dates, scop)
    if not found:
        return scop.schedule
    whole = _filled(found, scop)
    functions = isl.MultiUnionPwAff.from_union_map(whole)
    columns = [functions.get_union_pw_aff(k) for k in range(functions.dim(isl.dim_type.set))]
    domain = scop.schedule.get_domain()
    root = _below(columns, {s.name: s.domain for s in scop.statements}, domain)
    tree = with_flags_in_budget(dependences, to_isl(LoopTree(domain=domain, root=root)))
    flagged = from_isl(tree)
    return with_flags_in_budget(dependences, to_isl(LoopTree(domain=domain, root=_permutable(flagged.root))))


def _of_statements(dates: isl.UnionMap, scop: Scop) -> dict[str, isl.Map]:
    """The dates by statement, each instance with exactly one."""
    found: dict[str, isl.Map] = {}
    known = {s.name: s for s in scop.statements}
    dates = dates.drop_unused_params()
    require_parameters(dates, scop)
    maps = dates.get_map_list()
    for index in range(maps.n_map()):
        piece = maps.get_at(index)
        name = piece.get_tuple_name(isl.dim_type.in_)
        if name not in known or piece.dim(isl.dim_type.in_) != known[name].depth:
            raise UsageError(f"the program has no statement {name} of {piece.dim(isl.dim_type.in_)} loops",
                             where=scop.name, hint=f"its statements are {_signatures(scop)}")
        if name in found:
            raise UsageError(f"{name} has dates of two lengths", where=scop.name)
        if piece.dim(isl.dim_type.out) > MOST_DATES:
            raise UsageError(f"{name} has dates of more than {MOST_DATES} dimensions", where=scop.name)
        found[name] = piece.intersect_domain(known[name].domain)
    for name, statement in known.items():
        wanted = statement.domain.intersect_params(scop.context)
        without = wanted if name not in found else wanted.subtract(found[name].domain())
        if not without.is_empty():
            raise UsageError(f"an instance of {name} has no date", where=scop.name, witness=_an_instance(without))
        if not found[name].is_single_valued():
            raise UsageError(f"an instance of {name} has two dates", where=scop.name,
                             witness=_an_instance(_with_two(found[name])),
                             hint="a name that is neither an iterator nor a parameter takes any value")
        found[name] = found[name].gist_domain(statement.domain)
    return found


def require_parameters(dates: isl.UnionMap, scop: Scop) -> None:
    """Refuse dates that name what is no parameter of a program.

    Raises
    ------
    UsageError : they do; the witness is the first such name.
    """
    known = [p.name for p in scop.parameters]
    for name in _parameters(dates.get_space()):
        if name not in known:
            raise UsageError("the schedule names a parameter that the program has not", where=scop.name, witness=name,
                             hint=f"its parameters are {', '.join(known)}" if known else "it has none")


def _parameters(space: isl.Space) -> list[str | None]:
    return [space.get_dim_name(isl.dim_type.param, at) for at in range(space.dim(isl.dim_type.param))]


def _filled(found: dict[str, isl.Map], scop: Scop) -> isl.UnionMap:
    """The dates as tuples of one length."""
    most = max(piece.dim(isl.dim_type.out) for piece in found.values())
    whole = isl.UnionMap.empty(scop.domain.get_space())
    for piece in found.values():
        longer = piece.flatten_range().reset_tuple_id(isl.dim_type.out)
        for position in range(piece.dim(isl.dim_type.out), most):
            longer = longer.add_dims(isl.dim_type.out, 1).fix_val(isl.dim_type.out, position, isl_value(0))
        whole = whole.union(isl.UnionMap.from_map(longer))
    return whole


def _below(columns: list[isl.UnionPwAff], statements: dict[str, isl.Set], domain: isl.UnionSet) -> Node:
    """The node for these statements, from the first of these dimensions on."""
    if not columns:
        return Leaf()
    constants = _constants(columns[0], statements)
    if constants is not None:
        branches = []
        for value in sorted(set(constants.values())):
            inside = {name: statements[name] for name in statements if constants[name] == value}
            branches.append((_union(inside), _below(columns[1:], inside, domain)))
        return branches[0][1] if len(branches) == 1 else Sequence(branches=tuple(branches))
    members: list[isl.UnionPwAff] = []
    own = _union(statements)
    while columns and _constants(columns[0], statements) is None:
        members.append(columns[0].intersect_domain(own))
        columns = columns[1:]
    return Band(members=tuple(members), coincident=(False,) * len(members), permutable=False,
                child=_below(columns, statements, domain))


def _constants(column: isl.UnionPwAff, statements: dict[str, isl.Set]) -> dict[str, int] | None:
    """The value of each statement where all have one number; else None."""
    found: dict[str, int] = {}
    for name, instances in statements.items():
        values = isl.UnionMap.from_union_pw_aff(column.intersect_domain(isl.UnionSet.from_set(instances)))
        image = values.range()
        if image.is_empty():
            return None
        ends = isl.Set.from_union_set(image)
        least = ends.dim_min_val(0) if ends.dim_has_lower_bound(isl.dim_type.set, 0) else None
        most = ends.dim_max_val(0) if ends.dim_has_upper_bound(isl.dim_type.set, 0) else None
        if least is None or most is None or not least.is_int() or not least.eq(most):
            return None
        found[name] = int(least.to_python())
    return found


def _permutable(node: Node) -> Node:
    """Bands that are not permutable as loops of their own."""
    node = with_children(node, tuple(_permutable(child) for child in children(node)))
    if isinstance(node, Band) and not node.permutable and len(node.members) > 1:
        below = node.child
        chain = split_bands(with_children(node, (Leaf(),)))
        return _on_leaf(chain, below)
    return node


def _on_leaf(node: Node, below: Node) -> Node:
    return below if isinstance(node, Leaf) else with_children(node, tuple(
        _on_leaf(child, below) for child in children(node)))


def _union(statements: dict[str, isl.Set]) -> isl.UnionSet:
    """All instances of the statements, without constraints."""
    sets = [isl.Set.universe(s.get_space()) for s in statements.values()]
    found = isl.UnionSet.from_set(sets[0])
    for other in sets[1:]:
        found = found.union(isl.UnionSet.from_set(other))
    return found


def _with_two(piece: isl.Map) -> isl.Set:
    """The instances with several dates."""
    later = isl.Map.lex_lt(piece.range().get_space())
    twice = piece.apply_range(later).intersect(piece)
    return twice.domain()


def _an_instance(instances: isl.Set) -> str:
    """One of them in words: `S1[0, 2] with n = 3`."""
    point = instances.sample_point()
    space = point.get_space()
    at = [str(point.get_coordinate_val(isl.dim_type.set, k)) for k in range(space.dim(isl.dim_type.set))]
    sizes = ", ".join(f"{space.get_dim_name(isl.dim_type.param, k)} = {point.get_coordinate_val(isl.dim_type.param, k)}"
                      for k in range(space.dim(isl.dim_type.param)))
    return f"{instances.get_tuple_name()}[{', '.join(at)}]{f' with {sizes}' if sizes else ''}"


def _signatures(scop: Scop) -> str:
    return ", ".join(f"{s.name}[{', '.join(s.iterators)}]" for s in scop.statements)
