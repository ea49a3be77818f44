"""Instructions that compute no products (absolute differences, maxima, sums under a maximum), every match executed."""

from pathlib import Path

import numpy as np
import pytest

from polysched.pipeline import analysed
from polysched.scop import all_from_c_file
from polysched.scop.interpreter import execute, extents_of
from polysched.scop.scop import Scop
from polysched.tensorize import Intrinsic, Matches, MatchOptions, find_intrinsic, match
from polysched.tensorize.description.intrinsic import Cost, Isa, LoadMode, Operand, Register
from polysched.tensorize.emission import EmissionOptions, emit_match
from polysched.tensorize.program import tensorize
from tests.tensorize.compiled import call, compiled

ISA = Isa(name="mine", machine="none", manual="none")
LANES, REPEATED = Register(c_type="int", load="", store="", zero=""), Register(c_type="int", load="")


def described(name: str, parameters: str, update: str) -> Intrinsic:
    """Eight lanes; a last input of one element is repeated."""
    inputs = [Operand(name=p.split("[")[0].split()[-1], register=REPEATED if "[1]" in p else LANES,
                      mode=LoadMode.BROADCAST if "[1]" in p else LoadMode.DIRECT) for p in parameters.split(",")]
    loops = "for (int i = 0; i < 8; i++)" + ("for (int k = 0; k < 4; k++)" if "[k]" in update else "")
    return Intrinsic(name=name, isa=ISA, section="none", cost=Cost(issue_cycles=1, latency_cycles=1), template="-",
                     semantics=f"void {name}(int32_t C[8], {parameters}) {{ {loops} C[i] {update}; }}",
                     operands=(Operand(name="C", register=LANES), *inputs))


MINE = [described("maximum", "const int32_t A[8]", "= C[i] > A[i] ? C[i] : A[i]"),
        described("max_plus", "const int32_t A[8], const int32_t B[1]",
                  "= C[i] < A[i] + B[0] ? A[i] + B[0] : C[i]"),
        described("from_mean", "const uint8_t A[8][4], const uint8_t B[8]",
                  "+= A[i][k] > B[i] ? A[i][k] - B[i] : B[i] - A[i][k]")]
UNITS = {i.name: i for i in (*MINE, find_intrinsic("vpsadbw"), find_intrinsic("vpsadbw_vector_avx2"),
                                find_intrinsic("vpsadbw_64"), find_intrinsic("vpsadbw_64_vector"))}

BYTES = "int32_t C[9], uint8_t A[9][13], uint8_t B[13], uint8_t M[9]"
LONG = "int64_t C[9], uint8_t A[9][13], uint8_t B[13], uint8_t M[9]"
TROPICAL = "int32_t C[9][5], int32_t A[9][6], int32_t B[6][5]"
PROGRAMS = {   # parameters, body, unit
    "?:": (BYTES, "for (i) for (k) C[i] += A[i][k] >= B[k] ? A[i][k] - B[k] : B[k] - A[i][k];", "vpsadbw"),
    "abs": (BYTES, "for (i) { int s = 0; for (k) s += abs(B[k] - A[i][k]); C[i] = s; }", "vpsadbw_vector_avx2"),
    "branch": (BYTES, "for (i) { C[i] = 0; for (k) { int d = A[i][k] - B[k]; if (d < 0) d = -d; C[i] += d; } }",
               "vpsadbw"),
    "extrema": (BYTES, "for (i) for (k) C[i] += (A[i][k] > B[k] ? A[i][k] : B[k]) - (A[i][k] < B[k] ? A[i][k] : B[k]);",
                "vpsadbw"),
    "of a constant": (BYTES, "for (i) for (k) C[i] += abs(A[i][k] - 128);", "vpsadbw"),
    "replicated": (BYTES, "for (i) for (k) C[i] += abs(A[i][k] - M[i]);", "vpsadbw_vector_avx2"),
    "of 64 bits": (LONG, "for (i) for (k) C[i] += A[i][k] > B[k] ? A[i][k] - B[k] : B[k] - A[i][k];", "vpsadbw_64"),
    "in all": ("u" + LONG, "for (i) for (k) C[0] += abs(A[i][k] - B[k]);", "vpsadbw_64_vector"),
    "of bytes": (LONG, "for (i) { int64_t s = 0; for (k) s += A[i][k]; C[i] = s; }", "vpsadbw_64"),
    "of signed bytes": ("int32_t C[9], int8_t A[9][13], int8_t B[13]", "for (i) for (k) C[i] += abs(A[i][k] - B[k]);",
                        "vpsadbw"),
    "wraps": (BYTES, "for (i) for (k) C[i] += (uint8_t)(A[i][k] - B[k]);", "vpsadbw"),
    "maximum": (BYTES, "for (i) C[i] = 3; for (k) for (i) if (A[i][k] - 128 > C[i]) C[i] = A[i][k] - 128;", "maximum"),
    "cleared": (BYTES, "for (i) { C[i] = 0; for (k) C[i] = A[i][k] - 128 < C[i] ? C[i] : A[i][k] - 128; }", "maximum"),
    "tropical": (TROPICAL, "for (i) for (int j = 0; j < 5; j++) for (int k = 0; k < 6; k++) {"
                           "int t = A[i][k] + B[k][j]; C[i][j] = t > C[i][j] ? t : C[i][j]; }", "max_plus"),
}
REFUSED = {   # the same, and why
    "signed": ("int32_t C[9], int8_t A[9][13]", "for (i) for (k) C[i] += A[i][k];", "vpsadbw", "its own arithmetic"),
    "words": ("int32_t C[9], int16_t A[9][13], int16_t B[13]", "for (i) for (k) C[i] += abs(A[i][k] - B[k]);",
              "vpsadbw", "the program has int16, vpsadbw wants uint8"),
    "narrower": (LONG, "for (i) for (k) C[i] += abs(A[i][k] - B[k]);", "vpsadbw", "accumulates in int64, vpsadbw in"),
    "squares": (BYTES, "for (i) for (k) C[i] += (A[i][k] - B[k]) * (A[i][k] - B[k]);", "vpsadbw",
                "against C[i] = C[i] + (A[k] > B[i][k] ? A[k] - B[i][k] : B[i][k] - A[k])"),
    "padding counts": (BYTES, "for (i) for (k) C[i] += abs(A[i][k] - M[i]);", "from_mean",
                       "dimension k takes 4 iterations, and what from_mean computes of zeros in the place of missing"),
    "triangle": (BYTES, "for (i) for (int k = 0; k <= i; k++) C[i] += abs(A[i][k] - B[k]);", "vpsadbw", "are no box"),
    "minimum": (BYTES, "for (k) for (i) C[i] = A[i][k] < C[i] ? A[i][k] : C[i];", "maximum", "does not have the form"),
    "all in one": (BYTES, "for (i) C[0] = M[i] > C[0] ? M[i] : C[0];", "maximum", "loop i indexes A"),
    "written sometimes": (BYTES, "for (i) if (M[i] > C[i]) C[i] = M[i];", "maximum", "nothing else writes C"),
}


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Scop]:
    texts = []
    for at, (parameters, body, *_) in enumerate((*PROGRAMS.values(), *REFUSED.values())):
        body = body.replace("for (i)", "for (int i = 0; i < 9; i++)").replace("for (k)", "for (int k = 0; k < 13; k++)")
        texts.append(f"void f{at}({parameters}) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n")
    path = tmp_path_factory.mktemp("bodies") / "all.c"
    path.write_text("#include <stdint.h>\n#include <stdlib.h>\n" + "".join(texts))
    return dict(zip((*PROGRAMS, *REFUSED), all_from_c_file(str(path)), strict=True))


