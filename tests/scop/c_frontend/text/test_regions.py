"""Where regions stand in the text: comments, conditional compilation, line ends, several of them."""

import pytest

from polysched.scop import all_from_c_file, all_from_c_text, from_c_text
from polysched.scop.c_frontend.text.regions import pragma_lines

BODY = "  for (int i = 0; i < n; i++) A[i] = 1;"


def function(name, inside):
    return f"void {name}(int n, double A[n]) {{\n{inside}\n}}\n"


@pytest.mark.parametrize("open_line", ["#pragma scop", "  #pragma scop", "\t# pragma  scop", "#pragma scop // here",
                                       "#pragma scop /* here */", "/* x */ #pragma scop"])
def test_region_covers_both_pragmas_and_nothing_else(open_line):
    text = function("f", f"{open_line}\n{BODY}\n  #pragma endscop  \n  n = 1; // after")
    source = from_c_text(text).source
    covered = text[source.start:source.end]
    assert covered.startswith("#")
    assert covered.endswith("#pragma endscop")
    assert BODY in covered
    assert source.text == text
    assert source.indent == (open_line[:open_line.index("#")] if open_line[:open_line.index("#")].isspace() else "")


def test_line_ends_are_kept():
    text = function("f", f"#pragma scop\n{BODY}\n#pragma endscop").replace("\n", "\r\n")
    scop = from_c_text(text)
    assert scop.source.text == text
    assert text[scop.source.end:].startswith("\r\n")
    assert scop.statements[0].line == 3


def test_file_is_read_byte_for_byte(tmp_path):
    text = ("// caf\xe9\r\n" + function("f", f"#pragma scop\n{BODY}\n#pragma endscop")).encode("latin-1")
    (tmp_path / "given.c").write_bytes(text)
    (scop,) = all_from_c_file(tmp_path / "given.c")
    assert scop.source.text.encode("utf-8", "surrogateescape") == text


def test_several_regions_and_functions_in_order():
    text = function("f", f"#pragma scop\n{BODY}\n#pragma endscop\n#pragma scop\n{BODY}\n#pragma endscop") + function(
        "g", f"if (n > 1) {{\n#pragma scop\n{BODY}\n#pragma endscop\n}}")
    scops = all_from_c_text(text)
    assert [s.name for s in scops] == ["f", "f", "g"]
    assert [s.statements[0].line for s in scops] == [3, 6, 12]
    assert [s.statements[0].name for s in scops] == ["S0"] * 3


def test_pragmas_in_comments_and_strings_are_no_pragmas():
    text = ('char *a = "#pragma scop"; // #pragma scop\n/*\n#pragma scop\n*/ char b = \'"\';\n'
            "#pragma scop\n#pragma endscop\n")
    assert [(p.word, p.line) for p in pragma_lines(text)] == [("scop", 5), ("endscop", 6)]
