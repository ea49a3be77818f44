"""`Plan`: the steps of a graph in the order in which they run, and the memory of every value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import cached_property

from polysched.graph.evaluation.inference import Inferred, infer, site_of
from polysched.graph.operators.control import CLOSED
from polysched.graph.operators.registry import operator_of
from polysched.graph.planning.memory import Arena, Buffer, arena_of
from polysched.graph.planning.nested import Nesting
from polysched.graph.planning.padding import around, lasting_borders, padded_in_place
from polysched.graph.planning.partition import PADDED, Beside, Group, fragment_of, partition, why_apart
from polysched.graph.planning.steps import Copies, Either, Kernel, Part, Repetition, Sizes, Step, Together, walked
from polysched.graph.values.graph import Graph, Node
from polysched.graph.values.sizes import Size
from polysched.graph.values.types import TensorType
from polysched.records import dataclass
from polysched.scop.provided import provided


@dataclass(frozen=True, eq=False, kw_only=True)
class Plan:
    """The steps of a graph, and where every value stands.

    Parameters
    ----------
    graph : with types, compositions expanded; its symbols are known when it runs.  Values and constants of regions have
        names in it, too.
    steps : in the order in which they run; control flow has steps of its own.
    roots : the value whose memory each value uses: itself, or the one that it is a view of.
    copied : outputs that are made by a copy of another value, because that is an input, a constant, or an output, too.
    lives : the steps that write first and read last each value that is neither an input, a constant, nor an output;
        steps of regions count, and so do their ends.
    room : sizes that are not negative where operators take their operands, those of regions included.
    ranges : what is not negative where sizes stay within the types that the model computes them in.
    refused : operators that would be one kernel at less cost, and why they are not: of plans by cost, and of edges that
        elementwise fusion leaves.
    variants : of kernels with several codes, the sizes for which each runs.
    """

    graph: Graph
    steps: tuple[Step, ...]
    roots: Mapping[str, str]
    copied: Mapping[str, str]
    lives: Mapping[str, tuple[int, int]]
    room: tuple[Size, ...] = ()
    ranges: tuple[Size, ...] = ()
    refused: tuple[tuple[str, str], ...] = ()
    variants: Mapping[Step, str] = field(default_factory=dict)

    @cached_property
    def arena(self) -> Arena:
        """Where the values stand that are neither inputs, constants, nor outputs.

        Raises
        ------
        UnsupportedGraphError : a size is open.
        """
        return self.arena_for({})

    def arena_for(self, sizes: Mapping[str, int]) -> Arena:
        """The arena for values of the open sizes."""
        found = []
        for name, (first, last) in self.lives.items():
            own = self.graph.types[name].bound(sizes)
            found.append(Buffer(name=name, bytes=own.bytes, first=first, last=last))
        return arena_of(found)

    @cached_property
    def lasting(self) -> frozenset[Copies]:
        """The steps that write around a kernel's result what stands there already."""
        if self.graph.symbols:
            return frozenset()
        return frozenset(lasting_borders(self.graph, self.steps, self.roots, self.arena.offsets))

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """The steps that run compiled fragments, those that run together one by one."""
        return tuple(s for s in self.walked if isinstance(s, Kernel))

    @property
    def shared(self) -> tuple[Kernel, ...]:
        """Those of the kernels that run together with others."""
        return tuple(k for s in self.walked if isinstance(s, Together) for k in s.kernels)

    @property
    def regions(self) -> int:
        """How many parallel regions run the kernels: what lies between two barriers of all threads."""
        return len(self.kernels) - len(self.shared) + sum(isinstance(s, Together) for s in self.walked)

    @cached_property
    def walked(self) -> tuple[Step, ...]:
        """All steps, those of control flow behind the step that has them."""
        return tuple(walked(self.steps))

    def type_of(self, name: str) -> TensorType:
        """The type of a value."""
        return self.graph.type_of(name)

    def _repr_html_(self) -> str:
        html: str = provided("graph", "Plan._repr_html_")(self)
        return html

    def __str__(self) -> str:
        symbols = self.graph.symbols
        arena = (f"sizes {', '.join(symbols)} open" if symbols else
                 f"arena {self.arena.bytes} bytes, {self.arena.peak_bytes} live at most")
        copies = sum(isinstance(s, Copies) for s in self.walked)
        control = sum(isinstance(s, Either | Repetition) for s in self.walked)
        said = f", {control} branches and loops" if control else ""
        regions = f" in {_counted(self.regions)}" if self.regions < len(self.kernels) else ""
        lines = [f"{len(self.kernels)} kernels{regions}, {copies} copies{said}, {arena}"]
        for step in self.steps:
            lines += _lines(step, "  ", self.variants)
        return "\n".join(lines)


