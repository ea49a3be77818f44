"""Modules of PyTorch: exported, interpreted, compiled, beside what torch computes."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from polysched.errors import ModelFileError
from polysched.graph import from_torch, interpret
from polysched.model.compiling import compile_graph


@pytest.fixture(scope="module")
def torch() -> Any:
    found = pytest.importorskip("torch", reason="torch is not installed")
    pytest.importorskip("onnxscript", reason="onnxscript is not installed")
    return found


def test_a_network_is_the_module(torch: Any) -> None:
    torch.manual_seed(0)
    module = torch.nn.Sequential(
        torch.nn.Conv2d(2, 4, 3, padding=1), torch.nn.BatchNorm2d(4), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
        torch.nn.Flatten(), torch.nn.Dropout(0.5), torch.nn.Linear(4 * 3 * 3, 5), torch.nn.Softmax(dim=-1))
    module.train()
    x = torch.randn(1, 2, 6, 6)
    graph = from_torch(module, (x,))
    assert module.training
    wanted = module.eval()(x).detach().numpy()
    (name, _), (output,) = graph.inputs[0], graph.outputs
    np.testing.assert_allclose(interpret(graph, {name: x.numpy()})[output], wanted, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(compile_graph(graph).run({name: x.numpy()})[output], wanted, rtol=1e-4, atol=1e-5)


def test_tensors_that_record_gradients_are_taken(torch: Any) -> None:
    module = torch.nn.Linear(3, 2)
    x = torch.randn(4, 3, requires_grad=True)
    graph = from_torch(module, x)
    wanted = module(x).detach().numpy()
    name, output = graph.inputs[0][0], graph.outputs[0]
    np.testing.assert_allclose(interpret(graph, {name: x})[output], wanted, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(compile_graph(graph).run({name: x})[output], wanted, rtol=1e-5, atol=1e-6)


def test_a_module_of_bfloat16(torch: Any) -> None:
    pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed")
    module = torch.nn.Sequential(torch.nn.Linear(8, 4), torch.nn.GELU()).to(torch.bfloat16)
    x = torch.randn(3, 8).to(torch.bfloat16)
    graph = from_torch(module, (x,))
    wanted = module(x).detach().float().numpy()
    name, output = graph.inputs[0][0], graph.outputs[0]
    for found in (interpret(graph, {name: x}), compile_graph(graph).run({name: x})):
        assert found[output].dtype.name == "bfloat16"
        np.testing.assert_allclose(found[output].astype(np.float32), wanted, rtol=2.0 ** -6, atol=2.0 ** -7)


def test_an_extent_stays_a_symbol(torch: Any) -> None:
    module = torch.nn.Linear(3, 2)
    graph = from_torch(module, (torch.randn(4, 3),), dynamic_shapes=({0: torch.export.Dim("batch")},))
    assert len(graph.symbols) == 1
    x = np.ones((7, 3), np.float32)
    wanted = module(torch.from_numpy(x)).detach().numpy()
    np.testing.assert_allclose(interpret(graph, {graph.inputs[0][0]: x})[graph.outputs[0]], wanted, rtol=1e-5)


def test_a_module_that_cannot_be_exported_is_refused(torch: Any) -> None:
    on_data = type("OnData", (torch.nn.Module,), {"forward": lambda self, x: x if x.sum() > 0 else -x})
    with pytest.raises(ModelFileError, match="cannot be exported"):
        from_torch(on_data(), (torch.randn(3),))


def test_without_torch_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxscript", None)
    with pytest.raises(ModelFileError, match=r"polysched\[torch\]"):
        from_torch(None, ())
