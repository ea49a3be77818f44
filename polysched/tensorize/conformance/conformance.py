"""Running a real instruction against its text on random and corner inputs: the fourth reading.

One C program per instruction: it fills the operands, runs the instruction, the text unchanged and the C that is printed
of it on copies, and compares every bit of every written operand (one NaN is as good as another).  It runs natively
where the processor has the instruction, under qemu-user where a cross compiler builds it, and otherwise not at all,
which the result says together with the reason.
"""

from __future__ import annotations

import platform
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from enum import Enum
from pathlib import Path

from polysched.errors import NoCompilerError
from polysched.records import dataclass
from polysched.scop.dtypes import DType
from polysched.target import find_compiler
from polysched.tensorize.description.emulator import declaration, emulator_c
from polysched.tensorize.description.exact_arithmetic import PRELUDE
from polysched.tensorize.description.intrinsic import Intrinsic
from polysched.tensorize.description.semantics import C_NAMES, Variable

REFUSED = 77   # exit status of a program whose processor or system lacks the instruction


class Verdict(Enum):
    """CONFORMS, DIFFERS (the description is wrong), or EMULATED_ONLY (nothing here executes it)."""

    CONFORMS = "conforms"
    DIFFERS = "differs"
    EMULATED_ONLY = "emulated only"


@dataclass(frozen=True, kw_only=True)
class Conformance:
    """What the comparison of one instruction found.

    Parameters
    ----------
    how : `native`, or the runner's name.
    trials, mismatches : executions compared, and those with a different bit.
    reason : why nothing ran; or the first difference.
    """

    intrinsic: str
    verdict: Verdict
    how: str = ""
    trials: int = 0
    mismatches: int = 0
    reason: str = ""

    def __str__(self) -> str:
        if self.verdict is Verdict.EMULATED_ONLY:
            return f"{self.intrinsic}: emulated only ({self.reason})"
        return (f"{self.intrinsic}: {self.verdict.value} ({self.how}, {self.mismatches} of {self.trials} trials differ)"
                + (f": {self.reason}" if self.reason else ""))


def conformance(intrinsic: Intrinsic, *, trials: int = 2000, seed: int = 1) -> Conformance:
    """Compare the instruction with its text wherever this machine can execute it.

    Parameters
    ----------
    trials : executions; the inputs cycle through random bits, corner values, small numbers and a mixture.
    """
    (result,) = conformances((intrinsic,), trials=trials, seed=seed)
    return result


def conformances(intrinsics: Sequence[Intrinsic], *, trials: int = 2000, seed: int = 1) -> list[Conformance]:
    """The same for several, of different names.

    Those of one instruction set are one C program: its headers take most of a compiler's time.  Each runs in a process
    of its own.
    """
    found: dict[str, Conformance] = {}
    groups: dict[tuple[object, ...], list[Intrinsic]] = {}
    for intrinsic in intrinsics:
        commands, how, why = toolchain(intrinsic)
        if commands:
            groups.setdefault((commands, how, intrinsic.isa), []).append(intrinsic)
        else:
            found[intrinsic.name] = Conformance(intrinsic=intrinsic.name, verdict=Verdict.EMULATED_ONLY, reason=why)
    for group in groups.values():
        found |= {result.intrinsic: result for result in _of_group(group, trials, seed)}
    return [found[intrinsic.name] for intrinsic in intrinsics]


def _of_group(group: Sequence[Intrinsic], trials: int, seed: int) -> list[Conformance]:
    """Instructions of one set in one program; one by one where they do not compile, so that each has its message."""
    commands, how, _ = toolchain(group[0])
    isa = group[0].isa
    with tempfile.TemporaryDirectory(prefix="polysched-conformance-") as folder:
        source, binary = Path(folder) / "conformance.c", Path(folder) / "conformance"
        source.write_text(conformance_c(group))
        built = subprocess.run([*commands, *isa.flags, "-O2", "-std=gnu11", "-fwrapv", "-ffp-contract=off",
                                "-w", str(source), "-o", str(binary), "-lm"],
                               capture_output=True, text=True, timeout=300, check=False)
        if built.returncode != 0 and len(group) > 1:
            return [result for intrinsic in group for result in _of_group((intrinsic,), trials, seed)]
        if built.returncode != 0:
            message = next((line for line in built.stderr.splitlines() if "error" in line), built.stderr.strip())
            return [Conformance(intrinsic=group[0].name, verdict=Verdict.EMULATED_ONLY,
                                reason=f"{shlex.join(commands)} does not build it: {message}")]
        runner = isa.runner if how != "native" else ()
        return [_executed(intrinsic, how, [*runner, str(binary), str(trials), str(seed), str(number)])
                for number, intrinsic in enumerate(group)]


