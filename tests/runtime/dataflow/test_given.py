"""What a node is given stays as it was."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest

from polysched.runtime.dataflow.given import copied, is_fixed, is_small


@dataclass(frozen=True)
class Frozen:
    inside: Any


@dataclass
class Open:
    number: int


@pytest.mark.parametrize(("value", "fixed"), [
    (1, True), (1.5, True), ("a", True), (b"a", True), (None, True), (np.float32(1), True), ((1, "a"), True),
    (abs, True), (Frozen(1), True), ([1], False), ({}, False), (bytearray(b"a"), False), ((1, []), False),
    (np.zeros(3), False), (np.zeros(()), False), (Open(1), False), (Frozen((1, "a")), True), (Frozen([1]), False),
    (Frozen(np.zeros(3)), False), (partial(abs), False), (lambda: 0, True), (int, True), (np.sqrt, True),
    (np.zeros(2, "i4,f8")[0], False)])
def test_what_nobody_can_change(value, fixed: bool) -> None:
    assert is_fixed(value) == fixed


@pytest.mark.parametrize(("value", "small"), [
    (np.zeros(100), True), (np.zeros(101), False), (1, True), (1 << 8000, False), ("a" * 700, True), ("a" * 801, False),
    ([0.0] * 1000, False), (lambda: 0, False), (np.float64(1), True), (np.array(["a"] * 3, object), True)])
def test_what_is_small(value, small: bool) -> None:
    assert is_small(value, 800) == small


def test_copies_do_not_change_with_what_they_are_of() -> None:
    array, listed, inside = np.arange(4.0), [1, 2], np.array([[1], None], object)
    frozen, mixed = Frozen([1]), np.array([(1, [1])], [("a", int), ("b", object)])
    kept = [copied(v) for v in (array, listed, inside, frozen, mixed)]
    array[:] = 0
    frozen.inside.append(2)
    mixed["b"][0].append(2)
    listed.append(3)
    inside[0].append(2)
    assert (kept[0] == np.arange(4.0)).all()
    assert kept[1] == [1, 2]
    assert kept[2][0] == [1]
    assert kept[3] == Frozen([1])
    assert kept[4]["b"][0] == [1]
    assert copied("a") == "a"
    assert copied(np.asfortranarray(np.zeros((2, 3)))).flags.f_contiguous
