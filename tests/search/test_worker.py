"""A worker finds its region again, and answers with C or a reason."""

from __future__ import annotations

import json

import pytest

from polysched.errors import UsageError
from polysched.pipeline.recipe import Recipe
from polysched.scop import all_from_c_file
from polysched.search.worker import answer, first_line, region_of
from tests.search.programs import COPY, OPTIONS, PRODUCT


@pytest.fixture
def path(tmp_path):
    (tmp_path / "two.c").write_text(PRODUCT + COPY)
    return tmp_path / "two.c"


def test_the_region_of_a_first_line(path):
    _, second = all_from_c_file(str(path))
    scop, options = region_of(json.loads(first_line(second, OPTIONS)))
    assert scop.source.start == second.source.start
    assert options.differences() == OPTIONS.differences()


def test_a_file_that_changed_is_refused(path):
    line = first_line(all_from_c_file(str(path))[0], OPTIONS)
    path.write_text(COPY)
    with pytest.raises(UsageError, match="has changed"):
        region_of(json.loads(line))


def test_answers_are_code_or_a_reason(path):
    scop = all_from_c_file(str(path))[1]
    made = answer(scop, OPTIONS, {"number": 1, "recipe": Recipe().to_json()})
    assert "void product" in made["text"]
    refused = answer(scop, OPTIONS, {"number": 1, "recipe": {"format": "no"}})
    assert refused["problem"] == "this is no recipe"
