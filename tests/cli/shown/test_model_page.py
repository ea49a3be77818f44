"""What was found of a model, as lines and as a page."""

from __future__ import annotations

from typing import Any

import pytest

from polysched.cli.shown.model_page import check_page_name, lines_of_model, page_of_model
from polysched.errors import UsageError

INSPECTED: dict[str, Any] = {"model": "m", "inputs": {"x": "float32[N, 4]", "k": "int64[1]"}, "outputs": ["y"],
                             "sizes": {"N": None}, "steering_inputs": ["k"], "operators": {"Add": 2, "Relu": 1}}
COMPILED: dict[str, Any] = INSPECTED | {
    "sizes": {"N": 1}, "kernels": 3, "regions": 2, "different_kernels": 2, "copies": 1, "arena_bytes": 64,
    "compile_seconds": 1.5, "plans": [], "variants": {}, "islands": [], "verified": None}


def test_a_model_with_open_sizes_is_told_without_kernels() -> None:
    assert lines_of_model(INSPECTED) == [
        "m: 3 nodes of 2 operators", "  input  x: float32[N, 4]",
        "  input  k: int64[1] (decides about shapes, or what runs)", "  output y",
        "  open sizes: N; --size compiles it"]


def test_kernels_islands_differences_and_times_are_told() -> None:
    island = {"node": "n", "runtime": "onnxruntime", "reason": "its shape follows from data", "share": 0.25}
    lines = lines_of_model(COMPILED | {
        "islands": [island], "verified": "reference", "largest_difference": 1e-7, "losses": [], "seconds": 0.002,
        "threads": 2, "ratio": {"onnxruntime": 1.5}, "interval": [1.4, 1.6]})
    assert lines[4:] == [
        "  3 kernels in 2 parallel regions, 2 of them different, 1 copies, arena 64 bytes, compiled in 1.50 s",
        "  island n on onnxruntime: its shape follows from data (25% of the time)",
        "  verified against reference: largest difference 1e-07",
        "  2.000 ms on 2 threads, 1.50 times as fast as ONNX Runtime (1.40 to 1.60)"]


def test_a_page_has_the_lines_and_the_plan_and_no_markup_of_a_model() -> None:
    text = page_of_model(COMPILED | {"model": "<script>"}, "<svg></svg>")
    assert "<script>" not in text
    assert "&lt;script&gt;: 3 nodes" in text
    assert "input  x: float32[N, 4]" in text
    assert "<svg></svg>" in text


def test_a_report_that_is_no_page_is_refused() -> None:
    check_page_name("m.html")
    check_page_name(None)
    with pytest.raises(UsageError, match="the report is a page"):
        check_page_name("m.pdf")
