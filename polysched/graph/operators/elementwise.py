"""Operators of one operand, element by element: arithmetic, functions of math.h, activations."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from polysched.graph.operators.operator import Kind, Operator, Site
from polysched.graph.values.refusals import Remedy
from polysched.graph.values.types import TensorType
from polysched.scop.dtypes import BOOL, DType
from polysched.scop.dtypes import Kind as ElementKind
from polysched.scop.expression import Expression, absolute, maximum, minimum, not_equal, where
from polysched.scop.expression import math_function as call
from polysched.scop.expression.tensors import Constant, Convert

ANY, NUMBERS, INTEGERS, FLOATS, TRUTH = "any", "numbers", "integers", "floating", "truth values"


def fits(dtype: DType, wanted: str) -> bool:
    """Whether an operator that takes such elements takes this type."""
    return {ANY: True, NUMBERS: dtype != BOOL, FLOATS: dtype.is_float, TRUTH: dtype == BOOL,
            INTEGERS: dtype.is_integer and dtype != BOOL}[wanted]


def _allowed(site: Site, wanted: str) -> TensorType:
    """The operand's type, where the operator takes it."""
    own = site.type()
    if not fits(own.dtype, wanted):
        raise site.refusal(f"the operand has elements of {own.dtype}, {wanted} are wanted", 0, hint=Remedy.CONVERT)
    return own


def unary(name: str, element: Callable[..., Expression], reference: Callable[..., Any], *, takes: str = FLOATS,
          truth: bool = False, words: Mapping[str, tuple[str, ...]] | None = None) -> Operator:
    """An operator of one operand; `element` and `reference` may take the site as second argument.

    Parameters
    ----------
    truth : the result is a truth value.
    words : see `Operator`.
    """
    def types(site: Site) -> tuple[TensorType, ...]:
        own = _allowed(site, takes)
        return (own.with_dtype(BOOL) if truth else own,)

    def computed(site: Site, x: np.ndarray, *_: np.ndarray | None) -> np.ndarray:
        with np.errstate(all="ignore"):
            result: np.ndarray = np.asarray(reference(site, x))
        return result if truth else result.astype(x.dtype)

    return Operator(name=name, kind=Kind.ELEMENTWISE, types=types, reference=computed, element=element,
                    words=words or {})


def _math(name: str, function: str, reference: Callable[[np.ndarray], np.ndarray]) -> Operator:
    return unary(name, lambda site, x: call(function, x), lambda site, x: reference(x))


def erf(x: np.ndarray) -> np.ndarray:
    """The error function of every element."""
    flat = [math.erf(v) for v in x.astype(np.float64).ravel()]
    return np.array(flat, np.float64).reshape(x.shape)


def _sigmoid(x: Expression) -> Expression:
    return 1.0 / (1.0 + call("exp", -x))


def _np_sigmoid(x: np.ndarray) -> np.ndarray:
    wide = x.astype(np.float64)
    return np.where(wide >= 0, 1 / (1 + np.exp(-np.abs(wide))), np.exp(-np.abs(wide)) / (1 + np.exp(-np.abs(wide))))


def _softplus(x: Expression) -> Expression:
    return where(not_equal(x, x), x, maximum(x, 0.0) + call("log1p", call("exp", -absolute(x))))


def _negative(site: Site, x: Expression) -> Expression:
    return -x if site.type().dtype.is_signed else 0 - x


def _sign(site: Site, x: Expression) -> Expression:
    dtype = site.type().dtype
    one, zero = Convert(Constant(1), dtype), Convert(Constant(0), dtype)
    if not dtype.is_signed:
        return where(x > 0, one, zero)
    return where(x > 0, one, where(x < 0, 0 - one, where(not_equal(x, x), x, zero) if dtype.is_float else zero))


def _absolute(site: Site, x: Expression) -> Expression:
    dtype = site.type().dtype
    return x if dtype.kind is ElementKind.UNSIGNED else absolute(x)


def _relu(site: Site, x: Expression) -> Expression:
    return where(x < 0, Convert(Constant(0), site.type().dtype), x)


