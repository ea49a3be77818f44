"""The forms that operations of the dialects have of their own, which are read as generic operations.

Source: MLIR's documentation of the dialects `func`, `affine`, `memref`, `arith`, `math`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from polysched.scop.mlir_frontend.affine_forms import AffineMap, AffineSet, Form, read_form
from polysched.scop.mlir_frontend.arithmetic import OPERANDS
from polysched.scop.mlir_frontend.attributes import read_attribute, read_attributes, read_type, result_types
from polysched.scop.mlir_frontend.grammar import CustomForm, Grammar
from polysched.scop.mlir_frontend.operations import Block, Operation

Applied = TypeVar("Applied", AffineMap, AffineSet)
FUNCTIONS = ("absf", "absi", "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "copysign",
             "cos", "cosh", "erf", "erfc", "exp", "exp2", "expm1", "floor", "log", "log10", "log1p", "log2",
             "powf", "roundeven", "rsqrt", "sin", "sinh", "sqrt", "tan", "tanh", "trunc")


def _listed(grammar: Grammar, name: str, results: tuple[str, ...], line: int) -> Operation:
    """`arith.cmpf olt, %a, %b fastmath<fast> : f32`, `arith.extf %a : f32 to f64`."""
    words = grammar.words
    operands: list[str] = []
    attributes: dict[str, object] = {}
    if name in ("arith.cmpf", "arith.cmpi"):
        attributes["predicate"] = words.next().strip('"')
        words.expect(",")
    operands.append(grammar.value())
    while words.accept(","):
        operands.append(grammar.value())
    while words.word in ("fastmath", "overflow"):
        words.next()
        words.balanced("<", ">")
    if words.word == "{":
        attributes |= read_attributes(words, grammar.aliases)
    words.expect(":")
    types = [read_type(words)]
    while words.accept(",", "to"):
        types.append(read_type(words))
    result = "i1" if "predicate" in attributes else types[-1]
    return Operation(name=name, results=results, operands=tuple(operands), attributes=attributes, line=line,
                     types=(result,), operand_types=(types[0],) * len(operands))


def _constant(grammar: Grammar, name: str, results: tuple[str, ...], line: int) -> Operation:
    words = grammar.words
    if words.word == "{":
        read_attributes(words, grammar.aliases)
    before = words.end
    value = read_attribute(words, grammar.aliases)
    kind = "i1" if isinstance(value, bool) else words.text[before:words.at].rpartition(":")[2].strip()
    return Operation(name=name, results=results, types=(kind,), attributes={"value": value}, line=line)


def _function(grammar: Grammar, name: str, results: tuple[str, ...], line: int) -> Operation:
    words = grammar.words
    words.accept("private", "public", "nested")
    if not words.word.startswith("@"):
        words.refuse("the name of a function was expected")
    symbol = words.next().strip('@"')
    words.expect("(")
    if words.kind != "value":   # a declaration names no arguments
        arguments: tuple[tuple[str, str], ...] = tuple(("", t) for t in words.listed(")", lambda: read_type(words)))
    else:
        arguments = tuple(words.listed(")", grammar.argument))
    outputs = result_types(words) if words.accept("->") else ()
    attributes = read_attributes(words, grammar.aliases) if words.accept("attributes") else {}
    regions = (grammar.region(arguments),) if words.word == "{" else ()
    return Operation(name="func.func", line=line, regions=regions, types=outputs,
                     attributes=attributes | {"sym_name": symbol})


def _module(grammar: Grammar, name: str, results: tuple[str, ...], line: int) -> Operation:
    words = grammar.words
    if words.word.startswith("@"):
        words.next()
    attributes = read_attributes(words, grammar.aliases) if words.accept("attributes") else {}
    return Operation(name="builtin.module", attributes=attributes, regions=(grammar.module(),), line=line)


def _for(grammar: Grammar, name: str, results: tuple[str, ...], line: int) -> Operation:
    words = grammar.words
    variable = grammar.placed_value()
    words.expect("=")
    lower, below = _bound(grammar, "max")
    words.expect("to")
    upper, above = _bound(grammar, "min")
    step = words.integer("a step") if words.accept("step") else 1
    carried: list[tuple[str, str]] = []
    types: tuple[str, ...] = ()
    if words.accept("iter_args"):
        words.expect("(")
        carried = words.listed(")", lambda: _initialised(grammar))
        words.expect("->")
        types = result_types(words)
        if len(types) != len(carried):
            words.refuse("other numbers of types and values of `iter_args` before this")
    body = grammar.region(((variable, "index"), *((own, kind) for (own, _), kind in zip(carried, types, strict=True))))
    if words.word == "{":
        read_attributes(words, grammar.aliases)
    return loop(body, (lower, below), (upper, above), step, line, results=results, types=types,
                initial=tuple(value for _, value in carried))


def loop(body: Block, lower: tuple[AffineMap, tuple[str, ...]], upper: tuple[AffineMap, tuple[str, ...]], step: int,
         line: int, *, results: tuple[str, ...] = (), types: tuple[str, ...] = (), initial: tuple[str, ...] = ()
         ) -> Operation:
    """`affine.for` in its generic form."""
    return Operation(name="affine.for", results=results, types=types, operands=(*lower[1], *upper[1], *initial),
                     regions=(body,), line=line, attributes={
                         "lowerBoundMap": lower[0], "upperBoundMap": upper[0], "step": step,
                         "operandSegmentSizes": [len(lower[1]), len(upper[1]), len(initial)]})


def _initialised(grammar: Grammar) -> tuple[str, str]:
    name = grammar.value()
    grammar.words.expect("=")
    return name, grammar.value()


def _bound(grammar: Grammar, kind: str) -> tuple[AffineMap, tuple[str, ...]]:
    """A bound of a loop: a number, a value or a map of values."""
    words = grammar.words
    if words.kind == "number" or words.word == "-":
        return AffineMap((), (), (Form("number", value=words.integer("a bound")),)), ()
    if words.kind == "value":
        return AffineMap((), ("s0",), (Form("name", name="s0"),)), (grammar.value(),)
    several = words.accept(kind)
    found, operands = _applied(grammar, AffineMap)
    if (len(found.results) != 1 and not several) or not found.results:
        words.refuse(f"the bound before this has {len(found.results)} values, and no `{kind}`")
    return found, operands


def _applied(grammar: Grammar, kind: type[Applied]) -> tuple[Applied, tuple[str, ...]]:
    """`map(%i)[%n]`."""
    words = grammar.words
    found = read_attribute(words, grammar.aliases)
    if not isinstance(found, kind):
        words.refuse(f"before this stands no {'map' if kind is AffineMap else 'set'}")
    words.expect("(")
    operands = tuple(words.listed(")", grammar.value))
    operands += tuple(words.listed("]", grammar.value)) if words.accept("[") else ()
    if len(operands) != found.arguments:
        words.refuse(f"the map or set before this has {found.arguments} arguments, not {len(operands)}")
    return found, operands


def _parallel(grammar: Grammar, name: str, results: tuple[str, ...], line: int) -> Operation:
    """`affine.parallel`, as loops inside each other in the order in which their variables are named."""
    words = grammar.words
    words.expect("(")
    variables = words.listed(")", grammar.placed_value)
    words.expect("=")
    lower = _bounds(grammar, "max", len(variables))
    words.expect("to")
    upper = _bounds(grammar, "min", len(variables))
    steps = [1] * len(variables)
    if words.accept("step"):
        words.expect("(")
        steps = words.listed(")", lambda: words.integer("a step"))
    if words.word == "reduce" or len(steps) != len(variables) or not variables:
        words.refuse("affine.parallel reduces nothing and has a step for each of its variables here",
                     hint="write affine.for with iter_args")
    body = grammar.region()
    if words.word == "{":
        read_attributes(words, grammar.aliases)
    for variable, below, above, step in reversed(list(zip(variables, lower, upper, steps, strict=True))):
        operation = loop(Block((variable,), ("index",), body.operations), below, above, step, line)
        body = Block(operations=(operation,))
    return body.operations[0]


def _bounds(grammar: Grammar, kind: str, count: int) -> list[tuple[AffineMap, tuple[str, ...]]]:
    words = grammar.words
    words.expect("(")

    def one() -> tuple[AffineMap, tuple[str, ...]]:
        if words.accept(kind):
            words.expect("(")
            return _indices(grammar, ")")
        names: list[str] = []
        form = read_form(words, _value_in_form(grammar, names))
        return AffineMap(tuple(names), (), (form,)), tuple(names)

    found = words.listed(")", one)
    if len(found) != count:
        words.refuse(f"{len(found)} bounds before this for {count} loops")
    return found


def _indices(grammar: Grammar, closing: str) -> tuple[AffineMap, tuple[str, ...]]:
    """Affine expressions of values, as a map of these."""
    names: list[str] = []
    forms = grammar.words.listed(closing, lambda: read_form(grammar.words, _value_in_form(grammar, names)))
    return AffineMap(tuple(names), (), tuple(forms)), tuple(names)


def _value_in_form(grammar: Grammar, names: list[str]) -> Callable[[], str]:
    def name() -> str:
        symbol = grammar.words.accept("symbol")
        if symbol:
            grammar.words.expect("(")
        found = grammar.value()
        if symbol:
            grammar.words.expect(")")
        if found not in names:
            names.append(found)
        return found

    return name


def _if(grammar: Grammar, name: str, results: tuple[str, ...], line: int) -> Operation:
    words = grammar.words
    condition, operands = _applied(grammar, AffineSet)
    types = result_types(words) if words.accept("->") else ()
    then = grammar.region()
    otherwise = grammar.region() if words.accept("else") else Block()
    if words.word == "{":
        read_attributes(words, grammar.aliases)
    return Operation(name=name, results=results, types=types, operands=operands, regions=(then, otherwise), line=line,
                     attributes={"condition": condition})


def _map(grammar: Grammar, name: str, results: tuple[str, ...], line: int) -> Operation:
    found, operands = _applied(grammar, AffineMap)
    return Operation(name=name, results=results, types=("index",), operands=operands, attributes={"map": found},
                     line=line)


def _access(grammar: Grammar, name: str, results: tuple[str, ...], line: int) -> Operation:
    """`affine.load %A[%i + 1] : memref<8xf32>`, `affine.store %v, %A[%i] : ...`."""
    words = grammar.words
    stored: tuple[str, ...] = ()
    if name.endswith("store"):
        stored = (grammar.value(),)
        words.expect(",")
    array = grammar.value()
    words.expect("[")
    attributes: dict[str, object] = {}
    if name.startswith("affine."):
        attributes["map"], operands = _indices(grammar, "]")
    else:
        operands = tuple(words.listed("]", grammar.value))
    if words.word == "{":
        read_attributes(words, grammar.aliases)
    words.expect(":")
    kind = read_type(words)
    return Operation(name=name, results=results, operands=(*stored, array, *operands), attributes=attributes,
                     operand_types=(kind,), line=line)


def _alloc(grammar: Grammar, name: str, results: tuple[str, ...], line: int) -> Operation:
    words = grammar.words
    words.expect("(")
    sizes = tuple(words.listed(")", grammar.value))
    if words.word == "{":
        read_attributes(words, grammar.aliases)
    words.expect(":")
    return Operation(name=name, results=results, operands=sizes, types=(read_type(words),), line=line)


def _with_types(grammar: Grammar, name: str, results: tuple[str, ...], line: int) -> Operation:
    """`affine.yield %a, %b : f32, f32`, `memref.dim %A, %c0 : memref<?xf32>`."""
    words = grammar.words
    operands: list[str] = []
    types: list[str] = []
    while words.kind == "value":
        operands.append(grammar.value())
        if not words.accept(","):
            words.expect(":")
            types.append(read_type(words))
            while words.accept(","):
                types.append(read_type(words))
            break
    return Operation(name=name, results=results, operands=tuple(operands), operand_types=tuple(types), line=line,
                     types=("index",) if name == "memref.dim" else ())


CUSTOM: Mapping[str, CustomForm] = {
    **dict.fromkeys(("module", "builtin.module"), _module),
    "func.func": _function, "affine.for": _for, "affine.parallel": _parallel, "affine.if": _if,
    **{f"affine.{name}": _map for name in ("apply", "min", "max")},
    **{f"{dialect}.{name}": _access for dialect in ("affine", "memref") for name in ("load", "store")},
    "memref.alloc": _alloc, "memref.alloca": _alloc, "memref.dealloc": _with_types, "memref.dim": _with_types,
    **dict.fromkeys(("return", "func.return", "affine.yield"), _with_types),
    "arith.constant": _constant, **{f"arith.{name}": _listed for name in OPERANDS},
    **{f"math.{name}": _listed for name in FUNCTIONS}}
"""How operations are read that are not in the generic form."""
