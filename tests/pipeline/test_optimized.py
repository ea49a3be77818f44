"""What a region says of itself: one line per step, of what the emitted code does and not of what was only allowed."""

from dataclasses import replace

import pytest

from polysched.errors import UsageError
from polysched.measure import MeasureOptions, compare_and_time
from polysched.pipeline import PipelineOptions, optimize
from polysched.pipeline.optimized import Optimized
from polysched.scop import from_c_text
from tests.scop.c_frontend.read_region import in_function

HEAD = "int n, double a[restrict n][n], double x[restrict n], double y[restrict n]"
PRODUCT = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) y[i] += a[i][j] * x[j];"


def made(inside: str = PRODUCT, **options: object) -> Optimized:
    return optimize(from_c_text(in_function(inside, "double t;", head=HEAD)), PipelineOptions(**options))


@pytest.mark.parametrize(("tile", "words"), [(8, "tiles 8x8"), ("off", "tiles off")])
def test_bands_with_their_tiles(tile: int | str, words: str) -> None:
    band = next(s for s in made(tile=tile, parallel=False).steps() if s.startswith("band 0"))
    assert words in band


def test_threads_are_told_where_there_are_some() -> None:
    alone, several = made(tile=8, parallel=False), made(tile=8, parallel=True)
    assert not any("parallel" in s for s in alone.steps() if s.startswith("band"))
    assert ("#pragma omp" in several.text) == any(
        "parallel" in s or "on threads" in s for s in several.steps() if s.startswith("band"))


def test_temporaries_are_told_by_where_they_live() -> None:
    region = made("for (int i = 0; i < n; i++) { t = x[i]; for (int j = 0; j < n; j++) y[i] += t * a[i][j]; }",
                  tile="off", parallel=False)
    told = [s for s in region.steps() if s.startswith("temporary")]
    assert {s.split()[1].rstrip(":") for s in told} == {a.name for a in region.expanded} | {
        m for m, _ in region.moved} | {*region.unexpanded}


def test_the_headline_counts_the_lines() -> None:
    region = made(tile=8, parallel=False)
    assert region.headline() == (f"f: {region.schedule.algorithm}, {region.tiled.headline().partition(': ')[2]}, "
                                 f"{len(region.text.splitlines())} lines of C")
    assert str(region).splitlines()[0] == "f"
    assert str(region).endswith(region.text)


def test_a_listing_is_of_the_text_before_and_after() -> None:
    region = made(tile=8, parallel=False)
    listing = region.listing()
    assert "y[i] += a[i][j] * x[j];" in listing.original
    assert listing.transformed == region.text
    assert listing.line == region.scop.statements[0].line


def test_a_notebook_shows_every_step_escaped() -> None:
    page = made(tile=8, parallel=False)._repr_html_()
    assert "&lt;" in page
    assert "f, optimized" in page


def test_what_text_became_is_compared_and_timed() -> None:
    """A program that never was a file: its function with the region replaced, and how that came about."""
    subject = made(tile=16, vector_bits=256).subject()
    assert subject.transformed_text != subject.original_text
    assert subject.options["tile"] == 16
    measured = compare_and_time(subject, {"n": 33}, options=MeasureOptions(pairs=1, threads=1))
    assert measured.verified
    assert measured.steps == subject.steps
    assert [listing.transformed for listing in measured.listings] == [made(tile=16, vector_bits=256).text]


def test_what_is_no_c_has_no_original() -> None:
    region = made()
    with pytest.raises(UsageError, match="did not come from C"):
        replace(region, scop=replace(region.scop, source=None)).subject()
