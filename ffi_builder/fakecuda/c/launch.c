/* Launching: which context, whether it may be, and then the host's emulation of the kernel. */
#include <stdlib.h>
#include <string.h>

#include "fake.h"

typedef struct Emulation {
  char* name;
  FakeKernel run;
  void* user;
  struct Emulation* next;
} Emulation;

static Emulation* emulations;
static Emulation executor;

void fake_kernel(const char* name, FakeKernel run, void* user) {
  lock();
  Emulation* found = emulations;
  while (found != NULL && strcmp(found->name, name) != 0) found = found->next;
  if (found == NULL) {
    found = must(calloc(1, sizeof(*found)));
    found->name = must(strdup(name));
    found->next = emulations;
    emulations = found;
  }
  found->run = run;
  found->user = user;
  unlock();
}

void fake_executor(FakeKernel run, void* user) {
  lock();
  executor.run = run;
  executor.user = user;
  unlock();
}

void launch_clear(void) {
  executor.run = NULL;
  for (Emulation* each = emulations; each != NULL; each = each->next) each->run = NULL;
}

Launch* launch_variables(Context* context, const Library* library, const char* ptx) {
  if (ptx == NULL || executor.run == NULL) return NULL;
  Launch* made = must(calloc(1, sizeof(*made)));
  made->context = context;
  made->public.device = context->device;
  made->public.context = context->object.handle;
  made->public.library = library->object.handle;
  made->public.ptx = ptx;
  return made;
}

void launch_run(const Launch* launch) {
  Emulation found = {0};
  lock();
  if (launch->public.kernel == NULL) {
    found = executor;
    unlock();
    if (found.run != NULL) found.run(&launch->public, found.user);
    return;
  }
  if (launch->context->failed != CUDA_SUCCESS) { /* by a kernel before it in the same graph */
    unlock();
    return;
  }
  log_launch("run", launch);
  for (const Emulation* each = emulations; each != NULL; each = each->next) {
    if (strcmp(each->name, launch->public.kernel) == 0) found = *each;
  }
  if (found.run == NULL) found = executor;
  unlock();
  if (found.run == NULL) return;
  int result = found.run(&launch->public, found.user);
  if (result == CUDA_SUCCESS) return;
  lock();
  launch->context->failed = (CUresult)result;
  unlock();
}

void launch_free(Launch* launch) {
  for (uint32_t i = 0; i < launch->public.count; ++i) {
    free((void*)(uintptr_t)launch->public.parameters[i].bytes);
  }
  free((void*)(uintptr_t)launch->public.parameters);
  free((void*)(uintptr_t)launch->public.kernel);
  free(launch);
}

Launch* launch_copy(const Launch* launch) {
  Launch* copy = must(malloc(sizeof(*copy)));
  *copy = *launch;
  copy->next = NULL;
  copy->public.kernel = must(strdup(launch->public.kernel));
  uint32_t count = launch->public.count;
  FakeParameter* parameters = must(calloc(count + 1, sizeof(*parameters)));
  for (uint32_t i = 0; i < count; ++i) {
    parameters[i] = launch->public.parameters[i];
    void* bytes = must(malloc(parameters[i].size));
    parameters[i].bytes = memcpy(bytes, launch->public.parameters[i].bytes, parameters[i].size);
  }
  copy->public.parameters = parameters;
  return copy;
}

/* The kernel that a CUfunction is, or the CUkernel that was cast to one; in which context it is
 * launched, and what was set for it there. */
static CUresult resolve(CUfunction handle, const CUlaunchConfig* config, bool per_thread,
                        Where* where, Kernel** kernel, Settings* settings) {
  Object* object = object_of(handle);
  if (object == NULL || (object->kind != kKindKernel && object->kind != kKindFunction)) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  if (!object->alive) {
    violation("kernel-unloaded", "a kernel was launched after its library had been unloaded");
    return CUDA_ERROR_INVALID_HANDLE;
  }
  CUresult result = stream_resolve(config->hStream, per_thread, where);
  if (result != CUDA_SUCCESS) return result;
  int device = where->context->device;
  if (object->kind == kKindKernel) {
    *kernel = (Kernel*)object;
    *settings = (*kernel)->settings[device];
    return CUDA_SUCCESS;
  }
  const Function* function = (Function*)object;
  if (function->context != where->context) return CUDA_ERROR_INVALID_HANDLE;
  *kernel = function->kernel;
  *settings = function->settings;
  const Settings* below = &function->kernel->settings[device];
  if (settings->max_dynamic < 0) settings->max_dynamic = below->max_dynamic;
  if (settings->non_portable == 0) settings->non_portable = below->non_portable;
  if (settings->cluster[0] == 0) memcpy(settings->cluster, below->cluster, sizeof(below->cluster));
  return CUDA_SUCCESS;
}

