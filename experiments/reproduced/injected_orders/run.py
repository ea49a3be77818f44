"""Orders of loops with an injected fault: does the exact check find all wrong ones?  See README.md.

    python experiments/reproduced/injected_orders/run.py
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import islpy as isl

from polysched.dependence import analyse
from polysched.dependence.legality import Violation, violation
from polysched.errors import IllegalScheduleError
from polysched.experiment import Case, Experiment, Record, Report, Settings
from polysched.experiment.claims import Claim
from polysched.experiment.tables import markdown_table
from polysched.measure.programs.execution_order import Execution, ExpectedOrder, check_expected, expected_order
from polysched.measure.programs.instance_trace import small_sizes
from polysched.scop import from_c_file
from polysched.scop.points import instances_in_order
from polysched.scop.scop import Scop

KERNELS = Path(__file__).parents[3] / "tests" / "kernels"
KINDS = ("reverse", "interchange", "shift", "exchange")
HEADINGS = ("kernel", "orders", "wrong", "found", "missed", "right", "refused", "false witnesses")


def cases(settings: Settings) -> list[Case]:
    return [Case(name=name) for name in settings.config["kernels"]]


def measure(case: Case, settings: Settings, report: Report) -> dict[str, Any]:
    """Every order with one fault, judged by the dependences and by a simulation that knows none."""
    scop = from_c_file(KERNELS / f"{case.name}.c")
    dependences = analyse(scop)
    sizes = small_sizes(scop)
    expected = expected_order(scop, sizes)
    orders = []
    for kind, what, dates in injected(scop):
        report(f"{kind} {what}")
        tree = isl.Schedule.from_domain(scop.domain).get_root().child(0).insert_partial_schedule(
            isl.MultiUnionPwAff.from_union_map(dates)).get_schedule()
        found = violation(dependences, tree)
        orders.append({"kind": kind, "what": what, "refused": str(found) if found else "",
                       "wrong": simulated_fault(expected, tree, sizes),
                       "true_witness": found is None or is_backward(found, dates)})
    return {"sizes": sizes, "orders": orders}


def injected(scop: Scop) -> Iterator[tuple[str, str, isl.UnionMap]]:
    """The order as written with one fault, which may or may not be wrong."""
    dates = written_dates(scop)
    for name, own in dates.items():
        loops = loops_of(own)
        forms = columns_of(own)
        for at in loops:
            yield "reverse", f"{name} loop {at}", changed(dates, name, [*forms[:at], forms[at].neg(), *forms[at + 1:]])
            for by in (-1, 1):
                moved = forms[at].add_constant_val(isl.Val(by))
                yield "shift", f"{name} loop {at} by {by}", changed(dates, name, [*forms[:at], moved, *forms[at + 1:]])
        for first, second in itertools.pairwise(loops):
            swapped = list(forms)
            swapped[first], swapped[second] = forms[second], forms[first]
            yield "interchange", f"{name} loops {first}, {second}", changed(dates, name, swapped)
    names = list(dates)
    for one, other in itertools.pairwise(names):
        yield "exchange", f"{one}, {other}", exchanged(dates, one, other)


def written_dates(scop: Scop) -> dict[str, isl.Map]:
    """The date of every statement as written, each with as many columns."""
    maps: list[isl.Map] = []
    scop.schedule.get_map().intersect_domain(scop.domain).foreach_map(maps.append)
    return {m.get_tuple_name(isl.dim_type.in_): m for m in maps}


def columns_of(own: isl.Map) -> list[isl.PwAff]:
    form = isl.PwMultiAff.from_map(own)
    return [form.get_pw_aff(at) for at in range(own.dim(isl.dim_type.out))]


def loops_of(own: isl.Map) -> list[int]:
    """The columns that are no constants."""
    return [at for at in range(own.dim(isl.dim_type.out))
            if own.range().plain_get_val_if_fixed(isl.dim_type.set, at).is_nan()]


def map_of(columns: Sequence[isl.PwAff]) -> isl.Map:
    result = isl.Map.from_pw_aff(columns[0])
    for column in columns[1:]:
        result = result.flat_range_product(isl.Map.from_pw_aff(column))
    return result


def union(dates: Mapping[str, isl.Map]) -> isl.UnionMap:
    first, *others = [isl.UnionMap.from_map(m) for m in dates.values()]
    for other in others:
        first = first.union(other)
    return first


def changed(dates: Mapping[str, isl.Map], name: str, columns: Sequence[isl.PwAff]) -> isl.UnionMap:
    return union({**dates, name: map_of(columns)})


def exchanged(dates: Mapping[str, isl.Map], one: str, other: str) -> isl.UnionMap:
    """The two statements with each other's constants."""
    first, second = columns_of(dates[one]), columns_of(dates[other])
    fixed = [at for at in range(len(first)) if at not in loops_of(dates[one]) and at not in loops_of(dates[other])]

    def constant(columns: Sequence[isl.PwAff], at: int, space: isl.PwAff) -> isl.PwAff:
        value = isl.Map.from_pw_aff(columns[at]).range().plain_get_val_if_fixed(isl.dim_type.set, 0)
        return space.sub(space).add_constant_val(value)

    left = [constant(second, at, form) if at in fixed else form for at, form in enumerate(first)]
    right = [constant(first, at, form) if at in fixed else form for at, form in enumerate(second)]
    return union({**dates, one: map_of(left), other: map_of(right)})


