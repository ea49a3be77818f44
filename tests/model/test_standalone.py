"""The C interface of a saved model: names, weights, text that is safe inside C."""

import numpy as np
import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph import from_text
from polysched.model.planned import planned
from polysched.model.standalone import HEAD_BYTES, header_text, interface_text, prefix_of, weights_of


def test_prefixes_are_identifiers() -> None:
    assert [prefix_of(s) for s in ("model", "a-b.c", "3d", "größe")] == ["model", "a_b_c", "model_3d", "gr__e"]
    assert prefix_of("polysched_model") == "model_polysched_model"


def test_weights_name_their_contents_and_are_aligned() -> None:
    data, places = weights_of({"a": np.arange(3, dtype=np.float32), "b": np.arange(2)})
    assert places == (HEAD_BYTES, HEAD_BYTES + 64)
    assert np.array_equal(np.frombuffer(data, np.float32, 3, places[0]), [0, 1, 2])
    assert data[:HEAD_BYTES] != weights_of({"a": np.arange(3, dtype=np.float32), "b": np.arange(1, 3)})[0][:HEAD_BYTES]


def test_names_of_a_model_file_do_not_leave_comments_and_strings() -> None:
    graph = from_text("graph f(x: float32[2]) {\n  let y = Exp(x)\n  return y\n}")
    evil = 'a*/ "\n;\\'
    named = graph.but(inputs=((evil, graph.inputs[0][1]),), nodes=(), outputs=(evil,))
    plan = planned(named)
    assert evil not in header_text(plan, "m")
    assert "*/ \"" not in header_text(plan, "m")
    text = interface_text(plan, "m", (), b"0" * 64)
    assert '"a\\052/ \\042\\012\\073\\134"' in text


def test_sizes_of_arrays_without_elements_are_bounded() -> None:
    text = "graph f(x: float32[2*N - 3, 0]) {\n  let y = Exp(x)\n  return y\n}"
    interface = interface_text(planned(from_text(text)), "m", (), b"0" * 64)
    assert "most_extent = 1099511627776;" in interface
    assert "if (((__int128)shapes[0][0] - -3) / 2 < 1 || ((__int128)shapes[0][0] - -3) / 2 > most_extent)" in interface
    with pytest.raises(UnsupportedGraphError, match="input 'x': a dimension is longer"):
        planned(from_text(text.replace("2*N - 3", str(1 << 62))))
