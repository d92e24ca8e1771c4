/* Borrowed reads of arrays: the parts that a kernel needs, without a Python object or a reference.
 *
 * Each `read_…` returns 1, or 0 in any doubt, with no Python error set: the call then goes to the
 * general function. Shapes and strides are copied, since another thread may change those of an
 * array while a kernel runs without the GIL.
 */
#ifndef FFI_BUILDER_ENTRY_ARRAYS_H
#define FFI_BUILDER_ENTRY_ARRAYS_H

#include "_abi.h"

enum { MAX_ARGS = 32, MAX_NDIM = 64, MAX_EXCHANGE = 8, MAX_DTYPES = 64, MAX_VIEWS = 8 };
enum { MOST_SPACE = 4096, MAX_HELD = 32 };

/* One call: the memory that its arguments need, on the stack unless it is much. */
typedef struct {
    Any args[MAX_ARGS];
    PyObject *written[MAX_ARGS]; /* torch tensors that may be written, of the caller or `held` */
    void *strings[MAX_ARGS];     /* objects of strs and bytes, owned */
    ByteArray bytes[MAX_ARGS];   /* of bytes objects, by the number of the argument */
    Py_buffer views[MAX_VIEWS];  /* of objects with the buffer protocol, to be released */
    uint64_t space[MOST_SPACE / 8]; /* of tensors, and of what is in lists */
    PyObject *held[MAX_HELD];       /* tuples of it, and bytes whose memory is more space */
    int written_count, string_count, view_count, held_count;
    char *block; /* the space that `take` is at */
    size_t block_size, taken;
    int grad_mode;  /* -1: not asked yet */
    int watched;    /* whether a mode or a trace of torch is on; -1: not asked yet */
    int has_arrays; /* whether `passes` has seen arrays of NumPy or torch */
    int32_t device_type, device_id;
    void *stream;
    int has_stream; /* whether the first argument that is not on the CPU set the stream */
} Call;

/* Hold an object that was made until the call returns. Return 0 if it was not. */
static int hold_made(PyObject *made, Call *call)
{
    if (made == NULL) PyErr_Clear();
    else call->held[call->held_count++] = made;
    return made != NULL;
}

/* Make a block that `size` bytes fit in. Return 0 if there is no memory for it. */
static __attribute__((noinline)) int add_block(size_t size, Call *call)
{
    if (call->held_count == MAX_HELD) return 0;
    int doubled = call->held_count < 10 ? call->held_count : 10;
    call->block_size = size + ((size_t)MOST_SPACE << doubled);
    PyObject *made = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)call->block_size);
    if (!hold_made(made, call)) return 0;
    call->block = PyBytes_AsString(made);
    call->taken = 0;
    return 1;
}

/* Memory until the call returns, or NULL. */
static inline void *take(size_t size, Call *call)
{
    if (size > call->block_size - call->taken && !add_block(size, call)) return NULL;
    call->taken += size;
    return call->block + call->taken - size;
}

/* A new tensor on the CPU, with room for `ndim` dimensions and strides, or NULL. */
static inline Tensor *new_tensor(Call *call, int64_t ndim)
{
    if (ndim < 0 || ndim > MAX_NDIM) return NULL;
    TensorObject *object = take(sizeof *object + 2 * (size_t)ndim * sizeof(int64_t), call);
    if (object == NULL) return NULL;
    Tensor *tensor = &object->tensor;
    tensor->device_type = DEVICE_CPU;
    tensor->device_id = 0;
    tensor->ndim = (int32_t)ndim;
    tensor->shape = object->dims;
    tensor->strides = object->dims + ndim;
    tensor->byte_offset = 0;
    return tensor;
}

static inline int pass_tensor(Tensor *tensor, Any *out)
{
    out->type_index = ANY_DLTENSOR;
    out->small_str_len = 0;
    out->v_ptr = tensor;
    return 1;
}

/* Pass the object around a tensor, since an ffi.Array has no pointers to tensors. */
static inline int pass_around(Any *out)
{
    Object *header = (Object *)out->v_ptr - 1;
    *header = (Object){1, ANY_TENSOR, 0, NULL};
    out->type_index = ANY_TENSOR;
    out->v_ptr = header;
    return 1;
}

#define FIELD(type, object, offset) (*(type *)((char *)(object) + (offset)))

