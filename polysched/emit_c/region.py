"""The loop IR -> the lines of one region."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from polysched.emit_c.band_comments import BandComments
from polysched.emit_c.c_source import EmitOptions
from polysched.emit_c.expressions import ExpressionPrinter
from polysched.emit_c.index import Extreme, Linear, shifted
from polysched.emit_c.index_printer import IndexPrinter
from polysched.emit_c.loops import Block, For, If, Let, Node, StatementInstance
from polysched.emit_c.openmp import pragmas, runs_in_lanes, runs_on_threads
from polysched.emit_c.statements import INDENT, print_body
from polysched.emit_c.tracing import LANES, THREADS, instance_call, unordered_loop
from polysched.scop.scop import Scop


@dataclass(frozen=True, kw_only=True)
class RegionPrinter:
    """Prints the nodes of one region.

    Parameters
    ----------
    scop : holds the bodies.
    index : prints bounds and subscripts.
    local_names : C names of the region-local arrays.
    options : which pragmas and comments are wanted.
    comments : decides which loops get one.
    """

    scop: Scop
    index: IndexPrinter
    local_names: Mapping[str, str]
    options: EmitOptions
    comments: BandComments = field(default_factory=BandComments)

    def lines(self, node: Node, *, above: tuple[For, ...] = ()) -> list[str]:
        """The lines of a node, not indented."""
        match node:
            case Block():
                return [line for child in node.children
                        for line in self._scoped(child, above, len(node.children) > 1)]
            case For():
                return self._for(node, above)
            case If():
                return self._if(node, above)
            case Let():
                return [f"const long {node.variable} = {self.index.bound(node.value)};",
                        *self.lines(node.body, above=above)]
            case StatementInstance():
                return self._instance(node)

    def _scoped(self, child: Node, above: tuple[For, ...], among_others: bool) -> list[str]:
        lines = self.lines(child, above=above)
        if isinstance(child, Let) and among_others:
            return ["{", *_indent(lines), "}"]
        return lines

    def _for(self, loop: For, above: tuple[For, ...]) -> list[str]:
        wanted = pragmas(loop, above=above, threads=self.options.openmp, simd=self.options.simd,
                         index=self.index)
        comment = self.comments.before(loop, above=above) if self.options.comments else []
        body = self.lines(loop.body, above=(*above, loop))
        if self.options.trace is not None:
            reasons = {THREADS: self.options.openmp and runs_on_threads(loop, above),
                       LANES: self.options.simd and runs_in_lanes(loop)}
            kinds = [kind for kind, applies in reasons.items() if applies]
            return unordered_loop(self.options.trace, kinds, self._header(loop), body)
        return [*comment, *wanted, *_braced(self._header(loop), body)]

    def _header(self, loop: For) -> str:
        name = loop.variable
        step = f"{name}++" if loop.step == 1 else f"{name} += {loop.step}"
        condition = self._upper(loop)
        return f"for (long {name} = {self.index.bound(loop.lower)}; {condition}; {step})"

    def _upper(self, loop: For) -> str:
        inclusive = shifted(loop.upper, -1)
        if _constants(inclusive) < _constants(loop.upper):
            bound = f"{loop.variable} <= {self.index.bound(inclusive)}"
        else:
            bound = f"{loop.variable} < {self.index.bound(loop.upper)}"
        if loop.guard is None:
            return bound
        return f"{bound} && {self.index.condition(loop.guard).code}"

    def _if(self, node: If, above: tuple[For, ...]) -> list[str]:
        head = f"if ({self.index.condition(node.condition)})"
        then = self.lines(node.then, above=above)
        if node.otherwise is None:
            return _braced(head, then)
        otherwise = self.lines(node.otherwise, above=above)
        return [f"{head} {{", *_indent(then), "} else {", *_indent(otherwise), "}"]

    def _instance(self, node: StatementInstance) -> list[str]:
        statement = self.scop.statement(node.statement)
        iterators = dict(zip(statement.iterators, node.iterators, strict=True))
        printer = ExpressionPrinter(scop=self.scop, statement=statement, iterators=iterators, index=self.index,
                                    local_names=self.local_names)
        lines = print_body(statement.body, printer)
        if self.options.trace is not None:
            position = self.scop.statements.index(statement)
            lines.insert(0, instance_call(self.options.trace, position, node.iterators, self.index))
        return lines


def _constants(form: Linear) -> int:
    """How many constants are added in a bound: the form with fewer of them reads better."""
    match form.terms:
        case ((Extreme(arms=arms), 1),):
            return sum(_constants(arm) for arm in arms) + bool(form.constant)
        case _:
            return bool(form.constant and form.terms)


def _braced(head: str, body: list[str]) -> list[str]:
    """Braces only where the body is more than one plain line or one loop of plain lines."""
    if not body:
        return [f"{head};"]
    if len(body) == 1 and body[0].endswith(";"):
        return [head, INDENT + body[0]]
    return [f"{head} {{", *_indent(body), "}"]


def _indent(lines: list[str]) -> list[str]:
    return [INDENT + line for line in lines]
