"""The C that every file with CUDA regions has once: the device, buffers, copies and launches, with their errors."""

from polysched.emit_gpu.shared_runtime import CHANGED, ERRORS

RUNTIME = r'''#ifndef POLYSCHED_CUDA
#define POLYSCHED_CUDA
#include <cuda.h>
#include <nvrtc.h>
''' + ERRORS + r'''
/* Environment: POLYSCHED_CUDA_DEVICE is the number of a device; POLYSCHED_CUDA_BUILD are options of NVRTC. */
typedef CUmodule polysched_device_program;
typedef struct {
  CUfunction function;
  long long values[512];   /* no kernel has more than 4 KB of arguments */
  void *arguments[512];
} polysched_device_kernel;
typedef CUdeviceptr polysched_device_buffer;
static CUcontext polysched_device_context;
static CUdevice polysched_device_chosen;
static int polysched_device_number;
static void polysched_device_check(CUresult status, const char *what) {
  const char *name = "?";
  if (status == CUDA_SUCCESS) return;
  cuGetErrorString(status, &name);
  snprintf(polysched_device_problem, sizeof polysched_device_problem, "CUDA error %d: %s: %s", (int)status, name, what);
  polysched_device_fail();
}
static void polysched_device_start(void) {
  int count = 0;
  const char *wanted = getenv("POLYSCHED_CUDA_DEVICE");
  int chosen = wanted ? atoi(wanted) : 0;
  if (!polysched_device_context) {
    if (cuInit(0) != CUDA_SUCCESS || cuDeviceGetCount(&count) != CUDA_SUCCESS || count == 0)
      polysched_device_refuse("no CUDA device; install NVIDIA's driver");
    if (chosen < 0 || chosen >= count) polysched_device_refuse("POLYSCHED_CUDA_DEVICE names no device");
    polysched_device_number = chosen;
    polysched_device_check(cuDeviceGet(&polysched_device_chosen, chosen), "no device");
    polysched_device_check(cuDevicePrimaryCtxRetain(&polysched_device_context, polysched_device_chosen), "no context");
  }
  polysched_device_check(cuCtxSetCurrent(polysched_device_context), "no context");
}
static void polysched_device_compiled(nvrtcProgram program, nvrtcResult status) {
  static char log[1 << 13], what[sizeof log + 64];
  size_t bytes = 0;
  if (status == NVRTC_SUCCESS) return;
  if (nvrtcGetProgramLogSize(program, &bytes) != NVRTC_SUCCESS || bytes >= sizeof log ||
      nvrtcGetProgramLog(program, log) != NVRTC_SUCCESS)
    log[0] = 0;
  nvrtcDestroyProgram(&program);
  snprintf(what, sizeof what, "the kernels do not compile: %s\n%s", nvrtcGetErrorString(status), log);
  polysched_device_refuse(what);
}
static CUmodule polysched_device_built(const char *text) {
  nvrtcProgram program;
  CUmodule module;
  size_t bytes = 0;
  int major = 0, minor = 0, count = 1;
  const int warpgroups = strstr(text, "wgmma.mma_async") != NULL;
  char architecture[40], options[1 << 10] = "", *rest;
  const char *list[33] = {architecture}, *wanted = getenv("POLYSCHED_CUDA_BUILD");
  polysched_device_check(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
                                              polysched_device_chosen), "no capability");
  polysched_device_check(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
                                              polysched_device_chosen), "no capability");
  if (warpgroups && major != 9) polysched_device_refuse("only devices of compute capability 9 have wgmma");
  snprintf(architecture, sizeof architecture, "--gpu-architecture=sm_%d%d%s", major, minor, warpgroups ? "a" : "");
  snprintf(options, sizeof options, "%s", wanted ? wanted : "");
  for (char *word = strtok_r(options, " ", &rest); word && count < 33; word = strtok_r(NULL, " ", &rest))
    list[count++] = word;
  if (nvrtcCreateProgram(&program, text, "polysched.cu", 0, NULL, NULL) != NVRTC_SUCCESS)
    polysched_device_refuse("no program");
  polysched_device_compiled(program, nvrtcCompileProgram(program, count, list));
  polysched_device_compiled(program, nvrtcGetCUBINSize(program, &bytes));
  char *image = malloc(bytes ? bytes : 1);
  if (!image) polysched_device_refuse("no memory for a program");
  polysched_device_compiled(program, nvrtcGetCUBIN(program, image));
  nvrtcDestroyProgram(&program);
  CUresult status = cuModuleLoadData(&module, image);
  free(image);
  polysched_device_check(status, "the kernels cannot be loaded");
  return module;
}
static void polysched_device_build(CUmodule *program, polysched_device_kernel *kernels, int count, const char *text,
                                   const char *const *names) {
  pthread_mutex_lock(&polysched_device_building);
  polysched_device_holds = 1;
  polysched_device_start();
  if (!*program) *program = polysched_device_built(text);
  for (int k = 0; k < count; k++)
    polysched_device_check(cuModuleGetFunction(&kernels[k].function, *program, names[k]), names[k]);
  polysched_device_holds = 0;
  pthread_mutex_unlock(&polysched_device_building);
}
static void polysched_device_give_buffer(void *buffer) { cuMemFree((CUdeviceptr)(size_t)buffer); }
static CUdeviceptr polysched_device_allocate(long rows, long row_elements, size_t element_bytes) {
  CUdeviceptr buffer = 0;
  size_t bytes = rows > 0 && row_elements > 0 ? (size_t)rows * row_elements * element_bytes : 0;
  char what[80];
  snprintf(what, sizeof what, "no memory for a buffer of %zu bytes", bytes);
  polysched_device_check(cuMemAlloc(&buffer, bytes ? bytes : 1), what);
  polysched_device_own((void *)(size_t)buffer, polysched_device_give_buffer);
  return buffer;
}
/* The buffer for an array of the caller: the array itself where it lies in the device's memory, and what the device has
   still to do with it is waited for. */
static CUdeviceptr polysched_device_hold(const void *host, long rows, long row_elements, size_t element_bytes) {
  const CUdeviceptr place = (CUdeviceptr)(size_t)host;
  unsigned kind = 0;
  int number = 0;
  if (cuPointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, place) != CUDA_SUCCESS ||
      kind != CU_MEMORYTYPE_DEVICE)
    return polysched_device_allocate(rows, row_elements, element_bytes);
  polysched_device_check(cuPointerGetAttribute(&number, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, place), "no device");
  if (number != polysched_device_number)
    polysched_device_refuse("an array lies in another device's memory; POLYSCHED_CUDA_DEVICE names the one that runs");
  polysched_device_check(cuCtxSynchronize(), "what the device did before failed");
  return place;
}
static inline void polysched_device_send(CUdeviceptr buffer, const void *from, size_t first, size_t bytes) {
  polysched_device_check(cuMemcpyHtoD(buffer + first, from, bytes), "a copy to the device failed");
}
static inline void polysched_device_write(CUdeviceptr buffer, const void *host, long first, long end,
                                          long row_elements, size_t element_bytes) {
  size_t row_bytes = row_elements * element_bytes;
  if (first >= end || row_elements <= 0 || buffer == (CUdeviceptr)(size_t)host) return;
  polysched_device_send(buffer, (const char *)host + first * row_bytes, first * row_bytes, (end - first) * row_bytes);
}
/* Whether the buffer is the array itself. */
static inline int polysched_device_has(CUdeviceptr buffer, const void *host) {
  return buffer == (CUdeviceptr)(size_t)host;
}
static inline void polysched_device_fetch(CUdeviceptr buffer, void *to, size_t first, size_t bytes) {
  polysched_device_check(cuMemcpyDtoH(to, buffer + first, bytes), "a copy from the device failed");
}
static inline void polysched_device_read(CUdeviceptr buffer, void *host, long first, long end, long row_elements,
                                         size_t element_bytes) {
  size_t row_bytes = row_elements * element_bytes;
  if (first >= end || row_elements <= 0 || buffer == (CUdeviceptr)(size_t)host) return;
  polysched_device_fetch(buffer, (char *)host + first * row_bytes, first * row_bytes, (end - first) * row_bytes);
}
''' + CHANGED + r'''
static void polysched_device_set(polysched_device_kernel *kernel, int position, size_t bytes, const void *value) {
  if (position >= 512 || bytes > sizeof(long long)) polysched_device_refuse("a kernel has too many arguments");
  memcpy(&kernel->values[position], value, bytes);
  kernel->arguments[position] = &kernel->values[position];
}
static void polysched_device_launch(polysched_device_kernel *kernel, int dimensions, const long *counts,
                                    const size_t *block) {
  unsigned grid[3] = {1, 1, 1}, edge[3] = {1, 1, 1};
  for (int k = 0; k < dimensions; k++) {
    if (counts[k] <= 0) return;
    long blocks = (counts[k] + (long)block[k] - 1) / (long)block[k];
    if (blocks > (k ? 65535L : 2147483647L))
      polysched_device_refuse("a launch has more blocks than a CUDA grid can have");
    grid[k] = (unsigned)blocks;
    edge[k] = (unsigned)block[k];
  }
  polysched_device_check(cuLaunchKernel(kernel->function, grid[0], grid[1], grid[2], edge[0], edge[1], edge[2], 0, NULL,
                                        kernel->arguments, NULL), "a launch failed");
}
static void polysched_device_release(CUdeviceptr buffer) {
  polysched_device_check(cuCtxSynchronize(), "a kernel failed");
  polysched_device_disown((void *)(size_t)buffer);
  polysched_device_check(cuMemFree(buffer), "a buffer cannot be freed");
}
static inline void polysched_device_drop(CUdeviceptr buffer, const void *host) {
  if (buffer != (CUdeviceptr)(size_t)host) polysched_device_release(buffer);
}
static void polysched_device_end(polysched_device_kernel *kernels, int count) {
  (void)kernels;
  (void)count;
  polysched_device_check(cuCtxSynchronize(), "a kernel failed");
}
#endif
'''
"""Source: the CUDA Driver API, sections "Module Management", "Memory Management", "Execution Control", and NVRTC."""
