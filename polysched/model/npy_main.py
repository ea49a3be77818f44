"""A C program around a saved model: it reads its inputs from .npy files and writes its outputs to such files.

Source: NumPy's format (numpy.lib.format), versions 1 to 3, C order.
"""

from __future__ import annotations


def main_text(prefix: str) -> str:
    """The C of the program."""
    return MAIN.replace("PREFIX", prefix)


MAIN = r"""#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "PREFIX.h"

enum { most_dimensions = 32 };

/* One array of a file: its shape and its elements; ends the program where it is not what the model wants. */
static void *read_npy(const char *path, const PREFIX_tensor *wanted, long *shape) {
  FILE *file = fopen(path, "rb");
  unsigned char head[12] = {0};
  if (!file || fread(head, 1, 10, file) != 10 || memcmp(head, "\x93NUMPY", 6)) goto bad;
  unsigned long length = head[8] | (unsigned long)head[9] << 8;
  if (head[6] > 1) {
    if (fread(head + 10, 1, 2, file) != 2) goto bad;
    length |= (unsigned long)head[10] << 16 | (unsigned long)head[11] << 24;
  }
  if (length > 65536) goto bad;
  char *text = calloc(length + 1, 1);
  if (!text || fread(text, 1, length, file) != length) goto bad;
  const char *elements = strstr(text, "'descr': '"), *order = strstr(text, "'fortran_order': False");
  const char *extents = strstr(text, "'shape': (");
  if (!elements || !extents || wanted->rank > most_dimensions) goto bad;
  elements += strlen("'descr': '");
  extents += strlen("'shape': (");
  int rank = 0;
  unsigned long count = 1;
  while (*extents && *extents != ')') {
    char *end;
    const long extent = strtol(extents, &end, 10);
    if (end == extents || extent < 0 || rank == most_dimensions || (extent && count > (1ul << 40) / extent)) goto bad;
    shape[rank++] = extent;
    count *= extent;
    for (extents = end; *extents == ',' || *extents == ' '; extents++);
  }
  const size_t name = strlen(wanted->elements);
  if (strncmp(elements, wanted->elements, name) || elements[name] != '\'' || (rank > 1 && !order) ||
      rank != wanted->rank) {
    fprintf(stderr, "%s: the input %s has elements %s and %d dimensions\n", path, wanted->name, wanted->elements,
            wanted->rank);
    exit(2);
  }
  char *data = malloc(count * wanted->bytes + 1);
  if (!data || fread(data, wanted->bytes, count, file) != count) goto bad;
  free(text);
  fclose(file);
  return data;
bad:
  fprintf(stderr, "%s: no array can be read\n", path);
  exit(2);
}

static int write_npy(const char *path, const PREFIX_tensor *own, const long *shape, const void *data) {
  char text[4096];
  int at = sprintf(text, "{'descr': '%s', 'fortran_order': False, 'shape': (", own->elements);
  unsigned long count = 1;
  for (int d = 0; d < own->rank; d++) {
    at += sprintf(text + at, "%ld,%s", shape[d], d + 1 < own->rank ? " " : "");
    count *= shape[d];
  }
  at += sprintf(text + at, "), }");
  while ((10 + at + 1) % 64) text[at++] = ' ';
  text[at++] = '\n';
  const unsigned char head[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, at & 255, at >> 8};
  FILE *file = fopen(path, "wb");
  return file && fwrite(head, 1, 10, file) == 10 && fwrite(text, 1, at, file) == (size_t)at &&
         fwrite(data, own->bytes, count, file) == count && !fclose(file);
}

int main(int argc, char **argv) {
  static long shapes[PREFIX_inputs + 1][most_dimensions], shape[most_dimensions], sizes[PREFIX_sizes + 1];
  const long *given[PREFIX_inputs + 1];
  const void *inputs[PREFIX_inputs + 1];
  void *outputs[PREFIX_outputs + 1];
  if (argc != 3 + PREFIX_inputs) {
    fprintf(stderr, "usage: %s WEIGHTS FOLDER", argv[0]);
    for (int i = 0; i < PREFIX_inputs; i++) fprintf(stderr, " %s.npy", PREFIX_input[i].name);
    fprintf(stderr, "\nwrites FOLDER/output_0.npy and so on\n");
    return 2;
  }
  PREFIX_model *model = PREFIX_open(argv[1]);
  if (!model) {
    fprintf(stderr, "%s: these are not the weights of the model\n", argv[1]);
    return 2;
  }
  for (int i = 0; i < PREFIX_inputs; i++) {
    inputs[i] = read_npy(argv[3 + i], &PREFIX_input[i], shapes[i]);
    given[i] = shapes[i];
  }
  if (PREFIX_sizes_of(given, sizes)) {
    fprintf(stderr, "the shapes of the inputs are not those of the model\n");
    return 2;
  }
  for (int o = 0; o < PREFIX_outputs; o++) {
    unsigned long bytes = PREFIX_output[o].bytes;
    for (int d = 0; d < PREFIX_output[o].rank; d++) bytes *= PREFIX_output_extent(o, d, sizes);
    outputs[o] = malloc(bytes + 1);
    if (!outputs[o]) return 3;
  }
  const int status = PREFIX_run(model, sizes, inputs, outputs);
  if (status) {
    fprintf(stderr, status < 0 ? "there is no memory\n" : "an index is outside its dimension\n");
    return 3;
  }
  for (int o = 0; o < PREFIX_outputs; o++) {
    char path[4096];
    for (int d = 0; d < PREFIX_output[o].rank; d++) shape[d] = PREFIX_output_extent(o, d, sizes);
    snprintf(path, sizeof path, "%s/output_%d.npy", argv[2], o);
    if (!write_npy(path, &PREFIX_output[o], shape, outputs[o])) {
      fprintf(stderr, "%s: cannot be written\n", path);
      return 3;
    }
  }
  PREFIX_close(model);
  return 0;
}
"""
