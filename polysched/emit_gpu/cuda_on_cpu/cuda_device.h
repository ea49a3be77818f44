/* CUDA C++ on the CPU: the blocks of a launch one after the other, the warps of a block one after the other up to
   their next barrier, as fibers.  POLYSCHED_CUDA_REVERSED=1 takes threads in descending order: where the results of both
   orders differ, a barrier is missing.
   Names and meaning: CUDA C++ Programming Guide, "C++ Language Extensions". */
#pragma once
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <ucontext.h>
#include <utility>   /* other headers of C++ take the compiler longer than a program does */

#define __global__
#define __device__ static
#define __forceinline__ inline
#define __shared__ static
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))

/* Built-in vector types; they may lie over arrays of their elements. */
struct __attribute__((aligned(16), may_alias)) float4 { float x, y, z, w; };
struct __attribute__((aligned(16), may_alias)) int4 { int x, y, z, w; };
struct __attribute__((aligned(16), may_alias)) uint4 { unsigned x, y, z, w; };
struct __attribute__((aligned(16), may_alias)) double2 { double x, y; };

struct polysched_index { unsigned x, y, z; };
static polysched_index threadIdx, blockIdx, blockDim, gridDim;
static const int warpSize = 32;

namespace polysched {
static pthread_mutex_t one_launch = PTHREAD_MUTEX_INITIALIZER;
struct Alone {
  Alone() { pthread_mutex_lock(&one_launch); }
  ~Alone() { pthread_mutex_unlock(&one_launch); }
};

template <class... T, std::size_t... I>
void call(void (*kernel)(T...), void **arguments, std::index_sequence<I...>) {
  kernel(*static_cast<std::remove_cv_t<T> *>(arguments[I])...);
}
template <class... T> void call(void (*kernel)(T...), void **arguments) {
  call(kernel, arguments, std::index_sequence_for<T...>{});
}
static polysched_index thread_of(unsigned number) {
  return {number % blockDim.x, number / blockDim.x % blockDim.y, number / (blockDim.x * blockDim.y)};
}
static unsigned in_order(unsigned position, unsigned count) {
  static const bool reversed = std::getenv("POLYSCHED_CUDA_REVERSED") && std::atoi(std::getenv("POLYSCHED_CUDA_REVERSED"));
  return reversed ? count - 1 - position : position;
}

#ifdef POLYSCHED_FIBERS
enum class State { ready, at_warp, at_barrier, done };
struct Product {   /* of a group of warps, computed where it is waited for */
  void (*compute)(const Product &);
  void *c;
  const void *a, *b;
  unsigned next_a, next_b, rows, own;
};
struct Fiber {
  ucontext_t context;
  char *stack;
  State state;
  int place;
  std::uint64_t passed;
  unsigned words[16];   /* of both operands of a product */
  Product *pending;
  unsigned products, most_products;
};
static void *resized(void *memory, std::size_t bytes) {
  if (!(memory = std::realloc(memory, bytes))) std::abort();
  return memory;
}
static const unsigned stack_bytes = 1 << 16;
static struct Fibers {
  Fiber *own;
  unsigned count, made;
  void resize(unsigned wanted) {
    if (wanted > made) {
      own = (Fiber *)resized(own, wanted * sizeof *own);
      std::memset((void *)(own + made), 0, (wanted - made) * sizeof *own);
      for (; made < wanted; made++) own[made].stack = (char *)resized(nullptr, stack_bytes);
    }
    count = wanted;
  }
  unsigned size() const { return count; }
  Fiber *begin() { return own; }
  Fiber *end() { return own + count; }
  Fiber &operator[](unsigned number) { return own[number]; }
  ~Fibers() {
    for (unsigned k = 0; k < made; k++) std::free(own[k].stack), std::free(own[k].pending);
    std::free(own);
  }
} fibers;
static ucontext_t scheduler;
static unsigned running;
static void (*started)(void **);
static void **passed_arguments;

static void entry() {
  started(passed_arguments);
  fibers[running].state = State::done;
  swapcontext(&fibers[running].context, &scheduler);
}
static void wait_at(State state, int place) {
  Fiber &own = fibers[running];
  own.state = state;
  own.place = place;
  swapcontext(&own.context, &scheduler);
}
/* Whether all threads of [first, end) that still run wait in one place; they go on then. */
static bool release(unsigned first, unsigned end, State state) {
  int place = -1;
  for (unsigned k = first; k < end; k++) {
    if (fibers[k].state == State::done) continue;
    if (fibers[k].state != state || (place >= 0 && fibers[k].place != place)) return false;
    place = fibers[k].place;
  }
  if (place < 0) return false;
  for (unsigned k = first; k < end; k++)
    if (fibers[k].state == state) fibers[k].state = State::ready;
  return true;
}
/* The threads of a warp up to a barrier: no other warp runs meanwhile, so that what only chance orders shows. */
static void run_warp(unsigned first, unsigned end) {
  do {
    for (unsigned position = 0; position < end - first; position++) {
      running = first + in_order(position, end - first);
      if (fibers[running].state != State::ready) continue;
      threadIdx = thread_of(running);
      swapcontext(&scheduler, &fibers[running].context);
    }
  } while (release(first, end, State::at_warp));
}
static int run_block(void (*kernel)(void **), void **arguments) {
  const unsigned count = blockDim.x * blockDim.y * blockDim.z;
  started = kernel;
  passed_arguments = arguments;
  fibers.resize(count);
  for (Fiber &fiber : fibers) {
    fiber.state = State::ready;
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack;
    fiber.context.uc_stack.ss_size = stack_bytes;
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, entry, 0);
  }
  const unsigned warps = (count + 31) / 32;
  for (;;) {
    bool all_done = true;
    for (unsigned position = 0; position < warps; position++) {
      const unsigned first = in_order(position, warps) * 32;
      run_warp(first, first + 32 < count ? first + 32 : count);
    }
    for (Fiber &fiber : fibers) all_done = all_done && fiber.state == State::done;
    if (all_done) return 0;
    if (!release(0, count, State::at_barrier)) return 1;
  }
}
template <class T> T exchange(T value, int from, int place) {
  static_assert(sizeof(T) <= sizeof(std::uint64_t), "at most eight bytes");
  const unsigned warp = running / 32 * 32;
  std::memcpy(&fibers[running].passed, &value, sizeof value);
  wait_at(State::at_warp, place);
  const unsigned other = warp + from;
  T found = value;
  if (from >= 0 && from < 32 && other < fibers.size()) std::memcpy(&found, &fibers[other].passed, sizeof found);
  wait_at(State::at_warp, place);
  return found;
}
/* Matrix instructions of a warp.  What a lane holds: PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions", the
   fragments of mma.m16n8k16 for 8 and 16 bits, and of mma.m16n8k8 for tf32.  A value is found by the lane, the register and
   the place in it that the tables give for its row and column; sums are added in ascending order. */
