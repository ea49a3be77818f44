"""Trees of texts with headers that were parsed before: the same as those of the whole text."""

from __future__ import annotations

from pathlib import Path

import pytest
from pycparser import c_ast, c_parser
from pycparser.c_parser import ParseError

from polysched.scop import from_c_text
from polysched.scop.c_frontend import parsed_headers
from polysched.scop.c_frontend.parse import PRELUDE, everything
from polysched.scop.c_frontend.parsed_headers import split, tree_of
from polysched.scop.c_frontend.text.preprocess import STUB_HEADERS, SourceFile, preprocess, read_source
from polysched.target import find_compiler

OWN = "typedef struct { int a; } own;\nint32_t f(own *o, size_t n) { int32_t b = o->a; return b + (int32_t)n; }\n"
STANDARD = "#include <stddef.h>\n#include <stdint.h>\n"
HEADERS = sorted(str(p.relative_to(STUB_HEADERS)) for p in STUB_HEADERS.rglob("*.h"))


def preprocessed(text: str, folder: Path) -> str:
    (folder / "f.c").write_text(text)
    (folder / "own.h").write_text("typedef int32_t mine;\n")
    return preprocess(read_source(folder / "f.c", include_dirs=(), defines=(), cc=None))


def nodes(tree: c_ast.FileAST) -> list[tuple[object, ...]]:
    """Kinds, places and texts of all nodes."""
    return [(type(n), str(n.coord), *(str(getattr(n, s)) for s in n.attr_names)) for n in everything(tree)]


@pytest.mark.parametrize("text", [
    STANDARD + OWN, f"/* a\n b */\n{STANDARD}\n\n{OWN}#include <math.h>\ndouble g(double x) {{ return sin(x); }}\n",
    f'{STANDARD}#include "own.h"\n{OWN}mine m;\n', f"{STANDARD}#define N 3\n#pragma once\nint32_t x[N];\n{OWN}",
    f"{STANDARD}typedef int int32_t;\n{OWN}", f"{STANDARD}int f2(int size_t) {{ return size_t * 2; }}\n{OWN}",
    "int a;\n#include <stdint.h>\nint32_t b;\n", "int a;\n", "#include <stdint.h>\n", "", "\n\n",
    *(f"#include <{name}>\nint a;\n" for name in HEADERS)])
def test_a_tree_is_that_of_the_whole_text(text: str, tmp_path: Path) -> None:
    given = preprocessed(text, tmp_path)
    whole = nodes(c_parser.CParser().parse(PRELUDE + given, "f.c"))
    assert nodes(tree_of(given, "f.c", PRELUDE)) == whole
    assert nodes(tree_of(given, "f.c", PRELUDE)) == whole, "the second time"


def test_headers_are_parsed_once_whichever_file_includes_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "other").mkdir()
    one, other = (preprocessed(STANDARD + OWN + end, f) for end, f in (("", tmp_path), ("int z;", tmp_path / "other")))
    assert split(one)[0] == split(other)[0]
    first, again = tree_of(one, "f.c", PRELUDE), tree_of(other, "f.c", PRELUDE)
    shared = [n for n in first.ext if any(n is m for m in again.ext)]
    assert {n.name for n in shared} >= {"int32_t", "size_t"}
    assert not any(isinstance(n, c_ast.FuncDef) for n in shared)
    monkeypatch.setattr(parsed_headers, "_parsed", lambda *_: pytest.fail("there are no headers"))
    tree_of("int a;\n", "f.c", PRELUDE)


@pytest.mark.parametrize("text", ["typedef int exp;\n", "int f(int a) { return a +; }\n", "enum { sin };\nsin x;\n"])
def test_what_the_parser_refuses_is_refused_in_the_same_words(text: str, tmp_path: Path) -> None:
    given = preprocessed(f"#include <math.h>\n{text}", tmp_path)
    with pytest.raises(ParseError) as whole:
        c_parser.CParser().parse(PRELUDE + given, "f.c")
    with pytest.raises(ParseError) as refused:
        tree_of(given, "f.c", PRELUDE)
    assert str(refused.value) == str(whole.value)


def test_reading_changes_no_header() -> None:
    text = ("#include <math.h>\n#include <stdlib.h>\nvoid f(int n, double A[n]) {\n#pragma scop\n"
            "for (int i = 0; i < n; i++) { double t = fabs(A[i]); A[i] = t > 1 ? exp(t) : t; }\n#pragma endscop\n}\n")
    first = from_c_text(text)
    kept = [nodes(c_ast.FileAST(list(h.declarations))) for h in _known(text)]
    assert str(from_c_text(text)) == str(first)
    assert [nodes(c_ast.FileAST(list(h.declarations))) for h in _known(text)] == kept


def _known(text: str) -> list[parsed_headers._Headers]:
    source = SourceFile(path="f.c", text=text, compiler=find_compiler(), on_disk=False)
    return [parsed_headers._parsed(PRELUDE, split(preprocess(source))[0])]
