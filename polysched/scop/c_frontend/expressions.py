"""C expressions as typed bodies, with an access for every element that they read."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import field

import islpy as isl
from pycparser import c_ast

from polysched.errors import UnsupportedScopError
from polysched.records import dataclass
from polysched.scop import dtypes
from polysched.scop.body import (
    COMPARISON,
    LOGICAL,
    OF_PARTS,
    ORDER,
    Address,
    Binary,
    Call,
    Cast,
    Expr,
    IteratorRef,
    Literal,
    Load,
    ParameterRef,
    Select,
    Unary,
)
from polysched.scop.c_frontend.declarations.bindings import describe
from polysched.scop.c_frontend.declarations.c_types import CType, FunctionType, Scalar, element_type
from polysched.scop.c_frontend.declarations.literals import literal
from polysched.scop.c_frontend.declarations.scopes import Origin
from polysched.scop.c_frontend.extraction import Extraction, NotAffine
from polysched.scop.c_frontend.functions import MATH, PureFunction
from polysched.scop.c_frontend.order import OpenAccess
from polysched.scop.c_frontend.parse import everything, is_step, place
from polysched.scop.c_frontend.pointer_calls import CalledPointer, called_pointer
from polysched.scop.c_frontend.rewrites.effect_calls import EffectCall
from polysched.scop.c_frontend.subscripts import polyhedra
from polysched.scop.c_frontend.subscripts.affine import affine, constant_symbol, enumerator, may_be, size_of
from polysched.scop.c_frontend.subscripts.delinearise import subscript_polynomial
from polysched.scop.c_frontend.subscripts.places import Place, array_of, extent_value, is_place, resolve_place
from polysched.scop.dtypes import DType, complex_of, part_of, promote, usual_conversion
from polysched.scop.scop import INSIDE_ROWS, AccessKind

SIDE_EFFECT_HINT = "write the change as a statement of its own, before or after this one"


@dataclass(eq=False)
class StatementBuilder:
    """The accesses of one statement while its body is read."""

    x: Extraction
    name: str
    accesses: list[OpenAccess] = field(default_factory=list)
    reads: int = 0
    writes: int = 0

    def read(self, node: c_ast.Node, domain: isl.Set) -> Load:
        """A load of the element that an lvalue denotes."""
        place = resolve_place(self.x, node)
        _, ctype = array_of(self.x, node, place)
        reference = f"{self.name}_r{self.reads}"
        self.reads += 1
        self._access(node, place, reference, AccessKind.READ, domain)
        return Load(reference, ctype.dtype)

    def write(self, node: c_ast.Node, domain: isl.Set, *, must: bool) -> tuple[str, DType]:
        """The reference and type of a written element."""
        place = resolve_place(self.x, node)
        _, ctype = array_of(self.x, node, place)
        if ctype.constant and place.symbol.origin is not Origin.REGION:
            raise self.x.refuse("a constant is assigned", node, hint="drop `const` from the declaration")
        reference = f"{self.name}_w{self.writes}"
        self.writes += 1
        self._access(node, place, reference, AccessKind.MUST_WRITE if must else AccessKind.MAY_WRITE, domain)
        return reference, ctype.dtype

    def _access(self, node: c_ast.Node, place: Place, reference: str, kind: AccessKind, domain: isl.Set) -> None:
        x = self.x
        array = x.arrays[place.symbol, place.spelling]
        values: list[isl.PwAff | None] = []
        expressions = []
        for subscript in place.subscripts:
            values.append(self._affine(subscript, domain))
            expressions.append(expression(self, subscript, domain))
        exact = all(v is not None for v in values)
        if place.inside_row:
            self._stays_in_row(node, place, values, domain)
        relation = polyhedra.relation(domain, values, array.extents)
        single = place.subscripts[0] if len(place.subscripts) == 1 else None
        self.accesses.append(OpenAccess(
            reference=reference, array=array.name, kind=kind, relation=relation, subscripts=tuple(expressions),
            exact=exact, node=node, domain=domain,
            polynomial=None if single is None else subscript_polynomial(x, single, domain)))


    def reach(self, node: c_ast.Node, first: c_ast.Node, counts: Sequence[c_ast.Node | None],
              rows: Sequence[c_ast.Node | None], domain: isl.Set, *, writes: bool) -> tuple[str, DType]:
        """The reference and type of elements that a function reaches behind a pointer, where the pointer's are.

        Parameters
        ----------
        node : the element that the pointer leads to.
        first : the first element that is reached.
        counts : how many there are in each of the last dimensions; None where that is not known.
        rows : how long the function takes rows to be.
        """
        x = self.x
        at, begin = resolve_place(x, node), resolve_place(x, first)
        array, ctype = array_of(x, node, at)
        if writes:
            _check_variable(x, node, at, ctype)
        firsts = [self._affine(s, domain) for s in begin.subscripts]
        numbers = [self._affine(c, domain) for c in counts]
        if not (_inside(x, domain, firsts, numbers, array.extents, stored=at.through_memory)
                and self._has_rows(rows, array.extents, domain)):
            firsts, numbers = [None] * len(firsts), [None] * len(numbers)
        single = begin.subscripts[0] if len(begin.subscripts) == len(numbers) == 1 else None
        reference = f"{self.name}_{'w' if writes else 'r'}{self.writes if writes else self.reads}"
        self.writes, self.reads = self.writes + writes, self.reads + (not writes)
        self.accesses.append(OpenAccess(
            reference=reference, array=array.name, kind=AccessKind.MAY_WRITE if writes else AccessKind.READ,
            relation=polyhedra.run_of(domain, firsts, numbers, array.extents), exact=False, node=node, domain=domain,
            subscripts=tuple(expression(self, s, domain) for s in at.subscripts),
            polynomial=None if single is None or numbers[0] is None else subscript_polynomial(x, single, domain),
            count=numbers[0] if single is not None else None))
        return reference, ctype.dtype

    def _has_rows(self, rows: Sequence[c_ast.Node | None], extents: Sequence[isl.PwAff | None],
                  domain: isl.Set) -> bool:
        """Whether an array's last dimensions certainly have the lengths that a function takes its rows to have."""
        some, own = domain.intersect(self.x.context), extents[len(extents) - len(rows):]
        lengths = [self._affine(row, domain) for row in rows]
        return len(own) == len(lengths) and all(
            length is not None and extent is not None and some.is_subset(length.eq_set(extent))
            for length, extent in zip(lengths, own, strict=True))

    def _affine(self, node: c_ast.Node | None, domain: isl.Set) -> isl.PwAff | None:
        if node is None:
            return None
        try:
            with self.x.attempt():
                return affine(self.x, node, domain).value
        except NotAffine:
            return None

    def _stays_in_row(self, node: c_ast.Node, place: Place, values: list[isl.PwAff | None], domain: isl.Set) -> None:
        """A pointer along a row of an array must not reach the next row."""
        extent = extent_value(self.x, place.extents[-1])
        if extent is None or values[-1] is None:
            raise self.x.refuse("a pointer along a row of an array could leave the row", node,
                                hint="subscript the array itself")
        inside = values[-1].ge_set(polyhedra.constant(0)).intersect(values[-1].lt_set(extent))
        self.x.require(domain, inside, kind=INSIDE_ROWS, text="a pointer along a row stays inside the row", node=node)


