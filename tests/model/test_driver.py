"""The C of a driver: loops of copies, memory, outputs that are copies."""

from polysched.graph import from_text
from polysched.model.compiling import planned
from polysched.model.driver import driver_text


def test_copies_are_loops_over_linear_memory() -> None:
    plan = planned(from_text("""graph f(x: float64[2, 3]) {
      let t = Transpose(x)
      let c = Concat(t, t; axis=1)
      let y = Identity(x)
      return c, y
    }"""))
    text = driver_text(plan, {})
    assert "to[2 * l0 + l1] = from[l0 + 3 * l1];" in text
    assert "to[4 * l0 + l1 + 2] = from[2 * l0 + l1];" in text
    assert "const unsigned long *restrict from = (const unsigned long *)(arena + 0);" in text
    assert "memcpy(outputs[1], inputs[0], 48);" in text
