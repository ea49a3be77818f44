"""Code for an instruction set that a processor may not have: functions compiled for it, and a test at run time.

    static int polysched_has_avx2(void) { ... __builtin_cpu_supports("avx2") ... }
    __attribute__((target("avx2"))) static void polysched_S0_nest(...)
    if (polysched_has_avx2()) { ... } else { the ordinary code }

The file then compiles with plain `gcc -O2` and `clang -O2`. On other machines only the ordinary code is left of it.

Sources: GCC 12 manual, 6.33.33 (`target`) and 6.59.16 (`__builtin_cpu_supports`); Linux,
arch/arm64/include/uapi/asm/hwcap.h.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from polysched.errors import UsageError
from polysched.records import dataclass
from polysched.tensorize.conformance.conformance import fill_in
from polysched.tensorize.description.intrinsic import Isa
from polysched.tensorize.description.isa_features import features_of

X86_FEATURES = frozenset({
    "mmx", "popcnt", "sse", "sse2", "sse3", "ssse3", "sse4.1", "sse4.2", "avx", "avx2", "sse4a", "fma4", "xop", "fma",
    "avx512f", "bmi", "bmi2", "aes", "pclmul", "avx512vl", "avx512bw", "avx512dq", "avx512cd", "avx512vbmi",
    "avx512ifma", "avx512vpopcntdq", "avx512vbmi2", "gfni", "vpclmulqdq", "avx512vnni", "avx512bitalg", "avx512bf16",
    "avx512fp16", "f16c", "amx-tile", "amx-int8", "amx-bf16", "avxvnni", "movbe", "lzcnt", "adx"})
"""What `__builtin_cpu_supports` knows in gcc 12 and clang 19, both."""

ARM_FEATURES = {"dotprod": ("AT_HWCAP", 20), "sve": ("AT_HWCAP", 22), "i8mm": ("AT_HWCAP2", 13),
                "bf16": ("AT_HWCAP2", 14), "fp16": ("AT_HWCAP", 10)}
"""Per extension in `-march=` the auxiliary vector's entry and bit."""

MACROS = {"x86_64": "__x86_64__", "aarch64": "__aarch64__"}


@dataclass(frozen=True, kw_only=True)
class Dispatch:
    """How code of an instruction set is kept apart.

    Parameters
    ----------
    condition : C that is true where the processor and the system execute it; empty where code needs no test.
    machine : the preprocessor's condition for everything that belongs to the instruction; empty for any machine.
    helper : the function that `condition` calls, once per file.
    attribute : in front of every function with the instruction.
    """

    condition: str = ""
    machine: str = ""
    helper: str = ""
    attribute: str = ""

    def compiled_for(self, text: str) -> str:
        """The functions of a text with the attribute."""
        if not self.attribute:
            return text
        return "".join(f"{self.attribute} {line}" if line.startswith(("static void ", "void ")) else line
                       for line in text.splitlines(keepends=True))

    def only_there(self, text: str) -> str:
        """The text for the machine that has the instruction set."""
        return f"#if {self.machine}\n{text}#endif\n" if self.machine and text else text


def dispatch(isa: Isa) -> Dispatch:
    """How code of an instruction set is chosen at run time.

    Raises
    ------
    UsageError : no test at run time is known for one of its flags, and it has no test of its own (`prepare`).
    """
    if isa.machine not in MACROS:   # whoever compiles for it says so: there is nothing to choose
        return Dispatch()
    features = features_of(isa)
    tests = [f'__builtin_cpu_supports("{f}")' for f in features if f in X86_FEATURES]
    known = X86_FEATURES
    if isa.machine == "aarch64":
        known = frozenset(ARM_FEATURES)
        tests = [f"(getauxval({ARM_FEATURES[f][0]}) >> {ARM_FEATURES[f][1]} & 1)" for f in features if f in known]
    if (strange := [f for f in features if f not in known]) and not isa.prepare:
        raise UsageError(f"how to ask a processor for {strange[0]} is not known", where=isa.name,
                         witness=f"its flags are {' '.join(isa.flags)}",
                         hint="give the Isa a `prepare` that refuses where the instruction is missing")
    name = f"polysched_has_{re.sub(r'[^A-Za-z0-9]', '_', isa.name)}"
    attribute = ",".join(f.removeprefix("-m") for f in isa.flags if f.startswith("-m"))
    attribute = f'__attribute__((target("{attribute}")))' if attribute else ""
    return Dispatch(condition=f"{name}()", machine=f"defined({MACROS[isa.machine]})", attribute=attribute,
                    helper="".join(f"{line}\n" for line in _helper(isa, name, attribute, tests)))


def _helper(isa: Isa, name: str, attribute: str, tests: list[str]) -> Iterator[str]:
    """The test at run time, once in a file."""
    guard = name.upper()
    yield from (f"#ifndef {guard}", f"#define {guard}")
    if isa.machine == "aarch64":
        yield "#include <sys/auxv.h>"
    if isa.prepare:
        yield from (f"{attribute} static int {name}_prepared(void)".strip(), "{",
                    *(f"    {line}" for line in fill_in(isa.prepare, refuse="return 0").strip().splitlines()),
                    "    return 1;", "}")
        tests = [*tests, f"{name}_prepared()"]
    yield from asked_once(name, tests)
    yield "#endif"


def asked_once(name: str, tests: Sequence[str]) -> Iterator[str]:
    """A function that says whether all tests hold, and remembers it: 0 for not asked yet, 1 for no, 2 for yes."""
    yield from (f"static int {name}(void)", "{", "    static int known;",
                "    int answer = __atomic_load_n(&known, __ATOMIC_RELAXED);", "    if (!answer) {",
                f"        answer = {' && '.join(tests) or '1'} ? 2 : 1;",
                "        __atomic_store_n(&known, answer, __ATOMIC_RELAXED);", "    }", "    return answer == 2;", "}")
