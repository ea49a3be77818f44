"""Random affine programs: the instances that run, their order, and the result are those of the compiled program."""

import ctypes

import numpy as np
import pytest

from polysched.scop import from_c_text
from polysched.scop.interpreter import execute
from polysched.scop.scop import AccessKind, Storage
from tests.scop.c_frontend.compiled_c import compile_library
from tests.scop.c_frontend.program_generator import PARAMETERS, SIZE, program
from tests.tiers import and_campaign

PROGRAMS = 7


def arrays(seed):
    generator = np.random.default_rng(seed)
    return {"A": generator.integers(-5, 6, SIZE).astype(np.int32),
            "B": generator.integers(-5, 6, (20, SIZE)).astype(np.int32),
            "s": generator.integers(-5, 6, 2).astype(np.int32)}


def run_compiled(library, seed, *extra):
    """The arrays after the compiled program."""
    values = arrays(seed)
    getattr(library, f"f{seed}")(PARAMETERS["n"], PARAMETERS["m"],
                                 *(v.ctypes.data_as(ctypes.c_void_p) for v in (*values.values(), *extra)))
    return values


def run_interpreted(scop, seed):
    """The arrays after the interpreter, and the instances in the order in which they ran."""
    values = arrays(seed)
    memory = {a.name: values[a.name] if a.name in values else np.array(3, dtype=np.int32)
              for a in scop.arrays if a.storage is not Storage.LOCAL}
    order = []
    known = {**PARAMETERS, **{f"{name}[{at}]": int(v) for name in "As" for at, v in enumerate(values[name])}}
    execute(scop, {p.name: known[p.spelling] for p in scop.parameters}, memory, wrap_signed=True,
            trace=lambda name, instance: order.append((name, tuple(instance))))
    return values, order


def logged_instances(log):
    """Number and counters of each logged assignment, in the order of the compiled program."""
    found = []
    for value in log[:np.flatnonzero(log == -1000)[0]]:
        if value >= 1000:
            found.append([int(value)])
        else:
            found[-1].append(int(value))
    return [(number, tuple(counters)) for number, *counters in found]


def library_of(seeds, folder, **options):
    """The programs of several seeds in one library, one function each."""
    text = "".join(program(s, name=f"f{s}", **options) for s in seeds)
    return compile_library(text.replace("#pragma", "// "), "programs", folder)


@pytest.mark.parametrize("batch", and_campaign(range(3), range(5)))
def test_affine_programs(tmp_path, batch):
    seeds = range(batch * PROGRAMS, (batch + 1) * PROGRAMS)
    library = library_of(seeds, tmp_path, logged=True)
    for seed in seeds:
        text = program(seed)
        scop = from_c_text(text)
        log = np.zeros(200_000, dtype=np.int64)
        compiled = run_compiled(library, seed, log)
        interpreted, order = run_interpreted(scop, seed)
        assert scop.schedule.get_domain().is_equal(scop.domain)
        for name, expected in compiled.items():
            np.testing.assert_array_equal(interpreted[name], expected, err_msg=f"seed {seed}\n{text}")
        logged = logged_instances(log)
        assert [i for _, i in order] == [i for _, i in logged], f"seed {seed}\n{text}"
        assert len({(a, b) for (a, _), (b, _) in zip(order, logged, strict=True)}) == len({a for a, _ in order})
        assert all(a.exact and a.kind is not AccessKind.MAY_WRITE for s in scop.statements for a in s.accesses)


@pytest.mark.parametrize("batch", and_campaign(range(3), range(5)))
def test_programs_with_conditions_on_data(tmp_path, batch):
    seeds = range(10_000 + batch * PROGRAMS, 10_000 + (batch + 1) * PROGRAMS)
    library = library_of(seeds, tmp_path, data=True)
    for seed in seeds:
        text = program(seed, data=True)
        scop = from_c_text(text)
        compiled = run_compiled(library, seed)
        interpreted, _ = run_interpreted(scop, seed)
        for name, expected in compiled.items():
            np.testing.assert_array_equal(interpreted[name], expected, err_msg=f"seed {seed}\n{text}")