/* ---- NumPy */

/* The offsets of fields in PyArrayObject and PyArray_Descr. They are public since NumPy 1.7, and
 * compared with arrays of known contents before their first use. */
enum {
    NDARRAY_DATA = 16,
    NDARRAY_NDIM = 24,
    NDARRAY_SHAPE = 32,
    NDARRAY_STRIDES = 40,
    NDARRAY_DESCR = 56,
    NDARRAY_FLAGS = 64,
    DESCR_BYTEORDER = 26,
    DESCR_NUMBER = 28,
};
#define NDARRAY_C_CONTIGUOUS 0x1u
#define NDARRAY_ALIGNED 0x100u
#define NDARRAY_WRITEABLE 0x400u
#define NDARRAY_WARN_ON_WRITE 0x80000000u

static struct {
    PyTypeObject *array; /* NULL: not read here */
    DataType dtypes[MAX_DTYPES]; /* by type number */
    int row_major; /* whether its DLPack omits the strides of row-major arrays */
} numpy;

/* Whether an array may be written without a warning of NumPy. */
static inline int is_writable(PyObject *array)
{
    const uint32_t looked_at = NDARRAY_WRITEABLE | NDARRAY_WARN_ON_WRITE;
    return (FIELD(uint32_t, array, NDARRAY_FLAGS) & looked_at) == NDARRAY_WRITEABLE;
}

/* The dtype of an array; its `bits` are 0 if DLPack does not have it. */
static inline DataType dtype_of_ndarray(PyObject *array)
{
    char *descr = FIELD(char *, array, NDARRAY_DESCR);
    uint32_t number = FIELD(uint32_t, descr, DESCR_NUMBER);
    char byteorder = FIELD(char, descr, DESCR_BYTEORDER);
    DataType none = {0};
    int is_native = byteorder == '=' || byteorder == '|';
    return number < MAX_DTYPES && is_native ? numpy.dtypes[number] : none;
}

/* Whether NumPy exports an array. In doubt Python makes the call, and explains NumPy's error. */
static int is_exported(PyObject *array)
{
    DataType dtype = dtype_of_ndarray(array);
    if (dtype.bits == 0) return 0;
    const int64_t *strides = FIELD(int64_t *, array, NDARRAY_STRIDES);
    int32_t ndim = FIELD(int32_t, array, NDARRAY_NDIM);
    for (int32_t i = 0; i < ndim; i++)
        if (strides[i] & (dtype.bits / 8 - 1)) return 0;
    return 1;
}

static int read_ndarray(PyObject *array, Call *call, Any *out, int read_only)
{
    uint32_t flags = FIELD(uint32_t, array, NDARRAY_FLAGS);
    if (!(flags & NDARRAY_ALIGNED) || !(read_only || is_writable(array))) return 0;
    DataType dtype = dtype_of_ndarray(array);
    if (dtype.bits == 0) return 0;
    int32_t ndim = FIELD(int32_t, array, NDARRAY_NDIM);
    Tensor *tensor = new_tensor(call, ndim);
    if (tensor == NULL) return 0;
    const int64_t *shape = FIELD(int64_t *, array, NDARRAY_SHAPE);
    const int64_t *strides = FIELD(int64_t *, array, NDARRAY_STRIDES);
    int shift = __builtin_ctz(dtype.bits) - 3; /* bits are a power of two, at least 8 */
    int64_t within = ((int64_t)1 << shift) - 1;
    for (int32_t i = 0; i < ndim; i++) {
        if (strides[i] & within) return 0;
        tensor->shape[i] = shape[i];
        tensor->strides[i] = strides[i] >> shift;
    }
    if (numpy.row_major && flags & NDARRAY_C_CONTIGUOUS) {
        /* The strides of dimensions of size 1 may be anything, and a signature may name them. */
        int64_t stride = 1;
        for (int32_t i = ndim; i-- > 0; stride *= shape[i]) tensor->strides[i] = stride;
    }
    tensor->data = FIELD(void *, array, NDARRAY_DATA);
    tensor->dtype = dtype;
    return pass_tensor(tensor, out);
}

/* ---- torch */

/* The dispatch keys that a thread adds and leaves out, each set without the usual ones. */
typedef struct {
    uint64_t included, excluded;
} LocalKeys;

