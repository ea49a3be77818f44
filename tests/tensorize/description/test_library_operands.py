"""Arguments of a library call address exactly the elements of the operand, for all small strides and extents."""

from __future__ import annotations

import itertools

import pytest

from polysched.tensorize.description.library_operands import LibraryOperand, library_operand

STEPS = (-1, 0, 1, 2, 3, 4, 6)


def elements(strides: tuple[int | None, ...], extents: tuple[int, ...]) -> list[int]:
    """Positions of the operand's elements, in the order of its subscripts."""
    return [sum((s or 0) * at for s, at in zip(strides, point, strict=True))
            for point in itertools.product(*map(range, extents))]


def addressed(operand: LibraryOperand, count: int) -> list[int]:
    """What a function reads that takes matrices by rows, `ld` elements apart; op(A) is the transposed one."""
    one = [row * operand.distance + column for row in range(operand.rows) for column in range(operand.columns)]
    if operand.transposed:
        one = [row * operand.distance + column for column in range(operand.columns) for row in range(operand.rows)]
    return [batch * operand.batch + at for batch in range(count) for at in one]


@pytest.mark.parametrize("written", [False, True])
def test_every_matrix_is_addressed_element_by_element(written: bool) -> None:
    for strides in itertools.product(STEPS, repeat=2):
        for extents in itertools.product((1, 2, 3, 4), repeat=2):
            found = library_operand(strides, extents, written=written)
            if isinstance(found, str):
                continue
            assert addressed(found, 1) == elements(strides, extents), (strides, extents)
            assert found.distance >= found.columns, "BLAS refuses a leading dimension below the row"
            assert not (written and found.transposed)


def test_every_matrix_that_lies_in_rows_or_columns_is_handed_over() -> None:
    for extents in itertools.product((2, 3, 4), repeat=2):
        rows, columns = extents
        for distance in range(1, 6):
            by_rows = library_operand((distance, 1), extents, written=True)
            assert isinstance(by_rows, str) is (distance < columns)
            by_columns = library_operand((1, distance), extents, written=False)
            assert isinstance(by_columns, str) is (distance < rows or (distance == 1 and columns > 1 and rows > 1))


def test_batches_lie_one_behind_the_other() -> None:
    for strides in itertools.product((0, 1, 4, 6, 12), (1, 3, 4), (1, 3)):
        for extents in itertools.product((1, 2), (1, 2, 3), (1, 2, 3)):
            found = library_operand(strides, extents, written=False)
            if not isinstance(found, str):
                positions = addressed(found, extents[0])
                assert positions == elements(strides, extents)
                assert len(set(positions)) == len(positions), "no matrix reaches into the next"


@pytest.mark.parametrize(("strides", "extents", "why"), [
    ((None, 1), (2, 3), "its strides are not constant"), ((0,), (4,), "its step is 0"), ((-1,), (4,), "its step is -1"),
    ((0, 1), (2, 3), "its strides are 0 and 1"), ((6, 2), (2, 3), "its strides are 6 and 2"),
    ((5, 6, 1), (2, 2, 6), "its matrices of 2 rows 6 elements apart do not lie one behind the other (step 5)")])
def test_what_no_call_reaches_is_refused_in_words(strides: tuple[int | None, ...], extents: tuple[int, ...],
                                                  why: str) -> None:
    assert library_operand(strides, extents, written=False) == why


def test_a_result_by_columns_is_refused_and_one_element_has_any_stride() -> None:
    assert library_operand((1, 4), (4, 3), written=True) == "the result would be transposed"
    assert library_operand((None, 1), (1, 3), written=True) == LibraryOperand(rows=1, columns=3, distance=3)
    assert library_operand((None,), (1,), written=True) == LibraryOperand(rows=1, columns=1, distance=1)
    assert library_operand((3,), (5,), written=True) == LibraryOperand(rows=1, columns=5, distance=3)
