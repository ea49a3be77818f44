"""Reductions across threads as text: what each part begins with, and how parts are combined in order."""

from __future__ import annotations

import pytest

from polysched.emit_c.vector_code.thread_parts import neutral
from polysched.scop.dtypes import FLOAT32, FLOAT64, INT8, INT32, INT64, UINT32, UINT64, DType
from tests.emit_c.printers import printed, printer_of

SUM = printer_of("for (int i = 0; i < n; i++)\n  at[0] += at[i];".replace("at[i]", "c[i]"))
NODE = ("with thread_reduction(whole=For(variable='i', lower=linear(0), upper=linear(n), step=1, "
        "body=Block(children=())), first='first', end='end', part='part', parts=(ThreadPart("
        "temporary=Temporary(array='at', name='at_part'), operator='{operator}', element=PartialElement("
        "instance=StatementInstance(statement='S0', iterators=(linear(i), )), reference='S0_w0')), )):\n"
        "    for i in range(first, end):\n"
        "        S0(i, temporaries=(Temporary(array='at', name='at_part'), ))\n")


@pytest.mark.parametrize(("operator", "dtype", "value"), [
    ("sum", FLOAT32, "-0.0"), ("sum", INT32, "0"), ("product", FLOAT64, "1"), ("and", INT32, "(int)-1"),
    ("or", INT32, "0"), ("xor", UINT32, "0"), ("max", FLOAT32, "-__builtin_inf()"),
    ("maximum", FLOAT32, "-__builtin_inf()"), ("minimum", FLOAT32, "__builtin_inf()"),
    ("min", FLOAT32, "__builtin_inf()"),
    ("max", INT8, "-127 - 1"), ("min", INT8, "127"), ("max", UINT32, "0"), ("min", UINT32, "4294967295u"),
    ("min", INT64, "9223372036854775807l"), ("max", INT64, "-9223372036854775807l - 1"),
    ("min", UINT64, "18446744073709551615ul")])
def test_what_changes_nothing(operator: str, dtype: DType, value: str) -> None:
    assert neutral(operator, dtype) == value


def test_another_operator_has_no_such_value() -> None:
    with pytest.raises(ValueError, match="no neutral value of last"):
        neutral("last", INT32)


def test_parts_are_ranges_combined_in_their_order() -> None:
    text = printed(SUM, NODE.format(operator="sum"))
    assert "const long first = (long)n * part / parts;" in text
    assert "const long end = (long)n * (part + 1) / parts;" in text
    ordered = text.index("#pragma omp ordered")
    assert text.index("for (long i = first; i < end; i++)") < ordered
    assert "at[0] = part ? at[0] + at_part : at_part;" in text[ordered:]


def test_the_first_part_begins_with_the_element_and_others_with_nothing() -> None:
    made = printed(SUM, NODE.format(operator="sum"))
    assert "at_part_before = part ? 0 : at[0];" in made
    assert "if (at_part != at_part_before)" in made, "an element that no part changes may be read-only"


def test_little_work_is_one_part_without_a_team() -> None:
    text = printed(SUM, NODE.format(operator="sum"))
    assert "const int parts = " in text
    assert ">= " in text.split("const int parts = ")[1].split(";")[0]
    assert "if (parts > 1)" in text
    alone = text[text.index("} else {"):]
    assert "#pragma omp" not in alone
