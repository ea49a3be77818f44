"""A C file with its regions optimised, compiled once, then found in the cache."""

from __future__ import annotations

import ctypes
import hashlib
import json
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path

from polysched.emit_c import splice
from polysched.errors import UsageError
from polysched.kernel.c_callable import CCallable, callable_of
from polysched.kernel.compiled_scop import LIBRARY, RECORD, loaded_entry
from polysched.measure.processes.building import DEFAULT_FLAGS, compile_shared, compiles
from polysched.measure.processes.call_interface import Origin, Slot, probe, wrapper
from polysched.pipeline.files import compiler_flags
from polysched.pipeline.options import PipelineOptions
from polysched.records import dataclass
from polysched.scop.dtypes import C_BY_NAME
from polysched.scop.scop import Scop
from polysched.scop.signature import FunctionSignature, ParameterKind
from polysched.search.lookup import optimize, state_of, transform_file
from polysched.target import Compiler, build_cache, find_compiler

PROGRAM = "program.c"


@dataclass(frozen=True, eq=False)
class CProgram:
    """A C file, all of its regions optimised or one of them.

    Parameters
    ----------
    path : of the file.
    original : its text.
    options : of the pipeline.
    preprocessor : what the compiler gets to find its includes.
    region : the only region that is optimised; None for all.
    """

    path: str
    original: str
    options: PipelineOptions
    preprocessor: tuple[str, ...]
    region: Scop | None = None

    @staticmethod
    def of_file(path: str | Path, options: PipelineOptions) -> CProgram:
        """All regions of a file.

        Raises
        ------
        UsageError : it cannot be read.
        """
        try:
            text = Path(path).read_bytes().decode("utf-8", "surrogateescape")
        except OSError as error:
            raise UsageError(f"cannot read the file: {error.strerror}", where=str(path)) from None
        folders = [f"-I{Path(folder).absolute()}" for folder in options.include_dirs]
        return CProgram(str(path), text, options, (
            *folders, *(f"-D{d}" for d in options.defines), "-iquote", str(Path(path).resolve().parent)))

    @staticmethod
    def of_scop(scop: Scop, options: PipelineOptions) -> CProgram:
        """The region of a Scop in its file."""
        source = scop.source
        assert source is not None
        return CProgram(source.path, source.text, options, (
            *source.preprocessor, "-iquote", str(Path(source.path).resolve().parent)), scop)

    @cached_property
    def _transformed(self) -> tuple[str, tuple[Scop, ...], tuple[str, ...]]:
        """The text with its regions optimised, the regions, and the compiler flags of what was found for them."""
        if self.region is not None:
            only = optimize(self.region, self.options)
            return splice(self.original, [only.source]), (self.region,), compiler_flags([only])
        made = transform_file(self.path, self.options)
        return made.text, tuple(region.scop for region in made.regions), compiler_flags(made.regions)

    @property
    def text(self) -> str:
        """The C file with its regions optimised."""
        return self._transformed[0]

    def loaded(self) -> tuple[ctypes.CDLL, Path]:
        """The compiled program, and its folder in the cache.

        Raises
        ------
        PolyschedError : the file cannot be read or compiled, or the cache cannot be written.
        """
        compiler = find_compiler(self.options.cc)
        return loaded_entry(build_cache.entry_key(self._key_parts(compiler), compiler),
                            lambda folder: self._build(folder, compiler))

    def _key_parts(self, compiler: Compiler) -> dict[str, object]:
        """The file, what it includes, the options; macros of the command line stand in what is included."""
        read = compiler.run(["-E", "-P", "-x", "c", *self.preprocessor, "-"], source=self.original)
        place = None if self.region is None or self.region.source is None else self.region.source.start
        return {"c": _digest(self.original), "included": _digest(read.stdout), "path": self.path, "region": place,
                "preprocessor": list(self.preprocessor), "options": self.options.differences(),
                "database": state_of(self.options)}

    def _build(self, folder: Path, compiler: Compiler) -> None:
        text, scops, flags = self._transformed
        (folder / PROGRAM).write_text(text, encoding="utf-8", errors="surrogateescape", newline="")
        functions = self._callables(scops, self._global_test(folder, compiler))
        binary = compile_shared(_whole(functions), name=LIBRARY, folder=folder, compiler=compiler,
                                flags=(*DEFAULT_FLAGS, *flags), preprocessor=self.preprocessor,
                                what=f"the code emitted for {self.path}")
        record = {**self._key_parts(compiler), "compiler": str(compiler), "flags": list(binary.flags),
                  "functions": [f.to_json() for f in functions]}
        (folder / RECORD).write_text(json.dumps(record, indent=1, sort_keys=True))

    def _callables(self, scops: Sequence[Scop], is_global: Callable[[str], bool]) -> list[CCallable]:
        """The functions around the regions, those that can be called; refused without one."""
        signatures: dict[str, FunctionSignature] = {}
        for scop in scops:
            if scop.source is not None and scop.source.signature is not None:
                signatures.setdefault(scop.source.signature.name, scop.source.signature)
        if not signatures:
            raise UsageError("the region stands in no function, so there is nothing to call", where=self.path,
                             hint="put it into a function that takes the sizes and the arrays")
        made: list[CCallable] = []
        refusal: UsageError | None = None
        for name, signature in signatures.items():
            own = [s for s in scops if s.source is not None and s.source.function == name]
            try:
                made.append(callable_of(own, signature, is_global))
            except UsageError as error:
                refusal = refusal or error
        if not made and refusal is not None:
            raise refusal
        return made

    def _global_test(self, folder: Path, compiler: Compiler) -> Callable[[str], bool]:
        """A test whether a name is a variable at the end of the file, asked of the compiler."""
        def is_global(name: str) -> bool:
            return compiles(probe(Path(PROGRAM), f"(void)&{name};"), folder=folder, compiler=compiler,
                            preprocessor=self.preprocessor)
        return is_global


def _whole(functions: Sequence[CCallable]) -> str:
    """One translation unit that exports the call of every function under a name of its own."""
    parts = []
    for number, function in enumerate(functions):
        text = wrapper(Path(PROGRAM), function.name, [*_slots(function)])
        text = text.replace("polysched_call(", f"polysched_call_{function.name}(").replace(
            "polysched_address(", f"polysched_address_{function.name}(")
        parts.append(text if not number else text.replace(f'#include "{PROGRAM}"\n', ""))
    return "\n".join(parts)


def _slots(function: CCallable) -> list[Slot]:
    slots = [Slot(name=a.name, dtype=C_BY_NAME[a.dtype], origin=Origin.ARGUMENT,
                  is_array=a.kind == ParameterKind.ARRAY.value) for a in function.arguments]
    if function.returns is not None:
        slots.append(Slot(name="return value", dtype=C_BY_NAME[function.returns], origin=Origin.RESULT, is_array=False))
    return [*slots, *(Slot(name=v.name, dtype=C_BY_NAME[v.dtype], origin=Origin.GLOBAL, is_array=bool(v.shape))
                      for v in function.variables)]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
