/* Reading what a module is loaded from: a code object, or a bundle of several that is not compressed.
 *
 * A bundle begins with __CLANG_OFFLOAD_BUNDLE__ and a number of entries: offset, size, the size of
 * the name, the name, such as hipv4-amdgcn-amd-amdhsa--gfx942. What is there for the host has size 0. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hip.h"

static const char kMagic[] = "__CLANG_OFFLOAD_BUNDLE__";
static const char kCompressed[] = "CCOB";

KernelInfo* image_kernel(Image* image, const char* name, size_t length) {
  image->kernels = must(realloc(image->kernels, (image->count + 1) * sizeof(KernelInfo)));
  KernelInfo* kernel = &image->kernels[image->count++];
  memset(kernel, 0, sizeof(*kernel));
  kernel->name = must(strndup(name, length));
  return kernel;
}

static uint64_t number(const unsigned char* at) {
  uint64_t value;
  memcpy(&value, at, sizeof(value));
  return value;
}

static CUresult add(const unsigned char* code, unsigned* count, Image** images) {
  Image image = {0};
  CUresult result = elf_read(code, &image);
  if (result != CUDA_SUCCESS) return result;
  *images = must(realloc(*images, (*count + 1) * sizeof(Image)));
  (*images)[(*count)++] = image;
  return CUDA_SUCCESS;
}

static CUresult read_bundle(const unsigned char* code, unsigned* count, Image** images) {
  enum { kEntry = 24, kMostEntries = 64, kMostName = 256 };
  const unsigned char* at = code + sizeof(kMagic) - 1;
  uint64_t entries = number(at);
  at += 8;
  if (entries > kMostEntries) return CUDA_ERROR_INVALID_IMAGE;
  for (uint64_t i = 0; i < entries; ++i) {
    if (!readable(at, kEntry)) return CUDA_ERROR_INVALID_IMAGE;
    uint64_t offset = number(at), size = number(at + 8), length = number(at + 16);
    if (length > kMostName || !readable(at + kEntry, length)) return CUDA_ERROR_INVALID_IMAGE;
    at += kEntry + length;
    if (size == 0) continue;
    if (!readable(code + offset, size)) return CUDA_ERROR_INVALID_IMAGE;
    CUresult result = add(code + offset, count, images);
    if (result != CUDA_SUCCESS) return result;
  }
  return *count == 0 ? CUDA_ERROR_NO_BINARY_FOR_GPU : CUDA_SUCCESS;
}

CUresult image_read(const void* code, unsigned* count, Image** images) {
  *count = 0;
  *images = NULL;
  if (code == NULL) return CUDA_ERROR_INVALID_VALUE;
  if (!readable(code, sizeof(kMagic) + 8)) {
    violation("image-memory", "the image at %p cannot be read", code);
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (memcmp(code, kMagic, sizeof(kMagic) - 1) == 0) return read_bundle(code, count, images);
  if (memcmp(code, kCompressed, sizeof(kCompressed) - 1) == 0) {
    return explain(CUDA_ERROR_INVALID_IMAGE,
                   "the bundle is compressed, which HIP reads and FakeHip does not: give it code "
                   "objects, or a bundle made without --offload-compress");
  }
  return add(code, count, images);
}

/* What an image needs, as "gfx90a:xnack+", and what the device has. A setting that the image does
 * not name may be any. */
bool image_runs_on(const Image* image, int device) {
  const char* has = hip_target(device);
  size_t length = strcspn(image->target, ":");
  if (strncmp(image->target, has, length) != 0 || (has[length] != '\0' && has[length] != ':')) {
    return false;
  }
  for (const char* at = image->target + length; *at == ':';) {
    size_t size = 1 + strcspn(at + 1, ":");
    char opposite[kTargetName];
    snprintf(opposite, sizeof(opposite), "%.*s", (int)size, at);
    opposite[size - 1] = at[size - 1] == '+' ? '-' : '+';
    if (strstr(has, opposite) != NULL) return false;
    at += size;
  }
  return true;
}
