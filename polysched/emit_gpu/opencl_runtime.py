"""The C that every file with OpenCL regions has once: the device, buffers, copies and launches, with their errors."""

from polysched.emit_gpu.shared_runtime import CHANGED, ERRORS

RUNTIME = r'''#ifndef POLYSCHED_OPENCL
#define POLYSCHED_OPENCL
#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>
''' + ERRORS + r'''
/* Environment: POLYSCHED_OPENCL_PLATFORM and POLYSCHED_OPENCL_DEVICE are parts of names; POLYSCHED_OPENCL_BUILD are
   options of the device's compiler. Without them the first GPU is taken, or else the first device of any kind. */
typedef cl_program polysched_device_program;
typedef cl_kernel polysched_device_kernel;
typedef cl_mem polysched_device_buffer;
static cl_context polysched_device_context;
static cl_command_queue polysched_device_queue;
static cl_device_id polysched_device_chosen;
static int polysched_device_failed;   /* a kernel did */
static void polysched_device_tell(cl_int status, const char *what, int before) {
  snprintf(polysched_device_problem, sizeof polysched_device_problem, "OpenCL error %d: %s%s", (int)status, what,
           before ? "; a kernel of this process failed before, and not all devices survive that" : "");
  polysched_device_fail();
}
static void polysched_device_check(cl_int status, const char *what) {
  if (status == CL_SUCCESS) return;
  polysched_device_tell(status, what, __atomic_load_n(&polysched_device_failed, __ATOMIC_RELAXED));
}
static void polysched_device_finish(void) {
  const cl_int status = clFinish(polysched_device_queue);
  if (status != CL_SUCCESS) {
    const int before = __atomic_exchange_n(&polysched_device_failed, 1, __ATOMIC_RELAXED);
    polysched_device_tell(status, "a kernel failed", before);
  }
}
static int polysched_device_named(const char *wanted, const char *name) { return !wanted || strstr(name, wanted); }
static int polysched_device_choose(cl_device_type type) {
  cl_platform_id platforms[16];
  cl_uint count = 0;
  if (clGetPlatformIDs(16, platforms, &count) != CL_SUCCESS) return 0;
  for (cl_uint p = 0; p < count && p < 16; p++) {
    cl_device_id devices[16];
    cl_uint found = 0;
    char name[256] = "";
    clGetPlatformInfo(platforms[p], CL_PLATFORM_NAME, sizeof name, name, NULL);
    if (!polysched_device_named(getenv("POLYSCHED_OPENCL_PLATFORM"), name)) continue;
    if (clGetDeviceIDs(platforms[p], type, 16, devices, &found) != CL_SUCCESS) continue;
    for (cl_uint d = 0; d < found && d < 16; d++) {
      clGetDeviceInfo(devices[d], CL_DEVICE_NAME, sizeof name, name, NULL);
      if (!polysched_device_named(getenv("POLYSCHED_OPENCL_DEVICE"), name)) continue;
      polysched_device_chosen = devices[d];
      return 1;
    }
  }
  return 0;
}
static void polysched_device_start(void) {
  cl_int status;
  if (polysched_device_queue) return;
#ifdef POLYSCHED_OPENCL_HOME
  setenv("PYOPENCL_HOME", POLYSCHED_OPENCL_HOME, 0);   /* where a wheel's loader finds the drivers of wheels */
#endif
  if (!polysched_device_context) {
    if (!polysched_device_choose(CL_DEVICE_TYPE_GPU) && !polysched_device_choose(CL_DEVICE_TYPE_ALL)) {
      polysched_device_refuse("no OpenCL device; install a driver, for instance pocl-opencl-icd, "
                              "or pip install 'polysched[opencl]'");
    }
    polysched_device_context = clCreateContext(NULL, 1, &polysched_device_chosen, NULL, NULL, &status);
    polysched_device_check(status, "no context");
  }
  polysched_device_queue = clCreateCommandQueue(polysched_device_context, polysched_device_chosen, 0, &status);
  polysched_device_check(status, "no queue");
}
static polysched_device_program polysched_device_built(const char *text) {
  cl_int status;
  polysched_device_start();
  const char *options = getenv("POLYSCHED_OPENCL_BUILD");
  cl_program program = clCreateProgramWithSource(polysched_device_context, 1, &text, NULL, &status);
  polysched_device_check(status, "no program");
  status = clBuildProgram(program, 1, &polysched_device_chosen, options ? options : "", NULL, NULL);
  if (status != CL_SUCCESS) {
    static char log[1 << 13], what[sizeof log + 64];
    clGetProgramBuildInfo(program, polysched_device_chosen, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
    clReleaseProgram(program);
    snprintf(what, sizeof what, "the kernels do not compile\n%s", log);
    polysched_device_check(status, what);
  }
  return program;
}
static void polysched_device_give_kernel(void *kernel) { clReleaseKernel((cl_kernel)kernel); }
static size_t polysched_device_bytes;   /* of all buffers of the regions of this file */
/* What the device has for a buffer, which may be more than what was asked for. */
static size_t polysched_device_size(cl_mem buffer) {
  size_t bytes = 0;
  clGetMemObjectInfo(buffer, CL_MEM_SIZE, sizeof bytes, &bytes, NULL);
  return bytes;
}
static void polysched_device_give_buffer(void *buffer) {
  __atomic_sub_fetch(&polysched_device_bytes, polysched_device_size((cl_mem)buffer), __ATOMIC_RELAXED);
  clReleaseMemObject((cl_mem)buffer);
}
/* Some devices say at a kernel only that buffers do not fit; some have more for one buffer than they say. */
static void polysched_device_room(size_t bytes) {
  cl_ulong all = 0, most = 0;
  size_t held = __atomic_load_n(&polysched_device_bytes, __ATOMIC_RELAXED);
  char what[256];
  clGetDeviceInfo(polysched_device_chosen, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof all, &all, NULL);
  clGetDeviceInfo(polysched_device_chosen, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof most, &most, NULL);
  if (bytes <= all && held <= all - bytes) return;
  snprintf(what, sizeof what, "no memory for a buffer of %zu bytes beside %zu in use: the device has %llu, and %llu at "
           "most for one buffer", bytes, held, (unsigned long long)all, (unsigned long long)most);
  polysched_device_refuse(what);
}
/* Kernels of the calling thread alone: no two threads may set arguments of one kernel object (clSetKernelArg). */
static void polysched_device_build(cl_program *program, cl_kernel *kernels, int count, const char *text,
                               const char *const *names) {
  pthread_mutex_lock(&polysched_device_building);
  polysched_device_holds = 1;
  if (!*program) *program = polysched_device_built(text);
  for (int k = 0; k < count; k++) {
    cl_int status;
    kernels[k] = clCreateKernel(*program, names[k], &status);
    polysched_device_check(status, names[k]);
    polysched_device_own(kernels[k], polysched_device_give_kernel);
  }
  polysched_device_holds = 0;
  pthread_mutex_unlock(&polysched_device_building);
}
static cl_mem polysched_device_allocate(long rows, long row_elements, size_t element_bytes) {
  cl_int status;
  size_t bytes = rows > 0 && row_elements > 0 ? (size_t)rows * row_elements * element_bytes : 0;
  polysched_device_room(bytes);
  cl_mem buffer = clCreateBuffer(polysched_device_context, CL_MEM_READ_WRITE, bytes ? bytes : 1, NULL, &status);
  polysched_device_check(status, "no memory for a buffer");
  __atomic_add_fetch(&polysched_device_bytes, polysched_device_size(buffer), __ATOMIC_RELAXED);
  polysched_device_own(buffer, polysched_device_give_buffer);
  return buffer;
}
/* The buffer for an array of the caller. */
static inline cl_mem polysched_device_hold(const void *host, long rows, long row_elements, size_t element_bytes) {
  (void)host;
  return polysched_device_allocate(rows, row_elements, element_bytes);
}
static inline void polysched_device_send(cl_mem buffer, const void *from, size_t first, size_t bytes) {
  polysched_device_check(clEnqueueWriteBuffer(polysched_device_queue, buffer, CL_TRUE, first, bytes, from, 0, NULL,
                                          NULL), "a copy to the device failed");
}
static inline void polysched_device_write(cl_mem buffer, const void *host, long first, long end, long row_elements,
                                      size_t element_bytes) {
  size_t row_bytes = row_elements * element_bytes;
  if (first >= end || row_elements <= 0) return;
  polysched_device_send(buffer, (const char *)host + first * row_bytes, first * row_bytes, (end - first) * row_bytes);
}
/* Whether the buffer is the array itself. */
static inline int polysched_device_has(cl_mem buffer, const void *host) {
  (void)buffer;
  (void)host;
  return 0;
}
static inline void polysched_device_fetch(cl_mem buffer, void *to, size_t first, size_t bytes) {
  polysched_device_check(clEnqueueReadBuffer(polysched_device_queue, buffer, CL_TRUE, first, bytes, to, 0, NULL, NULL),
                     "a copy from the device failed");
}
static inline void polysched_device_read(cl_mem buffer, void *host, long first, long end, long row_elements,
                                      size_t element_bytes) {
  size_t row_bytes = row_elements * element_bytes;
  if (first >= end || row_elements <= 0) return;
  polysched_device_fetch(buffer, (char *)host + first * row_bytes, first * row_bytes, (end - first) * row_bytes);
}
''' + CHANGED + r'''
static void polysched_device_set(cl_kernel *kernel, cl_uint position, size_t bytes, const void *value) {
  polysched_device_check(clSetKernelArg(*kernel, position, bytes, value), "an argument of a kernel is refused");
}
static void polysched_device_launch(cl_kernel *kernel, cl_uint dimensions, const long *counts, const size_t *block) {
  size_t global[3];
  for (cl_uint k = 0; k < dimensions; k++) {
    if (counts[k] <= 0) return;
    global[k] = (counts[k] + block[k] - 1) / block[k] * block[k];
  }
  cl_int status = clEnqueueNDRangeKernel(polysched_device_queue, *kernel, dimensions, NULL, global, block, 0, NULL,
                                         NULL);
  polysched_device_check(status, status == CL_INVALID_WORK_GROUP_SIZE
                         ? "the device runs no blocks of so many work items; --block names smaller ones"
                         : "a launch failed");
}
static void polysched_device_release(cl_mem buffer) {
  polysched_device_finish();
  polysched_device_disown(buffer);
  polysched_device_give_buffer(buffer);
}
static inline void polysched_device_drop(cl_mem buffer, const void *host) {
  (void)host;
  polysched_device_release(buffer);
}
static void polysched_device_end(cl_kernel *kernels, int count) {
  polysched_device_finish();
  for (int k = 0; k < count; k++) {
    polysched_device_disown(kernels[k]);
    clReleaseKernel(kernels[k]);
  }
}
#endif
'''
"""Source: the OpenCL 1.2 specification, sections 4 and 5."""
PROBE = RUNTIME + r'''int main(void) {
  char name[256] = "";
  polysched_device_start();
  clGetDeviceInfo(polysched_device_chosen, CL_DEVICE_NAME, sizeof name, name, NULL);
  puts(name);
  return 0;
}
'''
"""A program that names the device that would be taken."""
