/* Libraries and their kernels, which belong to no context. */
#include <stdlib.h>
#include <string.h>

#include "fake.h"

/* CUDA 12.0 brought PTX 8.0, and 13.0 PTX 9.0, and so on; 12.6 brought none. */
static int newest_ptx(void) {
  int same = driver.version / 100 + driver.version % 100 / 10 - 40;
  return driver.version >= 12060 && driver.version < 13000 ? same - 1 : same;
}

static CUresult too_new(int ptx) {
  int cuda = ptx + 40 + (ptx > 85 && ptx < 90); /* newest_ptx turned round */
  return explain(CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
                 "the provided PTX was compiled with an unsupported toolchain. It is PTX %d.%d, and "
                 "FakeCuda is a driver of CUDA %d.%d: FakeCuda(version='%d.%d') takes it",
                 ptx / 10, ptx % 10, driver.version / 1000, driver.version % 100 / 10, cuda / 10,
                 cuda % 10);
}

CUresult library_load(const void* code, Library** out) {
  unsigned count;
  Image* images;
  CUresult result = image_read(code, &count, &images);
  if (result != CUDA_SUCCESS) return result;
  bool runs = false;
  int newer = 0;
  for (unsigned i = 0; i < count; ++i) {
    if (images[i].ptx > newest_ptx()) {
      newer = images[i].ptx;
      continue;
    }
    for (int device = 0; device < driver.device_count; ++device) {
      runs = runs || image_runs_on(&images[i], device);
    }
  }
  if (!runs) return newer == 0 ? CUDA_ERROR_NO_BINARY_FOR_GPU : too_new(newer);
  Library* library = object_new(kKindLibrary, sizeof(*library));
  library->image_count = count;
  library->images = images;
  *out = library;
  return CUDA_SUCCESS;
}

/* Images and names stay: handles that outlived it are still looked at, to say so. */
void library_end(Library* library) {
  library->object.alive = false;
  memory_end_globals(library);
  Object* object;
  for (size_t i = 0; (object = object_at(i)) != NULL; ++i) {
    Library* owner = object->kind == kKindKernel     ? ((Kernel*)object)->library
                     : object->kind == kKindFunction ? ((Function*)object)->kernel->library
                     : object->kind == kKindModule   ? ((Module*)object)->library
                                                     : NULL;
    if (owner == library) object->alive = false;
  }
}

static const KernelInfo* info_in(const Image* image, const char* name) {
  for (unsigned i = 0; i < image->count; ++i) {
    if (strcmp(image->kernels[i].name, name) == 0) return &image->kernels[i];
  }
  return NULL;
}

static const GlobalInfo* global_in(const Image* image, const char* name) {
  for (unsigned i = 0; i < image->global_count; ++i) {
    if (strcmp(image->globals[i].name, name) == 0) return &image->globals[i];
  }
  return NULL;
}

/* The image that a device runs, of those that have the kernel, or with NULL of all. */
static const Image* image_for(const Library* library, int device, const char* kernel, int* newer) {
  const Image* best = NULL;
  for (unsigned i = 0; i < library->image_count; ++i) {
    const Image* image = &library->images[i];
    if (!image_runs_on(image, device)) continue;
    if (kernel != NULL && info_in(image, kernel) == NULL) continue;
    if (image->ptx > newest_ptx()) {
      *newer = image->ptx;
      continue;
    }
    bool better = best == NULL || (best->ptx != 0 && image->ptx == 0) ||
                  ((best->ptx != 0) == (image->ptx != 0) &&
                   2 * image->sm + image->exact > 2 * best->sm + best->exact);
    if (better) best = image;
  }
  return best;
}

CUresult kernel_info(const Kernel* kernel, int device, const KernelInfo** found) {
  int newer = 0; /* loaded before the driver got an older version */
  const Image* best = image_for(kernel->library, device, kernel->name, &newer);
  if (best == NULL) return newer == 0 ? CUDA_ERROR_NO_BINARY_FOR_GPU : too_new(newer);
  *found = info_in(best, kernel->name);
  return CUDA_SUCCESS;
}