def _check_variable(x: Extraction, node: c_ast.Node, place: Place, ctype: Scalar) -> None:
    """Refuse to write what the file declares constant."""
    if ctype.constant and place.symbol.origin is not Origin.REGION:
        raise x.refuse("a constant is written", node, hint="drop `const` from the declaration")


def _inside(x: Extraction, domain: isl.Set, firsts: Sequence[isl.PwAff | None], counts: Sequence[isl.PwAff | None],
            extents: Sequence[isl.PwAff | None], *, stored: bool) -> bool:
    """Whether a run certainly stays in its rows; those behind stored pointers have no others beside them.

    Parameters
    ----------
    stored : a row whose length is not known is behind a stored pointer.
    """
    outer = len(firsts) - len(counts)
    some = domain.intersect(x.context)
    for count in counts:
        some = some if count is None else some.intersect(count.ge_set(polyhedra.constant(1)))
    for at in range(max(outer, 1), len(firsts)):
        first, count, extent = firsts[at], counts[at - outer], extents[at]
        if extent is None and stored:
            continue
        if extent is None or first is None or count is None or not some.is_subset(
                first.ge_set(polyhedra.constant(0)).intersect(first.add(count).le_set(extent))):
            return False
    return True


def expression(b: StatementBuilder, node: c_ast.Node, domain: isl.Set) -> Expr:
    """An expression as C types it (C11 6.5); its loads become accesses of the statement.

    Raises
    ------
    UnsupportedScopError : it has a side effect, calls something impure, or works on no number.
    """
    x = b.x
    if isinstance(node, c_ast.Constant):
        found = literal(node.value)
        if found is None:
            raise x.refuse("a string is used in an expression", node)
        return found
    if isinstance(node, c_ast.ID):
        return _variable(b, node, domain)
    if is_place(node):
        return b.read(node, domain)
    if isinstance(node, c_ast.UnaryOp):
        return _unary(b, node, domain)
    if isinstance(node, c_ast.BinaryOp):
        return _binary(b, node, domain)
    if isinstance(node, c_ast.TernaryOp):
        return _ternary(b, node, domain)
    if isinstance(node, c_ast.Cast):
        ctype = x.bindings.types.get(node.to_type)
        if not isinstance(ctype, Scalar):
            raise x.refuse("a cast to a type that is no number", node, hint="cast to an arithmetic type")
        operand = expression(b, node.expr, domain)
        return operand if operand.dtype == ctype.dtype else Cast(operand, ctype.dtype)
    if isinstance(node, c_ast.FuncCall):
        return _call(b, node, domain)
    if isinstance(node, c_ast.Assignment):
        raise x.refuse("an assignment inside an expression", node, hint=SIDE_EFFECT_HINT)
    if isinstance(node, c_ast.ExprList):
        raise x.refuse("a comma operator inside an expression", node, hint=SIDE_EFFECT_HINT)
    if isinstance(node, c_ast.CompoundLiteral):
        raise x.refuse("a whole struct or array is written as a value", node,
                       hint="set its members one by one; a struct can be set from one where each member is named once")
    raise x.refuse(f"the construct {type(node).__name__} is not supported in an expression", node)


