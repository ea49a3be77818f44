"""The C that every file with OpenCL regions has once: the device, buffers, copies and launches, with their errors."""

RUNTIME = r'''#ifndef POLYSCHED_OPENCL
#define POLYSCHED_OPENCL
#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* Environment: POLYSCHED_OPENCL_PLATFORM and POLYSCHED_OPENCL_DEVICE are parts of names; POLYSCHED_OPENCL_BUILD are
   options of the device's compiler. Without them the first GPU is taken, or else the first device of any kind. */
static cl_context polysched_cl_context;
static cl_command_queue polysched_cl_queue;
static cl_device_id polysched_cl_device;
static pthread_mutex_t polysched_cl_building = PTHREAD_MUTEX_INITIALIZER;
static __thread int polysched_cl_holds;
/* Where an error returns to, for callers that survive one; without it the program ends. */
static __thread jmp_buf *polysched_cl_caller;
static __thread char polysched_cl_problem[1 << 14];
static void polysched_cl_fail(void) {
  if (polysched_cl_holds) pthread_mutex_unlock(&polysched_cl_building);
  polysched_cl_holds = 0;
  if (polysched_cl_caller) longjmp(*polysched_cl_caller, 1);
  fprintf(stderr, "polysched: %s\n", polysched_cl_problem);
  exit(1);
}
static void polysched_cl_check(cl_int status, const char *what) {
  if (status == CL_SUCCESS) return;
  snprintf(polysched_cl_problem, sizeof polysched_cl_problem, "OpenCL error %d: %s", (int)status, what);
  polysched_cl_fail();
}
static int polysched_cl_named(const char *wanted, const char *name) { return !wanted || strstr(name, wanted); }
static int polysched_cl_choose(cl_device_type type) {
  cl_platform_id platforms[16];
  cl_uint count = 0;
  if (clGetPlatformIDs(16, platforms, &count) != CL_SUCCESS) return 0;
  for (cl_uint p = 0; p < count && p < 16; p++) {
    cl_device_id devices[16];
    cl_uint found = 0;
    char name[256] = "";
    clGetPlatformInfo(platforms[p], CL_PLATFORM_NAME, sizeof name, name, NULL);
    if (!polysched_cl_named(getenv("POLYSCHED_OPENCL_PLATFORM"), name)) continue;
    if (clGetDeviceIDs(platforms[p], type, 16, devices, &found) != CL_SUCCESS) continue;
    for (cl_uint d = 0; d < found && d < 16; d++) {
      clGetDeviceInfo(devices[d], CL_DEVICE_NAME, sizeof name, name, NULL);
      if (!polysched_cl_named(getenv("POLYSCHED_OPENCL_DEVICE"), name)) continue;
      polysched_cl_device = devices[d];
      return 1;
    }
  }
  return 0;
}
static void polysched_cl_start(void) {
  cl_int status;
  if (polysched_cl_context) return;
  if (!polysched_cl_choose(CL_DEVICE_TYPE_GPU) && !polysched_cl_choose(CL_DEVICE_TYPE_ALL)) {
    snprintf(polysched_cl_problem, sizeof polysched_cl_problem,
             "no OpenCL device; install a driver, for instance pocl-opencl-icd");
    polysched_cl_fail();
  }
  polysched_cl_context = clCreateContext(NULL, 1, &polysched_cl_device, NULL, NULL, &status);
  polysched_cl_check(status, "no context");
  polysched_cl_queue = clCreateCommandQueue(polysched_cl_context, polysched_cl_device, 0, &status);
  polysched_cl_check(status, "no queue");
}
static cl_program polysched_cl_built(const char *text) {
  cl_int status;
  polysched_cl_start();
  const char *options = getenv("POLYSCHED_OPENCL_BUILD");
  cl_program program = clCreateProgramWithSource(polysched_cl_context, 1, &text, NULL, &status);
  polysched_cl_check(status, "no program");
  status = clBuildProgram(program, 1, &polysched_cl_device, options ? options : "", NULL, NULL);
  if (status != CL_SUCCESS) {
    static char log[1 << 13], what[sizeof log + 64];
    clGetProgramBuildInfo(program, polysched_cl_device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
    clReleaseProgram(program);
    snprintf(what, sizeof what, "the kernels do not compile\n%s", log);
    polysched_cl_check(status, what);
  }
  return program;
}
/* Kernels of the calling thread alone: no two threads may set arguments of one kernel object (clSetKernelArg). */
static void polysched_cl_build(cl_program *program, cl_kernel *kernels, int count, const char *text,
                               const char *const *names) {
  pthread_mutex_lock(&polysched_cl_building);
  polysched_cl_holds = 1;
  if (!*program) *program = polysched_cl_built(text);
  for (int k = 0; k < count; k++) {
    cl_int status;
    kernels[k] = clCreateKernel(*program, names[k], &status);
    polysched_cl_check(status, names[k]);
  }
  polysched_cl_holds = 0;
  pthread_mutex_unlock(&polysched_cl_building);
}
static cl_mem polysched_cl_buffer(long rows, long row_elements, size_t element_bytes) {
  cl_int status;
  size_t bytes = rows > 0 && row_elements > 0 ? (size_t)rows * row_elements * element_bytes : 0;
  cl_mem buffer = clCreateBuffer(polysched_cl_context, CL_MEM_READ_WRITE, bytes ? bytes : 1, NULL, &status);
  polysched_cl_check(status, "no memory for a buffer");
  return buffer;
}
static inline void polysched_cl_write(cl_mem buffer, const void *host, long first, long end, long row_elements,
                                      size_t element_bytes) {
  size_t row_bytes = row_elements * element_bytes;
  if (first >= end || row_elements <= 0) return;
  polysched_cl_check(clEnqueueWriteBuffer(polysched_cl_queue, buffer, CL_TRUE, first * row_bytes,
                                          (end - first) * row_bytes, (const char *)host + first * row_bytes, 0, NULL,
                                          NULL), "a copy to the device failed");
}
static inline void polysched_cl_read(cl_mem buffer, void *host, long first, long end, long row_elements,
                                      size_t element_bytes) {
  size_t row_bytes = row_elements * element_bytes;
  if (first >= end || row_elements <= 0) return;
  polysched_cl_check(clEnqueueReadBuffer(polysched_cl_queue, buffer, CL_TRUE, first * row_bytes,
                                         (end - first) * row_bytes, (char *)host + first * row_bytes, 0, NULL, NULL),
                     "a copy from the device failed");
}
static void polysched_cl_argument(cl_kernel kernel, cl_uint position, size_t bytes, const void *value) {
  polysched_cl_check(clSetKernelArg(kernel, position, bytes, value), "an argument of a kernel is refused");
}
static void polysched_cl_launch(cl_kernel kernel, cl_uint dimensions, const long *counts, const size_t *block) {
  size_t global[3];
  for (cl_uint k = 0; k < dimensions; k++) {
    if (counts[k] <= 0) return;
    global[k] = (counts[k] + block[k] - 1) / block[k] * block[k];
  }
  polysched_cl_check(clEnqueueNDRangeKernel(polysched_cl_queue, kernel, dimensions, NULL, global, block, 0, NULL, NULL),
                     "a launch failed");
}
static void polysched_cl_release(cl_mem buffer) {
  polysched_cl_check(clFinish(polysched_cl_queue), "a kernel failed");
  clReleaseMemObject(buffer);
}
static void polysched_cl_end(cl_kernel *kernels, int count) {
  polysched_cl_check(clFinish(polysched_cl_queue), "a kernel failed");
  for (int k = 0; k < count; k++) clReleaseKernel(kernels[k]);
}
#endif
'''
"""Source: the OpenCL 1.2 specification, sections 4 and 5."""
