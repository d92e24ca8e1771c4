/* Allocates the tensors that functions return: a DLPackManagedTensorAllocator for the CPU.
 *
 * A tensor is one block, so that libc's free is the deleter:
 *
 *     | DLManagedTensorVersioned | shape | strides | data, at a multiple of 64 |
 *
 * runtime/python/allocator.py does the same in Python, for processes without the extension.
 */
#ifndef FFI_BUILDER_ENTRY_ALLOCATOR_H
#define FFI_BUILDER_ENTRY_ALLOCATOR_H

#include <stdlib.h>

#include "_abi.h"

/* DLManagedTensorVersioned */
typedef struct {
    uint32_t major;
    uint32_t minor;
    void *context;
    void (*deleter)(void *);
    uint64_t flags;
    Tensor tensor;
} ManagedTensor;

typedef void (*SetError)(void *context, const char *kind, const char *message);

enum { ALIGNMENT = 64 };
#define MOST_BITS ((uint64_t)1 << 62)

static int allocate(const Tensor *wanted, ManagedTensor **out, void *context, SetError set_error)
{
    if (wanted->device_type != DEVICE_CPU) {
        set_error(context, "RuntimeError",
                  "install_allocator() allocates on the CPU alone; the result is on another device");
        return -1;
    }
    uint64_t bits = (uint64_t)wanted->dtype.bits * wanted->dtype.lanes;
    int too_large = 0;
    for (int i = 0; i < wanted->ndim; i++) {
        too_large |= __builtin_mul_overflow(bits, (uint64_t)wanted->shape[i], &bits);
        /* For an empty tensor the product is 0, whatever it was before. */
        if (wanted->shape[i] == 0) too_large = 0;
    }
    size_t arrays = (size_t)wanted->ndim * 2 * sizeof(int64_t);
    size_t head = (sizeof(ManagedTensor) + arrays + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    void *block;
    if (too_large || bits > MOST_BITS ||
        posix_memalign(&block, ALIGNMENT, head + (bits + 7) / 8) != 0) {
        set_error(context, "MemoryError", "the result has more bytes than can be allocated");
        return -1;
    }
    ManagedTensor *made = block;
    int64_t *shape = (int64_t *)(made + 1), *strides = shape + wanted->ndim;
    uint64_t stride = 1;
    for (int i = wanted->ndim; i-- > 0; stride *= (uint64_t)shape[i]) {
        shape[i] = wanted->shape[i];
        strides[i] = (int64_t)stride;
    }
    *made = (ManagedTensor){.major = 1, .deleter = free, .tensor = *wanted};
    made->tensor.data = (char *)block + head;
    made->tensor.shape = shape;
    made->tensor.strides = strides;
    made->tensor.byte_offset = 0;
    *out = made;
    return 0;
}

#endif
