"""The syntax tree, region and scope of a text without directives of the preprocessor; no compiler runs."""

from __future__ import annotations

from pycparser import c_ast

from polysched.scop.c_frontend.declarations.bindings import Bindings, bind, scope_at
from polysched.scop.c_frontend.declarations.scopes import Scope
from polysched.scop.c_frontend.parse import SyntaxRegion, find_syntax_regions, parse
from polysched.scop.c_frontend.text.preprocess import SourceFile
from polysched.scop.c_frontend.text.regions import find_regions
from polysched.target import find_compiler

HEAD = "int n, int m, int *A, double x[n]"


def region_in(text: str) -> tuple[c_ast.FileAST, SyntaxRegion, Scope]:
    """The only marked region of a file, and the scope just before it."""
    source = SourceFile(path="in.c", text=text, compiler=find_compiler(), on_disk=False)
    preprocessed = f'# 1 "in.c"\n{text}'
    tree = parse(source, preprocessed)
    region, = find_syntax_regions(source, tree, find_regions("in.c", text, preprocessed))
    return tree, region, scope_at(tree, region)


def in_function(inside: str, before: str = "", after: str = "", head: str = HEAD) -> str:
    """A function with a region."""
    return f"void f({head}) {{\n{before}\n#pragma scop\n{inside}\n#pragma endscop\n{after}\n}}\n"


def bound(inside: str, before: str = "", head: str = HEAD, ahead: str = "") -> tuple[Bindings, SyntaxRegion]:
    """What the names of a region mean."""
    _, region, scope = region_in(ahead + in_function(inside, before, head=head))
    return bind("in.c", scope, region), region
