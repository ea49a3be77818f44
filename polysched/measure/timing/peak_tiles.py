"""The peak of a matrix unit with tile registers (Intel AMX): the C of its kernels.

A process has to ask the system for the tile registers before it uses them (Linux: `arch_prctl(ARCH_REQ_XCOMP_PERM,
XFEATURE_XTILEDATA)`, Documentation/arch/x86/xstate.rst), and may be refused.

Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 1, chapter 18; an instruction multiplies a
tile of 16 rows of 64 bytes with one of 64 columns of 64 bytes.
"""

from __future__ import annotations

from collections.abc import Mapping

from polysched.records import dataclass

SUFFIX = "_tiles"
ACCUMULATORS = 6
ROWS, COLUMNS = 16, 16


@dataclass(frozen=True, kw_only=True)
class TileInstruction:
    """One product of tiles: the instruction, its feature, and how many products it adds up per element."""

    feature: str
    name: str
    depth: int


INSTRUCTIONS: Mapping[str, TileInstruction] = {
    "int8": TileInstruction(feature="amx_int8", name="tdpbusd", depth=64),
    "bfloat16": TileInstruction(feature="amx_bf16", name="tdpbf16ps", depth=32)}


def tile_kernels(features: frozenset[str]) -> tuple[str, dict[str, float]]:
    """The C of the kernels, and the operations of one repetition of each; `tiles_permitted` is always there."""
    chosen = {name: i for name, i in INSTRUCTIONS.items() if i.feature in features}
    if not chosen:
        return REFUSED, {}
    return (PERMITTED + "".join(_kernel(name, instruction) for name, instruction in chosen.items()),
            {name + SUFFIX: 2.0 * ACCUMULATORS * ROWS * COLUMNS * i.depth for name, i in chosen.items()})


def _kernel(name: str, instruction: TileInstruction) -> str:
    zeros = "".join(f"tilezero %%tmm{i}\\n" for i in range(8))
    steps = "".join(f"{instruction.name} %%tmm7, %%tmm6, %%tmm{i}\\n" for i in range(ACCUMULATORS))
    return f"""
EXPORTED void peak_{name}{SUFFIX}(long repetitions) {{
  struct tile_configuration configuration = {{ .palette = 1 }};
  for (int t = 0; t < 8; t++) {{
    configuration.row_bytes[t] = 64;
    configuration.rows[t] = {ROWS};
  }}
  __asm__ volatile("ldtilecfg %0\\n{zeros}" : : "m"(configuration));
  for (long r = 0; r < repetitions; r++)
    __asm__ volatile("{steps}" : : : "memory");
  __asm__ volatile("tilerelease");
}}
"""


REFUSED = "EXPORTED long tiles_permitted(void) { return 0; }\n"
PERMITTED = """
struct tile_configuration {
  unsigned char palette, start, reserved[14];
  unsigned short row_bytes[16];
  unsigned char rows[16];
};
EXPORTED long tiles_permitted(void) {
  const long arch_prctl = 158, request_permission = 0x1023, tile_data = 18;
  long result;
  __asm__ volatile("syscall" : "=a"(result) : "0"(arch_prctl), "D"(request_permission), "S"(tile_data)
                   : "rcx", "r11", "memory");
  return result == 0;
}
"""
