"""Whether a compiler of its own machine takes an instruction's C: its registers, loads, template and stores."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

from polysched.records import dataclass
from polysched.tensorize.conformance.conformance import instruction_c
from polysched.tensorize.description.intrinsic import Intrinsic
from polysched.tensorize.limits import LIMITS

LIMIT_SECONDS = LIMITS.cross_run_seconds
TYPES = "#include <stdint.h>\n#include <string.h>\ntypedef uint16_t f16;\ntypedef uint16_t bf16;\n"
FREESTANDING_TYPES = """typedef signed char int8_t; typedef unsigned char uint8_t; typedef short int16_t;
typedef unsigned short uint16_t; typedef int int32_t; typedef unsigned uint32_t; typedef long int64_t;
typedef unsigned long uint64_t; typedef uint16_t f16; typedef uint16_t bf16;
"""


@dataclass(frozen=True, kw_only=True)
class CrossCompiled:
    """What came of compiling one instruction's C.

    Parameters
    ----------
    command : the compiler with its flags; empty where there is none.
    assembly : what it wrote.
    reason : why there is no compiler, or what it said.
    """

    intrinsic: str
    command: tuple[str, ...] = ()
    assembly: str = ""
    reason: str = ""

    @property
    def compiles(self) -> bool:
        return bool(self.assembly)

    def __str__(self) -> str:
        if self.compiles:
            return f"{self.intrinsic}: compiles ({shlex.join(self.command)})"
        return f"{self.intrinsic}: {'refused' if self.command else 'not compiled'} ({self.reason})"


def cross_compile(intrinsic: Intrinsic) -> CrossCompiled:
    """Compile one execution of an instruction to assembly, with the headers and flags of its description."""
    isa = intrinsic.isa
    if intrinsic.library or not isa.compilers:
        return CrossCompiled(intrinsic=intrinsic.name, reason=f"there is no public compiler for {isa.name}"
                             if not intrinsic.library else "a library function is called, not compiled")
    compiler = next((c for c in isa.compilers if shutil.which(c)), None)
    if compiler is None:
        return CrossCompiled(intrinsic=intrinsic.name, reason=f"no {' or '.join(isa.compilers)} on this machine")
    command = (compiler, *isa.flags, "-O2", "-w", "-S")
    with tempfile.TemporaryDirectory(prefix="polysched-cross-") as folder:
        source, out = Path(folder) / "executed.c", Path(folder) / "executed.s"
        source.write_text(execution_c(intrinsic))
        done = subprocess.run([*command, str(source), "-o", str(out)], capture_output=True, text=True,
                              timeout=LIMIT_SECONDS, check=False)
        if done.returncode:
            message = next((line for line in done.stderr.splitlines() if "error" in line), done.stderr.strip())
            return CrossCompiled(intrinsic=intrinsic.name, command=command, reason=message)
        return CrossCompiled(intrinsic=intrinsic.name, command=command, assembly=out.read_text())


def execution_c(intrinsic: Intrinsic) -> str:
    """A whole C file with one execution: configure, load, execute, store, finish."""
    isa = intrinsic.isa
    types = FREESTANDING_TYPES if isa.machine == "cuda" else TYPES
    headers = "".join(f"#include <{h}>\n" for h in isa.headers)
    text = instruction_c(intrinsic, name="executed").replace("static void", f"{isa.qualifier} void".strip(), 1)
    opened = re.sub(r"\n\{\n", lambda m: f"{m.group(0)}    {intrinsic.configure}\n", text, count=1)
    return headers + types + opened.rstrip().removesuffix("}") + f"    {intrinsic.finish}\n}}\n"