def _executed(intrinsic: Intrinsic, how: str, command: Sequence[str]) -> Conformance:
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    except subprocess.TimeoutExpired:
        return Conformance(intrinsic=intrinsic.name, verdict=Verdict.EMULATED_ONLY, reason="ran out of time")
    return _judge(intrinsic, how, ran)


def _judge(intrinsic: Intrinsic, how: str, ran: subprocess.CompletedProcess[str]) -> Conformance:
    if ran.returncode == REFUSED or ran.returncode in (-signal.SIGILL, 128 + signal.SIGILL):
        return Conformance(intrinsic=intrinsic.name, verdict=Verdict.EMULATED_ONLY,
                           reason=f"the processor or the system refuses {intrinsic.isa.name} ({how})")
    if ran.returncode != 0 or not ran.stdout.strip():
        return Conformance(intrinsic=intrinsic.name, verdict=Verdict.DIFFERS, how=how, mismatches=1, trials=1,
                           reason=f"the test program ended with status {ran.returncode}: {ran.stderr.strip()}")
    first, *rest = ran.stdout.strip().splitlines()
    trials, mismatches = (int(word) for word in first.split())
    return Conformance(intrinsic=intrinsic.name, how=how, trials=trials, mismatches=mismatches,
                       verdict=Verdict.DIFFERS if mismatches else Verdict.CONFORMS, reason="; ".join(rest))


def toolchain(intrinsic: Intrinsic) -> tuple[tuple[str, ...], str, str]:
    """Compiler command, how it will run, and the reason when it cannot."""
    isa = intrinsic.isa
    if intrinsic.library or not intrinsic.template:
        return (), "", "it has no instruction of its own on any machine here"
    if isa.machine == platform.machine():
        try:
            return find_compiler().command, "native", ""
        except NoCompilerError as error:
            return (), "", error.problem
    if not isa.runner:
        return (), "", f"nothing on a {platform.machine()} machine executes {isa.name}"
    compiler = next((c for c in isa.compilers if shutil.which(c)), None)
    if compiler is None:
        return (), "", f"no cross compiler ({' or '.join(isa.compilers)})"
    if shutil.which(isa.runner[0]) is None:
        return (), "", f"no {isa.runner[0]}"
    return (compiler, "-static"), isa.runner[0], ""


def conformance_c(group: Sequence[Intrinsic]) -> str:
    """The whole test program of instructions of one set; runs the one of a number, and prints `trials mismatches` and
    the first difference."""
    isa = group[0].isa
    headers = "".join(f"#include <{h}>\n" for h in isa.headers)
    functions = "".join(_trials_c(intrinsic, number) for number, intrinsic in enumerate(group))
    cases = "".join(f"    case {number}: return trials_{number}(trials);\n" for number in range(len(group)))
    return f"""{headers}#include <stdio.h>
#include <stdlib.h>
{PRELUDE}
{_FILLERS}
{functions}int main(int argc, char **argv) {{
    long trials = atol(argv[1]);
    state = strtoull(argv[2], 0, 10) * 0x9E3779B97F4A7C15ull + 1;
    {fill_in(isa.prepare, refuse='return 77')}
    switch (atoi(argv[3])) {{
{cases}    }}
    return 1;
}}
"""


