"""A product of tensor cores as subscripts and bounds: what its text needs of isl."""

from __future__ import annotations

from dataclasses import replace

import islpy as isl

from polysched.emit_c.generation.ast_reader import read_function
from polysched.emit_c.loop_ir.index import Condition, Linear
from polysched.emit_gpu.fixed_values import bounds, when
from polysched.gpu.instances import fixed, image_of
from polysched.gpu.mapping import Launch, Phase, TensorOperand, TensorProduct
from polysched.gpu.staging import Names, element_of
from polysched.records import dataclass
from polysched.scop.scop import Scop


@dataclass(frozen=True, eq=False, kw_only=True)
class TensorMatrix:
    """A matrix of a product.

    Parameters
    ----------
    operand : of the product.
    subscripts : of its element at values of the coordinates and of the step.
    shared : the name of its tile in shared memory; empty for the result.
    """

    operand: TensorOperand
    subscripts: tuple[Linear, ...]
    shared: str


@dataclass(frozen=True, eq=False, kw_only=True)
class TensorLoops:
    """What a block computes on tensor cores.

    Parameters
    ----------
    product : of the mapping.
    step : the variable that the subscripts have for the step.
    result, left, right : the matrices.
    ranges : per coordinate the first value with a product, and one past the last.
    steps : the same of the step.
    condition : that there is any product; None where there always is.
    """

    product: TensorProduct
    step: str
    result: TensorMatrix
    left: TensorMatrix
    right: TensorMatrix
    ranges: tuple[tuple[Linear, Linear], ...]
    steps: tuple[Linear, Linear]
    condition: Condition | None = None


def tensor_loops(scop: Scop, launch: Launch, phase: Phase, places: Names, step: str, runs: isl.Set,
                 shared: tuple[str, str]) -> TensorLoops:
    """The bounds and subscripts of a phase that is a product.

    Parameters
    ----------
    step : a name for the value of the step.
    runs : what holds of the parameters and of the loops of the host.
    shared : names of the tiles of both operands.
    """
    product = phase.tensor
    assert product is not None, "the phase is a product"
    assert phase.step is not None, "a product has steps"
    inside = fixed(phase.domain, dict(zip(places.host, launch.host, strict=True)))
    named = replace(places, tile=step)

    def matrix(operand: TensorOperand, name: str) -> TensorMatrix:
        access = next(own for statement in scop.statements if launch.runs_any_of(statement, phase.domain)
                      for own in statement.accesses if own.reference == operand.reference)
        element = element_of(launch, phase, access, named)
        assert element is not None, "an operand of a product is one element"
        subscripts = tuple(read_function(element.get_pw_aff(k)) for k in range(element.dim(isl.dim_type.out)))
        return TensorMatrix(operand=operand, subscripts=subscripts, shared=name)

    return TensorLoops(product=product, step=step, result=matrix(product.result, ""),
                       left=matrix(product.left, shared[0]), right=matrix(product.right, shared[1]),
                       ranges=tuple(bounds(image_of(inside, own), runs) for own in launch.coordinates),
                       steps=bounds(image_of(inside, phase.step), runs),
                       condition=when(isl.Set.from_union_set(inside), runs))
