"""Statements that do several things at once, as several statements."""

import pytest
from pycparser import c_ast, c_parser

from polysched.scop.c_frontend.parse import c_text
from polysched.scop.c_frontend.rewrites.increments import Increments


def split(body: str, plain: str = "c i j k n p q") -> str:
    function = c_parser.CParser().parse(f"void f() {{ {body} }}").ext[0]
    made = Increments(frozenset(plain.split()), lambda name: name != "c").statements(function.body.block_items)
    return " ".join(c_text(c_ast.Compound(list(made))).split())


@pytest.mark.parametrize(("before", "after"), [
    ("*p++ = a[++k];", "++k; *p = a[k]; p++;"),
    ("double t = *p++;", "double t = *p; p++;"),
    ("a[i] += *p++ * *q++;", "a[i] += (*p) * (*q); p++; q++;"),
    ("if (n) *p++ = 1;", "if (n) { *p = 1; p++; }"),
    ("for (i = 0, j = n; i < n; i++, j--) a[i] = j;", "j = n; for (i = 0; i < n; i++) { a[i] = j; j--; }"),
    ("for (i = (j = 0); i < n; ++i) a[i] = j;", "j = 0; for (i = 0; i < n; ++i) a[i] = j;"),
    ("do { a[0] = 1; } while (0);", "{ a[0] = 1; }"),
    ("if ((k = a[i])) n = k;", "k = a[i]; if (k) n = k;"),
    ("if (!(k = a[i]) || k > n) n = k; else if ((j = *p++) > 3) n = j;",
     "k = a[i]; if ((!k) || (k > n)) n = k; else { j = *p; p++; if (j > 3) n = j; }"),
    ("a[i] = ((k = b[i]) - (j = b[i + 1])) / 2;", "k = b[i]; j = b[i + 1]; a[i] = (k - j) / 2;"),
    ("n = (k = (j = b[i]) + 1) ? k : j;", "j = b[i]; k = j + 1; n = (k) ? (k) : (j);"),
    ("k = (k = a[i]);", "k = a[i]; k = k;"),
    ("double t = (k += 2) * 3;", "k += 2; double t = k * 3;"),
    ("x = *p++ > 0 ? a : b;", "x = ((*p) > 0) ? (a) : (b); p++;"),
    ("x = *p++ && n;", "x = (*p) && n; p++;"),
    ("if (*p++ > 0) x = *p;", "p++; if ((*(p - 1)) > 0) x = *p;"),
    ("if (n) x = 1; else if (a[k--]) x = k;", "if (n) x = 1; else { k--; if (a[k + 1]) x = k; }"),
    ("if (++k < n || *q++) x = 1;", "++k; if ((k < n) || (*(q++))) x = 1;"),
])
def test_split(before: str, after: str) -> None:
    assert split(before) == f"{{ {after} }}"


@pytest.mark.parametrize("body", [
    "x = n && (k = a[i]);",                                          # not always evaluated
    "if (n && (k = a[i])) x = 1;",
    "x = n ? (k = 1) : 2;",
    "if (n, (k = a[i])) x = 1;",
    "x = sizeof(k = 1);",
    "int k = (k = 3) + 1;",                                          # the variable that is declared, no other
    "if ((z = a[i])) x = 1;",
    "while ((k = a[i])) i = k;",
    "a[k++] = k;",                                                   # undefined
    "x = n && *p++;",                                                # not always evaluated
    "x = n ? *p++ : 0;",
    "x = sizeof(*p++);",
    "if (n && *p++) x = 1;",
    "if (*p++ > *p) x = 1;",
    "if (a[c++]) x = 1;",                                            # c - 1 may not be the value before c++
    "while (*p++) x = 1;",
    "a[z++] = 1;",                                                   # somebody has its address
    "for (i = 0, j = i; i < n; i++) a[i] = j;",                      # the order matters
    "for (i = 0; i < n; i++, j += i) a[i] = j;",
    "for (i = 0; i < n; i++, j--) { if (a[i]) continue; a[i] = j; }",  # the step follows `continue`
    "do { if (n) break; a[0] = 1; } while (0);",
    "for (i = 0; i < n; i++, j--) { int j = 3; a[i] = j; }",           # the body has another variable of the name
    "for (i = k = 300; i < n; i++) a[i] = k;",                         # k may be too narrow for it
])
def test_left_alone(body: str) -> None:
    assert split(body) == split(body, plain="") == " ".join(
        c_text(c_parser.CParser().parse(f"void f() {{ {body} }}").ext[0].body).split())
