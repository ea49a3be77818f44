"""A tuned result as a page."""

from __future__ import annotations

from html.parser import HTMLParser

from polysched.pipeline.recipe import Recipe
from polysched.search import Budget, tune
from polysched.search.page import page_html
from polysched.tiling import BandOptions
from tests.search.programs import OPTIONS, Recorded, Unbuilt, product

EDGES = tuple(range(4, 68, 4))


def found(trials: int):
    def space(choose, dependences) -> Recipe:
        return Recipe(bands={0: BandOptions(sizes=choose.one_of("edge <of i>", EDGES),
                                            register=choose.one_of("block", (True, False)))})
    return tune(product(), space=space, strategy="random", model="projected", budget=Budget(trials=trials),
                options=OPTIONS, sizes={"n": 64}, builder=Unbuilt(), clock=lambda: 0.0, runner=Recorded(
                    lambda recipe: 1.0 if not recipe.bands else 4.0 / recipe.bands[0].sizes))


class Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: dict[str, int] = {}
        self.text = ""

    def handle_starttag(self, tag, attributes):
        self.tags[tag] = self.tags.get(tag, 0) + 1

    def handle_data(self, data):
        self.text += data


def read(text: str) -> Reader:
    reader = Reader()
    reader.feed(text)
    return reader


def test_it_has_the_curve_the_space_what_mattered_and_the_model():
    result = found(24)
    page = read(page_html(result))
    assert page.tags["polyline"] == 1
    assert page.tags["circle"] == sum(bool(t.seconds and t.predicted_seconds) for t in result.trials)
    for words in ("edge <of i>", "What mattered", "Model against measurement", str(result.gain)):
        assert words in page.text
    assert page.tags["table"] == 3


def test_several_results_are_one_page():
    result = found(1)
    page = read(page_html(result, result))
    assert (page.tags["html"], page.tags["title"], page.tags["h1"]) == (1, 1, 2)
    assert "of product: gain" not in page.text
    assert page.text.startswith(f"tuned {result.name}, {result.name}")


def test_few_trials_say_so():
    page = read(page_html(found(1)))
    assert "Too few trials tell." in page.text
