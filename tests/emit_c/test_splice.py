"""Splicing keeps every byte outside the regions."""

from __future__ import annotations

from dataclasses import replace

import pytest

from polysched.emit_c import CSource, splice
from polysched.emit_c.loop_ir.loops import Block
from polysched.emit_c.splice import put_back
from polysched.errors import UsageError
from polysched.scop.dtypes import FLOAT32
from polysched.scop.scop import Array, SourceRegion
from tests.emit_c.small_scops import copy_statement, it, scop, tiled

TEXT = """int before;  \t
void f(void) {
  x();
  #pragma scop
  A[0] = B[0];
  #pragma endscop
  y();
}
#pragma scop
A[1] = B[1];
#pragma endscop"""


def source(text: str, start: int, end: int, indent: str, emitted: str) -> CSource:
    region = SourceRegion(path="f.c", text=text, start=start, end=end, function="f", indent=indent)
    copying = copy_statement("{ S0[i] : i = 0 }", "{ S0[i] -> A[i] }", it("i"), "{ S0[i] -> B[i] }", it("i"))
    arrays = tuple(Array(name=n, dtype=FLOAT32, extents=(None,), c_element=f"{n}[{{}}]") for n in "AB")
    return CSource(tiled=tiled(scop((copying,), arrays, source=region)), text=emitted, loops=Block(()))


def regions(text: str) -> list[tuple[int, int]]:
    found, at = [], 0
    while (start := text.find("#pragma scop", at)) >= 0:
        at = text.index("#pragma endscop", start) + len("#pragma endscop")
        found.append((start, at))
    return found


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_two_regions_in_any_order(newline: str) -> None:
    text = TEXT.replace("\n", newline)
    (first, first_end), (second, second_end) = regions(text)
    made = [source(text, second, second_end, "", "two();\n"),
            source(text, first, first_end, "  ", "#define m 1\nfor (;;)\n  one();\n#undef m\n")]
    result = splice(text, made)
    emitted = newline.join(["#define m 1", "  for (;;)", "    one();", "#undef m"])
    assert result == text[:first] + emitted + text[first_end:second] + "two();"
    assert ("\r" in result) == (newline == "\r\n")
    assert result.count("\n") == result.count(newline)


def test_what_follows_a_region_on_its_line_follows_no_directive() -> None:
    text = "void f(void) { A[0] = B[0]; x(); }\n"
    start, end = text.index("A"), text.index(" x();")
    result = splice(text, [source(text, start, end, "", "#define m 1\none();\n#undef m\n")])
    assert result == "void f(void) { \n#define m 1\none();\n#undef m\n x(); }\n"
    assert splice(text, [source(text, start, end, "", "one();\n")]) == "void f(void) { \none(); x(); }\n"


@pytest.mark.parametrize("not_there", [
    "/*\n#include <b.h>\n*/\n",
    "static const int table[] = {\n#include \"table.h\"\n};\n",
    "#if 0\n#include <b.h>\n#endif\n",
    "const char *text = \"\\\n#include <b.h>\";\n",
])
def test_what_regions_need_stands_behind_the_includes(not_there: str) -> None:
    head = "#ifdef __cplusplus\nextern \"C\" {\n#endif\n#  include <a.h> /* a\n comment */\n"
    text = head + not_there + "void f(void) {\n  A[0] = B[0];\n}\n"
    start = text.index("  A")
    emitted = replace(source(text, start, text.index("}\n", start), "  ", "one();\n"), preamble="int one(void);\n")
    assert splice(text, [emitted]) == head + "int one(void);\n" + not_there + "void f(void) {\n  one();\n}\n"


def test_text_of_another_file_is_refused() -> None:
    start, end = regions(TEXT)[0]
    with pytest.raises(UsageError, match="the region 'f' does not come from this text"):
        splice(TEXT + " ", [source(TEXT, start, end, "", "x;\n")])


def test_a_region_twice_is_refused() -> None:
    start, end = regions(TEXT)[0]
    with pytest.raises(UsageError, match="two regions of one file overlap"):
        splice(TEXT, [source(TEXT, start, end, "", "x;\n")] * 2)


def test_a_value_saved_for_a_region_that_stays_is_not_declared() -> None:
    """`i_saved` would be a variable that nobody names, of which -Wall warns."""
    region = SourceRegion(path="f.c", text=TEXT, start=TEXT.index("  A[0]"), end=TEXT.index("  #pragma endscop"),
                          function="f", indent="  ",
                          declarations=("int k;",), saved=("const unsigned int i_saved = i;",))
    without, with_it = (put_back(TEXT, [(region, emitted)]) for emitted in ("A[0] = B[0];", "A[0] = B[i_saved];"))
    assert "i_saved" not in without
    assert "const unsigned int i_saved = i;" in with_it
    assert without.count("  int k;\n") == 1, "the code behind the region names it"
    assert with_it.index("int k;") < with_it.index("  {\n  const unsigned int i_saved = i;") < with_it.index("  }\n")
