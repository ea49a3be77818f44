"""The second reading of a described function: its syntax tree, executed on exact integers and rounded floats.

What instructions' texts do not have comes on top of their emulator: pointers, any counting loop, branches, functions of
libm, which are this machine's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from pycparser import c_ast

from polysched.errors import SourceSyntaxError, UsageError
from polysched.scop.c_arithmetic import math_function
from polysched.scop.c_frontend.parse import parse
from polysched.scop.c_frontend.text.preprocess import SourceFile, preprocess
from polysched.scop.dtypes import FLOAT32
from polysched.target import find_compiler
from polysched.tensorize.description.exact_numbers import MULTIPLY_ADD
from polysched.tensorize.description.library_function import HEADERS, Variant
from polysched.tensorize.description.python_emulator import (
    DOUBLE,
    FLOAT,
    MOST_ASSIGNMENTS,
    Code,
    CType,
    Emulated,
    Emulator,
    Memory,
    Typed,
    arguments,
    called_name,
    convert,
    quoted,
    type_of,
    undefined,
)

BUILTINS = {"__builtin_inff": (FLOAT, np.float32(math.inf)), "__builtin_huge_valf": (FLOAT, np.float32(math.inf)),
            "__builtin_inf": (DOUBLE, np.float64(math.inf)), "__builtin_huge_val": (DOUBLE, np.float64(math.inf))}


@lru_cache(maxsize=512)
def emulated_function(variant: Variant) -> Emulated:
    """The text as Python; arrays are flat lists, sizes and numbers lists of one element.

    Raises
    ------
    SourceSyntaxError : the text is no single function, or has a construct that this reading does not know.
    UnsupportedScopError : the parser cannot read it.
    """
    source = SourceFile(path="<description>", text=f"{HEADERS}{variant.text}", compiler=find_compiler(), on_disk=False)
    defined = [f for f in parse(source, preprocess(source)).ext if isinstance(f, c_ast.FuncDef)]
    if len(defined) != 1:
        raise SourceSyntaxError("a described function is one C function with a body", where="description",
                                witness=", ".join(f.decl.name for f in defined) or "no function")
    (function,) = defined
    return Emulated(function.decl.name, _FunctionEmulator(function).whole())


def executed(emulator: Emulated, memory: Mapping[str, np.ndarray[Any, np.dtype[Any]]]) -> dict[str, Any]:
    """All arrays after one execution, and under `#` the number of assignments."""
    own: Memory = {n: list(v.ravel()) if v.dtype.kind == "f" else v.ravel().tolist() for n, v in memory.items()}
    emulator.run(own)
    return {n: np.array(own[n], v.dtype).reshape(v.shape) for n, v in memory.items()} | {
        "#": MOST_ASSIGNMENTS - own["#"]}


class _FunctionEmulator(Emulator):
    """Whole functions in C instead of one loop nest."""

    def __init__(self, function: c_ast.FuncDef) -> None:
        super().__init__(function)
        self.extents: dict[str, tuple[Code | None, ...]] = {}

    def declare(self, node: c_ast.Decl) -> None:
        """A variable; the first extent of a pointer is what its memory has."""
        if not isinstance(node, c_ast.Decl) or node.name is None:
            raise quoted("such a declaration is not evaluated", node)
        extents: list[Code | None] = []
        kind = node.type
        while isinstance(kind, c_ast.ArrayDecl | c_ast.PtrDecl):
            dim = kind.dim if isinstance(kind, c_ast.ArrayDecl) else None
            if dim is None and extents:
                raise quoted("a pointer to pointers is not evaluated", node)
            extents.append(None if dim is None else self.value(dim)[1])
            kind = kind.type
        self.types[node.name], self.shapes[node.name] = type_of(node), ()
        self.extents[node.name] = tuple(extents)

    def local(self, node: c_ast.Decl) -> Code:
        if isinstance(node.type, c_ast.PtrDecl) or (node.init is not None and isinstance(node.type, c_ast.ArrayDecl)):
            raise quoted("such a local is not evaluated", node)
        self.declare(node)
        name, extents = node.name, self.extents[node.name]
        first = None if node.init is None else self.converted(node.init, self.types[name])

        def start(m: Memory) -> None:
            count = math.prod(int(code(m)) if code is not None else 0 for code in extents)
            m[name] = [None] * count if first is None else [first(m)]

        return start

    def place(self, node: c_ast.Node) -> tuple[str, Callable[[Memory], int]]:
        whole = node
        subscripts: list[Code] = []
        while isinstance(node, c_ast.ArrayRef):
            subscripts.insert(0, self.value(node.subscript)[1])
            node = node.name
        if isinstance(node, c_ast.UnaryOp) and node.op == "*" and not subscripts:
            node, subscripts = node.expr, [lambda m: 0]
        if not isinstance(node, c_ast.ID) or len(subscripts) != len(self.extents.get(node.name, (None,) * 9)):
            raise quoted("such a reference is not evaluated", whole)
        name, extents = node.name, self.extents[node.name]

        def position(m: Memory) -> int:
            sizes = [1 if code is None else code(m) for code in extents]
            if extents and extents[0] is None:
                sizes[0] = len(m[name]) // max(1, math.prod(sizes))
            at = 0
            for code, size in zip(subscripts, sizes, strict=True):
                here = code(m)
                if not 0 <= here < size:
                    raise undefined(f"subscript {here} of {name} is outside of its {size} elements", whole,
                                    "write the argument with as many elements as the loops reach")
                at = at * size + here
            return at

        return name, position

    def statement(self, node: c_ast.Node) -> Code:
        match node:
            case c_ast.If():
                test, then = self.value(node.cond)[1], self.statement(node.iftrue)
                other = self.statement(node.iffalse) if node.iffalse is not None else lambda m: None
                return lambda m: then(m) if test(m) else other(m)
            case c_ast.UnaryOp() if node.op in ("++", "p++", "--", "p--"):
                return self.assignment(c_ast.Assignment("+=" if "+" in node.op else "-=", node.expr,
                                                        c_ast.Constant("int", "1")))
        return super().statement(node)

    def loop(self, node: c_ast.For) -> Code:
        if node.cond is None or node.next is None:
            raise quoted("a loop without an end", node)
        start = self.statement(node.init) if node.init is not None else lambda m: None
        going_on, step = self.value(node.cond)[1], self.statement(node.next)
        body = self.statement(node.stmt)

        def run(m: Memory) -> None:
            start(m)
            while going_on(m):
                body(m)
                step(m)

        return run

    def cast(self, code: Code, have: CType, want: CType, node: c_ast.Node) -> Code:
        if have.kind != "float" or want.kind != "int":
            return super().cast(code, have, want, node)

        def cut(m: Memory) -> Any:   # C11 6.3.1.4: towards zero, undefined where that does not fit
            value = float(code(m))
            whole = math.trunc(value) if math.isfinite(value) else 1 << 99
            if convert(whole, CType("int", 128), want, node) != whole:
                raise undefined(f"{value} does not fit the integer that it is converted to", node,
                                "clamp the value ahead of the conversion")
            return whole

        return cut

    def value(self, node: c_ast.Node) -> Typed:
        match node:
            case c_ast.UnaryOp() if node.op == "*":
                return self.load(node)
            case c_ast.Constant() if node.type == "char":
                raise quoted("a character is not evaluated", node)
            case c_ast.FuncCall() if called_name(node) in BUILTINS:
                made, number = BUILTINS[node.name.name]
                return made, self.called(node, lambda: number, ())
            case c_ast.FuncCall() if called_name(node) in MULTIPLY_ADD:
                want = FLOAT if node.name.name == "fmaf" else DOUBLE
                return want, self.called(node, MULTIPLY_ADD[node.name.name], (want,) * 3)
            case c_ast.FuncCall() if self.of_libm(node):
                return self.libm(node)
        return super().value(node)

    @staticmethod
    def of_libm(node: c_ast.FuncCall) -> bool:
        """Whether this machine's library has the function, which is not one of integers."""
        try:
            return any(kind.is_float for kind in math_function(called_name(node))[1])
        except UsageError:
            return False

    def libm(self, node: c_ast.FuncCall) -> Typed:
        """A call of the C library."""
        function, kinds = math_function(node.name.name)
        want = FLOAT if kinds[0] == FLOAT32 else DOUBLE
        made = np.float32 if want == FLOAT else np.float64
        return want, self.called(node, lambda *x: made(function(*map(float, x))), (want,) * len(kinds))

    def called(self, node: c_ast.FuncCall, compute: Callable[..., Any], parameters: tuple[CType, ...]) -> Code:
        """A function of converted arguments."""
        codes = [self.converted(a, t) for a, t in zip(arguments(node, len(parameters)), parameters, strict=True)]
        return lambda m: compute(*[code(m) for code in codes])
