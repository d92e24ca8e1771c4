/* An allocator for functions that return tensors: call set_allocator once in each thread. */
#include <stdlib.h>
#include <string.h>
#include <tvm/ffi/extra/c_env_api.h>

static void release(DLManagedTensorVersioned *self) {
  free(self->dl_tensor.data);
  free(self);
}

static int allocate(DLTensor *prototype, DLManagedTensorVersioned **out, void *error_ctx,
                    void (*SetError)(void *error_ctx, const char *kind, const char *message)) {
  size_t ndim = prototype->ndim, bytes = (prototype->dtype.bits * prototype->dtype.lanes + 7) / 8;
  DLManagedTensorVersioned *made = calloc(1, sizeof *made + 2 * ndim * sizeof(int64_t));
  if (made != NULL) {
    int64_t *shape = (int64_t *)(made + 1), *strides = shape + ndim;
    for (size_t i = ndim; i-- > 0;) {
      shape[i] = prototype->shape[i];
      strides[i] = i + 1 == ndim ? 1 : strides[i + 1] * shape[i + 1];
      bytes *= shape[i];
    }
    made->version = (DLPackVersion){DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
    made->deleter = release;
    made->dl_tensor = *prototype;
    made->dl_tensor.shape = shape;
    made->dl_tensor.strides = strides;
    made->dl_tensor.data = aligned_alloc(64, (bytes + 64) / 64 * 64);
  }
  if (made == NULL || made->dl_tensor.data == NULL) {
    free(made);
    SetError(error_ctx, "MemoryError", "no memory for the result");
    return -1;
  }
  *out = made;
  return 0;
}

int set_allocator(void) { return TVMFFIEnvSetDLPackManagedTensorAllocator(allocate, 0, NULL); }
