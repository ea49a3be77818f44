"""Who reads which names of a file, before anything is rewritten in its syntax tree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Set

from pycparser import c_ast

from polysched.records import dataclass
from polysched.scop.c_frontend.parse import SyntaxRegion, everything
from polysched.scop.scop import NameReads


@dataclass(frozen=True, eq=False)
class FileReads:
    """Where names are read.

    Parameters
    ----------
    path : the file.
    reads : names with the file and line of each place, by function.
    static : functions and variables that only the file can name.
    """

    path: str
    reads: dict[str, list[tuple[str, str, int]]]
    static: frozenset[str]

    def of_region(self, region: SyntaxRegion, variables: Set[str]) -> tuple[NameReads, ...]:
        """The counts for the variables of the function that are visible, and the static names, that a region reads."""
        function, lines = region.function.decl.name, region.text_region
        own = self.reads[function]
        inside = Counter(name for name, path, line in own
                         if path == self.path and lines.first_line <= line <= lines.last_line)
        in_function = Counter(name for name, _, _ in own)
        in_file = Counter(name for reads in self.reads.values() for name, _, _ in reads)
        declared = {n.name for n in everything(region.function) if isinstance(n, c_ast.Decl) and n.name}
        found = [NameReads(name=name, function=function, inside=count, in_all=in_function[name])
                 for name, count in inside.items() if name in variables]
        return (*found, *(NameReads(name=name, function=None, inside=count, in_all=in_file[name])
                          for name, count in inside.items() if name in self.static - declared))


def file_reads(path: str, tree: c_ast.FileAST) -> FileReads:
    """The reads of a whole file."""
    reads = {f.decl.name: [(n.name, str(n.coord.file), int(n.coord.line)) for n in _read(f.body) if n.coord is not None]
             for f in tree.ext if isinstance(f, c_ast.FuncDef)}
    static = frozenset(d.name for item in tree.ext for d in [item.decl if isinstance(item, c_ast.FuncDef) else item]
                       if isinstance(d, c_ast.Decl) and "static" in (d.storage or ()) and d.name)
    return FileReads(path, reads, static)


def _read(node: c_ast.Node) -> Iterator[c_ast.ID]:
    """The identifiers of a subtree whose values are used; a plain assignment alone uses none of its target."""
    if isinstance(node, c_ast.ID):
        yield node
    for name, child in node.children():
        is_target = (isinstance(node, c_ast.Assignment) and name == "lvalue" and node.op == "="
                     and isinstance(child, c_ast.ID))
        if not is_target and not (isinstance(node, c_ast.StructRef) and name == "field"):
            yield from _read(child)
