"""The second reading of a text: evaluated in Python from its syntax tree, on exact integers and rounded floats.

It shares no code with the reader of the matcher (`reading`) nor with C printed from it: literal types (C11 6.4.4.1),
promotions (6.3.1.1), the usual conversions (6.3.1.8) and wraps are written here once more.  What C leaves undefined
(a division by zero, a shift out of range, a subscript out of range, a value that was never given) is refused with the
sub-expression, once it happens.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from pycparser import c_ast, c_parser
from pycparser.c_generator import CGenerator

from polysched.errors import BudgetExceededError, SourceSyntaxError, UndefinedDescriptionError
from polysched.records import dataclass
from polysched.tensorize.description.exact_arithmetic import FUNCTIONS
from polysched.tensorize.description.exact_numbers import MEANINGS, nearest, to_float
from polysched.tensorize.limits import LIMITS

MOST_ASSIGNMENTS = LIMITS.most_assignments


class CType(NamedTuple):
    """`int` of so many bits, `float` (32 or 64), or `bits` of a short float."""

    kind: str
    bits: int
    signed: bool = True


INT, LONG = CType("int", 32), CType("int", 64)
FLOAT, DOUBLE = CType("float", 32), CType("float", 64)
NAMES: dict[str, CType] = {
    **{f"{u}int{bits}_t": CType("int", bits, not u) for bits in (8, 16, 32, 64) for u in ("", "u")},
    "int": INT, "unsigned": CType("int", 32, False), "unsigned int": CType("int", 32, False), "long": LONG,
    "long int": LONG, "long long": LONG, "unsigned long": CType("int", 64, False),
    "unsigned long long": CType("int", 64, False), "size_t": CType("int", 64, False), "ptrdiff_t": LONG,
    "short": CType("int", 16), "unsigned short": CType("int", 16, False),
    "signed char": CType("int", 8), "unsigned char": CType("int", 8, False), "float": FLOAT, "double": DOUBLE,
    "bf16": CType("bits", 16, False), "f16": CType("bits", 16, False)}
OF_NUMPY = {"bfloat16": NAMES["bf16"], "float16": NAMES["f16"], "float32": FLOAT, "float64": DOUBLE} | {
    f"{u}int{bits}": CType("int", bits, not u) for bits in (8, 16, 32, 64) for u in ("", "u")}
_HEADER = "".join(f"typedef int {n};\n" for n in NAMES if n.endswith("_t") or n in ("bf16", "f16"))

DECLARATORS = (c_ast.Decl, c_ast.Typename, c_ast.TypeDecl, c_ast.PtrDecl, c_ast.ArrayDecl)

Memory: TypeAlias = dict[str, Any]    # arrays as flat lists, iterators and sizes as numbers, locals as lists
Code: TypeAlias = Callable[[Memory], Any]
Typed: TypeAlias = tuple[CType, Code]


@dataclass(frozen=True)
class Emulated:
    """A text that can be executed: `run` changes the arrays of its memory in place."""

    name: str
    run: Callable[[Memory], None]


def emulated(text: str) -> Emulated:
    """The text as Python.

    Raises
    ------
    SourceSyntaxError : a construct that this reading does not know.
    """
    tree = c_parser.CParser().parse(_HEADER + text, "<semantics>")
    function = next(item for item in tree.ext if isinstance(item, c_ast.FuncDef))
    return Emulated(function.decl.name, Emulator(function).whole())


def as_list(values: np.ndarray[Any, np.dtype[Any]]) -> list[Any]:
    """An operand for `Emulated.run`: integers of Python, floats of NumPy."""
    flat = values.ravel()
    return list(flat) if flat.dtype.kind == "f" else flat.tolist()


def undefined(problem: str, node: c_ast.Node, hint: str) -> UndefinedDescriptionError:
    """The refusal of what C leaves undefined."""
    return UndefinedDescriptionError(problem, witness=CGenerator().visit(node), hint=hint)


def quoted(problem: str, node: c_ast.Node) -> SourceSyntaxError:
    """The refusal of a construct, quoted."""
    return SourceSyntaxError(problem, witness=CGenerator().visit(node))


def called_name(node: c_ast.FuncCall) -> str:
    """The function that a call names; "" where it calls what an expression points to."""
    return node.name.name if isinstance(node.name, c_ast.ID) else ""


def arguments(node: c_ast.FuncCall, count: int) -> list[c_ast.Node]:
    """The arguments of a call of a function with so many parameters."""
    given = node.args.exprs if node.args is not None else []
    if len(given) != count:
        raise quoted(f"{count} argument{'s' * (count != 1)} {'is' if count == 1 else 'are'} expected", node)
    return list(given)


def type_of(node: c_ast.Node) -> CType:
    """The type that a declaration or a cast names."""
    named = node
    while isinstance(named, DECLARATORS):
        named = named.type
    if not isinstance(named, c_ast.IdentifierType):
        raise quoted("such a type is not evaluated", node)
    if (name := " ".join(named.names)) not in NAMES:
        raise quoted(f"the type {name} is not evaluated", node)
    return NAMES[name]


def constant(text: str) -> tuple[CType, Any]:
    """Type and value of a constant (C11 6.4.4.1, table below paragraph 5; 6.4.4.2)."""
    if re.fullmatch(r"(0[xX][0-9a-fA-F]+|[0-9]+)[uUlL]*", text) is None:
        return _float_constant(text)
    digits = text.rstrip("uUlL")
    suffix = text[len(digits):].lower()
    value = int(digits, 16) if digits[:2] in ("0x", "0X") else int(digits, 8) if digits[0] == "0" else int(digits)
    for bits in (32, 64) if "l" not in suffix else (64,):
        if "u" not in suffix and value < 1 << (bits - 1):
            return CType("int", bits), value
        if ("u" in suffix or digits[0] == "0") and value < 1 << bits:
            return CType("int", bits, False), value
    raise SourceSyntaxError("a constant that no type holds", witness=text)


def _float_constant(text: str) -> tuple[CType, Any]:
    hexadecimal = text[:2] in ("0x", "0X")
    single = text[-1] in "fF" and (not hexadecimal or "p" in text.lower())
    digits = text[:-1] if single else text
    try:
        number = float.fromhex(digits) if hexadecimal else float(digits)
    except ValueError:
        raise SourceSyntaxError("such a constant is not evaluated", witness=text) from None
    except OverflowError:   # of hexadecimal digits alone
        number = float("inf")
    if not single or not np.isfinite(number) or not number:
        return (FLOAT, np.float32(number)) if single else (DOUBLE, np.float64(number))
    return FLOAT, np.float32(nearest(_exact(digits, hexadecimal), "float"))   # rounded once


def _exact(digits: str, hexadecimal: bool) -> Fraction:
    """The number that digits say."""
    if not hexadecimal:
        return Fraction(digits)
    significand, exponent = re.split("[pP]", digits[2:])
    places = len(significand) - 1 - significand.index(".") if "." in significand else 0
    return Fraction(int(significand.replace(".", ""), 16), 1 << 4 * places) * Fraction(2) ** int(exponent)


def promoted(t: CType) -> CType:
    """C11 6.3.1.1, paragraph 2."""
    return INT if t.kind == "int" and t.bits < 32 else t


def common(a: CType, b: CType) -> CType:
    """C11 6.3.1.8."""
    if "float" in (a.kind, b.kind):
        return DOUBLE if DOUBLE in (a, b) else FLOAT
    a, b = promoted(a), promoted(b)
    wide = max(a.bits, b.bits)
    return CType("int", wide, all(t.signed for t in (a, b) if t.bits == wide))


def convert(value: Any, have: CType, want: CType, node: c_ast.Node) -> Any:
    """A value in another type; an integer that does not fit keeps its low bits."""
    if want == have:
        return value
    if want.kind == "int":
        if have.kind != "int":
            raise undefined("a float is converted to an integer", node, "clamp the value ahead of the conversion")
        low = value & ((1 << want.bits) - 1)
        return low - (1 << want.bits) if want.signed and low >> (want.bits - 1) else low
    if want.kind == "float":
        if have.kind == "int":
            return to_float(value, "float" if want == FLOAT else "double")
        return np.float32(value) if want == FLOAT else np.float64(value)
    raise quoted("a short float is converted by a function alone", node)


class Emulator:
    """Turns the tree into closures over one memory."""

    def __init__(self, function: c_ast.FuncDef) -> None:
        self.function = function
        self.types: dict[str, CType] = {}
        self.shapes: dict[str, tuple[Any, ...]] = {}

    def whole(self) -> Callable[[Memory], None]:
        parameters = self.function.decl.type.args.params if self.function.decl.type.args else ()
        for parameter in parameters:
            self.declare(parameter)
        code = self.statement(self.function.body)

        def run(memory: Memory) -> None:
            memory["#"] = MOST_ASSIGNMENTS
            with np.errstate(all="ignore"):
                code(memory)

        return run

    def declare(self, node: c_ast.Decl) -> None:
        if node.name in self.types:
            raise quoted(f"{node.name} stands for two things", node)
        shape, kind = [], node.type
        while isinstance(kind, c_ast.ArrayDecl):
            dim = kind.dim
            shape.append(dim.name if isinstance(dim, c_ast.ID) else constant(dim.value)[1])
            kind = kind.type
        self.types[node.name], self.shapes[node.name] = type_of(node), tuple(shape)

    def statement(self, node: c_ast.Node) -> Code:
        match node:
            case c_ast.Compound() | c_ast.DeclList():
                around = (dict(self.types), dict(self.shapes))
                inside = [self.statement(x) for x in (node.block_items if isinstance(node, c_ast.Compound)
                                                      else node.decls) or ()]
                if isinstance(node, c_ast.Compound):   # what it declares ends with it
                    self.types, self.shapes = around

                def all_of(m: Memory) -> None:
                    for code in inside:
                        code(m)

                return all_of
            case c_ast.Decl():
                return self.local(node)
            case c_ast.For():
                return self.loop(node)
            case c_ast.Assignment():
                return self.assignment(node)
            case c_ast.If():
                return self.branch(node)
            case c_ast.EmptyStatement():
                return lambda m: None
        raise quoted("such a statement is not executed", node)

    def branch(self, node: c_ast.If) -> Code:
        tested, test = self.value(node.cond)
        if tested.kind == "bits":
            raise quoted("a short float is no number of C", node)
        then = self.statement(node.iftrue)
        other = self.statement(node.iffalse) if node.iffalse is not None else None

        def run(m: Memory) -> None:
            if test(m):
                then(m)
            elif other is not None:
                other(m)

        return run

    def local(self, node: c_ast.Decl) -> Code:
        self.declare(node)
        name, want, shape = node.name, self.types[node.name], self.shapes[node.name]
        if any(isinstance(extent, str) for extent in shape):
            raise quoted("a local of so many elements is not evaluated", node)
        count = int(np.prod(shape)) if shape else 1
        if node.init is None:
            return lambda m: m.__setitem__(name, [None] * count)
        listed = node.init.exprs if isinstance(node.init, c_ast.InitList) else [node.init]
        given = [self.converted(e, want) for e in listed]
        zero = convert(0, INT, want, node) if shape else None

        def start(m: Memory) -> None:
            values = [code(m) for code in given]
            m[name] = values + [zero] * (count - len(values))

        return start

    def loop(self, node: c_ast.For) -> Code:
        declared = node.init.decls[0] if isinstance(node.init, c_ast.DeclList) and len(node.init.decls) == 1 else None
        if declared is None or declared.init is None or node.cond is None:
            raise quoted("such a loop is not executed", node)
        self.declare(declared)
        name, want = declared.name, self.types[declared.name]
        step = _step(node, name)
        first, going_on = self.converted(declared.init, want), self.value(node.cond)[1]
        body = self.statement(node.stmt)
        del self.types[name], self.shapes[name]

        def run(m: Memory) -> None:
            m[name] = [first(m)]
            while going_on(m):
                body(m)
                m[name][0] += step
            del m[name]

        return run

    def assignment(self, node: c_ast.Assignment) -> Code:
        name, place = self.place(node.lvalue)
        want = self.types[name]
        if node.op == "=":
            code = self.converted(node.rvalue, want)
        else:
            made, compute = self.binary(node.op[:-1], self.value(node.lvalue), self.value(node.rvalue), node)
            code = self.cast(compute, made, want, node)

        def assign(m: Memory) -> None:
            m["#"] -= 1
            if m["#"] < 0:
                raise BudgetExceededError(f"one execution makes more than {MOST_ASSIGNMENTS} assignments",
                                          witness=CGenerator().visit(node), hint="describe a smaller unit")
            value = code(m)
            m[name][place(m)] = value

        return assign

    def place(self, node: c_ast.Node) -> tuple[str, Callable[[Memory], int]]:
        """The variable of a reference, and the position in its flat list."""
        whole = node
        subscripts: list[Code] = []
        while isinstance(node, c_ast.ArrayRef):
            subscripts.insert(0, self.value(node.subscript)[1])
            node = node.name
        name, shape = node.name, self.shapes[node.name]
        if not subscripts:
            return name, lambda m: 0

        def position(m: Memory) -> int:
            at = 0
            for code, extent in zip(subscripts, shape, strict=True):
                size = m[extent][0] if isinstance(extent, str) else extent
                here = code(m)
                if not 0 <= here < size:
                    raise undefined(f"subscript {here} of {name} is outside of its {size} elements", whole,
                                    "write the operand with as many elements as the loops reach")
                at = at * size + here
            return at

        return name, position

    def converted(self, node: c_ast.Node, want: CType) -> Code:
        have, code = self.value(node)
        return self.cast(code, have, want, node)

    def cast(self, code: Code, have: CType, want: CType, node: c_ast.Node) -> Code:
        """A value in another type."""
        return code if have == want else lambda m: convert(code(m), have, want, node)

    def value(self, node: c_ast.Node) -> Typed:
        match node:
            case c_ast.Constant():
                made, number = constant(node.value)
                return made, lambda m: number
            case c_ast.ID() | c_ast.ArrayRef():
                return self.load(node)
            case c_ast.Cast():
                want = type_of(node.to_type)
                return want, self.converted(node.expr, want)
            case c_ast.UnaryOp():
                return self.unary(node)
            case c_ast.BinaryOp() if node.op in ("&&", "||"):
                return INT, self.logical(node)
            case c_ast.BinaryOp():
                return self.binary(node.op, self.value(node.left), self.value(node.right), node)
            case c_ast.TernaryOp():
                test, (a, _), (b, _) = self.value(node.cond)[1], self.value(node.iftrue), self.value(node.iffalse)
                if "bits" in (a.kind, b.kind):
                    raise quoted("a short float is no number of C", node)
                want = common(a, b)
                then, other = self.converted(node.iftrue, want), self.converted(node.iffalse, want)
                return want, lambda m: then(m) if test(m) else other(m)
            case c_ast.FuncCall() if called_name(node) in FUNCTIONS:
                return self.call(node)
        raise quoted("such an expression is not evaluated", node)

    def load(self, node: c_ast.Node) -> Typed:
        name, place = self.place(node)

        def read(m: Memory) -> Any:
            value = m[name][place(m)]
            if value is None:
                raise undefined("a local is read before it has a value", node, "give it a value where it is declared")
            return value

        return self.types[name], read

    def call(self, node: c_ast.FuncCall) -> Typed:
        function = FUNCTIONS[node.name.name]
        meaning = MEANINGS[function.name]
        given = [self.converted(a, OF_NUMPY[p.name])
                 for a, p in zip(arguments(node, len(function.parameters)), function.parameters, strict=True)]
        return OF_NUMPY[function.dtype.name], lambda m: meaning(*[code(m) for code in given])

    def unary(self, node: c_ast.UnaryOp) -> Typed:
        have, code = self.value(node.expr)
        if node.op == "!":
            return INT, lambda m: int(not code(m))
        want = promoted(have)
        if node.op not in _UNARY:
            raise quoted("such an operator is not evaluated", node)
        if have.kind == "bits" or (node.op == "~" and have.kind == "float"):
            raise quoted("no operand of this operator", node)
        if want.kind == "float":
            return want, (lambda m: -code(m)) if node.op == "-" else code
        operator = _UNARY[node.op]
        return want, lambda m: convert(operator(code(m)), CType("int", 128), want, node)

    def logical(self, node: c_ast.BinaryOp) -> Code:
        (_, left), (_, right) = self.value(node.left), self.value(node.right)
        if node.op == "&&":
            return lambda m: int(bool(left(m)) and bool(right(m)))
        return lambda m: int(bool(left(m)) or bool(right(m)))

    def binary(self, op: str, left: Typed, right: Typed, node: c_ast.Node) -> Typed:
        (a, first), (b, second) = left, right
        if "bits" in (a.kind, b.kind):
            raise quoted("a short float is no number of C", node)
        if "float" in (a.kind, b.kind) and op not in _COMPARED and op not in _ON_FLOATS:
            raise quoted("no operands of this operator", node)
        if op in ("<<", ">>"):
            want = promoted(a)
            return want, lambda m: _shifted(op, convert(first(m), a, want, node), second(m), want, node)
        both = common(a, b)
        if op in _COMPARED:
            compared = _COMPARED[op]
            return INT, lambda m: int(compared(convert(first(m), a, both, node), convert(second(m), b, both, node)))
        if both.kind == "float":
            on_floats = _ON_FLOATS[op]
            return both, lambda m: on_floats(convert(first(m), a, both, node), convert(second(m), b, both, node))

        def compute(m: Memory) -> int:
            x, y = convert(first(m), a, both, node), convert(second(m), b, both, node)
            made = _divided(op, x, y, both, node) if op in "/%" else _ON_INTEGERS[op](x, y)
            return int(convert(made, CType("int", 128), both, node))

        return both, compute


def _step(node: c_ast.For, name: str) -> int:
    """What a loop adds to its iterator."""
    step = {"++": 1, "p++": 1, "--": -1, "p--": -1}.get(getattr(node.next, "op", ""))
    if step is None or not isinstance(node.next.expr, c_ast.ID) or node.next.expr.name != name:
        raise quoted("such a loop is not executed", node)
    return step


_UNARY: Mapping[str, Callable[[int], int]] = {"-": lambda x: -x, "+": lambda x: x, "~": lambda x: ~x}
_COMPARED: Mapping[str, Callable[[Any, Any], Any]] = {
    "<": lambda x, y: x < y, "<=": lambda x, y: x <= y, ">": lambda x, y: x > y, ">=": lambda x, y: x >= y,
    "==": lambda x, y: x == y, "!=": lambda x, y: x != y}
_ON_FLOATS: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": lambda x, y: x + y, "-": lambda x, y: x - y, "*": lambda x, y: x * y, "/": lambda x, y: x / y}
_ON_INTEGERS: Mapping[str, Callable[[int, int], int]] = {
    "+": lambda x, y: x + y, "-": lambda x, y: x - y, "*": lambda x, y: x * y, "&": lambda x, y: x & y,
    "|": lambda x, y: x | y, "^": lambda x, y: x ^ y}


def _shifted(op: str, x: int, amount: int, want: CType, node: c_ast.Node) -> int:
    if not 0 <= amount < want.bits:
        raise undefined(f"a shift by {amount} of {want.bits} bits", node,
                        "bound the operand where it is read, for instance by `& 31`")
    return int(convert(x << amount if op == "<<" else x >> amount, CType("int", 128), want, node))


def _divided(op: str, x: int, y: int, want: CType, node: c_ast.Node) -> int:
    """Towards zero (C11 6.5.5, paragraph 6)."""
    if y == 0:
        raise undefined("a division by zero", node,
                        "say what a divisor of zero gives, for instance `b == 0 ? 0 : a / b`")
    if want.signed and y == -1 and x == -(1 << (want.bits - 1)):
        raise undefined("a quotient that does not fit its type", node, "compute the quotient in a wider type")
    quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
    return quotient if op == "/" else x - quotient * y


def run_emulated(emulator: Emulated, operands: Mapping[str, np.ndarray[Any, np.dtype[Any]]], written: Sequence[str],
                 sizes: Mapping[str, int]) -> dict[str, np.ndarray[Any, np.dtype[Any]]]:
    """The written operands after one execution."""
    memory: Memory = {n: as_list(v) for n, v in operands.items()} | {n: [v] for n, v in sizes.items()}
    emulator.run(memory)
    return {n: np.array(memory[n], operands[n].dtype).reshape(operands[n].shape) for n in written}
