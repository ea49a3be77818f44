"""A graph draws itself: a box per input and node, a line per use, nothing of a name is markup."""

from xml.etree import ElementTree

from polysched.graph import from_text
from polysched.graph.limits import LIMITS

SVG = "{http://www.w3.org/2000/svg}"


def test_a_box_per_value_and_a_line_per_use() -> None:
    graph = from_text("""graph f(x: float32[2], "<b>": float32[2]) {
  let a, s = Split(x)
  let y = Add(a, "<b>")
  let z = Add(s, y)
  return y, z
}""")
    picture = ElementTree.fromstring(graph._repr_html_())
    assert len(picture.findall(f".//{SVG}rect")) == 5
    assert len(picture.findall(f".//{SVG}line")) == 5
    assert "<b>: float32[2]" in [t.text for t in picture.iter(f"{SVG}title")]
    heights = {t.text: int(g[1].attrib["y"]) for g in picture.findall(f"{SVG}g") for t in g.findall(f"{SVG}title")}
    assert heights["a = Split"] < heights["y = Add"] < heights["z = Add"]


def test_of_a_long_graph_the_first_nodes_are_drawn() -> None:
    count = LIMITS.most_drawn_nodes + 7
    lets = "\n".join(f"let v{k + 1} = Exp(v{k})" for k in range(count))
    graph = from_text(f"graph f(v0: float32[2]) {{ {lets} return v{count} }}")
    assert "and 7 more nodes" in graph._repr_html_()
