"""VectorMath: the macros of the mathematical functions that one region uses.

Every function stays within 4 units in the last place of the exact value, and has C's values (C11, annex F.10) at zeros,
infinities, denormals and NaN.  It does not set `errno`, and the rounding flags are not kept.  Where the C is compiled
with `-ffast-math` the bound holds for ordinary numbers, but for `pow` of doubles, which computes with rounding errors,
and next to the zeros of `sin` and `cos`.  Arguments of these beyond 3200 (float) and 1600000 (double) have the values
of the C library, lane by lane.
"""

from __future__ import annotations

from dataclasses import field

from polysched.emit_c.loop_ir.names import TakenNames
from polysched.emit_c.scalar_code.vector_types import VectorTypes
from polysched.emit_c.vector_math import programs_f32, programs_f64
from polysched.emit_c.vector_math.natives import (
    AVX_BITS,
    LANEWISE,
    NATIVES,
    has_avx_form,
    lanewise_definition,
    native_definition,
    native_parameters,
    native_program,
)
from polysched.emit_c.vector_math.notation import PRIMITIVES, Form, Program, parse, primitive, type_letters
from polysched.emit_c.vector_math.quotients import has_quotient, quotient_definition
from polysched.emit_c.vector_math.rare_lanes import RARELY, rare_lanes_definition
from polysched.emit_c.vector_math.register_tables import BY_REGISTER, TABLE_BITS, TABLES, by_register, table_definition
from polysched.records import dataclass
from polysched.scop.dtypes import FLOAT32, FLOAT64, DType
from polysched.target.costs import SHIPPED

_BOTH = {
    "fmax": "pick((x < y) | (x != x), y, x)",
    "fmin": "pick((x > y) | (x != x), y, x)",
    # The larger and the smaller of x and y, NaN where one of them is: all bits set are NaN.
    "maximum": "real(bits(at_least(x, y)) | (y != y))",
    "minimum": "real(bits(at_most(x, y)) | (y != y))",
}
_EXTREMES = {"max": "at_least", "min": "at_most", "maximum": "maximum", "minimum": "minimum"}
_ROUND = {FLOAT32: "trunc(x + copysign(splat(0.49999997f), x))",
          FLOAT64: "trunc(x + copysign(splat(0.49999999999999994), x))"}
_PROGRAMS: dict[DType, dict[str, str]] = {
    FLOAT32: {**programs_f32.PROGRAMS, **_BOTH, "round": _ROUND[FLOAT32]},
    FLOAT64: {**programs_f64.PROGRAMS, **_BOTH, "round": _ROUND[FLOAT64]},
}
_PRIVATE = frozenset({"exp_near_0", "exp_core", *BY_REGISTER.values(), "log1p_tail", "expm1_tail", "atanh_tail",
                      "sine_core", "maximum", "minimum"})
NARROWEST_BITS = 128    # single values are computed in a lane of the narrowest registers
REGISTER_BITS = (128, 256, 512)
_APPROXIMATED = {FLOAT32: programs_f32.PROGRAMS.keys() - _PRIVATE, FLOAT64: programs_f64.PROGRAMS.keys() - _PRIVATE}
_PUBLIC_PRIMITIVES = frozenset({"fabs", "copysign"})


def has_vector_function(function: str) -> bool:
    """Whether a function, by its C name (`expf`, `exp`), has a vector form here."""
    return _meaning(function) is not None


def is_approximated(function: str) -> bool:
    """Whether a C function is a polynomial here, which compilers call lane by lane."""
    known = _meaning(function)
    return known is not None and known[0] in _APPROXIMATED[known[1]]


