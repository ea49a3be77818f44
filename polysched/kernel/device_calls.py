"""A compiled function that runs on a device: its errors become exceptions instead of the end of the process."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from polysched.emit_c.function import CFunction
from polysched.errors import DeviceError

CALLED = "polysched_on_device"
PROBLEM = "polysched_problem"


def with_errors(function: CFunction) -> CFunction:
    """The function with another around it, which returns 1 where the device has an error, and one that tells it."""
    signature = function.signature
    declared = ", ".join(p.c_declaration for p in signature.parameters) or "void"
    passed = ", ".join(p.name for p in signature.parameters)
    text = (f"const char *{PROBLEM}(void) {{ return polysched_device_problem; }}\n"
            f"int {CALLED}({declared}) {{\n  jmp_buf polysched_here;\n  polysched_device_caller = &polysched_here;\n"
            f"  int polysched_failed = setjmp(polysched_here);\n  if (!polysched_failed) {signature.name}({passed});\n"
            "  polysched_device_caller = 0;\n  return polysched_failed;\n}\n")
    return replace(function, text=function.text + text)


def device_function(library: ctypes.CDLL, argument_types: Sequence[Any], name: str) -> Callable[..., None]:
    """The function of a library of `with_errors`.

    Raises
    ------
    DeviceError : when it is called, with what the driver says; the arrays of the host may be changed in part.
    """
    function, problem = getattr(library, CALLED), getattr(library, PROBLEM)
    function.argtypes, function.restype = list(argument_types), ctypes.c_int
    problem.restype = ctypes.c_char_p

    def called(*passed: Any) -> None:
        if function(*passed):
            first, _, rest = problem().decode(errors="replace").partition("\n")
            raise DeviceError(f"{name} did not run on the device: {first}", witness=rest.strip(),
                              hint="install a driver, or leave the device out")

    return called
