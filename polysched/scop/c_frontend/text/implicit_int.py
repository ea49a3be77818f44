"""Declarations without a type, `static count;`, which C before 1999 takes for `int` and compilers still do.

Source: ISO C90 6.5.2, dropped in C99; a parser of standard C cannot read them.
"""

from __future__ import annotations

from pycparser import c_ast

from polysched.scop.c_frontend.text.text_scan import Scanner, Token, without_directives

_SPECIFIERS = frozenset({"static", "extern", "register", "auto", "const", "volatile"})
_BEFORE = frozenset({";", "{", "}", ")", "(", ","})
_BEHIND = frozenset({";", "=", ",", "[", ")"})
_KEYWORDS = frozenset({
    "int", "char", "short", "long", "float", "double", "signed", "unsigned", "void", "struct", "union", "enum",
    "typedef", "_Bool", "_Complex", "inline", "_Noreturn", "restrict", "sizeof", "if", "else", "for", "while", "do",
    "switch", "case", "default", "return", "goto", "break", "continue"})


def with_implicit_int(text: str) -> str:
    """Preprocessed text with `int` where a declaration has a storage class or a qualifier and no type.

    Rewrite:  static count, total = 1;  ->  static int count, total = 1;
    Rewrite:  f(n) int n; { ... }       ->  int f(n) int n; { ... }
    """
    scanner = without_directives(text)
    tokens = scanner.tokens
    types = _typedef_names(tokens)
    parts, copied, depth = [], 0, 0
    for at, (word, start, _, _) in enumerate(tokens):
        if _is_name(word, types) and (_lacks_type(tokens, at) or (depth == 0 and _defines_function(scanner, at))):
            parts += [text[copied:start], "int "]
            copied = start
        depth += (word == "{") - (word == "}")
    return "".join((*parts, text[copied:]))


def _lacks_type(tokens: list[Token], at: int) -> bool:
    """Whether a name is declared by storage classes and qualifiers alone."""
    behind = tokens[at + 1][0] if at + 1 < len(tokens) else ""
    return at > 0 and tokens[at - 1][0] in _SPECIFIERS and _begins(tokens, at - 1) and behind in _BEHIND | {"("}


def _defines_function(scanner: Scanner, at: int) -> bool:
    """Whether a name at the start of a declaration is that of a function that is defined there: `f(n) int n; {`."""
    tokens = scanner.tokens
    if (at and tokens[at - 1][0] not in (";", "}")) or at + 1 >= len(tokens) or tokens[at + 1][0] != "(":
        return False
    behind = scanner.group(at + 1)
    return behind is not None and behind < len(tokens) and tokens[behind][0] not in (";", ",", "=")


def _is_name(word: str, types: frozenset[str]) -> bool:
    return (word[:1].isalpha() or word[:1] == "_") and word not in _SPECIFIERS | _KEYWORDS | types


def _begins(tokens: list[Token], at: int) -> bool:
    """Whether nothing but storage classes and qualifiers stands between a specifier and the declaration's start."""
    while at >= 0 and tokens[at][0] in _SPECIFIERS:
        at -= 1
    return at < 0 or tokens[at][0] in _BEFORE


def _typedef_names(tokens: list[Token]) -> frozenset[str]:
    """The words of all typedefs of a text: the names that they declare, and a few more."""
    found: set[str] = set()
    inside = False
    for word, *_ in tokens:
        inside = word == "typedef" or (inside and word != ";")
        if inside:
            found.add(word)
    return frozenset(found)


def declare_parameters(tree: c_ast.FileAST) -> None:
    """Declare the parameters that an old function definition only names: they are `int` (ISO C90 6.7.1)."""
    for function in tree.ext:
        if not isinstance(function, c_ast.FuncDef) or function.decl.type.args is None:
            continue
        known = {d.name for d in function.param_decls or ()}
        missing = [p for p in function.decl.type.args.params if isinstance(p, c_ast.ID) and p.name not in known]
        made = [c_ast.Decl(p.name, [], [], [], [], c_ast.TypeDecl(p.name, [], None, c_ast.IdentifierType(["int"])),
                           None, None, p.coord) for p in missing]
        if made:
            function.param_decls = [*(function.param_decls or ()), *made]
