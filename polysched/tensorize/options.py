"""TensorizeOptions: which instructions may compute statements of a program, and for which sizes."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import field, replace
from functools import cached_property

from polysched.dependence.parameter_sizes import sizes_inside
from polysched.records import dataclass
from polysched.scop.assumptions import ASSUMED
from polysched.scop.points import nearest_parameters, parameters_of, with_sizes
from polysched.scop.scop import Scop
from polysched.tensorize.description.intrinsic import Intrinsic
from polysched.tensorize.description.library_function import LibraryFunction
from polysched.tensorize.functions.units import has_partial_sum, is_unit
from polysched.tensorize.instruction_choice import NO_INSTRUCTION, InstructionChoice
from polysched.tensorize.intrinsics.shipped import shipped_for
from polysched.tensorize.matching.facts import Numerics
from polysched.tensorize.matching.mapping import Match
from polysched.tensorize.probes import executes_here, is_listed_here, may_execute_here
from polysched.tensorize.registry import (
    FUNCTIONS,
    INTRINSICS,
    find_function,
    find_intrinsic,
    load_functions,
    load_intrinsics,
)

AUTO = "auto"
DEFAULT = "default"
NONE = "none"


@dataclass(frozen=True, kw_only=True)
class TensorizeOptions:
    """Which instructions may compute statements of a program.

    Parameters
    ----------
    intrinsic : the name of one, which is then used wherever it matches; or `auto`: of all that this machine executes
        the cheapest, where that promises more than vector code could do at best; or `default`: the same of those whose
        integers are equal bit for bit, and nothing is compiled to find out what the machine executes.
    files : Python files that describe further instructions.
    sizes : values of the program's parameters; the code is made for them, other sizes take the ordinary code. Without
        a value for every parameter it is made for all sizes, where a match holds for all of them.
    samples : sizes for which blocks and tiles are chosen where there is no value; the typical size otherwise.
    numerics : what may change in floating-point results.
    measure : of the models' plans for the chosen instruction take the one that runs fastest here.
    chosen : what computes single statements, by their names, in place of what `intrinsic` says.
    """

    intrinsic: str = AUTO
    files: tuple[str, ...] = ()
    sizes: Mapping[str, int] = field(default_factory=dict)
    samples: Mapping[str, int] = field(default_factory=dict)
    numerics: Numerics = field(default_factory=Numerics)
    measure: bool = False
    chosen: Mapping[str, InstructionChoice] = field(default_factory=dict)

    def allows(self, candidate: Match) -> bool:
        """Whether a match may be taken for its statement: any, but where somebody chose one."""
        own = self.chosen.get(candidate.fragment.statement.name)
        return candidate.intrinsic.name not in self.also_named if own is None else own.fits(candidate)

    @cached_property
    def also_named(self) -> frozenset[str]:
        """Instructions that are looked at only for the statements that they were chosen for."""
        named = {c.name for c in self.chosen.values()} - {NO_INSTRUCTION}
        return frozenset(named - {i.name for i in replace(self, chosen={}).considered()}) if named else frozenset()

    def sizes_of(self, scop: Scop) -> dict[str, int]:
        """A value per parameter: the stated one, else that of the samples, else the typical size.

        Sizes that nobody stated give way where the context asks for others, or where accesses would leave their
        arrays otherwise: those of arrays before those of loops.
        """
        wanted = {p.name: self.sizes.get(p.name, self.samples.get(p.name, ASSUMED.typical_size))
                  for p in scop.parameters}
        loops = [n for s in scop.statements for n in parameters_of(s.domain.gist_params(scop.context.params()))]
        stated = [n for n in self.sizes if n in wanted]
        found = nearest_parameters(scop.context, wanted, stated, loops) or wanted
        inside = sizes_inside(scop, *(s.name for s in scop.statements)) if len(stated) < len(wanted) else None
        if inside is None or not with_sizes(inside, found).is_empty():
            return found
        return nearest_parameters(inside, found, stated, loops) or found

    @property
    def by_model(self) -> bool:
        """Whether the model chooses, so that nothing is used where nothing is faster."""
        return self.intrinsic in (AUTO, DEFAULT)

    @property
    def is_asked(self) -> bool:
        """Whether somebody asked for instructions, for all statements or for one."""
        return self.intrinsic != DEFAULT or bool(self.chosen)

    def executes(self, intrinsic: Intrinsic) -> bool:
        """Whether an instruction counts as one that this machine executes; those considered by default all do."""
        return self.intrinsic == DEFAULT or executes_here(intrinsic)

    def function(self) -> LibraryFunction | None:
        """The function of this name that is described by its C code; None for an instruction.

        Raises
        ------
        PolyschedError : a file does not load.
        """
        also: dict[str, LibraryFunction] = {}
        for path in self.files if self.intrinsic not in FUNCTIONS and not self.by_model else ():
            also |= load_functions(path)
        return find_function(self.intrinsic, also=also)

    def unit(self) -> Intrinsic | None:
        """The instruction of this name where it computes in several stages; None for any other.

        Raises
        ------
        UsageError : there is none of this name, or a file does not load.
        """
        if self.by_model:
            return None
        found = self.considered()[0]
        return found if is_unit(found) else None

    def partial_sum(self) -> Intrinsic | None:
        """The instruction of this name where it keeps a part of its sum in a variable; None for any other.

        Raises
        ------
        UsageError : as of `unit`.
        """
        if self.by_model or self.function() is not None:
            return None
        found = self.considered()[0]
        return found if has_partial_sum(found) else None

    def considered(self) -> list[Intrinsic]:
        """The instructions to look at.

        Raises
        ------
        UsageError : there is none of this name, or a file does not load.
        """
        also: dict[str, Intrinsic] = {}
        for path in self.files:
            also |= load_intrinsics(path, wanted="" if self.by_model else self.intrinsic)
        found = self._usual(also)
        named = dict.fromkeys(c.name for c in self.chosen.values() if c.name != NO_INSTRUCTION)
        chosen = [find_intrinsic(name, also=also) for name in named if name not in {i.name for i in found}]
        return [*found, *chosen]

    def _usual(self, also: dict[str, Intrinsic]) -> list[Intrinsic]:
        """The instructions that `intrinsic` stands for."""
        if self.intrinsic == DEFAULT:
            usual = [i for i in shipped_for(platform.machine()) if is_listed_here(i)]
            return [i for i in (*usual, *filter(executes_here, also.values())) if i.output.dtype.is_integer]
        if self.intrinsic != AUTO:
            return [find_intrinsic(self.intrinsic, also=also)]
        return [i for i in (*INTRINSICS.values(), *also.values()) if may_execute_here(i)]


BY_DEFAULT = TensorizeOptions(intrinsic=DEFAULT, numerics=Numerics(reassociate=False, contract=False, flush=False,
                                                                 finite=False))
"""What nobody asked for changes no bit."""
