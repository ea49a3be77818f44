"""Small programs, a runner with recorded times, and a search over it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from polysched.errors import PolyschedError, UsageError
from polysched.measure.field import Ran, Verdict
from polysched.pipeline.options import PipelineOptions
from polysched.pipeline.recipe import Recipe
from polysched.scheduling import Strategy
from polysched.scheduling.strategy import Dimension
from polysched.scop import from_c_text
from polysched.scop.scop import Scop
from polysched.search.building import Candidate, Wanted
from polysched.target import CacheLevel, Target
from polysched.tiling import TilingOptions

PRODUCT = """\
void product(int n, double C[n][n], double A[n][n], double B[n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""
RENAMED = """\
/* the same under other names, in another layout */
void multiply(int size, double Out[size][size], double Left[size][size], double Right[size][size]) {
#pragma scop
for (int row = 0; row < size; row++) for (int column = 0; column < size; column++)
  for (int inner = 0; inner < size; inner++) {
    Out[row][column] += Left[row][inner] * Right[inner][column];
  }
#pragma endscop
}
"""
COPY = """\
void copy(int n, double a[n], double b[n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = 2 * b[i];
#pragma endscop
}
"""
MACHINE = Target(name="test", cores=2, vector_bits=256, caches=(
    CacheLevel(level=1, size_bytes=32768, ways=8), CacheLevel(level=2, size_bytes=524288, ways=8),
    CacheLevel(level=3, size_bytes=1 << 23, ways=16, shared_by=2)))
OPTIONS = PipelineOptions(tiling=TilingOptions(target=MACHINE))
ALIKE = tuple(Strategy(dimensions=(*(Dimension(rows={"S0": {name: 1}}) for name in names), Dimension(), Dimension()))
              for names in ("ijk", "jik"))
"""Strategies for `product` whose lines (`repr`) are cut before the rows in which they differ."""


@cache
def product() -> Scop:
    return from_c_text(PRODUCT)


class Unbuilt:
    """A builder that emits nothing: the C of a recipe is its text; a band that is not there is refused."""

    def build(self, wanted: Sequence[Wanted]) -> Sequence[Candidate | PolyschedError]:
        return [self.made(w) for w in wanted]

    def made(self, wanted: Wanted) -> Candidate | PolyschedError:
        recipe = wanted.proposal.recipe
        if 7 in recipe.bands:
            return UsageError("there is no band 7")
        return Candidate(name=f"v{wanted.number}", proposal=wanted.proposal, text="", code=self.code(recipe),
                         predicted_seconds=wanted.predicted_seconds)

    def code(self, recipe: Recipe) -> str:
        return recipe.text


@dataclass
class Recorded:
    """A runner that runs nothing: times and verdicts by recipe, or by a function of it.

    Parameters
    ----------
    seconds : of a call of a recipe; the model's pick takes 1.
    verdicts : of those that are not right.
    disturbed : recipes of which other programs disturb every sample.
    """

    seconds: Callable[[Recipe], float] = lambda recipe: 1.0
    verdicts: Mapping[str, tuple[Verdict, str]] = field(default_factory=dict)
    raced: list[str] = field(default_factory=list)
    most: int | None = None
    disturbed: Collection[str] = ()

    def race(self, candidates: Sequence[Candidate], *, against: Candidate | None, pairs: int, slow_ratio: float,
             told: Callable[[Candidate, Ran], None]) -> None:
        for candidate in candidates:
            if self.most is not None and len(self.raced) >= self.most:
                raise KeyboardInterrupt
            recipe = candidate.proposal.recipe
            self.raced.append(recipe.text)
            verdict, reason = self.verdicts.get(recipe.text, (Verdict.TIMED, ""))
            first = self.seconds(Recipe())
            told(candidate, Ran(name=candidate.name, verdict=verdict, reason=reason, disturbed=tuple(
                range(pairs)) if recipe.text in self.disturbed else (), pairs=(
                (first, self.seconds(recipe)),) * pairs if verdict is Verdict.TIMED else ()))
