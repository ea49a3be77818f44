"""Meshes, and the words that name them."""

import json

import pytest

from polysched.errors import UsageError
from polysched.mesh import MeshTarget, read_target


def test_links_join_cores_that_live() -> None:
    assert MeshTarget(rows=3, columns=4).live_links == 2 * (3 * 3 + 2 * 4)
    broken = MeshTarget(rows=3, columns=3, dead=((1, 1),))
    assert (broken.live_cores, broken.live_links) == (8, 16)
    assert not broken.alive[1, 1]


def test_the_largest_part_is_what_is_connected() -> None:
    whole = MeshTarget(rows=3, columns=4, dead=((1, 1),))
    assert whole.connected is whole
    split = MeshTarget(rows=3, columns=5, dead=((0, 1), (1, 1), (2, 1)))
    assert (split.connected.live_cores, split.live_cores) == (9, 12)
    assert not split.connected.alive[:, 0].any()


def test_a_word_or_a_file_names_a_mesh(tmp_path) -> None:
    assert read_target("4x8") == MeshTarget(rows=4, columns=8)
    file = tmp_path / "mesh.json"
    file.write_text(json.dumps({"rows": 2, "columns": 2, "memory": 5, "dead": [[0, 1]]}))
    assert read_target(str(file)) == MeshTarget(rows=2, columns=2, memory=5, dead=((0, 1),))
    file.write_text('{"rows": 2, "columns": 2, "lonk": 3}')
    with pytest.raises(UsageError, match="lonk: there is no such field"):
        read_target(str(file))
    with pytest.raises(UsageError, match="ROWSxCOLUMNS"):
        read_target("4by4")


@pytest.mark.parametrize(("change", "message"), [
    ({"rows": 0}, "1 to"), ({"memory": 0}, "memory of a mesh"), ({"hop": -1.0}, "hop of a mesh"),
    ({"link": float("inf")}, "link of a mesh"), ({"dead": ((2, 0),)}, "outside"), ({"dead": ((0,),)}, "dead core is"),
    ({"dead": (3,)}, "dead core is"), ({"dead": ((0.5, 0),)}, "dead core is"), ({"rows": "2"}, "1 to"),
    ({"columns": 2.0}, "1 to"),
    ({"dead": ((0, 0), (0, 1), (1, 0), (1, 1))}, "every core")])
def test_what_is_no_mesh_is_refused(change, message) -> None:
    with pytest.raises(UsageError, match=message):
        MeshTarget(**{"rows": 2, "columns": 2, **change})


def test_it_shows_itself_in_one_line() -> None:
    assert repr(MeshTarget(rows=2, columns=3, dead=((0, 0),))) == "<MeshTarget 2x3, 1 dead>"
