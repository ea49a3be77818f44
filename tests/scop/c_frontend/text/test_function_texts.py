"""The functions of a C file as text."""

from __future__ import annotations

import pytest

from polysched.scop.c_frontend.text.function_texts import functions_of
from polysched.scop.c_frontend.text.text_scan import Scanner

FILE = """
#define SIZE 4
struct s { int x; };
typedef int (*callback)(int);
static int table[] = { 1, 2 };
void declared(int n);
{definition}
"""


@pytest.mark.parametrize(("definition", "parameters"), [
    ("void f(int n, double a[restrict n][SIZE]) { g(n); }", ("n", "a")),
    ("static inline struct s *f(struct s *p, const char *const q) { return p; }", ("p", "q")),
    ("int f(void) { return 0; }", ()),
    ("int f() { if (1) { } return 0; }", ()),
    ("int f(callback run, int n) { return run(n); }", ("run", "n")),
    ("int f(int (*run)(int)) { return run(1); }", None),
    ("int f(int n, ...) { return n; }", None),
    ("int f(int, int n) { return n; }", None)])
def test_parameters(definition: str, parameters: tuple[str, ...] | None) -> None:
    text = FILE.replace("{definition}", definition)
    (found,) = functions_of(Scanner(text))
    assert found.name == "f"
    assert found.parameters == parameters
    assert text[found.start:found.end] == definition
    assert text[found.body] == "{"


def test_functions_without_a_value() -> None:
    text = "void f(void) { }\nvoid *g(void) { return 0; }\nint h(void) { return 0; }\n"
    assert [f.returns_nothing for f in functions_of(Scanner(text))] == [True, False, False]


def test_functions_between_brackets_for_another_language() -> None:
    text = '#ifdef CPP\nextern "C" {\n#endif\nvoid f(void) { }\nint g(void) { return 0; }\n#ifdef CPP\n}\n#endif\n' \
           'int h(void) { return 0; }\n'
    assert [(f.name, text[f.start:f.body]) for f in functions_of(Scanner(text))] == [
        ("f", "void f(void) "), ("g", "int g(void) "), ("h", "int h(void) ")]
