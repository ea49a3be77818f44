"""One random affine program printed as C and as Python: both front ends extract the same Scop."""

import linecache
import random
from dataclasses import dataclass, field
from typing import Any

import pytest

from polysched.errors import UnsupportedScopError
from polysched.scop import from_c_text
from polysched.scop.python_frontend import from_python
from tests.scop.equality import differences
from tests.tiers import and_campaign

C_OF = {"and": "&&", "or": "||"}


@dataclass
class Program:
    """The lines of a program in both languages; arrays have 64 elements per dimension and subscripts stay inside."""

    seed: int
    c: list[str] = field(default_factory=list)
    python: list[str] = field(default_factory=list)
    iterators: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        for _ in range(self.random.randint(1, 3)):
            self.statement(1)

    def emit(self, depth: int, c: str, python: str | None) -> None:
        self.c.append("    " * depth + c)
        if python is not None:
            self.python.append("    " * depth + python)

    def affine(self) -> tuple[str, str]:
        """An affine expression in C and in Python."""
        base = self.random.choice([*self.iterators, *self.iterators, "n", "m", "7"])
        text = f"{base} {self.random.choice('+-')} {self.random.randint(0, 3)}"
        kind = self.random.random()
        if kind < 0.12:
            return f"({text} + 40) / 2", f"({text} + 40) // 2"
        if kind < 0.24:
            return f"({text} + 40) % 5", f"({text} + 40) % 5"
        return text, text

    def condition(self) -> tuple[str, str]:
        (a, a_python), (b, b_python) = self.affine(), self.affine()
        op = self.random.choice(["<", "<=", ">", ">=", "==", "!="])
        first = f"{a} {op} {b}", f"{a_python} {op} {b_python}"
        if self.random.random() < 0.3:
            word = self.random.choice(["and", "or"])
            (d, d_python) = self.affine()
            return f"({first[0]} {C_OF[word]} {d} > 2)", f"({first[1]} {word} {d_python} > 2)"
        return first

    def element(self) -> tuple[str, str]:
        (a, a_python), (b, b_python) = self.affine(), self.affine()
        if self.random.random() < 0.5:
            return f"x[{a} + 20]", f"x[{a_python} + 20]"
        return f"y[{a} + 20][{b} + 20]", f"y[{a_python} + 20, {b_python} + 20]"

    def statement(self, depth: int) -> None:
        kind = self.random.choices(["loop", "if", "assign"], [5 if depth < 4 else 0, 2 if depth < 5 else 0, 3])[0]
        if kind == "assign":
            self.assignment(depth)
            return
        if kind == "loop":
            self.loop(depth)
            return
        c, python = self.condition()
        self.emit(depth, f"if ({c}) {{", f"if {python}:")
        self.statement(depth + 1)
        if self.random.random() < 0.5:
            self.emit(depth, "} else {", None)
            self.python.append("    " * depth + "else:")
            self.statement(depth + 1)
        self.emit(depth, "}", None)

    def loop(self, depth: int) -> None:
        name = "ijkpqr"[len(self.iterators)]
        (low, low_python), (high, high_python) = self.affine(), self.affine()
        step = self.random.choice([1, 1, 1, 2, 3])
        if self.random.random() < 0.3:
            self.emit(depth, f"for (int {name} = {high}; {name} > {low}; {name} -= {step}) {{",
                      f"for {name} in range({high_python}, {low_python}, -{step}):")
        else:
            self.emit(depth, f"for (int {name} = {low}; {name} < {high}; {name} += {step}) {{",
                      f"for {name} in range({low_python}, {high_python}, {step}):")
        self.iterators.append(name)
        for _ in range(self.random.randint(1, 2)):
            self.statement(depth + 1)
        self.iterators.pop()
        self.emit(depth, "}", None)

    def assignment(self, depth: int) -> None:
        op = self.random.choice(["=", "+=", "-=", "*="])
        target, value, other = self.element(), self.element(), self.element()
        factor = self.random.choice(["0.5", "2.0"])
        self.emit(depth, f"{target[0]} {op} {value[0]} * {factor} + {other[0]};",
                  f"{target[1]} {op} {value[1]} * {factor} + {other[1]}")

    def c_text(self) -> str:
        body = "\n".join(self.c)
        head = "void program(int n, int m, double x[64], double y[64][64])"
        return f"{head}\n{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"

    def python_function(self) -> Any:
        head = ['def program(n: int, m: int, x: "float64[64]", y: "float64[64, 64]"):',
                "    assert 2 <= n and n <= 12 and 2 <= m and m <= 12"]
        text, name = "\n".join([*head, *self.python]) + "\n", f"<program {self.seed}>"
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        namespace: dict[str, Any] = {}
        exec(compile(text, name, "exec"), namespace)
        return namespace["program"]


@pytest.mark.parametrize("seed", and_campaign(range(16), range(30)))
def test_both_front_ends_extract_the_same(seed: int) -> None:
    program = Program(seed)
    python = from_python(program.python_function())
    try:
        c = from_c_text(program.c_text())
    except UnsupportedScopError as refusal:
        assert "the region has no statement that ever runs" in str(refusal)  # noqa: PT017
        assert python.statements == ()
        return
    assert differences(c, python) == []
