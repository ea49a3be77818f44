"""A chooser samples, replays, mutates and enumerates the same space; what was rejected is not chosen again."""

from __future__ import annotations

import json
import random

import pytest

from polysched.errors import UsageError
from polysched.search.bands import LoopFacts
from polysched.search.chooser import (
    Chooser,
    Decision,
    Enumerating,
    Mutating,
    Rejected,
    RejectedError,
    Rejections,
    Replaying,
    Sampling,
    trace_from_json,
    trace_to_json,
)

LOOP = LoopFacts("i", 12, (4, 8))


def space(choose: Chooser) -> tuple[object, ...]:
    kind = choose.one_of("kind", ("a", "b"))
    edges = choose.split(LOOP, 3, policy=(2, 4)) if kind == "a" else ()
    return (kind, edges, choose.subset("pack", ("A", "B")), choose.order("order", (0, 1, 2)))


def every() -> list[tuple[object, ...]]:
    found, prefix = [], ()
    while prefix is not None:
        answers = Enumerating(prefix)
        found.append(space(Chooser(answers)))
        prefix = answers.following()
    return found


def test_everything_is_enumerated_once_in_lexical_order():
    found = every()
    assert len(found) == len(set(found)) == (3 + 1) * 4 * 6
    assert found[0] == ("a", (2, 2), ("A", "B"), (0, 1, 2))
    assert found[-1] == ("b", (), (), (2, 1, 0))
    assert all(inner <= outer for _, edges, _, _ in found if edges for outer, inner in [edges])


def test_samples_are_those_of_the_space_and_the_seed_decides_them():
    draws = [[space(Chooser(Sampling(random.Random(seed)))) for seed in range(30)] for _ in range(2)]
    assert draws[0] == draws[1]
    assert set(draws[0]) <= set(every())
    assert len(set(draws[0])) > 10


def test_a_trace_replays_through_json():
    first = Chooser(Sampling(random.Random(3)))
    value = space(first)
    trace = trace_from_json(json.loads(json.dumps(trace_to_json(first.trace))))
    assert trace == first.trace
    assert space(Chooser(Replaying(trace))) == value


@pytest.mark.parametrize(("trace", "problem"), [
    ((), "the trace has no choice 'kind'"), ((Decision("kind", "z"),), "kind cannot be 'z' here")])
def test_a_trace_of_another_space_is_refused(trace, problem):
    with pytest.raises(UsageError, match=problem):
        space(Chooser(Replaying(trace)))


@pytest.mark.parametrize("value", [1, [["a"]], [[1, 2]], {"a": 1}])
def test_what_is_no_trace_is_refused(value):
    with pytest.raises(UsageError, match="no trace"):
        trace_from_json(value)


def test_a_mutant_differs_where_it_was_asked_to():
    first = Chooser(Sampling(random.Random(1)))
    space(first)
    kept = {d.name: d.value for d in first.trace}
    for seed in range(20):
        mutant = Chooser(Mutating(first.trace, random.Random(seed), ["pack: A"]))
        space(mutant)
        changed = {d.name: d.value for d in mutant.trace}
        assert changed["pack: A"] is not kept["pack: A"]
        assert {n: v for n, v in changed.items() if n != "pack: A"} == {
            n: v for n, v in kept.items() if n != "pack: A"}


def test_an_answer_that_a_mutant_makes_necessary_is_drawn():
    first = Chooser(Replaying(tuple(Decision(n, v) for n, v in (
        ("kind", "b"), ("pack: A", True), ("pack: B", True), ("order, place 0", 2), ("order, place 1", 0)))))
    space(first)
    mutant = Chooser(Mutating(first.trace, random.Random(0), ["kind"]))
    assert space(mutant)[0] == "a"
    assert len(mutant.trace) == len(first.trace) + 2


def test_a_rejected_prefix_is_not_chosen_again():
    rejections = Rejections()
    rejections.add(Rejected("no", "witness", (Decision("kind", "a"),)))
    kinds = {space(Chooser(Sampling(random.Random(seed)), rejections=rejections))[0] for seed in range(20)}
    assert kinds == {"b"}
    rejections.add(Rejected("no", "another", (Decision("kind", "b"),)))
    with pytest.raises(RejectedError, match="everything that could follow was rejected"):
        space(Chooser(Sampling(random.Random(0)), rejections=rejections))
    assert (rejections.total, rejections.counts, rejections.first["no"].witness) == (2, {"no": 2}, "witness")


def test_enumeration_skips_what_begins_like_a_rejection():
    def picky(choose: Chooser) -> tuple[int, int]:
        first = choose.one_of("first", (0, 1))
        if first == 0:
            choose.reject("not 0", witness="0")
        return first, choose.one_of("second", (0, 1, 2))
    made, rejected, prefix = [], 0, ()
    while prefix is not None:
        answers = Enumerating(prefix)
        try:
            made.append(picky(Chooser(answers)))
        except RejectedError:
            rejected += 1
        prefix = answers.following()
    assert (made, rejected) == ([(1, 0), (1, 1), (1, 2)], 1)


@pytest.mark.parametrize(("policy", "edges"), [
    ("factors", {1, 2, 3, 4, 6, 12}), ("power2", {1, 2, 4, 8}), ((5, 7, 90), {5, 7}), ((90,), {12})])
def test_policies_of_split(policy, edges):
    drawn = {Chooser(Sampling(random.Random(s))).split(LOOP, policy=policy) for s in range(200)}
    assert drawn == {(edge,) for edge in edges}


def test_misuse_is_refused():
    choose = Chooser(Sampling(random.Random(0)))
    choose.one_of("a", (1,))
    with pytest.raises(UsageError, match="is made twice"):
        choose.one_of("a", (1,))
    with pytest.raises(UsageError, match="has no options"):
        choose.one_of("b", ())
    with pytest.raises(UsageError, match="no policy"):
        choose.split(LOOP, policy="luck")
    with pytest.raises(UsageError, match="knows no bands"):
        choose.bands(None)
    with pytest.raises(UsageError, match="knows no schedules"):
        choose.scheduled("s", {})
    assert choose.edge(LOOP) in (4, 8)
    assert choose.order("legal", (0, 1), legal=((1, 0),)) == (1, 0)
