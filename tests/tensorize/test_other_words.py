"""One product in other words: what each spelling adds, and spellings that are almost one and must not match.

Every accepted spelling is executed through the emulator and compared bit for bit with NumPy on corner values.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from polysched.pipeline import analysed
from polysched.scop import from_c_text
from polysched.scop.interpreter import execute
from polysched.scop.scop import Scop
from polysched.tensorize import Matches, MatchOptions, find_intrinsic, match
from polysched.tensorize.emission import EmissionOptions, emit_match
from polysched.tensorize.matching.facts import Numerics
from tests.tensorize.compiled import call, compiled

M, N, K = 5, 17, 7
Term = Callable[[np.ndarray, np.ndarray], np.ndarray]


def program(statement: str, a: str, b: str, c: str = "int32_t") -> Scop:
    return from_c_text(f"""#include <stdint.h>
#include <math.h>
void f({c} C[{M}][{N}], {a} A[{M}][{K}], {b} B[{K}][{N}]) {{
#pragma scop
  for (int i = 0; i < {M}; i++)
    for (int j = 0; j < {N}; j++)
      for (int k = 0; k < {K}; k++) {{
        {statement.replace("$C", "C[i][j]").replace("$A", "A[i][k]").replace("$B", "B[k][j]")}
      }}
#pragma endscop
}}
""")


def matched(scop: Scop, name: str) -> Matches:
    """As the commands do it: scalars are replaced by their values."""
    dependences = analysed(scop, for_instructions=True).dependences
    return match(dependences.scop, find_intrinsic(name), dependences=dependences)


def wrapped(bits: int) -> Callable[[np.ndarray], np.ndarray]:
    return lambda x: (x + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)


# statement, types of A and B, instruction, and what one step adds, of int64 arrays
EQUAL: list[tuple[str, str, str, str, Term]] = [
    ("$C -= -($A * $B);", "uint8_t", "int8_t", "vpdpbusd", lambda a, b: a * b),
    ("$C += (int16_t)($A * $B);", "uint8_t", "int8_t", "vpdpbusd", lambda a, b: a * b),
    ("$C += (uint32_t)$A * (uint32_t)$B;", "uint8_t", "int8_t", "vpdpbusd", lambda a, b: a * b),
    ("$C = (int32_t)((uint32_t)$C + (uint32_t)($A * $B));", "uint8_t", "int8_t", "vpdpbusd", lambda a, b: a * b),
    ("$C = (int32_t)((int64_t)$A * $B + $C);", "uint8_t", "int8_t", "vpdpbusd", lambda a, b: a * b),
    ("$C = $A * $B - (-$C);", "uint8_t", "int8_t", "vpdpbusd", lambda a, b: a * b),
    ("$C += ($A & 127) * $B;", "uint8_t", "int8_t", "vpdpbusd", lambda a, b: (a & 127) * b),
    ("$C += ($A & 255) * (int8_t)$B;", "int16_t", "int16_t", "vpdpbusd", lambda a, b: (a & 255) * wrapped(8)(b)),
    ("$C += (uint8_t)$A * (int8_t)($B >> 8);", "int16_t", "int16_t", "vpdpbusd", lambda a, b: (a & 255) * (b >> 8)),
    ("$C += $A * (int8_t)($B ^ 128);", "uint8_t", "uint8_t", "vpdpbusd", lambda a, b: a * (b - 128)),
    ("$C += (uint8_t)($A ^ 128) * $B;", "int8_t", "int8_t", "vpdpbusd", lambda a, b: (a + 128) * b),
    ("$C += $A * $B + 128 * $B;", "int8_t", "int8_t", "vpdpbusd", lambda a, b: (a + 128) * b),
    ("$C = $C + $A * $B - 3 * $A - 7 * $B + 21;", "uint8_t", "int8_t", "vpdpbusd", lambda a, b: (a - 7) * (b - 3)),
    ("$C += ($A < 0 ? -$A : $A) * $B;", "int8_t", "int8_t", "vpdpbusd", lambda a, b: abs(a) * b),
    ("$C += ($A >= 1 ? $A : 0) * $B;", "int8_t", "int8_t", "vpdpbusd", lambda a, b: np.maximum(a, 0) * b),
    ("$C += ($A > 255 ? 255 : $A < 0 ? 0 : $A) * ($B > 127 ? 127 : $B < -128 ? -128 : $B);", "int16_t", "int16_t",
     "vpdpbusd", lambda a, b: np.clip(a, 0, 255) * np.clip(b, -128, 127)),
    ("$C += (($A + 128) >> 8) * $B;", "int16_t", "int16_t", "vpdpwssd", lambda a, b: ((a + 128) >> 8) * b),
    ("$C -= $A * $B;", "int8_t", "int8_t", "vpdpwssd", lambda a, b: -a * b),
    ("$C += ($A * $B << 1) + $A * $B;", "int8_t", "int8_t", "vpdpwssd", lambda a, b: 3 * a * b),
    ("$C += ($A > 0) * $B;", "int16_t", "int16_t", "vpdpwssd", lambda a, b: (a > 0) * b),
    ("int t = $A * $B; int s = $C + t; $C = s;", "uint8_t", "int8_t", "vpdpbusd", lambda a, b: a * b),
    ("int16_t a = $A; int b; b = $B; b *= a; $C += b;", "uint8_t", "int8_t", "vpdpbusd", lambda a, b: a * b),
    ("int t = $A; if (t < 0) t = -t; if (t > 100) t = 100; else t += 1; $C += t * $B;", "int8_t", "int8_t", "vpdpbusd",
     lambda a, b: np.where(abs(a) > 100, 100, abs(a) + 1) * b),
    ("uint8_t t = $A; $C += t * (int8_t)($B >> 8);", "int16_t", "int16_t", "vpdpbusd",
     lambda a, b: (a & 255) * (b >> 8)),
    ("$C += (_Bool)($A & 6) * $B;", "uint8_t", "int8_t", "vpdpbusd", lambda a, b: ((a & 6) != 0) * b),
    ("int s = $C + $A * $B; $C = s > 2147483647 ? 2147483647 : s;", "uint8_t", "int8_t", "vpdpbusd",
     lambda a, b: a * b),
    ("$C += ($A % 7) * $B;", "uint8_t", "int8_t", "vpdpbusd", lambda a, b: a % 7 * b),
    ("$C += ($A % 7) * (uint8_t)$B;", "int16_t", "int16_t", "vpdpbusd", lambda a, b: np.fmod(a, 7) * (b & 255)),
    ("$C += $A % 7u * (int8_t)$B;", "int16_t", "int16_t", "vpdpbusd",
     lambda a, b: (a & 0xffffffff) % 7 * wrapped(8)(b)),
    ("$C += ($A / 300) * (uint8_t)($B / 258);", "int16_t", "int16_t", "vpdpbusd",
     lambda a, b: np.trunc(a / 300).astype(int) * (np.trunc(b / 258).astype(int) & 255)),
    ("$C += (($A * $B) >> 0 | 0) / 1;", "uint8_t", "int8_t", "vpdpbusd", lambda a, b: a * b),
    # zero points with an operand of the other sign: it is moved by half of its range
    ("$C += ($A - 5) * ($B - 128);", "uint8_t", "uint8_t", "vpdpbusd", lambda a, b: (a - 5) * (b - 128)),
    ("$C += ($A + 5) * ($B - 12);", "int8_t", "int8_t", "vpdpbusd", lambda a, b: (a + 5) * (b - 12)),
    ("$C += $A * ($B - 300);", "uint8_t", "uint8_t", "vpdpbusd", lambda a, b: a * (b - 300)),
    ("$C += ($A - 70000) * ($B + 3);", "uint16_t", "int16_t", "vpdpwssd", lambda a, b: (a - 70000) * (b + 3)),
    ("$C += $A * $B - 3 * $A - 7 * $B + 21;", "uint8_t", "uint8_t", "vpdpbusd", lambda a, b: (a - 7) * (b - 3)),
    # operands of one sign: one is moved by half of its range
    ("$C += $A * $B;", "int8_t", "int8_t", "vpdpbusd", lambda a, b: a * b),
    ("$C += $A * $B;", "uint8_t", "uint8_t", "vpdpbusd", lambda a, b: a * b),
    ("$C = (int32_t)((uint32_t)$C + (uint32_t)($A * $B));", "int8_t", "int8_t", "vpdpbusd", lambda a, b: a * b),
    ("$C += ($A / 257) * $B;", "uint16_t", "uint8_t", "vpdpbusd", lambda a, b: a // 257 * b),
]


@pytest.fixture(scope="module")
def corners() -> Callable[[str, tuple[int, int]], np.ndarray]:
    chooser = np.random.default_rng(0)

    def made(c_type: str, shape: tuple[int, int]) -> np.ndarray:
        dtype = np.dtype(c_type.removesuffix("_t"))
        info = np.iinfo(dtype)
        ends = np.array([info.min, info.min + 1, 0, 1, info.max - 1, info.max, info.max // 2 + 1], dtype)
        return chooser.choice(ends, shape)

    return made


def test_other_words_are_the_same_function(corners: Callable[[str, tuple[int, int]], np.ndarray],
                                           tmp_path: Path) -> None:
    emitted = []
    for at, (statement, a, b, name, term) in enumerate(EQUAL):
        found = matched(program(statement, a, b), name)
        assert found.count, (statement, *map(str, found.explanations))
        emitted += [(at, term, emit_match(m, f"m{at}_{i}", EmissionOptions(emulated=True, parallel=False)))
                    for i, m in enumerate(found.with_mirrors)]
    for name in ("vpdpbusd", "vpdpwssd"):
        mine = [(at, term, f) for at, term, f in emitted if EQUAL[at][3] == name]
        library = compiled([f for _, _, f in mine], tmp_path, name)
        for at, term, function in mine:
            a, b = corners(EQUAL[at][1], (M, K)), corners(EQUAL[at][2], (K, N))
            c = np.full((M, N), 2147480000, np.int32)
            added = term(a.astype(np.int64)[:, :, None], b.astype(np.int64)[None]).sum(axis=1)
            wanted = wrapped(32)(c.astype(np.int64) + added).astype(np.int32)
            call(library, function, {"A": a, "B": b, "C": c})
            np.testing.assert_array_equal(c, wanted, err_msg=f"{EQUAL[at][0]}: {function.plan.match}")


ALMOST = [
    ("$C += (uint16_t)($A * $B);", "uint8_t", "int8_t", "vpdpbusd", "its own arithmetic"),
    ("$C += (int8_t)($A * $B);", "uint8_t", "int8_t", "vpdpbusd", "its own arithmetic"),
    ("$C = (int16_t)($C + $A * $B);", "uint8_t", "int8_t", "vpdpbusd", "its own arithmetic"),
    ("$C += (int16_t)($A * $B);", "int16_t", "int16_t", "vpdpwssd", "its own arithmetic"),
    ("$C += (2 * $A * $B) >> 1;", "int16_t", "int16_t", "vpdpwssd", "wants int16"),
    ("$C += ($A * $B + (1 << 14)) >> 15;", "int16_t", "int16_t", "vpdpwssd", "wants int16"),
    ("$C += ($A > 256 ? 256 : $A < 0 ? 0 : $A) * (int8_t)$B;", "int16_t", "int16_t", "vpdpbusd",
     "wants uint8: A[i][k] >"),
    ("$C += ($A >> 7) * ($B & 255);", "int16_t", "int16_t", "vpdpbusd", "wants int8: A[i][k] >> 7"),
    ("$C += 300 * $A * $B;", "int8_t", "int8_t", "vpdpwssd", "wants int16: 300 *"),
    ("$C -= $A * $B;", "uint8_t", "int8_t", "vpdpbusd", "wants int8: -B[k][j]"),
    ("$C += $A * $B - 3 * $A - 7 * $B + 22;", "uint8_t", "int8_t", "vpdpbusd", "one statement per product"),
    ("$C += $A * $B + 1;", "uint8_t", "int8_t", "vpdpbusd", "one statement per product: the update adds 2 terms"),
    ("$C += ($A - B[k][0]) * $B;", "uint8_t", "int8_t", "vpdpbusd", "z changes with k"),
    ("$C = $C * 2 + $A * $B;", "uint8_t", "int8_t", "vpdpbusd", "scale or combine C[i][j] in a statement of its own"),
    ("$C = $A * $B;", "uint8_t", "int8_t", "vpdpbusd", "write the sum as C[i][j] +="),
    ("$C = $C > $A * $B ? $C : $A * $B;", "uint8_t", "int8_t", "vpdpbusd", "does not have the form"),
    ("if ($A > 3) $C += $A * $B;", "uint8_t", "int8_t", "vpdpbusd", "let the condition choose an operand"),
    ("C[i][B[k][j] & 7] += $A;", "uint8_t", "int8_t", "vpdpbusd", "depends on data"),
    ("int8_t t = $A * $B; $C += t;", "uint8_t", "int8_t", "vpdpbusd", "A[i][k] = 255, B[k][j] = -128: "),
    ("int t = $C; $C = 0; $C += t + $A * $B;", "uint8_t", "int8_t", "vpdpbusd", "no match"),
    ("int s = $C + $A * $B; $C = s > 127 ? 127 : s;", "uint8_t", "int8_t", "vpdpbusd", "every sum to at most 127"),
    ("int s = $C + $A * $B; if (s > 127) s = 127; $C = s;", "uint8_t", "int8_t", "vpdpbusds", "to the range of int32"),
    # bounds that no sum leaves, around it or inside it something that counts
    ("int s = $C + $A * $B; $C = (int8_t)(s > 2147483647 ? 2147483647 : s);", "uint8_t", "int8_t", "vpdpbusd",
     "does not have the form"),
    ("int s = $C + $A * $B; $C = s > 2147483647u ? 2147483647 : s;", "uint8_t", "int8_t", "vpdpbusd",
     "does not have the form"),
    ("int s = $C + $A * $B; $C = s < -2147483647 - 1 ? -2147483647 - 1 : (int16_t)s;", "uint8_t", "int8_t", "vpdpbusd",
     "does not have the form"),
    ("$C += ($A % 300) * (int8_t)$B;", "int16_t", "int16_t", "vpdpbusd", "wants uint8: A[i][k] % 300"),
    ("$C += ($A % 7) * (int8_t)$B;", "int16_t", "int16_t", "vpdpbusd", "wants uint8: A[i][k] % 7"),   # -6 to 6
    ("$C += ($A * $B) >> 1;", "uint8_t", "int8_t", "vpdpbusd", "wants"),
    ("$C += (70 * i) * $B;", "uint8_t", "uint8_t", "vpdpbusd", "wants int8: 70 * i"),   # up to 280
    ("$C += $A * (uint8_t)($B + 1);", "uint8_t", "int8_t", "vpdpbusd", "wants int8: B[k][j] + 1"),   # not its bits
]


@pytest.mark.parametrize("case", ALMOST, ids=lambda case: case[0])
def test_what_is_almost_the_same_is_refused_with_its_reason(case: tuple[str, str, str, str, str]) -> None:
    statement, a, b, name, reason = case
    found = matched(program(statement, a, b), name)
    assert found.count == 0, str(found.matches[0])
    assert reason in "\n".join(map(str, found.explanations))


def test_an_unsigned_sum_wraps_to_the_same_bits(corners: Callable[[str, tuple[int, int]], np.ndarray],
                                                 tmp_path: Path) -> None:
    found = [matched(program(s, "uint8_t", "int8_t", "uint32_t"), "vpdpbusd")
             for s in ("$C += $A * $B;", "$C += ($A - 7) * ($B - 3);", "unsigned t = $A * $B; $C = t + $C;")]
    assert all(f.count for f in found), [str(e) for f in found for e in f.explanations]
    functions = [emit_match(m, f"u{at}_{i}", EmissionOptions(emulated=True, parallel=False))
                 for at, f in enumerate(found) for i, m in enumerate(f.with_mirrors)]
    library = compiled(functions, tmp_path, "unsigned")
    for function in functions:
        a, b, c = corners("uint8_t", (M, K)), corners("int8_t", (K, N)), corners("uint32_t", (M, N))
        x, y = (7, 3) if function.name.startswith("u1") else (0, 0)
        wanted = (c.astype(np.int64) + (a.astype(np.int64) - x) @ (b.astype(np.int64) - y)).astype(np.uint32)
        call(library, function, {"A": a, "B": b, "C": c})
        np.testing.assert_array_equal(c, wanted)
    saturating = matched(program("$C += $A * $B;", "uint8_t", "int8_t", "uint32_t"), "vpdpbusds")
    assert "accumulates in uint32, vpdpbusds in int32" in str(saturating.explanations[0])


SATURATED = [
    "int64_t t = (int64_t)$C + $A * $B; if (t > INT32_MAX) t = INT32_MAX; if (t < INT32_MIN) t = INT32_MIN; $C = t;",
    "int64_t t = $A * $B; t += $C; t = t < INT32_MIN ? INT32_MIN : t; $C = t > INT32_MAX ? INT32_MAX : t;",
]


def test_a_saturating_sum_through_a_named_scalar(corners: Callable[[str, tuple[int, int]], np.ndarray],
                                                 tmp_path: Path) -> None:
    found = [matched(program(s, "uint8_t", "int8_t"), "vpdpbusds") for s in SATURATED]
    functions = [emit_match(m, f"s{at}_{i}", EmissionOptions(emulated=True, parallel=False))
                 for at, f in enumerate(found) for i, m in enumerate(f.with_mirrors)]
    assert all(f.count for f in found)
    library = compiled(functions, tmp_path, "saturated")
    for function in functions:
        a, b, c = corners("uint8_t", (M, K)), corners("int8_t", (K, N)), corners("int32_t", (M, N))
        wanted = c.astype(np.int64)
        for k in range(K):
            wanted = np.clip(wanted + a[:, k, None].astype(int) * b[k], -1 << 31, (1 << 31) - 1)
        call(library, function, {"A": a, "B": b, "C": c})
        np.testing.assert_array_equal(c, wanted)


def test_a_fused_product_is_what_a_fused_instruction_computes() -> None:
    scop = program("$C = fmaf(-$A, $B, $C);", "float", "float", "float")
    strict = MatchOptions(numerics=Numerics(contract=False, reassociate=False))
    found = match(scop, find_intrinsic("fma_f32_avx512"), strict)
    assert found.count
    assert not found.matches[0].assumptions
    unfused = match(scop, find_intrinsic("axpy_unit"), strict)
    assert "rounds a product and its addition once, axpy_unit twice" in str(unfused.explanations[0])
    other = program("$C = fmaf($A, $C, $B);", "float", "float", "float")
    assert match(other, find_intrinsic("fma_f32_avx512")).count == 0


def test_a_wider_fused_product_is_rounded_twice_unless_one_rounding_is_allowed(tmp_path: Path) -> None:
    """`fma` of floats: to double, then to float, which is not always what the sum rounded once is."""
    scop = program("$C = fma($A, -$B, $C);", "float", "float", "float")
    found = match(scop, find_intrinsic("fma_f32_avx512"))
    assert "not to a wider one first" in "; ".join(found.matches[0].assumptions)
    functions = [emit_match(m, f"wide_{i}", EmissionOptions(emulated=True, parallel=False))
                 for i, m in enumerate(found.with_mirrors)]
    library = compiled(functions, tmp_path, "wide")
    chooser = np.random.default_rng(3)
    for function in functions:
        a, b, c = (chooser.integers(-99, 99, shape).astype(np.float32) for shape in ((M, K), (K, N), (M, N)))
        wanted = c - a @ b
        call(library, function, {"A": a, "B": b, "C": c})
        np.testing.assert_array_equal(c, wanted)
    refused = match(scop, find_intrinsic("fma_f32_avx512"), MatchOptions(numerics=Numerics(contract=False)))
    assert "rounds every sum to a wider type and then to float32" in str(refused.explanations[0])
    computed = program("$C = fma((double)$A * $A, $B, $C);", "float", "float", "float")
    assert match(computed, find_intrinsic("fma_f32_avx512")).count == 0


ITERATORS = ["$C += i * $B;", "$C += k * $B;", "$C += (i ^ k) * $B;", "$C += (i + j) * $B;", "$C += ($A & j) * $B;",
             "$C += ($A >> (k & 3)) * $B;", "$C += (uint8_t)(i - 3u) * $B;", "$C += (16 * k + i) * $B;",
             "$C += (60 * i) * $B;"]


@pytest.mark.parametrize("statement", ITERATORS)
def test_an_iterator_is_a_value_with_its_range(statement: str, corners: Callable[[str, tuple[int, int]], np.ndarray],
                                               tmp_path: Path) -> None:
    scop = program(statement, "uint8_t", "int8_t")
    found = match(scop, find_intrinsic("vpdpbusd"), MatchOptions(partial_sums=True, split=True))
    assert found.count, str(found.explanations[0])
    functions = [emit_match(m, f"i{i}", EmissionOptions(emulated=True, parallel=False))
                 for i, m in enumerate(found.with_mirrors)]
    library = compiled(functions, tmp_path, "iterators")
    for function in functions:
        arrays = {"A": corners("uint8_t", (M, K)), "B": corners("int8_t", (K, N)), "C": corners("int32_t", (M, N))}
        wanted = {name: values.copy() for name, values in arrays.items()}
        execute(scop, {}, wanted, wrap_signed=True)
        call(library, function, arrays)
        np.testing.assert_array_equal(arrays["C"], wanted["C"], err_msg=str(function.plan.match))


def test_a_product_that_is_rounded_before_it_is_added_is_no_wider_product() -> None:
    """A product of floats added to a double: the factors are doubles, the rounding is not in the instruction."""
    wide, narrow = (program(s, "float", "float", "double") for s in ("$C += (double)$A * $B;", "$C += $A * $B;"))
    assert match(wide, find_intrinsic("fma_f64_avx2")).count
    refused = match(narrow, find_intrinsic("fma_f64_avx2"))
    assert refused.count == 0, str(refused.matches[0])
    assert "its own arithmetic" in str(refused.explanations[0])
