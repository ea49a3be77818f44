"""The kernels as tensor expressions: one function a kernel, by the kernel's name."""

from collections.abc import Callable
from types import ModuleType

from polysched.scop.scop import Scop
from tests.kernels.expressions import products, solvers, statistics, stencils


def _defined_in(module: ModuleType) -> dict[str, Callable[[], Scop]]:
    return {name: item for name, item in vars(module).items()
            if callable(item) and getattr(item, "__module__", "") == module.__name__
            and getattr(item, "__annotations__", {}).get("return") is Scop}


EXPRESSIONS: dict[str, Callable[[], Scop]] = {}
for _module in (products, solvers, statistics, stencils):
    EXPRESSIONS.update(_defined_in(_module))
