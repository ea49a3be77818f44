"""The second process: it ends at a kernel that is refused."""

import io
import pickle
import sys
from types import SimpleNamespace

import pytest

from polysched.model.kernel_worker import main
from polysched.model.kernels import Order
from polysched.pipeline.options import PipelineOptions


def test_a_refused_kernel_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    order = Order(symbol="k", key="k" * 40, text="graph kernel(x: float32[2]) {\n  let y = Shape(x)\n  return y\n}")
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(pickle.dumps(([order], PipelineOptions())))))
    assert main() == 1
