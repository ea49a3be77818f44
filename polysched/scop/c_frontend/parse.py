"""From preprocessed text to a syntax tree in which each region is a list of statements of one block."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from functools import cache
from itertools import chain, islice
from typing import Any, TypeGuard, TypeVar, cast
from weakref import WeakKeyDictionary

from pycparser import c_ast, c_generator
from pycparser.c_parser import ParseError

from polysched.errors import SourceLocation, UnsupportedScopError
from polysched.records import dataclass
from polysched.scop.c_frontend.parsed_headers import tree_of
from polysched.scop.c_frontend.text.implicit_int import declare_parameters, with_implicit_int
from polysched.scop.c_frontend.text.preprocess import SourceFile, check_syntax
from polysched.scop.c_frontend.text.regions import TextRegion
from polysched.scop.c_frontend.text.suffixes import without_suffixes
from polysched.scop.c_frontend.text.typeofs import UNKNOWN

# Types that C compilers know without a declaration and the parser does not.
PRELUDE = ('# 1 "<built-in>"\n'
           "typedef float _Float16; typedef float __bf16; typedef double _Float64; typedef float _Float32;"
           f" typedef char *__builtin_va_list; typedef int {UNKNOWN};\n")
BUILT_IN_TYPES = ("_Float16", "__bf16", "_Float32", "_Float64")
LOOPS = (c_ast.For, c_ast.While, c_ast.DoWhile)
_Copied = TypeVar("_Copied")
_PLACE = re.compile(r"^(?P<path>.*?):(?P<line>\d+)(?::(?P<column>\d+))?: (?P<text>.*)$", re.S)


@dataclass(frozen=True, eq=False, kw_only=True)
class SyntaxRegion:
    """A region in the syntax tree.

    Parameters
    ----------
    text_region : the same region in the text.
    function : the definition around it.
    path : the nodes from the function's body down to the block that holds the region, that block included.
    before, items, after : the block's items before, inside and after the region.
    """

    text_region: TextRegion
    function: c_ast.FuncDef
    path: tuple[c_ast.Node, ...]
    before: tuple[c_ast.Node, ...]
    items: tuple[c_ast.Node, ...]
    after: tuple[c_ast.Node, ...]


def parse(source: SourceFile, preprocessed: str) -> c_ast.FileAST:
    """Parse the preprocessed text.

    Raises
    ------
    SourceSyntaxError : the compiler refuses the file too; carries its message.
    UnsupportedScopError : only the parser cannot read it.
    """
    try:
        return _tree(source, preprocessed)
    except ParseError as error:
        check_syntax(source)
        if (tree := _with_implicit_int(source, preprocessed)) is not None:
            return tree
        place = _PLACE.match(str(error))
        where = SourceLocation(place["path"], int(place["line"])) if place else source.path
        line = _line_of(source, where)
        if line is not None and line.startswith("else"):
            raise UnsupportedScopError(
                "a pragma stands between `if` and `else`", where=where, witness=line,
                hint="put braces around the region: `if (...) { #pragma scop ... #pragma endscop } else`") from None
        raise UnsupportedScopError(
            "the file has a construct beyond standard C that cannot be read", where=where,
            witness=line or (place["text"] if place else str(error)),
            hint="keep the region in a file without it, or hide it behind `#ifndef __POLYSCHED_FRONTEND__`") from None


def _with_implicit_int(source: SourceFile, preprocessed: str) -> c_ast.FileAST | None:
    """The tree of a file whose declarations leave out `int`; None where that is not what the parser cannot read."""
    try:
        return _tree(source, with_implicit_int(preprocessed))
    except ParseError:
        return None


def _tree(source: SourceFile, preprocessed: str) -> c_ast.FileAST:
    """The tree of a text, with constants and parameters that the parser does not know."""
    suffixed = without_suffixes(preprocessed)
    tree = tree_of(suffixed.text, source.path, PRELUDE)
    _restore(tree, suffixed.spellings)
    declare_parameters(tree)
    return tree


def _restore(node: c_ast.Node, spellings: Mapping[str, str]) -> None:
    """Put the constants of `_Float16` back in place of their names."""
    for name, child in node.children() if spellings else ():
        if isinstance(child, c_ast.ID) and child.name in spellings:
            replace_child(node, name, c_ast.Constant("_Float16", spellings[child.name], child.coord))
        else:
            _restore(child, spellings)


def _line_of(source: SourceFile, where: SourceLocation | str) -> str | None:
    """The source line at a place in the file itself."""
    if isinstance(where, str) or where.path != source.path:
        return None
    lines = source.text.splitlines()
    return lines[where.line - 1].strip() if 0 < where.line <= len(lines) else None


def find_syntax_regions(source: SourceFile, tree: c_ast.FileAST,
                        regions: tuple[TextRegion, ...]) -> tuple[SyntaxRegion, ...]:
    """The block items of every region.

    Raises
    ------
    UnsupportedScopError : a region stands outside a function, or begins and ends in different blocks.
    """
    found = []
    for region in regions:
        located = None
        for function in tree.ext:
            if isinstance(function, c_ast.FuncDef):
                located = _locate(source.path, function, region)
                if located is not None:
                    break
        if located is None:
            raise UnsupportedScopError(
                "the region does not begin and end in one block of one function",
                where=SourceLocation(source.path, region.first_line), witness="#pragma scop",
                hint="both pragmas belong between the same braces; put braces around a loop body that holds them")
        found.append(located)
    return tuple(found)


def _locate(path: str, function: c_ast.FuncDef, region: TextRegion) -> SyntaxRegion | None:
    for blocks in _blocks(function.body, ()):
        items = blocks[-1].block_items or []
        start = _pragma_index(path, items, "scop", region.first_line)
        end = _pragma_index(path, items, "endscop", region.last_line)
        if start is not None and end is not None:
            return SyntaxRegion(text_region=region, function=function, path=blocks, before=tuple(items[:start]),
                                items=tuple(items[start + 1:end]), after=tuple(items[end + 1:]))
    return None


def _blocks(node: c_ast.Node, above: tuple[c_ast.Node, ...]) -> Iterator[tuple[c_ast.Node, ...]]:
    """Every block below a node, as the path of nodes that leads to it."""
    path = (*above, node)
    if isinstance(node, c_ast.Compound):
        yield path
    for _, child in node.children():
        yield from _blocks(child, path)


def _pragma_index(path: str, items: list[c_ast.Node], word: str, line: int) -> int | None:
    for index, item in enumerate(items):
        if (isinstance(item, c_ast.Pragma) and (item.string or "").split()[:1] == [word]
                and item.coord is not None and item.coord.file == path and abs(item.coord.line - line) <= 1):
            return index
    return None


@dataclass(frozen=True, eq=False)
class _Listing:
    """The nodes below one that nothing changes, listed when they are first asked for, all of them and by class.

    The node itself is not among them: a value that holds its key would keep it in `_KEPT` for good.
    """

    nodes: list[c_ast.Node] = field(default_factory=list)
    of_kind: dict[type[c_ast.Node], list[c_ast.Node]] = field(default_factory=dict)

    def of(self, root: c_ast.Node, kinds: Sequence[type[c_ast.Node]]) -> Iterator[c_ast.Node]:
        """The root and those below of some classes, class by class; all in their order where no class is named."""
        if not self.nodes:
            for node in islice(_walked(root), 1, None):
                self.nodes.append(node)
                self.of_kind.setdefault(type(node), []).append(node)
        below = chain.from_iterable(self.of_kind.get(kind, ()) for kind in kinds) if kinds else self.nodes
        return chain((root,) if not kinds or type(root) in kinds else (), below)


_WITHOUT_CHILDREN = (c_ast.ID, c_ast.Constant)
_KEPT: WeakKeyDictionary[c_ast.Compound, _Listing] = WeakKeyDictionary()


def keep_bodies(tree: c_ast.FileAST) -> None:
    """Promise that nothing changes the bodies of a file's functions: each is listed once for whoever looks."""
    for item in tree.ext:
        if isinstance(item, c_ast.FuncDef):
            _KEPT.setdefault(item.body, _Listing())


