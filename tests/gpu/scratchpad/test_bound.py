"""Inputs once in, outputs once out."""

from __future__ import annotations

from polysched.gpu.scratchpad.bound import io_bytes, moved_off_chip
from tests.gpu.scratchpad.accelerated import dependences, mapped, program


def test_each_element_counts_once() -> None:
    text = program("float x[9], const float y[9], float s[9]",
                   "for (int i = 0; i < 9; i++) { x[i] = y[i] + y[8 - i]; s[i] = s[i] + x[i]; }")
    assert io_bytes(dependences(text)) == 4 * (9 + 9 + 9 + 9)
    own = mapped(text, tile=(9,))
    assert moved_off_chip(own.timeline) == own.io_bytes


def test_arrays_of_the_region_count_nothing() -> None:
    text = program("float x[9]", "for (int i = 0; i < 9; i++) { float t = x[i]; x[i] = t * t; }")
    assert io_bytes(dependences(text)) == 4 * 18