def _meaning(function: str) -> tuple[str, DType] | None:
    """The name in the tables and the element type of a C function, or of the builtin that it is (`__builtin_sqrt`)."""
    function = function.removeprefix("__builtin_")
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
    vector_bits : of the target's registers; those of AVX are spoken to directly where these are no wider.
    divider_bits : of vectors that a core divides at once (`Costs.divider_bits`).
    """

    taken: TakenNames
    types: VectorTypes
    vector_bits: int = REGISTER_BITS[-1]
    divider_bits: int = SHIPPED.divider_bits
    _defined: dict[str, list[str]] = field(default_factory=dict)
    _letters: dict[str, str] = field(default_factory=dict)
    _approximated: dict[str, None] = field(default_factory=dict)

    def unused(self, types: VectorTypes) -> VectorMath:
        """One for the same machine that has defined nothing yet."""
        return VectorMath(self.taken, types, self.vector_bits, self.divider_bits)

    def use(self, function: str, lanes: int) -> tuple[str, tuple[str, ...]]:
        """The macro for a C function, from now on defined, and the types that are its first arguments.

        With one lane the other arguments and the result are scalars, and no types are given.
        """
        found = _meaning(function)
        if found is None:
            raise ValueError(f"{function} has no vector form")
        name, dtype = found
        if name in _APPROXIMATED[dtype]:
            self._approximated[function] = None
        macro, letters = self._macro(name, dtype)
        form = Form(types=self.types, dtype=dtype, lanes=lanes if lanes > 1 else NARROWEST_BITS // dtype.bits)
        kinds = tuple(form.c_type(letter) for letter in letters)
        if lanes > 1:
            return macro, kinds
        return self._single(name, dtype, macro, kinds, form.c_type("R")), ()

    def extreme(self, kind: str, dtype: DType, lanes: int) -> tuple[str, tuple[str, ...]] | None:
        """A macro of two vectors a and b for `b > a ? b : a` (`max`) or `b < a ? b : a` (`min`), as `use` gives it.

        `maximum` and `minimum` are NaN where b is, too.

        One instruction where there is one, with just this value also where an operand is NaN or both are zeros (Intel
        SDM, volume 2, MAXPS).  None where no register has so many lanes of this type.
        """
        if dtype not in (FLOAT32, FLOAT64) or lanes * dtype.bits not in REGISTER_BITS:
            return None
        macro, letters = self._macro(_EXTREMES[kind], dtype)
        form = Form(types=self.types, dtype=dtype, lanes=lanes)
        return macro, tuple(form.c_type(letter) for letter in letters)

    def quotient(self, dtype: DType, lanes: int) -> tuple[str, tuple[str, ...]] | None:
        """A macro of a vector and a number for their quotient, as `use` gives it; None where a division is as good."""
        if not has_quotient(dtype, lanes, self.divider_bits):
            return None
        macro = self.taken.fresh(f"polysched_quotient_f{dtype.bits}")
        if macro not in self._letters:
            self._letters[macro] = "RI"
            self._defined[macro] = quotient_definition(macro, dtype)
        form = Form(types=self.types, dtype=dtype, lanes=lanes)
        return macro, tuple(form.c_type(letter) for letter in self._letters[macro])

    @property
    def approximated(self) -> tuple[str, ...]:
        """The C functions in use whose results may differ from the C library's."""
        return tuple(self._approximated)

    def definitions(self) -> list[str]:
        """The lines that define all macros in use."""
        return [line for lines in self._defined.values() for line in lines]

    def undefinitions(self) -> list[str]:
        """One `#undef` per macro in use."""
        return [f"#undef {macro}" for macro in self._defined]

    def _single(self, name: str, dtype: DType, macro: str, kinds: tuple[str, ...], vector: str) -> str:
        """A macro on scalars, each the first lane of a vector."""
        single = self.taken.fresh(f"polysched_{name}_one_f{dtype.bits}")
        arguments = ("a", "b")[:2 if name in ("fmin", "fmax", "copysign", "pow") else 1]
        wrapped = ", ".join([*kinds, *(f"(({vector}){{{a}}})" for a in arguments)])
        self._defined[single] = [f"#define {single}({', '.join(arguments)}) __extension__ ({{ "
                                 f"const {vector} polysched_one = {macro}({wrapped}); polysched_one[0]; }})"]
        return single

    def _macro(self, name: str, dtype: DType) -> tuple[str, str]:
        """A macro's name, and the letters of the types that it takes, in order."""
        macro = self.taken.fresh(f"polysched_{name}_f{dtype.bits}")
        if macro not in self._letters:
            if name in PRIMITIVES:
                self._primitive(macro, name, dtype)
            elif name in NATIVES:
                self._native(macro, name, dtype)
            elif name in TABLES:
                self._letters[macro] = "R"
                self._defined[macro] = table_definition(macro)
            elif name in RARELY:
                self._letters[macro] = "RI"
                self._defined[macro] = rare_lanes_definition(name, macro, dtype)
            elif (name, dtype) in BY_REGISTER and self.vector_bits >= TABLE_BITS:
                self._by_register(macro, name, dtype)
            else:
                self._program(macro, parse(name, _PROGRAMS[dtype][name]), dtype)
        return macro, self._letters[macro]

    def _primitive(self, macro: str, name: str, dtype: DType) -> None:
        parameters, bodies = primitive(name, dtype)
        letters = _in_order(type_letters(bodies))
        head = f"#define {macro}({', '.join([*letters, *([parameters] if parameters else [])])})"
        self._letters[macro] = letters
        self._defined[macro] = [f"{head} {bodies[0]}"] if len(bodies) == 1 else [
            "#ifdef __AVX512DQ__", f"{head} {bodies[0]}", "#else", f"{head} {bodies[1]}", "#endif"]

    def _native(self, macro: str, name: str, dtype: DType) -> None:
        both = self.vector_bits <= AVX_BITS and has_avx_form(name)
        plain = self.taken.fresh(f"polysched_{name}_plain_f{dtype.bits}") if both else macro
        program = native_program(name, dtype)
        if program is not None:
            self._program(plain, parse(name, program), dtype)
        else:
            self._letters[plain] = "R"
            self._defined[plain] = lanewise_definition(name, f"{plain}(R, x_)", dtype)
        letters = self._letters[macro] = self._letters[plain]
        head = f"({', '.join([*letters, *(f'{p}_' for p in native_parameters(name))])})"
        otherwise = [f"#define {macro}{head} {plain}{head}"] if both else self._defined.pop(plain)
        self._defined[macro] = native_definition(name, macro + head, dtype, otherwise, plain + head if both else None)

    def _by_register(self, macro: str, name: str, dtype: DType) -> None:
        """A program whose table is a register, and one for compilers that are not told to use such registers."""
        other, wide = self.taken.fresh(f"polysched_{name}_plain_f{dtype.bits}"), BY_REGISTER[name, dtype]
        self._program(other, parse(name, _PROGRAMS[dtype][name]), dtype)
        found, _ = self._macro(wide, dtype)
        letters = self._letters[macro] = _in_order(frozenset(self._letters[found] + self._letters[other]))
        self._defined[macro] = by_register(macro, letters, found, self._letters[found], other, self._letters[other])

    def _program(self, macro: str, program: Program, dtype: DType) -> None:
        called = {name: self._macro(name, dtype) for name in program.calls()}
        heads = {name: f"{found}({''.join(f'{letter}, ' for letter in letters)}"
                 for name, (found, letters) in called.items()}
        prefix = f"polysched_{program.name}_"
        lines = [f"const R {prefix}{p} = ({p}_);" for p in program.parameters]
        for letter, name, expression in program.steps:
            kind = "I" if letter == "M" else letter
            value = program.spelled(expression, heads, prefix)
            lines.append(f"const {kind} {prefix}{name} = {f'({kind})({value})' if letter in 'IMJ' else value};")
        result = program.spelled(program.result, heads, prefix)
        letters = _in_order(type_letters([*lines, result]))
        head = f"#define {macro}({', '.join([*letters, *(f'{p}_' for p in program.parameters)])}) __extension__ ({{"
        self._letters[macro] = letters
        self._defined[macro] = [f"{head} \\", *(f"  {line} \\" for line in lines), f"  {result}; }})"]


def _in_order(letters: frozenset[str]) -> str:
    return "".join(letter for letter in "RIDJK" if letter in letters)
