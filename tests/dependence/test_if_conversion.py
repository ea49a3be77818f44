"""Branches that update one element by one operator become one update."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from polysched.dependence import find_reductions
from polysched.dependence.if_conversion import with_chosen_operands, without_branches
from polysched.scop import from_c_text
from polysched.scop.body import Assign, Select
from polysched.scop.scop import Scop

TEXT = """void f(int n, double *restrict c, double *restrict x, double *restrict y, int *k, double *restrict s) {{
#pragma scop
  for (int i = 0; i < n; i++) {{
    {body}
  }}
#pragma endscop
}}
"""


@pytest.mark.parametrize("body", [
    "if (c[i] > 0.5) s[0] += x[i]; else s[0] += y[i];",
    "if (c[i] > 0.5) s[0] += x[i]; else if (c[i] > 0.2) s[0] += y[i]; else s[0] += 1.0;",
    "if (c[i] > 0.5) s[0] *= x[i]; else s[0] *= c[i];",
    "s[0] = s[0] + (c[i] > 0.5 ? x[i] : y[i]);",
    "s[0] = (c[i] > 0.5 ? x[i] : y[i]) * s[0];",
    "s[0] = c[i] > 0.5 ? s[0] - x[i] : s[0] - y[i];",
    "s[0] = c[i] > 0.5 ? s[0] + x[i] : c[i] > 0.2 ? y[i] + s[0] : s[0] + 1.0;",
    "if (c[i] > 0.5) s[0] = s[0] + x[i]; else s[0] += c[i] > 0.2 ? x[i] : y[i];"])
def test_both_branches_update_one_element(body: str) -> None:
    made = with_chosen_operands(from_c_text(TEXT.format(body=body)))
    (update,) = made.statements[0].body
    assert isinstance(update, Assign)
    assert isinstance(update.value, Select)
    (written,) = made.statements[0].writes
    assert not written.kind.name.startswith("MAY")
    assert len(find_reductions(made)) == 1


@pytest.mark.parametrize("body", [
    "if (c[i] > 0.5) s[0] += x[i];",
    "if (c[i] > 0.5) s[0] += x[i]; else s[0] -= y[i];",
    "if (c[i] > 0.5) s[0] += x[i]; else s[1] += y[i];",
    "if (c[i] > 0.5) s[0] += x[i]; else s[0] = y[i];",
    "if (c[i] > 0.5) s[0] += x[i]; else s[0] += k[i];",
    "s[0] = s[0] + x[i];",
    "s[0] = (c[i] > 0.5 ? x[i] : y[i]) - s[0];",
    "s[0] = s[1] + (c[i] > 0.5 ? x[i] : y[i]);",
    "s[0] = s[0] + (s[0] > 0.5 ? x[i] : y[i]);",
    "s[0] = c[i] > 0.5 ? s[0] + x[i] : s[0];",
    "s[0] = c[i] > 0.5 ? s[0] + x[i] : s[0] - y[i];"])
def test_other_branches_stay(body: str) -> None:
    scop = from_c_text(TEXT.format(body=body))
    assert with_chosen_operands(scop) is scop


@pytest.mark.parametrize(("body", "made_by"), [
    ("if (c[i] > 0.5) s[0] += x[k[k[i]]]; else s[0] += 1.0;", with_chosen_operands),
    ("if (c[i] > 0.5) s[0] = x[k[k[i]]]; else s[0] = 1.0;", without_branches)])
def test_what_subscripts_of_subscripts_read_stays_known(body: str, made_by: Callable[[Scop], Scop]) -> None:
    scop = from_c_text(TEXT.format(body=body))
    made = made_by(scop)
    assert made is not scop
    before, after = ([a.array for a in s.statements[0].reads] for s in (scop, made))
    assert after.count("k") == before.count("k") == 2
