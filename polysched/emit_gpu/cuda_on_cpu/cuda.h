/* The part of CUDA's driver API that emitted files use, on the CPU: kernels are a shared object that nvrtc.h made.
   Memory of the device starts with every bit set, so that what was never written is no number.
   Names and meaning: CUDA Driver API. */
#ifndef POLYSCHED_CUDA_ON_CPU
#define POLYSCHED_CUDA_ON_CPU
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef enum {
  CUDA_SUCCESS = 0, CUDA_ERROR_INVALID_VALUE = 1, CUDA_ERROR_OUT_OF_MEMORY = 2, CUDA_ERROR_INVALID_IMAGE = 200,
  CUDA_ERROR_NOT_FOUND = 500, CUDA_ERROR_LAUNCH_FAILED = 719
} CUresult;
typedef enum {
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76
} CUdevice_attribute;
typedef enum { CU_MEMORYTYPE_HOST = 1, CU_MEMORYTYPE_DEVICE = 2 } CUmemorytype;
typedef enum { CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9 } CUpointer_attribute;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef int (*polysched_cpu_launcher)(const unsigned *grid, const unsigned *block, void **arguments);

static inline CUresult cuInit(unsigned flags) { return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS; }
static inline CUresult cuDeviceGetCount(int *count) { return *count = 1, CUDA_SUCCESS; }
static inline CUresult cuDeviceGet(CUdevice *device, int number) {
  return *device = number, number ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}
static inline CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
  return *value = attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR ? 9 : 0,
         device ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}
static inline CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  static char only;
  return *context = (CUcontext)&only, device ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}
static inline CUresult cuCtxSetCurrent(CUcontext context) { return context ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE; }
static inline CUresult cuCtxSynchronize(void) { return CUDA_SUCCESS; }
static inline CUresult cuGetErrorString(CUresult error, const char **text) {
  *text = error == CUDA_SUCCESS ? "no error" : error == CUDA_ERROR_INVALID_VALUE ? "invalid argument"
        : error == CUDA_ERROR_OUT_OF_MEMORY ? "out of memory" : error == CUDA_ERROR_INVALID_IMAGE ? "invalid image"
        : error == CUDA_ERROR_NOT_FOUND ? "not found" : "launch failed: not all threads reach one barrier";
  return CUDA_SUCCESS;
}
/* The image is the path of a shared object, which is gone afterwards; see nvrtc.h. */
static inline CUresult cuModuleLoadData(CUmodule *module, const void *image) {
  const char *path = (const char *)image;
  char folder[4096];
  const char *end = strrchr(path, '/');
  *module = (CUmodule)dlopen(path, RTLD_NOW | RTLD_LOCAL);
  unlink(path);
  if (end && (size_t)(end - path) < sizeof folder) {
    memcpy(folder, path, end - path);
    folder[end - path] = 0;
    rmdir(folder);
  }
  return *module ? CUDA_SUCCESS : CUDA_ERROR_INVALID_IMAGE;
}
static inline CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  char launcher[512] = "polysched_launch_";
  if (strlen(name) + strlen(launcher) >= sizeof launcher) return CUDA_ERROR_NOT_FOUND;
  strcat(launcher, name);
  *function = (CUfunction)dlsym((void *)module, launcher);
  return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
static inline CUresult cuMemAlloc(CUdeviceptr *pointer, size_t bytes) {
  void *memory = bytes ? malloc(bytes) : NULL;
  *pointer = (CUdeviceptr)(size_t)memory;
  if (!memory) return bytes ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_VALUE;
  memset(memory, 0xff, bytes);
  return CUDA_SUCCESS;
}
/* Arrays of callers count as memory of the device if they lie where no system places any by itself. */
static inline int polysched_cpu_on_device(unsigned long long place) { return place >> 45 == 1; }
static inline CUresult cuPointerGetAttribute(void *value, CUpointer_attribute attribute, CUdeviceptr place) {
  if (!polysched_cpu_on_device(place)) return CUDA_ERROR_INVALID_VALUE;
  if (attribute == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL) return *(int *)value = 0, CUDA_SUCCESS;
  return *(unsigned *)value = CU_MEMORYTYPE_DEVICE, CUDA_SUCCESS;
}
static inline CUresult cuMemFree(CUdeviceptr pointer) { return free((void *)(size_t)pointer), CUDA_SUCCESS; }
static inline CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes) {
  if (polysched_cpu_on_device((size_t)from)) return CUDA_ERROR_INVALID_VALUE;
  return memcpy((void *)(size_t)to, from, bytes), CUDA_SUCCESS;
}
static inline CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t bytes) {
  if (polysched_cpu_on_device((size_t)to)) return CUDA_ERROR_INVALID_VALUE;
  return memcpy(to, (const void *)(size_t)from, bytes), CUDA_SUCCESS;
}
static inline CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                      unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                                      CUstream stream, void **arguments, void **extra) {
  const unsigned grid[3] = {grid_x, grid_y, grid_z}, block[3] = {block_x, block_y, block_z};
  if (shared_bytes || stream || extra || !grid_x || !grid_y || !grid_z || !block_x || !block_y || !block_z)
    return CUDA_ERROR_INVALID_VALUE;
  if (grid_x > 2147483647u || grid_y > 65535 || grid_z > 65535 || block_x > 1024 || block_y > 1024 || block_z > 64 ||
      (unsigned long long)block_x * block_y * block_z > 1024)
    return CUDA_ERROR_INVALID_VALUE;
  return ((polysched_cpu_launcher)function)(grid, block, arguments) ? CUDA_ERROR_LAUNCH_FAILED : CUDA_SUCCESS;
}
#endif
