"""The C interface of a saved model: a header, and the functions that map weights and call the driver."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence

import numpy as np

from polysched.graph.limits import LIMITS as GRAPH_LIMITS
from polysched.graph.planning.memory import ALIGNMENT, rounded
from polysched.graph.planning.plan import Plan
from polysched.graph.values.types import TensorType
from polysched.model.c_sizes import FLOOR, c_size
from polysched.model.driver import ARENA, ENTRY, wrong_sizes
from polysched.model.sizes import linear_in

HEAD_BYTES = ALIGNMENT


def prefix_of(stem: str) -> str:
    """The name that all functions of a saved model begin with: never one that the driver and the kernels have."""
    name = re.sub(r"\W", "_", stem, flags=re.ASCII)
    return name if name.isidentifier() and not name.startswith("polysched_") else f"model_{name}"


def weights_of(constants: Mapping[str, np.ndarray]) -> tuple[bytes, tuple[int, ...]]:
    """The file of the weights, and where each constant stands in it.

    It begins with 64 characters that name its contents, so that a model refuses another's weights.
    """
    offsets, parts, end = [], [], HEAD_BYTES
    for array in constants.values():
        data = np.ascontiguousarray(array).tobytes()
        offsets.append(end)
        parts.append(data + b"\0" * (rounded(len(data)) - len(data)))
        end += rounded(len(data))
    body = b"".join(parts)
    return hashlib.sha256(body).hexdigest().encode() + body, tuple(offsets)


def _tensors(plan: Plan) -> tuple[list[tuple[str, TensorType]], list[tuple[str, TensorType]]]:
    return list(plan.graph.inputs), [(o, plan.type_of(o)) for o in plan.graph.outputs]


def header_text(plan: Plan, prefix: str) -> str:
    """The C header of a saved model."""
    inputs, outputs = _tensors(plan)
    guard = f"POLYSCHED_{prefix.upper()}_H"

    def listed(title: str, tensors: Sequence[tuple[str, TensorType]]) -> list[str]:
        return [f" * {title} {place}: {_comment(name)}, {_comment(str(t))}" for place, (name, t) in enumerate(tensors)]
    sizes = [f" * size {place}: {_comment(name)}" for place, name in enumerate(plan.graph.symbols)]
    return f"""/* A model of polysched: row-major arrays, one per input and output.
 *
{chr(10).join([*listed("input", inputs), *listed("output", outputs), *sizes])}
 */