def _leaky(site: Site, x: Expression) -> Expression:
    return where(x < 0, x * site.attribute("alpha", 0.01), x)


def _elu(site: Site, x: Expression) -> Expression:
    return where(x < 0, (call("exp", minimum(x, 0.0)) - 1.0) * site.attribute("alpha", 1.0), x)


def _celu(site: Site, x: Expression) -> Expression:
    alpha = site.attribute("alpha", 1.0)
    return where(x < 0, (call("exp", minimum(x, 0.0) / alpha) - 1.0) * alpha, x)


SELU_ALPHA, SELU_GAMMA = 1.67326319217681884765625, 1.05070102214813232421875
GELU_CUBIC = 0.044715


def _selu(site: Site, x: Expression) -> Expression:
    alpha, gamma = site.attribute("alpha", SELU_ALPHA), site.attribute("gamma", SELU_GAMMA)
    return where(x < 0, (call("exp", minimum(x, 0.0)) * alpha - alpha) * gamma, x * gamma)


def _hard_sigmoid(site: Site, x: Expression) -> Expression:
    value = x * site.attribute("alpha", 0.2) + site.attribute("beta", 0.5)
    return where(not_equal(x, x), x, maximum(0.0, minimum(1.0, value)))


def _np_hard_sigmoid(site: Site, x: np.ndarray) -> Any:
    return np.clip(x * site.attribute("alpha", 0.2) + site.attribute("beta", 0.5), 0, 1)


def _thresholded(site: Site, x: Expression) -> Expression:
    return where(x > site.attribute("alpha", 1.0), x, Convert(Constant(0), site.type().dtype))


def _gelu(site: Site, x: Expression) -> Expression:
    if site.attribute("approximate", "none") == "tanh":
        return x * 0.5 * (call("tanh", (x + x * x * x * GELU_CUBIC) * math.sqrt(2 / math.pi)) + 1.0)
    return x * 0.5 * (call("erf", x * math.sqrt(0.5)) + 1.0)


def _np_gelu(site: Site, x: np.ndarray) -> Any:
    wide = x.astype(np.float64)
    if site.attribute("approximate", "none") == "tanh":
        return 0.5 * wide * (1 + np.tanh(math.sqrt(2 / math.pi) * (wide + GELU_CUBIC * wide ** 3)))
    return 0.5 * wide * (1 + erf(wide * math.sqrt(0.5)))


def _shrink(site: Site, x: Expression) -> Expression:
    bias, limit, dtype = site.attribute("bias", 0.0), site.attribute("lambd", 0.5), site.type().dtype
    value = x if dtype.is_float else x.astype("float32")
    return where(value < -limit, value + bias, where(value > limit, value - bias, 0.0)).astype(dtype)


def _np_shrink(site: Site, x: np.ndarray) -> np.ndarray:
    bias, limit = site.attribute("bias", 0.0), site.attribute("lambd", 0.5)
    return np.where(x < -limit, x + bias, np.where(x > limit, x - bias, 0))


def _is_infinite(site: Site, x: Expression) -> Expression:
    found: list[Expression] = []
    if site.attribute("detect_positive", 1):
        found.append(x >= float("inf"))
    if site.attribute("detect_negative", 1):
        found.append(x <= float("-inf"))
    if not found:
        return (x < x)
    return found[0] if len(found) == 1 else found[0] | found[1]


def _np_is_infinite(site: Site, x: np.ndarray) -> Any:
    return ((x == np.inf) & bool(site.attribute("detect_positive", 1))) | (
        (x == -np.inf) & bool(site.attribute("detect_negative", 1)))


def _mish(site: Site, x: Expression) -> Expression:
    return x * call("tanh", _softplus(x))


def _np_softplus(x: np.ndarray) -> np.ndarray:
    return np.logaddexp(x.astype(np.float64), 0)


def _np_elu(x: np.ndarray, alpha: float) -> np.ndarray:
    return np.where(x < 0, alpha * np.expm1(np.minimum(x, 0).astype(np.float64)), x)


def _np_celu(x: np.ndarray, alpha: float) -> np.ndarray:
    return np.where(x < 0, alpha * np.expm1(np.minimum(x, 0).astype(np.float64) / alpha), x)


