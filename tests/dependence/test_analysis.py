"""Dependences against an oracle that runs the program element by element."""

import random
from dataclasses import replace
from typing import Any

import islpy as isl
import pytest

from polysched.dependence import DependenceKind, Dependences, analyse, analysis
from polysched.errors import BudgetExceededError
from polysched.scop import from_c_text
from polysched.scop.budget import with_budget
from polysched.scop.points import fix_parameters, instances_in_order, pairs_of
from polysched.scop.scop import AccessKind, Scop
from tests.scop_builder import build_scop

Instance = tuple[str, tuple[int, ...]]
Pairs = set[tuple[Instance, Instance]]

SIZES = {"N": 5, "T": 3}


def run_oracle(scop: Scop, sizes: dict[str, int]) -> dict[str, Pairs]:
    """Execute instance by instance, reads before writes, remembering who touched each element."""
    names = [s.name for s in scop.statements]
    order = instances_in_order(scop.domain, scop.schedule, sizes, names)
    reached = {s.name: [(a, dict_of(a.relation, sizes)) for a in s.accesses] for s in scop.statements}
    writers: dict[object, list[Instance]] = {}     # may-writes since the last must-write, that one first
    readers: dict[object, list[Instance]] = {}     # since the last must-write
    everyone: dict[object, list[tuple[Instance, bool]]] = {}
    found: dict[str, Pairs] = {"flow": set(), "anti": set(), "output": set(), "memory": set()}
    for now in order:
        touched = [(a, (a.array, element)) for a, elements in reached[now[0]] for element in elements.get(now[1], [])]
        for access, element in touched:
            if not access.is_write:
                found["flow"] |= {(w, now) for w in writers.get(element, []) if w != now}
                found["memory"] |= {(i, now) for i, wrote in everyone.get(element, []) if wrote and i != now}
                readers.setdefault(element, []).append(now)
        for access, element in touched:
            if access.is_write:
                found["output"] |= {(w, now) for w in writers.get(element, []) if w != now}
                found["anti"] |= {(r, now) for r in readers.get(element, []) if r != now}
                found["memory"] |= {(i, now) for i, _ in everyone.get(element, []) if i != now}
        for access, element in touched:
            if access.kind is AccessKind.MUST_WRITE:
                writers[element], readers[element] = [now], []
            elif access.kind is AccessKind.MAY_WRITE:
                writers.setdefault(element, []).append(now)
            everyone.setdefault(element, []).append((now, access.is_write))
    return found


def dict_of(relation: isl.Map, sizes: dict[str, int]) -> dict[tuple[int, ...], list[tuple[int, ...]]]:
    found: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
    for source, sink in pairs_of(fix_parameters(relation, sizes)):
        found.setdefault(source, []).append(sink)
    return found


def pairs_at(dependences: Dependences, kinds: tuple[DependenceKind, ...], sizes: dict[str, int]) -> Pairs:
    return {((d.source, source), (d.sink, sink)) for d in dependences.pairs if d.kind in kinds
            for source, sink in pairs_of(fix_parameters(d.relation, sizes))}


def closure(pairs: Pairs) -> Pairs:
    following: dict[Instance, set[Instance]] = {}
    for source, sink in pairs:
        following.setdefault(source, set()).add(sink)
    found = set()
    for start in following:
        seen: set[Instance] = set()
        work = [start]
        while work:
            for successor in following.get(work.pop(), ()):
                if successor not in seen:
                    seen.add(successor)
                    work.append(successor)
        found |= {(start, end) for end in seen}
    return found


def stencil() -> Scop:
    return build_scop(
        [("S0", "{ S0[t, i] : 0 <= t < T and 1 <= i < N - 1 }", ["{ S0[t, i] -> A[a] : i - 1 <= a <= i + 1 }"],
          ["{ S0[t, i] -> B[i] }"]),
         ("S1", "{ S1[t, i] : 0 <= t < T and 1 <= i < N - 1 }", ["{ S1[t, i] -> B[a] : i - 1 <= a <= i + 1 }"],
          ["{ S1[t, i] -> A[i] }"])],
        "{ S0[t, i] -> [t, 0, i]; S1[t, i] -> [t, 1, i] }", context="{ : N > 3 and T > 0 }")


