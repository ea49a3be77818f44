"""The C driver of a model: one function that runs every step of a plan, with no Python between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from polysched.graph.limits import LIMITS as GRAPH_LIMITS
from polysched.graph.planning.memory import ALIGNMENT, attempts
from polysched.graph.planning.plan import Plan
from polysched.graph.planning.steps import Copies, Either, Kernel, Part, Repetition, Sizes, Step, Together
from polysched.graph.values.sizes import Product, Size
from polysched.graph.values.types import TensorType
from polysched.model.c_sizes import FLOOR, c_fits, c_is_size, c_product, c_size, is_never_negative
from polysched.model.copies import Subscripts, copy_loops
from polysched.model.variants import Choice
from polysched.records import dataclass

ENTRY = "polysched_model_run"
WORDS = {1: "unsigned char", 2: "unsigned short", 4: "unsigned int", 8: "unsigned long"}
NO_MEMORY, STOPPED = 1, -1
FIRST_OF_INDICES = 2
"""What the function returns where the step of number 0 finds an index outside its dimension; then one more per step."""
EXPORTED = '__attribute__((visibility("default")))'


ARENA = "polysched_model_arena"


def driver_text(plan: Plan, symbols: Mapping[int, Choice], *, exported: bool = True, stops: bool = False,
                threads: bool = True) -> str:
    """The C of a plan.

    The function is `int polysched_model_run(void *const *inputs, void *const *outputs, void *const *constants,
    const long *sizes, const long *offsets, char *arena, int *ready)`: 0 where there was memory for the temporaries of
    every kernel.  Where `ready` is not 0, it gets a 1 for every output as soon as that is whole, with release order.
    Sizes that are open come in the order of the graph's symbols.  `long polysched_model_arena(const long *sizes, long
    *offsets)` says how many bytes the arena has for them, and where its values stand in it; -1 where they make an
    extent negative, a value too large, or a whole number leave its type.

    Parameters
    ----------
    symbols : the functions of every kernel step, by the step's position among all, those of regions included.
    exported : whether other files of a shared object's process see the functions.
    stops : the function has two more arguments, `const int *stop, long *done`.  Behind each step it returns STOPPED
        where `*stop` is not 0; `*done` steps are done, and the next call with the same arguments goes on behind them.
    threads : teams share long copies.
    """
    sizes = {name: f"s{place}" for place, name in enumerate(plan.graph.symbols)}
    text = _Driver(plan, symbols, _pointers(plan), sizes, threads)
    attribute, more = f"{EXPORTED} " if exported else "", STOP_ARGUMENTS if stops else ""
    lines = ["#include <string.h>", "", FLOOR, ""]
    lines += [f"int {name}(void *const *arrays, const long *sizes);" for name in dict.fromkeys(
        name for choice in symbols.values() for name in choice.functions)]
    lines += ["", *arena_function(plan, sizes, attribute), "",
              f"{attribute}int {ENTRY}(void *const *inputs, void *const *outputs, void *const *constants, "
              f"const long *sizes, const long *offsets, char *arena, int *ready{more}) {{",
              "  (void)inputs; (void)outputs; (void)constants; (void)sizes; (void)offsets; (void)arena; (void)ready;",
              *(f"  const long {c} = sizes[{place}];" for place, c in enumerate(sizes.values()))]
    whole = outputs_by_step(plan)
    lines += [line for output in whole.get(None, ()) for line in text.whole(output)]
    for number, step in enumerate(plan.steps):
        own = [*text.step(step), *(line for output in whole.get(number, ()) for line in text.whole(output))]
        lines += _stopping(own, number, last=number == len(plan.steps) - 1) if stops else own
    return "\n".join([*lines, "  return 0;", "}", ""])


STOP_ARGUMENTS = ", const int *stop, long *done"


def _stopping(lines: Sequence[str], number: int, *, last: bool) -> list[str]:
    """A step that is gone over where it is done, and followed by a look at the flag."""
    behind = ["*done = 0;"] if last else [f"*done = {number + 1};", "if (__atomic_load_n(stop, __ATOMIC_RELAXED))",
                                          f"  return {STOPPED};"]
    inner = [*(f"  {line}" for line in lines), *(f"    {line}" for line in behind)]
    return [f"  if (*done <= {number}) {{", *inner, "  }"]


def outputs_by_step(plan: Plan) -> dict[int | None, list[str]]:
    """The outputs that are whole behind each step; behind None those that no step makes."""
    last = {plan.roots[name]: number for number, step in enumerate(plan.steps)
            for name in step.outputs}
    found: dict[int | None, list[str]] = {}
    for output in plan.graph.outputs:
        found.setdefault(last.get(plan.roots[output]), []).append(output)
    return found


def negative_at_some_size(plan: Plan) -> tuple[Size, ...]:
    """What is negative for sizes that are refused: extents of values, what operators want room for, and what is left of
    the type of a whole number."""
    wanted = [*_sizes(plan), *map(Size.single, open_products(plan))]
    return tuple(e for e in dict.fromkeys(wanted) if not is_never_negative(e))


def _sizes(plan: Plan) -> tuple[Size, ...]:
    """The extents of all values, and the sizes that slices and ranges ask for."""
    extents = (e for t in _types(plan) for e in t.shape)
    return tuple(dict.fromkeys([*extents, *plan.room, *plan.ranges]))


def _types(plan: Plan) -> list[TensorType]:
    return [*dict(plan.graph.inputs).values(), *plan.graph.types.values()]


def open_products(plan: Plan) -> tuple[Product, ...]:
    """The products of open sizes that occur, each behind those in its factors."""
    told = (v for step in plan.walked if isinstance(step, Sizes) for v in step.values)
    return tuple(dict.fromkeys(p for size in (*_sizes(plan), *told) for p in size.products))


def wrong_sizes(plan: Plan, names: Mapping[str, str]) -> list[str]:
    """C that is true where the sizes are refused: products first, for the others are computed with them."""
    return [*(f"!({c_is_size(p, GRAPH_LIMITS.most_extent, names)})" for p in open_products(plan)),
            *(f"{c_size(extent, names, wide=True)} < 0" for extent in negative_at_some_size(plan))]


def open_values(plan: Plan) -> tuple[tuple[tuple[Size, ...], int], ...]:
    """Shapes and bytes of an element of the values whose bytes follow from open sizes."""
    return tuple(dict.fromkeys((t.shape, t.dtype.bytes) for t in _types(plan) if not t.is_static))


def arena_function(plan: Plan, sizes: Mapping[str, str], attribute: str) -> list[str]:
    """The function that gives every value of the arena its place.

    It does what `graph.planning.memory.arena_of` does, for sizes that are known when the model runs.
    """
    head = f"{attribute}long {ARENA}(const long *sizes, long *offsets) {{"
    if not sizes:
        return [head, "  (void)sizes; (void)offsets;", f"  return {plan.arena.bytes};", "}"]
    types = [plan.graph.types[name] for name in plan.lives]
    rounded = [f"({c_product((*t.shape, Size(t.dtype.bytes)), sizes)} + {ALIGNMENT - 1}) / {ALIGNMENT} * {ALIGNMENT}"
               for t in types]
    count = len(types)
    lives = ", ".join(f"{{{first}, {last}}}" for first, last in plan.lives.values())
    return [head, *(f"  const long {c} = sizes[{place}];" for place, c in enumerate(sizes.values())),
            *(f"  if ({wrong}) return -1;" for wrong in wrong_sizes(plan, sizes)),
            *(f"  if (!({c_fits(shape, each, GRAPH_LIMITS.most_bytes, sizes)})) return -1;"
              for shape, each in open_values(plan)),
            f"  const long bytes[] = {{ {', '.join([*rounded, '0'])} }};",
            f"  static const int lives[][2] = {{ {', '.join(filter(None, [lives, '{0, 0}']))} }};",
            f"  int order[{count + 1}], next[{count + 1}];",
            f"  long place[{count + 1}];",
            *("  " + line for line in _placing(plan, count).splitlines()), "}"]


def _placing(plan: Plan, count: int) -> str:
    """What `arena_of` does, as C."""
    steps = max((last for _, last in plan.lives.values()), default=0) + 1
    numbers = {"COUNT": count, "STEPS": steps, "ATTEMPTS": attempts(count)}
    text = PLACING
    for word, number in numbers.items():
        text = text.replace(word, str(number))
    return text


PLACING = """long peak = 0, least = -1;
for (int step = 0; step < STEPS; step++) {
  long live = 0;
  for (int i = 0; i < COUNT; i++) if (lives[i][0] <= step && step <= lives[i][1]) live += bytes[i];
  if (live > peak) peak = live;
}
for (int i = 0; i < COUNT; i++) {
  int at = i;
  for (; at > 0; at--) {
    const int other = order[at - 1];
    if (bytes[other] > bytes[i] || (bytes[other] == bytes[i] && lives[other][0] <= lives[i][0])) break;
    order[at] = other;
  }
  order[at] = i;
}
for (int attempt = 0; attempt < ATTEMPTS && least != peak; attempt++) {
  long end = 0;
  for (int done = 0; done < COUNT; done++) {
    const int own = order[done];
    long offset = 0;
    for (int moved = 1; moved;) {
      moved = 0;
      for (int j = 0; j < done; j++) {
        const int other = order[j];
        if (lives[own][0] <= lives[other][1] && lives[other][0] <= lives[own][1] &&
            offset < place[other] + bytes[other] && place[other] < offset + bytes[own]) {
          offset = place[other] + bytes[other];
          moved = 1;
        }
      }
    }
    place[own] = offset;
    if (offset + bytes[own] > end) end = offset + bytes[own];
  }
  if (least < 0 || end < least) {
    least = end;
    for (int i = 0; i < COUNT; i++) offsets[i] = place[i];
  }
  int filled = 0;
  for (int late = 0; late < 2; late++)
    for (int i = 0; i < COUNT; i++)
      if ((place[order[i]] + bytes[order[i]] != end) == late) next[filled++] = order[i];
  for (int i = 0; i < COUNT; i++) order[i] = next[i];
}
return least < 0 ? 0 : least;"""


def _pointers(plan: Plan) -> dict[str, str]:
    """Where every value with memory of its own stands, as C."""
    graph = plan.graph
    places = {name: f"inputs[{place}]" for place, (name, _) in enumerate(graph.inputs)}
    places |= {name: f"constants[{place}]" for place, name in enumerate(graph.constants)}
    if graph.symbols:
        places |= {name: f"arena + offsets[{place}]" for place, name in enumerate(plan.lives)}
    else:
        places |= {name: f"arena + {offset}" for name, offset in plan.arena.offsets.items()}
    for place, output in enumerate(graph.outputs):
        if output not in plan.copied:
            places[plan.roots[output]] = f"outputs[{place}]"
    return places


@dataclass(eq=False)
class _Driver:
    """Writes the steps of a plan.

    Parameters
    ----------
    symbols : the functions of every kernel step.
    places : where values stand; loops add what stands in their variables.
    sizes : the variables of the sizes that are open.
    threads : teams share long copies.
    number : of the step that is written next, among all.
    """

    plan: Plan
    symbols: Mapping[int, Choice]
    places: dict[str, str]
    sizes: Mapping[str, str]
    threads: bool
    number: int = 0

    def step(self, step: Step) -> list[str]:
        """One step."""
        number = self.number
        self.number += 1
        if isinstance(step, Copies):
            return [] if step in self.plan.lasting else self.copies(number, step)
        if isinstance(step, Sizes):
            return self.written(step)
        if isinstance(step, Either):
            return self.either(step)
        if isinstance(step, Repetition):
            return self.repetition(number, step)
        if isinstance(step, Together):
            return self.together(step)
        return ["  {", *self.arguments(step), *_calls(self.symbols[number], "own" if step.sizes else "0"), "  }"]

    def arguments(self, step: Kernel) -> list[str]:
        """The arrays and sizes of a kernel."""
        arrays = ", ".join(self.places[self.plan.roots[n]] for n in (*step.inputs, *step.outputs))
        lines = [f"    void *const arrays[] = {{ {arrays} }};"]
        if step.sizes:
            lines.append(f"    const long own[] = {{ {', '.join(c_size(s, self.sizes) for s in step.sizes)} }};")
        return lines

    def together(self, step: Together) -> list[str]:
        """Kernels in one parallel region: every thread calls each of them, and the one barrier is behind the last."""
        lines = ["  {", "    int failed = 0;", "#pragma omp parallel reduction(|:failed)", "    {"]
        for kernel in step.kernels:
            (function,) = self.symbols[self.number].functions   # sizes are known, so that there is one
            lines += ["      {", *(f"    {line}" for line in self.arguments(kernel)),
                      f"        failed |= {function}(arrays, 0);", "      }"]
            self.number += 1
        return [*lines, "    }", f"    if (failed) return {NO_MEMORY};", "  }"]

    def written(self, step: Sizes) -> list[str]:
        """Sizes that are values."""
        own = self.plan.type_of(step.output).dtype.c_name
        return [f"  (({own} *)({self.place(step.output)}))[{k}] = {c_size(value, self.sizes)};"
                for k, value in enumerate(step.values)]

    def either(self, step: Either) -> list[str]:
        """A branch."""
        condition = self.place(step.condition)
        return [f"  if (*(const unsigned char *)({condition})) {{", *self.part(step.yes), "  } else {",
                *self.part(step.no), "  }"]

    def part(self, part: Part) -> list[str]:
        """The steps of a region, and what is copied behind them."""
        lines = [f"  {line}" for step in part.steps for line in self.step(step)]
        for target, source in part.copied:
            lines += [f"  {line}" for line in self.copy(self.place(target), self.place(source), target)]
        return lines

    def place(self, name: str) -> str:
        """Where a value stands."""
        return self.places[self.plan.roots[name]]

    def bytes(self, name: str) -> str:
        """The size of a value, as C."""
        own = self.plan.type_of(name)
        return c_product((*own.shape, Size(own.dtype.bytes)), self.sizes)

    def copy(self, target: str, source: str, name: str) -> list[str]:
        """The copy of a whole value; nothing where it is empty."""
        size = self.bytes(name)
        return [] if size == "0" else [f"  memcpy({target}, {source}, {size});"]

    def repetition(self, number: int, step: Repetition) -> list[str]:
        """A loop: carried values stand in two buffers, which change places behind every iteration."""
        i, goes_on, limit = f"i{number}", f"g{number}", f"n{number}"
        lines = ["  {", f"    long {i} = 0;"]
        first = f"*(const unsigned char *)({self.place(step.condition)})" if step.condition else "1"
        lines.append(f"    unsigned char {goes_on} = {first};")
        if step.limit:
            lines.append(f"    const long {limit} = *(const long *)({self.place(step.limit)});")
        self.places |= {step.iteration: f"&{i}", step.goes_on: f"&{goes_on}"}
        for k, each in enumerate(step.carried):
            now, after = f"now{number}_{k}", f"next{number}_{k}"
            self.places |= {each.now: now, each.next: after}
            lines.append(f"    char *{now} = (char *)({self.place(each.result)}), "
                         f"*{after} = (char *)({self.place(each.other)});")
            lines += [f"  {line}" for line in self.copy(now, self.place(each.first), each.first)]
        for row in (*step.sliced, *step.stacked):
            place = f"({limit} - 1 - {i})" if row.backwards else i
            self.places[row.row] = f"(char *)({self.place(row.whole)}) + {place} * ({self.bytes(row.row)})"
        ends = f"{goes_on} && {i} < {limit}" if step.limit else goes_on
        lines += [f"    for (; {ends}; {i}++) {{", *(f"  {line}" for line in self.part(step.body))]
        if step.next_condition:
            lines.append(f"      {goes_on} = *(const unsigned char *)({self.place(step.next_condition)});")
        for k in range(len(step.carried)):
            now, after = f"now{number}_{k}", f"next{number}_{k}"
            lines.append(f"      {{ char *const swap = {now}; {now} = {after}; {after} = swap; }}")
        lines.append("    }")
        for k, each in enumerate(step.carried):
            home, now = self.place(each.result), f"now{number}_{k}"
            lines += [f"    if ({now} != (char *)({home}))" + line for line in self.copy(home, now, each.result)]
        return [*lines, "  }"]

    def whole(self, output: str) -> list[str]:
        """The copy that an output may be, and its flag."""
        lines, place = [], self.plan.graph.outputs.index(output)
        if output in self.plan.copied:
            own = self.plan.type_of(output)
            size = c_product((*own.shape, Size(own.dtype.bytes)), self.sizes)
            if size != "0":
                root = self.places[self.plan.copied[output]]
                lines.append(f"  memcpy(outputs[{place}], {root}, {size});")
        return [*lines, f"  if (ready) __atomic_store_n(ready + {place}, 1, __ATOMIC_RELEASE);"]

    def copies(self, number: int, step: Copies) -> list[str]:
        """The loops of a step's moves."""
        result = self.plan.type_of(step.output)
        lines = []
        for move in step.moves:
            if any(e == 0 for e in move.loops):
                continue
            word = result.dtype.c_name if move.combine else WORDS[result.dtype.bytes]
            source = self.places[self.plan.roots[step.inputs[move.operand]]]
            lines += ["  {", f"    const {word} *restrict from = (const {word} *)({source});",
                      f"    {word} *restrict to = ({word} *)({self.places[self.plan.roots[step.output]]});"]
            for operand in dict.fromkeys(p.index[0] for p in (*move.source, *move.target) if p.index is not None):
                own = self.plan.type_of(step.inputs[operand]).dtype.c_name
                place = self.places[self.plan.roots[step.inputs[operand]]]
                lines.append(f"    const {own} *restrict index{operand} = (const {own} *)({place});")
            types = [self.plan.type_of(n) if n else result for n in step.inputs]
            inner = Subscripts(move.loops, types, FIRST_OF_INDICES + number, self.sizes)
            lines += [f"    {line}" for line in copy_loops(move, types, result, inner, threads=self.threads)]
            lines.append("  }")
        return lines


def _calls(choice: Choice, own: str) -> list[str]:
    """The call of a kernel, of the function that is chosen for its size."""
    *some, last = choice.functions
    lines = [f"    {'else ' if place else ''}if ({own}[{choice.place}] < {border}) {{ if ({name}(arrays, {own})) "
             "return 1; }" for place, (name, border) in enumerate(zip(some, choice.borders, strict=True))]
    return [*lines, f"    {'else ' if some else ''}if ({last}(arrays, {own})) return 1;"]
