"""A graph as text in A-normal form, and back.

    graph mlp(x: float32[N, 4]) {
      const b: float32[1] = [0.5]
      let y: float32[N, 4] = Add(x, b)
      let z: float32[N, 4] = Softmax(y; axis=1)
      return z
    }

Every value is bound once, by `const` or `let`, before it is used; a region is a graph in braces behind its node, and
what it binds is bound there only; its parameters have no types.  `_` is an operand that is left out.  A name that is no
identifier stands in quotes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from typing import TypeVar

import numpy as np

from polysched.errors import UnsupportedGraphError
from polysched.graph.values.element_types import ELEMENT_TYPES, is_narrow
from polysched.graph.values.graph import Attribute, Graph, Node
from polysched.graph.values.sizes import Atom, Product, Size
from polysched.graph.values.types import TensorType

Item = TypeVar("Item")
_IDENTIFIER = re.compile(r"[A-Za-z][\w.]*")
_TOKEN = re.compile(r'\s*(?:(?P<string>"(?:[^"\\]|\\.)*")|(?P<digest><\w+>)'
                    r"|(?P<number>-?(?:inf|nan)\b(?!\.)|-?(?:\d+\.?\d*(?:[eE][-+]?\d+)?))|(?P<name>[A-Za-z_][\w.]*)"
                    r"|(?P<op>//|[^\s\w]))")
_KEYWORDS = frozenset({"graph", "let", "const", "return", "inf", "nan", "true", "false"})


def to_text(graph: Graph, *, most_elements: int | None = None) -> str:
    """The graph as text that `from_text` reads back.

    Parameters
    ----------
    most_elements : constants with more elements are written as a digest, which only reads back beside the constants.
    """
    return "".join(f"{line}\n" for line in _lines(graph, most_elements)).rstrip("\n")


def _lines(graph: Graph, most: int | None) -> Iterator[str]:
    inputs = ", ".join([*(f"{_name(n)}: {_type(t)}" for n, t in graph.inputs), *map(_name, graph.parameters)])
    yield f"graph {_name(graph.name)}({inputs}) {{"
    for name, array in graph.constants.items():
        yield f"  const {_name(name)}: {_type(TensorType.of_array(array))} = {_array(array, most)}"
    for node in graph.nodes:
        yield from (f"  {line}" for line in _node_lines(graph, node, most))
    yield f"  return {', '.join(map(_name, graph.outputs))}"
    yield "}"


def _node_lines(graph: Graph, node: Node, most: int | None) -> Iterator[str]:
    bound = ", ".join(_name(o) + (f": {_type(graph.types[o])}" if o in graph.types else "") for o in node.outputs)
    attributes = ", ".join(f"{name}={_attribute(value)}" for name, value in node.attributes)
    call = f"let {bound} = {node.op}({', '.join(map(_name, node.inputs))}{'; ' if attributes else ''}{attributes})"
    if not node.regions:
        yield call
        return
    yield f"{call} {{"
    for region in node.regions:
        yield from (f"  {line}" for line in _lines(region, most))
    yield "}"


def _name(name: str) -> str:
    if not name:
        return "_"
    return name if _IDENTIFIER.fullmatch(name) and name not in _KEYWORDS else json.dumps(name)


def _type(tensor: TensorType) -> str:
    return f"{tensor.dtype}[{', '.join(map(_size, tensor.shape))}]"


def _size(size: Size) -> str:
    if not size.terms:
        return str(size.constant)
    parts = []
    for atom, factor in size.terms:
        parts.append(f"{factor}*{_atom(atom)}" if factor != 1 else _atom(atom))
    return " + ".join([*parts, *([str(size.constant)] if size.constant else [])])


def _atom(atom: Atom) -> str:
    if isinstance(atom, str):
        return _name(atom)
    if isinstance(atom, Product):
        return "*".join(f"({_size(f)})" for f in atom.factors)
    return f"(({_size(atom.numerator)}) // {atom.divisor})"


def _attribute(value: Attribute) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_attribute, value))}]"
    return json.dumps(value) if isinstance(value, str | bool) else repr(value)


def _array(array: np.ndarray, most: int | None) -> str:
    if most is not None and array.size > most:
        return f"<{digest(array)}>"
    if array.dtype == bool:
        return f"[{', '.join('true' if v else 'false' for v in array.ravel())}]"
    dtype = TensorType.of_array(array).dtype
    if is_narrow(dtype):
        array = array.astype(np.float32 if dtype.is_float else np.int8)
    return f"[{', '.join(repr(v.item()) for v in array.ravel())}]"


def digest(array: np.ndarray) -> str:
    """What names an array's bytes in a text."""
    return "sha256_" + sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:16]


def from_text(text: str, constants: Mapping[str, np.ndarray] | None = None) -> Graph:
    """The graph behind a text.

    Parameters
    ----------
    constants : arrays by the name of the constant, for those that the text has as a digest.

    Raises
    ------
    UnsupportedGraphError : the text is no graph; the witness is where it stops being one.
    """
    parser = _Parser(text, constants or {})
    graph = parser.graph()
    parser.end()
    return graph


