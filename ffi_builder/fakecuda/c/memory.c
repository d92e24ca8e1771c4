/* Memory of the devices: host memory, mapped at two addresses. At the one that callers get it can be
 * touched only with host_access; the fake and emulated kernels use the other one. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fake.h"

typedef struct Block {
  uintptr_t address;
  char* host;
  size_t size, mapped, begin, end; /* from begin to end is what executed kernels may touch */
  int device;
  Context* context; /* NULL: made by fake_allocate, and only freed by fake_free */
  const Library* library; /* NULL: not a global of a library */
  const char* name;
  bool ready; /* whoever executes PTX has asked for it, and written its initial value */
  uint64_t id;
  struct Block* next;
} Block;

enum { kPage = 4096 };

static Block* blocks;
static const size_t kTotal = (size_t)141 << 30;

static Block* find(uint64_t address) {
  for (Block* block = blocks; block != NULL; block = block->next) {
    if (address >= block->address && address - block->address < block->size) return block;
  }
  return NULL;
}

/* With a page behind it that nobody may touch. */
static Block* allocate(int device, Context* context, size_t size) {
  static uint64_t ids;
  if (size > kTotal) return NULL;
  size_t mapped = (size + kPage - 1) / kPage * kPage;
  int file = memfd_create("fake device memory", MFD_CLOEXEC);
  if (file < 0) return NULL;
  char* host = MAP_FAILED;
  char* address = MAP_FAILED;
  if (ftruncate(file, (off_t)mapped) == 0) {
    host = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    address = mmap(NULL, mapped + kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
  int access = driver.host_access ? PROT_READ | PROT_WRITE : PROT_NONE;
  if (address != MAP_FAILED) mmap(address, mapped, access, MAP_SHARED | MAP_FIXED, file, 0);
  close(file);
  if (host == MAP_FAILED || address == MAP_FAILED) return NULL;
  Block* block = must(malloc(sizeof(*block)));
  *block = (Block){.address = (uintptr_t)address, .host = host, .size = size, .mapped = mapped, .end = size,
                   .device = device, .context = context, .id = ++ids, .next = blocks};
  return blocks = block;
}

static void release(Block* block) {
  Block** link = &blocks;
  while (*link != block) link = &(*link)->next;
  *link = block->next;
  munmap(block->host, block->mapped);
  munmap((void*)block->address, block->mapped + kPage);
  free(block);
}

/* What a context has allocated, or with NULL all contexts. */
static void release_of(const Context* context) {
  for (Block* block = blocks; block != NULL;) {
    Block* next = block->next;
    if (context == NULL ? block->context != NULL : block->context == context) release(block);
    block = next;
  }
}

void memory_end_globals(const Library* library) {
  for (Block* block = blocks; block != NULL;) {
    Block* next = block->next;
    if (block->library == library) release(block);
    block = next;
  }
}

uint64_t memory_global(Context* context, const Library* library, const GlobalInfo* info) {
  for (const Block* block = blocks; block != NULL; block = block->next) {
    if (block->library == library && block->context == context &&
        strcmp(block->name, info->name) == 0) {
      return block->address;
    }
  }
  Block* block = allocate(context->device, context, info->size);
  if (block == NULL) return 0;
  block->library = library;
  block->name = info->name;
  if (info->bytes != NULL) memcpy(block->host, info->bytes, info->size);
  return block->address;
}

uint64_t fake_global(uint64_t context, uint64_t library, const char* name, size_t size, int* fresh) {
  lock();
  Context* owner = object_find((const void*)(uintptr_t)context, kKindContext);
  Object* code = object_of((const void*)(uintptr_t)library);
  uint64_t address = 0;
  if (owner != NULL && code != NULL && size > 0 && size <= kTotal) {
    const Block* before = blocks;
    const GlobalInfo info = {must(strdup(name)), size, NULL};
    address = memory_global(owner, (Library*)code, &info);
    if (blocks == before) free(info.name); /* otherwise the block keeps it */
    Block* block = find(address);
    *fresh = block != NULL && !block->ready;
    if (block != NULL) block->ready = true;
  }
  unlock();
  return address;
}

static int by_address(const void* a, const void* b) {
  uint64_t first = ((const FakeExtent*)a)->address, second = ((const FakeExtent*)b)->address;
  return first < second ? -1 : first > second;
}

size_t fake_extents(int device, FakeExtent* to, size_t room) {
  size_t count = 0;
  for (const Block* block = blocks; block != NULL; block = block->next) {
    if (block->device != device) continue;
    if (count < room) {
      to[count] = (FakeExtent){block->address + block->begin, block->end - block->begin,
                               block->host + block->begin};
    }
    ++count;
  }
  if (count <= room) qsort(to, count, sizeof(*to), by_address);
  return count;
}

void fake_lock(void) { lock(); }
void fake_unlock(void) { unlock(); }

void memory_clear(void) { release_of(NULL); }

void memory_end(const Context* context) { release_of(context); }

unsigned memory_live(void) {
  unsigned count = 0;
  for (const Block* block = blocks; block != NULL; block = block->next) {
    count += block->context != NULL && block->library == NULL;
  }
  return count;
}

uint64_t fake_allocate(int device, size_t size) {
  lock();
  Block* block = size == 0 ? NULL : allocate(device, NULL, size);
  uint64_t address = block == NULL ? 0 : block->address;
  unlock();
  return address;
}

size_t fake_extent(uint64_t address, int device) {
  lock();
  const Block* block = find(address);
  bool found = block != NULL && (device < 0 || block->device == device);
  size_t extent = found ? block->size - (address - block->address) : 0;
  unlock();
  return extent;
}

void fake_free(uint64_t address) {
  lock();
  Block* block = find(address);
  if (block != NULL) release(block);
  unlock();
}

void fake_limit(uint64_t address, size_t begin, size_t end) {
  lock();
  Block* block = find(address);
  if (block != NULL && begin <= end && end <= block->size) {
    block->begin = begin;
    block->end = end;
  }
  unlock();
}

static char* host_of(uint64_t address, size_t size, int device) {
  const Block* block = find(address);
  if (block == NULL || (device >= 0 && block->device != device)) return NULL;
  uint64_t offset = address - block->address;
  return size > block->size - offset ? NULL : block->host + offset;
}

void* fake_host(uint64_t address, size_t size, int device) {
  lock();
  char* host = host_of(address, size, device);
  unlock();
  return host;
}

static CUresult alloc(CUdeviceptr* out, size_t size) {
  Context* context;
  if (out == NULL || size == 0) return CUDA_ERROR_INVALID_VALUE;
  CUresult result = context_current(&context);
  if (result != CUDA_SUCCESS) return result;
  const Block* block = allocate(context->device, context, size);
  if (block == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
  *out = block->address;
  return CUDA_SUCCESS;
}

CUresult cuMemAlloc(CUdeviceptr* out, size_t size) {
  API(kContext | kUnsafe, alloc(out, size), "size=%zu", size);
}

static CUresult free_memory(CUdeviceptr address) {
  if (address == 0) return CUDA_SUCCESS;
  Block* block = find(address);
  if (block == NULL || block->address != address || block->context == NULL ||
      block->library != NULL) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  release(block);
  return CUDA_SUCCESS;
}

CUresult cuMemFree(CUdeviceptr address) {
  API(kContext | kUnsafe, free_memory(address), "address=%llu", address);
}

/* Either end may be memory of a device or of the host. */
static CUresult copy(uint64_t to, uint64_t from, size_t size, bool to_device, bool from_device) {
  if (size == 0) return CUDA_SUCCESS;
  char* target = to_device ? host_of(to, size, -1) : (char*)(uintptr_t)to;
  const char* source = from_device ? host_of(from, size, -1) : (const char*)(uintptr_t)from;
  if (target == NULL || source == NULL) return CUDA_ERROR_INVALID_VALUE;
  memmove(target, source, size);
  return CUDA_SUCCESS;
}

/* Copies that are not given a stream go through the legacy one. */
static CUresult copy_now(uint64_t to, uint64_t from, size_t size, bool to_device,
                         bool from_device) {
  Context* context;
  CUresult result = context_current(&context);
  if (result == CUDA_SUCCESS) result = capture_forbids_legacy(context);
  return result == CUDA_SUCCESS ? copy(to, from, size, to_device, from_device) : result;
}

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t size) {
  API(kContext, copy_now(to, from, size, find(to) != NULL, find(from) != NULL),
      "to=%llu from=%llu size=%zu", to, from, size);
}

CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, size_t size) {
  API(kContext, copy_now(to, (uintptr_t)from, size, true, false), "to=%llu from=%p size=%zu", to,
      from, size);
}

CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, size_t size) {
  API(kContext, copy_now((uintptr_t)to, from, size, false, true), "to=%p from=%llu size=%zu", to,
      from, size);
}

CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t size) {
  API(kContext, copy_now(to, from, size, true, true), "to=%llu from=%llu size=%zu", to, from, size);
}

static CUresult copy_in(CUstream stream, uint64_t to, uint64_t from, size_t size, bool to_device) {
  Where where;
  CUresult result = stream_resolve(stream, false, &where);
  if (result != CUDA_SUCCESS) return result;
  if (where.stream == NULL) result = capture_forbids_legacy(where.context);
  else if (where.stream->capture != NULL) result = CUDA_ERROR_NOT_SUPPORTED; /* the fake has no copy nodes */
  return result == CUDA_SUCCESS ? copy(to, from, size, to_device, !to_device) : result;
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, size_t size, CUstream stream) {
  API(kInit, copy_in(stream, to, (uintptr_t)from, size, true), "to=%llu from=%p size=%zu stream=%p",
      to, from, size, (void*)stream);
}

CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, size_t size, CUstream stream) {
  API(kInit, copy_in(stream, (uintptr_t)to, from, size, false), "to=%p from=%llu size=%zu stream=%p",
      to, from, size, (void*)stream);
}

static CUresult set(CUdeviceptr address, unsigned char value, size_t count) {
  Context* context;
  CUresult result = context_current(&context);
  if (result == CUDA_SUCCESS) result = capture_forbids_legacy(context);
  if (result != CUDA_SUCCESS || count == 0) return result;
  char* host = host_of(address, count, -1);
  if (host == NULL) return CUDA_ERROR_INVALID_VALUE;
  memset(host, value, count);
  return CUDA_SUCCESS;
}

