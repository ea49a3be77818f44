"""C expressions as affine functions and conditions, with the meaning that C gives them.

Values are exact integers.  Signed arithmetic does not overflow in a valid program (C11 6.5); where an
unsigned or narrowing computation could wrap, the condition under which it does not is proved or
becomes an assumption on the parameters.  Sums, differences and products may wrap on the way to a result
that does not (`A[j - i + 40]` with an unsigned `i` above `j`): what counts is the whole of them.
"""

from __future__ import annotations

import islpy as isl
from pycparser import c_ast

from polysched.scop import dtypes
from polysched.scop.c_frontend.declarations.bindings import describe
from polysched.scop.c_frontend.declarations.c_types import CType, Pointer, Scalar, StructType
from polysched.scop.c_frontend.declarations.literals import integer_constant, literal
from polysched.scop.c_frontend.declarations.scopes import Symbol
from polysched.scop.c_frontend.extraction import Affine, Extraction, NotAffine
from polysched.scop.c_frontend.subscripts import polyhedra
from polysched.scop.c_frontend.subscripts.members import constant_element, memory_parameter
from polysched.scop.c_frontend.subscripts.size_values import size_value
from polysched.scop.dtypes import DType, Kind, promote, usual_conversion
from polysched.scop.limits import LIMITS
from polysched.scop.points import isl_value

RING = frozenset({"+", "-", "*", "<<"})
COMPARE = {"<": "lt_set", "<=": "le_set", ">": "gt_set", ">=": "ge_set", "==": "eq_set", "!=": "ne_set"}
BY_NAME = frozenset({"min", "max", "floord", "ceild", "abs", "labs", "llabs"})
ALSO_NAMED = {"imin": "min", "imax": "max", "umin": "min", "umax": "max", "intFloor": "floord", "intCeil": "ceild"}
"""The names that PENCIL and the Omega project give them."""
TYPED = {"imin": dtypes.INT32, "imax": dtypes.INT32, "umin": dtypes.UINT32, "umax": dtypes.UINT32}


def affine(x: Extraction, node: c_ast.Node, domain: isl.Set) -> Affine:
    """The value of an integer expression on a domain.

    Raises
    ------
    NotAffine : it is not an affine function of iterators and parameters.
    """
    found = _modulo(x, node, domain)
    if not _in_ring(node):
        return found
    return _result(x, found.value, found.dtype, domain, node)


def _in_ring(node: c_ast.Node) -> bool:
    """Whether an operator gives the right value, up to multiples of 2^n, where its operands are right up to those."""
    operators = RING if isinstance(node, c_ast.BinaryOp) else ("-", "+")
    return isinstance(node, c_ast.BinaryOp | c_ast.UnaryOp) and node.op in operators


def _modulo(x: Extraction, node: c_ast.Node, domain: isl.Set) -> Affine:
    """The value, up to multiples of 2^n where it is that of an operator in an unsigned type of n bits."""
    if isinstance(node, c_ast.Constant):
        return _constant(node)
    if isinstance(node, c_ast.ID):
        return _variable(x, node, domain)
    if isinstance(node, c_ast.UnaryOp):
        return _unary(x, node, domain)
    if isinstance(node, c_ast.BinaryOp | c_ast.TernaryOp):
        try:
            return (_binary if isinstance(node, c_ast.BinaryOp) else _ternary)(x, node, domain)
        except NotAffine:
            if (value := size_value(x, node, domain)) is not None:
                return value
            raise
    if isinstance(node, c_ast.Cast):
        ctype = x.bindings.types.get(node.to_type)
        if not isinstance(ctype, Scalar) or not ctype.dtype.is_integer:
            raise NotAffine(node, "it is converted to a type that is no integer")
        return convert(x, affine(x, node.expr, domain), ctype.dtype, domain, node)
    if isinstance(node, c_ast.FuncCall):
        return _call(x, node, domain)
    if isinstance(node, c_ast.ArrayRef | c_ast.StructRef):
        return _memory(x, node, domain)
    raise NotAffine(node, "it is no affine expression")


def _memory(x: Extraction, node: c_ast.Node, domain: isl.Set) -> Affine:
    constant = constant_element(x, node)
    if constant is not None:
        return constant
    parameter = memory_parameter(x, node, domain)
    if parameter is None:
        raise NotAffine(node, "it reads memory")
    return Affine(polyhedra.symbol(parameter.name), parameter.dtype)


