"""Messages name a loop as it stands in the file, whatever it was rewritten as."""

from __future__ import annotations

import logging

import pytest
from pycparser import c_ast, c_parser

from polysched.scop import all_from_c_text
from polysched.scop.c_frontend.declarations.written_loops import keyword_of, loop_text, named_loop
from polysched.scop.c_frontend.parse import LOOPS
from polysched.scop.c_frontend.rewrites.counted_while import counted_loops

WRITTEN = {
    "while (i < n) { a[i] = 1; i++; }": ("while", "while (i < n)"),
    "while (i-- > 0) a[i] = 1;": ("while", "while ((i--) > 0)"),
    "do { a[i] = 1; i++; } while (i < n);": ("do", "do ... while (i < n)"),
    "for (i = 0; i < n; i++) a[i] = 1;": ("for", "for (i = 0; i < n; i++)"),
    "for (;;) { if (i >= n) break; a[i] = 1; i++; }": ("for", "for (; ; )"),
    "while (a[0]) a[0] /= 2;": ("while", "while (a[0])"),
}


def outermost(body: str) -> c_ast.Node:
    tree = c_parser.CParser().parse(f"void f(int n, int *a) {{ int i = 0; {body} }}")
    first, *rest = tree.ext[0].body.block_items
    (made,) = counted_loops(rest, (first,))
    return made if isinstance(made, LOOPS) else made.block_items[0]


@pytest.mark.parametrize("body", WRITTEN)
def test_loops_have_the_head_of_the_file(body: str) -> None:
    word, head = WRITTEN[body]
    loop = outermost(body)
    assert loop_text(loop) == head
    assert named_loop(loop) == f"the `{word}` loop"


def test_a_part_of_a_loop_makes_no_region_and_has_no_keyword() -> None:
    assert keyword_of(outermost("while (i-- > 0) a[i] = 1;")) == ""
    assert keyword_of(outermost("while (i < n) { a[i] = 1; i++; }")) == "while"
    assert keyword_of(c_ast.Constant("int", "1")) is None


def test_notes_and_lines_name_what_is_written(caplog: pytest.LogCaptureFixture) -> None:
    text = ("int printf(const char *, ...);\nvoid f(int n, int *a, int *k) {\n  int i = 0;\n  while (i < n) {\n"
            "    int j = 0;\n    while (j < k[i]) { a[j] += 1; j++; }\n    i++;\n  }\n  i = 0;\n"
            "  while (i < n) { printf(\"x\"); i++; }\n}\n")
    with caplog.at_level(logging.WARNING):
        (scop,) = all_from_c_text(text, path="in.c", autodetect=True)
    assert any(note.startswith("in.c:6: the loop `while (j < k[i])` is kept whole: ") for note in scop.notes)
    assert caplog.records[0].getMessage().startswith("in.c:10: the `while` loop stays as it is: a call")
