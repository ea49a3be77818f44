"""Halide's algorithms for the workloads, scheduled by one of the autoschedulers that its wheel brings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import halide as hl
import workloads
from workloads import Arrays, Workload

from polysched.experiment import Entry
from polysched.target import host

Stage = Callable[[Workload, dict[str, Any], str], Any]


def sum_over(name: str, value: Any, place: list[Any], zero: Any) -> Any:
    """A function that sums over the reduction domain inside `value`."""
    total = hl.Func(name)
    total[place] = zero
    total[place] += value
    return total


def product(w: Workload, a: dict[str, Any], name: str) -> Any:
    i, j, k, out = hl.Var("i"), hl.Var("j"), hl.RDom([(0, w.sizes["K"])]), hl.Func(name)
    total = sum_over("total", a["A"][k.x, i] * a["B"][j, k.x], [j, i], zero_of(w))
    out[j, i] = total[j, i]
    return out


def batched_product(w: Workload, a: dict[str, Any], name: str) -> Any:
    b, i, j, k, out = hl.Var("b"), hl.Var("i"), hl.Var("j"), hl.RDom([(0, w.sizes["K"])]), hl.Func(name)
    total = sum_over("total", a["A"][k.x, i, b] * a["B"][j, k.x, b], [j, i, b], zero_of(w))
    out[j, i, b] = total[j, i, b]
    return out


def convolution(w: Workload, a: dict[str, Any], name: str) -> Any:
    o, y, x, out, r = hl.Var("o"), hl.Var("y"), hl.Var("x"), hl.Func(name), w.sizes["R"]
    d = hl.RDom([(0, r), (0, r), (0, w.sizes["K"])])
    total = sum_over("total", a["X"][x + d.x, y + d.y, d.z] * a["W"][d.x, d.y, d.z, o], [x, y, o], zero_of(w))
    out[x, y, o] = total[x, y, o]
    return out


def depthwise(w: Workload, a: dict[str, Any], name: str) -> Any:
    c, y, x, out, r = hl.Var("c"), hl.Var("y"), hl.Var("x"), hl.Func(name), w.sizes["R"]
    d = hl.RDom([(0, r), (0, r)])
    total = sum_over("total", a["X"][x + d.x, y + d.y, c] * a["W"][d.x, d.y, c], [x, y, c], zero_of(w))
    out[x, y, c] = total[x, y, c]
    return out


def softmax(w: Workload, a: dict[str, Any], name: str) -> Any:
    i, j, k, out = hl.Var("i"), hl.Var("j"), hl.RDom([(0, w.sizes["N"])]), hl.Func(name)
    largest, e = hl.Func("largest"), hl.Func("e")
    largest[i] = a["X"][0, i]
    largest[i] = hl.max(largest[i], a["X"][k.x, i])
    e[j, i] = hl.exp(a["X"][j, i] - largest[i])
    total = sum_over("total", e[k.x, i], [i], zero_of(w))
    out[j, i] = e[j, i] / total[i]
    return out


def layer_norm(w: Workload, a: dict[str, Any], name: str) -> Any:
    n = w.sizes["N"]
    i, j, k, out = hl.Var("i"), hl.Var("j"), hl.RDom([(0, n)]), hl.Func(name)
    total = sum_over("total", a["X"][k.x, i], [i], zero_of(w))
    centred = hl.Func("centred")
    centred[j, i] = a["X"][j, i] - total[i] / hl.f32(n)
    squares = sum_over("squares", centred[k.x, i] * centred[k.x, i], [i], zero_of(w))
    out[j, i] = centred[j, i] / hl.sqrt(squares[i] / hl.f32(n) + hl.f32(1e-5)) * a["gamma"][j] + a["beta"][j]
    return out


def jacobi(w: Workload, a: dict[str, Any], name: str) -> Any:
    i, j, out, old = hl.Var("i"), hl.Var("j"), hl.Func(name), a["a"]
    out[j, i] = hl.f64(0.2) * (old[j, i] + old[j - 1, i] + old[j + 1, i] + old[j, i - 1] + old[j, i + 1])
    return out


def heat(w: Workload, a: dict[str, Any], name: str) -> Any:
    i, j, k, out, old = hl.Var("i"), hl.Var("j"), hl.Var("k"), hl.Func(name), a["a"]

    def curvature(before: Any, after: Any) -> Any:
        return hl.f64(0.125) * (after - hl.f64(2.0) * old[k, j, i] + before)
    out[k, j, i] = (curvature(old[k, j, i - 1], old[k, j, i + 1]) + curvature(old[k, j - 1, i], old[k, j + 1, i])
                    + curvature(old[k - 1, j, i], old[k + 1, j, i]) + old[k, j, i])
    return out


STAGES: dict[str, Stage] = {f.__name__: f for f in (product, batched_product, convolution, depthwise, softmax,
                                                    layer_norm, jacobi, heat)}
KINDS = tuple(STAGES)


def zero_of(w: Workload) -> Any:
    return hl.f32(0) if w.dtype == "float32" else hl.f64(0)


def target_here() -> Any:
    """This machine, less AVX-512 where the processor's model promises it and a hypervisor hides it."""
    target = hl.get_jit_target_from_environment()
    shown = host().features
    for name, feature in hl.TargetFeature.__members__.items():
        if shown and "avx512f" not in shown and name.startswith("AVX512") and target.has_feature(feature):
            target = target.without_feature(feature)
    return target