def condition(x: Extraction, node: c_ast.Node, domain: isl.Set) -> isl.Set:
    """Where on a domain an expression is true (not zero).

    Raises
    ------
    NotAffine : it is not a condition on iterators and parameters alone.
    """
    if isinstance(node, c_ast.BinaryOp) and node.op in ("&&", "||"):
        left = condition(x, node.left, domain)
        both = node.op == "&&"
        rest = domain.intersect(left) if both else domain.subtract(left)
        right = condition(x, node.right, rest)
        return left.intersect(right) if both else left.union(right.subtract(left))
    if isinstance(node, c_ast.BinaryOp) and node.op in ("&", "|") and _is_truth(node.left) and _is_truth(node.right):
        left, right = condition(x, node.left, domain), condition(x, node.right, domain)
        return left.intersect(right) if node.op == "&" else left.union(right)
    if isinstance(node, c_ast.UnaryOp) and node.op == "!":
        return condition(x, node.expr, domain).complement()
    if isinstance(node, c_ast.BinaryOp) and node.op in COMPARE:
        left_value, right_value = affine(x, node.left, domain), affine(x, node.right, domain)
        common = usual_conversion(left_value.dtype, right_value.dtype)
        left_value = convert(x, left_value, common, domain, node)
        right_value = convert(x, right_value, common, domain, node)
        result: isl.Set = getattr(left_value.value, COMPARE[node.op])(right_value.value)
        return result
    return affine(x, node, domain).value.ne_set(polyhedra.constant(0))


def _is_truth(node: c_ast.Node) -> bool:
    """Whether an expression is 0 or 1 by its operator."""
    if isinstance(node, c_ast.BinaryOp) and node.op in ("&", "|"):
        return _is_truth(node.left) and _is_truth(node.right)
    return (isinstance(node, c_ast.BinaryOp) and (node.op in COMPARE or node.op in ("&&", "||"))) or (
        isinstance(node, c_ast.UnaryOp) and node.op == "!")


def may_be(x: Extraction, node: c_ast.Node, domain: isl.Set, *, truth: bool) -> isl.Set:
    """The part of a domain where a condition may be true (or false); data says nothing, affine parts say all."""
    if isinstance(node, c_ast.UnaryOp) and node.op == "!":
        return may_be(x, node.expr, domain, truth=not truth)
    if isinstance(node, c_ast.BinaryOp) and node.op in ("&&", "||"):
        left = may_be(x, node.left, domain, truth=truth)
        both = (node.op == "&&") == truth
        with x.perhaps():
            right = may_be(x, node.right, left if both else domain, truth=truth)
        return right if both else left.union(right).coalesce()
    try:
        with x.attempt(strict=True):
            where = condition(x, node, domain)
    except NotAffine:
        return domain
    return domain.intersect(where) if truth else domain.subtract(where)


def convert(x: Extraction, value: Affine, dtype: DType, domain: isl.Set, node: c_ast.Node) -> Affine:
    """The value converted to another integer type; conversions that could change it must not."""
    if dtype == value.dtype:
        return value
    if dtype.kind is Kind.BOOL:
        return Affine(polyhedra.indicator(value.value.ne_set(polyhedra.constant(0))), dtype)
    low, high = dtype.value_range()
    source_low, source_high = value.dtype.value_range()
    if source_low < low or source_high > high:
        _stays_inside(x, value.value, dtype, domain, node, f"`{describe(node)}` fits the type {dtype.c_name}")
    return Affine(value.value, dtype)


def _stays_inside(x: Extraction, value: isl.PwAff, dtype: DType, domain: isl.Set, node: c_ast.Node,
                  text: str) -> None:
    low, high = dtype.value_range()
    x.require(domain, polyhedra.between(value, low, high), kind="no-wrap", text=text, node=node)


def _result(x: Extraction, value: isl.PwAff, dtype: DType, domain: isl.Set, node: c_ast.Node) -> Affine:
    """The result of an operator in a type: unsigned arithmetic must not wrap, signed cannot."""
    if dtype.kind is not Kind.SIGNED:
        _stays_inside(x, value, dtype, domain, node, f"`{describe(node)}` does not wrap around in {dtype.c_name}")
    return Affine(value, dtype)


def _constant(node: c_ast.Constant) -> Affine:
    found = literal(node.value)
    if found is None or not isinstance(found.value, int) or not found.dtype.is_integer:
        raise NotAffine(node, "it is no integer constant")
    return Affine(polyhedra.constant(found.value), found.dtype)


