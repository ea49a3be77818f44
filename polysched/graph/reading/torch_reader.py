"""PyTorch modules as graphs: `torch.export`, then ONNX, then the reader of ONNX."""

from __future__ import annotations

import contextlib
import importlib
import io
import logging
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from polysched.errors import ModelFileError
from polysched.graph.reading.onnx_reader import load
from polysched.graph.values.graph import Graph

NO_TORCH = "the packages torch and onnxscript are wanted"


def from_torch(module: Any, example_inputs: Any, *, dynamic_shapes: Mapping[str, Any] | Sequence[Any] | None
               = None) -> Graph:
    """The graph of a module as it computes for inference.

    Parameters
    ----------
    module : a `torch.nn.Module`; its mode is put back afterwards.
    example_inputs : tensors, in the order of the module's arguments; one alone may be given as it is.
    dynamic_shapes : as `torch.export` takes them: which extents stay symbols.

    Raises
    ------
    ModelFileError : a package is missing, or the module cannot be exported; the witness is what torch says.
    UnsupportedGraphError : an operator of the export is not had.
    """
    try:
        importlib.import_module("onnxscript")   # torch.onnx.export needs it
        torch = importlib.import_module("torch")
    except ImportError as error:
        raise ModelFileError(NO_TORCH, witness=str(error), hint="python -m pip install 'polysched[torch]'") from None
    examples = (example_inputs,) if isinstance(example_inputs, torch.Tensor) else tuple(example_inputs)
    was_training = module.training
    module.eval()
    try:
        model = _exported(torch, module, examples, dynamic_shapes)
    finally:
        module.train(was_training)
    return load(model)


def _exported(torch: Any, module: Any, inputs: tuple[Any, ...], dynamic_shapes: Any) -> Any:
    """The ONNX model, without what the exporter prints."""
    said = io.StringIO()
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(said):
            warnings.simplefilter("ignore")
            program = torch.export.export(module, inputs, dynamic_shapes=dynamic_shapes)
            return torch.onnx.export(program, dynamo=True, verbose=False).model_proto
    except (RuntimeError, ValueError, TypeError, torch._dynamo.exc.UserError) as error:
        raise ModelFileError("the module cannot be exported", where=type(module).__name__,
                             witness=str(error).strip().splitlines()[0][:300] if str(error).strip() else None,
                             hint="torch.export.export(module, inputs) alone says where it fails; conditions on "
                                  "data are written by torch.cond or torch.where") from None
    finally:
        logger.setLevel(level)
