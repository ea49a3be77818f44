"""The C program of `polysched machine --calibrate`: the clock, teams, barriers, rows, streams, blocks from the heap."""

from __future__ import annotations

from polysched.measure.timing.peak_source import stream_program

ADDITIONS = 64
"""Of a repetition of `calibrate_clock`, each of which waits for the one before: the loop around them costs nothing."""

ADDITION = '    sum += one; __asm__ volatile("" : "+r"(sum), "+r"(one));'
"""One cycle on every core: of two registers, since additions of a constant may be done where registers are renamed."""

PROGRAM = """
void *aligned_alloc(unsigned long, unsigned long);
void free(void *);

EXPORTED long calibrate_clock(long repetitions) {
  long sum = 0, one = 1;
  for (long r = 0; r < repetitions; r++) {
@additions@
  }
  return sum;
}

EXPORTED void calibrate_team(long repetitions, int threads) {
  for (long r = 0; r < repetitions; r++) {
#pragma omp parallel num_threads(threads)
    __asm__ volatile("" : : : "memory");
  }
}

EXPORTED void calibrate_barrier(long repetitions, int threads) {
#pragma omp parallel num_threads(threads)
  for (long r = 0; r < repetitions; r++) {
#pragma omp barrier
  }
}

EXPORTED void calibrate_rows(double *restrict sums, const double *restrict data, long rows, long length) {
  for (long i = 0; i < rows; i++) {
    __asm__ volatile("" : "+r"(length) : : "memory");   /* every row begins with a length that nobody knows */
    for (long j = 0; j < length; j++)
      sums[j] = sums[j] * 0.999 + data[j];
  }
}

EXPORTED void calibrate_allocation(long repetitions, unsigned long bytes) {
  for (long r = 0; r < repetitions; r++) {
    char *block = aligned_alloc(64, bytes);
    if (block)
      block[0] = 1;
    __asm__ volatile("" : : "r"(block) : "memory");
    free(block);
  }
}
"""


def calibration_program(vector_bits: int) -> str:
    """The C text.

    Parameters
    ----------
    vector_bits : of the vectors that streams are read by.
    """
    return stream_program(vector_bits) + PROGRAM.replace("@additions@", "\n".join([ADDITION] * ADDITIONS))
