"""A budget, names and places of refusals, for functions that were made elsewhere."""

import pytest

from polysched.errors import BudgetExceededError, SourceLocation, UnsupportedScopError
from polysched.scop.construction import reading
from polysched.scop.construction.values import CannotExpress


@pytest.mark.parametrize(("name", "plain"), [("A", "A"), ("0", "v0"), ("x.1", "x_1"), ("_a", "v_a"), ("é", "v_")])
def test_names(name: str, plain: str) -> None:
    assert reading.plain_name(name) == plain


def test_a_refusal_gets_a_place() -> None:
    with (pytest.raises(UnsupportedScopError, match=r"t.mlir:3: no form\n  witness: x\n  hint: another"),
          reading.refusing(SourceLocation("t.mlir", 3), lambda: "x")):
        raise CannotExpress("no form", "another")


def test_what_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "with_budget", lambda *_, **__: None)
    with pytest.raises(BudgetExceededError, match=r"f: reading the function takes more than .* isl operations or"):
        reading.within_budget(lambda: pytest.fail("is not asked"), "f", hint="less")