def _variable(x: Extraction, node: c_ast.ID, domain: isl.Set) -> Affine:
    symbol = x.bindings.symbol(node)
    if symbol.is_enumerator:
        return enumerator(x, symbol, domain)
    if symbol in x.known:
        return x.known[symbol].affine
    loop = x.loop_of(symbol)
    if loop is not None:
        return Affine(polyhedra.symbol(loop.isl_name), loop.dtype)
    constant = constant_symbol(x, symbol, domain)
    if constant is not None:
        return constant
    parameter = x.parameter(symbol)
    if parameter is not None:
        return Affine(polyhedra.symbol(parameter.name), parameter.dtype)
    if isinstance(symbol.ctype, Scalar) and not symbol.ctype.dtype.is_integer:
        raise NotAffine(node, f"`{node.name}` is not an integer")
    if symbol in x.bindings.written:
        raise NotAffine(node, f"`{node.name}` changes inside the region")
    raise NotAffine(node, f"`{node.name}` is no integer variable")


def enumerator(x: Extraction, symbol: Symbol, domain: isl.Set) -> Affine:
    """The value of an enumeration constant, which has type int (C11 6.7.2.2)."""
    base = polyhedra.constant(0) if symbol.enumerator is None else affine(x, symbol.enumerator, domain).value
    return Affine(base.add(polyhedra.constant(symbol.offset)), dtypes.INT32)


def constant_symbol(x: Extraction, symbol: Symbol, domain: isl.Set) -> Affine | None:
    """The value of a `const` integer that is initialised with a literal: it cannot change in a valid program."""
    ctype = symbol.ctype
    initial = getattr(symbol.node, "init", None)
    if not isinstance(ctype, Scalar) or not ctype.constant or ctype.volatile or not ctype.dtype.is_integer:
        return None
    sign = 1
    if isinstance(initial, c_ast.UnaryOp) and initial.op == "-":
        sign, initial = -1, initial.expr
    value = integer_constant(initial)
    if value is None:
        return None
    value *= sign
    low, high = ctype.dtype.value_range()
    return Affine(polyhedra.constant(value), ctype.dtype) if low <= value <= high else None


def _unary(x: Extraction, node: c_ast.UnaryOp, domain: isl.Set) -> Affine:
    if node.op == "!":
        return Affine(polyhedra.indicator(condition(x, node, domain)), dtypes.INT32)
    if node.op == "sizeof":
        size = size_of(x, node.expr, domain)
        if size is None:
            raise NotAffine(node, "the size of that type is not known")
        return Affine(polyhedra.constant(size), dtypes.UINT64)
    if node.op == "*":
        return _memory(x, node, domain)
    if node.op not in ("-", "+", "~"):
        raise NotAffine(node, f"the operator {node.op} is not affine")
    operand = _modulo(x, node.expr, domain)
    dtype = promote(operand.dtype)
    operand = _operand(x, operand, dtype, domain, node.expr)
    if node.op == "+":
        return operand
    value = operand.value.neg()
    if node.op == "~":
        if dtype.kind is not Kind.SIGNED:
            raise NotAffine(node, "`~` of an unsigned value is no small number")
        return Affine(value.sub(polyhedra.constant(1)), dtype)
    return Affine(value, dtype)


def _operand(x: Extraction, value: Affine, dtype: DType, domain: isl.Set, node: c_ast.Node) -> Affine:
    """An operand of an operator in a type, from what `_modulo` gives; right up to multiples of 2^n in an unsigned one.

    A conversion to an unsigned type adds such multiples; one from a narrower unsigned type needs the value itself.
    """
    if value.dtype != dtype and _in_ring(node):
        value = _result(x, value.value, value.dtype, domain, node)
    return Affine(value.value, dtype) if dtype.kind is Kind.UNSIGNED else convert(x, value, dtype, domain, node)


def size_of(x: Extraction, node: c_ast.Node, domain: isl.Set) -> int | None:
    """The size in bytes of a type name or variable; None when it is not a known number."""
    ctype: CType | None = x.bindings.types.get(node)
    if ctype is None and isinstance(node, c_ast.ID):
        ctype = x.bindings.symbol(node).ctype
    if isinstance(ctype, Scalar):
        return ctype.dtype.bytes
    if isinstance(ctype, StructType) or ctype is None:
        return None
    return None


