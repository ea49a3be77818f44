"""C programs that reach a machine's peak: multiply-adds on enough registers, and streams through one cache level.

Every kernel keeps `CHAINS` independent accumulators, more than latency times throughput of any current core (five
cycles and two pipes), and ends in a value that is stored, so the compiler cannot drop it.
"""

from __future__ import annotations

from collections.abc import Mapping

from polysched.measure.timing.peak_tiles import tile_kernels
from polysched.records import dataclass

CHAINS = 12
STREAM_CHAINS = 8


@dataclass(frozen=True, kw_only=True)
class DotInstruction:
    """An instruction that multiplies short numbers and adds them into wider lanes.

    Parameters
    ----------
    feature : the kernel's name of the extension.
    template : inline assembly; %0 is the accumulator, %1 and %2 the factors.
    constraint : the register class.
    operations_per_bit : multiplications and additions per bit of the vector register.
    widest_bits : of the registers it takes with the extensions named here.
    """

    feature: str
    template: str
    constraint: str
    operations_per_bit: float
    widest_bits: int


INT8_INSTRUCTIONS = (
    DotInstruction(feature="avx512_vnni", template="vpdpbusd %2, %1, %0", constraint="v", operations_per_bit=1 / 4,
                   widest_bits=512),
    DotInstruction(feature="avx_vnni", template="{vex} vpdpbusd %2, %1, %0", constraint="x", operations_per_bit=1 / 4,
                   widest_bits=256),
    DotInstruction(feature="asimddp", template="sdot %0.4s, %1.16b, %2.16b", constraint="w", operations_per_bit=1 / 4,
                   widest_bits=128),
)
BFLOAT16_INSTRUCTIONS = (
    DotInstruction(feature="avx512_bf16", template="vdpbf16ps %2, %1, %0", constraint="v", operations_per_bit=1 / 8,
                   widest_bits=512),
    DotInstruction(feature="bf16", template="bfdot %0.4s, %1.8h, %2.8h", constraint="w", operations_per_bit=1 / 8,
                   widest_bits=128),
)
INSTRUCTIONS: Mapping[str, tuple[DotInstruction, ...]] = {"int8": INT8_INSTRUCTIONS, "bfloat16": BFLOAT16_INSTRUCTIONS}


def peak_program(vector_bits: int, features: frozenset[str]) -> tuple[str, dict[str, float]]:
    """The C text, and for each kernel in it the operations of one repetition.

    Kernels are named after element types, those of a matrix unit with a suffix; `stream` reads memory.
    """
    bits = max(vector_bits, 128)
    parts, operations = [HEADER.format(bytes=bits // 8)], {}
    for name, c_type, element_bits in (("float32", "float", 32), ("float64", "double", 64)):
        parts.append(_multiply_add(name, c_type, bits))
        operations[name] = 2.0 * CHAINS * bits / element_bits
    for name, candidates in INSTRUCTIONS.items():
        chosen = next((c for c in candidates if c.feature in features), None)
        if chosen is not None:
            width = min(bits, chosen.widest_bits)
            parts.append(_dot(name, chosen, width))
            operations[name] = CHAINS * width * chosen.operations_per_bit
    text, counts = tile_kernels(features)
    parts += [text, _stream(bits)]
    operations |= counts
    return "\n".join(parts), operations


def stream_program(vector_bits: int) -> str:
    """The C text of `stream`, which reads memory, and of `peak_float32`, which multiplies and adds."""
    bits = max(vector_bits, 128)
    return HEADER.format(bytes=bits // 8) + _multiply_add("float32", "float", bits) + _stream(bits)


HEADER = """\
#define EXPORTED __attribute__((visibility("default")))
static volatile double sink;
typedef unsigned char bytes __attribute__((vector_size({bytes})));
"""


def _multiply_add(name: str, c_type: str, bits: int) -> str:
    chains = range(CHAINS)
    accumulators = ", ".join(f"a{i} = x + {i}" for i in chains)
    steps = "\n".join(f"    a{i} = a{i} * x + y;" for i in chains)
    total = " + ".join(f"a{i}" for i in chains)
    return f"""
typedef {c_type} vector_{name} __attribute__((vector_size({bits // 8})));
EXPORTED void peak_{name}(long repetitions) {{
  vector_{name} x = {{0}}, y = {{0}};
  x += ({c_type})0.999; y += ({c_type})0.001;
  __asm__ volatile("" : "+m"(x), "+m"(y));
  vector_{name} {accumulators};
  for (long r = 0; r < repetitions; r++) {{
{steps}
  }}
  sink = ({total})[0];
}}
"""


def _dot(name: str, instruction: DotInstruction, bits: int) -> str:
    constraint = instruction.constraint
    steps = "\n".join(f'    __asm__("{instruction.template}" : "+{constraint}"(a{i}) : "{constraint}"(x), '
                      f'"{constraint}"(y));' for i in range(CHAINS))
    total = " + ".join(f"a{i}" for i in range(CHAINS))
    zeros = ", ".join(f"a{i} = x" for i in range(CHAINS))
    return f"""
typedef int vector_{name} __attribute__((vector_size({bits // 8})));
EXPORTED void peak_{name}(long repetitions) {{
  vector_{name} x = {{0}}, y = {{0}};
  __asm__ volatile("" : "+m"(x), "+m"(y));
  vector_{name} {zeros};
  for (long r = 0; r < repetitions; r++) {{
{steps}
  }}
  sink = ({total})[0];
}}
"""


def _stream(bits: int) -> str:
    """Read an array `repetitions` times; `words` is a multiple of what one step reads."""
    lanes = bits // 64
    loads = "\n".join(f"      s{i} += p[{i}];" for i in range(STREAM_CHAINS))
    sums = ", ".join(f"s{i} = {{0}}" for i in range(STREAM_CHAINS))
    total = " + ".join(f"s{i}" for i in range(STREAM_CHAINS))
    return f"""
typedef double vector_stream __attribute__((vector_size({bits // 8})));
EXPORTED void stream(const double *data, long words, long repetitions) {{
  vector_stream {sums};
  for (long r = 0; r < repetitions; r++) {{
    const vector_stream *p = (const vector_stream *)data, *end = (const vector_stream *)(data + words);
    for (; p < end; p += {STREAM_CHAINS}) {{
{loads}
    }}
    __asm__ volatile("" : : : "memory");
  }}
  sink = ({total})[0];
}}
EXPORTED long stream_step(void) {{ return {STREAM_CHAINS * lanes}; }}
EXPORTED void peak_threads(void (*kernel)(long), long repetitions) {{
#pragma omp parallel
  kernel(repetitions);
}}
EXPORTED void stream_threads(const double *data, long words, long repetitions, int threads) {{
#pragma omp parallel for schedule(static, 1) num_threads(threads)
  for (int t = 0; t < threads; t++)
    stream(data + words / threads / {STREAM_CHAINS * lanes} * {STREAM_CHAINS * lanes} * t,
           words / threads / {STREAM_CHAINS * lanes} * {STREAM_CHAINS * lanes}, repetitions);
}}
"""
