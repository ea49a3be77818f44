"""Ways to draw nodes that sum up: reductions, running sums, products of matrices, equations, quantised products."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from polysched.fuzz.onnx_models.drawing import Known, ModelDrawing

ROUGH = (*("float32",) * 6, "float64")
SUMS = ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceLogSum",
        "ReduceLogSumExp", "ReduceSumSquare")
BYTES = ("int8", "uint8")
EQUATIONS = ("ij,jk->ik", "bij,bjk->bik", "ij->ji", "ij->", "ij->i", "i,i->", "i,j->ij", "bhqd,bhkd->bhqk", "ij,ij->i",
             "ij,jk", "...ij,...jk->...ik", "bij,bij->b", "ii->i", "ii->", "ij,j->i", "i...,i...->...", "ab,bc,cd->ad",
             "abc->cab", "ij,kj->ki")


def _filled(known: Known) -> bool:
    return 0 not in known.shape


def reduced(d: ModelDrawing) -> None:
    """Sums, products, norms; axes left out, as an attribute or as an operand, and none at all."""
    op = d.draw.choice(SUMS)
    plain = op in ("ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceSumSquare")
    x = d.value(lambda k: k.rank > 0, dtypes=(*ROUGH, "int32", "int64") if plain else ROUGH, ranks=(1, 2, 3, 4))
    own = d.known[x]
    if op == "ReduceLogSum":
        x = (d.add("Abs", x, exact=True) or [x])[0]
    axes = [a - own.rank if d.since(11) and d.chance(0.3) else a
            for a in d.draw.sample(range(own.rank), d.draw.randint(1, own.rank))]
    keep = d.draw.choice((None, 0, 1))
    exact = op in ("ReduceMax", "ReduceMin") or (op == "ReduceSum" and not own.is_float)
    as_operand = d.since(13) if op == "ReduceSum" else d.since(18)
    if d.chance(0.2):
        d.add(op, x, keepdims=keep, exact=exact, noop_with_empty_axes=1 if as_operand and d.chance(0.4) else None)
    elif as_operand:
        d.add(op, x, d.constant(axes), keepdims=keep, exact=exact)
    else:
        d.add(op, x, axes=axes, keepdims=keep, exact=exact)


def placed(d: ModelDrawing) -> None:
    """Where the largest or smallest element is; the largest ones in order."""
    x = d.value(lambda k: k.is_exact and _filled(k), dtypes=("float32", "float64", "int32", "int64", "float32"))
    own = d.known[x]
    axis = d.draw.randrange(own.rank) - (own.rank if d.since(11) and d.chance(0.3) else 0)
    if d.chance(0.6):
        d.add(d.draw.choice(("ArgMax", "ArgMin")), x, axis=axis if d.chance(0.8) else None, exact=True,
              keepdims=d.draw.choice((None, 0)), select_last_index=1 if d.since(12) and d.chance(0.4) else None)
        return
    count = d.draw.randint(1, own.shape[axis])
    if not d.since(10):
        d.add("TopK", x, results=2, k=count, axis=axis, exact=True)
    else:
        d.add("TopK", x, d.constant([count]), results=2, axis=axis, exact=True,
              largest=d.draw.choice((None, 0)) if d.since(11) else None)


def running(d: ModelDrawing) -> None:
    """Sums and products of all elements in front."""
    op = d.pick("CumSum", "CumProd", "Softmax", "LogSoftmax", "Hardmax")
    is_old = op == "Hardmax" and not d.since(13)   # whose meaning only ONNX Runtime knows, in float32
    x = d.value(lambda k: _filled(k) and (op != "Hardmax" or k.is_exact),
                dtypes=("float32",) if is_old else (*ROUGH, "int32"))
    own = d.known[x]
    axis = d.draw.randrange(own.rank) - (own.rank if d.since(13) and d.chance(0.3) else 0)
    if op in ("CumSum", "CumProd"):
        d.add(op, x, d.constant(axis, d.draw.choice(("int64", "int32"))),
              exclusive=d.draw.choice((None, 1)), reverse=d.draw.choice((None, 1)), exact=not own.is_float)
    else:
        d.add(op, x, axis=axis if own.rank == 1 or d.chance(0.8) else None, exact=op == "Hardmax")


def product(d: ModelDrawing) -> None:
    """A product of matrices, vectors and stacks of them, which broadcast."""
    x = d.value(lambda k: k.rank > 0, dtypes=(*ROUGH, "int32", "int64"), ranks=(1, 2, 3, 4))
    own = d.known[x]
    inner, columns = own.shape[-1], d.draw.choice((1, 2, 3, 5, 8, 16))
    way = d.draw.randrange(4)
    shape = {0: (inner,), 1: (inner, columns), 2: (d.draw.choice((1, *own.shape[-3:-2])), inner, columns),
             3: (*own.shape[:-2], inner, columns)}[way]
    other = d.operand(own.dtype, shape)
    if d.chance(0.3) and own.rank > 1:
        shape = (d.draw.randint(1, 4), own.shape[-2])
        d.add("MatMul", d.operand(own.dtype, shape), x, exact=not own.is_float)
    else:
        d.add("MatMul", x, other, exact=not own.is_float)


def general_product(d: ModelDrawing) -> None:
    """`alpha A B + beta C` with either operand turned, and C that broadcasts or is left out."""
    dtype = d.draw.choice(ROUGH)
    m, n, k = (d.draw.choice((1, 2, 3, 5, 8, 17)) for _ in range(3))
    turned = [d.draw.choice((None, 0, 1)) for _ in range(2)]
    a = d.operand(dtype, (k, m) if turned[0] else (m, k))
    b = d.operand(dtype, (n, k) if turned[1] else (k, n))
    rest = [d.operand(dtype, d.draw.choice(((m, n), (n,), (1, n), (m, 1), (1,), (), (1, 1))))]
    if d.since(11) and d.chance(0.3):
        rest = []
    d.add("Gemm", a, b, *rest, transA=turned[0], transB=turned[1], alpha=0.5 if d.chance(0.4) else None,
          beta=d.draw.choice((None, 0.0, 2.0)))


def equation(d: ModelDrawing) -> None:
    """Sums by an equation."""
    said, dtype = d.draw.choice(EQUATIONS), d.draw.choice((*ROUGH, "int32"))
    extents = {letter: d.draw.choice((1, 2, 3, 4, 5)) for letter in "abcdhijkq"}
    lead = d.extents(d.draw.randint(0, 2))[:2]
    operands = []
    for term in said.split("->")[0].split(","):
        letters = term.replace("...", "")
        own = [extents[x] for x in letters]
        shape = ([*own[:1], *lead] if term.startswith("i...") else [*lead, *own]) if "..." in term else own
        operands.append(d.operand(dtype, shape))
    d.add("Einsum", *operands, equation=said if d.chance(0.7) else said.replace(",", " , "))


def quantised(d: ModelDrawing) -> None:
    """Bytes of numbers, of each row or of all, and numbers again."""
    x = d.value(lambda k: k.is_exact and _filled(k), dtypes=("float32",), ranks=(1, 2, 3))
    own = d.known[x]
    if d.chance(0.2) and d.has("DynamicQuantizeLinear"):
        d.add("DynamicQuantizeLinear", x, results=3)
        return
    dtype = d.draw.choice(BYTES)
    axis = d.draw.randrange(own.rank)
    by_row = d.since(13) and d.chance(0.5)
    shape = (own.shape[axis],) if by_row else ()
    scale = d.constant(2.0 ** d.rng.integers(-5, 0, shape), "float32")
    zero = [d.constant(d.array(dtype, shape, -3, 4), dtype)] if d.chance(0.7) or dtype == "int8" else []
    how: dict[str, Any] = {"axis": axis} if by_row else {}
    made = d.add("QuantizeLinear", x, scale, *zero, exact=True, **how)
    if made and d.chance(0.7):
        d.add("DequantizeLinear", made[0], scale, *zero, exact=True, **how)


def whole_product(d: ModelDrawing) -> None:
    """Products of bytes: of matrices and of windows, with zero points given or not."""
    from polysched.fuzz.onnx_models.windows import window
    op = d.pick("MatMulInteger", "ConvInteger", "QLinearMatMul", "QLinearConv", "MatMul")
    left, right = d.draw.choice((("uint8", "uint8"), ("uint8", "int8"), ("int8", "int8")))
    m, n, k = (d.draw.choice((1, 3, 4, 8, 17)) for _ in range(3))
    if op in ("MatMulInteger", "QLinearMatMul"):
        a, b = d.given(d.array(left, (m, k), -100, 100)), d.operand(right, (k, n), -100, 100)
        zeros = [d.constant(d.array(left, (), 0, 9), left), d.constant(d.array(right, (), 0, 9), right)]
        if op == "MatMulInteger":
            d.add(op, a, b, *zeros[:d.draw.randint(0, 2)], exact=True)
            return
        scale = [d.constant(2.0 ** -d.draw.randint(3, 6), "float32") for _ in range(3)]
        d.add(op, a, scale[0], zeros[0], b, scale[1], zeros[1], scale[2], d.constant(d.array(left, (), 0, 9), left))
    elif op in ("ConvInteger", "QLinearConv"):
        groups = d.draw.choice((1, 1, 2))
        x = d.given(d.array(left, (1, groups * 2, d.draw.randint(3, 7), d.draw.randint(3, 7)), -100, 100))
        how = window(d, d.known[x].shape[2:])
        w = d.operand(right, (groups * 2, 2, *how["kernel_shape"]), -100, 100)
        zeros = [d.constant(d.array(left, (), 0, 9), left), d.constant(0, right)]
        how["group"] = groups if groups > 1 else None
        if op == "ConvInteger":
            d.add(op, x, w, *zeros[:d.draw.randint(0, 2)], exact=True, **how)
            return
        bias = [d.constant(d.array("int32", (groups * 2,), -50, 50), "int32")] if d.chance(0.5) else []
        s = [d.constant(2.0 ** -d.draw.randint(2, 6), "float32") for _ in range(3)]
        d.add(op, x, s[0], zeros[0], w, s[1], zeros[1], s[2], d.constant(d.array(left, (), 0, 9), left), *bias, **how)


WAYS: tuple[Callable[[ModelDrawing], None], ...] = (
    reduced, reduced, reduced, placed, running, running, product, product, general_product, equation, quantised,
    whole_product)
"""All ways of this family."""