def matched(scop: Scop, unit: str, **options: bool) -> Matches:
    dependences = analysed(scop, for_instructions=True).dependences
    return match(dependences.scop, UNITS[unit], MatchOptions(**options), dependences=dependences)


def inputs_and_results(scop: Scop) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    chooser = np.random.default_rng(2)
    ends = {"uint8": (0, 256), "int8": (-128, 128)}
    first = {a.name: chooser.integers(*ends.get(a.dtype.name, (-200, 256)), tuple(extents_of(a, {})))
             .astype(a.dtype.name) for a in scop.arrays if not a.is_temporary}
    wanted = {n: x.copy() for n, x in first.items()}
    execute(scop, {}, wanted | {a.name: np.zeros((), a.dtype.name) for a in scop.arrays if a.is_temporary})
    return first, wanted


def test_every_match_computes_what_the_program_does(programs: dict[str, Scop], tmp_path: Path) -> None:
    results = {name: inputs_and_results(programs[name]) for name in PROGRAMS}
    for unit in {case[2]: None for case in PROGRAMS.values()}:
        found = [(name, matched(programs[name], unit, partial_sums=partial, split=partial))
                 for name, case in PROGRAMS.items() if case[2] == unit for partial in (False, True)]
        assert all(f.count for _, f in found), [(name, *map(str, f.explanations)) for name, f in found]
        wholes = [(name, tensorize(m)) for name, f in found for m in f.with_mirrors]
        functions = [emit_match(w.match, f"m{at}", EmissionOptions(emulated=True, parallel=False, zero=w.zero))
                     for at, (_, w) in enumerate(wholes)]
        library = compiled(functions, tmp_path, unit)
        for (name, whole), function in zip(wholes, functions, strict=True):
            arrays = {n: x.copy() for n, x in results[name][0].items()}
            if whole.before is not None:
                execute(whole.before, {}, {a.name: arrays[a.name] for a in whole.before.arrays})
            call(library, function, arrays)
            np.testing.assert_array_equal(arrays["C"], results[name][1]["C"], err_msg=f"{name}: {whole.match}")


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_another_function_is_refused(name: str, programs: dict[str, Scop]) -> None:
    *_, unit, why = REFUSED[name]
    found = matched(programs[name], unit)
    assert found.count == 0, str(found.matches[0])
    assert why in "\n".join(map(str, found.explanations))


def test_padding_does_not_count_where_there_is_none(tmp_path: Path) -> None:
    path = tmp_path / "whole.c"
    path.write_text("#include <stdint.h>\n#include <stdlib.h>\nvoid f(int32_t C[9], uint8_t A[9][12], uint8_t M[9]) {\n"
                    "#pragma scop\nfor (int i = 0; i < 9; i++) for (int k = 0; k < 12; k++)\n"
                    "C[i] += abs(A[i][k] - M[i]);\n#pragma endscop\n}\n")
    assert matched(all_from_c_file(str(path))[0], "from_mean").count == 1
