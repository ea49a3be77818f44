"""Panels declared and filled: whole vectors where the source has them, single elements elsewhere."""

from __future__ import annotations

from tests.emit_c.printers import printed, printer_of

PRODUCT = printer_of("for (int i = 0; i < n; i++)\n  for (int j = 0; j < m; j++)\n"
                     "    for (int k = 0; k < 16; k++)\n      A[i][j] += B[i][k] * B[k][j];")
PANEL = ("with packed(Panel(name='P', statement='S0', value=Load(reference='{read}', dtype=dtype('float32')), "
         "subscripts=({subscripts}), extents=({extents}), loops=({loops}), in_lanes={lanes}{more}), S0({at})):\n"
         "    pass")


def copied(*, read: str = "S0_r2", subscripts: str = "linear(k), linear(j - 8*q), ", extents: str = "16, 8, ",
           loops: str = "loop(k, 0, 16), loop(j, 8*q, 8*q + 8), ", lanes: bool = True, at: str = "0, j, k",
           more: str = "") -> str:
    return printed(PRODUCT, PANEL.format(read=read, subscripts=subscripts, extents=extents, loops=loops, lanes=lanes,
                                         at=at, more=more))


def test_rows_in_lanes_are_copied_by_whole_vectors() -> None:
    text = copied()
    assert text.startswith("float P[16][8] __attribute__((aligned(64)));")
    assert "*(polysched_f32x4 *)&P[k][j - 8 * q] = *(polysched_f32x4 *)&B[k][j];" in text
    assert "P[k][j - 8 * q + 4]" in text
    assert "if (" not in text, "the row is full"


def test_a_row_that_may_end_early_is_copied_one_by_one_there() -> None:
    text = copied(loops="loop(k, 0, 16), loop(j, 8*q, min(8*q + 8, m)), ")
    assert "if (" in text
    assert "P[k][j - 8 * q] = B[k][j];" in text
    assert "*(polysched_f32x4 *)&P[k][j - 8 * q]" in text


def test_rows_that_all_lanes_share_lie_as_in_memory() -> None:
    text = copied(read="S0_r1", subscripts="linear(i - 4*p), linear(k), ", extents="4, 16, ",
                  loops="loop(i, 4*p, 4*p + 4), loop(k, 0, 16), ", lanes=False, at="i, 0, k")
    assert "for (; k + 4 <= k_end; k += 4)" in text
    assert "for (; k < k_end; k++)" in text


def test_a_few_columns_are_gathered_into_vectors() -> None:
    text = copied(read="S0_r1", subscripts="linear(k), linear(i - 4*p), ", extents="16, 4, ",
                  loops="loop(k, 0, 16), loop(i, 4*p, 4*p + 4), ", lanes=True, at="i, 0, k")
    assert "(polysched_f32x4){B[i][k], B[i + 1][k], B[i + 2][k], B[i + 3][k]}" in text


def test_a_large_panel_belongs_to_the_thread() -> None:
    text = copied(extents="16, 80000, ", loops="loop(k, 0, 16), loop(j, 0, 80000), ",
                  subscripts="linear(k), linear(j), ")
    assert "static _Thread_local float P_memory[16][80000]" in text


def test_a_panel_with_lanes_that_are_never_filled_has_zeros_there() -> None:
    cut = copied(loops="loop(k, 0, 16), loop(j, 0, 5), ", subscripts="linear(k), linear(j), ")
    assert "static _Thread_local float P_memory[16][8]" in cut, "rubbish on the stack may be subnormal, which is slow"
    rows = copied(read="S0_r1", subscripts="linear(i), linear(k), ", extents="4, 16, ",
                  loops="loop(i, 0, 3), loop(k, 0, 16), ", lanes=False, at="i, 0, k")
    assert "static _Thread_local float P_memory[4][16]" in rows


def test_room_between_rows_is_never_read() -> None:
    text = copied(read="S0_r1", subscripts="linear(i), linear(k), ", extents="4, 1040, ",
                  loops="loop(i, 0, 4), loop(k, 0, 1024), ", lanes=False, at="i, 0, k")
    assert text.startswith("float P[4][1040] ")


def test_what_a_panel_holds_is_said() -> None:
    commented = printer_of("for (int i = 0; i < n; i++)\n  for (int j = 0; j < m; j++)\n"
                           "    for (int k = 0; k < 16; k++)\n      A[i][j] += B[i][k] * B[k][j];", comments=True)
    text = printed(commented, PANEL.format(
        read="S0_r2", subscripts="linear(k), linear(j - 8*q), ", extents="16, 8, ",
        loops="loop(k, 0, 16), loop(j, 8*q, 8*q + 8), ", lanes=True, at="0, j, k", more=""))
    assert text.startswith("/* B, packed */")


def test_a_shared_panel_starts_a_team_where_it_is_large() -> None:
    def shared(outer: str) -> str:
        return copied(subscripts="linear(q), linear(k), linear(j - 8*q), ", more=f", shared=1, outer=('{outer}',)",
                      loops="loop(q, 0, n), loop(k, 0, 16), loop(j, 8*q, 8*q + 8), ")
    assert "#pragma omp parallel for if(512ul * (n > 0 ? n : 1) >= 262144)\n" in shared("(n > 0 ? n : 1)")
    assert "#pragma omp parallel for\n" in shared("512")
    assert "#pragma" not in shared("511")
