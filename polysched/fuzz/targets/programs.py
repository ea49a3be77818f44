"""Seeded programs for targets with memories of their own: what is sent, staged, combined or copied back goes wrong.

Stencils over time, products, triangular loops, sums and extrema, and writes that conditions on data or on counters
skip, some of them in a loop around all, some in two regions.  Arrays have one type or one each, loops may begin below
zero or end beyond n, and sizes may be zero.  In some programs rows are longer than there are of them, each matrix by
something else, and loops over j have an end of their own.  Every subscript is inside of its array.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping

from polysched.records import dataclass

MARGIN = 5
"""Elements on both sides of 0 to n, which subscripts may reach."""
BEYOND = 2
"""Iterations of a loop in front of 0, or beyond n."""
TYPES = ("unsigned", "unsigned", "double", "float", "unsigned char", "short", "unsigned long")
WHOLE = ("unsigned", "unsigned char", "short", "unsigned long")
"""Those of programs whose arrays differ: operands are promoted, and results are cut."""
ARRAYS = "ABCxyzrm"
"""The arguments behind the sizes: matrices, vectors, two elements, and bytes that conditions look at."""
SIZES = ((5, 2), (9, 3), (14, 4), (1, 1), (21, 2), (0, 2), (6, 0))
"""Of `n` and `t`: the steps around."""
WIDTHS = (0, 1, 3, 7, 16, 33)
"""Of `q`, the end of loops over j."""


@dataclass(frozen=True, kw_only=True)
class TargetProgram:
    """A C file with a region or two.

    Parameters
    ----------
    text : of the file.
    types : in C, of all arrays.
    shapes : of all arrays, their extents in C.
    axes : loops that may be distributed, in the order in which they are tried.
    sizes : at which it runs.
    """

    text: str
    types: Mapping[str, str]
    shapes: Mapping[str, tuple[str, ...]]
    axes: tuple[str, ...]
    sizes: tuple[dict[str, int], ...]


def target_program(seed: int) -> TargetProgram:
    """The program of this number."""
    return _Drawer(random.Random(seed), random.Random(f"extents {seed}")).program()


class _Drawer:
    """Draws one program; every choice comes from one generator of random numbers, those about extents from another."""

    def __init__(self, source: random.Random, extents: random.Random) -> None:
        self.random, self.extents = source, extents
        self.is_wide = extents.random() < 0.35
        every = source.choice(TYPES)
        self.floats = every in ("double", "float")
        mixed = not self.floats and source.random() < 0.35
        self.types = {name: source.choice(WHOLE) if mixed else every for name in ARRAYS} | {"m": "unsigned char"}
        self.conditions = source.choice((0.0, 0.3, 0.6))   # probability of one on data, per statement

    def program(self) -> TargetProgram:
        choose = self.random.choice
        around = self.random.random() < 0.45
        phases = [choose(self.phases)() for _ in range(choose((1, 1, 2, 2, 3)))]
        body = [line for phase in phases for line in phase]
        if not around and len(phases) > 1 and self.random.random() < 0.4:
            body[len(phases[0]):len(phases[0])] = ["#pragma endscop", f"r[1] = {self.value('x', '0')};",
                                                   "#pragma scop"]
        if around:
            body = ["for (int s = 0; s < t; s++) {", *(f"  {line}" for line in body), "}"]
        shapes = {name: self.shape(name) for name in ARRAYS}
        head = ", ".join(["int n", "int t", *["int q"] * self.is_wide, *(
            f"{self.types[name]} {name}{''.join(f'[{extent}]' for extent in shapes[name])}" for name in ARRAYS)])
        lines = [f"void f({head}) {{", "#pragma scop", *(f"  {line}" for line in body), "#pragma endscop", "}", ""]
        drawn, axes = (choose(SIZES), choose(SIZES)), choose((("i", "j"), ("i", "j"), ("j", "i")))
        return TargetProgram(text="\n".join(lines), types=self.types, shapes=shapes,
                             axes=axes,
                             sizes=self.sizes(drawn))

    def sizes(self, drawn: tuple[tuple[int, int], tuple[int, int]]) -> tuple[dict[str, int], ...]:
        """At which a program runs, with a width each where it has one."""
        widths = self.extents.sample(WIDTHS, 2)
        return tuple({"n": n, "t": t} | ({"q": width} if self.is_wide else {})
                     for (n, t), width in zip(drawn, widths, strict=True))

    def shape(self, name: str) -> tuple[str, ...]:
        """The extents of an array: any iterator is inside of any dimension."""
        extent = f"n + q + {2 * MARGIN}" if self.is_wide else f"n + {2 * MARGIN}"
        if name not in "ABC":
            return ("2",) if name == "r" else (extent,)
        row = self.extents.choice((extent, extent.replace("q", "2 * q"), f"{extent} + 3")) if self.is_wide else extent
        return extent, row

    @property
    def phases(self) -> tuple[Callable[[], list[str]], ...]:
        """All kinds of nests; those that lead to messages more often."""
        return (self.stencil, self.stencil, self.stencil, self.line, self.product, self.triangle, self.reduction,
                self.choices, self.choices)

    def shift(self, most: int = MARGIN - BEYOND) -> int:
        return self.random.choice((0, 0, 0, -1, 1, -1, 1, most, -most))

    def at(self, iterator: str, most: int = MARGIN - BEYOND) -> str:
        """A subscript: the iterator, moved a little."""
        moved = MARGIN + self.shift(most)
        return f"{iterator} + {moved}" if moved else iterator

    def here(self, iterator: str) -> str:
        return f"{iterator} + {MARGIN}"

    def value(self, names: str, one: str, other: str = "") -> str:
        """A sum of some elements, which stays small where floats would grow."""
        parts = []
        for _ in range(self.random.choice((1, 2, 2, 3, 4))):
            name = self.random.choice(names)
            if name in "xyz" or not other:
                element = f"{name if name in 'xyz' else 'x'}[{self.at(self.random.choice((one, one, other or one)))}]"
            else:
                element = f"{name}[{self.at(one)}][{self.at(other)}]"
                if self.random.random() < 0.12:
                    element = f"{name}[{self.at(other)}][{self.at(one)}]"
            parts.append(f"{self.random.choice(('0.25 * ', '0.5 * ')) if self.floats else ''}{element}")
        signs = [self.random.choice((" + ", " + ", " - ")) for _ in parts[1:]]
        return parts[0] + "".join(sign + part for sign, part in zip(signs, parts[1:], strict=True))

    def guarded(self, one: str, other: str, line: str, otherwise: str = "") -> str:
        """A statement under a condition, or none."""
        draw = self.random.random()
        if draw < self.conditions:
            test = self.random.choice((f"m[{self.at(one)}] & 1", f"y[{self.at(one)}] > z[{self.at(one)}]",
                                       f"m[{self.at(other or one)}] > {self.random.choice((1, 3, 100))}",
                                       "r[1] > 2", f"x[{self.here(one)}] > 1"))
            return f"if ({test}) {line}" + (f" else {otherwise}" if otherwise and self.random.random() < 0.4 else "")
        if draw < self.conditions + 0.2:
            tests = [f"{one} % 3 == 1", f"{one} > 2", "n > 4"]
            tests += [f"{one} >= {other}", f"{one} + {other} < n", f"{other} % 2 == 0"] if other else []
            return f"if ({self.random.choice(tests)}) {line}" + (
                f" else {otherwise}" if otherwise and self.random.random() < 0.4 else "")
        return line

    def loop(self, iterator: str, outer: str = "") -> str:
        heads = [f"for (int {iterator} = 0; {iterator} < n; {iterator}++)"] * 4
        heads += [f"for (int {iterator} = 1; {iterator} < n - 1; {iterator}++)",
                  f"for (int {iterator} = n - 1; {iterator} >= 0; {iterator}--)",
                  f"for (int {iterator} = 0; {iterator} < n; {iterator} += 2)",
                  f"for (int {iterator} = -{BEYOND}; {iterator} < n; {iterator}++)",
                  f"for (int {iterator} = 0; {iterator} < n + {BEYOND}; {iterator}++)",
                  f"for (int {iterator} = 0; {iterator} < t && {iterator} < n; {iterator}++)"]
        heads += [f"for (int {iterator} = 0; {iterator} <= {outer}; {iterator}++)",
                  f"for (int {iterator} = {outer}; {iterator} < n; {iterator}++)",
                  f"for (int {iterator} = 0; {iterator} + {outer} < n; {iterator}++)"] if outer else []
        head = self.random.choice(heads)
        is_own = self.is_wide and iterator == "j" and self.extents.random() < 0.8
        return re.sub(r"\bn\b", "q", head) if is_own else head

    def nest(self, *lines: str) -> list[str]:
        return [self.loop("i"), f"  {self.loop('j', 'i')} {{", *(f"    {line}" for line in lines), "  }"]

    def stencil(self) -> list[str]:
        """One array from its neighbours, in place or through a second one."""
        first, second = self.random.sample("ABC", 2)
        target = f"[{self.here('i')}][{self.here('j')}]"
        if self.random.random() < 0.3:
            return self.nest(self.guarded("i", "j", f"{first}{target} = {self.value(first * 3 + second, 'i', 'j')};"))
        ahead = self.guarded("i", "j", f"{second}{target} = {self.value(first * 3 + 'x', 'i', 'j')};",
                             f"{second}{target} = {self.value('xy', 'i', 'j')};")
        back = self.guarded("i", "j", f"{first}{target} = {self.value(second * 3, 'i', 'j')};")
        return [*self.nest(ahead), *self.nest(back)]

    def line(self) -> list[str]:
        """A stencil of one dimension."""
        first, second = self.random.sample("xyz", 2)
        lines = [self.loop("i"),
                 "  " + self.guarded("i", "", f"{second}[{self.here('i')}] = {self.value(first, 'i')};")]
        if self.random.random() < 0.7:
            lines += [self.loop("i"),
                      "  " + self.guarded("i", "", f"{first}[{self.here('i')}] = {self.value(second, 'i')};")]
        return lines

    def product(self) -> list[str]:
        """A sum of products, also over a part of the loops, or under a condition."""
        target, left, right = self.random.sample("ABC", 3)
        element = f"{target}[{self.here('i')}][{self.here('j')}]"
        factor = "0.125 * " if self.floats else ""
        one = self.random.choice((f"{left}[{self.here('i')}][{self.here('k')}]",
                                  f"{left}[{self.at('k')}][{self.at('i')}]", f"x[{self.at('k')}]"))
        two = self.random.choice((f"{right}[{self.here('k')}][{self.here('j')}]",
                                  f"{right}[{self.at('j')}][{self.at('k')}]", f"y[{self.at('j')}]"))
        inner = self.random.choice(("for (int k = 0; k < n; k++)", "for (int k = 0; k <= i; k++)",
                                    "for (int k = j; k < n; k++)", "for (int k = 0; k < n; k += 2)"))
        update = self.guarded("i", "j", f"{element} += {factor}{one} * {two};")
        clear = [f"{element} = {self.value('xy', 'i', 'j')};"] if self.random.random() < 0.5 else []
        return self.nest(*clear, inner, f"  {update}")

    def triangle(self) -> list[str]:
        """A solution by substitution, or an elimination."""
        factor, x, y = "0.125 * " if self.floats else "", f"x[{self.here('i')}]", f"y[{self.here('i')}]"
        if self.random.random() < 0.5:
            loop = self.random.choice(("for (int i = 0; i < n; i++)", "for (int i = n - 1; i >= 0; i--)"))
            inner = "for (int j = 0; j < i; j++)" if "++" in loop else "for (int j = i + 1; j < n; j++)"
            update = self.guarded("i", "j", f"{x} -= {factor}A[{self.here('i')}][{self.here('j')}] * "
                                            f"x[{self.here('j')}];")
            return [f"{loop} {{", f"  {inner}", f"    {update}", f"  {x} = {x} - {y};", "}"]
        element, row, column = "B[i][j]", "B[i][k]", "B[k][j]"
        update = self.guarded("i", "j", f"{element} -= {factor}{row} * {column};")
        return ["for (int k = 0; k < n; k++)", "  for (int i = k + 1; i < n; i++)",
                "    for (int j = k + 1; j < n; j++)", f"      {update}"]

    def reduction(self) -> list[str]:
        """A sum or an extremum of a row, a column or all, often under a condition."""
        target = self.random.choice((f"z[{self.here('i')}]", f"z[{self.here('j')}]", "r[0]"))
        element = self.random.choice((f"A[{self.here('i')}][{self.at('j')}]", f"B[{self.at('j')}][{self.at('i')}]"))
        if self.random.random() < 0.3:
            update = f"if ({element} > {target}) {target} = {element};"
        else:
            update = self.guarded("i", "j", f"{target} += {'0.5 * ' if self.floats else ''}{element};")
        start = [self.loop("i"), f"  z[{self.here('i')}] = 0;"] if "z" in target and self.random.random() < 0.4 else []
        return [*start, *self.nest(update)]

    def choices(self) -> list[str]:
        """Writes that conditions skip, and elements that are written at some places and read at others."""
        first, second = self.random.sample("ABC", 2)
        target = f"{first}[{self.here('i')}][{self.here('j')}]"
        written = f"if (m[{self.at('i')}] & {self.random.choice((1, 2, 4))}) {target} = {self.value(second, 'i', 'j')};"
        apart = (f"if (i >= j) {target} += {self.value(second + 'x', 'i', 'j')}; "
                 f"else {second}[{self.here('i')}][{self.here('j')}] += {first}[{MARGIN}][{self.here('j')}];")
        line = (f"if (m[{self.here('j')}] > 2) y[{self.here('i')}] = {self.value('xz', 'i', 'j')};")
        kept = f"for (int k = 0; k < n; k++) if (m[{self.here('k')}] & 1) {target} += x[{self.here('k')}];"
        return self.nest(self.random.choice((written, written, apart, line, kept)))
