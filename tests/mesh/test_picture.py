"""The picture has every core and every loaded link."""

import xml.etree.ElementTree as ET

import numpy as np

from polysched.mesh import MeshTarget, Operator, chain, place
from polysched.mesh.picture import svg_of
from tests.mesh.random_graphs import random_graph


def test_cores_by_operator_and_links_by_load() -> None:
    placement = place(random_graph(2, 5), MeshTarget(rows=4, columns=4, dead=((3, 3),)))
    titles = [e.text for e in ET.fromstring(svg_of(placement)).iter() if e.tag.endswith("title")]
    assert titles.count("(3, 3): dead") == 1
    cores = [t for t in titles if t and ": o" in t]
    assert len(cores) == placement.used_cores
    row, column = np.argwhere(placement.owners == 2)[0]
    assert f"({row}, {column}): o2" in titles
    assert len([t for t in titles if t and t.endswith(" B")]) == len(np.argwhere(placement.loads))


def test_a_large_mesh_is_drawn_small_and_names_are_escaped() -> None:
    placement = place(chain("<big>", [Operator(name="a&b", work=1)]), MeshTarget(rows=80, columns=90))
    text = svg_of(placement)
    assert ET.fromstring(text) is not None
    assert "<big>" not in text
    assert "a&amp;b" in text
