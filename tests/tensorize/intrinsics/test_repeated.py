"""What descriptions share: a word repeated in every lane, at any address, and loops that assign."""

from __future__ import annotations

import ctypes
from pathlib import Path

from polysched.tensorize.intrinsics.repeated import each, repeated_group
from tests.emit_c.compiled import load


def test_a_group_is_read_as_one_word_wherever_it_lies(tmp_path: Path) -> None:
    register = repeated_group("int", "({} + 0)", "int")
    text = register.load.replace("{register}", "r").replace("{pointer}", "p")
    source = f"int f(const signed char *p) {{ int r; {text} return r; }}\n"
    f = load(source, tmp_path, strict=False).f
    room = (ctypes.c_byte * 9)(7, 1, 2, 3, 4, 5, 6, 7, 8)
    assert f(ctypes.byref(room, 1)) == int.from_bytes(bytes([1, 2, 3, 4]), "little")
    assert f(ctypes.byref(room, 2)) == int.from_bytes(bytes([2, 3, 4, 5]), "little")


def test_the_word_may_alias_elements_of_any_type() -> None:
    register = repeated_group("__m512i", "_mm512_set1_epi32({})", "int", count=16)
    assert "may_alias, aligned(1)" in register.load
    assert register.count == 16
    assert (register.store, register.zero) == ("", ""), "it is only read"


def test_a_loop_over_all_elements() -> None:
    assert each(16, "A[i] + B[i]") == "for (int i = 0; i < 16; i++)\n        O[i] = A[i] + B[i];"