CUresult cuMemsetD8(CUdeviceptr address, unsigned char value, size_t count) {
  API(kContext, set(address, value, count), "address=%llu value=%u count=%zu", address, value,
      count);
}

static CUresult set_in(CUstream stream, CUdeviceptr address, unsigned char value, size_t count) {
  Where where;
  CUresult result = stream_resolve(stream, false, &where);
  if (result != CUDA_SUCCESS) return result;
  if (where.stream == NULL) result = capture_forbids_legacy(where.context);
  else if (where.stream->capture != NULL) result = CUDA_ERROR_NOT_SUPPORTED; /* the fake has no memset nodes */
  if (result != CUDA_SUCCESS || count == 0) return result;
  char* host = host_of(address, count, where.context->device);
  if (host == NULL) return CUDA_ERROR_INVALID_VALUE;
  memset(host, value, count);
  return CUDA_SUCCESS;
}

CUresult cuMemsetD8Async(CUdeviceptr address, unsigned char value, size_t count, CUstream stream) {
  API(kContext, set_in(stream, address, value, count), "address=%llu value=%u count=%zu stream=%p",
      address, value, count, (void*)stream);
}

static CUresult info(size_t* free_bytes, size_t* total) {
  if (free_bytes == NULL || total == NULL) return CUDA_ERROR_INVALID_VALUE;
  *free_bytes = *total = kTotal;
  for (const Block* block = blocks; block != NULL; block = block->next) *free_bytes -= block->size;
  return CUDA_SUCCESS;
}

CUresult cuMemGetInfo(size_t* free_bytes, size_t* total) {
  API(kContext, info(free_bytes, total), "-");
}

static CUresult pointer_attribute(void* data, int attribute, CUdeviceptr address) {
  const Block* block = find(address);
  if (data == NULL || block == NULL) return CUDA_ERROR_INVALID_VALUE;
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      *(CUcontext*)data = block->context == NULL ? NULL : HANDLE(CUcontext, block->context);
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      *(unsigned*)data = CU_MEMORYTYPE_DEVICE;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      *(CUdeviceptr*)data = address;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
      *(unsigned long long*)data = block->id;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      *(int*)data = block->device;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      *(CUdeviceptr*)data = block->address;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      *(size_t*)data = block->size;
      return CUDA_SUCCESS;
    default: /* there is no pointer for the host, and the rest is left out */
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult cuPointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr address) {
  API(kInit, pointer_attribute(data, (int)attribute, address), "attribute=%d address=%llu",
      (int)attribute, address);
}
