"""The bare instruction on registers: the C that executes it, and what it has computed when it is done."""

from __future__ import annotations

import platform
from dataclasses import dataclass

from polysched.tensorize.conformance.conformance import fill_in
from polysched.tensorize.description.exact_arithmetic import PRELUDE
from polysched.tensorize.description.intrinsic import Intrinsic
from polysched.tensorize.description.semantics import C_NAMES

MOST_ACCUMULATORS = 12
REPEATS, TILE_REPEATS = 500_000, 20_000    # about a millisecond each
EXACT_SUM = 1 << 23                        # a float counts so far by ones
CONSTRAINTS = {"x86_64": "v", "aarch64": "w", "riscv64": "vr"}


@dataclass(frozen=True, kw_only=True)
class Bare:
    """A function `bare(times, inputs..., zeros, out)` that every thread of a team executes.

    Parameters
    ----------
    inputs : name, element type and elements of every input, which are ones.
    shape : of `out`, elements of the results by thread and accumulator.
    result : what every element of `out` is afterwards.
    operations : multiplications and additions of a call.
    """

    text: str
    flags: tuple[str, ...]
    times: int
    inputs: tuple[tuple[str, str, int], ...]
    dtype: str
    shape: tuple[int, int, int]
    result: int
    operations: int


def bare(intrinsic: Intrinsic, threads: int) -> Bare:
    """As many accumulators as hide the latency and as there are registers for."""
    output = intrinsic.output
    inputs = [o for o in intrinsic.operands if o.name != output.name]
    register = intrinsic.operand(output.name).register
    numbered = not register.c_type
    accumulators = min(MOST_ACCUMULATORS, register.count - len(inputs))
    products = 1
    for dimension in intrinsic.contraction.dimensions:
        products *= int(dimension.extent)
    depth = products // output.elements
    times = min(TILE_REPEATS if numbered else REPEATS, EXACT_SUM // depth)
    variables = {o.name: intrinsic.parsed.operand(o.name) for o in inputs}
    return Bare(text=bare_c(intrinsic, accumulators), flags=intrinsic.isa.flags, times=times,
                inputs=tuple((n, v.dtype.name, v.elements) for n, v in variables.items()),
                dtype=output.dtype.name, shape=(threads, accumulators, output.elements), result=times * depth,
                operations=2 * products * accumulators * times * threads)


def bare_c(intrinsic: Intrinsic, accumulators: int) -> str:
    """The C of the function."""
    output = intrinsic.output.name
    inputs = [o for o in intrinsic.operands if o.name != output]
    kind, c_type = intrinsic.operand(output).register, C_NAMES[intrinsic.output.dtype.name]
    numbered = not kind.c_type
    names = {o.name: str(i) if numbered else f"r{o.name}" for i, o in enumerate(inputs)}
    results = [str(len(inputs) + i) if numbered else f"c{i}" for i in range(accumulators)]
    row = str(intrinsic.row_bytes(output))
    lines = [fill_in(intrinsic.isa.prepare, refuse="abort()"), "#pragma omp parallel", "{", intrinsic.configure]
    lines += [f"{o.register.c_type} {names[o.name]};" for o in inputs if not numbered]
    lines += [f"{kind.c_type} {r};" for r in results if not numbered]
    lines += [fill_in(o.register.load, register=names[o.name], pointer=o.name, stride=str(intrinsic.row_bytes(o.name)))
              for o in inputs]
    lines += [fill_in(kind.load, register=r, pointer="zeros", stride=row) for r in results]
    lines.append("for (long n = 0; n < times; n++) {")
    for r in results:   # nothing that a template computes of inputs alone may be computed once for all
        opaque = [] if numbered else [*(names[o.name] for o in inputs), r]
        lines += [f'asm volatile("" : "+{CONSTRAINTS[platform.machine()]}"({x}));' for x in opaque]
        lines.append(fill_in(intrinsic.template, **{**names, output: r}))
    lines += ["}", f"{c_type} *mine = out + omp_get_thread_num() * {accumulators * intrinsic.output.elements}L;"]
    lines += [fill_in(kind.store, register=r, pointer=f"(mine + {i * intrinsic.output.elements})", stride=row)
              for i, r in enumerate(results)]
    lines += [intrinsic.finish, "}"]
    headers = "".join(f"#include <{h}>\n" for h in intrinsic.isa.headers)
    parameters = "".join(f", const {C_NAMES[intrinsic.parsed.operand(o.name).dtype.name]} *{o.name}" for o in inputs)
    return (f"{headers}#include <omp.h>\n#include <stdlib.h>\n{PRELUDE}"
            f"void bare(long times{parameters}, const {c_type} *zeros, {c_type} *out)\n{{\n"
            + "\n".join(lines) + "\n}\n")
