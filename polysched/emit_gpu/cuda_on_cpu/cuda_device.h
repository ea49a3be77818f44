/* CUDA C++ on the CPU: the blocks of a launch one after the other, the threads of a block one after the other up to
   their next barrier, as fibers.  POLYSCHED_CUDA_REVERSED=1 takes threads in descending order: where the results of both
   orders differ, a barrier is missing.
   Names and meaning: CUDA C++ Programming Guide, "C++ Language Extensions". */
#pragma once
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <ucontext.h>
#include <utility>
#include <vector>

#define __global__
#define __device__ static
#define __forceinline__ inline
#define __shared__ static
#define __launch_bounds__(...)

struct polysched_index { unsigned x, y, z; };
static polysched_index threadIdx, blockIdx, blockDim, gridDim;
static const int warpSize = 32;

namespace polysched {
static std::mutex one_launch;

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
struct Fiber {
  ucontext_t context;
  std::vector<char> stack;
  State state = State::ready;
  int place = 0;
  std::uint64_t passed = 0;
};
static std::vector<Fiber> fibers;
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
static int run_block(void (*kernel)(void **), void **arguments) {
  const unsigned count = blockDim.x * blockDim.y * blockDim.z;
  started = kernel;
  passed_arguments = arguments;
  fibers.resize(count);
  for (Fiber &fiber : fibers) {
    fiber.state = State::ready;
    fiber.stack.resize(1 << 16);
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.data();
    fiber.context.uc_stack.ss_size = fiber.stack.size();
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, entry, 0);
  }
  for (;;) {
    bool all_done = true, released = false;
    for (unsigned position = 0; position < count; position++) {
      running = in_order(position, count);
      if (fibers[running].state != State::ready) continue;
      threadIdx = thread_of(running);
      swapcontext(&scheduler, &fibers[running].context);
    }
    for (Fiber &fiber : fibers) all_done = all_done && fiber.state == State::done;
    if (all_done) return 0;
    for (unsigned first = 0; first < count; first += 32)
      released = release(first, first + 32 < count ? first + 32 : count, State::at_warp) || released;
    if (!release(0, count, State::at_barrier) && !released) return 1;
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
  const std::lock_guard<std::mutex> alone(one_launch);
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
static inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
static inline double rsqrt(double x) { return 1.0 / sqrt(x); }