def _binary(x: Extraction, node: c_ast.BinaryOp, domain: isl.Set) -> Affine:
    if node.op in COMPARE or node.op in ("&&", "||"):
        return Affine(polyhedra.indicator(condition(x, node, domain)), dtypes.INT32)
    if node.op in ("&", "|") and _is_truth(node):
        return Affine(polyhedra.indicator(condition(x, node, domain)), dtypes.INT32)
    if node.op in ("<<", ">>"):
        return _shift(x, node, domain)
    if node.op in RING:
        return _sum_or_product(x, node, domain)
    left, right = affine(x, node.left, domain), affine(x, node.right, domain)
    dtype = usual_conversion(left.dtype, right.dtype)
    left, right = convert(x, left, dtype, domain, node), convert(x, right, dtype, domain, node)
    divisor = polyhedra.constant_value(right.value)
    if node.op in ("/", "%"):
        return Affine(_divided(x, node, left.value, right.value, domain), dtype)
    if node.op == "&" and divisor is not None and divisor > 0 and divisor & (divisor + 1) == 0:
        return Affine(left.value.mod_val(isl_value(divisor + 1)), dtype)
    raise NotAffine(node, f"the operator {node.op} is not affine")


def _divided(x: Extraction, node: c_ast.BinaryOp, left: isl.PwAff, right: isl.PwAff, domain: isl.Set) -> isl.PwAff:
    """A quotient or remainder of two values of one type, rounded towards zero."""
    divisor = polyhedra.constant_value(right)
    if divisor == 0:
        raise NotAffine(node, "it divides by zero")
    if divisor and (inner := _of_shifted_remainder(x, node, divisor, domain)) is not None:
        return inner.mod_val(isl_value(divisor))
    few = _few_quotients(left, right, domain)
    if few is not None:   # case by case: the rims of periodic domains are what index sets are split at
        return few[node.op == "%"]
    if (rounded := _rounded_down(x, node, left, divisor, domain)) is not None:
        return rounded
    if divisor is None:
        raise NotAffine(node, "it divides by something that is not a constant")
    quotient = left.tdiv_q(polyhedra.constant(divisor))
    return quotient if node.op == "/" else left.sub(quotient.scale_val(isl_value(divisor)))


def _sum_or_product(x: Extraction, node: c_ast.BinaryOp, domain: isl.Set) -> Affine:
    left, right = _modulo(x, node.left, domain), _modulo(x, node.right, domain)
    dtype = usual_conversion(left.dtype, right.dtype)
    left, right = _operand(x, left, dtype, domain, node.left), _operand(x, right, dtype, domain, node.right)
    if node.op == "+":
        return Affine(left.value.add(right.value), dtype)
    if node.op == "-":
        return Affine(left.value.sub(right.value), dtype)
    if polyhedra.constant_value(left.value) is None and polyhedra.constant_value(right.value) is None:
        raise NotAffine(node, "it multiplies two values that are not constants")
    return Affine(left.value.mul(right.value), dtype)


def _rounded_down(x: Extraction, node: c_ast.BinaryOp, left: isl.PwAff, divisor: int | None,
                  domain: isl.Set) -> isl.PwAff | None:
    """A quotient or remainder by a positive constant in one piece, where C rounds down because nothing is negative.

    None for other cases: where e has both signs C's rounding takes two pieces, and every further operation multiplies
    them.
    """
    if divisor is None or divisor <= 0:
        return None
    value, good = isl_value(divisor), left.ge_set(polyhedra.constant(0))
    if not domain.intersect(x.context).subtract(good).is_empty():
        return None
    x.holds_otherwise(domain, good)
    return left.mod_val(value) if node.op == "%" else left.scale_down_val(value).floor()


def _of_shifted_remainder(x: Extraction, whole: c_ast.BinaryOp, divisor: int, domain: isl.Set) -> isl.PwAff | None:
    """The signed e of `((e % c) + c) % c`, the remainder of rounding down whatever the sign of e."""
    node = whole.left
    if divisor <= 0 or whole.op != "%" or not isinstance(node, c_ast.BinaryOp) or node.op != "+":
        return None
    for part, added in ((node.left, node.right), (node.right, node.left)):
        if (isinstance(part, c_ast.BinaryOp) and part.op == "%" and isinstance(added, c_ast.Constant)
                and isinstance(part.right, c_ast.Constant)):
            of, by, plus = (affine(x, operand, domain) for operand in (part.left, part.right, added))
            same = polyhedra.constant_value(by.value) == polyhedra.constant_value(plus.value) == divisor
            if same and all(operand.dtype.kind is Kind.SIGNED for operand in (of, by, plus)):
                return of.value
    return None


FEW_QUOTIENTS = LIMITS.spelt_quotients
MOST_CASES = LIMITS.subscript_cases


