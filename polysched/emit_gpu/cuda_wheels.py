"""CUDA out of wheels: NVIDIA's headers and NVRTC, for machines with a driver and without a toolkit.

`python -m pip install 'polysched[cuda]'` installs them; torch and CuPy for a GPU bring them as well.  The driver's
library is the system's.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from polysched.records import dataclass

SYSTEM = (Path("/usr/include"), Path("/usr/local/include"))
DRIVER = "libcuda.so.1"
"""The library that the driver installs; `libcuda.so` comes with a toolkit."""


@dataclass(frozen=True, kw_only=True)
class CudaWheels:
    """What is installed.

    Parameters
    ----------
    driver_header, nvrtc_header : folders with `cuda.h` and `nvrtc.h`.
    nvrtc : its library.
    """

    driver_header: Path
    nvrtc_header: Path
    nvrtc: Path

    def flags(self) -> tuple[str, ...]:
        """What the host's C is compiled and linked with."""
        folder = self.nvrtc.parent
        headers = dict.fromkeys((self.nvrtc_header, self.driver_header))
        return (*(f"-I{own}" for own in headers), f"-L{folder}", f"-l:{self.nvrtc.name}", f"-Wl,-rpath,{folder}",
                f"-l:{DRIVER}")


def wheels() -> CudaWheels | None:
    """The oldest NVRTC that is there, whose binaries newer drivers take; None without it or a header."""
    spec = find_spec("nvidia")
    return next((found for root in (spec.submodule_search_locations or () if spec is not None else ())
                 for found in _of_folder(Path(root))), None)


def _of_folder(root: Path) -> Iterator[CudaWheels]:
    """What the folder of NVIDIA's wheels has: `cuda_runtime` and `cuda_nvrtc` of CUDA 12, all in one later."""
    drivers = [path.parent for path in sorted(root.glob("*/include/cuda.h"))]
    for library in sorted(root.glob("*/lib/libnvrtc.so.*"), key=lambda path: (len(path.name), path.name)):
        headers = library.parent.parent / "include"
        if drivers and (headers / "nvrtc.h").is_file():
            yield CudaWheels(driver_header=headers if headers in drivers else drivers[0], nvrtc_header=headers,
                             nvrtc=library)


def wheel_flags(environment: Mapping[str, str] = os.environ, system: Sequence[Path] = SYSTEM) -> tuple[str, ...] | None:
    """The flags for wheels; None where the system has the headers, or there are no wheels.

    Parameters
    ----------
    system : folders where the system has headers.
    """
    listed = [Path(part) for name in ("CPATH", "C_INCLUDE_PATH")
              for part in environment.get(name, "").split(os.pathsep) if part]
    if any((folder / "cuda.h").is_file() for folder in (*listed, *system)):
        return None
    own = wheels()
    return None if own is None else own.flags()