const char* kernel_ptx(const Kernel* kernel, int device) {
  const Image* best = NULL;
  for (unsigned i = 0; i < kernel->library->image_count; ++i) {
    const Image* image = &kernel->library->images[i];
    if (image->text == NULL || !image_runs_on(image, device)) continue;
    if (info_in(image, kernel->name) == NULL) continue;
    if (best == NULL || image->sm > best->sm) best = image;
  }
  return best == NULL ? NULL : best->text;
}

Kernel* library_kernel(Library* library, const char* name) {
  Object* object;
  for (size_t i = 0; (object = object_at(i)) != NULL; ++i) {
    Kernel* kernel = (Kernel*)object;
    if (object->kind != kKindKernel || kernel->library != library) continue;
    if (strcmp(kernel->name, name) == 0) return kernel;
  }
  for (unsigned i = 0; i < library->image_count; ++i) {
    const KernelInfo* info = info_in(&library->images[i], name);
    if (info == NULL) continue;
    Kernel* kernel = object_new(kKindKernel, sizeof(*kernel));
    kernel->library = library;
    kernel->name = info->name;
    for (int device = 0; device < kDevices; ++device) settings_clear(&kernel->settings[device]);
    return kernel;
  }
  return NULL;
}

static CUresult load(CUlibrary* out, const void* code, bool options) {
  Library* library;
  if (out == NULL || !options) return CUDA_ERROR_INVALID_VALUE;
  CUresult result = library_load(code, &library);
  if (result == CUDA_SUCCESS) *out = HANDLE(CUlibrary, library);
  return result;
}

/* The options change nothing here; they must be there if they are counted. */
CUresult cuLibraryLoadData(CUlibrary* out, const void* code, CUjit_option* jit, void** jit_values,
                           unsigned int jit_count, CUlibraryOption* options, void** values,
                           unsigned int count) {
  bool right = (jit_count == 0 || (jit != NULL && jit_values != NULL)) &&
               (count == 0 || (options != NULL && values != NULL));
  API(kInit | kUnsafe, load(out, code, right), "code=%p jit=%u options=%u", code, jit_count, count);
}

static CUresult unload(CUlibrary handle) {
  Library* library = object_find(handle, kKindLibrary);
  if (library == NULL) return CUDA_ERROR_INVALID_HANDLE;
  library_end(library);
  return CUDA_SUCCESS;
}

CUresult cuLibraryUnload(CUlibrary library) {
  API(kInit | kUnsafe, unload(library), "library=%p", (void*)library);
}

static CUresult get_kernel(CUkernel* out, CUlibrary handle, const char* name) {
  if (out == NULL || name == NULL) return CUDA_ERROR_INVALID_VALUE;
  Library* library = object_find(handle, kKindLibrary);
  if (library == NULL) return CUDA_ERROR_INVALID_HANDLE;
  Kernel* kernel = library_kernel(library, name);
  if (kernel == NULL) return CUDA_ERROR_NOT_FOUND;
  *out = HANDLE(CUkernel, kernel);
  return CUDA_SUCCESS;
}

CUresult cuLibraryGetKernel(CUkernel* out, CUlibrary library, const char* name) {
  API(kInit, get_kernel(out, library, name), "library=%p name='%s'", (void*)library,
      name == NULL ? "" : name);
}

/* In the current context: each context has memory of its own for it. */
static CUresult get_global(Call* call, CUdeviceptr* out, size_t* size, CUlibrary handle,
                           const char* name) {
  if (name == NULL || (out == NULL && size == NULL)) return CUDA_ERROR_INVALID_VALUE;
  Library* library = object_find(handle, kKindLibrary);
  if (library == NULL) return CUDA_ERROR_INVALID_HANDLE;
  Context* context;
  int newer = 0;
  CUresult result = context_current(&context);
  if (result != CUDA_SUCCESS) return result;
  const Image* image = image_for(library, context->device, NULL, &newer);
  if (image == NULL) return newer == 0 ? CUDA_ERROR_NO_BINARY_FOR_GPU : too_new(newer);
  const GlobalInfo* info = global_in(image, name);
  if (info == NULL) return CUDA_ERROR_NOT_FOUND;
  if (out != NULL) {
    *out = memory_global(context, library, info);
    if (*out == 0) return CUDA_ERROR_OUT_OF_MEMORY;
    call->run = launch_variables(context, library, image->text);
  }
  if (size != NULL) *size = info->size;
  return CUDA_SUCCESS;
}

