/* Reading what a library is loaded from: a cubin, PTX text, or a fatbin of several of them.
 *
 * A fatbin is a header of 16 bytes (magic, version, header size, size of all entries), and entries
 * with a header of at least 64 bytes, as nvFatbin writes them. An entry that is compressed is left
 * out: nvFatbin compresses PTX, and cubins only when asked. */
#include <stdlib.h>
#include <string.h>

#include "fake.h"

typedef struct FatHeader {
  uint32_t magic;
  uint16_t version, header_size;
  uint64_t size;
} FatHeader;

typedef struct FatEntry {
  uint16_t kind, version;
  uint32_t header_size;
  uint64_t size;
  uint32_t compressed_size, options, ptx, sm, name_offset, name_size;
  uint64_t flags, reserved, plain_size;
} FatEntry;

/* What a host object has instead: nvcc's registration code points to the fatbin. */
typedef struct FatWrapper {
  uint32_t magic, version;
  const void* data;
  const void* names;
} FatWrapper;

enum { kFatMagic = 0xBA55ED50, kWrapperMagic = 0x466243B1, kFatPtx = 1, kFatElf = 2 };

_Static_assert(sizeof(FatHeader) == 16 && sizeof(FatEntry) == 64, "the layout of fatbins");

KernelInfo* image_kernel(Image* image, const char* name, size_t length) {
  for (unsigned i = 0; i < image->count; ++i) {
    KernelInfo* kernel = &image->kernels[i];
    if (strlen(kernel->name) == length && memcmp(kernel->name, name, length) == 0) return kernel;
  }
  image->kernels = must(realloc(image->kernels, (image->count + 1) * sizeof(KernelInfo)));
  KernelInfo* kernel = &image->kernels[image->count++];
  memset(kernel, 0, sizeof(*kernel));
  kernel->name = must(strndup(name, length));
  return kernel;
}

void image_global(Image* image, const char* name, size_t length, size_t size, const void* bytes) {
  image->globals = must(realloc(image->globals, (image->global_count + 1) * sizeof(GlobalInfo)));
  void* copy = bytes == NULL ? NULL : memcpy(must(malloc(size)), bytes, size);
  image->globals[image->global_count++] = (GlobalInfo){must(strndup(name, length)), size, copy};
}

static CUresult fat_read(const unsigned char* code, unsigned* count, Image** images) {
  FatHeader header;
  memcpy(&header, code, sizeof(header));
  if (header.header_size < sizeof(header) ||
      !readable(code, header.header_size + header.size)) {
    return CUDA_ERROR_INVALID_IMAGE;
  }
  const unsigned char* at = code + header.header_size;
  const unsigned char* end = at + header.size;
  while ((size_t)(end - at) >= sizeof(FatEntry)) {
    FatEntry entry;
    memcpy(&entry, at, sizeof(entry));
    uint64_t left = (uint64_t)(end - at);
    if (entry.header_size < sizeof(entry) || entry.header_size > left ||
        entry.size > left - entry.header_size) {
      return CUDA_ERROR_INVALID_IMAGE;
    }
    const unsigned char* data = at + entry.header_size;
    at = data + entry.size;
    if (entry.compressed_size != 0) continue;
    Image image = {0};
    CUresult result = entry.kind == kFatElf   ? elf_read(data, &image)
                      : entry.kind == kFatPtx ? ptx_read((const char*)data, &image)
                                              : CUDA_ERROR_NOT_FOUND;
    if (result == CUDA_ERROR_NOT_FOUND) continue;
    if (result != CUDA_SUCCESS) return result;
    *images = must(realloc(*images, (*count + 1) * sizeof(Image)));
    (*images)[(*count)++] = image;
  }
  return *count == 0 ? CUDA_ERROR_NO_BINARY_FOR_GPU : CUDA_SUCCESS;
}

CUresult image_read(const void* code, unsigned* count, Image** images) {
  uint32_t magic;
  *count = 0;
  *images = NULL;
  if (code == NULL) return CUDA_ERROR_INVALID_VALUE;
  if (!readable(code, 1)) {
    violation("image-memory", "the image at %p cannot be read", code);
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (readable(code, sizeof(FatHeader))) {
    memcpy(&magic, code, sizeof(magic));
    if (magic == kWrapperMagic && readable(code, sizeof(FatWrapper))) {
      code = ((const FatWrapper*)code)->data;
      if (!readable(code, sizeof(FatHeader))) return CUDA_ERROR_INVALID_IMAGE;
      memcpy(&magic, code, sizeof(magic));
    }
    if (magic == kFatMagic) return fat_read(code, count, images);
  }
  Image image = {0};
  CUresult result = *(const char*)code == 0x7F ? elf_read(code, &image) : ptx_read(code, &image);
  if (result != CUDA_SUCCESS) return result;
  *images = must(malloc(sizeof(Image)));
  **images = image;
  *count = 1;
  return CUDA_SUCCESS;
}

bool image_runs_on(const Image* image, int device) {
  int major = device_attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  int minor = device_attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  int sm = 10 * major + minor;
  if (image->exact) return image->sm == sm;
  /* PTX is compiled for any later device; a cubin runs on the same or a later minor revision. */
  if (image->ptx != 0 && !image->family) return image->sm <= sm;
  return image->sm / 10 == major && image->sm % 10 <= minor;
}
