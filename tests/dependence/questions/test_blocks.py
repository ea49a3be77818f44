"""The answers as text, in one line and as plain values."""

import json

import islpy as isl

from polysched.dependence import analyse
from polysched.dependence.questions import Wish, blocking
from polysched.dependence.questions.blocks import Answer, Removal, key_of
from polysched.scop import from_c_text

PROGRAM = """void f(int n, double A[n][n]) {
#pragma scop
  for (int i = 1; i < n; i++)
    for (int j = 0; j < n - 1; j++)
      A[i][j] = A[i-1][j+1];
#pragma endscop
}"""


def test_a_block_tells_the_pair_and_what_removes_it() -> None:
    dependences = analyse(from_c_text(PROGRAM))
    (found,) = blocking(dependences, "i")
    assert str(found) == """\
loop i around S0, line 5
  parallel: 1 dependence prevents it
    flow S0_w0 -> S0_r0 on A, 1 iteration apart
      S0[1, 1] must run before S0[2, 0] (flow dependence on A) with n = 3, but parallel iterations of i would run the \
two at the same time
      nothing that was tried removes it
  lanes: 1 dependence prevents it
    flow S0_w0 -> S0_r0 on A, 1 iteration apart
      S0[1, 1] must run before S0[2, 0] (flow dependence on A) with n = 3, but the two lanes of i would not keep that \
order
      nothing that was tried removes it
  interchange with j: 1 dependence prevents it
    flow S0_w0 -> S0_r0 on A, 1 iteration apart
      S0[1, 1] must run before S0[2, 0] (flow dependence on A) with n = 3, but with j around i the later one would run \
first
      removed by reversal: loop j (line 5) counts the other way
      removed by skewing: loop j (line 5) runs over j + i
  tiles of i, j: 1 dependence prevents it
    flow S0_w0 -> S0_r0 on A, 1 iteration apart
      S0[1, 1] must run before S0[2, 0] (flow dependence on A) with n = 3, but one of the loops i, j runs the two \
backward: tiles of them would depend on each other in both directions
      removed by reversal: loop j (line 5) counts the other way
      removed by skewing: loop j (line 5) runs over j + i
"""
    assert repr(found) == ("<LoopBlocks loop i around S0, line 5: 1 prevents parallel, 1 prevents lanes, 1 prevents "
                           "interchange with j, 1 prevents tiles of i, j>")
    (block,) = found.of(Wish.INTERCHANGE)
    assert block.key == key_of(block.dependence) == ("flow", "S0_w0", "S0_r0")


def test_plain_values_round_trip_through_json() -> None:
    (found,) = blocking(analyse(from_c_text(PROGRAM)), "j")
    value = json.loads(json.dumps(found.to_json()))
    parallel, lanes, interchange, _ = value["answers"]
    assert parallel == {"wish": "parallel", "beside": [], "obstacle": None, "blocks": []}
    assert lanes["blocks"] == []
    (block,) = interchange["blocks"]
    assert block["pair"] == {"parameters": {"n": 3}, "source": [1, 1], "sink": [2, 0]}
    assert not isl.Map(block["relation"]).is_empty()
    assert [r["means"] for r in block["removed_by"]] == ["reversal", "skewing"]


def test_an_obstacle_is_told_in_the_place_of_dependences() -> None:
    assert str(Answer(wish=Wish.TILES, obstacle="it is alone")) == "tiles: it is alone"
    assert str(Answer(wish=Wish.PARALLEL)) == "parallel: nothing prevents it"
    assert str(Removal(means="reversal", text="i counts down")) == "reversal: i counts down"
