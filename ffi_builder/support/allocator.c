// A DLPackManagedTensorAllocator for the CPU, which `runtime.install_allocator` installs. A tensor
// is one block, so that libc's free is the deleter:
//
//     | DLManagedTensorVersioned | shape | strides | data, at a multiple of 64 |

#include "tensors.h"

// A cache line, and the widest vectors of x86-64.
enum { DATA_ALIGNMENT = 64 };

int32_t SHARED(allocate)(const DLTensor *wanted, DLManagedTensorVersioned **out, void *context,
                         void (*set_error)(void *, const char *, const char *)) {
  if (wanted->device.device_type != kDLCPU) {
    set_error(context, "RuntimeError",
              "install_allocator() allocates on the CPU alone; the result is on another device");
    return -1;
  }
  uint64_t bits = bits_of(wanted);
  bool too_large = false;
  for (int32_t i = 0; i < wanted->ndim; ++i) {
    too_large |= __builtin_mul_overflow(bits, (uint64_t)wanted->shape[i], &bits);
    // For an empty tensor the product is 0, whatever it was before.
    too_large &= wanted->shape[i] != 0;
  }
  const size_t ndim = (size_t)wanted->ndim;
  const size_t used = sizeof(DLManagedTensorVersioned) + 2 * ndim * sizeof(int64_t);
  const size_t head = (used + DATA_ALIGNMENT - 1) / DATA_ALIGNMENT * DATA_ALIGNMENT;
  const uint64_t data = ((bits + 7) / 8 + DATA_ALIGNMENT - 1) / DATA_ALIGNMENT * DATA_ALIGNMENT;
  const bool fits = !too_large && bits <= (uint64_t)1 << 62;
  char *block = fits ? aligned_alloc(DATA_ALIGNMENT, head + data) : NULL;
  if (block == NULL) {
    set_error(context, "MemoryError", "the result has more bytes than can be allocated");
    return -1;
  }
  DLManagedTensorVersioned *made = (void *)block;
  int64_t *shape = (int64_t *)(made + 1), *strides = shape + ndim;
  int64_t stride = 1;
  for (size_t i = ndim; i-- > 0; stride *= shape[i]) {
    shape[i] = wanted->shape[i];
    strides[i] = stride;
  }
  *made = (DLManagedTensorVersioned){.version = {1, 0},
                                     .deleter = (void (*)(DLManagedTensorVersioned *))free,
                                     .dl_tensor = *wanted};
  made->dl_tensor.data = block + head;
  made->dl_tensor.shape = shape;
  made->dl_tensor.strides = strides;
  made->dl_tensor.byte_offset = 0;
  *out = made;
  return 0;
}
