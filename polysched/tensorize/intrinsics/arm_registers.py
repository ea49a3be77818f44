"""Register classes of Advanced SIMD (128 bits) and SVE at 256 bits."""

from polysched.tensorize.description.intrinsic import Register
from polysched.tensorize.intrinsics.repeated import repeated_group


def neon(element: str, lanes: int) -> Register:
    """A full 128-bit register of `lanes` elements: `s8`, `s16`, `u32`, `f32`, `bf16` as the intrinsics call them."""
    c_type = {"s8": "int8", "u8": "uint8", "s16": "int16", "s32": "int32", "u32": "uint32", "f32": "float32",
              "bf16": "bfloat16"}[element]
    loaded = f"vld1q_{element}((const void *)({{pointer}}))"
    if element == "bf16":   # whose elements lie in memory as numbers of 16 bits
        loaded = "vreinterpretq_bf16_u16(vld1q_u16((const void *)({pointer})))"
    return Register(c_type=f"{c_type}x{lanes}_t", load=f"{{register}} = {loaded};",
                    store=f"vst1q_{element}((void *)({{pointer}}), {{register}});",
                    zero=f"{{register}} = vdupq_n_{element}(0);")


def neon_repeat(element: str, lanes: int) -> Register:
    """Four bytes, or two short floats, repeated in every 32-bit lane."""
    c_type = {"s8": "int8", "u8": "uint8", "bf16": "bfloat16"}[element]
    return repeated_group(f"{c_type}x{lanes}_t", f"vreinterpretq_{element}_u32(vdupq_n_u32({{}}))", "unsigned")


def sve(element: str) -> Register:
    """A scalable register, all lanes active."""
    c_type = {"s8": "svint8_t", "u8": "svuint8_t", "s32": "svint32_t", "u32": "svuint32_t"}[element]
    bits = element[1:]
    return Register(c_type=c_type,
                    load=f"{{register}} = svld1_{element}(svptrue_b{bits}(), (const void *)({{pointer}}));",
                    store=f"svst1_{element}(svptrue_b{bits}(), (void *)({{pointer}}), {{register}});",
                    zero=f"{{register}} = svdup_n_{element}(0);")
