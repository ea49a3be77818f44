"""Random affine C programs with bounded loops and subscripts that stay inside their arrays.

Counters stay within -4 .. 9 and coefficients within -2 .. 2, so a subscript with an offset of 100 stays
inside 200 elements for the depths generated here.  `log` lists, per assignment, its number and the
counters around it: with it the compiled program says which instances ran, and in which order.
"""

import random
from dataclasses import dataclass, field

SIZE = 200
PARAMETERS = {"n": 6, "m": 3, "t": 3}


@dataclass
class Generator:
    random: random.Random
    logged: bool
    statements: int = 0
    counters: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    used: int = 0
    choices: int = 0

    def affine(self):
        """A small affine expression in the counters and parameters."""
        terms = []
        for name in self.counters:
            factor = self.random.choice([0, 0, 1, 1, -1, 2])
            if factor:
                terms.append(f"{factor} * {name}" if factor != 1 else name)
        if self.random.random() < 0.3:
            terms.append(self.random.choice(["n", "m", "-n", "-m"]))
        terms.append(str(self.random.randint(-3, 3)))
        text = " + ".join(terms).replace("+ -", "- ")
        return self.random.choice([text] * 6 + [f"({text}) / 2", f"({text}) % 3", f"MIN({text}, 5)", f"abs({text})",
                                                f"(({text}) > 2 ? 1 : {self.random.randint(-2, 2)})"])

    def condition(self):
        one = f"{self.affine()} {self.random.choice(['<', '<=', '>', '>=', '==', '!='])} {self.affine()}"
        if self.random.random() < 0.25:
            return f"{one} {self.random.choice(['&&', '||'])} {self.affine()} < {self.affine()}"
        return f"!({one})" if self.random.random() < 0.1 else one

    def data_condition(self):
        return f"{self.element()} % 4 {self.random.choice(['<', '>', '=='])} {self.random.randint(-1, 2)}"

    def element(self):
        if self.random.random() < 0.2:
            return self.random.choice(["s[0]", "s[1]", "t"])
        array = self.random.choice("AB")
        if array == "A":
            return f"A[{self.affine()} + 100]"
        return f"B[({self.affine()} + 100) / 10][{self.affine()} + 100]"

    def value(self):
        parts = [self.random.choice([self.element(), self.element(), self.affine(), "7"])
                 for _ in range(self.random.randint(1, 3))]
        text = parts[0]
        for part in parts[1:]:
            text = f"{text} {self.random.choice('+-*')} ({part})"
        if self.random.random() < 0.15:
            return f"({self.condition()}) ? {text} : {self.element()}"
        return text

    def emit(self, depth, text):
        self.lines.append("  " * (depth + 1) + text)

    def assignment(self, depth):
        target, op = self.element(), self.random.choice(["=", "=", "+=", "-="])
        text = f"{target} {op} {self.value()};" if self.random.random() < 0.9 else f"{target}++;"
        if self.logged:
            counters = "".join(f"log[logged++] = {c}; " for c in self.counters)
            text = f"{{ log[logged++] = {1000 + self.statements}; {counters}{text} }}"
        self.statements += 1
        self.emit(depth, text)

    def block(self, depth, loops):
        for _ in range(self.random.randint(1, 3)):
            kind = self.random.random()
            if kind < 0.4 and loops and self.statements < 8:
                self.loop(depth, loops)
            elif kind < 0.55 and self.statements < 8 and self.choices < 2:
                self.choices += 1
                self.choice(depth, loops)
                self.choices -= 1
            elif kind < 0.6 and self.counters:
                self.emit(depth, f"if ({self.condition()}) {self.random.choice(['break', 'continue'])};")
            else:
                self.assignment(depth)

    def choice(self, depth, loops):
        self.emit(depth, f"if ({self.condition()}) {{")
        self.block(depth + 1, loops)
        if self.random.random() < 0.5:
            self.emit(depth, "} else {")
            self.block(depth + 1, loops)
        self.emit(depth, "}")

    def loop(self, depth, loops):
        name = f"i{self.used}"
        self.used += 1
        low = self.random.choice(["0", "0", "1", "-2", *self.counters[-1:], "m"])
        high = self.random.choice(["n", "n", "m", "n - 1", "6", "MIN(n, m + 2)",
                                   *(f"{c} + 2" for c in self.counters[-1:])])
        step = self.random.choice([1, 1, 1, 2, 3])
        guard = f"{name} < 9" if self.random.random() < 0.3 else None
        form = self.random.randint(0, 3)
        if form == 0:
            head = f"int {name} = {high}; {name} >= {low}; {name} -= {step}"
        elif form == 1:
            head = f"int {name} = {high} - 1; {name} > {low} - 1; {name}--"
        else:
            test = f"{name} < {high}" if guard is None else f"{name} <= {high} - 1 && {guard}"
            head = f"int {name} = {low}; {test}; {name} {'++' if step == 1 else f'+= {step}'}"
        self.emit(depth, f"for ({head}) {{")
        self.counters.append(name)
        self.block(depth + 1, loops - 1)
        self.counters.pop()
        self.emit(depth, "}")


@dataclass
class DataGenerator(Generator):
    """The same with conditions on data."""

    def condition(self):
        return self.data_condition() if self.random.random() < 0.4 else super().condition()


def program(seed, *, logged=False, data=False, name="f"):
    """One function as text."""
    generator = (DataGenerator if data else Generator)(random.Random(seed), logged)
    generator.loop(0, 2)
    generator.block(0, 2)
    body = "\n".join(generator.lines)
    log = ", long *log" if logged else ""
    start = "  long logged = 0;\n" if logged else ""
    end = "  log[logged] = -1000;\n" if logged else ""
    return ("#define MIN(a, b) ((a) < (b) ? (a) : (b))\nint abs(int);\n"
            f"void {name}(int n, int m, int A[{SIZE}], int B[20][{SIZE}], int s[2]{log}) {{\n  int t = 3;\n{start}"
            f"#pragma scop\n{body}\n#pragma endscop\n{end}}}\n")
