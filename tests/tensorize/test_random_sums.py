"""Random integer sums at the ends of their types: results, overflow that the program does not have, and stray reads.

The programs do not overflow.  What an instruction's code does with them is compiled with the sanitizers of undefined
behaviour, and with optimisation for this machine, and reads arrays behind which no memory is.
"""

from __future__ import annotations

import random
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from polysched.emit_c import splice
from polysched.fuzz.batch import Version, batch_text
from polysched.pipeline import optimize
from polysched.pipeline.options import PipelineOptions
from polysched.scop import from_c_text
from polysched.target import find_compiler
from polysched.tensorize.options import TensorizeOptions

# program by number, each with an instruction that matches it
CHOSEN = {14: "arm_sdot", 23: "vpdpbusd_vector", 38: "vpdpwssd", 42: "vpmaddwd", 44: "vpmaddwd_vector",
          57: "vpdpbusd", 60: "arm_usdot", 68: "vpmaddwd_vector", 81: "vpdpbusd", 88: "vpdpwssds"}
TYPES = (("uint8_t", "int8_t"), ("int8_t", "int8_t"), ("uint8_t", "uint8_t"), ("int16_t", "int8_t"))
BYTES = {"uint8_t": 1, "int8_t": 1, "int16_t": 2}
HEAD = "#include <stdint.h>\n"
PLAIN = ("-O1",)
BUILDS = ("-O1 -fsanitize=undefined -fno-sanitize-recover=all", "-O2 -march=native", "-O3 -march=native")
SIZES = (1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 33)
STEPS = {   # type of the sum, where it starts, one step
    "plain": ("int32_t", "D[j]", "t += {a} * {b};"),
    "negative": ("int32_t", "0", "t -= {a} * {b};"),
    "low bits": ("int64_t", "(1L << 40) - D[j]", "t += {a} * {b};"),
    "unsigned": ("uint32_t", "D[j]", "t = t + {a} * {b};"),
    "wraps": ("int32_t", "INT32_MAX - 5", "t = (int32_t)((uint32_t)t + (uint32_t)({a} * {b}));"),
    "saturates": ("int64_t", "INT32_MAX - 5",
                  "t += {a} * {b}; if (t > INT32_MAX) t = INT32_MAX; if (t < INT32_MIN) t = INT32_MIN;"),
    "short": ("int16_t", "D[j]", "t += {a} * {b};"),
    "conditional": ("int32_t", "0", "if ({a} > 3) t += {a} * {b};"),
    "choice": ("int32_t", "D[j]", "t += {b} < 5 ? {a} * {b} : 0;"),
}
AHEAD = ("", "", "t += D[k % {m}];", "t -= 3 * D[k % {m}];", "t *= -1;")
BEHIND = ("C[i][j] = t;", "C[i][j] = (int16_t)(t / 3);", "C[i][j] = t > 127 ? 127 : t < -128 ? -128 : t;",
          "C[i][j] = (uint8_t)t ^ 5; F[i][j] = (int32_t)t;", "C[i][j] = (uint32_t)t + (uint32_t)C[i][j];")
