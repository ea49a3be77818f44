"""The limits of this room: what a placement weighs, and the budgets of its searches."""

from __future__ import annotations

from polysched.records import dataclass
from polysched.target.constant import constant


@dataclass(frozen=True, kw_only=True)
class MeshLimits:
    """By the module that asks for them."""

    # target.py
    most_cores: int = constant(
        1 << 22, unit="cores", source="first guess: of a mesh, 2048x2048")
    # operators.py
    most_operators: int = constant(
        1 << 20, unit="operators", source="of a graph: a million were placed; more belong in arrays, not in a JSON "
                                          "list")
    most_bytes: int = constant(
        1 << 40, unit="bytes", source="of all messages: so much on each of most_cores links is still a whole number "
                                      "of 63 bits")
    # shapes.py
    buffers: int = constant(
        2, unit="copies", source="of every input of an operator: one is read while the next one arrives")
    # traffic.py
    most_flows: int = constant(
        1 << 17, unit="flows", source="that are kept for the same places of a message: about 1 kB each on 8x8")
    # cost.py
    congestion_weight: int = constant(
        100, unit="1", source="first guess: a byte over one hop is worth 1, one on the most loaded link so much")
    # placing.py
    fill_step: float = constant(
        0.05, unit="1", source="first guess: of the cores that shapes may take; so much is given back at a time "
                               "where they cannot be packed")
    # bounds.py
    around_operators: int = constant(
        100, unit="operators", source="of a graph whose bound has an operator's partners around it: first guess")
    around_cores: int = constant(
        256, unit="cores", source="of a mesh for that: first guess")
    price_rounds: int = constant(
        60, unit="rounds", source="of prices of the cores around one operator: first guess")
    price_parts: int = constant(
        256, unit="parts", source="of a byte, in which prices are whole numbers: first guess")
    price_step: float = constant(
        0.02, unit="1", source="of the bound, by which it is hoped to rise in a round: first guess")
    # shaping.py
    reshaping_loads: int = constant(
        48, unit="loads", source="of the busiest link that shapes are chosen for; first guess")
    reshaping_budgets: int = constant(
        32, unit="steps", source="of the mesh's cores between the fewest that shapes need and all; first guess")
    reshaping_cores: float = constant(
        2.0, unit="1", source="times the cores of the allocation's shape, at most; first guess")
    reshaping_more: int = constant(
        4, unit="cores", source="beside those, so that what has one core may have some; first guess")
    reshaping_rounds: int = constant(
        8, unit="rounds", source="over all operators; first guess")
    # placing.py
    reshaped_packings: int = constant(
        40, unit="choices", source="of shapes that are packed, best first; each takes up to a second on 8x8")
    drawn_orders: int = constant(
        64, unit="orders", source="in which a tight packing is tried where no packer finds any; of 53 such among 2963 "
                                  "random ones on 6 to 12 cores, 40 found all")
    reshaped_orders: int = constant(
        16, unit="orders", source="of operators, in which each choice of shapes is packed tightly; first guess")
    reshaped_annealings: int = constant(
        4, unit="choices", source="of packed shapes that are annealed: those with the best first placement")
    further_moves: int = constant(
        40_000, unit="moves", source="of further annealings with other shapes, by turns from the best placement and "
                                     "from first ones, each with another seed: the decoder came to 1.03 of its bound")
    most_vain: int = constant(
        4, unit="annealings", source="in a row without gain, behind which there is one more and then no further; "
                                     "first guess")
    reshaped_operators: int = constant(
        100, unit="operators", source="of a graph whose shapes are chosen by messages, too: 54 take half a minute")
    reshaped_cores: int = constant(
        256, unit="cores", source="of a mesh for that: 4 operators take 6 s of processor time on 16x16")
    # packing.py
    packing_tries: int = constant(
        20_000, unit="tries", source="of a rectangle at the first free core in `corner_first`; about a second")
    # exact.py
    exact_cores: int = constant(
        64, unit="cores", source="of a mesh for CP-SAT: on 16x16 its bound of 40 operators was no use")
    exact_time: float = constant(
        20.0, unit="s of deterministic time", source="of CP-SAT: about as many seconds on one idle core")
    exact_slack: float = constant(
        1e-6, unit="bytes", source="a whole-numbered bound comes back as a float, and is rounded up")
    # annealing.py
    moves_per_operator: int = constant(
        600, unit="moves", source="of annealing: some seconds for 40 operators")
    most_moves: int = constant(
        60_000, unit="moves", source="of annealing: 12 seconds where a move takes 0.2 ms")
    hot_share: float = constant(
        0.05, unit="1", source="first guess: of the first score, as the first temperature")
    cold_share: float = constant(
        1e-4, unit="1", source="first guess: of the first score, as the last temperature")
    near_share: float = constant(
        0.5, unit="1", source="first guess: of the moves, to a place beside an operator at the other end of a message")
    most_pushed: int = constant(
        2, unit="operators", source="first guess: that make room for another one's new place")
    soft_share: float = constant(
        0.7, unit="1", source="first guess: of the moves, the first ones, that are judged by all large loads, not by "
                              "the largest alone")
    turn_share: float = constant(
        0.1, unit="1", source="first guess: of the moves, a message along the other way, where that may be")
    reshape_share: float = constant(
        0.2, unit="1", source="first guess: of the moves, to another shape, where operators may have some")
    # partitioning.py
    fewest_in_processes: int = constant(
        50_000, unit="operators", source="first guess: a process starts in a second, and 1562 operators take 0.2 s")
    # regions.py
    most_weighted: int = constant(
        2_000, unit="operators", source="of a region whose parts have sizes of their own: Mt-KaHyPar 1.7 crashes with "
                                         "such sizes at 102,400 and 200,000, and maps a million to equal parts")
    equal_part_slack: float = constant(
        0.03, unit="1", source="of equal parts, Mt-KaHyPar's default; what is too much is moved to a part with room")
    most_parts_a_side: int = constant(
        8, unit="parts", source="of a level, so 64 at most: Mt-KaHyPar's mapping does not finish with more")
    least_part_side: int = constant(
        4, unit="cores", source="of a part: smaller ones leave the mapping no room for balance, and it takes long")
    part_operators: int = constant(
        48, unit="operators", source="of a part, at least: 1562 take 8 s in 8x8 parts and 0.4 s in 4x4")
    leaf_cores: int = constant(
        64, unit="cores", source="first guess: of a region that is not cut again; swaps put its operators in order")
    fewest_cut: int = constant(
        4, unit="operators", source="of a region that is cut: 2x2 parts have one each; Mt-KaHyPar 1.7 refuses to map "
                                    "fewer operators than parts")
    # swapping.py
    swap_rounds: int = constant(
        200, unit="rounds", source="first guess: of swaps; each looks at every message once")
    most_swap_looks: int = constant(
        100_000_000, unit="messages", source="first guess: looked at in all rounds; some 50 s")
    swap_reach: int = constant(
        4, unit="cores", source="first guess: between two that are swapped, half the side of leaf_cores")


LIMITS = MeshLimits()
