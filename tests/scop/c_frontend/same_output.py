"""Transform a whole program, compile it and the original, run both, and compare what they print."""

import subprocess
from pathlib import Path

from polysched.pipeline import PipelineOptions, TransformedFile, transform_file
from polysched.target import find_compiler

PRINTING = """
#include <stdio.h>
#include <stdlib.h>
static void shown(const char *what, const double *values, int count) {
  double sum = 0;
  for (int k = 0; k < count; k++) sum = sum * 0.5 + values[k] * (k % 7 + 1), printf("%a ", values[k]);
  printf("%s %d %a\\n", what, count, sum);
}
static void filled(double *values, int count) { for (int k = 0; k < count; k++) values[k] = (k * 37 + 11) % 23 - 7; }
"""

SANITIZED = ("-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")


def functions_of(made: TransformedFile) -> set[str]:
    """The functions in which regions were found."""
    signatures = [r.scop.source.signature for r in made.regions if r.scop.source is not None]
    return {signature.name for signature in signatures if signature is not None}


def same_output(tmp_path: Path, text: str, main: str, flags: tuple[str, ...] = ("-fwrapv",),
                **options: object) -> TransformedFile:
    """The transformed file; fails where it prints something else than the original.

    Parameters
    ----------
    text : the functions, with regions in `#pragma scop` or without.
    main : the body of the main function, which is not transformed; it may use `shown` and `filled`.
    flags : of the compiler, beside the usual ones.
    """
    source = tmp_path / "in.c"
    source.write_text(text)
    made = transform_file(source, PipelineOptions(autodetect="#pragma scop" not in text, **options))
    outputs = []
    for name, code in (("original", text), ("transformed", made.text)):
        file, program = tmp_path / f"{name}.c", tmp_path / name
        file.write_text(f"{code}\n{PRINTING}\nint main(void) {{\n{main}\nreturn 0;\n}}\n")
        compiler = find_compiler()
        done = compiler.run(["-O1", "-fopenmp", *flags, "-ffp-contract=off", "-o", str(program), str(file), "-lm"])
        assert done.returncode == 0, done.stderr

        outputs.append(subprocess.run([str(program)], capture_output=True, text=True, timeout=60, check=True).stdout)
    assert outputs[0] == outputs[1]
    assert outputs[0]
    return made
