"""polysched's own variant: the plain loop nest or tensor expression through every default of the program."""

from __future__ import annotations

import ctypes
import json
import math
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import workloads
from workloads import Workload

from polysched.emit_c import emit_function
from polysched.experiment import Entry
from polysched.experiment.listings import pack
from polysched.measure.measurement import Build, Listing
from polysched.measure.paired import text_sha256
from polysched.measure.processes.building import compile_shared
from polysched.pipeline.options import PipelineOptions
from polysched.scop.expression import (
    Tensor,
    axis,
    build,
    compute,
    erf,
    exp,
    placeholder,
    sum,
    tanh,
)
from polysched.scop.expression.operators import layer_norm, softmax
from polysched.scop.scop import Scop, Storage
from polysched.search import Budget, optimize, transform_file, tune
from polysched.target import find_compiler, host
from polysched.tiling import TilingOptions

NESTS = Path(__file__).parent / "nests"
C_TYPES = {"float32": "float", "float64": "double"}
OUTERMOST_IN_SPACE = re.compile(r"^ *for \(int i = .*$", re.MULTILINE)
EXPORT = "#pragma GCC visibility push(default)\n"


def softmax_scop(w: Workload) -> Scop:
    return build(softmax(placeholder("X", w.shapes["X"], w.dtype)), name="kernel")


def layer_norm_scop(w: Workload) -> Scop:
    x, gamma, beta = (placeholder(n, w.shapes[n], w.dtype) for n in ("X", "gamma", "beta"))
    return build(layer_norm(x, gamma, beta), name="kernel")


def gelu_scop(w: Workload) -> Scop:
    x, weights, bias = (placeholder(n, w.shapes[n], w.dtype) for n in ("X", "W", "bias"))
    k = axis("k")
    p = compute(w.shapes["Y"], lambda i, j: sum(x[i, k] * weights[k, j], over=k) + bias[j], name="P")
    y = compute(w.shapes["Y"], lambda i, j: 0.5 * p[i, j] * (1.0 + erf(p[i, j] * math.sqrt(0.5))), name="Y")
    return build(y, name="kernel")


def lstm_scop(w: Workload) -> Scop:
    x, h, c, wx, wh, bias = (placeholder(n, w.shapes[n], w.dtype) for n in ("x", "h", "c", "Wx", "Wh", "bias"))
    hidden, k, q = w.sizes["H"], axis("k"), axis("q")
    from_x = compute((w.sizes["BATCH"], 4 * hidden),
                     lambda b, j: sum(x[b, k] * wx[k, j], over=k), name="from_x")
    gates = compute((w.sizes["BATCH"], 4 * hidden),
                    lambda b, j: sum(h[b, q] * wh[q, j], over=q) + from_x[b, j] + bias[j], name="gates")

    def sigmoid(v: Any) -> Any:
        return 1.0 / (1.0 + exp(-v))
    c_new = compute((w.sizes["BATCH"], hidden),
                    lambda b, j: sigmoid(gates[b, j + hidden]) * c[b, j]
                    + sigmoid(gates[b, j]) * tanh(gates[b, j + 2 * hidden]), name="c_new")
    h_new: Tensor = compute((w.sizes["BATCH"], hidden),
                            lambda b, j: sigmoid(gates[b, j + 3 * hidden]) * tanh(c_new[b, j]), name="h_new")
    return build([h_new, c_new], name="kernel")


EXPRESSIONS: dict[str, Callable[[Workload], Scop]] = {
    "softmax": softmax_scop, "layer_norm": layer_norm_scop, "gelu": gelu_scop, "lstm": lstm_scop}


@dataclass(frozen=True, kw_only=True)
class Source:
    """What is compiled, and what a record keeps of it.

    Parameters
    ----------
    text, function : the C, and the function in it.
    names : of the function's arrays in order.
    steps : how the schedule came about.
    flags : of the compiler, which a search chose.
    looked_up : what was found in a database.
    """

    text: str
    function: str
    names: tuple[str, ...]
    steps: tuple[str, ...]
    listing: Listing
    flags: tuple[str, ...] = ()
    looked_up: str = ""


def source_of(workload: Workload, given: Mapping[str, Any]) -> Source:
    """The emitted C.

    Parameters
    ----------
    given : options of the pipeline.
    """
    if workload.kind in EXPRESSIONS:
        options = PipelineOptions(**given)
        made = optimize(EXPRESSIONS[workload.kind](workload), options)
        text = emit_function(made.tiled, name="kernel", options=made.options.emit_options()).text
        return Source(text=text, function="kernel", steps=made.steps(), listing=made.listing(),
                      flags=made.options.flags, looked_up=made.looked_up,
                      names=tuple(a.name for a in made.scop.arrays if a.storage is not Storage.LOCAL))
    defines = defines_of(workload)
    file = transform_file(NESTS / f"{workload.kind}.c", PipelineOptions(defines=defines, **given))
    (region,) = file.regions
    definitions = "".join(f"#define {d.replace('=', ' ', 1)}\n" for d in defines)
    return Source(text=definitions + file.text, function=workload.kind, names=tuple(workload.shapes),
                  steps=region.steps(), listing=region.listing(), flags=region.options.flags,
                  looked_up=region.looked_up)


