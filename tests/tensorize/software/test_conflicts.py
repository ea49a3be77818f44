"""Conflicts of statements that add to the same elements are the dependences by memory."""

from __future__ import annotations

from collections.abc import Collection
from importlib import import_module

import pytest

from polysched.dependence import analyse
from polysched.dependence.dependences import Dependences
from polysched.scop import from_c_text
from polysched.scop.scop import Scop
from polysched.tensorize import find_intrinsic, match
from polysched.tensorize.software.conflicts import conflicts
from tests.tensorize.test_several_sums import IN_ONE, SIZES, text


def test_the_dependences_of_a_program_are_asked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once per statement that is taken apart, whatever the number of its products."""
    asked: list[Scop] = []

    def counted(scop: Scop, *, of: Collection[str] | None = None) -> Dependences:
        asked.append(scop)
        return conflicts(scop, of=of)

    arrays, region, name, wanted = IN_ONE["complex"]
    scop = from_c_text(text("complex", arrays, region))
    for module in ("preparing.ordering", "matching.match"):
        monkeypatch.setattr(import_module(f"polysched.tensorize.{module}"), "conflicts", counted)
    found = match(scop, find_intrinsic(name), sizes=SIZES, dependences=analyse(scop))
    assert {m.fragment.statement.name for m in found.matches} == wanted
    assert len(asked) == len(set(map(id, asked))) == 2


@pytest.mark.parametrize("name", [*IN_ONE, "triangles"])
def test_conflicts_are_the_dependences_by_memory(name: str) -> None:
    """Asked statement by statement, of all or of one, they are what the analysis finds without hiding any."""
    arrays, region, *_ = IN_ONE.get(name, ("int A[n][n], int b[n]", """
for (int t = 0; t < m; t++) {
  for (int i = n - 1; i > t; i -= 2)
    b[i] = b[t] + A[i][t];
  for (int i = 0; i <= t; i++)
    for (int j = 0; j < i; j++) {
      A[i][j] += b[i - j] * A[j][i];
      if (j > 2) b[j] = A[i][j - 1];
    }
}"""))
    scop = from_c_text(text("f", arrays, region))
    wanted, found = ({(p.kind, p.source_reference, p.sink_reference): p for p in d.pairs}
                     for d in (analyse(scop, value_based=False), conflicts(scop)))
    assert found.keys() == wanted.keys()
    assert all(found[k].relation.is_equal(p.relation) and found[k].reduction == p.reduction and
               (found[k].source, found[k].sink, found[k].array) == (p.source, p.sink, p.array)
               for k, p in wanted.items())
    own = scop.statements[0].name
    assert {(p.kind, p.source_reference, p.sink_reference) for p in conflicts(scop, of={own}).pairs} == {
        k for k, p in wanted.items() if own in (p.source, p.sink)}
