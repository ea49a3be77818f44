"""Pages: one file, nothing from a network, data that a script can read, and controls only where they do something."""

from __future__ import annotations

import json
import re
from dataclasses import replace

from polysched.scop.picture import Panel, Picture, Turn
from polysched.scop.pictures.page import as_script, instance_names


def picture() -> Picture:
    panel = Panel(title="S0 (k = 3)", axes=("i", "t"), points=((0, 0), (1, 0)), arrows=(((0, 0), (1, 0)),),
                  colours={(0, 0): 0, (1, 0): 1})
    return Picture(panels=(panel,), turns={0: Turn(0, 0), 1: Turn(1, 1)}, order="in order")


def data_of(page: str) -> dict:
    found = re.search(r"const data = (.*);\n", page)
    assert found
    return json.loads(found.group(1))


def test_a_page_is_self_contained() -> None:
    page = picture().page
    assert "default-src 'none'" in page
    assert not re.search(r"(src|href)=.?https?:", page)
    assert "width=device-width" in page
    assert page.count("<svg") == 1
    assert "<p class=\"said\">in order</p>" in page


def test_the_data_of_a_page() -> None:
    data = data_of(picture().page)
    assert data["turns"] == {"0": [0, 0], "1": [1, 1]}
    assert data["last"] == 1
    assert set(data["colours"]) == {"tile", "thread", "step"}
    assert data["names"]["0:1,0"] == "S0(t = 0, i = 1)"
    assert instance_names(picture()) == data["names"]


def test_controls_stand_only_where_tiles_run_after_each_other() -> None:
    assert 'id="step"' in picture().page
    still = Picture(panels=(Panel(title="S", axes=("i", ""), points=((0, 0),)),))
    assert '<input type="range"' not in still.page
    assert data_of(still.page)["hint"] == ""


def test_text_cannot_end_the_script() -> None:
    assert "</" not in as_script({"a": "</script>"})
    odd = Picture(panels=(Panel(title="</script><b>", axes=("i", ""), points=((0, 0),)),))
    assert odd.page.count("</script>") == 1


def test_a_notebook_shows_the_page_in_a_frame_without_rights() -> None:
    live = picture().live()
    assert 'sandbox="allow-scripts"' in live._repr_html_()
    assert "<script" not in live._repr_html_(), "escaped"
    assert str(live) == str(picture())


def test_the_choice_of_colours_begins_with_those_that_are_shown() -> None:
    page = replace(picture(), colour_by="thread").page
    assert re.findall(r"<option value=\"(\w+)\" selected>", page) == ["thread"]
    assert re.findall(r"<option value=\"(\w+)\" selected>", picture().page) == ["tile"]
    assert page.count('<g class="meanings">') == 1
