"""Expressions as circuits: clauses over the bits of integers, with products of variables optionally left free.

Words are lists of literals, least bit first.  Source: Tseitin 1968 (clauses of a circuit); Bryant, Kroening et al.,
"Deciding bit-vector arithmetic with abstraction", TACAS 2007 (products first as free variables).
"""

from __future__ import annotations

from dataclasses import field

from polysched.records import dataclass
from polysched.scop.body import Binary, Call, Cast, Expr, IteratorRef, Literal, Load, ParameterRef, Select, Unary
from polysched.scop.dtypes import DType, Kind, usual_conversion

Word = list[int]


class NotACircuit(Exception):
    """The expression holds a float, a division by what is no positive number, or a call: no circuit is built."""


@dataclass
class Circuit:
    """Clauses under construction.

    Parameters
    ----------
    free_products : products of two variables become fresh bits, one word per pair of factors.
    """

    free_products: bool
    clauses: list[list[int]] = field(default_factory=list)
    inputs: dict[str, Word] = field(default_factory=dict)
    products: dict[tuple[tuple[int, ...], tuple[int, ...]], Word] = field(default_factory=dict)
    gates: dict[tuple[str, int, int], int] = field(default_factory=dict)
    known: dict[int, tuple[Expr, Word]] = field(default_factory=dict)   # by identity: places share expressions
    top: int = 1

    def __post_init__(self) -> None:
        self.clauses.append([1])   # literal 1 is true

    def fresh(self) -> int:
        self.top += 1
        return self.top

    def both(self, a: int, b: int) -> int:
        """a AND b."""
        if a == -1 or b == -1 or a == -b:
            return -1
        if a == 1 or a == b:
            return b
        if b == 1:
            return a
        key = ("and", min(a, b), max(a, b))
        if key not in self.gates:
            c = self.gates[key] = self.fresh()
            self.clauses += [[-a, -b, c], [a, -c], [b, -c]]
        return self.gates[key]

    def either(self, a: int, b: int) -> int:
        return -self.both(-a, -b)

    def differ(self, a: int, b: int) -> int:
        """a XOR b."""
        if abs(a) == 1:
            return b if a == -1 else -b
        if abs(b) == 1:
            return a if b == -1 else -a
        if abs(a) == abs(b):
            return -1 if a == b else 1
        sign = (1 if a > 0 else -1) * (1 if b > 0 else -1)
        a, b = abs(a), abs(b)
        key = ("xor", min(a, b), max(a, b))
        if key not in self.gates:
            c = self.gates[key] = self.fresh()
            self.clauses += [[-a, -b, -c], [a, b, -c], [-a, b, c], [a, -b, c]]
        return sign * self.gates[key]

    def choose(self, c: int, a: int, b: int) -> int:
        """c ? a : b."""
        return a if a == b else self.either(self.both(c, a), self.both(-c, b))

    def add(self, a: Word, b: Word, carry: int = -1) -> Word:
        result = []
        for x, y in zip(a, b, strict=True):
            half = self.differ(x, y)
            result.append(self.differ(half, carry))
            carry = self.either(self.both(x, y), self.both(half, carry))
        return result

    def negate(self, a: Word) -> Word:
        return self.add([-x for x in a], [-1] * len(a), carry=1)

    def less(self, a: Word, b: Word, signed: bool) -> int:
        if signed:
            a, b = [*a[:-1], -a[-1]], [*b[:-1], -b[-1]]
        result = -1
        for x, y in zip(a, b, strict=True):
            result = self.choose(self.differ(x, y), y, result)
        return result

    def any_of(self, bits: Word) -> int:
        result = -1
        for x in bits:
            result = self.either(result, x)
        return result

    def multiply(self, a: Word, b: Word) -> Word:
        known = [all(abs(x) == 1 for x in w) for w in (a, b)]
        if self.free_products and not any(known):
            first, second = sorted((tuple(a), tuple(b)))
            if (first, second) not in self.products:
                self.products[first, second] = [self.fresh() for _ in a]
            return self.products[first, second]
        if known[0]:
            a, b = b, a
        total: Word = [-1] * len(a)
        for position, bit in enumerate(b):
            if bit != -1:
                row = [-1] * position + [self.both(bit, x) for x in a[: len(a) - position]]
                total = self.add(total, row)
        return total

    def word(self, e: Expr) -> Word:
        """The bits of an expression.

        Raises
        ------
        NotACircuit : see the class.
        """
        if e.dtype.is_float:
            raise NotACircuit(e.dtype.name)
        found = self.known.get(id(e))
        if found is None:
            found = self.known[id(e)] = (e, self._word(e))
        return found[1]

    def _word(self, e: Expr) -> Word:
        match e:
            case Literal():
                return [1 if int(e.value) >> i & 1 else -1 for i in range(e.dtype.bits)]
            case Load() | IteratorRef() | ParameterRef():
                name = e.reference if isinstance(e, Load) else e.name
                if name not in self.inputs:
                    self.inputs[name] = [self.fresh() for _ in range(e.dtype.bits)]
                return self.inputs[name]
            case Cast():
                return self.resized(e.operand, e.dtype)
            case Unary():
                return self.unary(e)
            case Select():
                condition = self.any_of(self.word(e.condition))
                return self.chosen(condition, self.resized(e.then, e.dtype), self.resized(e.otherwise, e.dtype))
            case Call():
                return self.extremum(e)
            case Binary():
                return self.operation(e)
        raise NotACircuit(type(e).__name__)

    def extremum(self, e: Call) -> Word:
        """The smaller or the larger of two words."""
        if e.function not in ("max", "min") or len(e.arguments) != 2:
            raise NotACircuit(e.function)
        a, b = (self.resized(x, e.dtype) for x in e.arguments)
        smaller = self.less(a, b, e.dtype.is_signed)
        return self.chosen(smaller, a, b) if e.function == "min" else self.chosen(smaller, b, a)

    def unary(self, e: Unary) -> Word:
        if e.op == "!":
            return self.flag(-self.any_of(self.word(e.operand)), e.dtype)
        inner = self.resized(e.operand, e.dtype)
        if e.op == "~":
            return [-x for x in inner]
        return self.negate(inner) if e.op == "-" else inner

    def chosen(self, condition: int, then: Word, otherwise: Word) -> Word:
        """One of two words, bit by bit."""
        return [self.choose(condition, a, b) for a, b in zip(then, otherwise, strict=True)]

    def operation(self, e: Binary) -> Word:
        if e.op in ("&&", "||"):
            p, q = (self.any_of(self.word(x)) for x in (e.left, e.right))
            return self.flag(self.both(p, q) if e.op == "&&" else self.either(p, q), e.dtype)
        if e.op in ("<", "<=", ">", ">=", "==", "!="):
            return self.flag(self.comparison(e), e.dtype)
        a = self.resized(e.left, e.dtype)
        if e.op in ("<<", ">>"):
            return self.shifted(e, a)
        b = self.resized(e.right, e.dtype)
        match e.op:
            case "+":
                return self.add(a, b)
            case "-":
                return self.add(a, [-x for x in b], carry=1)
            case "*":
                return self.multiply(a, b)
            case "/" | "%":
                return self.divided(e, a, b)
            case "&" | "|" | "^":
                gate = {"&": self.both, "|": self.either, "^": self.differ}[e.op]
                return [gate(x, y) for x, y in zip(a, b, strict=True)]
        raise NotACircuit(e.op)

    def divided(self, e: Binary, a: Word, b: Word) -> Word:
        """Quotient or remainder by a positive number, rounded towards zero: long division of the magnitude."""
        number = sum(1 << k for k, bit in enumerate(b) if bit == 1)
        sign = a[-1] if e.dtype.is_signed else -1
        if any(abs(bit) != 1 for bit in b) or number == 0 or (e.dtype.is_signed and b[-1] == 1):
            raise NotACircuit(f"{e.op} by what may be zero or negative")
        magnitude = self.chosen(sign, self.negate(a), a) if sign != -1 else a
        quotient, rest = self.long_division(magnitude, number)
        result = quotient if e.op == "/" else (rest + [-1] * len(a))[: len(a)]
        return self.chosen(sign, self.negate(result), result) if sign != -1 else result

    def long_division(self, a: Word, number: int) -> tuple[Word, Word]:
        """Quotient and remainder of an unsigned word, bit by bit from the top; by a power of two no gate is needed."""
        width = number.bit_length()
        if number & (number - 1) == 0:
            return (a + [-1] * width)[width - 1: width - 1 + len(a)], a[: width - 1]
        divisor = [1 if number >> k & 1 else -1 for k in range(width)] + [-1]
        quotient, rest = [], [-1] * width
        for bit in reversed(a):
            rest = [bit, *rest]
            enough = -self.less(rest, divisor, signed=False)
            less = self.add(rest, [-x for x in divisor], carry=1)
            rest = self.chosen(enough, less, rest)[:-1]
            quotient.append(enough)
        return quotient[::-1], rest

    def shifted(self, e: Binary, a: Word) -> Word:
        """The bits of a shift by a constant; signed numbers are filled with their sign."""
        if not isinstance(e.right, Literal):
            raise NotACircuit("shift by a variable")
        amount = int(e.right.value)
        fill = a[-1] if e.dtype.is_signed and e.op == ">>" else -1
        return ([-1] * amount + a)[: len(a)] if e.op == "<<" else (a + [fill] * amount)[amount:]

    def comparison(self, e: Binary) -> int:
        common = usual_conversion(e.left.dtype, e.right.dtype)
        a, b = self.resized(e.left, common), self.resized(e.right, common)
        if e.op in ("==", "!="):
            unequal = self.any_of([self.differ(x, y) for x, y in zip(a, b, strict=True)])
            return unequal if e.op == "!=" else -unequal
        if e.op in (">", "<="):
            a, b = b, a
        less = self.less(a, b, common.is_signed)
        return less if e.op in ("<", ">") else -less

    def flag(self, bit: int, dtype: DType) -> Word:
        return [bit] + [-1] * (dtype.bits - 1)

    def resized(self, e: Expr, dtype: DType) -> Word:
        """The bits after conversion to an integer type."""
        if dtype.is_float:
            raise NotACircuit(dtype.name)
        word = self.word(e)
        if dtype.kind is Kind.BOOL:
            return self.flag(self.any_of(word), dtype)
        fill = word[-1] if e.dtype.kind is Kind.SIGNED else -1
        return word[: dtype.bits] + [fill] * (dtype.bits - len(word))
