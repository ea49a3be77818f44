"""Who takes part in the contest of a workload."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import ours
import peers
import racing
from bare import bare
from workloads import Workload

from polysched.experiment import Contender, Program
from polysched.experiment.contest import MissingToolError
from polysched.experiment.contestant import program
from polysched.measure.measurement import Build
from polysched.tensorize.description.exact_arithmetic import PRELUDE

HERE = Path(__file__).parent
PLAIN, OURS, PEAK, ONEDNN, NARROW = "plain", "polysched", "peak", "oneDNN", "narrow"
BLAS = ("OpenBLAS", "MKL")

Expected = Callable[[Mapping[str, np.ndarray]], Mapping[str, np.ndarray]]


@dataclass(kw_only=True)
class Field:
    """The contenders of a workload, and what a record keeps of ours.

    Parameters
    ----------
    parameters : of the case: `workload`, `threads`.
    folder : private; libraries and parameters go there.
    """

    workload: Workload
    parameters: Mapping[str, Any]
    folder: Path
    contenders: list[Contender] = field(default_factory=list)
    rows: list[dict[str, Any]] = field(default_factory=list)

    @property
    def threads(self) -> int:
        return int(self.parameters["threads"])

    @property
    def staying(self) -> tuple[str, ...]:
        """Those that are timed in every round."""
        return tuple(c.name for c in self.contenders if c.name.startswith((PLAIN, OURS, PEAK)))

    def add(self, name: str, file: str, factory: str, given: Mapping[str, Any], *,
            expected: Expected = peers.same, environment: Mapping[str, str] | None = None, needs: str = "",
            build: Build | None = None) -> None:
        """A variant that a factory of a file beside this one makes."""
        def started() -> Program:
            if needs and importlib.util.find_spec(needs) is None:
                raise MissingToolError(f"the package {needs} is not installed")
            return Program(command=program(HERE / file, factory, {**self.parameters, **given}, self.folder, name),
                           environment=environment or {}, build=build)
        self.contenders.append(Contender(name=name, threads=self.threads, make=started, expected=expected))

    def add_plain(self) -> None:
        """The loop nest as the compiler vectorises it."""
        library, build = ours.built(f"#include <stdlib.h>\n{PRELUDE}{self.workload.plain}", (), self.folder, PLAIN)
        self.add(PLAIN, "ours.py", "entry", {"library": str(library), "function": "plain", "prepare": "", "plain": True,
                                             "arrays": self.workload.order, "note": ""}, build=build)

    def add_ours(self, made: racing.Made, *, limit: str | None) -> None:
        """Ours packing everything and with the constant operand packed once, and the bare instruction.

        Parameters
        ----------
        limit : the instruction set to which oneDNN is limited beside an instruction that was asked for; None for the
            program's own choice.
        """
        intrinsic = made.match.intrinsic
        name, peak_name = OURS if limit is None else f"{OURS} {intrinsic.name}", f"{PEAK} {intrinsic.name}"
        library, build = ours.built(made.text, made.flags, self.folder, intrinsic.name)
        given = {"library": str(library), "plain": False, "arrays": made.arrays, "note": str(made.plans[0].plan)}
        self.add(f"{name} packing", "ours.py", "entry", {**given, "function": "ours", "prepare": ""}, build=build)
        self.add(name, "ours.py", "entry", {**given, "function": "once", "prepare": made.prepare}, build=build)
        peak = bare(intrinsic, self.threads)
        library, build = ours.built(peak.text, peak.flags, self.folder, f"bare_{intrinsic.name}")
        about = {k: v for k, v in asdict(peak).items() if k in ("times", "inputs", "dtype", "shape")}
        self.add(peak_name, "ours.py", "bare_entry", {**about, "library": str(library)}, build=build,
                 expected=lambda _: {"registers": np.full(peak.shape, peak.result, peak.dtype)})
        self.rows.append({**made.to_json(), "ours": name, "peak": peak_name, "peak_operations": peak.operations,
                          "asked": limit is not None, "onednn_limit": limit or ""})

    def add_peers(self) -> None:
        """The libraries; oneDNN once more with every instruction set to which it is limited."""
        limits = [row["onednn_limit"] for row in self.rows if row["onednn_limit"]]
        for name, (peer, variant, expected) in peers.variants(
                self.workload, self.parameters["workload"]["types"]).items():
            given = {"peer": peer, "variant": variant}
            if peer == "openblas":
                self.add(name, "peers.py", "openblas", given, expected=expected)
                continue
            add = partial(self.add, file="peers.py", factory="torch_entry", given=given, expected=expected,
                          needs="torch")
            add(name)
            if name.startswith(ONEDNN) and NARROW not in name:
                for limit in limits:
                    add(limited(name, limit), environment={"ONEDNN_MAX_CPU_ISA": limit})


def limited(name: str, limit: str) -> str:
    """oneDNN with the instruction sets up to a limit; without one as it is."""
    return f"{name} up to {limit}" if limit else name
