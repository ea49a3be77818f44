"""Programs under Oclgrind, which finds races and accesses outside buffers."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from polysched.scop import from_c_file
from polysched.scop.signature import ParameterKind
from polysched.target import find_compiler

BUFFER_BYTES = 1 << 16


def main_of(path: Path, size: int) -> str:
    """A `main` that calls the function around the first region; sizes are `size`, `size + 1`, ..."""
    source = from_c_file(str(path)).source
    assert source is not None
    assert source.signature is not None
    declared, passed, sizes = [], [], 0
    for number, parameter in enumerate(source.signature.parameters):
        if parameter.kind is ParameterKind.ARRAY:
            c_type = parameter.dtype.c_name
            declared.append(f"static {c_type} buffer{number}[{BUFFER_BYTES} / sizeof({c_type})];")
            passed.append(f"(void *)buffer{number}")
        elif parameter.kind is ParameterKind.INTEGER:
            passed.append(str(size + sizes))
            sizes += 1
        else:
            passed.append("1.5")
    return "\n".join([*declared, f"int main(void) {{ {source.signature.name}({', '.join(passed)}); return 0; }}", ""])


def is_here() -> bool:
    """Whether Oclgrind is installed."""
    return shutil.which("oclgrind") is not None


def said_of(path: Path, text: str, size: int, *, seconds: int = 100) -> str:
    """What Oclgrind says of a file's program for a device.

    Parameters
    ----------
    path : the file of which the text was made; what is compiled goes beside it.
    """
    made, program = path.with_suffix(".device.c"), path.with_suffix(".program")
    made.write_text(text + main_of(path, size))
    done = find_compiler(None).run(["-w", "-O1", str(made), "-o", str(program), "-lOpenCL", "-lm"], folder=path.parent)
    assert done.returncode == 0, done.stderr
    ran = subprocess.run(["oclgrind", "--data-races", "--uniform-writes", "--max-errors", "3", str(program)],
                         capture_output=True, text=True, timeout=seconds, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout + ran.stderr