def _counted(regions: int) -> str:
    return f"{regions} parallel region{'s' * (regions != 1)}"


def _lines(step: Step, indent: str, variants: Mapping[Step, str]) -> list[str]:
    """A step as text."""
    if isinstance(step, Kernel):
        ops = " ".join(n.op for n in step.fragment.nodes)
        return [f"{indent}{', '.join(step.outputs)} = {ops}({', '.join(step.inputs)})",
                *([f"{indent}  {variants[step]}"] if step in variants else [])]
    if isinstance(step, Together):
        inside = [line for kernel in step.kernels for line in _lines(kernel, f"{indent}  ", variants)]
        return [f"{indent}{len(step.kernels)} side by side", *inside]
    if isinstance(step, Copies):
        return [f"{indent}{step.output} = copy({', '.join(step.inputs)})"]
    if isinstance(step, Sizes):
        return [f"{indent}{step.output} = sizes {', '.join(map(str, step.values))}"]
    outputs = ", ".join(step.outputs)
    if isinstance(step, Either):
        return [f"{indent}{outputs} = if {step.condition}", *_part_lines(step.yes, indent, variants),
                f"{indent}else", *_part_lines(step.no, indent, variants)]
    often = f" at most {step.limit} times" if step.limit else ""
    often = often.replace("at most ", "") if not step.next_condition else f"{often} while {step.goes_on}"
    return [f"{indent}{outputs} = loop{often}", *_part_lines(step.body, indent, variants)]


def _part_lines(part: Part, indent: str, variants: Mapping[Step, str]) -> list[str]:
    lines = [line for step in part.steps for line in _lines(step, f"{indent}  ", variants)]
    return [*lines, *(f"{indent}  {target} = all of {source}" for target, source in part.copied)]


def plan(graph: Graph, groups: Sequence[Group | Beside] | None = None, *,
         regions: Callable[[Graph], Plan] | None = None) -> Plan:
    """The plan of a graph with types.

    Parameters
    ----------
    groups : what becomes one kernel, in an order in which every value is made before it is used; None for elementwise
        nodes with the producers that only they use.
    regions : the plan of a region, as a graph whose inputs are its parameters; None for this function behind type
        inference.
    """
    inferred = infer(graph)
    refused: tuple[tuple[str, str], ...] = ()
    if groups is None:
        alone = partition(graph, inferred)
        groups, refused = alone, why_apart(graph, alone, inferred)
    groups = padded_in_place(graph, groups, inferred)
    nesting = Nesting(inferred, regions or _plan_of_region, graph.constants)
    steps = tuple(step for group in groups for step in _steps_of(graph, group, inferred, nesting))
    roots, copied = _storage(graph)
    whole = graph.but(constants={**graph.constants, **nesting.constants}, types={**nesting.types, **graph.types})
    roots = _resolved({**nesting.roots, **{name: name for name in nesting.constants}, **roots})
    return Plan(graph=whole, steps=steps, roots=roots, copied=copied, lives=_lives(whole, steps, roots),
                room=(*_room(graph, inferred), *nesting.room), refused=refused)


def _plan_of_region(region: Graph) -> Plan:
    return plan(region.but(types=infer(region).types))


def _steps_of(graph: Graph, group: Group | Beside, inferred: Inferred, nesting: Nesting) -> list[Step]:
    """The steps of a group; kernels that run side by side are one step."""
    if isinstance(group, Group):
        return _steps(graph, group, inferred, nesting)
    inner = [step for each in group.groups for step in _steps(graph, each, inferred, nesting)]
    return [Together(kernels=tuple(step for step in inner if isinstance(step, Kernel)))]


def _steps(graph: Graph, group: Group, inferred: Inferred, nesting: Nesting) -> list[Step]:
    """The steps of a group; none where nothing is made."""
    node = group.last
    operator = operator_of(node)
    if operator.view or all(0 in graph.types[o].shape for o in group.results):
        return []
    if node.op in CLOSED:
        return [nesting.step(node)]
    sizes = _sizes(node, inferred)
    if sizes:
        return [*sizes]
    if operator.moves is None or len(group.nodes) > 1:
        fragment, inputs, own = fragment_of(graph, group, inferred)
        kernel = Kernel(fragment=fragment, inputs=inputs, outputs=group.results, sizes=own)
        return [around(node, inferred), kernel] if node.op == PADDED else [kernel]
    results = operator.moves(site_of(node, inferred.types, inferred.known, results=True))
    return [Copies(moves=moves, inputs=node.inputs, output=output, node=node.name)
            for moves, output in zip(results, node.outputs, strict=False) if output]


