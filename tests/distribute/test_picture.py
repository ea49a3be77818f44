"""The picture of messages: every message is an arrow, and says what it holds."""

from xml.etree import ElementTree

import pytest

from polysched.distribute import Partition, distribute, draw_messages, sent
from polysched.errors import UsageError
from tests.distribute.programs import PROGRAMS, scop_of

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("name", [n for n in PROGRAMS if n != "sum"])
def test_every_message_is_an_arrow(name: str) -> None:
    made = distribute(scop_of(name), "i", partition=Partition(kind="cyclic", ranks=3))
    sizes = {p.name: 4 if p.name == "n" else 2 for p in made.scop.parameters}
    picture = draw_messages(made, parameters=sizes)
    drawn = [group.findtext(f"{SVG}title") for group in ElementTree.fromstring(picture.svg).iter(f"{SVG}g")
             if group.find(f"{SVG}line") is not None]
    assert drawn == [m.headline() for m in sent(made, 3, sizes)]
    assert all(line in str(picture).splitlines() for line in drawn)


def test_arrows_of_a_step_do_not_touch() -> None:
    picture = draw_messages(distribute(scop_of("jacobi"), "i"), ranks=5, parameters={"n": 12, "t": 2})
    lines = [tuple(float(line.get(name, "")) for name in ("x1", "x2", "y1", "y2"))
             for line in ElementTree.fromstring(picture.svg).iter(f"{SVG}line") if line.get("marker-end")]
    assert len(lines) == len(picture.messages) == 24
    ends: dict[float, list[tuple[float, float]]] = {}
    for x1, x2, y1, y2 in lines:
        assert y1 == y2
        left, right = sorted((x1, x2))
        assert all(right < a or b < left for a, b in ends.get(y1, []))
        ends.setdefault(y1, []).append((left, right))


def test_boxes_say_what_runs_when() -> None:
    scop, sizes = scop_of("jacobi"), {"n": 14, "t": 2}
    overlapped = draw_messages(distribute(scop, "i", overlap=True), ranks=3, parameters=sizes).svg
    assert "24 first" in overlapped
    assert "24 meanwhile" in overlapped
    tiled = draw_messages(distribute(scop, "i", time_tile=2), ranks=3, parameters=sizes).svg
    assert "96 + 24 again" in tiled
    assert "tile 1" in tiled


def test_refusals() -> None:
    made = distribute(scop_of("jacobi"), "i")
    with pytest.raises(UsageError, match="nothing runs at these sizes"):
        draw_messages(made, parameters={"n": 1, "t": 1})
    with pytest.raises(UsageError, match="more than 400 messages"):
        draw_messages(made, ranks=12, parameters={"n": 40, "t": 30})
    for ranks, steps in ((10**9, 2), (1, 2000)):
        with pytest.raises(UsageError, match=f"steps on {ranks} ranks are too many to draw"):
            draw_messages(made, ranks=ranks, parameters={"n": 8, "t": steps})


def test_small_sizes_are_chosen() -> None:
    picture = draw_messages(distribute(scop_of("jacobi"), "i"))
    assert picture.headline().startswith("f along i on 4 ranks, n = 7, t = 7")
    assert repr(picture).startswith("<MessagePicture f along i")
    assert "<img" in picture._repr_html_()
