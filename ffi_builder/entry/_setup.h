/* Facts about frameworks that Python gives to the extension after checking them (layouts.py). */
#ifndef FFI_BUILDER_ENTRY_SETUP_H
#define FFI_BUILDER_ENTRY_SETUP_H

#include <link.h>

#include "_arrays.h"
#include "_buffers.h"

/* Convert a dict of pairs (number, (code, bits)) to a table. */
static int fill_dtypes(PyObject *given, DataType *table)
{
    memset(table, 0, MAX_DTYPES * sizeof *table);
    PyObject *key, *value;
    Py_ssize_t at = 0;
    while (PyDict_Next(given, &at, &key, &value)) {
        int code, bits;
        long number = PyLong_AsLong(key);
        if (!PyArg_ParseTuple(value, "ii", &code, &bits)) return -1;
        if (number < 0 || number >= MAX_DTYPES) {
            PyErr_SetString(PyExc_ValueError, "no such type number");
            return -1;
        }
        table[number] = (DataType){(uint8_t)code, (uint8_t)bits, 1};
    }
    return 0;
}

static void use_type(PyTypeObject **place, PyObject *type)
{
    Py_XDECREF((PyObject *)*place);
    *place = NULL;
    if (type == Py_None) return;
    Py_INCREF(type);
    *place = (PyTypeObject *)type;
}

PyDoc_STRVAR(use_numpy_doc,
             "use_numpy(ndarray, dtypes, row_major)\n--\n\n"
             "Read exact `ndarray`s, or with None no longer; `dtypes` maps type numbers to (code, "
             "bits), and `row_major` says whether row-major arrays get such strides.");