def _sizes(node: Node, inferred: Inferred) -> list[Sizes]:
    """The steps of a node whose results are open sizes."""
    outputs = [o for o in node.outputs if o]
    known = [inferred.known[o] for o in outputs if o in inferred.known]
    if len(known) < len(outputs) or any(value.dtype != object for value in known):
        return []
    return [Sizes(output=o, values=tuple(Size.of(v) for v in value.ravel()))
            for o, value in zip(outputs, known, strict=True)]


def _storage(graph: Graph) -> tuple[dict[str, str], dict[str, str]]:
    """Whose memory each value uses, and which outputs are copies."""
    roots: dict[str, str] = {name: name for name in [*dict(graph.inputs), *graph.constants]}
    given = set(roots)
    for node in graph.nodes:
        viewed = operator_of(node).view
        roots |= {o: roots[node.inputs[0]] if viewed else o for o in node.outputs if o}
    home: dict[str, str] = {}
    copied: dict[str, str] = {}
    for output in dict.fromkeys(graph.outputs):
        root = roots[output]
        if root in given or root in home:
            copied[output] = root
        else:
            home[root] = output
    return roots, copied


def _lives(graph: Graph, steps: tuple[Step, ...], roots: Mapping[str, str]) -> dict[str, tuple[int, int]]:
    """The values that stand in the arena, with their lives in steps."""
    elsewhere = {*dict(graph.inputs), *graph.constants, *(roots[o] for o in graph.outputs)}
    found = _Lives(roots, elsewhere)
    for step in steps:
        found.take(step)
    return found.lives


class _Lives:
    """Counts steps, those of regions and the ends of regions, too.

    Parameters
    ----------
    elsewhere : values that need no place: what iterations read and make stands in buffers of the loop.
    """

    def __init__(self, roots: Mapping[str, str], elsewhere: set[str]) -> None:
        self.roots, self.elsewhere = roots, elsewhere
        self.lives: dict[str, tuple[int, int]] = {}
        self.place = 0

    def touch(self, *names: str) -> None:
        """Values that are read or written now."""
        for name in names:
            if name and self.roots[name] not in self.elsewhere:
                root = self.roots[name]
                self.lives[root] = (self.lives.get(root, (self.place, 0))[0], self.place)

    def take(self, step: Step) -> None:
        """One step."""
        if isinstance(step, Kernel | Together | Copies | Sizes):
            self.touch(*step.inputs, *step.outputs)
        elif isinstance(step, Either):
            self.touch(step.condition, *step.outputs)
            for part in step.parts:
                self.part(part)
            self.touch(*step.outputs)
        else:
            self.repetition(step)
        self.place += 1

    def part(self, part: Part) -> None:
        """The steps of a region, and what is copied behind them."""
        self.place += 1
        for step in part.steps:
            self.take(step)
        self.touch(*(name for pair in part.copied for name in pair))

    def repetition(self, step: Repetition) -> None:
        """A loop: what was there before it and is used in it is needed by every iteration."""
        first = self.place
        self.elsewhere |= {step.iteration, step.goes_on, *(r.row for r in (*step.sliced, *step.stacked)),
                           *(n for c in step.carried for n in (c.now, c.next))}
        around = [*step.outputs, *(r.whole for r in step.sliced), *(c.other for c in step.carried)]
        self.touch(step.limit, step.condition, *(c.first for c in step.carried), *around)
        self.part(step.body)
        self.touch(step.next_condition)
        self.place += 1
        self.touch(*around)
        for name, (start, end) in self.lives.items():
            if start <= first and first < end:
                self.lives[name] = (start, self.place)


def _room(graph: Graph, inferred: Inferred) -> list[Size]:
    """What operators want room for."""
    found: list[Size] = []
    for node in graph.nodes:
        room = operator_of(node).room
        found += [] if room is None else room(site_of(node, inferred.types, inferred.known, results=True))
    return found


def _resolved(roots: Mapping[str, str]) -> dict[str, str]:
    """Roots that are roots: what a region reads may be a view around it."""
    found = {}
    for name in roots:
        root = name
        while roots[root] != root:
            root = roots[root]
        found[name] = root
    return found
