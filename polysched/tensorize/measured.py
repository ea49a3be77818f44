"""The fastest plan of a match, by measurement on this machine: the models propose, the clock decides.

All candidates become functions of one C program, which runs them in alternation on arrays of its own, with the
constant operands already packed, and prints the seconds of every call.
"""

from __future__ import annotations

import statistics
import subprocess
import tempfile
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from polysched.errors import CompileError
from polysched.scop.body import Load, walk
from polysched.target import Target, find_compiler
from polysched.tensorize.description.semantics import C_NAMES
from polysched.tensorize.emission.function import EmissionOptions, Emitted, emit_match
from polysched.tensorize.emission.plan import Plan, PlanChoice, Tiling, make_plan
from polysched.tensorize.matching.mapping import Match

BLOCKS = 4        # register blocks of which each is measured
ROUNDS = 15
LIMIT_SECONDS = 60
QUIET_BYTE = 0x3f   # u8 63, bf16 0.746, f32 0.747: no denormals, no infinities


@dataclass(frozen=True, kw_only=True)
class MeasuredPlan:
    """A plan and its seconds per call, one per round.

    Parameters
    ----------
    choice : with it `make_plan` and the emission give this plan again.
    """

    match: Match
    choice: PlanChoice
    plan: Plan
    seconds: tuple[float, ...]

    @property
    def median_seconds(self) -> float:
        return statistics.median(self.seconds)

    def __str__(self) -> str:
        return f"{1e6 * self.median_seconds:.1f} us: {self.plan}"


def candidate_plans(match: Match, *, target: Target, blocks: int = BLOCKS) -> Iterator[tuple[PlanChoice, Plan]]:
    """The plans worth measuring: every tiling with the best register blocks, without repeats."""
    seen: set[str] = set()
    for block in range(blocks):
        for tiling in Tiling:
            choice = PlanChoice(tiling=tiling, block=block)
            plan = make_plan(match, emulated=False, target=target, choice=choice)
            key = repr((plan.loops, [(p.operand, p.packed) for p in plan.places]))
            if key not in seen:
                seen.add(key)
                yield choice, plan


def measured_plans(matches: Sequence[Match], *, target: Target, zero: bool = False, constant: Collection[str] = (),
                   compile_flags: Iterable[str] = ("-O3", "-march=native")) -> list[MeasuredPlan]:
    """The candidates of some matches of one statement with one instruction set, with their times, fastest first.

    Parameters
    ----------
    matches : the most promising one first, which gets most candidates.
    zero : results start at zero.
    constant : arrays that are packed once, ahead of the timed calls.

    Raises
    ------
    CompileError : the compiler refuses, or the program ends with an error.
    """
    plans = [(m, choice, plan) for at, m in enumerate(matches)
             for choice, plan in candidate_plans(m, target=target, blocks=BLOCKS if at == 0 else 1)]
    emitted = [emit_match(m, f"plan{i}", EmissionOptions(
        choice=choice, target=target, zero=zero, keep=kept_operands(m, constant)))
        for i, (m, choice, _) in enumerate(plans)]
    rounds = _seconds(emitted, _main_c(matches[0], emitted), tuple(compile_flags))
    found = [MeasuredPlan(match=m, choice=choice, plan=plan, seconds=tuple(r[i] for r in rounds))
             for i, (m, choice, plan) in enumerate(plans)]
    return sorted(found, key=lambda m: m.median_seconds)


def kept_operands(match: Match, constant: Collection[str]) -> tuple[str, ...]:
    """The input operands that hold elements of constant arrays only."""
    found = []
    for name, e in match.assignment.operands:
        arrays = {match.fragment.statement.access(x.reference).array for x in walk(e) if isinstance(x, Load)}
        if arrays and arrays <= set(constant):
            found.append(name)
    return tuple(found)


def _seconds(emitted: Sequence[Emitted], main: str, compile_flags: tuple[str, ...]) -> list[list[float]]:
    """Per round the seconds of every function."""
    compiler = find_compiler()
    wide = ("-mprefer-vector-width=512",) if compiler.kind == "gcc" else ()
    own = tuple(dict.fromkeys(flag for e in emitted for flag in e.flags))
    headers = dict.fromkeys(e.prelude for e in emitted)
    with tempfile.TemporaryDirectory(prefix="polysched-plans-") as folder:
        source, binary = Path(folder) / "plans.c", Path(folder) / "plans"
        source.write_text(next(iter(headers)) + "".join(e.text for e in emitted) + main)
        built = compiler.run([*compile_flags, *wide, *own, "-std=gnu11", "-w", *compiler.openmp_compile,
                              str(source), "-o", str(binary), *compiler.openmp_link, "-lm"])
        if built.returncode:
            raise CompileError(f"{compiler} refused the plans", witness=built.stderr)
        try:
            ran = subprocess.run([str(binary), str(ROUNDS)], capture_output=True, text=True, timeout=LIMIT_SECONDS,
                                 check=False)
        except subprocess.TimeoutExpired:
            raise CompileError(f"the plans ran longer than {LIMIT_SECONDS} s") from None
    if ran.returncode:
        raise CompileError(f"the plans ended with status {ran.returncode}", witness=ran.stderr)
    return [[float(word) for word in line.split()] for line in ran.stdout.splitlines()]


def _main_c(match: Match, emitted: Sequence[Emitted]) -> str:
    """`main(ROUNDS)`: one line of seconds per round, a number per function."""
    lines = ["#include <stdio.h>", "#include <time.h>", "static double ps_now(void)", "{", "    struct timespec t;",
             "    clock_gettime(CLOCK_MONOTONIC, &t);", "    return t.tv_sec + 1e-9 * t.tv_nsec;", "}",
             "int main(int argc, char **argv)", "{"]
    for name in dict.fromkeys(a for e in emitted for a in e.arrays):
        array = match.fragment.scop.array(name)
        size = match.fragment.array_elements(name) * array.dtype.bytes
        lines += [f"    {C_NAMES[array.dtype.name]} *{name} = aligned_alloc(4096, {-(-size // 4096) * 4096});",
                  f"    memset({name}, {QUIET_BYTE}, {-(-size // 4096) * 4096});"]
    for e in emitted:
        lines += [f"    {call};" for call in e.preparations]
    first = [str(match.fragment.loop(n).lower) for n in match.fragment.kept]
    calls = [f"{e.name}({', '.join([*e.arrays, *first])});" for e in emitted]
    lines += [f"    {call}" for call in calls]
    lines.append("    for (int round = 0; round < atoi(argv[1]); round++) {")
    for call in calls:
        lines += [f"        {call}", "        {", "            double start = ps_now();", f"            {call} {call}",
                  '            printf("%.9f ", (ps_now() - start) / 2);', "        }"]
    return "\n".join([*lines, '        printf("\\n");', "    }", "    return 0;", "}", ""])

