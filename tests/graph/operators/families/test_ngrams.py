"""Counts of n-grams: as `onnx.reference` has them, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator

from polysched.errors import UnsupportedGraphError
from polysched.graph import interpret
from polysched.graph.evaluation.inference import infer
from polysched.graph.passes.expansion import expand_compositions
from polysched.model import onnx_backend
from tests.graph.samples import floats, grams, graph_of, ints, sample


@pytest.mark.parametrize(("mode", "least", "skipped"), [("TF", 1, 0), ("IDF", 1, 3), ("TFIDF", 2, 2), ("TF", 3, 9)])
def test_they_are_those_of_the_reference(mode: str, least: int, skipped: int) -> None:
    attributes = grams(mode=mode, min_gram_length=least, max_skip_count=skipped)
    node = onnx.helper.make_node("TfIdfVectorizer", ["x"], ["y"], **attributes)
    for shape in ((11,), (2, 1)) if mode == "TFIDF" else ((11,), (3, 8), (2, 1)):
        x = np.random.default_rng(sum(shape)).integers(0, 3, shape).astype(np.int32)
        value = onnx.helper.make_tensor_value_info
        graph = onnx.helper.make_graph([node], "g", [value("x", onnx.TensorProto.INT32, shape)],
                                       [value("y", onnx.TensorProto.FLOAT, None)])
        model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)])
        wanted, = ReferenceEvaluator(model).run(None, {"x": x})
        found, = onnx_backend.run_model(model, [x])
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(("changes", "problem"), [
    ({"ngram_counts": (0, 9, 3)}, "begin in the pool"), ({"ngram_counts": (0, 2, 80)}, "begin in the pool"),
    ({"ngram_counts": ()}, "begin in the pool"), ({"ngram_indexes": (0, 1)}, "has a place"),
    ({"ngram_indexes": (0, 1, 2, 3, 4, -5)}, "has a place"), ({"weights": (1.0,)}, "a weight per place"),
    ({"max_skip_count": -1}, "that are skipped"), ({"pool_strings": ("a",)}, "whole numbers"),
    ({"ngram_indexes": (0, 1, 2, 3, 4, 1 << 40), "weights": ()}, "too large")])
def test_what_does_not_fit_is_refused(changes: dict[str, Any], problem: str) -> None:
    graph, _ = graph_of(sample("TfIdfVectorizer", ints(2, 5), **grams(**changes)))
    with pytest.raises(UnsupportedGraphError, match=problem):
        infer(graph)


def test_tokens_are_whole_numbers_of_known_count() -> None:
    graph, _ = graph_of(sample("TfIdfVectorizer", floats(2, 5), **grams()))
    with pytest.raises(UnsupportedGraphError, match="whole numbers"):
        infer(graph)
    graph, _ = graph_of(sample("TfIdfVectorizer", ints(1, 5000), **grams(max_skip_count=4000)))
    with pytest.raises(UnsupportedGraphError, match="too many distances"):
        infer(graph)


@pytest.mark.parametrize("shape", [(0,), (2, 0), (0, 5)])
def test_rows_without_tokens_have_no_grams(shape: tuple[int, ...]) -> None:
    graph, inputs = graph_of(sample("TfIdfVectorizer", ints(*shape), **grams()))
    for each in (graph, expand_compositions(graph)):
        (found,) = interpret(each, inputs).values()
        np.testing.assert_array_equal(found, np.zeros((*shape[:-1], 5), np.float32))


def test_weights_of_grams_that_do_not_occur_do_not_count() -> None:
    given = grams(mode="IDF", weights=(2.0, np.inf, np.nan, 3.0, 1.5), max_gram_length=1)
    graph, inputs = graph_of(sample("TfIdfVectorizer", np.array([[2, 2, 7]]), **given))
    for each in (graph, expand_compositions(graph)):
        (found,) = interpret(each, inputs).values()
        np.testing.assert_array_equal(found, np.array([[2, 0, 0, 0, 0]], np.float32))
