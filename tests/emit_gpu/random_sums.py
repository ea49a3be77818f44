"""Random programs whose work items read what their neighbours read: seeded, every subscript inside its array."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

TYPES = ("double", "float", "int", "short", "unsigned char")


@dataclass(frozen=True, kw_only=True)
class Loop:
    """A loop of the steps: its head, and how it subscripts a dimension of `3 * n + 20` elements."""

    head: str
    subscript: str


def program(seed: int) -> str:
    """A C file with sums in one or two phases, some of them in a loop of the host."""
    random = Random(seed)
    c_type, narrow = random.choice(TYPES), random.choice(TYPES)
    if c_type in ("double", "float"):
        narrow = c_type
    lines = [line for number in range(random.choice((1, 1, 2))) for line in _phase(random, "CD"[number])]
    rows = random.choice(("for (int i = 0; i < n; i++)", "for (int i = 1; i < n; i += 2)",
                          "for (int i = n - 1; i >= 2; i--)", "for (int i = m; i < n; i++)"))
    columns = random.choice(("for (int j = 0; j < n; j++)", "for (int j = i; j < n; j++)",
                             "for (int j = n - 1; j >= 0; j -= 3)", "for (int j = 0; j <= i; j++)"))
    nest = [f"  {rows}", f"    {columns} {{", *(f"      {line}" for line in lines), "    }"]
    if random.random() < 0.3:
        nest = ["  for (int s = 0; s < 5; s += 2) {", *nest,
                "    for (int i = 0; i < n; i++)", "      for (int j = 0; j < n; j++)",
                "        A[i][j] = C[i][j] + s;", "  }"]
    shapes = f"{c_type} C[n][n], {c_type} D[n + 1][n], {narrow} A[3 * n + 20][3 * n + 20], {narrow} B[3 * n + 20]"
    return "\n".join([f"void f(int n, int m, {shapes}) {{", "#pragma scop", *nest, "#pragma endscop", "}", ""])


def _phase(random: Random, target: str) -> list[str]:
    loop = random.choice((
        Loop(head="for (int k = 0; k < n; k++)", subscript="k"),
        Loop(head="for (int k = i; k < n; k++)", subscript="2 * k + 1"),
        Loop(head="for (int k = i + 17; k < n; k++)", subscript="k - i"),
        Loop(head="for (int k = n - 1; k >= 0; k -= 4)", subscript="n - 1 - k"),
        Loop(head="for (int k = j; k < n + m; k += 2)", subscript="k + i"),
        Loop(head="for (int k = -3; k <= m; k++)", subscript="k + 3")))
    left = random.choice((f"A[i][{loop.subscript}]", f"A[{loop.subscript}][j]", f"A[i + m][{loop.subscript}]",
                          f"A[{loop.subscript}][(i + j) % 3]"))
    right = random.choice((f"B[{loop.subscript}]", f"A[{loop.subscript}][i]", f"B[j + {loop.subscript}]", "2"))
    guard = random.choice(("", "", "", "if (m >= 5) ", "if ((i + k) % 3 == 0) ", "if (i < j) ", "if (B[i] > 0) "))
    inside = guard if "k" in guard else ""
    element = random.choice((f"{target}[i][j]", f"{target}[i][j]", "D[i + 1][j]"))
    return [f"{'' if inside else guard}{loop.head}", f"  {inside}{element} += {left} * {right};"]