static CUresult prepare(const CUlaunchConfig* config, CUfunction handle, bool per_thread,
                        void** params, void** extra, Launch* launch, Where* where) {
  Kernel* kernel;
  Settings settings;
  if (driver.device_count == 0) return CUDA_ERROR_NO_DEVICE;
  CUresult result = resolve(handle, config, per_thread, where, &kernel, &settings);
  if (result != CUDA_SUCCESS) return result;
  result = where->stream == NULL        ? capture_forbids_legacy(where->context)
           : where->stream->invalidated ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
                                        : CUDA_SUCCESS;
  if (result != CUDA_SUCCESS) return result;
  const KernelInfo* info;
  result = kernel_info(kernel, where->context->device, &info);
  if (result != CUDA_SUCCESS) return result;
  launch->context = where->context;
  launch->code = object_of(handle);
  launch->public.device = where->context->device;
  launch->public.context = where->context->object.handle;
  launch->public.stream = (uint64_t)(uintptr_t)config->hStream;
  launch->public.kernel = must(strdup(kernel->name));
  launch->public.ptx = kernel_ptx(kernel, launch->public.device);
  launch->public.library = kernel->library->object.handle;
  result = config_check(config, info, &settings, where, launch);
  launch->public.cooperative = launch->cooperative;
  return result == CUDA_SUCCESS ? arguments_read(params, extra, info, launch) : result;
}

static CUresult launch(Call* call, const CUlaunchConfig* config, CUfunction handle, bool per_thread,
                       void** params, void** extra) {
  if (!readable(config, sizeof(*config))) return CUDA_ERROR_INVALID_VALUE;
  Where where;
  Launch* made = must(calloc(1, sizeof(*made)));
  CUresult result = prepare(config, handle, per_thread, params, extra, made, &where);
  if (result != CUDA_SUCCESS) {
    launch_free(made);
  } else if (where.stream != NULL && where.stream->capture != NULL) {
    log_launch("captured", made);
    graph_add(where.stream->capture, made);
  } else {
    call->run = made;
  }
  return result;
}

#define LAUNCH_EX(per_thread)                                                          \
  API(kInit, launch(&call, config, function, per_thread, params, extra),              \
      "function=%p config=%p params=%p extra=%p", (void*)function, (const void*)config, \
      (void*)params, (void*)extra)

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** params,
                          void** extra) {
  LAUNCH_EX(false);
}

CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig* config, CUfunction function, void** params,
                               void** extra);
CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig* config, CUfunction function, void** params,
                               void** extra) {
  LAUNCH_EX(true);
}

#define LAUNCH_PARAMETERS                                                                       \
  CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,           \
      unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int shared,    \
      CUstream stream, void **params
#define LAUNCH(per_thread, extra, list, size)                                                   \
  CUlaunchConfig config = {grid_x, grid_y, grid_z, block_x, block_y, block_z, shared, stream,   \
                           list, size};                                                         \
  API(kInit, launch(&call, &config, function, per_thread, params, extra),                       \
      "function=%p grid=%u,%u,%u block=%u,%u,%u shared=%u stream=%p", (void*)function, grid_x,  \
      grid_y, grid_z, block_x, block_y, block_z, shared, (void*)stream)

CUresult cuLaunchKernel(LAUNCH_PARAMETERS, void** extra) { LAUNCH(false, extra, NULL, 0); }

CUresult cuLaunchKernel_ptsz(LAUNCH_PARAMETERS, void** extra);
CUresult cuLaunchKernel_ptsz(LAUNCH_PARAMETERS, void** extra) { LAUNCH(true, extra, NULL, 0); }

CUresult cuLaunchCooperativeKernel(LAUNCH_PARAMETERS) {
  CUlaunchAttribute cooperative = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1};
  LAUNCH(false, NULL, &cooperative, 1);
}