def scheduled(w: Workload, parameters: Mapping[str, Any], extent: list[tuple[int, int]]) -> tuple[Any, Any]:
    """The compiled pipeline, and its inputs by name."""
    kind = hl.Float(32) if w.dtype == "float32" else hl.Float(64)
    inputs = {n: hl.ImageParam(kind, len(s), n) for n, s in w.shapes.items() if n not in w.results or n in w.in_place}
    for name, parameter in inputs.items():
        parameter.set_estimates([(0, e) for e in reversed(w.shapes[name])])
    output = STAGES[w.kind](w, inputs, "out")
    output.set_estimates(extent)
    pipeline = hl.Pipeline(output)
    target = target_here()
    name = parameters["autoscheduler"]
    (library,) = Path(hl.__file__).parent.rglob(f"libautoschedule_{name.lower()}.so")
    hl.load_plugin(str(library))
    pipeline.apply_autoscheduler(target, hl.AutoschedulerParams(name, {"parallelism": str(parameters["threads"])}))
    pipeline.compile_jit(target)
    return pipeline, inputs


def entry(parameters: Mapping[str, Any]) -> Entry:
    """Halide's variant; HL_NUM_THREADS gives the threads."""
    w = workloads.make(parameters["workload"])
    arrays = w.inputs()
    pristine = {n: arrays[n].copy() for n in w.in_place}

    def restore() -> None:
        for name, value in pristine.items():
            arrays[name][...] = value
    call = stencil(w, arrays, parameters) if w.in_place else single(w, arrays, parameters)
    return Entry(call=call, restore=restore, results=lambda: {n: arrays[n] for n in w.results},
                 note=f"Halide, {parameters['autoscheduler']}")


def single(w: Workload, arrays: Arrays, parameters: Mapping[str, Any]) -> Callable[[], None]:
    """One realisation."""
    (result,) = w.results
    pipeline, inputs = scheduled(w, parameters, [(0, e) for e in reversed(w.shapes[result])])
    for name, parameter in inputs.items():
        parameter.set(hl.Buffer(arrays[name]))
    out = hl.Buffer(arrays[result])
    return lambda: pipeline.realize(out)


def stencil(w: Workload, arrays: Arrays, parameters: Mapping[str, Any]) -> Callable[[], None]:
    """Two half steps at a time: Halide has no loop over time."""
    interior = [(1, e - 2) for e in reversed(w.shapes["a"])]
    pipeline, inputs = scheduled(w, parameters, interior)
    whole = {n: hl.Buffer(arrays[n]) for n in ("a", "b")}
    inner = {n: hl.Buffer(arrays[n][tuple(slice(1, -1) for _ in w.shapes[n])]) for n in ("a", "b")}
    for buffer in inner.values():
        buffer.set_min([1] * len(interior))

    def call() -> None:
        for _ in range(w.sizes["STEPS"]):
            inputs["a"].set(whole["a"])
            pipeline.realize(inner["b"])
            inputs["a"].set(whole["b"])
            pipeline.realize(inner["a"])
    return call