static PyObject *use_numpy(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *type, *dtypes;
    if (!PyArg_ParseTuple(args, "OO!p", &type, &PyDict_Type, &dtypes, &numpy.row_major))
        return NULL;
    if (fill_dtypes(dtypes, numpy.dtypes) != 0) return NULL;
    use_type(&numpy.array, type);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(use_managed_doc,
             "use_managed(tensor, shape, handle)\n--\n\n"
             "Read exact `tvm_ffi.Tensor`s, whose handle is at that offset, and pass exact "
             "`tvm_ffi.Shape`s; or with None no longer.");

static PyObject *use_managed(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *tensor, *shape;
    if (!PyArg_ParseTuple(args, "OOn", &tensor, &shape, &managed.handle)) return NULL;
    use_type(&managed.tensor, tensor);
    use_type(&managed.shape, shape);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(use_addresses_doc,
             "use_addresses(handle, address, pointee, pointer, contents)\n--\n\n"
             "Read exact `handle`s, which have an int and a str in the slots at two offsets, and exact "
             "`pointer`s of ctypes, which have the address of their contents at another.");

static PyObject *use_addresses(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *handle, *pointer;
    if (!PyArg_ParseTuple(args, "OnnOn", &handle, &addresses.address, &addresses.pointee, &pointer,
                          &addresses.contents))
        return NULL;
    use_type(&addresses.handle, handle);
    use_type(&addresses.pointer, pointer);
    Py_RETURN_NONE;
}

typedef struct {
    uintptr_t address; /* of this thread's variable */
    ThreadLocal found;
} Search;

static int look_in(struct dl_phdr_info *library, size_t size, void *data)
{
    (void)size;
    Search *search = data;
    for (int i = 0; library->dlpi_tls_data != NULL && i < library->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &library->dlpi_phdr[i];
        uintptr_t offset = search->address - (uintptr_t)library->dlpi_tls_data;
        if (part->p_type != PT_TLS || offset >= part->p_memsz) continue;
        search->found = (ThreadLocal){library->dlpi_tls_modid, offset};
        return 1;
    }
    return 0;
}

/* Find where threads have the variable that this thread has at an address. */
static int find_thread_local(uintptr_t address, ThreadLocal *out)
{
    Search search = {address, {0, 0}};
    int found = dl_iterate_phdr(look_in, &search);
    if (!found || (uintptr_t)__tls_get_addr(&search.found) != address) {
        PyErr_SetString(PyExc_ValueError, "no thread-local variable is at this address");
        return -1;
    }
    *out = search.found;
    return 0;
}

PyDoc_STRVAR(use_torch_doc,
             "use_torch(tensor, parameter, dtypes, offsets, keys, local_keys, api, addresses)\n--\n\n"
             "Read exact `torch.Tensor`s and Parameters, or with None no longer. `local_keys` is "
             "where this thread has its dispatch keys.");

static PyObject *use_torch(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *tensor, *parameter, *dtypes;
    Py_ssize_t at[6];
    unsigned long long allowed, needed, cpu, watching, local_keys, api, to[11];
    if (!PyArg_ParseTuple(args, "OOO!(nnnnnn)(KKKK)KK(KKKKKKKKKKK)", &tensor, &parameter,
                          &PyDict_Type, &dtypes, &at[0], &at[1], &at[2], &at[3], &at[4], &at[5],
                          &allowed, &needed, &cpu, &watching, &local_keys, &api, &to[0], &to[1],
                          &to[2], &to[3], &to[4], &to[5], &to[6], &to[7], &to[8], &to[9], &to[10]))
        return NULL;
    if (tensor != Py_None && find_thread_local(local_keys, &torch.local_keys) != 0) return NULL;
    if (fill_dtypes(dtypes, torch.dtypes) != 0) return NULL;
    torch.impl = at[0];
    torch.keys = at[1];
    torch.autograd = at[2];
    torch.tangent = at[3];
    torch.counter = at[4];
    torch.version = at[5];
    torch.allowed_keys = allowed;
    torch.needed_keys = needed;
    torch.cpu_key = cpu;
    torch.watching_keys = watching;
    torch.api = (const ExchangeApi *)(uintptr_t)api;
    torch.get_data_ptr = (int (*)(void *, void **))(uintptr_t)to[0];
    torch.get_dim = (int (*)(void *, int64_t *))(uintptr_t)to[1];
    torch.get_sizes = (int (*)(void *, int64_t **))(uintptr_t)to[2];
    torch.get_strides = (int (*)(void *, int64_t **))(uintptr_t)to[3];
    torch.get_dtype = (int (*)(void *, int32_t *))(uintptr_t)to[4];
    torch.get_device_type = (int (*)(void *, int32_t *))(uintptr_t)to[5];
    torch.get_device_index = (int (*)(void *, int32_t *))(uintptr_t)to[6];
    torch.grad_mode_is_enabled = (_Bool (*)(void))(uintptr_t)to[7];
    torch.requires_grad = (_Bool (*)(const void *))(uintptr_t)to[8];
    torch.forward_gradient =
        (void *const *(*)(const void *, uint64_t, const void *))(uintptr_t)to[9];
    torch.undefined = (const void *)(uintptr_t)to[10];
    use_type(&torch.tensor, tensor);
    use_type(&torch.parameter, parameter);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(use_buffer_doc,
             "use_buffer(type)\n--\n\n"
             "Read instances of exactly this type by the buffer protocol.");

static PyObject *use_buffer(PyObject *module, PyObject *type)
{
    (void)module;
    use_type(place_of_buffer((PyTypeObject *)type), type);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(use_exchange_doc,
             "use_exchange(type, api)\n--\n\n"
             "Read instances of exactly this type by the DLPackExchangeAPI at that address. False "
             "if it cannot, or if there are too many types.");

static PyObject *use_exchange(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *type;
    unsigned long long address;
    if (!PyArg_ParseTuple(args, "O!K", &PyType_Type, &type, &address)) return NULL;
    const ExchangeApi *api = (const ExchangeApi *)(uintptr_t)address;
    if (api->major != 1 || api->borrow == NULL) Py_RETURN_FALSE;
    /* A type may be passed again: `learn` forgets types whose addresses collide. */
    int at = 0;
    while (at < exchange_count && exchange[at].type != (PyTypeObject *)type) at++;
    if (at == MAX_EXCHANGE) Py_RETURN_FALSE;
    if (at == exchange_count) {
        exchange[at].type = NULL;
        use_type(&exchange[at].type, type);
        exchange_count++;
    }
    exchange[at].api = api;
    Py_RETURN_TRUE;
}

#endif
