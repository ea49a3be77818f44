"""The C that is printed of a text has its value without undefined behaviour, beside the text under -fwrapv."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import numpy as np
import pytest

from polysched.scop.body import Binary, Cast, Expr, Literal, Load, Select, Unary
from polysched.scop.dtypes import FLOAT32, INT8, INT32, INT64, UINT32
from polysched.target import find_compiler
from polysched.tensorize.description.contraction_value import evaluate_contraction
from polysched.tensorize.description.derivation import derive
from polysched.tensorize.description.emulator import declaration, emulator_c, expression_c
from polysched.tensorize.description.exact_arithmetic import PRELUDE
from polysched.tensorize.description.reading import parse
from polysched.tensorize.description.semantics import Semantics, Variable
from tests.tensorize.description.test_python_emulator import COUNT, TYPES, expression, operands

SANITIZED = ("-O0", "-w", "-ffp-contract=off", "-fsanitize=undefined", "-fno-sanitize-recover=all")
PLAIN = ("-O0", "-w", "-ffp-contract=off", "-fwrapv")
COUNTED = 40


def texts() -> list[str]:
    chooser = random.Random(17)
    parameters = ", ".join(f"const {t} {n}[{COUNT}]" for n, t in TYPES.items())
    return [f"void own{at}(int64_t out[{COUNT}], {parameters}) {{ for (int i = 0; i < {COUNT}; i++) "
            f"out[i] = {expression(chooser, 3)}; }}" for at in range(COUNTED)]


@pytest.fixture(scope="module")
def parsed() -> list[Semantics]:
    return [parse(text) for text in texts()]


def printed(functions: list[str], flags: tuple[str, ...], folder: Path) -> np.ndarray:
    """What all functions compute, one row each."""
    given = operands()
    lines = [PRELUDE, "#include <stdio.h>", *functions, "int main(void) {", f"static int64_t out[{COUNT}];"]
    for name, values in given.items():
        numbers = ", ".join("INT64_MIN" if v == -(1 << 63) else f"{v}{'u' * (v >= 0)}ll" for v in values.tolist())
        lines.append(f"static const {TYPES[name]} {name}[{COUNT}] = {{{numbers}}};")
    for at in range(len(functions)):
        lines += [f"own{at}({', '.join(['out', *given])});", "fwrite(out, sizeof out, 1, stdout);"]
    (folder / "f.c").write_text("\n".join([*lines, "return 0; }"]))
    done = find_compiler().run([*flags, str(folder / "f.c"), "-o", str(folder / "f"), "-lm"])
    assert not done.returncode, done.stderr
    ran = subprocess.run([str(folder / "f")], capture_output=True, check=False)
    assert not ran.returncode, ran.stderr
    return np.frombuffer(ran.stdout, np.int64).reshape(-1, COUNT)


def test_printed_text_wraps_as_the_text_does_and_leaves_nothing_undefined(parsed: list[Semantics],
                                                                        tmp_path: Path) -> None:
    for folder in ("own", "printed"):
        (tmp_path / folder).mkdir()
    own = printed(texts(), PLAIN, tmp_path / "own")
    ours = printed([emulator_c(s).removeprefix("static ") for s in parsed], SANITIZED, tmp_path / "printed")
    wrong = np.flatnonzero((own != ours).any(axis=1))
    assert not wrong.size, texts()[wrong[0]]
    for at, semantics in enumerate(parsed):   # the third reading, which no compiler sees
        given = {"out": np.zeros((1, COUNT), np.int64)} | {n: a.reshape(1, -1) for n, a in operands().items()}
        found = evaluate_contraction(semantics, derive(semantics), given)["out"]
        np.testing.assert_array_equal(found[0], own[at], err_msg=texts()[at])


X, W = Load("x", INT32), Load("w", UINT32)


@pytest.mark.parametrize(("e", "text"), [
    (Binary("+", X, X, INT32), "(int32_t)((uint32_t)(x) + (uint32_t)(x))"), (Binary("+", W, W, UINT32), "(w + w)"),
    (Binary("<<", X, Literal("3", 3, INT32), INT32), "(int32_t)((uint32_t)(x) << (3))"),
    (Binary(">>", X, Literal("3", 3, INT32), INT32), "(x >> 3)"), (Unary("-", X, INT32), "(int32_t)(-(uint32_t)(x))"),
    (Unary("!", X, INT32), "!(x)"), (Unary("-", Load("f", FLOAT32), FLOAT32), "-(f)"),
    (Cast(X, INT8), "(int8_t)(x)"), (Select(X, W, W, UINT32), "(x ? w : w)"),
    (Binary("*", Cast(X, INT64), Cast(X, INT64), INT64),
     "(int64_t)((uint64_t)((int64_t)(x)) * (uint64_t)((int64_t)(x)))")])
def test_signed_operations_go_through_the_unsigned_type(e: Expr, text: str) -> None:
    assert expression_c(e) == text


def test_parameters_are_arrays_that_only_results_may_change() -> None:
    text = "void f(int n, int32_t C[n][4], const bf16 A[4], float s) { C[0][0] += s > bf16_to_f32(A[0]); }"
    head = emulator_c(parse(text), name="own").splitlines()[0]
    assert head == "static void own(int n, int32_t C[n][4], const bf16 A[4], float s)"
    assert declaration(Variable("t", UINT32, (2, "n"))) == "uint32_t t[2][n]"


def test_loops_and_locals_are_printed_with_their_bounds() -> None:
    text = ("void f(int32_t C[4]) { for (int i = 3; i >= 0; i--) { int32_t t[2] = {0}; int32_t s = C[i]; "
            "for (int j = i; j < 4; j++) s += t[1] + j; C[i] = s; } }")
    lines = [x.strip() for x in emulator_c(parse(text)).splitlines()]
    assert "for (int i = 4 - 1; i >= 0; i--) {" in lines
    assert "for (int j = i; j < 4; j++) {" in lines
    assert "int32_t t[2] = {0};" in lines