def _trials_c(intrinsic: Intrinsic, number: int) -> str:
    """What is run of one instruction: the text, its printed form, the instruction itself, and their comparison."""
    operands = intrinsic.parsed.operands
    written = [v for v in operands if v.written]
    arguments = ", ".join(v.name for v in operands)
    by_text, by_printed = (", ".join(f"{v.name}_{which}" if v.written else v.name for v in operands)
                           for which in ("text", "printed"))
    copies = [replace(v, name=f"{v.name}_{which}") for v in written for which in ("text", "printed")]
    declare = "\n".join(f"    static {declaration(v)} __attribute__((aligned(64)));" for v in (*operands, *copies))
    fill = "\n".join(f"        {_fill(v, i)}" for i, v in enumerate(operands))
    keep = "\n".join(f"        memcpy({c.name}, {c.name.rsplit('_', 1)[0]}, sizeof {c.name});" for c in copies)
    return f"""{intrinsic.semantics}
{emulator_c(intrinsic.parsed, name=f"printed_{number}")}
{instruction_c(intrinsic, name=f"executed_{number}")}
static int trials_{number}(long trials) {{
    long mismatches = 0;
{declare}
    char witness[256] = "";
    {intrinsic.configure}
    for (long trial = 0; trial < trials; trial++) {{
{fill}
{keep}
        executed_{number}({arguments});
        {intrinsic.parsed.name}({by_text});
        printed_{number}({by_printed});
        if (trial == 0) fflush(stdout);
        int bad = 0;
{"".join(_compare(v) for v in written)}        mismatches += bad;
    }}
    printf("%ld %ld\\n%s\\n", trials, mismatches, witness);
    return 0;
}}
"""


def _compare(v: Variable) -> str:
    """C that compares a written operand with that of the text and of its printed form."""
    kind, c_type = v.dtype.name, C_NAMES[v.dtype.name]
    ours, text, printed = (f"(({c_type} *){v.name}{suffix})[i]" for suffix in ("", "_text", "_printed"))
    return f"""        for (long i = 0; i < {v.elements} && !bad; i++) {{
            if (same_{kind}({ours}, {text}) && same_{kind}({ours}, {printed})) continue;
            bad = 1;
            if (!mismatches)
                snprintf(witness, sizeof witness, "trial %ld, {v.name} element %ld: instruction %.9g, text %.9g, "
                         "printed %.9g", trial, i, (double){ours}, (double){text}, (double){printed});
        }}
"""


def instruction_c(intrinsic: Intrinsic, *, name: str = "executed") -> str:
    """A C function that loads the operands, executes the instruction once and stores the result."""
    parameters = ", ".join(("" if v.written else "const ") + declaration(v) for v in intrinsic.parsed.operands)
    registers = {o.name: (f"r{o.name}" if o.register.c_type else str(i)) for i, o in enumerate(intrinsic.operands)}
    lines = [f"static void {name}({parameters})", "{"]
    for operand in intrinsic.operands:
        register = registers[operand.name]
        if operand.register.c_type:
            lines.append(f"    {operand.register.c_type} {register};")
        lines.append("    " + fill_in(operand.register.load, register=register, pointer=operand.name,
                                      stride=str(intrinsic.row_bytes(operand.name))))
    lines.append("    " + fill_in(intrinsic.template, **registers))
    lines += ["    " + fill_in(o.register.store, register=registers[o.name], pointer=o.name,
                               stride=str(intrinsic.row_bytes(o.name)))
              for o in intrinsic.operands if intrinsic.parsed.operand(o.name).written]
    return "\n".join([*lines, "}", ""])


def fill_in(template: str, **names: str) -> str:
    """Replace `{name}`; other braces of the C stay."""
    for name, value in names.items():
        template = template.replace("{" + name + "}", value)
    return template


def _fill(variable: Variable, position: int) -> str:
    kind: DType = variable.dtype
    pointer = variable.name if variable.shape else f"&{variable.name}"
    return (f"fill_{kind.name}(({C_NAMES[kind.name]} *){pointer}, {variable.elements}, "
            f"(trial / {1 if position == 0 else 4 ** position}) % 4);")