class _Parser:
    """Reads the text from left to right, one token ahead."""

    def __init__(self, text: str, constants: Mapping[str, np.ndarray]) -> None:
        self.text, self.constants, self.place = text, constants, 0
        self.kind, self.token = "", ""
        self.advance()

    def advance(self) -> str:
        """The current token; the next one becomes current."""
        token = self.token
        found = _TOKEN.match(self.text, self.place)
        if found is None:
            self.kind, self.token = "end", ""
            return token
        self.kind, self.place = str(found.lastgroup), found.end()
        self.token = found[self.kind]
        return token

    def refuse(self, wanted: str) -> UnsupportedGraphError:
        """What to raise where something else was wanted."""
        line = self.text.count("\n", 0, self.place) + 1
        return UnsupportedGraphError(f"the text is no graph: {wanted} is wanted", where=f"line {line}",
                                     witness=self.token or "the end",
                                     hint="write it as to_text(graph) does: polysched/graph/README.md shows the form")

    def end(self) -> None:
        """Nothing may follow."""
        if self.kind != "end":
            raise self.refuse("the end")

    def take(self, *words: str) -> str:
        """One of some words."""
        if self.kind in ("string", "end") or self.token not in words:
            raise self.refuse(" or ".join(words))
        return self.advance()

    def accept(self, word: str) -> bool:
        """Whether a word stands here; it is passed."""
        if self.kind in ("string", "end") or self.token != word:
            return False
        self.advance()
        return True

    def name(self) -> str:
        if self.kind == "string":
            return str(json.loads(self.advance()))
        if self.kind != "name":
            raise self.refuse("a name")
        found = self.advance()
        return "" if found == "_" else found

    def listed(self, item: Callable[[], Item], close: str) -> list[Item]:
        """Items with commas between, up to a closing word."""
        found: list[Item] = []
        while not self.accept(close):
            if found:
                self.take(",")
            found.append(item())
        return found

    def graph(self) -> Graph:
        self.take("graph")
        name = self.name()
        self.take("(")
        given = self.listed(self.perhaps_typed, ")")
        self.take("{")
        constants: dict[str, np.ndarray] = {}
        nodes: list[Node] = []
        types: dict[str, TensorType] = {}
        while not self.accept("return"):
            if self.take("const", "let") == "let":
                nodes.append(self.node(types))
                continue
            own, its_type = self.typed()
            self.take("=")
            constants[own] = self.array(own, its_type)
        outputs = [self.name()]
        while self.accept(","):
            outputs.append(self.name())
        self.take("}")
        return Graph(name=name, inputs=tuple((n, t) for n, t in given if t is not None), nodes=tuple(nodes),
                     outputs=tuple(outputs), constants=constants, types=types,
                     parameters=tuple(n for n, t in given if t is None))

    def perhaps_typed(self) -> tuple[str, TensorType | None]:
        name = self.name()
        return name, self.type() if self.accept(":") else None

    def typed(self) -> tuple[str, TensorType]:
        name = self.name()
        self.take(":")
        return name, self.type()

    def type(self) -> TensorType:
        dtype = self.name()
        if dtype not in ELEMENT_TYPES:
            raise self.refuse("an element type")
        self.take("[")
        return TensorType.of(ELEMENT_TYPES[dtype], self.listed(self.size, "]"))

    def size(self) -> Size:
        result = self.term()
        while self.token in ("+", "-"):
            sign = 1 if self.advance() == "+" else -1
            result = result + self.term() * sign
        return result

    def term(self) -> Size:
        result = self.factor()
        while self.token in ("*", "//"):
            result = result * self.factor() if self.advance() == "*" else result // self.factor()
        return result

    def factor(self) -> Size:
        if self.accept("("):
            inner = self.size()
            self.take(")")
            return inner
        if self.kind == "number":
            return Size(int(self.advance()))
        return Size.symbol(self.name())

    def node(self, types: dict[str, TensorType]) -> Node:
        outputs: list[str] = []
        while not outputs or self.accept(","):
            outputs.append(self.name())
            if self.accept(":"):
                types[outputs[-1]] = self.type()
        self.take("=")
        op = self.name()
        self.take("(")
        inputs: list[str] = []
        while self.token not in (")", ";") or self.kind == "string":
            if inputs:
                self.take(",")
            inputs.append(self.name())
        attributes = self.attributes() if self.take(")", ";") == ";" else {}
        regions = self.listed_regions() if self.accept("{") else ()
        return Node(op=op, inputs=tuple(inputs), outputs=tuple(outputs), regions=regions,
                    attributes=tuple(sorted(attributes.items())))

    def listed_regions(self) -> tuple[Graph, ...]:
        found: list[Graph] = []
        while not self.accept("}"):
            found.append(self.graph())
        return tuple(found)

    def attributes(self) -> dict[str, Attribute]:
        found: dict[str, Attribute] = {}
        while not self.accept(")"):
            if found:
                self.take(",")
            name = self.name()
            self.take("=")
            found[name] = tuple(self.listed(self.literal, "]")) if self.accept("[") else self.literal()
        return found

    def literal(self) -> int | float | str:
        """A number, a string, or a truth value."""
        if self.kind == "string":
            return str(json.loads(self.advance()))
        if self.token in ("true", "false"):
            return self.advance() == "true"
        if self.kind != "number":
            raise self.refuse("a number or a string")
        text = self.advance()
        return int(text) if text.lstrip("-").isdigit() else float(text)

    def array(self, name: str, its_type: TensorType) -> np.ndarray:
        if self.kind == "digest":
            wanted = self.advance()[1:-1]
            if name not in self.constants or digest(self.constants[name]) != wanted:
                raise UnsupportedGraphError(f"the text has only a digest of the constant {name!r}", witness=wanted,
                                            hint="give the arrays by constants=, or write all elements")
            return self.constants[name]
        self.take("[")
        values = np.array(self.listed(self.literal, "]"), dtype=its_type.numpy)
        if values.size != int(its_type.elements):
            raise self.refuse(f"{its_type.elements} elements of {name!r}")
        return values.reshape(its_type.extents)