LEFT = ("A[i][k]", "A[i][k]", "A[i][k]", "(A[i][k] - 7)", "(A[i][k] & 63)", "A[i][k] / 2", "(int8_t)A[i][k]")
RIGHT = ("B[k][j]", "B[k][j]", "B[k][j]", "(B[k][j] + 128)", "(B[k][j] >> 1)")
MAIN = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
static void *at_the_end(size_t bytes)
{
    size_t whole = (bytes + 4095) / 4096 * 4096;
    char *memory = mmap(0, whole + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory + whole, 4096, PROT_NONE)) exit(2);
    return memory + whole - bytes;
}
static void *filled(size_t bytes, int size, int how)
{
    unsigned char *made = at_the_end(bytes);
    for (size_t i = 0; i < bytes; i++) {
        int top = (int)(i % size) == size - 1;
        made[i] = how == 0 ? rand() : how == 1 ? (top ? 0x7f : 0xff) : rand() & 1 ? (top ? 0x80 : 0) : 0xff;
    }
    return made;
}
"""


@dataclass(frozen=True)
class Sum:
    """One program: its function and region, with `{name}` for its name, and the calls of both versions."""

    head: str
    body: str
    calls: str

    def text(self, name: str) -> str:
        return f"{self.head.replace('{name}', name)}\n{{\n#pragma scop\n{self.body}\n#pragma endscop\n}}\n"

    def declared(self) -> str:
        return "".join(f"{self.head.replace('{name}', name)};\n" for name in ("written", "changed"))


def drawn(seed: int) -> Sum:
    """The program of this number."""
    source = random.Random(f"sum {seed}")
    left, right = source.choice(TYPES)
    n, m, q = (source.choice(SIZES) for _ in range(3))
    total, start, step = STEPS[source.choice(list(STEPS))]
    step = step.format(a=source.choice(LEFT), b=source.choice(RIGHT))
    ahead, behind = source.choice(AHEAD).format(m=m), source.choice(BEHIND)
    if "INT32" in start:   # the program itself would overflow
        ahead = ""
    restrict = "restrict " if source.random() < 0.3 else ""
    head = (f"void {{name}}{seed}(int32_t C[{restrict}{n}][{m}], {left} A[{n}][{q}], {right} B[{q}][{m}], "
            f"int16_t D[{m}], int32_t F[{n}][{m}])")
    body = (f"for (int i = 0; i < {n}; i++) for (int j = 0; j < {m}; j++) {{ {total} t = {start};\n"
            f"for (int k = 0; k < {q}; k++) {{ {step} }}\n"
            f"{f'for (int k = 0; k < {q}; k++) {ahead}' if ahead else ''}\n{behind} }}")
    arrays = ((n * m, 4), (n * q, BYTES[left]), (q * m, BYTES[right]), (m, 2), (n * m, 4))
    calls = "".join(
        f"        srand({seed});\n        void *{name}[] = "
        f"{{{', '.join(f'filled({count * size}, {size}, how)' for count, size in arrays)}}};\n"
        f"        {name}{seed}({', '.join(f'{name}[{i}]' for i in range(len(arrays)))});\n"
        for name in ("written", "changed"))
    differ = " || ".join(f"memcmp(written[{i}], changed[{i}], {4 * n * m})" for i in (0, 4))
    return Sum(head, body, f"    for (int how = 0; how < 3; how++) {{\n{calls}"
                           f"        if ({differ}) printf(\"program {seed}, inputs %d\\n\", how);\n    }}\n")


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the programs as written, the calls of both versions, and the C with instructions."""
    folder, programs = tmp_path_factory.mktemp("sums"), [drawn(seed) for seed in CHOSEN]
    versions = []
    for (seed, name), program in zip(CHOSEN.items(), programs, strict=True):
        text = HEAD + program.text("changed")
        made = optimize(from_c_text(text), PipelineOptions(
            scheduler="original", tile="off", parallel=False, verify_instructions="never",
            tensorize=TensorizeOptions(intrinsic=name)))
        assert f"by {name} */" in made.text, made.instructions
        versions.append(Version(label=f"changed{seed}", text=splice(text, [made.source]), function=f"changed{seed}"))
    (folder / "changed.c").write_text(batch_text(versions))
    (folder / "written.c").write_text(HEAD + "".join(p.text("written") for p in programs))
    (folder / "main.c").write_text(HEAD + MAIN + "".join(p.declared() for p in programs) + "int main(void)\n{\n"
                                   + "".join(p.calls for p in programs) + "    return 0;\n}\n")
    for part in ("written", "main"):
        built([*PLAIN, "-c", str(folder / f"{part}.c"), "-o", str(folder / f"{part}.o")])
    return folder


def built(arguments: list[str]) -> None:
    done = find_compiler().run(["-w", "-std=gnu11", *arguments])
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("flags", BUILDS)
def test_random_sums(flags: str, objects: Path, tmp_path: Path) -> None:
    built([*flags.split(), str(objects / "changed.c"), str(objects / "written.o"), str(objects / "main.o"), "-o",
           str(tmp_path / "sums"), "-lm"])
    ran = subprocess.run([str(tmp_path / "sums")], capture_output=True, text=True, timeout=120, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
