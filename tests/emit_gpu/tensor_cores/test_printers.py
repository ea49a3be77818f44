"""Each kind of instruction has a printer, which prints the functions that it calls."""

from __future__ import annotations

import pytest

from polysched.emit_gpu.tensor_cores.loaded_text import LoadedTensorPrinter
from polysched.emit_gpu.tensor_cores.printers import printer_of
from polysched.emit_gpu.tensor_cores.text import TensorPrinter, function_name
from polysched.emit_gpu.tensor_cores.warpgroup_text import WarpgroupPrinter
from polysched.gpu import GpuOptions, map_to_device
from polysched.pipeline.options import PipelineOptions
from polysched.pipeline.stages import analysed, scheduled
from polysched.scop import from_c_text
from tests.gpu.products import PLAIN


@pytest.mark.parametrize(("instruction", "printer"), [
    ("mma", TensorPrinter), ("wmma", LoadedTensorPrinter), ("wgmma", WarpgroupPrinter)])
def test_the_printer_follows_from_the_product(instruction: str, printer: type[TensorPrinter]) -> None:
    schedule = scheduled(analysed(from_c_text(PLAIN)).dependences, PipelineOptions(scheduler="original"))
    mapping = map_to_device(schedule, options=GpuOptions(
        tensor_cores=("int8",), tensor_instruction=instruction, block=(32, 8)))
    (product,) = (phase.tensor for phase in mapping.launches[-1].phases if phase.tensor is not None)
    assert printer_of(product) is printer
    assert f" {function_name(product.intrinsic)}(" in printer.functions(product.intrinsic)
