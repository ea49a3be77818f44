"""C in colours: nothing of the text is lost, and both schemes have a style for every class."""

import html
import re

import pytest

pytest.importorskip("pygments")
from polysched.report.code import c_html, code_styles

TEXT = "\n#include <stdio.h>\nint f(const char *s) { return s[0] < '\"' && 1 > 0; } /* <b> */\n\n"


def test_the_text_is_what_it_was() -> None:
    shown = c_html(TEXT)
    assert html.unescape(re.sub(r"<[^>]*>", "", shown)) == TEXT
    assert "<b>" not in shown


def test_every_class_has_a_style_in_both_schemes() -> None:
    classes = set(re.findall(r'<span class="(\w+)"', c_html(TEXT))) - {"p", "w", "n"}
    light, dark = code_styles().split("@media screen")
    assert classes
    for name in classes - {"nf"}:
        assert f".code .{name} " in light
    assert all(f".code .{name} " in dark for name in classes)
