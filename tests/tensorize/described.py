"""Units described in a line of C, programs in a few, and every match of one in the other executed by the emulator."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from polysched.pipeline import analysed
from polysched.scop import all_from_c_file, from_c_text
from polysched.scop.interpreter import execute, extents_of
from polysched.scop.scop import Scop
from polysched.tensorize import Intrinsic, Matches, MatchOptions, match
from polysched.tensorize.description.intrinsic import Cost, Isa, Operand, Register
from polysched.tensorize.emission import EmissionOptions, emit_match
from polysched.tensorize.program import tensorize
from tests.tensorize.compiled import call, compiled

ISA = Isa(name="mine", machine="none", manual="none")
LANES = Register(c_type="int", load="", store="", zero="")


def unit(name: str, parameters: str, body: str) -> Intrinsic:
    """An instruction that only the emulator executes."""
    operands = tuple(Operand(name=p.split("[")[0].split()[-1], register=LANES) for p in parameters.split(","))
    return Intrinsic(name=name, isa=ISA, section="none", cost=Cost(issue_cycles=1, latency_cycles=1), template="-",
                     semantics=f"void {name}({parameters}) {{ {body} }}", operands=operands)


def program(parameters: str, body: str) -> Scop:
    """A program of fixed sizes."""
    return from_c_text(f"#include <stdint.h>\n#include <stdlib.h>\nvoid f({parameters}) {{\n#pragma scop\n{body}\n"
                       "#pragma endscop\n}\n")


def programs_of(texts: Mapping[str, tuple[str, str]], folder: Path) -> dict[str, Scop]:
    """The Scop of every pair of parameters and body."""
    path = folder / "all.c"
    path.write_text("#include <stdint.h>\n#include <stdlib.h>\n" + "".join(
        f"void f{at}({parameters}) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
        for at, (parameters, body) in enumerate(texts.values())))
    return dict(zip(texts, all_from_c_file(str(path)), strict=True))


def matched(scop: Scop, intrinsic: Intrinsic, **options: Any) -> Matches:
    """All matches, behind the pipeline's own analysis."""
    dependences = analysed(scop, for_instructions=True).dependences
    return match(dependences.scop, intrinsic, MatchOptions(**options), dependences=dependences)


def filled(scop: Scop, seed: int = 2) -> dict[str, np.ndarray]:
    """Random values of the whole range of every array's type, its ends among them; small whole floats."""
    chooser = np.random.default_rng(seed)
    arrays = {}
    for array in scop.arrays:
        if array.is_temporary:
            continue
        low, high = (-9, 9) if array.dtype.is_float else array.dtype.value_range()
        shape = tuple(extents_of(array, {}))
        drawn = chooser.integers(low, high, shape, endpoint=True, dtype=np.int64 if high < 1 << 63 else np.uint64)
        ends = chooser.choice(np.array([low, high], drawn.dtype), shape)
        arrays[array.name] = np.where(chooser.random(shape) < 0.2, ends, drawn).astype(array.dtype.name)
    return arrays


def with_odd_floats(scop: Scop, seed: int = 2) -> dict[str, np.ndarray]:
    """As `filled`, but floats of many sizes, among them zeros of both signs, infinities and denormals."""
    chooser = np.random.default_rng(seed)
    arrays = filled(scop, seed)
    for name, values in arrays.items():
        if values.dtype.kind == "f":
            ends = np.array([0.0, -0.0, np.inf, np.finfo(values.dtype).tiny / 4, 1.0], values.dtype)
            drawn = (chooser.standard_normal(values.shape) * 10.0 ** chooser.integers(-7, 8, values.shape))
            odd = chooser.random(values.shape) < (0.15 if seed else 1.0)
            arrays[name] = np.where(odd, chooser.choice(ends[:2] if not seed else ends, values.shape),
                                    drawn.astype(values.dtype))
    return arrays


def executes(scop: Scop, found: Matches, folder: Path, name: str = "matches", *,
             fill: Callable[[Scop, int], dict[str, np.ndarray]] = filled) -> int:
    """How many matches compute all arrays bit for bit as the program does, mirror images included: it asserts all."""
    assert found.count, [*map(str, found.explanations), *found.refused]
    wholes = [tensorize(m) for m in found.with_mirrors]
    functions = [emit_match(w.match, f"m{at}", EmissionOptions(emulated=True, parallel=False, zero=w.zero))
                 for at, w in enumerate(wholes)]
    library = compiled(functions, folder, name)
    for seed in range(2):
        first = fill(scop, seed)
        wanted = {n: x.copy() for n, x in first.items()}
        execute(scop, {}, wanted | {a.name: np.zeros(tuple(extents_of(a, {})), a.dtype.name) for a in scop.arrays
                                    if a.is_temporary}, wrap_signed=True)
        for whole, function in zip(wholes, functions, strict=True):
            arrays = {n: x.copy() for n, x in first.items()}
            assert whole.after is None
            if whole.before is not None:
                execute(whole.before, {}, {a.name: arrays[a.name] for a in whole.before.arrays}, wrap_signed=True)
            call(library, function, arrays)
            for array, values in wanted.items():
                np.testing.assert_array_equal(arrays[array], values, err_msg=f"{array}: {whole.match}")
                if values.dtype.kind == "f":
                    signed = ~np.isnan(values)
                    np.testing.assert_array_equal(np.signbit(arrays[array][signed]), np.signbit(values[signed]),
                                                  err_msg=f"signs of {array}: {whole.match}")
    return len(wholes)
