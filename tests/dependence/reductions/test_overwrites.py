"""Elements that conditions let a number or an iterator overwrite."""

import pytest

from polysched.dependence.reductions.overwrites import chosen_overwrite, conjuncts, first_overwrite, overwrite
from polysched.dependence.reductions.updates import canonical_references
from polysched.scop import from_c_text
from polysched.scop.body import Assign, If
from polysched.scop.scop import Statement


def statement(text: str, head: str = "for (int i = 0; i < n; i++)") -> Statement:
    return from_c_text(f"""void f(int n, double A[n], int k[1], char c[1], double x[1]) {{
        #pragma scop
        {head}
            {text}
        #pragma endscop
        }}""").statements[0]


def guarded(found: Statement) -> tuple[If, Assign]:
    branch = found.body[0]
    assert isinstance(branch, If)
    update = branch.then[0]
    assert isinstance(update, Assign)
    return branch, update


@pytest.mark.parametrize(("text", "operator"), [
    ("if (A[i] > 0) k[0] = 1;", "any"), ("if (A[i] > 0) k[0] = i;", "last"), ("if (A[i] > 0) c[0] = i;", None),
    ("if (A[i] > 0) x[0] = 1;", None), ("if (A[i] > 0) k[0] = i + 1;", None)])
def test_what_may_overwrite(text: str, operator: str | None) -> None:
    found = statement(text)
    _, update = guarded(found)
    made = overwrite(found, update, update.value)
    assert (made.operator if made else None) == operator


@pytest.mark.parametrize(("head", "test", "is_first"), [
    ("for (int i = 0; i < n; i++)", "k[0] < 0", True), ("for (int i = -1; i < n; i++)", "k[0] < 0", False),
    ("for (int i = 0; i < n; i++)", "k[0] <= 0", False), ("for (int i = 1; i < n; i++)", "k[0] <= 0", True),
    ("for (int i = 0; i < n; i++)", "k[0] == -1", True), ("for (int i = 0; i < n; i++)", "k[0] == 5", False),
    ("for (int i = 0; i < 9; i++)", "k[0] > 8", True), ("for (int i = 0; i < 9; i++)", "k[0] > 7", False),
    ("for (int i = 0; i < 9; i++)", "k[0] >= 8", False)])
def test_once_only_where_the_test_fails_ever_after(head: str, test: str, is_first: bool) -> None:
    found = statement(f"if (A[i + 1] > 0 && {test}) k[0] = i;", head)
    branch, update = guarded(found)
    made = first_overwrite(found, conjuncts(branch.condition), update, update.value)
    assert (made is not None) is is_first


def test_a_choice_of_the_old_value() -> None:
    for text in ("k[0] = A[i] > 0 ? 1 : k[0];", "k[0] = A[i] > 0 ? k[0] : 1;"):
        found = statement(text)
        update = found.body[0]
        assert isinstance(update, Assign)
        made = chosen_overwrite(found, update, canonical_references(found))
        assert made is not None
        assert made.operator == "any"
        assert [found.access(r).array for r in made.reads] == ["k"]
    found = statement("k[0] = A[i] > 0 ? 1 : 2;")
    update = found.body[0]
    assert isinstance(update, Assign)
    assert chosen_overwrite(found, update, canonical_references(found)) is None


def test_conditions_of_a_conjunction() -> None:
    branch, _ = guarded(statement("if (A[i] > 0 && A[i] < 3 && k[0] < 0) k[0] = i;"))
    assert len(conjuncts(branch.condition)) == 3