def simulated_fault(expected: ExpectedOrder, tree: isl.Schedule, sizes: Mapping[str, int]) -> str:
    """What a run in this order does wrong, by the accesses alone; empty where it is right at these sizes."""
    scop = expected.scop
    order = tuple(instances_in_order(scop.domain, tree, sizes, [s.name for s in scop.statements]))
    try:
        check_expected(expected, Execution(instances=order, paths=((),) * len(order), kinds={}))
    except IllegalScheduleError as error:
        return str(error.witness or error.problem)
    return ""


def is_backward(found: Violation, dates: isl.UnionMap) -> bool:
    """Whether the witness runs in the wrong order, or at one date, by the dates alone."""
    def date(name: str, point: Sequence[int]) -> tuple[int, ...]:
        maps: list[isl.Map] = []
        dates.foreach_map(maps.append)
        own = next(m for m in maps if m.get_tuple_name(isl.dim_type.in_) == name)
        for at, value in enumerate(point):
            own = own.fix_val(isl.dim_type.in_, at, isl.Val(value))
        for parameter, value in found.parameters.items():
            position = own.find_dim_by_name(isl.dim_type.param, parameter)
            own = own if position < 0 else own.fix_val(isl.dim_type.param, position, isl.Val(value))
        reached = own.range()
        return tuple(reached.dim_max_val(at).to_python() for at in range(reached.dim(isl.dim_type.set)))

    return date(found.dependence.source, found.source) >= date(found.dependence.sink, found.sink)


def counts(record: Record) -> list[int]:
    orders = record.values["orders"]
    wrong = [o for o in orders if o["wrong"]]
    return [len(orders), len(wrong), sum(bool(o["refused"]) for o in wrong), sum(not o["refused"] for o in wrong),
            len(orders) - len(wrong), sum(bool(o["refused"]) for o in orders if not o["wrong"]),
            sum(not o["true_witness"] for o in orders)]


def table(records: Sequence[Record]) -> str:
    rows = [[r.case, *counts(r)] for r in records]
    total = [sum(column) for column in zip(*(row[1:] for row in rows), strict=True)]
    return "\n".join([markdown_table(HEADINGS, [*rows, ["all", *total]]), "",
                      verdict(records) or "reproduced: every wrong order is found, and every witness is true"])


def verdict(records: Sequence[Record]) -> str:
    """The criterion of README.md."""
    missed, witnesses = 0, 0
    for record in records:
        for order in record.values["orders"] if record.done else ():
            missed += bool(order["wrong"]) and not order["refused"]
            witnesses += not order["true_witness"]
    parts = [(missed, "wrong orders are missed"), (witnesses, "witnesses are false")]
    return ", ".join(f"{count} {what}" for count, what in parts if count)


def claims(records: Sequence[Record]) -> list[Claim]:
    """What a checker has to do; the paper has no corpus and states no count."""
    columns = zip(*(counts(r)[1:] for r in records), strict=True)
    wrong, found, missed, _, _, false = (sum(column) for column in columns)
    return [Claim(what="wrong orders that are found", ours=found, published=wrong, asked=f"all {wrong}",
                  holds=not missed, digits=0,
                  source="every wrong order of the corpus; the abstract of POPL 2016 states no count"),
            Claim(what="witnesses that are false", ours=false, published=0, asked="none", holds=not false, digits=0)]


EXPERIMENT = Experiment(cases=cases, measure=measure, table=table, verdict=verdict, claims=claims)

if __name__ == "__main__":
    from polysched.cli import main
    sys.exit(main(["bench", str(Path(__file__).parent), *sys.argv[1:]]))
