"""Padding with one value; `samples` compares it with its reference."""

import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph import from_text
from polysched.graph.passes.simple import with_types


@pytest.mark.parametrize(("before", "shape", "message"), [
    ("[1, -1]", "", "at least 0 per dimension"), ("[1]", "", "at least 0 per dimension"),
    ("[1, 0]", "2", "one element")])
def test_what_does_not_fit_is_refused(before: str, shape: str, message: str) -> None:
    graph = from_text(f"""graph f(x: float32[2, 3], v: float32[{shape}]) {{
  let y = PadConstant(x, v; before={before}, behind=[0, 0])
  return y
}}""")
    with pytest.raises(UnsupportedGraphError, match=message):
        with_types(graph)