#ifndef {guard}
#define {guard}
#ifdef __cplusplus
extern "C" {{
#endif

enum {{
  {prefix}_inputs = {len(inputs)},
  {prefix}_outputs = {len(outputs)},
  {prefix}_sizes = {len(plan.graph.symbols)}
}};
typedef struct {prefix}_model {prefix}_model;

/* Map the file of the weights; 0 where it cannot be read or is another model's. */
{prefix}_model *{prefix}_open(const char *weights);

/* Compute the outputs: 0, or -1 where a size is below 1 or above {GRAPH_LIMITS.most_extent}, makes an extent
 * negative, a value too large, or a whole number leave its type, or there is no memory, or more where an index is
 * outside its dimension.  sizes may be 0 where the model has none.  Calls of several threads need a model each. */
int {prefix}_run({prefix}_model *model, const long *sizes, const void *const *inputs, void *const *outputs);

/* The same; ready[k] becomes 1 as soon as output k is whole, for another thread that reads it with acquire order. */
int {prefix}_start({prefix}_model *model, const long *sizes, const void *const *inputs, void *const *outputs,
    int *ready);

void {prefix}_close({prefix}_model *model);

/* What an input or output is: NumPy's name of its elements, their bytes, its dimensions and extents. */
typedef struct {{ const char *name, *elements; int bytes, rank; }} {prefix}_tensor;
extern const {prefix}_tensor {prefix}_input[{max(len(inputs), 1)}], {prefix}_output[{max(len(outputs), 1)}];
long {prefix}_input_extent(int input, int dimension, const long *sizes);
long {prefix}_output_extent(int output, int dimension, const long *sizes);

/* The sizes that the shapes of the inputs say: 0, or -1 where they contradict the model or each other, or make an
 * extent negative. */
int {prefix}_sizes_of(const long *const *shapes, long *sizes);

#ifdef __cplusplus
}}
#endif
#endif
"""


def _comment(text: str) -> str:
    """A name inside a comment."""
    return re.sub(r"[^\x20-\x7e]", "?", text).replace("*/", "* /")


def _string(text: str) -> str:
    """A C string literal."""
    return '"' + "".join(c if (c.isalnum() and c.isascii()) or c in " _-<|./:" else
                         "".join(f"\\{b:03o}" for b in c.encode()) for c in text) + '"'


def interface_text(plan: Plan, prefix: str, offsets: Sequence[int], weights: bytes) -> str:
    """The C of the functions that the header declares."""
    inputs, outputs = _tensors(plan)
    names = {name: f"sizes[{place}]" for place, name in enumerate(plan.graph.symbols)}
    count, places = len(plan.graph.symbols), ", ".join(map(str, offsets)) or "0"
    body = INTERFACE.replace("ENTRY", ENTRY).replace("ARENA", ARENA).replace("PREFIX", prefix)
    numbers = {"SIZES": count, "LIVES": len(plan.lives), "CONSTANTS": len(offsets), "BYTES": len(weights),
               "ALIGNMENT": ALIGNMENT, "HEAD": HEAD_BYTES, "MOST": GRAPH_LIMITS.most_extent}
    for word, number in numbers.items():
        body = body.replace(f"${word}", str(number))
    body = body.replace("$PLACES", places).replace("$DIGEST", weights[:HEAD_BYTES].decode())
    parts = [f'#include "{prefix}.h"', body, FLOOR]
    for kind, tensors in (("input", inputs), ("output", outputs)):
        rows = ", ".join(f"{{ {_string(n)}, {_string(t.numpy.str)}, {t.dtype.bytes}, {t.rank} }}" for n, t in tensors)
        parts.append(f"const {prefix}_tensor {prefix}_{kind}[] = {{ {rows or '{ 0, 0, 0, 0 }'} }};")
        parts.append(_extents(prefix, kind, tensors, names))
    parts.append(_sizes_of(plan, prefix, names))
    return "\n\n".join([*parts, ""])


def _extents(prefix: str, kind: str, tensors: Sequence[tuple[str, TensorType]], names: Mapping[str, str]) -> str:
    lines = [f"long {prefix}_{kind}_extent(int {kind}, int dimension, const long *sizes) {{", "  (void)sizes;"]
    for place, (_, own) in enumerate(tensors):
        for dimension, extent in enumerate(own.shape):
            lines.append(f"  if ({kind} == {place} && dimension == {dimension}) return "
                         f"{c_size(extent, names, wide=True)};")
    return "\n".join([*lines, "  return -1;", "}"])


def _sizes_of(plan: Plan, prefix: str, names: Mapping[str, str]) -> str:
    lines = [f"int {prefix}_sizes_of(const long *const *shapes, long *sizes) {{", "  (void)shapes; (void)sizes;"]
    taken: set[str] = set()
    checks = []
    for place, (_, own) in enumerate(plan.graph.inputs):
        for dimension, extent in enumerate(own.shape):
            given = f"shapes[{place}][{dimension}]"
            symbol, factor = linear_in(extent)
            if symbol and symbol not in taken:
                taken.add(symbol)
                value = f"((__int128){given} - {extent.constant}) / {factor}"
                lines += [f"  if ({value} < 1 || {value} > most_extent) return -1;", f"  {names[symbol]} = {value};"]
            checks.append(f"  if ({given} != {c_size(extent, names, wide=True)}) return -1;")
    checks += [f"  if ({wrong}) return -1;" for wrong in wrong_sizes(plan, names)]
    lines += ["  return -1;"] if taken != set(names) else [*checks, "  return 0;"]
    return "\n".join([*lines, "}"])


INTERFACE = """#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int ENTRY(void *const *inputs, void *const *outputs, void *const *constants, const long *sizes, const long *offsets,
          char *arena, int *ready);
long ARENA(const long *sizes, long *offsets);

struct PREFIX_model {
  char *weights, *memory;
  long sizes[$SIZES + 1], offsets[$LIVES + 1];
  void *constants[$CONSTANTS + 1];
};

static const long places[] = { $PLACES }, most_extent = $MOST;

PREFIX_model *PREFIX_open(const char *weights) {
  const int file = open(weights, O_RDONLY);
  if (file < 0) return 0;
  struct stat found;
  void *mapped = MAP_FAILED;
  if (!fstat(file, &found) && found.st_size == $BYTES) mapped = mmap(0, $BYTES, PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  if (mapped == MAP_FAILED) return 0;
  PREFIX_model *model = memcmp(mapped, "$DIGEST", $HEAD) ? 0 : calloc(1, sizeof *model);
  if (!model) {
    munmap(mapped, $BYTES);
    return 0;
  }
  model->weights = mapped;
  for (int i = 0; i < $CONSTANTS; i++) model->constants[i] = model->weights + places[i];
  return model;
}

int PREFIX_run(PREFIX_model *model, const long *sizes, const void *const *inputs, void *const *outputs) {
  return PREFIX_start(model, sizes, inputs, outputs, 0);
}

int PREFIX_start(PREFIX_model *model, const long *sizes, const void *const *inputs, void *const *outputs, int *ready) {
  for (int i = 0; i < $SIZES; i++)
    if (sizes[i] < 1 || sizes[i] > most_extent) return -1;
  if (!model->memory || ($SIZES && memcmp(model->sizes, sizes, $SIZES * sizeof *sizes))) {
    free(model->memory);
    const long bytes = ARENA(sizes, model->offsets);
    model->memory = bytes < 0 ? 0 : aligned_alloc($ALIGNMENT, (bytes + $ALIGNMENT) / $ALIGNMENT * $ALIGNMENT);
    if (!model->memory) return -1;
    if ($SIZES) memcpy(model->sizes, sizes, $SIZES * sizeof *sizes);
  }
  const int status = ENTRY((void *const *)inputs, outputs, model->constants, model->sizes, model->offsets,
                           model->memory, ready);
  return status == 1 ? -1 : status;
}

void PREFIX_close(PREFIX_model *model) {
  if (!model) return;
  free(model->memory);
  munmap(model->weights, $BYTES);
  free(model);
}"""
