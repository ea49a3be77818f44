"""Effects of functions, as a file declares them."""

from __future__ import annotations

import pytest

from polysched.errors import UnsupportedScopError
from polysched.scop.c_frontend.declarations.effects import DeclaredEffects, declared_effects
from polysched.scop.c_frontend.parse import c_text
from tests.scop.c_frontend.read_region import in_function, region_in


def read(pragma: str) -> dict[str, DeclaredEffects]:
    tree, _, _ = region_in(f"#pragma polysched {pragma}\n{in_function('A[0] = 0;')}")
    return dict(declared_effects("in.c", tree))


def sections(pragma: str) -> tuple[list[str], list[str]]:
    made, = read(pragma).values()

    def shown(which: str) -> list[str]:
        return [f"{s.pointer}{''.join(f'[{c_text(a)}:{c_text(b)}]' for a, b in zip(s.firsts, s.counts, strict=True))}"
                for s in getattr(made, which)]
    return shown("reads"), shown("writes")


@pytest.mark.parametrize(("text", "reads", "writes"), [
    ("reads x[0:n], y[0:n] writes y[0:n]", ["x[0:n]", "y[0:n]"], ["y[0:n]"]),
    ("writes x[n - 1]", [], ["x[n - 1:1]"]),
    ("reads *x writes y[:n][2:n]", ["x[0:1]"], ["y[0:n][2:n]"]),
    ("writes x[0:(n > 3 ? n : 3)] reads x[(n) * 2:4]", ["x[n * 2:4]"], ["x[0:(n > 3) ? (n) : (3)]"]),
    ("", [], []),
])
def test_sections(text: str, reads: list[str], writes: list[str]) -> None:
    assert sections(f"effects g(n, x, y) {text}") == (reads, writes)


def test_other_pragmas_declare_nothing() -> None:
    assert read("pure g") == {}
    assert read("effects g() ")["g"].parameters == ()


@pytest.mark.parametrize(("text", "message"), [
    ("effects g", "begins with no function"),
    ("effects g(n, 3)", "begins with no function"),
    ("effects g(n, n)", "two parameters have one name"),
    ("effects g(n, x) changes x[0:n]", "neither `reads` nor `writes`"),
    ("effects g(n, x) reads x", "`x` is no section"),
    ("effects g(n, x) reads z[0:n]", "`z` is none of the function's parameters"),
    ("effects g(n, x) reads x[0:m]", "`m` is no sum or product"),
    ("effects g(n, x) reads x[0:]", "`` is no sum or product"),
    ("effects g(n, x) reads x[0:n++]", r"`n\+\+` is no sum or product"),
    ("effects g(n, x) reads x[0:f(n)]", r"`f\(n\)` is no sum or product"),
])
def test_what_cannot_be_read_is_refused(text: str, message: str) -> None:
    with pytest.raises(UnsupportedScopError, match=message) as caught:
        read(text)
    assert str(caught.value.where) == "in.c:1"


def test_one_declaration_for_a_function() -> None:
    tree, _, _ = region_in("#pragma polysched effects g(n)\n#pragma polysched effects g(n)\n"
                           + in_function("A[0] = 0;"))
    with pytest.raises(UnsupportedScopError, match="declared twice"):
        declared_effects("in.c", tree)
