"""A counter without a first value begins with what it holds where the region begins, if nobody else can change it."""

from pathlib import Path

import pytest

from polysched.errors import UnsupportedScopError
from polysched.scop import from_c_text
from tests.scop.c_frontend.same_output import same_output

KNOWN = {
    "a constant": ("int i = 3;", []),
    "another constant behind it": ("int i = 3; i = 4;", []),
    "a constant that its type does not hold": ("unsigned char i = 3; i = 261;", ["i_first"]),
    "stepped": ("int i = 3; i++;", ["i_first"]),
    "on a condition": ("int i = 3; if (n > 4) i = 5;", ["i_first"]),
    "behind a label": ("int i = 3; again: if (i > 7) goto again;", ["i_first"]),
    "another in a block": ("int i = 3; { int i; i = 9; x[i] = 1; }", ["i_first"]),
    "a parameter's": ("int i = n;", ["i_first"]),
}
HEAD = "void f(int n, double *x)"
REGION = "#pragma scop\nfor (; i < 20; i++) x[i] += i;\n#pragma endscop\nx[30] = i;"
MAIN = 'for (int n = 0; n < 9; n++) { double x[40]; filled(x, 40); f(n, x); shown("x", x, 40); }'


@pytest.mark.parametrize("name", KNOWN)
def test_the_first_value_is_the_one_at_the_regions_start(name: str, tmp_path: Path) -> None:
    before, parameters = KNOWN[name]
    text = f"{HEAD} {{\n{before}\n{REGION}\n}}\n"
    scop = from_c_text(text)
    assert [p.name for p in scop.parameters] == parameters
    assert not scop.notes
    same_output(tmp_path, text, MAIN)


@pytest.mark.parametrize("before", ["static int i = 3;", "int i = 3; int *p = &i; *p = 5;", "volatile int i = 3;"])
def test_what_others_reach_has_no_known_first_value(before: str) -> None:
    try:
        notes = from_c_text(f"{HEAD} {{\n{before}\n{REGION}\n}}\n").notes
    except UnsupportedScopError as error:
        notes = (str(error),)
    assert any("kept whole" in note or "volatile" in note for note in notes)
