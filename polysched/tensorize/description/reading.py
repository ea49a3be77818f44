"""Reading an instruction's scalar C text: constant loops, assignments, branches, functions of `exact_arithmetic`.

Constants have the types of C11 6.4.4.1, operators those of 6.3.1.1 and 6.3.1.8, and an assignment converts to the type
of what it writes (6.5.16.1), which is an explicit `Cast`.  Signed integer arithmetic wraps; a parameter without
`const` is written.  Shape: Exo's instructions, whose specification is a loop body (Ikarashi et al., PLDI 2022, sec. 2).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from pycparser import c_ast, c_parser
from pycparser.c_generator import CGenerator

from polysched.errors import SourceSyntaxError
from polysched.scop.body import Binary, Call, Cast, Expr, IteratorRef, Literal, Load, Select, Unary, walk
from polysched.scop.c_frontend.declarations.literals import literal
from polysched.scop.dtypes import INT32, DType, promote, usual_conversion
from polysched.tensorize.description.branches import Branch, chosen
from polysched.tensorize.description.exact_arithmetic import FUNCTIONS
from polysched.tensorize.description.known_values import KnownValues
from polysched.tensorize.description.semantics import (
    TYPES,
    Affine,
    Element,
    Item,
    Local,
    Loop,
    Semantics,
    Update,
    Variable,
    table_function,
)

_TYPEDEFS = tuple(n for n in TYPES if n.endswith("_t") or n in ("bf16", "f16"))
_PRELUDE_LINES = len(_TYPEDEFS)
_HINT = "constant for loops, assignments, branches and the functions of exact_arithmetic"
_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=", "&&", "||")
_OF_INTEGERS = ("%", "<<", ">>", "&", "|", "^", "~")
_OPERATORS = ("+", "-", "*", "/", *_OF_INTEGERS[:-1], *_COMPARISONS)
_remembered: dict[str, Semantics] = {}


def remember(readings: Mapping[str, Semantics]) -> None:
    """Take readings of texts that an earlier process of the same program made; `parse` returns them."""
    _remembered.update(readings)


@lru_cache(maxsize=512)
def parse(text: str) -> Semantics:
    """Read the scalar text of an instruction.

    Raises
    ------
    SourceSyntaxError : the text is not C, or leaves the description language; the witness is the construct.
    """
    if (known := _remembered.get(text)) is not None:
        return known
    try:
        used = [n for n in _TYPEDEFS if n in text]   # reading the others takes as long as the text
        prelude = "".join(f"typedef int {n};\n" for n in used) + "\n" * (_PRELUDE_LINES - len(used))
        file = c_parser.CParser().parse(prelude + text, "<semantics>")
    except c_parser.ParseError as error:
        raise SourceSyntaxError("the semantics of an intrinsic is not C", witness=str(error)) from error
    functions = [item for item in file.ext if isinstance(item, c_ast.FuncDef)]
    if len(functions) != 1 or len(file.ext) != 1 + len(used):
        raise SourceSyntaxError("the semantics of an intrinsic is exactly one function",
                                witness=f"{len(functions)} functions, {len(file.ext) - len(used)} items")
    return _Reader(functions[0], text).read()


def refuse(problem: str, node: c_ast.Node, hint: str = _HINT) -> SourceSyntaxError:
    """A refusal that names the line and quotes the construct."""
    line = getattr(node.coord, "line", 0) - _PRELUDE_LINES if node.coord else 0
    quoted = " ".join(CGenerator().visit(node).split())
    return SourceSyntaxError(problem, where=f"semantics line {line}", witness=quoted[:200], hint=hint)


def _missing(what: str, node: c_ast.Node) -> SourceSyntaxError:
    return refuse(f"the description language has no {what}", node)


class _Reader:
    """Turns one function definition into Semantics; keeps the names in scope while it walks."""

    def __init__(self, function: c_ast.FuncDef, text: str) -> None:
        self.function, self.text = function, text
        self.variables: dict[str, Variable] = {}
        self.sizes: list[str] = []
        self.loops: list[Loop] = []          # around what is being read, outermost first
        self.elements: dict[str, Element] = {}
        self.taken: set[str] = set()         # names that are in no text
        self.known = KnownValues()

    def read(self) -> Semantics:
        declaration = self.function.decl
        for parameter in declaration.type.args.params if declaration.type.args else ():
            variable = self.variable(parameter)
            if not variable.shape and _type_name(parameter) == "int":
                self.sizes.append(variable.name)
            else:
                self.declare(variable, parameter)
        operands = tuple(self.variables.values())
        body = self.items(self.function.body)
        return Semantics(declaration.name, tuple(self.sizes), operands, body, self.text)

    def declare(self, variable: Variable, node: c_ast.Node) -> None:
        """Every name stands for one thing in the whole text."""
        taken = {*self.variables, *self.sizes, *(loop.name for loop in self.loops), *FUNCTIONS}
        if variable.name in taken:
            raise refuse(f"{variable.name} stands for two things", node, "give one of them another name")
        self.variables[variable.name] = variable

    def variable(self, node: c_ast.Node) -> Variable:
        shape: list[int | str] = []
        kind = node.type
        while isinstance(kind, c_ast.ArrayDecl):
            shape.append(self.extent(kind.dim, node))
            kind = kind.type
        if not isinstance(kind, c_ast.TypeDecl):
            raise _missing("pointer parameter", node)
        constant = "const" in (node.quals or []) or "const" in (kind.quals or [])
        if node.storage or set(node.quals or []) | set(kind.quals or []) > {"const"}:
            raise _missing("such declaration", node)
        return Variable(node.name, self.dtype(node), tuple(shape), written=bool(shape) and not constant)

    def dtype(self, node: c_ast.Node) -> DType:
        found = TYPES.get(_type_name(node))
        if found is None:
            raise _missing(f"type {_type_name(node)}", node)
        return found

    def extent(self, node: c_ast.Node | None, around: c_ast.Node) -> int | str:
        if isinstance(node, c_ast.Constant):
            return self.number(node)
        if isinstance(node, c_ast.ID) and node.name in self.sizes:
            return str(node.name)
        raise _missing("such extent", around)

    def number(self, node: c_ast.Constant) -> int:
        read = literal(node.value)
        if read is None or not read.dtype.is_integer:
            raise _missing("such number", node)
        return int(read.value)

    def items(self, node: c_ast.Node) -> tuple[Item, ...]:
        match node:
            case c_ast.Compound():
                return tuple(item for child in node.block_items or () for item in self.items(child))
            case c_ast.DeclList():
                return tuple(item for child in node.decls for item in self.items(child))
            case c_ast.Decl():
                return (self.local(node),)
            case c_ast.For():
                return (self.loop(node),)
            case c_ast.Assignment():
                return (self.update(node),)
            case c_ast.If():
                return self.branch(node)
            case c_ast.EmptyStatement():
                return ()
        raise _missing("such statement", node)

    def branch(self, node: c_ast.If) -> tuple[Item, ...]:
        """A branch as choices of what its ways write; the names that they declare are free behind it."""
        condition = self.arithmetic(self.expression(node.cond), node)
        around = dict(self.variables)
        ways = []
        for way, holds in ((node.iftrue, True), (node.iffalse, False)):
            with self.known.where(condition, holds, self.around):
                ways.append(() if way is None else self.items(way))
            self.variables = dict(around)
        return chosen(Branch(condition, self.read_by(condition), *ways), lambda why: refuse(why, node), self.fresh)

    def fresh(self, wish: str) -> str:
        """A name that the text does not have, taken from now on."""
        while re.search(rf"\b{wish}\b", self.text) or wish in self.taken:
            wish += "_"
        self.taken.add(wish)
        return wish

    def local(self, node: c_ast.Decl) -> Local:
        variable = self.variable(node)
        self.declare(variable, node)
        if node.init is None:
            return Local(variable, None)
        initial = node.init
        if isinstance(initial, c_ast.InitList):
            if len(initial.exprs) != 1:
                raise _missing("such initial value", node)
            initial = initial.exprs[0]
        value = self.converted(self.expression(initial), variable.dtype, initial)
        if variable.shape and not (isinstance(value, Cast | Literal) and _is_zero(value)):
            raise refuse("an array of locals starts from zero or nothing", node, "assign its elements in a loop")
        local = Local(variable, value, self.read_by(value))
        self.known.declared(local, self.around)
        return local

    @property
    def around(self) -> tuple[str, ...]:
        """Names of the loops around what is being read."""
        return tuple(loop.name for loop in self.loops)

    def loop(self, node: c_ast.For) -> Loop:
        try:
            (declared,) = node.init.decls
            test, step, kind = node.cond, node.next, _type_name(declared)
            shape = isinstance(step.expr, c_ast.ID) and step.expr.name == declared.name == test.left.name
            descending, first, bound = step.op in ("p--", "--"), declared.init, test.right
        except (AttributeError, ValueError, TypeError) as error:
            raise _missing("such loop", node) from error
        if not shape or kind != "int" or step.op not in ("p++", "++", "p--", "--") or first is None \
                or test.op not in ((">=", ">") if descending else ("<", "<=")):
            raise _missing("such loop", node)
        low, high = (bound, first) if descending else (first, bound)
        lower = self.affine(low).plus(Affine((), int(test.op == ">")))
        if isinstance(high, c_ast.ID) and high.name in self.sizes and test.op == "<":
            return self.inside(Loop(declared.name, high.name, descending, (), lower), node)
        upper = self.affine(high).plus(Affine((), int(test.op != "<")))
        if upper.terms:
            return self.triangle(node, declared.name, descending, lower, upper)
        if upper.constant <= 0:
            raise refuse("a loop of no iteration", node)
        return self.inside(Loop(declared.name, upper.constant, descending, (), lower), node)

    def inside(self, loop: Loop, node: c_ast.For) -> Loop:
        """The loop with its body, in which its iterator has a name."""
        if loop.name in {*self.variables, *self.sizes, *(x.name for x in self.loops), *FUNCTIONS}:
            raise refuse(f"{loop.name} stands for two things", node, "give one of them another name")
        self.loops.append(loop)
        body = self.items(node.stmt)
        self.loops.pop()
        return Loop(loop.name, loop.extent, loop.descending, body, loop.lower, loop.upper)

    def triangle(self, node: c_ast.For, name: str, descending: bool, lower: Affine, upper: Affine) -> Loop:
        """A loop whose upper end depends on the loops around it: below the greatest value that this has."""
        greatest, symbolic = upper.constant, ""
        around = {loop.name: loop for loop in self.loops}
        for iterator, coefficient in upper.terms:
            extent = around[iterator].extent
            if isinstance(extent, str):
                if symbolic or coefficient != 1:
                    raise _missing("such loop", node)
                symbolic = extent
                greatest -= 1
            elif coefficient > 0:
                greatest += coefficient * (extent - 1)
        if symbolic and greatest > 0:
            raise _missing("such loop", node)
        return self.inside(Loop(name, symbolic or greatest, descending, (), lower, upper), node)

    def update(self, node: c_ast.Assignment) -> Update:
        target = self.element(node.lvalue)
        variable = self.variables[target.array]
        if target.array in [loop.name for loop in self.loops] or (not variable.written and self.is_operand(variable)):
            raise refuse(f"{target.array} is const and is written", node, "what is written is an array without const")
        value = self.expression(node.rvalue)
        if node.op != "=":
            old = Load(str(target), variable.dtype)
            value = self.operation(node.op[:-1], old, value, node)
        value = self.converted(value, variable.dtype, node)
        self.known.assigned(target.array)
        return Update(target, variable.dtype, value, self.read_by(value))

    def is_operand(self, variable: Variable) -> bool:
        """Whether a variable is a parameter of the function."""
        parameters = self.function.decl.type.args.params if self.function.decl.type.args else ()
        return any(p.name == variable.name for p in parameters)

    def read_by(self, value: Expr) -> tuple[Element, ...]:
        """The elements that an expression reads, each once."""
        return tuple(dict.fromkeys(self.elements[e.reference] for e in walk(value) if isinstance(e, Load)))

    def element(self, node: c_ast.Node) -> Element:
        name, nodes = self.reference(node)
        element = Element(name, tuple(self.affine(s) for s in nodes))
        return self.elements.setdefault(str(element), element)

    def reference(self, node: c_ast.Node) -> tuple[str, list[c_ast.Node]]:
        """The variable and the subscripts of a reference."""
        whole = node
        subscripts: list[c_ast.Node] = []
        while isinstance(node, c_ast.ArrayRef):
            subscripts.insert(0, node.subscript)
            node = node.name
        if not isinstance(node, c_ast.ID) or node.name not in self.variables:
            raise _missing("such element", whole)
        if len(subscripts) != len(self.variables[node.name].shape):
            raise _missing(f"partial subscript of {node.name}", whole)
        return node.name, subscripts

    def is_affine(self, node: c_ast.Node) -> bool:
        if isinstance(node, c_ast.UnaryOp):
            return node.op in "+-" and self.is_affine(node.expr)
        if isinstance(node, c_ast.BinaryOp) and node.op in "+-*":
            return self.is_affine(node.left) and self.is_affine(node.right)
        return isinstance(node, c_ast.Constant) or (
            isinstance(node, c_ast.ID) and node.name in [loop.name for loop in self.loops])

    def affine(self, node: c_ast.Node) -> Affine:
        if isinstance(node, c_ast.Constant):
            return Affine((), self.number(node))
        if isinstance(node, c_ast.ID) and node.name in [loop.name for loop in self.loops]:
            return Affine(((node.name, 1),), 0)
        if isinstance(node, c_ast.UnaryOp) and node.op in ("+", "-"):
            return self.affine(node.expr).times(1 if node.op == "+" else -1)
        if isinstance(node, c_ast.BinaryOp) and node.op in ("+", "-", "*"):
            left, right = self.affine(node.left), self.affine(node.right)
            if node.op != "*":
                return left.plus(right, 1 if node.op == "+" else -1)
            if left.terms and right.terms:
                raise _missing("product of iterators in a subscript", node)
            return left.times(right.constant) if left.terms else right.times(left.constant)
        raise _missing("such subscript", node)

    def expression(self, node: c_ast.Node) -> Expr:
        match node:
            case c_ast.Constant():
                read = literal(node.value)
                if read is None or read.dtype.name == "longdouble":
                    raise _missing("such constant", node)
                return read
            case c_ast.ID() if node.name in [loop.name for loop in self.loops]:
                return IteratorRef(node.name, INT32)
            case c_ast.ID() | c_ast.ArrayRef():
                return self.load(node)
            case c_ast.Cast():
                return self.cast(node)
            case c_ast.UnaryOp() if node.op in ("-", "+", "~", "!"):
                operand = self.arithmetic(self.expression(node.expr), node, integer=node.op == "~")
                return Unary(node.op, operand, INT32 if node.op == "!" else promote(operand.dtype))
            case c_ast.BinaryOp():
                return self.operation(node.op, self.expression(node.left), self.expression(node.right), node)
            case c_ast.TernaryOp():
                condition = self.arithmetic(self.expression(node.cond), node)
                with self.known.where(condition, True, self.around):
                    then = self.arithmetic(self.expression(node.iftrue), node)
                with self.known.where(condition, False, self.around):
                    other = self.arithmetic(self.expression(node.iffalse), node)
                return Select(condition, then, other, usual_conversion(then.dtype, other.dtype))
            case c_ast.FuncCall():
                return self.call(node)
        raise _missing("such expression", node)

    def load(self, node: c_ast.Node) -> Expr:
        """An element, or a table: an operand that is only read, at subscripts that are computed from data."""
        name, subscripts = self.reference(node)
        variable = self.variables[name]
        if all(map(self.is_affine, subscripts)):
            return Load(str(self.element(node)), variable.dtype)
        if variable.written or not self.is_operand(variable):
            raise refuse("what is read at computed subscripts is an operand that is const", node)
        indices = tuple(self.arithmetic(self.expression(s), node, integer=True) for s in subscripts)
        for index, extent in zip(indices, variable.shape, strict=True):
            known = self.known.interval(index, {loop.name: loop.extent for loop in self.loops}, self.around)
            if isinstance(extent, str) or known is None or known[0] < 0 or known[1] >= extent:
                raise refuse(f"a subscript of {name} may leave its {extent} elements", node,
                             "cut it to the range where it is computed, for instance by `& 15`, or read it under a "
                             "condition on the subscript")
        return Call(table_function(name), indices, variable.dtype)

    def cast(self, node: c_ast.Cast) -> Expr:
        operand, dtype = self.expression(node.expr), self.dtype(node.to_type)
        if operand.dtype.is_float and dtype.is_integer:
            raise refuse("a conversion of a float to an integer is undefined where the value does not fit", node,
                         "call a function of exact_arithmetic that says what happens then, for instance sat_f32_i32")
        self.arithmetic(operand, node)
        if _is_short(dtype):
            raise _missing(f"conversion to {dtype}", node)
        return Cast(operand, dtype)

    def converted(self, value: Expr, dtype: DType, node: c_ast.Node) -> Expr:
        """The value in the type of what it is assigned to."""
        if value.dtype == dtype:
            return value
        if _is_short(value.dtype) or _is_short(dtype):
            raise refuse(f"{value.dtype} becomes {dtype} by a function of exact_arithmetic alone", node,
                         "bf16_to_f32(x), f16_to_f32(x), f32_to_bf16(x), f32_to_f16(x)")
        if value.dtype.is_float and dtype.is_integer:
            raise refuse("a conversion of a float to an integer is undefined where the value does not fit", node,
                         "call a function of exact_arithmetic that says what happens then, for instance sat_f32_i32")
        return Cast(value, dtype)

    def arithmetic(self, e: Expr, node: c_ast.Node, *, integer: bool = False) -> Expr:
        """An operand of an operator: a short float is none, since C would compute with its bits."""
        if _is_short(e.dtype):
            raise refuse(f"{e.dtype} is no number of C", node, "read it by bf16_to_f32(x) or f16_to_f32(x)")
        if integer and e.dtype.is_float:
            raise _missing("such operation on floats", node)
        return e

    def operation(self, op: str, left: Expr, right: Expr, node: c_ast.Node) -> Expr:
        if op not in _OPERATORS:
            raise _missing(f"operator {op}", node)
        a, b = (self.arithmetic(e, node, integer=op in _OF_INTEGERS) for e in (left, right))
        if op in _COMPARISONS:
            return Binary(op, a, b, INT32)
        return Binary(op, a, b, promote(a.dtype) if op in ("<<", ">>") else usual_conversion(a.dtype, b.dtype))

    def call(self, node: c_ast.FuncCall) -> Expr:
        function = FUNCTIONS.get(getattr(node.name, "name", ""))
        if function is None:
            raise refuse(f"no function {CGenerator().visit(node.name)}", node, f"there are {', '.join(FUNCTIONS)}")
        given = [self.expression(a) for a in (node.args.exprs if node.args else ())]
        if len(given) != len(function.parameters):
            raise refuse(f"{function.name} takes {len(function.parameters)} arguments", node)
        arguments = tuple(self.converted(a, p, node) for a, p in zip(given, function.parameters, strict=True))
        return Call(function.name, arguments, function.dtype)


def _is_short(dtype: DType) -> bool:
    return dtype.is_float and dtype.bits == 16


def _is_zero(e: Expr) -> bool:
    return (isinstance(e, Literal) and e.value == 0) or (isinstance(e, Cast) and _is_zero(e.operand))


def _type_name(node: c_ast.Node) -> str:
    while not isinstance(node, c_ast.IdentifierType):
        if not hasattr(node, "type"):
            raise _missing("such type", node)
        node = node.type
    return " ".join(node.names)