def everything(node: c_ast.Node | None, *kinds: type[c_ast.Node]) -> Iterator[c_ast.Node]:
    """A subtree, node by node, each in front of its children.

    Parameters
    ----------
    kinds : only nodes of these classes; those of different ones are in no certain order.
    """
    if (listing := _KEPT.get(node) if isinstance(node, c_ast.Compound) else None) is not None:
        return listing.of(node, kinds)
    return (found for found in _walked(node) if type(found) in kinds) if kinds else _walked(node)


def _walked(node: c_ast.Node | None) -> Iterator[c_ast.Node]:
    left = [] if node is None else [node]
    while left:   # a generator inside a generator for every level would hand each node through all of them
        found = left.pop()
        yield found
        if not isinstance(found, _WITHOUT_CHILDREN):
            left.extend(reversed(list(found)))


def copied(value: _Copied) -> _Copied:
    """A tree, or a list of trees, with nodes of its own; places are shared, and what stands in it twice stays one.

    Does what `copy.deepcopy` does in a tenth of its time.
    """
    return cast(_Copied, _copied(value, {}))


def _copied(value: Any, known: dict[int, Any]) -> Any:
    if isinstance(value, list):
        return [_copied(item, known) for item in value]
    if not isinstance(value, c_ast.Node):
        return value
    if (made := known.get(id(value))) is None:
        made = known[id(value)] = object.__new__(type(value))
        for name in (*_slots(value.__class__), *getattr(value, "__dict__", ())):
            setattr(made, name, _copied(getattr(value, name), known))
    return made


@cache
def _slots(kind: Any) -> tuple[str, ...]:
    slots = (name for above in kind.__mro__ for name in getattr(above, "__slots__", ()))
    return tuple(name for name in dict.fromkeys(slots) if name != "__weakref__")


def listed(node: c_ast.Node | None) -> tuple[c_ast.Node, ...] | None:
    """What a block or a list of expressions or declarations has in it; None for anything else."""
    if isinstance(node, c_ast.Compound):
        return tuple(node.block_items or ())
    if isinstance(node, c_ast.ExprList):
        return tuple(node.exprs or ())
    return tuple(node.decls or ()) if isinstance(node, c_ast.DeclList) else None


def is_step(node: c_ast.Node | None) -> TypeGuard[c_ast.UnaryOp]:
    """Whether an expression is `++` or `--` of something."""
    return isinstance(node, c_ast.UnaryOp) and node.op in ("++", "--", "p++", "p--")


def replace_child(node: c_ast.Node, name: str, new: c_ast.Node) -> None:
    """Set a child by the name that `children` gives it (`stmt`, `exprs[2]`)."""
    if "[" not in name:
        setattr(node, name, new)
        return
    attribute, index = name.rstrip("]").split("[")
    items = list(getattr(node, attribute))
    items[int(index)] = new
    setattr(node, attribute, items)


def place(path: str, node: c_ast.Node) -> SourceLocation:
    """The file and line of a node; a node without one stands where its first child stands."""
    if node.coord is not None:
        return SourceLocation(str(node.coord.file), int(node.coord.line))
    for _, child in node.children():
        return place(path, child)
    return SourceLocation(path)


def c_text(node: c_ast.Node) -> str:
    """The node as C, on one line."""
    text = c_generator.CGenerator().visit(node)
    return " ".join(text.split())
