/* The part of NVRTC that emitted files use, on the CPU: the kernels are compiled by the C++ compiler that CXX names
   (default: g++) together with cuda_device.h.  Products and sums are never contracted here.
   Names and meaning: NVRTC, the CUDA runtime compilation library. */
#ifndef POLYSCHED_NVRTC_ON_CPU
#define POLYSCHED_NVRTC_ON_CPU
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef enum { NVRTC_SUCCESS = 0, NVRTC_ERROR_OUT_OF_MEMORY = 1, NVRTC_ERROR_COMPILATION = 6 } nvrtcResult;
typedef struct {
  char *text, *log, path[4096];
} *nvrtcProgram;
extern char **environ;

static inline const char *nvrtcGetErrorString(nvrtcResult result) {
  return result == NVRTC_SUCCESS ? "NVRTC_SUCCESS"
       : result == NVRTC_ERROR_COMPILATION ? "NVRTC_ERROR_COMPILATION" : "NVRTC_ERROR_OUT_OF_MEMORY";
}
static inline nvrtcResult nvrtcCreateProgram(nvrtcProgram *program, const char *text, const char *name, int headers,
                                             const char *const *contents, const char *const *names) {
  (void)name, (void)headers, (void)contents, (void)names;
  *program = calloc(1, sizeof **program);
  if (!*program) return NVRTC_ERROR_OUT_OF_MEMORY;
  (*program)->text = strdup(text);
  (*program)->log = strdup("");
  return (*program)->text && (*program)->log ? NVRTC_SUCCESS : NVRTC_ERROR_OUT_OF_MEMORY;
}
/* A launcher for each kernel, found by its head. */
static inline void polysched_cpu_launchers(FILE *file, const char *text) {
  static const char head[] = "extern \"C\" __global__ void ", bounds[] = "__launch_bounds__(";
  for (const char *at = text; (at = strstr(at, head));) {
    at += sizeof head - 1;
    if (!strncmp(at, bounds, sizeof bounds - 1)) at += strcspn(at, ")") + 2;
    fprintf(file, "POLYSCHED_LAUNCHER(%.*s)\n", (int)strcspn(at, "( \n"), at);
  }
}
static inline char *polysched_cpu_read(const char *path) {
  FILE *file = fopen(path, "r");
  char *text = calloc(1, 1 << 16);
  if (file && text) text[fread(text, 1, (1 << 16) - 1, file)] = 0;
  if (file) fclose(file);
  return text;
}
static inline nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int count, const char *const *options) {
  const char *base = getenv("TMPDIR"), *compiler = getenv("CXX"), *own = __FILE__;
  char folder[2048], source[4096], errors[4096], header[4096];
  (void)count, (void)options;
  snprintf(folder, sizeof folder, "%s/polysched_cuda_XXXXXX", base && *base ? base : "/tmp");
  if (!mkdtemp(folder)) return NVRTC_ERROR_COMPILATION;
  snprintf(source, sizeof source, "%s/kernels.cpp", folder);
  snprintf(errors, sizeof errors, "%s/errors", folder);
  snprintf(program->path, sizeof program->path, "%s/kernels.so", folder);
  snprintf(header, sizeof header, "-I%.*s", (int)(strrchr(own, '/') ? strrchr(own, '/') - own : 0), own);
  FILE *file = fopen(source, "w");
  if (!file) return NVRTC_ERROR_COMPILATION;
  if (strstr(program->text, "__sync") || strstr(program->text, "__shfl")) fputs("#define POLYSCHED_FIBERS\n", file);
  fprintf(file, "#include \"cuda_device.h\"\n#line 1 \"polysched.cu\"\n%s\n", program->text);
  polysched_cpu_launchers(file, program->text);
  fclose(file);
  const char *command[] = {compiler && *compiler ? compiler : "g++", "-std=c++14", "-O1", "-w", "-fPIC", "-shared",
                           "-ffp-contract=off", "-fwrapv", header, source, "-o", program->path, NULL};
  posix_spawn_file_actions_t actions;
  pid_t child;
  int status = -1;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 2, errors, 01 | 0100, 0600);
  int spawned = posix_spawnp(&child, command[0], &actions, NULL, (char *const *)command, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (!spawned) waitpid(child, &status, 0);
  free(program->log);
  program->log = spawned ? strdup("no C++ compiler: set CXX") : polysched_cpu_read(errors);
  unlink(source);
  unlink(errors);
  if (status) {
    unlink(program->path);
    rmdir(folder);
  }
  return status ? NVRTC_ERROR_COMPILATION : NVRTC_SUCCESS;
}
static inline nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t *bytes) {
  return *bytes = strlen(program->log) + 1, NVRTC_SUCCESS;
}
static inline nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char *log) {
  return strcpy(log, program->log), NVRTC_SUCCESS;
}
/* The image is the path of the shared object. */
static inline nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t *bytes) {
  return *bytes = strlen(program->path) + 1, NVRTC_SUCCESS;
}
static inline nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char *image) {
  return strcpy(image, program->path), NVRTC_SUCCESS;
}
static inline nvrtcResult nvrtcDestroyProgram(nvrtcProgram *program) {
  free((*program)->text);
  free((*program)->log);
  free(*program);
  return *program = NULL, NVRTC_SUCCESS;
}
#endif
