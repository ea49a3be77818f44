"""Graphs whose control flow depends on data or is long, with inputs that take every way."""

from collections.abc import Iterator

import numpy as np

from polysched.graph import from_text
from polysched.graph.values.graph import Graph

TEXTS = {
    "branch": """graph f(c: bool[], x: float32[2, 3]) {
  let z = Neg(x)
  let y, u = If(c) {
    graph yes() {
      const one: float32[] = [1.0]
      let a = Add(x, one)
      return a, a
    }
    graph no() {
      let b = Exp(z)
      return z, b
    }
  }
  let w = Exp(y)
  return w, y, u
}""",
    "rank one condition": """graph f(c: bool[1], x: float32[3]) {
  let y = If(c) {
    graph yes() {
      return x
    }
    graph no() {
      let a = Neg(x)
      return a
    }
  }
  return y
}""",
    "view around": """graph f(c: bool[], x: float32[2, 3]) {
  const flat: int64[1] = [6]
  let e = Exp(x)
  let v = Reshape(e, flat)
  let y = If(c) {
    graph yes() {
      let a = Neg(v)
      return a
    }
    graph no() {
      return v
    }
  }
  return y, v
}""",
    "swap": """graph f(n: int64[], x: float32[2], z: float32[2]) {
  const go: bool[] = [true]
  let y, u = Loop(n, go, x, z) {
    graph body(i, c, v, q) {
      const much: float32[] = [100.0]
      let w = Add(v, q)
      let s = ReduceSum(w; keepdims=0)
      let k = Less(s, much)
      return k, w, v
    }
  }
  return y, u
}""",
    "exchange": """graph f(n: int64[], x: float32[2], z: float32[2]) {
  let y, u = Loop(n, _, x, z) {
    graph body(i, c, v, q) {
      return c, q, v
    }
  }
  return y, u
}""",
    "fixed": """graph f(n: int64[], x: float32[2], z: float32[2]) {
  let y, u = Loop(n, _, x, z) {
    graph body(i, c, v, q) {
      let w = Mul(v, q)
      let p = Identity(v)
      return c, p, w
    }
  }
  return y, u
}""",
    "one result twice": """graph f(n: int64[], x: float32[2], z: float32[2]) {
  let y, u = Loop(n, _, x, z) {
    graph body(i, c, v, q) {
      let w = Sub(v, q)
      return c, w, w
    }
  }
  return y, u
}""",
    "iteration": """graph f(n: int64[], x: float32[4]) {
  const zero: int64[1] = [0]
  let y = Loop(n, _, x) {
    graph body(i, c, v) {
      const four: int64[] = [4]
      let k = Mod(i, four)
      let one = Gather(v, k; axis=0)
      let w = Add(v, one)
      return c, w
    }
  }
  return y
}""",
    "stacked": """graph f(x: float32[3]) {
  const n: int64[] = [180]
  let y, s = Loop(n, _, x) {
    graph body(i, c, v) {
      const less: float32[] = [0.99]
      let w = Mul(v, less)
      let t = Tanh(w)
      let u = Add(w, t)
      return c, u, t
    }
  }
  return y, s
}""",
    "nested": """graph f(n: int64[], m: int64[], c: bool[], x: float32[2, 2]) {
  let y = Loop(n, _, x) {
    graph body(i, go, v) {
      let inner = Loop(m, _, v) {
        graph again(j, on, w) {
          let p = MatMul(w, x)
          let q = Tanh(p)
          return on, q
        }
      }
      let r = If(c) {
        graph yes() {
          let a = Add(inner, v)
          return a
        }
        graph no() {
          return v
        }
      }
      return go, r
    }
  }
  return y
}""",
    "open scan": """graph f(s: float32[2], x: float32[N, 2], t: float32[2, N, 3]) {
  let last, all, moved = Scan(s, x, t; num_scan_inputs=2, scan_input_axes=[0, 1], scan_input_directions=[1, 0],
                              scan_output_axes=[0, 2], scan_output_directions=[0, 1]) {
    graph body(v, row, block) {
      let w = Mul(v, row)
      let e = Sigmoid(w)
      let b = Neg(block)
      return w, e, b
    }
  }
  return last, all, moved
}""",
    "shape inside": """graph f(n: int64[], x: float32[N, 3]) {
  const first: int64[1] = [0]
  const one: int64[1] = [1]
  let s = Shape(x)
  let rows = Gather(s, first; axis=0)
  let less = Sub(rows, one)
  let y = Loop(n, _, x) {
    graph body(i, c, v) {
      let a = Slice(v, first, less, first)
      let b = Slice(v, less, rows, first)
      let w = Concat(b, a; axis=0)
      return c, w
    }
  }
  return y, rows
}"""}

GRAPHS: dict[str, Graph] = {name: from_text(text) for name, text in TEXTS.items()}


def inputs_of(name: str) -> Iterator[dict[str, np.ndarray]]:
    """Some inputs of a graph."""
    graph, random = GRAPHS[name], np.random.default_rng(0)
    for turn in range(4):
        found = {}
        for own, its_type in graph.inputs:
            shape = its_type.bound({"N": turn + 2}).extents
            if its_type.numpy.kind == "b":
                found[own] = np.full(shape, turn % 2 == 0)
            elif its_type.numpy == np.int64:
                found[own] = np.full(shape, (0, 1, 2, 7)[turn] if own == "n" else turn, np.int64)
            else:
                found[own] = random.uniform(0.5, 1.5, shape).astype(np.float32)
        yield found


def loops_in_loops(depth: int, count: int | None = None) -> Graph:
    """Loops in each other around one node, of a known number of iterations or of one that is an input."""
    body = "let w = Neg(v)"
    for k in range(depth):
        last = k == depth - 1
        names = ("y", "x") if last else ("w", "v")
        region = f"graph b{k}(i, c, v) {{ {body} return c, w }}"
        body = f"let {names[0]} = Loop(n, go, {names[1]}) {{ {region} }}"
    known = "" if count is None else f"const n: int64[] = [{count}]"
    given = "n: int64[], " if count is None else ""
    return from_text(f"graph f({given}x: float32[2]) {{ const go: bool[] = [true] {known} {body} return y }}")
