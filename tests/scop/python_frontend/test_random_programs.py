"""Random affine programs as Python: the extracted Scop computes, instance by instance, what Python computes."""

import linecache
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from polysched.scop.interpreter import execute
from tests.scop.python_frontend.running import check, extracted
from tests.tiers import and_campaign

SIZE = 40  # of every array along every dimension; subscripts of the generator stay inside


class Generator:
    """Writes a function over x (vector), y (matrix) and n with loops, branches and slices, always inside the arrays."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.iterators: list[str] = []
        self.scalars: list[str] = []

    def function(self) -> str:
        lines = ["def program(x, y, n):"]
        for _ in range(self.random.randint(2, 4)):
            lines += self.statement(1)
        return "\n".join(lines) + "\n"

    def statement(self, depth: int) -> list[str]:
        pad = "    " * depth
        kind = self.random.choices(["loop", "if", "assign", "scalar", "slice"], [4 if depth < 4 else 0, 2, 4, 1, 1])[0]
        if kind == "loop":
            return self.loop(depth)
        if kind == "if":
            body = self.assignment(depth + 1)
            lines = [f"{pad}if {self.condition()}:", *body]
            if self.random.random() < 0.5:
                lines += [f"{pad}else:", *self.assignment(depth + 1)]
            return lines
        if kind == "scalar":
            name = f"s{len(self.scalars)}"
            lines = [f"{pad}{name} = {self.value()}"]
            self.scalars.append(name)
            return [*lines, f"{pad}{self.element()} += {name}"]
        if kind == "slice":
            return [f"{pad}{self.sliced()}"]
        return self.assignment(depth)

    def loop(self, depth: int) -> list[str]:
        name = "ijklm"[len(self.iterators)]
        low, high = self.affine(small=True), self.affine(small=True)
        forms = [f"range({high})", f"range({low}, {high})", f"range({low}, {high}, {self.random.choice([2, 3])})",
                 f"range({high}, {low}, -1)", f"range({high}, {low}, -2)", f"range(min({low}, 3), max({high}, 2))"]
        lines = ["    " * depth + f"for {name} in {self.random.choice(forms)}:"]
        self.iterators.append(name)
        known = len(self.scalars)
        for _ in range(self.random.randint(1, 2)):
            lines += self.statement(depth + 1)
        del self.scalars[known:]
        self.iterators.pop()
        return lines

    def affine(self, *, small: bool = False) -> str:
        terms = [self.random.choice([*self.iterators, "n", str(self.random.randint(0, 4))])]
        if self.random.random() < 0.5:
            terms.append(f"{self.random.choice('+-')} {self.random.randint(0, 3)}")
        text = " ".join(terms)
        if not small and self.random.random() < 0.2:
            text = f"({text}) {self.random.choice(['// 2', '% 3', '* 2 - 3'])}"
        return text

    def subscript(self) -> str:
        return self.affine()

    def element(self) -> str:
        if self.random.random() < 0.5:
            return f"x[{self.subscript()}]"
        return f"y[{self.subscript()}, {self.subscript()}]"

    def condition(self) -> str:
        op = self.random.choice(["<", "<=", ">", ">=", "==", "!="])
        first = f"{self.affine()} {op} {self.affine()}"
        kind = self.random.random()
        if kind < 0.2:
            return f"{first} and {self.affine()} > 1"
        if kind < 0.4:
            return f"not ({first} or {self.affine()} % 2 == 0)"
        if kind < 0.55:
            return f"{self.element()} > 1.5"
        return first

    def value(self) -> str:
        parts = [self.element(), *([self.random.choice(self.scalars)] if self.scalars else []),
                 self.random.choice([self.element(), f"({self.affine()})", "0.5", f"abs({self.element()})",
                                     f"({self.element()} if {self.condition()} else 2)", f"max({self.element()}, 1)"])]
        return " + ".join(f"{self.random.choice(['0.25', '-0.5'])} * {p}" for p in parts)

    def assignment(self, depth: int) -> list[str]:
        op = self.random.choice(["=", "=", "+=", "-="])
        return ["    " * depth + f"{self.element()} {op} {self.value()}"]

    def sliced(self) -> str:
        start, shift = self.random.randint(0, 3), self.random.randint(0, 3)
        row = self.subscript()
        return self.random.choice([
            f"x[{start}:{start} + n] = 0.5 * x[{shift}:{shift} + n] + y[{row}, :n]",
            f"x[{start}:] = 0.25 * x[:{SIZE} - {start}]" if start else "x[:] = x[::-1] * 0.5",
            f"y[{row}, {start}:-1] += x[{start}:-1]", f"y[1:, {start}] = y[:-1, {shift}] * 0.5",
            f"y[:n, {shift}] = np.sum(y[:n, :] * x, axis=1) * 0.01"])


def compiled(text: str, name: str) -> Callable[..., Any]:
    """The function behind a text, with source lines that `inspect` finds."""
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    namespace: dict[str, Any] = {"np": np}
    exec(compile(text, name, "exec"), namespace)
    function: Callable[..., Any] = namespace["program"]
    return function


@pytest.mark.parametrize("seed", and_campaign(range(20), range(30)))
def test_random_program(seed: int) -> None:
    text = Generator(seed).function()
    program = compiled(text, f"<program {seed}>")
    rng = np.random.default_rng(seed)
    arguments = rng.random(SIZE), rng.random((SIZE, SIZE)), int(rng.integers(3, 8))
    try:
        with np.errstate(all="ignore"):
            program(*(a.copy() if isinstance(a, np.ndarray) else a for a in arguments))
    except (IndexError, ValueError) as error:
        pytest.skip(f"the program leaves its arrays or reads a name too early: {error}")
    check(program, *arguments, rtol=1e-7)


def loops(x, n):
    for i in range(1, n):
        for j in range(i, n, 2):
            x[i, j] = i + j
        for j in range(n - 1, i, -1):
            x[j, i] = 1


def test_instances_run_in_pythons_order() -> None:
    seen: list[tuple[int, int]] = []

    class Recorder(np.ndarray):
        def __setitem__(self, key: tuple[int, int], value: float) -> None:
            seen.append(key)

    loops(np.zeros((6, 6)).view(Recorder), 6)
    scop = extracted(loops, np.zeros((6, 6)), 6).scop
    instances: list[tuple[int, int]] = []
    execute(scop, {"n": 6, "x_0": 6, "x_1": 6}, {"x": np.zeros((6, 6))},
            trace=lambda name, point: instances.append(point if name == "S0" else point[::-1]))
    assert instances == seen