#define POLYSCHED_MMA_ON_CPU
static const int at_mma = 1 << 24;   /* no line of a program */
struct Held { int lane, part, place; };
struct Bytes {    /* a_i: row lane/4 (i < 4) or lane/4 + 8, column lane%4 * 4 + i%4; b_i: row lane%4 * 4 + i, column lane/4 */
  static const int sums = 16;
  static Held left(int row, int k) { return {row % 8 * 4 + k / 4, row / 8, k % 4}; }
  static Held right(int k, int column) { return {column * 4 + k / 4, 0, k % 4}; }
};
struct Halves {   /* a_i: row lane/4 (i = 0, 1, 4, 5) or lane/4 + 8, column lane%4 * 2 + i%2, + 8 from i = 4 on;
                     b_i: row lane%4 * 2 + i%2, + 8 from i = 2 on, column lane/4 */
  static const int sums = 16;
  static Held left(int row, int k) { return {row % 8 * 4 + k % 8 / 2, row / 8 + k / 8 * 2, k % 2}; }
  static Held right(int k, int column) { return {column * 4 + k % 8 / 2, k / 8, k % 2}; }
};
struct Words {    /* a_i: row lane/4 (i = 0, 2) or lane/4 + 8, column lane%4, + 4 from i = 2 on; b_i: row lane%4 + 4 i, column lane/4 */
  static const int sums = 8;
  static Held left(int row, int k) { return {row % 8 * 4 + k % 4, row / 8 + k / 4 * 2, 0}; }
  static Held right(int k, int column) { return {column * 4 + k % 4, k / 4, 0}; }
};
static int from_s8(unsigned bits) { return (signed char)bits; }
static int from_u8(unsigned bits) { return (unsigned char)bits; }
static float of_bits(unsigned bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
static float from_f16(unsigned bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const float size = exponent == 31 ? fraction ? NAN : INFINITY
                     : exponent ? std::ldexp(1024.0f + fraction, exponent - 25) : std::ldexp((float)fraction, -24);
  return bits >> 15 & 1 ? -size : size;
}
static float from_bf16(unsigned bits) { return of_bits(bits << 16); }
static float from_tf32(unsigned bits) { return of_bits(bits & ~0x1fffu); }
template <class T> T multiply_add(T sum, T left, T right) { return sum + left * right; }
template <> int multiply_add(int sum, int left, int right) { return (int)((unsigned)sum + (unsigned)(left * right)); }
template <> float multiply_add(float sum, float left, float right) { return std::fma(left, right, sum); }

template <class Fragment, int bits, class T> void mma(T *c, const unsigned *a, const unsigned *b, T (*read)(unsigned)) {
  const int left_words = bits == 8 ? 2 : 4, right_words = bits == 8 ? 1 : 2;
  const unsigned warp = running / 32 * 32, lane = running % 32;
  if (warp + 32 > fibers.size()) std::abort();
  std::memcpy(fibers[running].words, a, left_words * sizeof *a);
  std::memcpy(fibers[running].words + 4, b, right_words * sizeof *b);
  wait_at(State::at_warp, at_mma);
  for (int i = 0; i < 4; i++) {   /* c_i: row lane/4, + 8 from i = 2 on, column lane%4 * 2 + i%2 */
    const int row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
    for (int k = 0; k < Fragment::sums; k++) {
      const Held left = Fragment::left(row, k), right = Fragment::right(k, column);
      c[i] = multiply_add(c[i], read(fibers[warp + left.lane].words[left.part] >> left.place * bits % 32),
                          read(fibers[warp + right.lane].words[4 + right.part] >> right.place * bits % 32));
    }
  }
  wait_at(State::at_warp, at_mma);
}
static void mma_16x8x16_s8(int *c, const unsigned *a, const unsigned *b) { mma<Bytes, 8>(c, a, b, from_s8); }
static void mma_16x8x16_u8(int *c, const unsigned *a, const unsigned *b) { mma<Bytes, 8>(c, a, b, from_u8); }
static void mma_16x8x16(float *c, const unsigned *a, const unsigned *b) { mma<Halves, 16>(c, a, b, from_f16); }
static void mma_16x8x16_bf16(float *c, const unsigned *a, const unsigned *b) { mma<Halves, 16>(c, a, b, from_bf16); }
static void mma_16x8x8_tf32(float *c, const unsigned *a, const unsigned *b) { mma<Words, 32>(c, a, b, from_tf32); }
/* WMMA: the manual leaves open which lane holds what, so elements are dealt out as no hardware does it, and in another way
   if threads run in descending order.  PTX ISA, 9.7.14.4.  Loads and stores wait for nobody: what lanes hand on to each
   other in memory needs a __syncwarp(). */
static unsigned dealt(unsigned element, unsigned count, bool back) {
  const bool other = in_order(0, 2) != 0;   /* 37 * 173 is 1 modulo 256 */
  return back ? (element + count - 11) * (other ? 173u : 37u) % count : (element * (other ? 37u : 173u) + 11) % count;
}
template <int K, int bits, int registers, class T, T (*read)(unsigned)> struct Wmma {
  template <class Each> static void each(const void *memory, int stride, int element_bits, int fragment_bytes,
                                                     int rows, int columns, bool by_rows, Each own) {
    if (reinterpret_cast<std::uintptr_t>(memory) % fragment_bytes || (long)stride * element_bits / 8 % fragment_bytes) {
      std::fprintf(stderr, "wmma: rows that begin at no multiple of %d bytes\n", fragment_bytes);
      std::abort();
    }
    const unsigned count = rows * columns, held = count / 32;
    for (unsigned at = 0; at < held; at++) {
      const unsigned element = dealt(running % 32 * held + at, count, true);
      own(at, by_rows ? (long)(element / columns) * stride + element % columns
                      : (long)(element % columns) * stride + element / columns);
    }
  }
  static void load(unsigned *fragment, const void *memory, int stride, int rows, int columns, bool by_rows) {
    std::memset(fragment, 0, registers * sizeof *fragment);
    each(memory, stride, bits, registers * 4, rows, columns, by_rows, [&](unsigned at, long place) {
      std::memcpy((char *)fragment + at * bits / 8, (const char *)memory + place * bits / 8, bits / 8);
    });
  }
  static void load_a(unsigned *fragment, const void *memory, int stride) { load(fragment, memory, stride, 16, K, true); }
  static void load_b(unsigned *fragment, const void *memory, int stride) { load(fragment, memory, stride, K, 16, false); }
  static void load_c(T *fragment, const void *memory, int stride) {
    each(memory, stride, 32, 32, 16, 16, true, [&](unsigned at, long place) {
      fragment[at] = ((const T *)memory)[place];
    });
  }
  static void store(const T *fragment, void *memory, int stride) {
    each(memory, stride, 32, 32, 16, 16, true, [&](unsigned at, long place) { ((T *)memory)[place] = fragment[at]; });
  }
  static T value(unsigned warp, int first, unsigned element) {
    const unsigned held = 16 * K / 32, place = dealt(element, 16 * K, false);
    return read(fibers[warp + place / held].words[first + place % held * bits / 32] >> place % held * bits % 32);
  }
  static void product(T *c, const unsigned *a, const unsigned *b) {
    const unsigned warp = running / 32 * 32;
    if (warp + 32 > fibers.size()) std::abort();
    std::memcpy(fibers[running].words, a, registers * sizeof *a);
    std::memcpy(fibers[running].words + 8, b, registers * sizeof *b);
    wait_at(State::at_warp, at_mma);
    for (unsigned at = 0; at < 8; at++) {
      const unsigned element = dealt(running % 32 * 8 + at, 256, true);
      for (int k = 0; k < K; k++)
        c[at] = multiply_add(c[at], value(warp, 0, element / 16 * K + k), value(warp, 8, k * 16 + element % 16));
    }
    wait_at(State::at_warp, at_mma);
  }
};
using wmma_16x16x16_s8 = Wmma<16, 8, 2, int, from_s8>;
using wmma_16x16x16_u8 = Wmma<16, 8, 2, int, from_u8>;
using wmma_16x16x16 = Wmma<16, 16, 8, float, from_f16>;
using wmma_16x16x16_bf16 = Wmma<16, 16, 4, float, from_bf16>;
using wmma_16x16x8_tf32 = Wmma<8, 32, 4, float, from_tf32>;
/* WGMMA: products of a group of four warps, whose operands lie in shared memory in cores of 8 rows of 16 bytes; PTX ISA,
   "Shared Memory Matrix Layout" (no swizzling, sums along rows) and "Register Fragments"; eight of 8 columns at once.  Each product is computed where it
   is waited for: what reads results or overwrites operands before that gets other numbers. */
template <int K, int bits, class T, T (*read)(unsigned)> void wgmma_now(const Product &p) {
  const auto element = [&p](const void *tile, unsigned next, unsigned row, unsigned k) {
    unsigned word = 0, byte = k * bits / 8;
    std::memcpy(&word, (const char *)tile + byte / 16 * next + row / 8 * p.rows + row % 8 * 16 + byte % 16, bits / 8);
    return read(word);
  };
  const unsigned warp = p.own % 128 / 32, lane = p.own % 32;
  T *c = (T *)p.c;
  for (unsigned i = 0; i < 32; i++)   /* d_i: row lane/4, + 8 where i/2 is odd; column lane%4 * 2 + i%2, + 8 for each four */
    for (unsigned k = 0; k < K; k++)
      c[i] = multiply_add(c[i], element(p.a, p.next_a, warp * 16 + lane / 4 + i / 2 % 2 * 8, k),
                          element(p.b, p.next_b, i / 4 * 8 + lane % 4 * 2 + i % 2, k));
}
template <int K, int bits, class T, T (*read)(unsigned)>
void wgmma(T *c, const void *a, const void *b, unsigned next_a, unsigned next_b, unsigned rows) {
  Fiber &own = fibers[running];
  if (running / 128 * 128 + 128 > fibers.size()) std::abort();
  if (own.products == own.most_products) {
    own.most_products += 16;
    own.pending = (Product *)resized(own.pending, own.most_products * sizeof *own.pending);
  }
  own.pending[own.products++] = {wgmma_now<K, bits, T, read>, c, a, b, next_a, next_b, rows, running};
}
static void wgmma_wait() {
  Fiber &own = fibers[running];
  for (unsigned k = 0; k < own.products; k++) own.pending[k].compute(own.pending[k]);
  own.products = 0;
}
static void wgmma_64x8x32_s8(int *c, const void *a, const void *b, unsigned next_a, unsigned next_b, unsigned rows) {
  wgmma<32, 8, int, from_s8>(c, a, b, next_a, next_b, rows);
}
static void wgmma_64x8x32_u8(int *c, const void *a, const void *b, unsigned next_a, unsigned next_b, unsigned rows) {
  wgmma<32, 8, int, from_u8>(c, a, b, next_a, next_b, rows);
}
static void wgmma_64x8x16(float *c, const void *a, const void *b, unsigned next_a, unsigned next_b, unsigned rows) {
  wgmma<16, 16, float, from_f16>(c, a, b, next_a, next_b, rows);
}
static void wgmma_64x8x16_bf16(float *c, const void *a, const void *b, unsigned next_a, unsigned next_b, unsigned rows) {
  wgmma<16, 16, float, from_bf16>(c, a, b, next_a, next_b, rows);
}
static void wgmma_64x8x8_tf32(float *c, const void *a, const void *b, unsigned next_a, unsigned next_b, unsigned rows) {
  wgmma<8, 32, float, from_tf32>(c, a, b, next_a, next_b, rows);
}
#define __syncthreads() polysched::wait_at(polysched::State::at_barrier, __LINE__)
#define __syncwarp(...) polysched::wait_at(polysched::State::at_warp, __LINE__)
#define __shfl_sync(mask, value, from) polysched::exchange(value, (int)(from), __LINE__)
#define __shfl_down_sync(mask, value, by) polysched::exchange(value, (int)(polysched::running % 32 + (by)), __LINE__)
#define __shfl_up_sync(mask, value, by) polysched::exchange(value, (int)(polysched::running % 32) - (int)(by), __LINE__)
#define __shfl_xor_sync(mask, value, with) polysched::exchange(value, (int)(polysched::running % 32 ^ (with)), __LINE__)
#else
static int run_block(void (*kernel)(void **), void **arguments) {
  const unsigned count = blockDim.x * blockDim.y * blockDim.z;
  for (unsigned position = 0; position < count; position++) {
    threadIdx = thread_of(in_order(position, count));
    kernel(arguments);
  }
  return 0;
}
#endif

static int launch(void (*kernel)(void **), const unsigned *grid, const unsigned *block, void **arguments) {
  const Alone alone;
  gridDim = {grid[0], grid[1], grid[2]};
  blockDim = {block[0], block[1], block[2]};
  for (unsigned z = 0; z < grid[2]; z++)
    for (unsigned y = 0; y < grid[1]; y++)
      for (unsigned x = 0; x < grid[0]; x++) {
        blockIdx = {x, y, z};
        if (run_block(kernel, arguments)) return 1;
      }
  return 0;
}
}  // namespace polysched

#define POLYSCHED_LAUNCHER(kernel)                                                                                   \
  static void polysched_called_##kernel(void **arguments) { polysched::call(kernel, arguments); }                    \
  extern "C" int polysched_launch_##kernel(const unsigned *grid, const unsigned *block, void **arguments) {          \
    return polysched::launch(polysched_called_##kernel, grid, block, arguments);                                     \
  }

template <class T> static T atomicAdd(T *place, T value) { T old = *place; *place = old + value; return old; }
template <class T> static T atomicMax(T *place, T value) { T old = *place; *place = old < value ? value : old; return old; }
template <class T> static T atomicMin(T *place, T value) { T old = *place; *place = value < old ? value : old; return old; }
template <class T> static T atomicExch(T *place, T value) { T old = *place; *place = value; return old; }
template <class T> static T atomicCAS(T *place, T expected, T value) {
  T old = *place;
  if (old == expected) *place = value;
  return old;
}
static inline int __float_as_int(float value) { int bits; std::memcpy(&bits, &value, sizeof bits); return bits; }
static inline long long __double_as_longlong(double value) {
  long long bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
static inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
static inline double rsqrt(double x) { return 1.0 / sqrt(x); }