FUNCTIONS = (
    _math("Exp", "exp", np.exp), _math("Log", "log", np.log), _math("Log2", "log2", np.log2),
    _math("Log10", "log10", np.log10), _math("Sqrt", "sqrt", np.sqrt),
    _math("Sin", "sin", np.sin), _math("Cos", "cos", np.cos), _math("Tan", "tan", np.tan),
    _math("Asin", "asin", np.arcsin), _math("Acos", "acos", np.arccos), _math("Atan", "atan", np.arctan),
    _math("Sinh", "sinh", np.sinh), _math("Cosh", "cosh", np.cosh), _math("Tanh", "tanh", np.tanh),
    _math("Asinh", "asinh", np.arcsinh), _math("Acosh", "acosh", np.arccosh), _math("Atanh", "atanh", np.arctanh),
    _math("Erf", "erf", erf), _math("Floor", "floor", np.floor), _math("Ceil", "ceil", np.ceil),
    _math("Round", "rint", np.rint))

ARITHMETIC = (
    unary("Abs", _absolute, lambda site, x: np.abs(x), takes=NUMBERS),
    unary("Neg", _negative, lambda site, x: -x, takes=NUMBERS),
    unary("Sign", _sign, lambda site, x: np.sign(x), takes=NUMBERS),
    unary("Reciprocal", lambda site, x: 1.0 / x, lambda site, x: 1 / x),
    unary("Rsqrt", lambda site, x: 1.0 / call("sqrt", x), lambda site, x: 1 / np.sqrt(x.astype(np.float64))),
    unary("Not", lambda site, x: ~x, lambda site, x: ~x, takes=TRUTH),
    unary("BitwiseNot", lambda site, x: ~x, lambda site, x: ~x, takes=INTEGERS),
    unary("IsNaN", lambda site, x: not_equal(x, x), lambda site, x: np.isnan(x), truth=True),
    unary("IsInf", _is_infinite, _np_is_infinite, truth=True))

ACTIVATIONS = (
    unary("Relu", _relu, lambda site, x: np.where(x < 0, 0, x), takes=NUMBERS),
    unary("Sigmoid", lambda site, x: _sigmoid(x), lambda site, x: _np_sigmoid(x)),
    unary("Softplus", lambda site, x: _softplus(x), lambda site, x: _np_softplus(x)),
    unary("Softsign", lambda site, x: x / (absolute(x) + 1.0), lambda site, x: x / (1 + np.abs(x))),
    unary("Elu", _elu, lambda site, x: _np_elu(x, site.attribute("alpha", 1.0))),
    unary("Celu", _celu, lambda site, x: _np_celu(x, site.attribute("alpha", 1.0))),
    unary("Selu", _selu, lambda site, x: site.attribute("gamma", SELU_GAMMA) * _np_elu(
        x, site.attribute("alpha", SELU_ALPHA))),
    unary("LeakyRelu", _leaky, lambda site, x: np.where(x < 0, x * site.attribute("alpha", 0.01), x)),
    unary("ThresholdedRelu", _thresholded, lambda site, x: np.where(x > site.attribute("alpha", 1.0), x, 0)),
    unary("HardSigmoid", _hard_sigmoid, _np_hard_sigmoid),
    unary("HardSwish", lambda site, x: x * maximum(0.0, minimum(1.0, x * (1 / 6) + 0.5)),
          lambda site, x: x * np.clip(x / 6 + 0.5, 0, 1)),
    unary("Mish", _mish, lambda site, x: x * np.tanh(_np_softplus(x))),
    unary("Swish", lambda site, x: x * _sigmoid(x * site.attribute("alpha", 1.0)),
          lambda site, x: x * _np_sigmoid(x * site.attribute("alpha", 1.0))),
    unary("Gelu", _gelu, _np_gelu, words={"approximate": ("none", "tanh")}),
    unary("Shrink", _shrink, _np_shrink, takes=NUMBERS))

OPERATORS = (*FUNCTIONS, *ARITHMETIC, *ACTIVATIONS)