def search(parameters: Mapping[str, Any], budget: Budget, report: Callable[[str], None]) -> None:
    """Search the recipe of a workload, and keep it in the database of the parameters."""
    workload = workloads.make(parameters["workload"])
    given = searched_options(parameters)
    program: Scop | Path = EXPRESSIONS[workload.kind](workload) if workload.kind in EXPRESSIONS else (
        NESTS / f"{workload.kind}.c")
    if isinstance(program, Path):
        given["defines"] = defines_of(workload)
    tune(program, options=PipelineOptions(**given), threads=parameters["threads"], budget=budget,
         database=parameters["database"], on_trial=lambda trial, count: report(f"searching, {count} candidates"))


def searched_options(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Options of the pipeline for the threads of a contest, which are part of what a record is about."""
    return {**parameters["polysched"],
            "tiling": TilingOptions(target=replace(host(), cores=parameters["threads"]))}


def searched_entry(parameters: Mapping[str, Any]) -> Entry:
    """The code of what a search found, out of its database."""
    workload = workloads.make(parameters["workload"])
    made = source_of(workload, {**searched_options(parameters), "database": parameters["database"]})
    found = loaded(workload, made.text, made.function, made.names, (*parameters["flags"], *made.flags), "")
    return replace(found, note=f"polysched, {made.looked_up}")


def defines_of(workload: Workload) -> tuple[str, ...]:
    """The type and the sizes of a nest."""
    return (f"TYPE={C_TYPES[workload.dtype]}", *(f"{n}={v}" for n, v in workload.sizes.items()))


def entry(parameters: Mapping[str, Any]) -> Entry:
    """Transform, compile and load; what a record keeps of the code is written where the parameters say."""
    workload = workloads.make(parameters["workload"])
    made = source_of(workload, parameters["polysched"])
    if parameters.get("keep"):
        Path(parameters["keep"]).write_text(made.text)
    Path(parameters["kept_values"]).write_text(json.dumps({"listings": pack([made.listing]), "steps": made.steps}))
    return loaded(workload, made.text, made.function, made.names, parameters["flags"], notes(made.steps))


def openmp_entry(parameters: Mapping[str, Any]) -> Entry:
    """The stencil's loop nest as it stands, the outermost loop over space given to OpenMP's threads."""
    workload = workloads.make(parameters["workload"])
    text = (NESTS / f"{workload.kind}.c").read_text()
    sizes = {"TYPE": C_TYPES[workload.dtype], **workload.sizes}
    definitions = "".join(f"#define {name} {value}\n" for name, value in sizes.items())
    parallel = OUTERMOST_IN_SPACE.sub(r"#pragma omp parallel for\n\g<0>", text)
    return loaded(workload, definitions + parallel, workload.kind, list(workload.shapes), parameters["flags"], "")


def loaded(workload: Workload, text: str, function: str, names: Sequence[str], flags: Sequence[str],
           note: str) -> Entry:
    """Compile a function and make its arguments; the arrays come in the order of `names`.

    A nest that adds to its result (C += A B) adds to whatever the call before left, so that its result stays where the
    threads wrote it, as every peer's does; what is compared is a call that starts from zero.
    """
    with tempfile.TemporaryDirectory(prefix="polysched-blas-") as folder:
        binary = compile_shared(EXPORT + text, name="ours", folder=Path(folder), compiler=find_compiler(),
                                flags=tuple(flags))
        called = ctypes.CDLL(str(binary.path))[function]
    build = Build(compiler=str(binary.compiler), version=binary.compiler.version, flags=binary.flags,
                  source_sha256=text_sha256(text), compile_seconds=round(binary.compile_seconds, 4))
    called.restype = None
    arrays = workload.inputs()
    pristine = {n: arrays[n].copy() for n in workload.in_place}
    pointers = [ctypes.c_void_p(arrays[n].ctypes.data) for n in names]

    def restore() -> None:
        for name, value in pristine.items():
            arrays[name][...] = value

    def results() -> workloads.Arrays:
        if workload.kind not in EXPRESSIONS and not workload.in_place:
            for name in workload.results:
                arrays[name][...] = 0
            called(*pointers)
        return {n: arrays[n] for n in workload.results}
    return Entry(call=lambda: called(*pointers), restore=restore, note=note, build=build, results=results)


def notes(steps: Sequence[str]) -> str:
    """The tiles that were chosen."""
    return "; ".join(step for step in steps if step.startswith("band"))
