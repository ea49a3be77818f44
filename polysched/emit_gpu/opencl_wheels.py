"""OpenCL out of wheels: the loader that pyopencl has with it, and PoCL, for machines whose system has neither.

`python -m pip install 'polysched[opencl]'` installs both.  The headers of the system come first, because its loader
finds the drivers of its GPUs; wheels are taken where there are none.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from polysched.records import dataclass

HEADERS = Path(__file__).parent / "opencl_headers"
"""Declarations of what the emitted host code calls."""
SYSTEM = (Path("/usr/include"), Path("/usr/local/include"))
VARIABLE = "POLYSCHED_OPENCL_WHEELS"
"""In the environment: 1 takes wheels whatever the system has, 0 never does."""


@dataclass(frozen=True, kw_only=True)
class Wheels:
    """What is installed.

    Parameters
    ----------
    loader : `libOpenCL` of pyopencl.
    driver : `libpocl`, which this loader finds beside the drivers of the system.
    """

    loader: Path
    driver: Path

    def flags(self) -> tuple[str, ...]:
        """What the host's C is compiled and linked with."""
        folder = self.loader.parent
        return (f"-I{HEADERS}", f'-DPOLYSCHED_OPENCL_HOME="{folder.parent}"', f"-L{folder}", f"-l:{self.loader.name}",
                f"-Wl,-rpath,{folder}")


def wheels() -> Wheels | None:
    """The loader and the driver in pyopencl's folder; None unless both are there."""
    spec = find_spec("pyopencl")
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / ".libs"
    loaders, drivers = sorted(folder.glob("libOpenCL*.so*")), sorted(folder.glob("libpocl*.so*"))
    return Wheels(loader=loaders[0], driver=drivers[0]) if loaders and drivers else None


def wheel_flags(environment: Mapping[str, str] = os.environ, system: Sequence[Path] = SYSTEM) -> tuple[str, ...] | None:
    """The flags for wheels where they are to be used; None for the system's OpenCL.

    Parameters
    ----------
    system : folders where the system has headers.
    """
    wanted = environment.get(VARIABLE, "")
    listed: list[str | Path] = [part for name in ("CPATH", "C_INCLUDE_PATH")
                                for part in environment.get(name, "").split(os.pathsep)]
    found = any((Path(folder) / "CL" / "cl.h").is_file() for folder in (*(part for part in listed if part), *system))
    if wanted == "0" or (found and not wanted):
        return None
    own = wheels()
    return None if own is None else own.flags()