CUresult cuLibraryGetGlobal(CUdeviceptr* out, size_t* size, CUlibrary library, const char* name) {
  API(kContext, get_global(&call, out, size, library, name), "library=%p name='%s'", (void*)library,
      name == NULL ? "" : name);
}

static CUresult kernel_count(unsigned* count, CUlibrary handle) {
  if (count == NULL) return CUDA_ERROR_INVALID_VALUE;
  Library* library = object_find(handle, kKindLibrary);
  if (library == NULL) return CUDA_ERROR_INVALID_HANDLE;
  *count = library->images[0].count;
  return CUDA_SUCCESS;
}

CUresult cuLibraryGetKernelCount(unsigned int* count, CUlibrary library) {
  API(kInit, kernel_count(count, library), "library=%p", (void*)library);
}

static Module* module_new(Context* context, Library* library, bool own) {
  Module* module = object_new(kKindModule, sizeof(*module));
  module->context = context;
  module->library = library;
  module->own = own;
  return module;
}

static CUresult get_module(CUmodule* out, CUlibrary handle) {
  if (out == NULL) return CUDA_ERROR_INVALID_VALUE;
  Library* library = object_find(handle, kKindLibrary);
  if (library == NULL) return CUDA_ERROR_INVALID_HANDLE;
  Context* context;
  CUresult result = context_current(&context);
  if (result == CUDA_SUCCESS) *out = HANDLE(CUmodule, module_new(context, library, false));
  return result;
}

CUresult cuLibraryGetModule(CUmodule* out, CUlibrary library) {
  API(kContext, get_module(out, library), "library=%p", (void*)library);
}

static CUresult module_load(CUmodule* out, const void* code) {
  Context* context;
  Library* library;
  if (out == NULL) return CUDA_ERROR_INVALID_VALUE;
  CUresult result = context_current(&context);
  if (result == CUDA_SUCCESS) result = library_load(code, &library);
  if (result != CUDA_SUCCESS) return result;
  bool runs = false;
  for (unsigned i = 0; i < library->image_count; ++i) {
    runs = runs || image_runs_on(&library->images[i], context->device);
  }
  library->object.kind = kKindCode;
  if (!runs) return CUDA_ERROR_NO_BINARY_FOR_GPU;
  *out = HANDLE(CUmodule, module_new(context, library, true));
  return CUDA_SUCCESS;
}

CUresult cuModuleLoadData(CUmodule* out, const void* code) {
  API(kContext | kUnsafe, module_load(out, code), "code=%p", code);
}

CUresult cuModuleLoadFatBinary(CUmodule* out, const void* code) {
  API(kContext | kUnsafe, module_load(out, code), "code=%p", code);
}

CUresult cuModuleLoadDataEx(CUmodule* out, const void* code, unsigned int count,
                            CUjit_option* options, void** values) {
  bool right = count == 0 || (options != NULL && values != NULL);
  API(kContext | kUnsafe, right ? module_load(out, code) : CUDA_ERROR_INVALID_VALUE,
      "code=%p options=%u", code, count);
}

static CUresult module_unload(CUmodule handle) {
  Module* module = object_find(handle, kKindModule);
  if (module == NULL) return CUDA_ERROR_INVALID_HANDLE;
  if (!module->own) return CUDA_ERROR_NOT_PERMITTED;
  library_end(module->library);
  return CUDA_SUCCESS;
}

CUresult cuModuleUnload(CUmodule module) {
  API(kContext | kUnsafe, module_unload(module), "module=%p", (void*)module);
}