def _integer_filler(bits: int, signed: bool) -> str:
    name = f"{'' if signed else 'u'}int{bits}"
    low, high = (f"INT{bits}_MIN", f"INT{bits}_MAX") if signed else ("0", f"UINT{bits}_MAX")
    return f"""
static void fill_{name}({name}_t *p, long n, int how) {{
    static const {name}_t corner[] = {{{low}, {high}, 0, 1, ({name}_t)-1, {high} / 2}};
    for (long i = 0; i < n; i++) {{
        uint64_t r = next();
        int way = how == 3 ? (int)(r >> 60) % 3 : how;
        p[i] = way == 0 ? ({name}_t)r : way == 1 ? corner[(r >> 8) % 6] : ({name}_t)((r >> 8) % 7);
    }}
}}
static int same_{name}({name}_t a, {name}_t b) {{ return a == b; }}"""


def _float_filler(name: str, c_name: str, carrier: str, corner: str, small: str, near_one: str, is_nan: str) -> str:
    return f"""
static void fill_{name}({c_name} *p, long n, int how) {{
    static const {carrier} corner[] = {{{corner}}};
    for (long i = 0; i < n; i++) {{
        uint64_t r = next();
        int way = how == 3 ? (int)(r >> 60) % 4 : how == 2 ? 3 : how;
        {carrier} bits = way == 0 ? ({carrier})r : way == 1 ? corner[(r >> 8) % (sizeof corner / sizeof *corner)]
                        : way == 2 ? {small} : {near_one};
        memcpy(p + i, &bits, sizeof bits);
    }}
}}
static int same_{name}({c_name} a, {c_name} b) {{
    {carrier} x, y;
    memcpy(&x, &a, sizeof x); memcpy(&y, &b, sizeof y);
    return x == y || ({is_nan.replace("?", "x")} && {is_nan.replace("?", "y")});
}}"""


_FILLERS = "\n".join((
    "static uint64_t state;\nstatic uint64_t next(void) { state ^= state << 13; state ^= state >> 7; "
    "state ^= state << 17; return state * 0x2545F4914F6CDD1Dull; }",
    *(_integer_filler(bits, signed) for bits in (8, 16, 32, 64) for signed in (True, False)),
    _float_filler("float32", "float", "uint32_t",
                  "0, 0x80000000, 0x3f800000, 0xbf800000, 1, 0x80000001, 0x7fffff, 0x800000, 0x80800000, 0x7f7fffff,"
                  " 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x3f800001, 0x33800000",
                  "(uint32_t)((r >> 8) % 9 + 126) << 23",
                  "(uint32_t)((r & 0x807fffff) | (uint32_t)(120 + (r >> 40) % 14) << 23)",
                  "(? & 0x7fffffff) > 0x7f800000"),
    _float_filler("float64", "double", "uint64_t",
                  "0, 1ull << 63, 0x3ff0000000000000, 1, 0x000fffffffffffff, 0x0010000000000000, 0x7fefffffffffffff,"
                  " 0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000",
                  "((r >> 8) % 9 + 1022) << 52", "(r & 0x800fffffffffffff) | (1016 + (r >> 53) % 14) << 52",
                  "(? & 0x7fffffffffffffff) > 0x7ff0000000000000"),
    _float_filler("bfloat16", "bf16", "uint16_t",
                  "0, 0x8000, 0x3f80, 0xbf80, 1, 0x8001, 0x7f, 0x80, 0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7fc0, 0x3f81",
                  "(uint16_t)(((r >> 8) % 9 + 126) << 7)", "(uint16_t)((r & 0x807f) | (120 + (r >> 40) % 14) << 7)",
                  "(? & 0x7fff) > 0x7f80"),
    _float_filler("float16", "f16", "uint16_t",
                  "0, 0x8000, 0x3c00, 0xbc00, 1, 0x8001, 0x3ff, 0x400, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x3c01",
                  "(uint16_t)(((r >> 8) % 9 + 14) << 10)", "(uint16_t)((r & 0x83ff) | (10 + (r >> 40) % 10) << 10)",
                  "(? & 0x7fff) > 0x7c00")))