def _variable(b: StatementBuilder, node: c_ast.ID, domain: isl.Set) -> Expr:
    x = b.x
    symbol = x.bindings.symbol(node)
    if symbol.is_enumerator:
        try:
            value = polyhedra.constant_value(enumerator(x, symbol, domain).value)
        except NotAffine:
            value = None
        if value is None:
            raise x.refuse(f"the value of the enumeration constant `{node.name}` is not known", node)
        return Literal(str(value), value, dtypes.INT32)
    loop = x.loop_of(symbol)
    if loop is not None:
        return IteratorRef(loop.shown, loop.dtype)
    known = x.known.get(symbol)
    if known is not None and known.expression is not None:
        return known.expression
    if symbol in x.derived and isinstance(symbol.ctype, Scalar):
        derived = expression(b, x.derived[symbol], domain)
        return derived if derived.dtype == symbol.ctype.dtype else Cast(derived, symbol.ctype.dtype)
    if symbol in x.bindings.iterators - x.materialised - x.stored_counters:
        raise x.refuse(f"the loop counter `{node.name}` is read outside its loop", node,
                       hint="use the loop's bound, or copy the counter into another variable")
    if constant_symbol(x, symbol, domain) is None:
        parameter = x.parameter(symbol)
        if parameter is not None:
            return ParameterRef(parameter.name, parameter.dtype)
    return b.read(node, domain)


def _unary(b: StatementBuilder, node: c_ast.UnaryOp, domain: isl.Set) -> Expr:
    x = b.x
    if is_step(node):
        raise x.refuse("a side effect inside an expression", node, hint=SIDE_EFFECT_HINT)
    if node.op == "&":
        raise x.refuse("the address of an object is taken", node, hint="pass and use elements by value")
    if node.op == "sizeof":
        size = size_of(x, node.expr, domain)
        if size is None:
            raise x.refuse("the size of that type is not known", node, hint="write the number")
        return Literal(f"{size}ul", size, dtypes.UINT64)
    if node.op not in ("-", "+", "~", "!"):
        raise x.refuse(f"the operator {node.op} is not supported", node)
    operand = expression(b, node.expr, domain)
    return Unary(node.op, operand, dtypes.INT32 if node.op == "!" else promote(operand.dtype))


