"""What names mean behind and inside loops, and beyond the function."""

import ast

from polysched.scop.construction import values
from polysched.scop.dtypes import FLOAT64
from polysched.scop.python_frontend.environment import (
    Stale,
    Stored,
    after_loop,
    assigned_names,
    at_loop_entry,
    is_array,
    outer_names,
)
from polysched.scop.python_frontend.operands import TupleValue, View

ONE = values.number(1)
STORED = Stored("s", FLOAT64, weak=False)
VIEW = View("A", (), (), FLOAT64)


def test_assigned_names_in_order_of_appearance() -> None:
    tree = ast.parse("b = 1\nfor i in x:\n  a, b = b, a\n  c[a] = 2\nd += 1\nif b:\n  (e := 3)")
    assert set(assigned_names(tree.body)) == {"b", "i", "a", "d", "e"}
    assert assigned_names(tree.body)[0] == "b"


def test_a_name_that_a_loop_assigns_is_stale_behind_it_unless_it_is_stored() -> None:
    before = {"kept": ONE, "changed": ONE, "stored": STORED}
    inside = {"kept": ONE, "changed": values.number(2), "stored": STORED, "new": VIEW, "first": STORED}
    found = after_loop(before, inside, ["changed", "stored", "new", "first", "never"])
    assert found["kept"] is ONE
    assert isinstance(found["changed"], Stale)
    assert not found["changed"].was_array
    assert found["stored"] is found["first"] is STORED
    assert isinstance(found["new"], Stale)
    assert found["new"].was_array
    assert "never" not in found


def test_at_the_top_of_a_body_what_it_assigns_has_two_meanings() -> None:
    found = at_loop_entry({"a": ONE, "s": STORED, "other": ONE}, ["a", "s", "unknown"])
    assert isinstance(found["a"], Stale)
    assert found["s"] is STORED
    assert found["other"] is ONE
    assert "unknown" not in found


def test_arrays_and_tuples_have_no_scalar_storage() -> None:
    assert is_array(VIEW)
    assert is_array(TupleValue(()))
    assert is_array(Stale(was_array=True))
    assert not is_array(Stale(was_array=False))
    assert not is_array(ONE)
    assert not is_array(None)


GLOBAL = 3


def test_names_beyond_a_function() -> None:
    enclosed = 4

    def function() -> int:
        return GLOBAL + enclosed + later

    names = outer_names(function)
    assert (names["GLOBAL"], names["enclosed"], names["len"]) == (3, 4, len)
    assert "later" not in names, "it has no value yet"
    later = 5
    assert outer_names(function)["later"] == 5
