"""One C program that runs many originals and emitted versions, and says which of them differ and where.

The instruction is the description's own text, byte for byte, in the place of the emulator: a reading of it that is
wrong everywhere in polysched is found, too.  Signed arithmetic wraps.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path

from polysched.errors import CompileError
from polysched.fuzz.matches.attempt import Emission
from polysched.fuzz.matches.c_tree import TYPES, Function
from polysched.fuzz.matches.pairs import Pair
from polysched.measure.processes.execution import run_program
from polysched.records import dataclass
from polysched.target import Compiler
from polysched.tensorize.description.exact_arithmetic import PRELUDE

FLAGS = ("-std=gnu11", "-O1", "-fwrapv", "-ffp-contract=off", "-w")
RUN_SECONDS, VERSION_SECONDS = 20.0, 5
"""Wall time of a run beside that of its versions, and of one version, by an alarm."""
ROUNDS = 8
"""Calls per version: random bits, ends of the types, small numbers, in turn."""


@dataclass(frozen=True)
class Version:
    """One emitted version of a pair's program.

    Parameters
    ----------
    size : which of the pair's sizes it has.
    number : among the matches at this size.
    """

    pair: Pair
    size: int
    number: int
    emission: Emission

    @property
    def label(self) -> str:
        return f"{self.pair.seed}_{self.size}_{self.number}"

    @property
    def program(self) -> Function:
        return self.pair.programs[self.size]


MAIN = r"""
#include <stdio.h>
#include <unistd.h>
struct array { int bytes, width, kind; };
struct version {
    const char *name;
    void (*original)(void **), (*emitted)(void **);
    int arrays, strict, whole;
    struct array array[12];
};
static uint64_t ps_state;
static uint64_t ps_next(void)
{
    uint64_t z = (ps_state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}
static void ps_number(char *to, struct array a, int how, int strict)
{
    uint64_t r = ps_next(), end = 1ull << (8 * a.width - 1);
    if (a.kind) {
        double x = (double)((int)(r % 17) - 8);
        if (strict) x = (double)(int64_t)ps_next() / 4294967296.0 * (how % 3 ? 1e-6 : 1.0);
        if (strict && r % 11 == 0) x = (double[]){0, 1, -1, 1e-310}[r >> 8 & 3];
        if (x == 0 && (r >> 16 & 1)) x = -0.0;
        float f = (float)x;
        memcpy(to, a.width == 4 ? (void *)&f : (void *)&x, a.width);
        return;
    }
    uint64_t corners[] = {0, 1, -1ull, end, end - 1, end + 1, 2, 127, 128, 255, 300, 0x8000, 0x7fff, 46341};
    if (how == 1 || (how == 3 && (r & 1))) r = corners[(r >> 8) % 14];
    else if (how == 2) r = (uint64_t)((int64_t)(r % 17) - 8);
    memcpy(to, &r, a.width);
}
static int ps_same(const char *x, const char *y, struct array a)
{
    float f, g;
    double d, e;
    if (a.kind && a.width == 4) { memcpy(&f, x, 4); memcpy(&g, y, 4); return !memcmp(x, y, 4) || (f != f && g != g); }
    if (a.kind) { memcpy(&d, x, 8); memcpy(&e, y, 8); return !memcmp(x, y, 8) || (d != d && e != e); }
    return !memcmp(x, y, a.width);
}
static double ps_value(const char *x, struct array a)
{
    float f; double d; int64_t i = 0;
    if (a.kind && a.width == 4) { memcpy(&f, x, 4); return f; }
    if (a.kind) { memcpy(&d, x, 8); return d; }
    memcpy(&i, x, a.width);
    return a.width == 8 ? (double)i : (double)((int64_t)((uint64_t)i << (64 - 8 * a.width)) >> (64 - 8 * a.width));
}
enum { MARGIN = 64 };
static int ps_run(struct version *v)
{
    for (int round = 0; round < ROUNDS; round++) {
        char *first[12], *second[12]; void *p[12], *q[12];
        ps_state = 77 * round + 5;
        int how = v->whole ? 2 : round % 4;
        for (int a = 0; a < v->arrays; a++) {
            struct array k = v->array[a];
            first[a] = malloc(k.bytes + 2 * MARGIN); second[a] = malloc(k.bytes + 2 * MARGIN);
            memset(first[a], 0x5a, k.bytes + 2 * MARGIN);
            for (int at = 0; at < k.bytes; at += k.width) ps_number(first[a] + MARGIN + at, k, how, v->strict);
            memcpy(second[a], first[a], k.bytes + 2 * MARGIN);
            p[a] = first[a] + MARGIN; q[a] = second[a] + MARGIN;
        }
        v->original(p);
        v->emitted(q);
        for (int a = 0; a < v->arrays; a++) {
            struct array k = v->array[a];
            int behind = MARGIN + k.bytes;
            if (memcmp(first[a], second[a], MARGIN) || memcmp(first[a] + behind, second[a] + behind, MARGIN)) {
                printf("end %s stray a write outside of array %d\n", v->name, a); return 1;
            }
            for (int at = 0; at < k.bytes; at += k.width)
                if (!ps_same(first[a] + MARGIN + at, second[a] + MARGIN + at, k)) {
                    double got = ps_value(second[a] + MARGIN + at, k), wanted = ps_value(first[a] + MARGIN + at, k);
                    printf("end %s differs element %d of array %d is %.17g instead of %.17g\n", v->name, at / k.width,
                           a, got, wanted);
                    return 1;
                }
        }
        for (int a = 0; a < v->arrays; a++) { free(first[a]); free(second[a]); }
    }
    printf("end %s equal\n", v->name);
    return 0;
}
int main(int count, char **words)
{
    for (int at = atoi(words[1]); at < (int)(sizeof ps_versions / sizeof *ps_versions); at++) {
        printf("begin %d %s\n", at, ps_versions[at].name); fflush(stdout);
        alarm(VERSION_SECONDS);
        ps_run(ps_versions + at); fflush(stdout);
    }
    return 0;
}
"""


def compared(versions: Sequence[Version], folder: Path, compiler: Compiler) -> dict[str, str]:
    """Per label what is wrong with a version; empty for one that equals its original.

    A version that does not compile is found by compiling smaller groups.
    """
    if not versions:
        return {}
    try:
        binary = _compiled(versions, folder, compiler)
    except CompileError as error:
        if len(versions) == 1:
            return {versions[0].label: f"does not compile: {error.witness}"}
        half = len(versions) // 2
        return compared(versions[:half], folder, compiler) | compared(versions[half:], folder, compiler)
    return _ran(binary, versions, folder)


def _compiled(versions: Sequence[Version], folder: Path, compiler: Compiler) -> Path:
    source, binary = folder / "compared.c", folder / "compared"
    source.write_text(unit_text(versions))
    done = compiler.run([*FLAGS, str(source), "-o", str(binary), "-lm"], folder=folder)
    if done.returncode != 0:
        told = re.findall(r"error: .*", done.stderr)
        raise CompileError("the emitted code does not compile", witness=(told or [done.stderr])[0][:300])
    return binary


def _ran(binary: Path, versions: Sequence[Version], folder: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    first = 0
    while first < len(versions):
        seconds = RUN_SECONDS + VERSION_SECONDS * (len(versions) - first)
        ran = run_program([binary, str(first)], seconds=seconds, folder=folder)
        output = ran.output
        ended = f"is not done after {seconds:g} seconds" if ran.status is None else f"ends with status {ran.status}"
        for label, what in re.findall(r"^end (\S+) (.*)$", output, re.MULTILINE):
            found[label] = "" if what == "equal" else what.split(" ", 1)[1]
        begun = [int(n) for n in re.findall(r"^begin (\d+)", output, re.MULTILINE)]
        first = begun[-1] + 1 if begun else len(versions)
        if begun and versions[begun[-1]].label not in found:
            found[versions[begun[-1]].label] = f"the emitted program {ended}"
    return found


def unit_text(versions: Sequence[Version]) -> str:
    """The whole translation unit."""
    limits = f"enum {{ ROUNDS = {ROUNDS}, VERSION_SECONDS = {VERSION_SECONDS} }};\n"
    parts = ["#include <stdlib.h>\n", PRELUDE, limits, "#define POLYSCHED_EXACT_ARITHMETIC\n"]
    parts.append(_helpers(versions))
    originals: set[tuple[int, int]] = set()
    for v in versions:
        if (v.pair.seed, v.size) not in originals:
            originals.add((v.pair.seed, v.size))
            parts.append(f"static {v.program.text(f'original_{v.pair.seed}_{v.size}')}{_wrapper(v, 'original')}")
        parts.append(_version(v))
    rows = ",\n".join(_row(v) for v in versions)
    return "".join([*parts, MAIN.replace("static int ps_run", f"static struct version ps_versions[] = {{\n{rows}}};\n"
                                         "static int ps_run", 1)])


def _helpers(versions: Sequence[Version]) -> str:
    """What every emitted function calls, which a guard keeps out of all but the first that has it."""
    for version in versions:
        text = version.emission.preamble
        if "void *ps_zeros" in text:
            start = text.rindex("\n", 0, text.index("void *ps_zeros")) + 1
            return text[start:text.index("#endif", start)]
    return ""


def _version(v: Version) -> str:
    """The description's text, then the emitted function that calls it."""
    name = v.pair.unit.function.name
    own = f"emulated_{v.label}"
    guard = f"POLYSCHED_EMULATED_{name.upper()}"
    text = v.pair.unit.described.text(own, region=False)
    called = f"POLYSCHED_FUNCTION_{name.upper()}"   # of units of several stages, which calls name
    lines = [f"static {text}", f"#define {guard}", f"#define {called}", f"#define emulated_{name} {own}",
             f"#define {name} {own}", v.emission.preamble,
             v.program.head(f"static_{v.label}").replace("void", "static void", 1), "{", v.emission.region, "}",
             f"#undef {name}", f"#undef emulated_{name}", f"#undef {called}", f"#undef {guard}", ""]
    return "\n".join(lines) + _wrapper(v, "static")


def _wrapper(v: Version, what: str) -> str:
    label = f"{v.pair.seed}_{v.size}" if what == "original" else v.label
    values = [*(str(value) for _, value in v.program.sizes),
              *(f"p[{n}]" if v.program.extents(a) else f"*({t} *)p[{n}]" for n, (a, t) in enumerate(v.program.arrays))]
    return f"static void call_{what}_{label}(void **p) {{ {what}_{label}({', '.join(values)}); }}\n"


def _row(v: Version) -> str:
    arrays = []
    for name, ctype in v.program.arrays:
        width = TYPES[ctype].bits // 8
        arrays.append(f"{{{width * math.prod(v.program.extents(name))}, {width}, {int(TYPES[ctype].is_float)}}}")
    return (f'{{"{v.label}", call_original_{v.pair.seed}_{v.size}, call_static_{v.label}, {len(arrays)}, '
            f"{int(v.pair.strict)}, {int(v.pair.has_floats and not v.pair.strict)}, {{{', '.join(arrays)}}}}}")
