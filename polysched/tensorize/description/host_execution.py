"""The first reading of a text: the user's bytes, unchanged, compiled by the host's compiler and run on their own.

They stand behind `exact_arithmetic.PRELUDE`; signed integers wrap (`-fwrapv`) and nothing is fused
(`-ffp-contract=off`).  The process has a time limit; what crashes or does not end is a refusal.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from polysched.errors import SourceSyntaxError
from polysched.records import dataclass
from polysched.target import find_compiler
from polysched.tensorize.description.emulator import emulator_c
from polysched.tensorize.description.exact_arithmetic import PRELUDE
from polysched.tensorize.description.inputs import Operands
from polysched.tensorize.description.semantics import C_NAMES, Semantics
from polysched.tensorize.limits import LIMITS

FLAGS = ("-std=gnu11", "-O0", "-fwrapv", "-ffp-contract=off", "-w")
LIMIT_SECONDS = LIMITS.host_run_seconds


@dataclass(frozen=True)
class HostResults:
    """The written operands, by the text itself and by the C that `emulator` prints of it."""

    text: Operands
    printed: Operands


def run_on_host(semantics: Semantics, operands: Operands, sizes: Mapping[str, int] | None = None, *,
                limit_seconds: float = LIMIT_SECONDS) -> HostResults:
    """One execution per row of the operands.

    Raises
    ------
    SourceSyntaxError : the compiler refuses the text, or its process crashes or runs out of time.
    NoCompilerError : there is no compiler.
    """
    trials = next(iter(operands.values())).shape[0]
    sent = b"".join(operands[v.name][t].tobytes() for t in range(trials) for v in semantics.operands)
    found = executed(semantics.name, program_c(semantics, operands, sizes or {}), ("text", "printed"), sent,
                     limit_seconds=limit_seconds)
    return HostResults(*(_written(semantics, operands, out) for out in found))


def executed(name: str, program: str, ways: Sequence[str], sent: bytes, *, limit_seconds: float = LIMIT_SECONDS,
             what: str = "an intrinsic") -> list[bytes]:
    """What a program prints, once for every argument, each in a process of its own.

    Parameters
    ----------
    program : a whole translation unit.
    sent : to its standard input.
    what : is described by the text, in words.

    Raises
    ------
    SourceSyntaxError : the compiler refuses the text, or its process crashes or runs out of time.
    NoCompilerError : there is no compiler.
    """
    with tempfile.TemporaryDirectory(prefix="polysched-reading-") as folder:
        source, binary = Path(folder) / "text.c", Path(folder) / "text"
        source.write_text(program)
        built = find_compiler().run([*FLAGS, str(source), "-o", str(binary), "-lm"])
        if built.returncode != 0:
            message = next((line for line in built.stderr.splitlines() if "error" in line), built.stderr.strip())
            raise SourceSyntaxError(f"the compiler refuses the text of {what}", where=name,
                                    witness=message.split(": ", 1)[-1])
        return [_printed(name, [str(binary), way], sent, limit_seconds, what) for way in ways]


def _printed(name: str, command: list[str], sent: bytes, limit_seconds: float, what: str) -> bytes:
    try:
        ran = subprocess.run(command, input=sent, capture_output=True, timeout=limit_seconds, check=False)
    except subprocess.TimeoutExpired as error:
        raise SourceSyntaxError(f"the text of {what} does not end within {limit_seconds:g} s", where=name,
                                hint="describe a smaller unit") from error
    if ran.returncode != 0:
        raise SourceSyntaxError(f"the text of {what} crashes", where=name, witness=f"exit status {ran.returncode}",
                                hint="it may divide by zero, or leave an array")
    return ran.stdout


def _written(semantics: Semantics, operands: Operands, printed: bytes) -> Operands:
    written = [v.name for v in semantics.operands if v.written]
    dtype = np.dtype([(n, operands[n].dtype, operands[n].shape[1:]) for n in written])
    rows = np.frombuffer(printed, dtype)
    return {n: np.ascontiguousarray(rows[n]) for n in written}


def program_c(semantics: Semantics, operands: Operands, sizes: Mapping[str, int]) -> str:
    """The whole program: for every set of operands it calls the text, or what is printed of it."""
    arguments = [str(sizes[s]) for s in semantics.sizes]
    buffers, reads, writes = [], [], []
    for v in semantics.operands:
        name = f"polysched_buffer_{v.name}"
        count = operands[v.name][0].nbytes
        buffers.append(f"    static unsigned char {name}[{count}] __attribute__((aligned(64)));")
        reads.append(f"fread({name}, 1, {count}, stdin) == {count}")
        arguments.append(f"(void *){name}" if v.shape else f"*({C_NAMES[v.dtype.name]} *)(void *){name}")
        if v.written:
            writes.append(f"        fwrite({name}, 1, {count}, stdout);")
    given = ", ".join(arguments)
    return "\n".join((
        PRELUDE, "#include <stdio.h>", semantics.text, emulator_c(semantics, name="polysched_printed"),
        "int main(int argc, char **argv) {", *buffers, f"    while ({' && '.join(reads)}) {{",
        f"        if (argv[1][0] == 't') {semantics.name}({given}); else polysched_printed({given});", *writes, "    }",
        "    return 0;", "}", ""))
