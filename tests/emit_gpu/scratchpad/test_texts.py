"""Small texts."""

from polysched.emit_gpu.scratchpad.texts import least, minus, most, nested, total, type_lines, type_name


def test_sums() -> None:
    assert total([("a", 1), ("b", -2)], 3) == "a - 2 * b + 3"
    assert total([("a", -1), ("b", 0)]) == "-a"
    assert total([], -4) == "-4"
    assert minus("x", "0") == "x"
    assert minus("x", "t") == "x - t"
    assert minus("x", "t + 1") == "x - (t + 1)"


def test_numbers_are_compared_here() -> None:
    assert (most("3", "7"), least("3", "7"), most("t", "t")) == ("7", "3", "t")
    assert most("t", "7") == "polysched_scratchpad_max(t, 7)"


def test_loops_and_types() -> None:
    assert nested([("i", "0", "n")], ["f(i);"]) == ["for (long i = 0; i < n; i++) {", "  f(i);", "}"]
    assert type_name("signed char") == "polysched_scratchpad_signed_char"
    assert type_lines({"float", "int"}).count("may_alias") == 2
