"""VectorMath: the macros of the mathematical functions that one region uses.

Every function stays within 4 units in the last place of the exact value, and has C's values (C11, annex F.10) at zeros,
infinities, denormals and NaN.  It does not set `errno`, and the rounding flags are not kept.  Where the C is compiled
with `-ffast-math` the bound holds for ordinary numbers, but for `pow` of doubles, which computes with rounding errors.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from polysched.emit_c.names import TakenNames
from polysched.emit_c.vector_math import programs_f32, programs_f64
from polysched.emit_c.vector_math.natives import LANEWISE, NATIVES, native_definition, native_program
from polysched.emit_c.vector_math.notation import PRIMITIVES, Form, Program, parse
from polysched.emit_c.vector_types import VectorTypes
from polysched.scop.dtypes import FLOAT32, FLOAT64, DType

_BOTH = {
    "fmax": "pick((x < y) | (x != x), y, x)",
    "fmin": "pick((x > y) | (x != x), y, x)",
}
_ROUND = {FLOAT32: "trunc(x + copysign(splat(0.49999997f), x))",
          FLOAT64: "trunc(x + copysign(splat(0.49999999999999994), x))"}
_PROGRAMS: dict[DType, dict[str, str]] = {
    FLOAT32: {**programs_f32.PROGRAMS, **_BOTH, "round": _ROUND[FLOAT32]},
    FLOAT64: {**programs_f64.PROGRAMS, **_BOTH, "round": _ROUND[FLOAT64]},
}
_PRIVATE = frozenset({"two_steps", "exp_near_0", "exp_core", "log1p_tail", "expm1_tail", "atanh_tail"})
_PUBLIC_PRIMITIVES = frozenset({"fabs", "copysign"})


def has_vector_function(function: str) -> bool:
    """Whether a function, by its C name (`expf`, `exp`), has a vector form here."""
    return _meaning(function) is not None


def _meaning(function: str) -> tuple[str, DType] | None:
    """The name in the tables and the element type of a C function."""
    for name, dtype in ((function.removesuffix("f"), FLOAT32), (function, FLOAT64)):
        known = name in LANEWISE or name in _PUBLIC_PRIMITIVES or (name in _PROGRAMS[dtype] and name not in _PRIVATE)
        if known and (dtype == FLOAT64 or function == f"{name}f"):
            return name, dtype
    return None


@dataclass(frozen=True)
class VectorMath:
    """Collects the macros of one region while it is printed.

    Parameters
    ----------
    taken : names that must not be made up.
    types : declares the vector types that the macros use.
    """

    taken: TakenNames
    types: VectorTypes
    _defined: dict[str, list[str]] = field(default_factory=dict)

    def use(self, function: str, lanes: int) -> str:
        """The name of the macro for a C function on vectors of this many lanes, from now on defined.

        With one lane its argument and result are scalars.
        """
        found = _meaning(function)
        if found is None:
            raise ValueError(f"{function} has no vector form")
        name, dtype = found
        form = Form(types=self.types, dtype=dtype, lanes=lanes)
        inner = self._macro(name, form)
        if lanes > 1:
            return inner
        macro = self.taken.fresh(f"polysched_{name}_f{dtype.bits}")
        count = 2 if name in ("fmin", "fmax", "copysign", "pow") else 1
        arguments = ("a", "b")[:count]
        wrapped = ", ".join(f"(({form.c_type('R')}){{{a}}})" for a in arguments)
        self._defined.setdefault(macro, [
            f"#define {macro}({', '.join(arguments)}) __extension__ ({{ "
            f"const {form.c_type('R')} polysched_one = {inner}({wrapped}); polysched_one[0]; }})"])
        return macro

    def definitions(self) -> list[str]:
        """The lines that define all macros in use."""
        return [line for lines in self._defined.values() for line in lines]

    def undefinitions(self) -> list[str]:
        """One `#undef` per macro in use."""
        return [f"#undef {macro}" for macro in self._defined]

    def _macro(self, name: str, form: Form) -> str:
        macro = self.taken.fresh(f"polysched_{name}_{form.label}")
        if macro in self._defined:
            return macro
        self._defined[macro] = []
        if name in NATIVES:
            program = native_program(name, form)
            plain = [] if program is None else self._program(macro, parse(name, program), form)
            lines = native_definition(name, macro, form, plain)
        elif name in PRIMITIVES:
            lines = _primitive_definition(macro, form.primitive(name))
        else:
            lines = self._program(macro, parse(name, _PROGRAMS[form.dtype][name]), form)
        # What a macro uses stands in front of it.
        del self._defined[macro]
        self._defined[macro] = lines
        return macro

    def _program(self, macro: str, program: Program, form: Form) -> list[str]:
        names = {name: self._macro(name, form) for name in program.calls()}
        prefix = f"polysched_{program.name}_"
        outer = [f"{p}_" for p in program.parameters]
        lines = [f"const {form.c_type('R')} {prefix}{p} = ({o});"
                 for p, o in zip(program.parameters, outer, strict=True)]
        for letter, name, expression in program.steps:
            kind = form.c_type("I" if letter == "M" else letter)
            value = program.spelled(expression, names, prefix)
            lines.append(f"const {kind} {prefix}{name} = {f'({kind})({value})' if letter in 'IMJ' else value};")
        result = program.spelled(program.result, names, prefix)
        head = f"#define {macro}({', '.join(outer)}) __extension__ ({{"
        return [f"{head} \\", *(f"  {line} \\" for line in lines), f"  {result}; }})"]


def _primitive_definition(macro: str, pieces: list[str]) -> list[str]:
    parameters, *bodies = pieces
    if len(bodies) == 1:
        return [f"#define {macro}{parameters} {bodies[0]}"]
    return ["#ifdef __AVX512DQ__", f"#define {macro}{parameters} {bodies[0]}", "#else",
            f"#define {macro}{parameters} {bodies[1]}", "#endif"]
