"""What the compiler makes of the emitted loops: the instructions of the loop with the most multiply-adds.

Counters of the hardware are rarely to be had in a virtual machine; the instructions always are.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import ours
import workloads

from polysched.errors import CompileError
from polysched.target import find_compiler

LABEL = re.compile(r"^(\.L\w+):")
JUMP = re.compile(r"^\s+j[a-z]+\s+(\.L\w+)")
INSTRUCTION = re.compile(r"^\s+[a-z]")
MEMORY = re.compile(r"\(%\w+|\(,%")
VECTOR = re.compile(r"%[xyz]mm")
STACK = re.compile(r"\(%rsp\)|\(%rbp\)")
DESTINATION_IN_MEMORY = re.compile(r"\)(\{%k\d\})?$")
MULTIPLY_ADD = re.compile(r"^vfn?m(add|sub)\d+[ps][sdh]\b")


@dataclass(frozen=True, kw_only=True)
class InnerLoop:
    """One trip through an innermost loop, in AT&T's syntax.

    Parameters
    ----------
    multiply_adds : vector instructions; `register` names their widest register (`zmm`).
    vector_loads, broadcasts : from memory, those that are an operand of a multiply-add included.
    stack : of all kinds, those that reach into the stack (spilled registers); the other columns hold them too.
    prefetches, others : the rest; loop control and addresses are among the others.
    """

    instructions: int
    multiply_adds: int
    register: str
    vector_loads: int
    broadcasts: int
    vector_stores: int
    stack: int
    prefetches: int
    others: int


def innermost_loops(text: str) -> list[list[str]]:
    """The instructions of every loop of an assembly text that holds no other: a label and the jump back to it."""
    lines = text.splitlines()
    places = {m[1]: i for i, line in enumerate(lines) if (m := LABEL.match(line))}
    spans = [(places[m[1]], i) for i, line in enumerate(lines)
             if (m := JUMP.match(line)) and places.get(m[1], i) < i]
    innermost = [s for s in spans if not any(o != s and s[0] <= o[0] and o[1] <= s[1] for o in spans)]
    return [[line.strip() for line in lines[a:b + 1] if INSTRUCTION.match(line)] for a, b in innermost]


def counted(body: Sequence[str]) -> InnerLoop:
    """The instructions of a loop by what they do."""
    multiply_adds = [i for i in body if MULTIPLY_ADD.match(i)]
    loads = [i for i in body if VECTOR.search(i) and MEMORY.search(i) and not stores(i)]
    broadcasts = [i for i in loads if "broadcast" in i or "{1to" in i]
    written = [i for i in body if VECTOR.search(i) and stores(i)]
    prefetches = [i for i in body if i.startswith("prefetch")]
    separate = [i for i in loads if i not in multiply_adds]
    widest = max((m[0] for i in multiply_adds for m in VECTOR.finditer(i)), default="")
    return InnerLoop(
        instructions=len(body), multiply_adds=len(multiply_adds), register=widest.lstrip("%"),
        vector_loads=len(loads) - len(broadcasts), broadcasts=len(broadcasts), vector_stores=len(written),
        stack=sum(bool(STACK.search(i)) for i in body), prefetches=len(prefetches),
        others=len(body) - len(multiply_adds) - len(separate) - len(written) - len(prefetches))


def stores(instruction: str) -> bool:
    """Whether the destination, which comes last, is in memory."""
    return DESTINATION_IN_MEMORY.search(instruction) is not None


def assembly_of(text: str, flags: Sequence[str]) -> str:
    """The compiler's assembly of a C text.

    Raises
    ------
    CompileError : the compiler refuses it.
    """
    compiler = find_compiler()
    with tempfile.TemporaryDirectory(prefix="polysched-blas-") as folder:
        source, output = Path(folder, "ours.c"), Path(folder, "ours.s")
        source.write_text(ours.EXPORT + text)
        done = subprocess.run([*compiler.command, *flags, "-fopenmp", "-w", "-S", str(source), "-o", str(output)],
                              capture_output=True, text=True, check=False)
        if done.returncode:
            raise CompileError("the compiler refuses the emitted C", witness=done.stderr.strip().splitlines()[0])
        return output.read_text()


def inner_loop(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Of a workload's emitted code, the innermost loop with the most multiply-adds, as JSON values."""
    text = ours.source_of(workloads.make(parameters["workload"]), parameters["polysched"]).text
    loops = [counted(body) for body in innermost_loops(assembly_of(text, parameters["flags"]))]
    return asdict(max(loops, key=lambda loop: loop.multiply_adds))
