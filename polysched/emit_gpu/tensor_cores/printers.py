"""Which printer a product has."""

from __future__ import annotations

from polysched.emit_gpu.tensor_cores.loaded_text import LoadedTensorPrinter
from polysched.emit_gpu.tensor_cores.text import TensorPrinter
from polysched.emit_gpu.tensor_cores.warpgroup_text import WarpgroupPrinter
from polysched.gpu.mapping import TensorProduct


def printer_of(product: TensorProduct) -> type[TensorPrinter]:
    """The printer of a product, by how its instruction is executed."""
    if product.together > 1:
        return WarpgroupPrinter
    return LoadedTensorPrinter if product.is_loaded else TensorPrinter