def update() -> Scop:
    """x[0] is initialised by a may-write, updated in place, and read by the next statement."""
    return build_scop(
        [("S0", "{ S0[i] : 0 <= i < N }", [], ["?{ S0[i] -> x[0] }"]),
         ("S1", "{ S1[i, j] : 0 <= j <= i < N }", ["{ S1[i, j] -> x[0] }", "{ S1[i, j] -> A[i + j] }"],
          ["{ S1[i, j] -> x[0] }", "{ S1[i, j] -> A[i - j + 1] }"]),
         ("S2", "{ S2[i] : 0 <= i < N }", ["{ S2[i] -> x[0] }"], ["{ S2[i] -> A[2i] }"])],
        "{ S0[i] -> [i, 0, 0]; S1[i, j] -> [i, 1, j]; S2[i] -> [i, 2, 0] }", context="{ : N > 0 }")


def random_scop(seed: int) -> Scop:
    """Two or three statements over two small arrays, with shifted, reversed, strided and scalar subscripts."""
    rng = random.Random(seed)
    subscripts = ["i", "j", "i + 1", "j - 1", "i - j", "i + j", "2i", "3 - j", "0", "floor(i / 2)"]
    statements = []
    for number in range(rng.randint(2, 3)):
        name = f"S{number}"
        bounds = rng.choice(["0 <= i, j < N", "0 <= j <= i < N", "0 <= i < N and i < j < N",
                             "0 <= i, j < N and i mod 2 = 0"])

        def access(name: str = name) -> str:
            return f"{{ {name}[i, j] -> {rng.choice('AB')}[{rng.choice(subscripts)}] }}"

        writes = [("?" if rng.random() < 0.3 else "") + access() for _ in range(rng.choice([1, 1, 2]))]
        reads = [access() for _ in range(rng.randint(0, 2))]
        statements.append((name, f"{{ {name}[i, j] : {bounds} }}", reads, writes))
    order = "; ".join(
        f"S{k}[i, j] -> [{rng.choice(['0', 'i'])}, {k if rng.random() < 0.7 else 0}, i, j, {k}]"
        for k in range(len(statements)))
    return build_scop(statements, f"{{ {order} }}", context="{ : N > 0 }")


CASES = [stencil, update, *[lambda seed=seed: random_scop(seed) for seed in range(25)]]


@pytest.mark.parametrize("make", CASES, ids=["stencil", "update", *[f"random{s}" for s in range(25)]])
def test_value_based_pairs_are_those_of_an_execution(make) -> None:  # type: ignore[no-untyped-def]
    scop = make()
    sizes = {p.name: SIZES[p.name] for p in scop.parameters}
    expected = run_oracle(scop, sizes)
    dependences = analyse(scop)
    for kind in (DependenceKind.FLOW, DependenceKind.OUTPUT):
        assert pairs_at(dependences, (kind,), sizes) == expected[kind.value], kind
    anti = pairs_at(dependences, (DependenceKind.ANTI,), sizes)
    assert anti <= expected["anti"]
    ordering = (DependenceKind.FLOW, DependenceKind.ANTI, DependenceKind.OUTPUT)
    assert closure(pairs_at(dependences, ordering, sizes)) == closure(expected["memory"])
    memory = analyse(scop, value_based=False)
    assert pairs_at(memory, ordering, sizes) == expected["memory"]


def test_one_relation_per_pair_of_references() -> None:
    dependences = analyse(stencil())
    keys = [(d.kind, d.source_reference, d.sink_reference) for d in dependences.pairs]
    assert len(keys) == len(set(keys))
    assert {(d.source_reference, d.sink_reference) for d in dependences.pairs if d.kind is DependenceKind.FLOW} == {
        ("S0_w1", "S1_r0"), ("S1_w1", "S0_r0")}
    assert all(not d.relation.is_empty() for d in dependences.pairs)


def test_inputs_are_there_only_on_request() -> None:
    assert not [d for d in analyse(stencil()).pairs if d.kind is DependenceKind.INPUT]
    dependences = analyse(stencil(), inputs=True)
    assert [d for d in dependences.pairs if d.kind is DependenceKind.INPUT]
    assert dependences.validity.is_equal(analyse(stencil()).validity)


def test_out_of_budget_the_relations_are_memory_based() -> None:
    scop = stencil()
    sizes = {"N": 5, "T": 3}
    found = analyse(scop, isl_operations=10)
    assert not found.value_based
    assert found.fallbacks[0].startswith("flow dependences of `")
    assert "` by memory: isl ran out of 10 isl operations or 4 s" in found.fallbacks[0]
    ordering = (DependenceKind.FLOW, DependenceKind.ANTI, DependenceKind.OUTPUT)
    assert pairs_at(found, ordering, sizes) == run_oracle(scop, sizes)["memory"]