/* Where a thread has a variable: the argument of `__tls_get_addr`. */
typedef struct {
    size_t module, offset;
} ThreadLocal;

extern void *__tls_get_addr(ThreadLocal *);

static struct {
    PyTypeObject *tensor, *parameter; /* NULL: not read here */
    /* Offsets found by comparing tensors of known contents. */
    Py_ssize_t impl;        /* in the Python object: the at::Tensor, which is one pointer */
    Py_ssize_t keys;        /* in the TensorImpl: the dispatch keys */
    Py_ssize_t autograd;    /* in the TensorImpl: the autograd metadata, or NULL */
    Py_ssize_t tangent;     /* in the autograd metadata: forward-mode AD's part, or NULL */
    Py_ssize_t counter;     /* in the TensorImpl: the version counter, or NULL */
    Py_ssize_t version;     /* in the version counter */
    uint64_t allowed_keys, needed_keys, cpu_key;
    uint64_t watching_keys; /* one is included while a mode or a trace is on */
    ThreadLocal local_keys; /* LocalKeys */
    const ExchangeApi *api;
    DataType dtypes[MAX_DTYPES]; /* by c10::ScalarType */
    /* torch's C shim; the handle is an at::Tensor *. */
    int (*get_data_ptr)(void *, void **);
    int (*get_dim)(void *, int64_t *);
    int (*get_sizes)(void *, int64_t **);
    int (*get_strides)(void *, int64_t **);
    int (*get_dtype)(void *, int32_t *);
    int (*get_device_type)(void *, int32_t *);
    int (*get_device_index)(void *, int32_t *);
    _Bool (*grad_mode_is_enabled)(void);
    _Bool (*requires_grad)(const void *impl); /* c10::TensorImpl::requires_grad() const */
    /* c10::TensorImpl::_fw_grad(uint64_t, const at::TensorBase &) const, and its result for a
     * tensor without a tangent. */
    void *const *(*forward_gradient)(const void *impl, uint64_t level, const void *handle);
    const void *undefined;
} torch;

enum { TORCH_CUDA = 1 };

/* The dispatch keys of this thread. torch's functions that tell what is in them take longer. */
static inline const LocalKeys *local_keys(void) { return __tls_get_addr(&torch.local_keys); }

/* Whether a mode or a trace of torch is on, which may record a graph. */
static inline int is_watched(void) { return (local_keys()->included & torch.watching_keys) != 0; }

/* Whether autograd may ignore a tensor: it needs no gradient now, and has no tangent. */
static int without_gradient(const void *const *handle, Call *call)
{
    const void *impl = *handle, *meta = FIELD(void *, impl, torch.autograd);
    if (meta == NULL) return 1;
    if (FIELD(void *, meta, torch.tangent) != NULL) return 0;
    /* A view takes the tangent of its base only when it is asked for its tangent. */
    if (*torch.forward_gradient(impl, 0, handle) != torch.undefined) return 0;
    if (call->grad_mode < 0) call->grad_mode = torch.grad_mode_is_enabled();
    return !call->grad_mode || !torch.requires_grad(impl);
}

/* Record the stream of the first argument's device that is not the CPU, as tvm-ffi does. */
static int note_stream(Call *call, const ExchangeApi *api, int32_t device_type, int32_t device_id)
{
    if (call->has_stream) return 1;
    if (api == NULL || api->current_stream == NULL) return 0;
    if (api->current_stream(device_type, device_id, &call->stream) != 0) {
        PyErr_Clear();
        return 0;
    }
    call->device_type = device_type;
    call->device_id = device_id;
    call->has_stream = 1;
    return 1;
}

/* Whether a tensor is strided memory, and neither autograd nor a trace looks at it now. */
static int is_plain_torch(PyObject *object, Call *call)
{
    char *impl = FIELD(char *, object, torch.impl);
    if (impl == NULL) return 0;
    if (call->watched < 0) call->watched = is_watched();
    if (call->watched) return 0;
    /* Conjugate and negative views, sparse and mkldnn layouts, wrappers of functorch and of
     * functionalization, and modes of subclasses all have a key that a plain tensor lacks. */
    uint64_t keys = FIELD(uint64_t, impl, torch.keys);
    if ((keys & ~torch.allowed_keys) || (keys & torch.needed_keys) != torch.needed_keys) return 0;
    return without_gradient(&FIELD(const void *, object, torch.impl), call);
}

