"""Regions without pragmas: the largest runs of statements around loops that can be represented.

In every block the first loop starts a run, which grows as long as the whole still is a static control part, and ends
with a loop.  Pragmas for its first loop (`omp parallel for`) belong to it and are replaced with it.  A loop that is no
static control part, or takes too long to read, is searched inside.  A run that the caller has no use for, since a later
stage refuses it, is halved until there is use for it; a single loop of no use is searched inside.  Every loop that ends
up in no region is told with its reason (`left_loops`).
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterator, Sequence
from itertools import product

from pycparser import c_ast

from polysched.errors import BudgetExceededError, FaultError, PolyschedError, UnsupportedScopError, UsageError
from polysched.records import dataclass
from polysched.scop.c_frontend.declarations.written_loops import keyword_of
from polysched.scop.c_frontend.detection.bare_bodies import WORDS_AHEAD, is_body
from polysched.scop.c_frontend.detection.left_loops import left_loops
from polysched.scop.c_frontend.detection.macro_marks import MacroMarks
from polysched.scop.c_frontend.parse import LOOPS, SyntaxRegion, everything, place
from polysched.scop.c_frontend.text.directives import goes_with_loop, with_conditional_pragmas
from polysched.scop.c_frontend.text.preprocess import SourceFile
from polysched.scop.c_frontend.text.regions import TextRegion
from polysched.scop.c_frontend.text.text_scan import scanned
from polysched.scop.scop import Scop

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Detected:
    """What a search found.

    Parameters
    ----------
    scops : of every region, in textual order.
    refusal : the first refusal of an innermost loop; None where nothing was refused.
    left : a line for every loop that no region holds.
    """

    scops: tuple[Scop, ...]
    refusal: PolyschedError | None
    left: tuple[str, ...]


def detect(source: SourceFile, preprocessed: str, tree: c_ast.FileAST, extract: Callable[[SyntaxRegion], Scop],
           judge: Callable[[Scop], PolyschedError | None]) -> Detected:
    """Search every function of the file itself.

    Parameters
    ----------
    judge : why there is no use for a region; None where there is.
    """
    search = _Search(source, preprocessed, extract, judge)
    functions = [(f, _Lines(source.path, f.coord.line, _line_behind(source.path, tree.ext[at + 1:])))
                 for at, f in enumerate(tree.ext)
                 if isinstance(f, c_ast.FuncDef) and f.coord and f.coord.file == source.path]
    for function, own in functions:
        for path in _blocks_outermost(function.body, (), own):
            search.block(function, path)
    left = tuple(line for function, own in functions
                 for line in left_loops(function.body, own.hold, search.taken, search.reasons))
    return Detected(tuple(search.found), search.refusal, left)


@dataclass(frozen=True)
class _Lines:
    """The lines of one function's text."""

    path: str
    first: int
    behind: float

    def hold(self, node: c_ast.Node) -> bool:
        """Whether a node was written there."""
        return node.coord is None or (node.coord.file == self.path and self.first <= node.coord.line < self.behind)


def _line_behind(path: str, following: Sequence[c_ast.Node]) -> float:
    """The line in which the next declaration of the file begins."""
    return next((node.coord.line for node in following if node.coord is not None and node.coord.file == path), math.inf)


def _blocks_outermost(node: c_ast.Node, above: tuple[c_ast.Node, ...], own: _Lines) -> Iterator[
        tuple[c_ast.Node, ...]]:
    """Every block of a function with the nodes that lead to it, outer blocks first.

    What an attempt has put in the place of a call stands elsewhere in the text, and is left out.
    """
    path = (*above, node)
    if isinstance(node, c_ast.Compound):
        if not all(map(own.hold, node.block_items or ())):
            return
        yield path
    for _, child in node.children():
        yield from _blocks_outermost(child, path, own)


