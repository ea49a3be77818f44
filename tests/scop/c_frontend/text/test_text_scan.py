"""Statements and brackets found by the tokens of a file, whatever stands in comments and strings."""

from __future__ import annotations

import pytest

from polysched.scop.c_frontend.text.text_scan import Scanner, line_ends, without_directives


def words(text: str) -> list[str]:
    return [token[0] for token in Scanner(text).tokens]


@pytest.mark.parametrize(("text", "found"), [
    ("a+b;", ["a", "+", "b", ";"]),
    ("a /* ; */ // }\nb", ["a", "b"]),
    ('f("}; /*", \';\')', ["f", "(", '"}; /*"', ",", "';'", ")"]),
    ("1.5e-3f 0x1p+4 .5", ["1.5e-3f", "0x1p+4", ".5"]),
    ("#pragma omp for \\\n  simd\nx", ["#", "x"]),
    ("#define A /* two\nlines */ 3\nx", ["#", "x"]),
    ("a \\\n b", ["a", "b"]),
])
def test_tokens(text: str, found: list[str]) -> None:
    assert words(text) == found


def test_tokens_have_their_places() -> None:
    tokens = Scanner("a\n  b /* x\n */ c").tokens
    assert tokens == [("a", 0, 1, 1), ("b", 4, 5, 2), ("c", 15, 16, 3)]


@pytest.mark.parametrize(("text", "statement"), [
    ("x = 1; y", "x = 1;"),
    ("{ a; { b; } } c;", "{ a; { b; } }"),
    ("for (i = 0; i < n; i++) x[i] = f(i, 3); c;", "for (i = 0; i < n; i++) x[i] = f(i, 3);"),
    ("if (a) b; else if (c) d; else { e; } f;", "if (a) b; else if (c) d; else { e; }"),
    ("do { a; } while (b); c;", "do { a; } while (b);"),
    ("label: x = 1; y;", "label: x = 1;"),
    ("while (a) while (b) ; c;", "while (a) while (b) ;"),
])
def test_one_statement(text: str, statement: str) -> None:
    scanner = Scanner(text)
    behind = scanner.behind_statement(0)
    assert behind is not None
    assert text[:scanner.tokens[behind - 1][2]] == statement
    assert scanner.whole_statements(0, behind, most=len(scanner.tokens))


@pytest.mark.parametrize("text", ["x = 1", "{ a;", "if (a", "f(;)", "} x;", ""])
def test_no_statement(text: str) -> None:
    assert Scanner(text).behind_statement(0) is None


@pytest.mark.parametrize(("text", "behind"), [("(a[1]){", 6), ("(a]", None), ("((", None), ("{}", 2)])
def test_groups(text: str, behind: int | None) -> None:
    assert Scanner(text).group(0) == behind


def test_statements_of_a_line() -> None:
    text = "x;\nfor (;;) a; for (;;) b;\ny;"
    scanner = Scanner(text)
    assert [text[a:b] for a, b in scanner.statements_at(2, "for")] == ["for (;;) a;", "for (;;) b;"]
    assert scanner.statement_beginning(2) == (3, 14)
    assert scanner.statement_beginning(9) is None


def test_directives_and_line_markers() -> None:
    scanner = Scanner("a;\n#if X\nb;\n#pragma p\nc;\n")
    assert scanner.has_directive(0, 10)
    assert not scanner.has_directive(12, 25), "a pragma only"
    assert [t[0] for t in without_directives("# 1 \"a.c\"\npolysched_mark_3 x;").tokens] == ["x", ";"]
    assert line_ends("a\n# 3 \"b.h\"\nb") == "\n# 3 \"b.h\"\n"