static int read_torch(PyObject *object, Call *call, Any *out, int read_only)
{
    if (!is_plain_torch(object, call)) return 0;
    void *handle = &FIELD(void *, object, torch.impl);
    int64_t ndim, *shape, *strides;
    int32_t dtype, device_type;
    void *data;
    int failed = torch.get_dim(handle, &ndim);
    failed |= torch.get_dtype(handle, &dtype);
    if (failed || (uint32_t)dtype >= MAX_DTYPES || torch.dtypes[dtype].bits == 0) return 0;
    Tensor *tensor = new_tensor(call, ndim);
    if (tensor == NULL) return 0;
    failed = torch.get_sizes(handle, &shape);
    failed |= torch.get_strides(handle, &strides);
    failed |= torch.get_data_ptr(handle, &data);
    if (failed || data == NULL) return 0;
    if (!(FIELD(uint64_t, FIELD(char *, object, torch.impl), torch.keys) & torch.cpu_key)) {
        failed |= torch.get_device_type(handle, &device_type);
        failed |= torch.get_device_index(handle, &tensor->device_id);
        if (failed || device_type != TORCH_CUDA) return 0;
        tensor->device_type = DEVICE_CUDA;
        if (!note_stream(call, torch.api, DEVICE_CUDA, tensor->device_id)) return 0;
    }
    tensor->data = data;
    tensor->dtype = torch.dtypes[dtype];
    for (int64_t i = 0; i < ndim; i++) {
        tensor->shape[i] = shape[i];
        tensor->strides[i] = strides[i];
    }
    if (!read_only) {
        if (call->written_count == MAX_ARGS) return 0;
        call->written[call->written_count++] = object;
    }
    return pass_tensor(tensor, out);
}

/* Tell autograd that a tensor was written. Its parts may have been replaced during the call. */
static void raise_version(PyObject *object)
{
    char *impl = FIELD(char *, object, torch.impl);
    char *counter = impl == NULL ? NULL : FIELD(char *, impl, torch.counter);
    /* Tensors of inference mode have no version counter. */
    if (counter != NULL) __atomic_fetch_add(&FIELD(uint32_t, counter, torch.version), 1, __ATOMIC_RELAXED);
}

/* ---- tvm_ffi.Tensor */

static struct {
    PyTypeObject *tensor; /* NULL: not read here */
    PyTypeObject *shape;  /* a tuple of ints */
    Py_ssize_t handle;
} managed;

/* The object itself is passed, so the function may keep or forward it. */
static inline int read_managed(PyObject *object, Any *out)
{
    void *handle = FIELD(void *, object, managed.handle);
    if (handle == NULL) return 0;
    out->type_index = ANY_TENSOR;
    out->small_str_len = 0;
    out->v_ptr = handle;
    return 1;
}

/* ---- other classes with DLPack's exchange API */

static struct {
    PyTypeObject *type;
    const ExchangeApi *api;
} exchange[MAX_EXCHANGE];
static int exchange_count;

static int read_exchange(PyObject *object, PyTypeObject *type, Call *call, Any *out)
{
    int found = 0;
    while (found < exchange_count && exchange[found].type != type) found++;
    if (found == exchange_count) return 0;
    Tensor given;
    const ExchangeApi *api = exchange[found].api;
    if (api->borrow(object, &given) != 0) {
        PyErr_Clear();
        return 0;
    }
    /* The API of a foreign class may return values that no tensor can have. */
    if (given.shape == NULL && given.ndim != 0) return 0;
    if (given.device_type < DEVICE_CPU || given.device_id < 0) return 0;
    Tensor *tensor = new_tensor(call, given.ndim);
    if (tensor == NULL) return 0;
    int64_t *shape = tensor->shape, *strides = tensor->strides;
    for (int32_t i = 0; i < given.ndim; i++) {
        shape[i] = given.shape[i];
        if (given.strides != NULL) strides[i] = given.strides[i];
    }
    *tensor = given;
    tensor->shape = shape;
    tensor->strides = given.strides == NULL ? NULL : strides;
    if (given.device_type != DEVICE_CPU && !note_stream(call, api, given.device_type, given.device_id))
        return 0;
    return pass_tensor(tensor, out);
}

#endif
