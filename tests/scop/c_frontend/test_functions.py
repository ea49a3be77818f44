"""The functions of math.h have the types that gcc gives them: of the result, and of every argument."""

from pathlib import Path

from polysched.scop.c_frontend.functions import MATH
from polysched.target import find_compiler
from tests.scop.c_frontend.differences import check


def test_every_type_is_the_compilers(tmp_path: Path) -> None:
    lines = []
    for name, function in sorted(MATH.items()):
        arguments = ", ".join("1.0" if p is None else f"({p.c_name})1" for p in function.parameters)
        result = function.result.c_name
        lines.append(f'_Static_assert(_Generic({name}({arguments}), {result}: 1, default: 0), "{name}");')
        if None not in function.parameters and not name.startswith("__"):
            types = ", ".join(p.c_name for p in function.parameters if p is not None)
            lines.append(f'_Static_assert(_Generic(&{name}, {result} (*)({types}): 1, default: 0), "{name}");')
    source = tmp_path / "types.c"
    wide = "".join(lines).replace("llrint", "lrint").replace("llround", "lround").replace("llabs", "labs")
    source.write_text(f"#include <math.h>\n#include <stdlib.h>\n{wide}\n")
    done = find_compiler().run(["-std=c11", "-D_GNU_SOURCE", "-fsyntax-only", str(source)])
    assert done.returncode == 0, done.stderr


def test_arguments_are_converted_before_the_call(tmp_path: Path) -> None:
    check(["for (int i = 0; i < 20; i++) { B[i] = abs(B[i] * 1000000000L) + abs(X[i]) + labs(B[i]); }",
           "for (int i = 0; i < 20; i++) X[i] = fmin(X[i], A[i]) + floor(X[i]) + trunc(X[i]) + rint(X[i] * 3.5);",
           "for (int i = 0; i < 20; i++) X[i] = fabsf(X[i]) + sqrtf(fabs(X[i])) + fmaxf(X[i], 0.1) + floorf(X[i]);",
           "for (int i = 0; i < 20; i++) { A[i] = fmax(i, n) + fmin(i, m); X[i] = round(X[i]) + ceil(A[i] / 7); }"],
          tmp_path, before="#include <math.h>\n#include <stdlib.h>\n", sizes=({"n": 7, "m": 3},))
