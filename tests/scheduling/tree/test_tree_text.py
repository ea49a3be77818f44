"""Schedule trees as indented text: bands, parallel members, statements in the order of their numbers."""

from __future__ import annotations

import islpy as isl

from polysched.scheduling.tree.tree_text import band_list, tree_text

TWO = ('{ domain: "[N] -> { S2[i] : 0 <= i < N; S10[i, j] : 0 <= i, j < N }", child: { schedule: "[{ S2[i] -> [i]; '
       'S10[i, j] -> [i + 1] }]", permutable: 1, coincident: [ 1 ], child: { sequence: [ { filter: "{ S10[i, j] }", '
       'child: { mark: "m", child: { schedule: "[{ S10[i, j] -> [j] }]" } } }, { filter: "{ S2[i] }" } ] } } }')


def read(text: str) -> isl.Schedule:
    return isl.Schedule.read_from_str(isl.DEFAULT_CONTEXT, text)


def test_one_line_per_member_mark_and_child() -> None:
    assert tree_text(read(TWO)) == """band permutable
  parallel    S2: i, S10: 1 + i
  sequence
    S10
      mark m
        band
          sequential  S10: j
    S2
"""


def test_a_set_has_no_order_and_says_so() -> None:
    assert "\n  set\n" in tree_text(read(TWO.replace("sequence", "set")))


def test_every_piece_of_a_row_is_said() -> None:
    text = ('{ domain: "{ S[i] : 0 <= i < 9 }", child: { schedule: "[{ S[i] -> [i] : i < 4; S[i] -> [2i] : i >= 4 }]" '
            '} }')
    assert "S: i | 2i" in tree_text(read(text)) or "S: 2i | i" in tree_text(read(text))


def test_bands_for_scripts() -> None:
    outer, inner = band_list(read(TWO))
    assert outer == {"statements": ["S2", "S10"], "permutable": True,
                     "members": [{"parallel": True, "rows": {"S2": "i", "S10": "1 + i"}}]}
    assert inner["statements"] == ["S10"]
    assert inner["permutable"] is False
