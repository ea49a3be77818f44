"""The notation of the programs -> lines of C for one element type and number of lanes.

A program is a list of `TYPE name = expression;` with a last expression that is the result.  Types: `R` values, `I`
integers of the same width, `M` masks (integers 0 or -1), `D` and `J` the same for `double` beside `float`.  Names
that are called and not declared are other programs or one of the primitives below; everything else is C.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from polysched.emit_c.scalar_code.vector_types import VectorTypes
from polysched.records import dataclass
from polysched.scop.dtypes import FLOAT32, FLOAT64, INT32, INT64, DType

_LINE = re.compile(r"([RIMDJ]) (\w+) = (.*);")
_WORD = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
_CALL = re.compile(r"(?<![\w.])([A-Za-z_]\w*)\(")

# Parameters and bodies of the helper macros over the types R, I, D, J and K; {top} is all bits but the sign's.
PRIMITIVES: dict[str, tuple[str, str]] = {
    "bits": ("v", "((I)(v))"),
    "as_int": ("m", "((I)(m))"),
    "real": ("i", "((R)(i))"),
    "to_real": ("i", "__builtin_convertvector(i, R)"),
    "splat": ("c", "((c) - (R){{0}})"),
    "pick": ("m, a, b", "((R)(((I)(a) & (I)(m)) | ((I)(b) & ~(I)(m))))"),
    "fabs": ("v", "((R)((I)(v) & {top}))"),
    "copysign": ("v, s", "((R)(((I)(v) & {top}) | ((I)(s) & ~{top})))"),
    "signs": ("", "(~{top})"),
    # a - b modulo 2^n, b a vector or a constant: bits of rare values leave the range of signed integers.
    "less": ("a, b", "__extension__ ({{ typedef {unsigned} polysched_u __attribute__((vector_size(sizeof(I)))); "
                     "(I)((polysched_u)(a) - (polysched_u)((b) - (I){{0}})); }})"),
    "wide_less": ("a, b", "__extension__ ({{ typedef unsigned long polysched_u "
                          "__attribute__((vector_size(sizeof(J)))); "
                          "(J)((polysched_u)(a) - (polysched_u)((b) - (J){{0}})); }})"),
    # v, of which the compiler does not know how it came about.
    "hidden": ("v", '__extension__ ({{ R polysched_h = (v); __asm__("" : "+v"(polysched_h)); polysched_h; }})'),
    "widen": ("v", "__builtin_convertvector(v, D)"),
    "narrow": ("v", "__builtin_convertvector(v, R)"),
    "wide_bits": ("v", "((J)(v))"),
    "wide_real": ("i", "((D)(i))"),
    "wide_to_real": ("i", "__builtin_convertvector(i, D)"),
    "wide_splat": ("c", "((c) - (D){{0}})"),
    "wide_pick": ("m, a, b", "((D)(((J)(a) & (J)(m)) | ((J)(b) & ~(J)(m))))"),
}
# By way of 32 bits, where no instruction converts 64-bit integers: all of them are exponents.
_FROM_SHORT = "__builtin_convertvector(__builtin_convertvector(i, K), {to})"
_TYPE = re.compile(r"(?<![\w.])[RIDJK](?!\w)")


def type_letters(texts: Iterable[str]) -> frozenset[str]:
    """The types that texts of C with letters for types use."""
    return frozenset(letter for text in texts for letter in _TYPE.findall(text))


@dataclass(frozen=True, kw_only=True)
class Form:
    """The C types of one element type and number of lanes: R values, I integers, D and J wide ones, K short ones."""

    types: VectorTypes
    dtype: DType
    lanes: int

    def c_type(self, letter: str) -> str:
        """The C type that a letter of the notation stands for."""
        integer = INT64 if self.dtype == FLOAT64 else INT32
        dtypes = {"R": self.dtype, "I": integer, "D": FLOAT64, "J": INT64, "K": INT32}
        return self.types.name(dtypes[letter], self.lanes, optional=True)


def primitive(name: str, dtype: DType) -> tuple[str, list[str]]:
    """The parameters of a helper macro and its body; a second body for processors that lack an instruction."""
    parameters, body = PRIMITIVES[name]
    top = "0x7FFFFFFF" if dtype == FLOAT32 else "0x7FFFFFFFFFFFFFFFL"
    bodies = [body.format(top=top, unsigned="unsigned" if dtype == FLOAT32 else "unsigned long")]
    if name == "wide_to_real" or (name == "to_real" and dtype == FLOAT64):
        bodies.append(_FROM_SHORT.format(to="D" if name == "wide_to_real" else "R"))
    return parameters, bodies


@dataclass(frozen=True)
class Program:
    """A program, parsed.

    Parameters
    ----------
    name : its name in the tables.
    parameters : `x`, or `x` and `y`.
    steps : type letter, name and expression of each line.
    result : the last expression.
    """

    name: str
    parameters: tuple[str, ...]
    steps: tuple[tuple[str, str, str], ...]
    result: str

    def calls(self) -> tuple[str, ...]:
        """Primitives and programs that are called, in order."""
        texts = [*(expression for _, _, expression in self.steps), self.result]
        found = dict.fromkeys(name for text in texts for name in _CALL.findall(text))
        return tuple(name for name in found if not name.startswith("__builtin"))

    def spelled(self, expression: str, heads: Mapping[str, str], prefix: str) -> str:
        """An expression with its local names prefixed, and the heads of calls (`name(`) replaced."""
        own = {*self.parameters, *(name for _, name, _ in self.steps)}
        called = _CALL.sub(lambda m: heads.get(m.group(1), m.group(0)), expression)
        return _WORD.sub(lambda m: f"{prefix}{m.group(0)}" if m.group(0) in own else m.group(0), called)


def parse(name: str, text: str) -> Program:
    """Read a program of the tables.

    Raises
    ------
    ValueError : a line is no declaration.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    steps = []
    for line in lines[:-1]:
        match = _LINE.fullmatch(line)
        if match is None:
            raise ValueError(f"{name}: no declaration: {line}")
        steps.append((match.group(1), match.group(2), match.group(3)))
    words = {w for line in lines for w in _WORD.findall(line)}
    parameters = ("x", "y") if "y" in words and not any(s[1] == "y" for s in steps) else ("x",)
    return Program(name, parameters, tuple(steps), lines[-1])
