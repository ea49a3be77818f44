"""A compiled model as files that run without Python: a shared object or C source, a header, and its weights."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Mapping
from pathlib import Path

from polysched.errors import UsageError
from polysched.graph.planning.plan import Plan
from polysched.model.driver import driver_text
from polysched.model.kernels import FLAGS, BuiltKernel, compile_object, link_library
from polysched.model.npy_main import main_text
from polysched.model.standalone import header_text, interface_text, prefix_of, weights_of
from polysched.model.variants import Choice
from polysched.records import dataclass
from polysched.target import Compiler


@dataclass(frozen=True, eq=False, kw_only=True)
class Parts:
    """What a compiled model consists of.

    Parameters
    ----------
    symbols : the functions of every kernel step of the plan.
    kernels : the different kernels by their function.
    compiler : that links them.
    threads : whether the driver runs its own loops on several.
    """

    plan: Plan
    symbols: Mapping[int, Choice]
    kernels: Mapping[str, BuiltKernel]
    compiler: Compiler
    threads: bool


def save(model: Parts, path: str | Path) -> tuple[Path, Path, Path]:
    """Write a model as a shared object, with a C header and the file of its weights beside it.

    Returns
    -------
    the shared object `STEM.so`, the header `NAME.h`, the weights `STEM.weights`; the NAME, with which all functions
    begin, is the stem as an identifier.

    Raises
    ------
    UsageError : the path does not end in .so, or its folder is not there.
    CompileError : the compiler refused something.
    """
    library = Path(path)
    if library.suffix != ".so" or not library.parent.is_dir():
        raise UsageError("a model is saved as a .so file in a folder that is there", witness=str(path),
                         hint="name it like model.so, in a folder that is there")
    prefix, compiler = prefix_of(library.stem), model.compiler
    weights, offsets = weights_of(model.plan.graph.constants)
    header, beside = library.with_name(f"{prefix}.h"), library.with_suffix(".weights")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        texts = {"driver": driver_text(model.plan, model.symbols, exported=False, threads=model.threads),
                 "interface": interface_text(model.plan, prefix, offsets, weights)}
        (folder / f"{prefix}.h").write_text(header_text(model.plan, prefix))
        for stem, text in texts.items():
            (folder / f"{stem}.c").write_text(text)
            compile_object(folder / f"{stem}.c", folder / f"{stem}.o", compiler, what=f"the {stem} of the model",
                           hidden=stem != "interface")
        objects = [*(folder / f"{stem}.o" for stem in texts), *(k.object for k in model.kernels.values())]
        link_library(objects, library, compiler, what=library.name)
        header.write_text((folder / f"{prefix}.h").read_text())
    _write_weights(beside, weights)
    return library, header, beside


def write_source(model: Parts, folder: str | Path, name: str = "model") -> Path:
    """Write a model as C source with a program around it; `sh build.sh` makes `./NAME`, the name as an identifier.

    Raises
    ------
    UsageError : the folder cannot be made.
    """
    place, prefix, compiler = Path(folder), prefix_of(name), model.compiler
    weights, offsets = weights_of(model.plan.graph.constants)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError("the folder cannot be made", where=str(folder), witness=str(error),
                         hint="name a folder that may be written") from None
    files = {"driver.c": driver_text(model.plan, model.symbols, exported=False, threads=model.threads),
             "interface.c": interface_text(model.plan, prefix, offsets, weights),
             f"{prefix}.h": header_text(model.plan, prefix), "main.c": main_text(prefix)}
    files |= {f"{symbol}.c": kernel.source for symbol, kernel in model.kernels.items()}
    sources = [f for f in files if f.endswith(".c")]
    flags = [*FLAGS, *compiler.openmp_compile, "-w", "-fno-strict-aliasing"]
    command = "${CC:-cc} " + shlex.join([*flags, "-o", prefix, *sources, *compiler.openmp_link, "-lm"])
    files["build.sh"] = f'#!/bin/sh\nset -e\ncd "$(dirname "$0")"\n{command}\n'
    for file, text in files.items():
        (place / file).write_text(text)
    _write_weights(place / f"{prefix}.weights", weights)
    return place


def _write_weights(path: Path, weights: bytes) -> None:
    """Put a file in the place of another as a whole: a program that runs has the old one mapped."""
    part = path.with_name(f"{path.name}.part")
    part.write_bytes(weights)
    part.replace(path)
