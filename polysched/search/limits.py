"""The limits of this room: budgets of searches, races and records."""

from __future__ import annotations

from polysched.records import dataclass
from polysched.target.constant import constant


@dataclass(frozen=True, kw_only=True)
class SearchLimits:
    """By the module that asks for them."""

    # chooser.py
    near_share: float = constant(0.6, unit="1", source="of the choices that change, to a neighbour in their list")
    # space.py
    most_attempts: int = constant(64, unit="proposals", source="rejected in a row before a space counts as exhausted")
    # rewriting/partial_sums.py
    parts_in_lanes: tuple[int, ...] = constant(
        (8, 32), unit="parts", source="a vector of doubles, and as many as hide the latency of its additions")
    parts_on_threads: tuple[int, ...] = constant((2, 8), unit="parts", source="few cores, and a socket of them")
    run_of_a_part: int = constant(1024, unit="iterations", source="some pages, so that each part has its own")
    # strategies.py
    parents: int = constant(16, unit="recipes", source="the fastest so far, near which evolution looks")
    arms: int = constant(16, unit="regions", source="of the first rung of successive halving")
    fresh_share: float = constant(0.3, unit="1", source="of the recipes that evolution proposes, drawn anew")
    # models.py
    ridge: float = constant(1.0, unit="1", source="weight of the penalty on standardised features")
    least_to_learn: int = constant(8, unit="trials", source="one batch; before, the projected model ranks alone")
    most_correction: float = constant(2.0, unit="1", source="logarithm of the largest factor between model and machine")
    trees: int = constant(60, unit="trees", source="of the boosted model, of depth 3")
    pool: int = constant(4096, unit="recipes", source="that are ranked and may be built; the worst of more are dropped")
    explored_share: float = constant(0.25, unit="1", source="of a batch, drawn from all that were ranked: the model "
                                     "ranks the wrong way round on some kernels")
    # trial.py
    contenders: int = constant(12, unit="recipes", source="get a second race: the fastest of hundreds by five samples "
                               "had luck, too")
    finalists: int = constant(3, unit="recipes", source="that get fresh samples; intervals widen with their number")
    confidence: float = constant(0.95, unit="1", source="of all claims of one search together")
    # tuning.py
    first_generation: int = constant(2048, unit="recipes", source="ranked by the model before the first of them are "
                                     "built: as long as two or three trials take")
    generation: int = constant(256, unit="recipes", source="ranked anew for each batch, most of them near the fastest: "
                               "a twentieth of what its trials take")
    batch: int = constant(8, unit="recipes", source="built together, then raced: no build runs while one is timed")
    most_vain: int = constant(64, unit="recipes", source="in a row whose C was known or that a stage refused: a small "
                              "kernel has few codes, and a search for more of them would build without end")
    search_pairs: int = constant(5, unit="pairs", source="samples of a trial; the sign of 20% shows in five")
    least_for_pool: int = constant(16, unit="trials", source="from which on warm processes pay their start of 3 s each")
    again_pairs: int = constant(9, unit="pairs", source="fresh samples of a contender, for its place among them")
    confirm_pairs: int = constant(25, unit="pairs", source="fresh samples of a finalist: 98.3% intervals of 25")
    slow_ratio: float = constant(1.5, unit="1", source="times the best; a trial slower than that gets one pair")
    # clients/raced_calls.py
    least_pairs: int = constant(6, unit="pairs", source="that an interval of 95% needs: 1 - 2^-5")
    call_seconds: float = constant(0.5, unit="s", source="for the pairs of one code of a call that waits for them; "
                                   "long calls get the least number of pairs")
    # building.py
    hung_factor: float = constant(50.0, unit="1", source="times the reference without progress: hung")
    hung_seconds: float = constant(5.0, unit="s", source="no trial is called hung sooner")
    # rewriting/tuned_terms.py
    usual_extent: int = constant(256, unit="iterations", source="of a dimension of any size, where work is compared")
    # tuned.py
    told_disturbance: float = constant(0.05, unit="1", source="share of samples that other programs disturbed, from "
                                       "which on it is said")
    # tasks.py
    near_bound_share: float = constant(
        0.07, unit="1", source="of a program's time above its bound; a program nearer to it gets no further turn")
    recent_turns: int = constant(3, unit="turns", source="whose savings tell what the next one may save")
    gradient_share: float = constant(
        0.8, unit="1", source="weight of past savings in what a turn is expected to save; the rest is optimism")
    # several.py
    most_turns: int = constant(64, unit="turns", source="per program where only the time is limited")
    # variants.py
    regret_unit: int = constant(10000, unit="1", source="integers per doubling, for the integer program")
    variant_seconds: float = constant(20.0, unit="s", source="deterministic time of the integer program")
    # importance.py
    least_to_explain: int = constant(12, unit="trials", source="with times; fewer explain nothing")
    # pool.py
    build_seconds: float = constant(120.0, unit="s", source="for the code of one recipe: six of TILING_SECONDS")
    # database.py
    text_bytes: int = constant(1 << 20, unit="bytes", source="of the longest text that is read from a database")
    most_pairs: int = constant(4096, unit="pairs", source="of one record that is read")
    most_cases: int = constant(16, unit="recipes", source="for one range of sizes, whose codes all stand in one region")
    busy_seconds: float = constant(30.0, unit="s", source="another writer may hold the database for so long")
    # lookup.py
    replay_seconds: float = constant(15.0, unit="s", source="of processor time, for the code of all records of a "
                                     "region; of the 25 s of a file, so that they leave some to the models")
    # rewriting/rules.py
    split_factors: tuple[int, ...] = constant((4, 16), unit="iterations", source="parts of a dimension or a sum: the "
                                              "lanes of a vector, and a few of them")
    # rewriting/rewriter.py
    rewriting_depth: int = constant(2, unit="rules", source="one after the other: a product of three has 30 terms then")
    most_terms: int = constant(64, unit="terms", source="of one output, the shortest histories first")
    # rewriting/sketches.py
    sketch_depth: int = constant(3, unit="rules", source="one after the other, from a sketch to the next")
    terms_to_a_sketch: int = constant(512, unit="terms", source="that are looked at for one sketch: some seconds")


LIMITS = SearchLimits()