def _few_quotients(left: isl.PwAff, right: isl.PwAff, domain: isl.Set) -> tuple[isl.PwAff, isl.PwAff] | None:
    """Quotient and remainder (rounded towards 0, C11 6.5.5) by cases, where at most three quotients occur on a domain.

    A wrap-around such as `(i + 1) % n` for `0 <= i < n` is `i + 1`, or `i + 1 - n` in the last iteration: affine
    although n is no constant, and simpler than a remainder where it is one.  None for a divisor that is not positive
    everywhere, and for further quotients.
    """
    if not domain.subtract(right.ge_set(polyhedra.constant(1))).is_empty():
        return None
    quotient, remainder, count = None, None, 0
    rest = domain
    for q in sorted(range(-FEW_QUOTIENTS, FEW_QUOTIENTS + 1), key=abs):
        multiple = right.scale_val(isl_value(q))
        above = multiple.add(right) if q >= 0 else multiple.add(polyhedra.constant(1))
        least = multiple if q > 0 else multiple.sub(right).add(polyhedra.constant(1))
        case = rest.intersect(left.ge_set(least)).intersect(left.lt_set(above))
        if case.is_empty():
            continue
        rest, count = rest.subtract(case), count + 1
        here = polyhedra.constant(q).intersect_domain(case), left.sub(multiple).intersect_domain(case)
        quotient = here[0] if quotient is None else quotient.union_add(here[0])
        remainder = here[1] if remainder is None else remainder.union_add(here[1])
    if quotient is None or remainder is None or count > MOST_CASES or not rest.is_empty():
        return None
    return quotient.coalesce(), remainder.coalesce()


def _shift(x: Extraction, node: c_ast.BinaryOp, domain: isl.Set) -> Affine:
    """Shifts by a constant: a product, or the quotient rounded down (what every compiler does for `>>`)."""
    left, right = (_modulo if node.op == "<<" else affine)(x, node.left, domain), affine(x, node.right, domain)
    dtype = promote(left.dtype)
    left = _operand(x, left, dtype, domain, node.left)
    amount = polyhedra.constant_value(right.value)
    if amount is None or not 0 <= amount < dtype.bits:
        raise NotAffine(node, "it shifts by something that is not a small constant")
    factor = isl_value(1 << amount)
    if node.op == "<<":
        return Affine(left.value.scale_val(factor), dtype)
    return Affine(left.value.scale_down_val(factor).floor(), dtype)


def _ternary(x: Extraction, node: c_ast.TernaryOp, domain: isl.Set) -> Affine:
    test = condition(x, node.cond, domain)
    then_domain, else_domain = domain.intersect(test), domain.subtract(test)
    then, otherwise = affine(x, node.iftrue, then_domain), affine(x, node.iffalse, else_domain)
    dtype = usual_conversion(then.dtype, otherwise.dtype)
    then = convert(x, then, dtype, then_domain, node)
    otherwise = convert(x, otherwise, dtype, else_domain, node)
    return Affine(polyhedra.select(test, then.value, otherwise.value), dtype)


def _called(x: Extraction, node: c_ast.Node) -> str:
    """The name of the function that is called; empty for a variable, which points to any function."""
    if not isinstance(node, c_ast.ID):
        return ""
    symbol = x.bindings.meaning.get(node) or x.bindings.visible.get(node.name)
    return "" if symbol is not None and isinstance(symbol.ctype, Pointer) else str(node.name)


def _call(x: Extraction, node: c_ast.FuncCall, domain: isl.Set) -> Affine:
    """`abs`, and `min`, `max`, `floord`, `ceild` under their customary names when the file does not define them."""
    called = _called(x, node.name)
    name = called if called in x.functions else ALSO_NAMED.get(called, called)
    arguments = [affine(x, a, domain) for a in (node.args.exprs if node.args else ())] if name in BY_NAME else []
    if name not in BY_NAME or name in x.functions or len(arguments) != (1 if "abs" in name else 2):
        raise NotAffine(node, "it calls a function")
    if "abs" in name:
        dtype = dtypes.INT32 if name == "abs" else dtypes.INT64
        value = convert(x, arguments[0], dtype, domain, node).value
        return Affine(value.max(value.neg()), dtype)
    common = usual_conversion(arguments[0].dtype, arguments[1].dtype)
    dtype = TYPED.get(called, common)
    left, right = (convert(x, a, dtype, domain, node).value for a in arguments)
    if name in ("min", "max"):
        return Affine(left.min(right) if name == "min" else left.max(right), dtype)
    divisor = polyhedra.constant_value(right)
    if divisor is None or divisor <= 0:
        raise NotAffine(node, "it divides by something that is not a positive constant")
    quotient = left.scale_down_val(isl_value(divisor))
    return Affine(quotient.floor() if name == "floord" else quotient.ceil(), dtype)