def _binary(b: StatementBuilder, node: c_ast.BinaryOp, domain: isl.Set) -> Expr:
    left = expression(b, node.left, domain)
    if node.op in LOGICAL:
        right = _chosen(b, node.right, may_be(b.x, node.left, domain, truth=node.op == "&&"))
    else:
        right = expression(b, node.right, domain)
    if node.op in COMPARISON | LOGICAL:
        dtype = dtypes.INT32
    elif node.op in ("<<", ">>"):
        dtype = promote(left.dtype)
    else:
        dtype = usual_conversion(left.dtype, right.dtype)
    if node.op in ("%", "<<", ">>", "&", "|", "^") and not (left.dtype.is_integer and right.dtype.is_integer):
        raise b.x.refuse(f"the operator {node.op} needs integers", node)
    if node.op in ORDER and (left.dtype.is_complex or right.dtype.is_complex):
        raise b.x.refuse(f"the operator {node.op} needs real numbers", node, hint="compare parts, or absolute values")
    return Binary(node.op, left, right, dtype)


def _ternary(b: StatementBuilder, node: c_ast.TernaryOp, domain: isl.Set) -> Expr:
    """A choice; where its condition is affine, each side reads only where it is chosen."""
    test = expression(b, node.cond, domain)
    then = _chosen(b, node.iftrue, may_be(b.x, node.cond, domain, truth=True))
    otherwise = _chosen(b, node.iffalse, may_be(b.x, node.cond, domain, truth=False))
    return Select(test, then, otherwise, usual_conversion(then.dtype, otherwise.dtype))


def _chosen(b: StatementBuilder, node: c_ast.Node, domain: isl.Set) -> Expr:
    """An operand that is evaluated only where another one says so, perhaps on data."""
    with b.x.perhaps():
        return expression(b, node, domain)


def _call(b: StatementBuilder, node: c_ast.FuncCall, domain: isl.Set) -> Expr:
    x = b.x
    pointer = called_pointer(x, node.name)
    if pointer is None and not isinstance(node.name, c_ast.ID):
        raise x.refuse("a call through a pointer", node, hint="call the function by its name")
    name = node.name.name if pointer is None else pointer.called
    function = (_behind_pointer(x, node, pointer) if pointer is not None else
                None if name == OF_PARTS else _pure_function(b, node, name))
    arguments = [expression(b, a, domain) for a in (node.args.exprs if node.args else ())]
    if function is None:
        function = _of_parts(b, node, arguments)
    if len(function.parameters) != len(arguments):
        raise x.refuse(f"`{name}` takes {len(function.parameters)} arguments", node)
    converted = tuple(a if p is None or a.dtype == p else Cast(a, p)
                      for a, p in zip(arguments, function.parameters, strict=True))
    return Call(name, converted, function.result)


def _of_parts(b: StatementBuilder, node: c_ast.FuncCall, arguments: list[Expr]) -> PureFunction:
    """GCC's `__builtin_complex` of these parts (GCC 12 manual, section 6.59), which C11's `CMPLX` is."""
    types = {argument.dtype for argument in arguments}
    whole = complex_of(types.pop()) if len(types) == 1 else None
    if whole is None:
        raise b.x.refuse("a complex number has to be made of two numbers of one floating-point type", node,
                         hint="cast both to double, or to float")
    return PureFunction(whole, (part_of(whole), part_of(whole)))


def _pure_function(b: StatementBuilder, node: c_ast.FuncCall, name: str) -> PureFunction:
    """The signature of a function that may be called.

    Raises
    ------
    UnsupportedScopError : nothing says that it is pure.
    """
    x = b.x
    if name in MATH and name not in x.functions:
        return MATH[name]
    if name in x.pure:
        symbol = x.bindings.visible.get(name)
        return _declared(x, node, name, None if symbol is None else symbol.ctype)
    if name == "offsetof":
        raise x.refuse("the offset of a member is not known", node, hint="write the number")
    if name in x.effects:
        raise x.refuse(f"the result of `{name}`, whose effects are declared, is part of an expression", node,
                       hint="assign it to a variable in a statement of its own")
    raise may_have_effects(x.path, node, name)


def may_have_effects(path: str, node: c_ast.Node, name: str) -> UnsupportedScopError:
    """The refusal of a call of which nothing says that it only computes."""
    return UnsupportedScopError(
        f"`{name}` may have side effects", where=place(path, node), witness=describe(node),
        hint=f"if it only computes with its arguments, say so: `#pragma polysched pure {name}` before the "
             "region, or the option for pure functions; what it reaches through pointers is told by "
             f"`#pragma polysched effects {name}(...)`")


def calls_the_unknown(node: c_ast.Node, known: Container[str]) -> c_ast.FuncCall | None:
    """A call, in an expression, of a function that the file does not define and that nothing says anything about."""
    calls = (n for n in everything(node) if isinstance(n, c_ast.FuncCall) and isinstance(n.name, c_ast.ID))
    return next((n for n in calls if n.name.name not in known and n.name.name not in MATH
                 and not n.name.name.startswith("__") and n.name.name not in (OF_PARTS, "offsetof")), None)


