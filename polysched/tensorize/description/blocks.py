"""The text as stages: straight-line code is run on symbols, locals that only carry a value disappear.

Between loops, a text is a block of assignments.  Running it on symbols gives every written element as an expression
of the values before the block (forward substitution), conversions to the types of locals included, so a narrow local
wraps where it did.  A local that nothing behind the block reads is gone then; the others become arrays over the loops
around their declaration.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from polysched.errors import BudgetExceededError, SourceSyntaxError
from polysched.records import dataclass
from polysched.scop.body import Binary, Cast, Expr, Literal, Load, rebuild, rebuild_shared, walk, written_out
from polysched.scop.dtypes import DType
from polysched.tensorize.description.contraction import Dimension, Result, Stage
from polysched.tensorize.description.semantics import Affine, Element, Item, Local, Loop, Semantics, Update, Variable
from polysched.tensorize.limits import LIMITS

MOST_NODES = LIMITS.most_value_nodes


@dataclass(frozen=True)
class Block:
    """Assignments that happen at once, inside some loops."""

    loops: tuple[Loop, ...]
    results: tuple[Result, ...]
    starts: str = ""   # name of the local that this gives its first value


@dataclass(frozen=True)
class Blocks:
    """A text as blocks in order; locals with the loops around their declarations."""

    blocks: tuple[Block, ...]
    locals: Mapping[str, tuple[Variable, tuple[Loop, ...]]]


def blocks_of(semantics: Semantics) -> Blocks:
    """The blocks of a text.

    Raises
    ------
    SourceSyntaxError : a local is read before it has a value; the witness is the element.
    """
    reader = _Blocks()
    reader.items(semantics.body, ())
    return Blocks(tuple(reader.blocks), dict(reader.locals))


def stages_of(blocks: Blocks) -> tuple[tuple[Stage, ...], tuple[Variable, ...]]:
    """The stages of a text, with expanded locals, and these as variables."""
    stages = []
    for block in blocks.blocks:
        renamed = tuple(_expanded(r, blocks.locals) for r in block.results)
        stages.append(Stage(tuple(map(dimension, block.loops)), renamed))
    expanded = tuple(Variable(v.name, v.dtype, (*(loop.extent for loop in loops), *v.shape), written=True)
                     for v, loops in blocks.locals.values())
    return tuple(stages), expanded


def dimension(loop: Loop) -> Dimension:
    """A loop as a dimension; the order of its iterations is not part of it."""
    return Dimension(loop.name, loop.extent, loop.lower, loop.upper)


def _expanded(result: Result, locals_: Mapping[str, tuple[Variable, tuple[Loop, ...]]]) -> Result:
    def element(e: Element) -> Element:
        if e.array not in locals_:
            return e
        around = tuple(Affine(((loop.name, 1),)) for loop in locals_[e.array][1])
        return Element(e.array, (*around, *e.subscripts))

    names = {str(e): str(element(e)) for e in result.reads}
    update = rebuild(result.update, lambda x: Load(names[x.reference], x.dtype) if isinstance(x, Load) else x)
    return Result(element(result.output), result.output_dtype, update, tuple(map(element, result.reads)))


@dataclass
class _Blocks:
    blocks: list[Block] = field(default_factory=list)
    locals: dict[str, tuple[Variable, tuple[Loop, ...]]] = field(default_factory=dict)

    def items(self, items: Sequence[Item], loops: tuple[Loop, ...]) -> None:
        """Blocks of a body, and of the loops in it, in order."""
        run: list[Local | Update] = []
        for at, item in enumerate(items):
            if isinstance(item, Loop):
                self.block(run, loops, used=frozenset(arrays_of(items[at:])))
                run = []
                self.items(item.body, (*loops, item))
            else:
                run.append(item)
        self.block(run, loops, used=frozenset())

    def block(self, run: list[Local | Update], loops: tuple[Loop, ...], used: frozenset[str]) -> None:
        """One run of assignments; it is split where an element may be another one under a second name."""
        state, declared = _State(), dict[str, Variable]()
        for item in run:
            if isinstance(item, Local):
                variable = item.variable
                if variable.shape or variable.name in used:
                    self.locals[variable.name] = (variable, loops)
                else:
                    declared[variable.name] = variable
                if item.value is None:
                    continue
                if variable.shape:
                    state = self.split(state, declared, loops)
                    self.start(variable, item.value, loops)
                    continue
                item = Update(Element(variable.name), variable.dtype, item.value, item.elements)
            if not state.assign(item):
                state = self.split(state, declared, loops)
                state.assign(item)
        self.flush(state, loops, declared)

    def split(self, state: _State, declared: dict[str, Variable], loops: tuple[Loop, ...]) -> _State:
        """End a block in the middle of a run: locals with a value are kept, since what follows may read them."""
        for name in [n for n in declared if Element(n) in state.known]:
            self.locals[name] = (declared.pop(name), loops)
        self.flush(state, loops, declared)
        return _State()

    def flush(self, state: _State, loops: tuple[Loop, ...], declared: Mapping[str, Variable]) -> None:
        """The block of what the state has written, without locals that end with it; first values are set behind it."""
        results = [Result(e, state.dtypes[e], value, reads) for e, (value, reads) in state.known.items()
                   if e.array not in declared]
        for result in results:
            if missing := [e for e in result.reads if e.array in declared]:
                raise SourceSyntaxError("a local is read before it has a value", where=str(result.output),
                                        witness=str(missing[0]), hint="give it one where it is declared")
        starts = [r for r in results if r.output.array in self.locals and not r.reads]
        if rest := tuple(r for r in results if r not in starts):
            self.blocks.append(Block(loops, rest))
        self.blocks += [Block(loops, (r,), r.output.array) for r in starts]

    def start(self, variable: Variable, value: Expr, loops: tuple[Loop, ...]) -> None:
        """Every element of an array of locals gets its first value."""
        names = tuple(f"{variable.name}_{at}" for at in range(len(variable.shape)))
        own = tuple(Loop(n, extent, False, ()) for n, extent in zip(names, variable.shape, strict=True))
        element = Element(variable.name, tuple(Affine(((n, 1),)) for n in names))
        self.blocks.append(Block((*loops, *own), (Result(element, variable.dtype, value, ()),), variable.name))


@dataclass
class _State:
    """The elements written so far, as expressions of the values before the block and the elements that these read."""

    known: dict[Element, tuple[Expr, tuple[Element, ...]]] = field(default_factory=dict)
    dtypes: dict[Element, DType] = field(default_factory=dict)

    def assign(self, update: Update) -> bool:
        """Run one assignment; False, and nothing is done, where it may reach a written element by another name."""
        for e in (*update.elements, update.target):
            if any(e != w and e.array == w.array and _may_meet(e, w) for w in self.known):
                return False
        reads: dict[Element, None] = {}
        by_name = {str(e): e for e in update.elements}

        def value(x: Expr) -> Expr:
            if not isinstance(x, Load):
                return without_zero(x)
            element = by_name[x.reference]
            if element not in self.known:
                reads[element] = None
                return x
            found, inner = self.known[element]
            reads.update(dict.fromkeys(inner))
            return found

        new = rebuild_shared(update.value, value)
        if written_out(new) > MOST_NODES:
            raise BudgetExceededError(
                f"written out, what is assigned to {update.target} has more than {MOST_NODES} operations",
                witness="branches and locals one behind the other that read their own value several times",
                hint="describe a part of them as an instruction of its own, or use fewer of them")
        loaded = {x.reference for x in walk(new) if isinstance(x, Load)}
        self.known[update.target] = (new, tuple(e for e in reads if str(e) in loaded))
        self.dtypes[update.target] = update.dtype
        return True


def _may_meet(e: Element, w: Element) -> bool:
    """Whether two references of one array can be the same element in one iteration."""
    apart = (a.plus(b, -1) for a, b in zip(e.subscripts, w.subscripts, strict=True))
    return not any(not d.terms and d.constant for d in apart)


def without_zero(e: Expr) -> Expr:
    """`0 + x` and `x + 0` of integers are x; of floats they are not, since -0 + 0 is 0."""
    if not (isinstance(e, Binary) and e.op == "+" and e.dtype.is_integer):
        return e
    for zero, other in ((e.left, e.right), (e.right, e.left)):
        if is_zero(zero):
            return other if other.dtype == e.dtype else Cast(other, e.dtype)
    return e


def is_zero(e: Expr) -> bool:
    """Whether a value is the number 0, converted or not."""
    return (isinstance(e, Literal) and e.value == 0) or (isinstance(e, Cast) and is_zero(e.operand))


def arrays_of(items: Sequence[Item]) -> Iterator[str]:
    """Names of all that some items read or write."""
    for item in items:
        if isinstance(item, Loop):
            yield from arrays_of(item.body)
        elif isinstance(item, Update):
            yield from (e.array for e in (item.target, *item.elements))
        else:
            yield from (e.array for e in item.elements)

