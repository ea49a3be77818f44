"""A program for a target and its original as one C program that compares them, element by element.

On a device, elements that the original leaves as they are get other values at the first launch: whoever brings an old
value back to the host is found, too.  The original marks what it writes, since that may be the value from before.  A
rank has memory of its own, and may compare what it receives with that.
"""

from __future__ import annotations

import re

from polysched.fuzz.targets.programs import ARRAYS, TargetProgram

_LAUNCH = "polysched_device_launch(&polysched_kernels"
"""In the last region, where nothing of the host's arrays is read any more."""
_REGION = "polysched_device_build(&polysched_program"
_MACROS = r"""
#define OWN_FILL(type, name, count, value) \
  own_##name[0] = malloc(sizeof(type) * (count)), own_##name[1] = malloc(sizeof(type) * (count)), \
  own_##name[2] = malloc(sizeof(type) * (count)), own_written_##name = calloc(count, 1); \
  for (long at = 0; at < (count); at++) own_##name[0][at] = own_##name[1][at] = own_##name[2][at] = (value);
#define OWN_SAME(a, b) (!memcmp(&(a), &(b), sizeof(a)))
#define OWN_OTHER(element) \
  for (unsigned byte = 0; byte < sizeof(element); byte++) ((unsigned char *)&(element))[byte] ^= 0x55;
#define OWN_HOOK(name, count) \
  for (long at = 0; at < (count); at++) \
    if (OWN_SAME(own_##name[0][at], own_##name[1][at])) OWN_OTHER(own_##name[2][at])
#define OWN_COMPARE(type, name, count) \
  for (long at = 0; at < (count); at++) { \
    const type was = own_##name[0][at], wanted = own_##name[1][at], found = own_##name[2][at]; \
    type left = was; \
    if (own_hooked && OWN_SAME(was, wanted)) OWN_OTHER(left) \
    const int kept = OWN_SAME(was, wanted) && OWN_SAME(left, found); \
    const int right = OWN_SAME(wanted, found) || (wanted != wanted && found != found); \
    if (!kept && !(own_written_##name[at] && right) && !own_bad++) \
      printf("%s: %s[%ld], n %ld, t %ld, q %ld\n", own_hooked && OWN_SAME(was, found) ? "an old value" : "wrong", \
             #name, at, own_n, own_t, own_q); \
  } \
  free(own_##name[0]), free(own_##name[1]), free(own_##name[2]), free(own_written_##name);
#define OWN_MARK(name, count) \
  if ((char *)place >= (char *)own_##name[1] && (char *)place < (char *)(own_##name[1] + (count))) \
    own_written_##name[((char *)place - (char *)own_##name[1]) / sizeof *own_##name[1]] = 1;
"""
"""What is written may well be the old value."""
_WRITES = re.compile(r"\b(\w(?:\[[^][]*\])+) [-+]?= ")
"""Of the programs: an element in front of its assignment."""


def harness(program: TargetProgram, transformed: str, seed: int) -> str:
    """The text of a C program; its arguments are sizes `n t q n t q ...`, and it ends with 1 if anything is wrong.

    A program without `q` has it, too, and does not ask for it.
    """
    types = program.types
    counts = {name: re.sub("[nq]", r"own_\g<0>", " * ".join(f"({extent})" for extent in program.shapes[name]))
              for name in ARRAYS}
    fraction = "(own_random() % 100000) / 1000.0"
    values = {name: fraction if types[name] in ("float", "double") else "own_random()" for name in ARRAYS}
    sizes = [f"own_{name}" for name in program.sizes[0]]
    passed = [", ".join([*sizes, *(f"(void *)own_{name}[{which}]" for name in ARRAYS)])
              for which in range(3)]
    lines = ["#include <stdio.h>", "#include <stdlib.h>", "#include <string.h>", "static void own_hook(void);",
             _hooked(program, transformed), "static void own_mark(const void *place);",
             "#define f own_original", _WRITES.sub(r"own_mark(&\1), \g<0>", program.text), "#undef f", _MACROS,
             *(f"static {types[name]} *own_{name}[3];\nstatic char *own_written_{name};" for name in ARRAYS),
             "static long own_n, own_t, own_q, own_bad, own_hooked;",
             f"static unsigned long own_state = {2 * seed + 1};",
             "static unsigned long own_random(void) {",
             "  own_state = own_state * 6364136223846793005ul + 1442695040888963407ul;",
             "  return own_state >> 33;", "}",
             "static void own_mark(const void *place) {",
             *(f"  OWN_MARK({name}, {counts[name]})" for name in ARRAYS), "}",
             "static void own_hook(void) {", "  if (own_hooked++) return;",
             *(f"  OWN_HOOK({name}, {counts[name]})" for name in ARRAYS), "}",
             "int main(int count, char **words) {", "  for (int at = 1; at + 2 < count; at += 3) {",
             "    own_n = atol(words[at]), own_t = atol(words[at + 1]), own_q = atol(words[at + 2]);",
             "    own_hooked = 0;",
             *(f"    OWN_FILL({types[name]}, {name}, {counts[name]}, {values[name]})" for name in ARRAYS),
             f"    own_original({passed[1]});", f"    f({passed[2]});",
             *(f"    OWN_COMPARE({types[name]}, {name}, {counts[name]})" for name in ARRAYS),
             "  }", "  return own_bad > 0;", "}", ""]
    return "\n".join(lines)


def _hooked(program: TargetProgram, transformed: str) -> str:
    """The text with other values at the first launch of its last region; none where the host runs that."""
    before, region, last = transformed.rpartition(_REGION)
    whole = transformed.count(_REGION) == program.text.count("#pragma scop")
    return before + region + last.replace(_LAUNCH, f"own_hook(), {_LAUNCH}") if whole else transformed