def _behind_pointer(x: Extraction, node: c_ast.FuncCall, pointer: CalledPointer) -> PureFunction:
    """The signature of the functions that a pointer may lead to.

    Raises
    ------
    UnsupportedScopError : nothing says that they are pure, or the region changes the pointer.
    """
    if pointer.spelling not in x.pure:
        raise may_have_effects(x.path, node, pointer.spelling)
    if not pointer.kept:
        raise x.refuse(f"the region changes `{pointer.spelling}`, which it calls", node,
                       hint="set it in front of the region")
    return _declared(x, node, pointer.spelling, pointer.ctype)


def performed(b: StatementBuilder, node: EffectCall, domain: isl.Set) -> Call:
    """The call of a function whose effects are declared, with an access for all that it reaches.

    Raises
    ------
    UnsupportedScopError : it has no prototype, or nothing is said of a pointer.
    """
    x, call = b.x, node.call
    name = call.name.name
    symbol = x.bindings.visible.get(name)
    ctype = None if symbol is None else symbol.ctype
    arguments = list(call.args.exprs) if call.args else []
    if not isinstance(ctype, FunctionType) or ctype.parameters is None or ctype.variadic:
        raise x.refuse(f"the function `{name}` has no prototype", call, hint="declare it with its parameter types")
    if isinstance(node.statement, c_ast.Assignment) and not isinstance(ctype.result, Scalar):
        raise x.refuse(f"`{name}` gives no number", call)
    made = tuple(_passed(b, node, at, argument, parameter, domain) for at, (argument, parameter) in enumerate(
        zip(arguments, ctype.parameters, strict=True)))
    return Call(name, made, ctype.result.dtype if isinstance(ctype.result, Scalar) else dtypes.INT32)


def _passed(b: StatementBuilder, node: EffectCall, at: int, argument: c_ast.Node, parameter: CType,
            domain: isl.Set) -> Expr:
    """An argument of a function whose effects are declared."""
    if isinstance(parameter, Scalar):
        value = expression(b, argument, domain)
        return value if value.dtype == parameter.dtype else Cast(value, parameter.dtype)
    reached = [r for r in node.reached if r.argument == at]
    if not reached:
        raise b.x.refuse(f"the declared effects of `{node.call.name.name}` do not say what it reaches through its "
                         f"argument `{describe(argument)}`", node.call,
                         hint="name its sections behind `reads` or `writes`")
    found = [b.reach(r.pointed, r.element, r.counts, r.rows, domain, writes=r.is_written) for r in reached]
    wanted = _element_of(parameter)
    if wanted is not None and wanted.dtype != found[0][1]:
        raise b.x.refuse(f"`{node.call.name.name}` sees elements of another type behind its argument "
                         f"`{describe(argument)}`", node.call, hint="pass an array of the parameter's own type")
    return Address(tuple(reference for reference, _ in found), found[0][1], rows=len(reached[0].counts) > 1)


def _element_of(parameter: CType) -> Scalar | None:
    """The numbers behind a pointer, or rows of them; None for `void *`."""
    while (inner := element_type(parameter)) is not None:
        parameter = inner
    return parameter if isinstance(parameter, Scalar) else None


def _declared(x: Extraction, node: c_ast.FuncCall, name: str, ctype: CType | None) -> PureFunction:
    if (isinstance(ctype, FunctionType) and ctype.parameters is None and not node.args
            and isinstance(ctype.result, Scalar)):
        return PureFunction(ctype.result.dtype, ())
    if not isinstance(ctype, FunctionType) or ctype.parameters is None or ctype.variadic:
        raise x.refuse(f"the pure function `{name}` has no prototype", node, hint="declare it with its parameter types")
    parameters = [p.dtype for p in ctype.parameters if isinstance(p, Scalar)]
    if not isinstance(ctype.result, Scalar) or len(parameters) != len(ctype.parameters):
        raise _not_by_value(x, node, name)
    return PureFunction(ctype.result.dtype, tuple(parameters))


def _not_by_value(x: Extraction, node: c_ast.Node, name: str) -> UnsupportedScopError:
    return x.refuse(f"the pure function `{name}` takes or gives something that is no number", node,
                    hint="pass numbers by value")
