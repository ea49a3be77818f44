"""Graphs of operators, and their JSON."""

import json

import pytest

from polysched.errors import UsageError
from polysched.mesh import Message, Operator, OperatorGraph, chain, read_graph
from tests.mesh.random_graphs import random_graph


def test_json_gives_the_same_graph() -> None:
    graph = random_graph(1, 9)
    assert read_graph(json.dumps(graph.to_json())) == graph


def test_an_operator_follows_what_it_hears_from() -> None:
    graph = random_graph(2, 12)
    rank = {n: place for place, n in enumerate(graph.order)}
    assert all(rank[source] < rank[sink] for source, sink in graph.ends)
    assert sum(map(len, graph.inputs)) == len(graph.messages)
    assert sum(map(len, graph.touching)) == 2 * len(graph.messages)


def test_a_chain_sends_whole_results() -> None:
    graph = chain("c", [Operator(name=n, work=1, result=7) for n in "abc"])
    sent = [(m.source, m.sink, m.bytes, m.cut) for m in graph.messages]
    assert sent == [("a", "b", 7, "rows"), ("b", "c", 7, "rows")]


A, B = Operator(name="a", work=1), Operator(name="b", work=1)


@pytest.mark.parametrize(("operators", "messages", "said"), [
    ((), (), "1 to"), ((A, A), (), "one name"), ((A,), (Message(source="a", sink="z", bytes=1),), "'z'"),
    ((A, B), (Message(source="a", sink="b", bytes=1), Message(source="b", sink="a", bytes=1)), "cycle"),
    ((A,), (Message(source="a", sink="a", bytes=1),), "cycle"),
    ((A, B), (Message(source="a", sink="b", bytes=1 << 39), Message(source="a", sink="b", bytes=1 + (1 << 39))),
     "at most 1099511627776 bytes in all")])
def test_what_is_no_graph_is_refused(operators, messages, said) -> None:
    with pytest.raises(UsageError, match=said):
        OperatorGraph(name="g", operators=operators, messages=messages)


@pytest.mark.parametrize(("make", "said"), [
    (lambda: Operator(name="a", work=-1), "at least 0"),
    (lambda: Operator(name="a", work=1, extents=(0, 1)), "extents"),
    (lambda: Operator(name="a", work=1, extents=(1.5, 1)), "extents"),
    (lambda: Operator(name="a", work=1, weights=0.5), "whole numbers"),
    (lambda: Operator(name="a", work=1, result="8"), "whole numbers"),
    (lambda: Message(source="a", sink="b", bytes=-1), "at least 0"),
    (lambda: Message(source="a", sink="b", bytes=1.5), "whole numbers"),
    (lambda: Message(source="a", sink="b", bytes=None), "whole numbers"),
    (lambda: Message(source="a", sink="b", bytes=1, cut="halves"), "cells, rows, columns")])
def test_a_number_out_of_its_range_is_refused(make, said) -> None:
    with pytest.raises(UsageError, match=said):
        make()


@pytest.mark.parametrize("text", ["nonsense", "[]", "[" * 100_000, '{"name": "g", "operators": [{"name": "a"}]}'])
def test_a_text_that_is_no_graph_is_refused(text) -> None:
    with pytest.raises(UsageError, match=r"g\.json: the file is no graph"):
        read_graph(text, where="g.json")