class _Search:
    """What was found so far; blocks inside a region that was taken are left out."""

    def __init__(self, source: SourceFile, preprocessed: str, extract: Callable[[SyntaxRegion], Scop],
                 judge: Callable[[Scop], PolyschedError | None]) -> None:
        self.source = source
        self.extract = extract
        self.judge = judge
        self.scanner = scanned(source.text)
        self.marks = MacroMarks(source, preprocessed, self.scanner)
        self.found: list[Scop] = []
        self.taken: set[c_ast.Node] = set()
        self.refusal: PolyschedError | None = None
        self.reasons: dict[c_ast.Node, PolyschedError] = {}  # of single statements
        self.longest: dict[c_ast.Node, int] = {}  # runs from a statement on, where longer ones took too long
        self.depth = 0  # of what was refused: the refusal of a smaller region says more

    def block(self, function: c_ast.FuncDef, path: tuple[c_ast.Node, ...]) -> None:
        """Search the statements of one block; a run begins and ends with one that has a loop."""
        if any(node in self.taken for node in path):
            return
        items = path[-1].block_items or []
        at = 0
        while at < len(items):
            at = self.run(function, path, items, at) if _has_loop(items[at]) else at + 1

    def run(self, function: c_ast.FuncDef, path: tuple[c_ast.Node, ...], items: list[c_ast.Node], start: int) -> int:
        """Grow a run from one statement; the index behind it."""
        ends = [at + 1 for at in range(start, len(items)) if _has_loop(items[at])][:self.longest.get(items[start])]
        read: dict[int, Scop | None] = {}

        def scop_of(count: int) -> Scop | None:
            if count not in read:
                read[count] = self.attempt(function, path, items, start, ends[count - 1])
            return read[count]

        count = _most(len(ends), lambda count: scop_of(count) is not None)
        while count:
            scop = scop_of(count)
            refusal = None if scop is None else self.judge(scop)
            if scop is not None and refusal is None:
                self.found.append(scop)
                self.taken.update(items[start:ends[count - 1]])
                return ends[count - 1]
            if count == 1 and refusal is not None:
                self.reasons[items[start]] = refusal
            if isinstance(refusal, BudgetExceededError):   # what is half as long may be in time
                self.longest.update(dict.fromkeys(items[start:ends[count - 1]], max(1, count // 2)))
            count //= 2
        return start + 1

    def attempt(self, function: c_ast.FuncDef, path: tuple[c_ast.Node, ...], items: list[c_ast.Node], start: int,
                end: int) -> Scop | None:
        """The Scop of some statements of a block; None when they are none, or cannot be found in the text."""
        while start and goes_with_loop(items[start - 1]):
            start -= 1
        text_region = self.unlabelled(path, items, start, end)
        if text_region is None:
            last = items[end - 1]
            problem = "a label stands in front of the loop" if _is_labelled(path) \
                else "a macro or a directive hides where the loop begins or ends"
            self.reasons.setdefault(last, UnsupportedScopError(problem, where=place(self.source.path, last)))
            return None
        region = SyntaxRegion(text_region=text_region, function=function, path=path, before=tuple(items[:start]),
                              items=tuple(items[start:end]), after=tuple(items[end:]))
        try:
            return self.extract(region)
        except (UsageError, MemoryError):
            raise
        except Exception as error:   # of one region that nobody marked: the others of the file are no worse for it
            refusal = FaultError.of(error)
            if not isinstance(refusal, UnsupportedScopError):
                _LOG.info("loops are not taken as a whole, parts of them are tried: %s", refusal)
                _LOG.debug("that comes from", exc_info=error)
            if self.refusal is None or len(path) > self.depth:
                self.refusal, self.depth = refusal, len(path)
            if len([item for item in region.items if not isinstance(item, c_ast.Pragma)]) == 1:
                self.reasons[region.items[-1]] = refusal
            return None

    def unlabelled(self, path: tuple[c_ast.Node, ...], items: list[c_ast.Node], first: int, behind: int
                   ) -> TextRegion | None:
        """Where statements of a block stand in the file; None, too, behind a label without brackets."""
        found = self.text_region(items, first, behind, bare=is_body(path))
        return None if found is not None and found.bare and _is_labelled(path) else found

    def text_region(self, items: list[c_ast.Node], first: int, behind: int, *, bare: bool) -> TextRegion | None:
        """Where the statements stand in the file; None when a macro or directive hides it.

        Parameters
        ----------
        bare : they need brackets wherever they begin.
        """
        while first < behind - 1 and isinstance(items[first], c_ast.Pragma) and self._is_conditional(items[first]):
            first += 1
        places = ((start, end) for (start, _), (_, end) in product(self._at(items, first), self._at(items, behind - 1))
                  if start < end and not self.scanner.has_directive(start, end)
                  and self.marks.are_all_of((start, end), items, first, behind))
        if (found := next(places, None)) is None:
            return None
        text = self.source.text
        before = text[text.rfind("\n", 0, found[0]) + 1:found[0]]
        start = with_conditional_pragmas(self.scanner, found[0])
        return TextRegion(start, found[1], items[first].coord.line, text.count("\n", 0, found[1]) + 1,
                          before if not before.strip() else "", bare=bare or self.marks.is_bare(found[0]))

    def _is_conditional(self, pragma: c_ast.Pragma) -> bool:
        """Whether a pragma goes with the loop behind it, but stands under conditional compilation of its own."""
        place = self.scanner.directive_at(pragma.coord.line)
        return place is not None and self.scanner.is_guarded_alone(place[0])

    def _at(self, items: list[c_ast.Node], at: int) -> list[tuple[int, int]]:
        """Where a statement may stand: found by its keyword, else it must have its lines to itself."""
        line = items[at].coord.line
        if isinstance(items[at], c_ast.Pragma):
            found = self.scanner.directive_at(line, after=WORDS_AHEAD if at == 0 else frozenset())
            return [*filter(None, [found])]
        if (keyword := keyword_of(items[at])) is not None:
            return self.scanner.statements_at(line, keyword)
        beside = (*items[max(at - 1, 0):at], *items[at + 1:at + 2])
        if any(n.coord is not None and n.coord.line == line for n in beside):
            return []
        return [*filter(None, [self.scanner.statement_beginning(line)])]


def _most(limit: int, can_be: Callable[[int], bool]) -> int:
    """The largest number up to a limit that can be, where no larger one can be if one cannot; 0 where not even 1 can.

    Steps are doubled while they succeed, then halved: what is asked for takes as long as the number is large.
    """
    most, too_many, step = 0, limit + 1, 1
    while most + 1 < too_many:
        tried = min(most + step, too_many - 1)
        if can_be(tried):
            most, step = tried, 2 * step
        elif tried == 1:
            return 0
        else:
            too_many, step = tried, max(1, (tried - most) // 2)
    return most


def _is_labelled(path: tuple[c_ast.Node, ...]) -> bool:
    """Whether a label stands in front of the block at the end of a path."""
    return len(path) > 1 and isinstance(path[-2], c_ast.Label)


def _has_loop(node: c_ast.Node) -> bool:
    return isinstance(node, (*LOOPS, c_ast.If)) and any(isinstance(n, LOOPS) for n in everything(node))