def test_a_region_beyond_every_budget_is_told_with_its_statements_arrays_and_scalars(
        monkeypatch: pytest.MonkeyPatch) -> None:
    scop = from_c_text("""void f(int n, int *restrict A, int *restrict B) {
#pragma scop
  for (int i = 0; i < n; i++) {
    int t = A[i], u;
    u = t * 3;
    B[i] = t - u;
  }
#pragma endscop
}""")
    monkeypatch.setattr(analysis, "ISL_OPERATIONS", 1)
    with pytest.raises(BudgetExceededError, match="flow dependences need more than") as refused:
        analyse(scop, isl_operations=1)
    assert refused.value.witness == "3 statements with 2 arrays and 2 scalars"


def test_a_write_with_a_larger_relation_hides_nothing() -> None:
    """S1 writes one unknown element; what S0 wrote may still be read by S2."""
    scop = build_scop(
        [("S0", "{ S0[i] : 0 <= i < N }", [], ["{ S0[i] -> A[i] }"]),
         ("S1", "{ S1[i] : 0 <= i < N }", [], ["{ S1[i] -> A[a] : 0 <= a < N }"]),
         ("S2", "{ S2[i] : 0 <= i < N }", ["{ S2[i] -> A[i] }"], ["{ S2[i] -> B[i] }"])],
        "{ S0[i] -> [0, i]; S1[i] -> [1, i]; S2[i] -> [2, i] }", context="{ : N > 0 }")
    unknown = replace(scop.statement("S1"), accesses=(replace(scop.statement("S1").accesses[0], exact=False),))
    scop = replace(scop, statements=tuple(unknown if s.name == "S1" else s for s in scop.statements))
    sources = {d.source for d in analyse(scop).pairs if d.kind is DependenceKind.FLOW}
    assert sources == {"S0", "S1"}


def test_the_analysis_leaves_time_of_a_budget_around(monkeypatch: pytest.MonkeyPatch) -> None:
    """What takes all of a region's time leaves it without dependences; by memory they take a hundredth."""
    scop = from_c_text("""void f(int n, int *restrict a) {
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = 1;
#pragma endscop
}
""")
    given: list[float] = []

    def noted(schedule: isl.Schedule, instances: isl.UnionSet, question: Any, operations: int,
              seconds: float) -> tuple[isl.UnionMap | None, str]:
        given.append(seconds)
        return original(schedule, instances, question, operations, seconds)

    original = analysis._value_based
    monkeypatch.setattr(analysis, "_value_based", noted)
    assert with_budget(0, lambda: analyse(scop), seconds=2.0) is not None
    assert 0.1 < max(given) <= 0.4
    given.clear()
    analyse(scop)
    assert max(given) == analysis.FLOW_SECONDS


def test_one_costly_array_leaves_the_others_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    scop = from_c_text("""void f(int n, int *restrict A, int *restrict B) {
#pragma scop
  for (int t = 0; t < n; t++)
    for (int i = 0; i < n; i++) {
      A[i] = i;
      B[i] = A[i];
      B[(i + n) / 3] += i;
    }
#pragma endscop
}
""")
    exact = analyse(scop)
    assert exact.value_based
    whole = analysis._value_based

    def spent_for_b(schedule, instances, question, operations, seconds):  # type: ignore[no-untyped-def]
        relation, problem = whole(schedule, instances, question, operations, seconds)
        touches_b = not question.of(instances).sink.range().intersect(B_ELEMENTS).is_empty()
        return (None, "isl ran out of patience") if touches_b else (relation, problem)

    monkeypatch.setattr(analysis, "_value_based", spent_for_b)
    found = analyse(scop)
    assert found.by_memory == ("B",)
    assert not found.value_based
    assert all("`B` by memory: isl ran out of patience" in line for line in found.fallbacks)

    def of(dependences, array):  # type: ignore[no-untyped-def]
        return {(p.kind, p.source_reference, p.sink_reference): p.relation for p in dependences.pairs
                if p.array == array}

    before, after = of(exact, "A"), of(found, "A")
    assert before.keys() == after.keys()
    assert all(before[key].is_equal(after[key]) for key in before)
    coarse = of(found, "B")
    assert all(relation.is_subset(coarse[key]) for key, relation in of(exact, "B").items())
    monkeypatch.setattr(analysis, "_value_based", lambda *_: pytest.fail("nothing is left to analyse"))
    again = analyse(scop, known=found)
    assert (again.by_memory, again.value_based, len(again.pairs)) == (("B",), False, len(found.pairs))
    assert again.fallbacks == found.fallbacks


B_ELEMENTS = isl.UnionSet("{ B[i] }")
