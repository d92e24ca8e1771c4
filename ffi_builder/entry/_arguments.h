/* Arguments of a call: bound to parameters, then read or checked. */
#ifndef FFI_BUILDER_ENTRY_ARGUMENTS_H
#define FFI_BUILDER_ENTRY_ARGUMENTS_H

#include "_buffers.h"
#include "_entry.h"

static inline int is_for_bytes(int kind) { return kind == KIND_BYTES || kind == KIND_KEPT_BYTES; }

/* Make an object of a str or bytes, which a function may keep. */
static int make_object(int (*make)(const ByteArray *, Any *), const ByteArray *bytes, Call *call,
                       Any *out)
{
    if (make(bytes, out) != 0) return 0;
    if (out->type_index >= ANY_OBJECT) call->strings[call->string_count++] = out->v_ptr;
    return 1;
}

static inline int pass_in_place(int32_t index, const char *data, size_t size, Any *out)
{
    out->type_index = index;
    out->small_str_len = (uint32_t)size;
    out->v_int64 = 0;
    memcpy(out->v_bytes, data, size);
    return 1;
}

/* The caller holds a str or bytes until the call returns, so a function that does not keep it may
 * read it where it is. */
static int read_str(PyObject *text, int kind, Call *call, Any *out)
{
    Py_ssize_t size;
    const char *data = PyUnicode_AsUTF8AndSize(text, &size);
    if (data == NULL) {
        PyErr_Clear(); /* surrogates */
        return 0;
    }
    if (size <= MOST_SMALL) return pass_in_place(ANY_SMALL_STR, data, (size_t)size, out);
    if (kind != KIND_TEXT || memchr(data, 0, (size_t)size) != NULL)
        return make_object(ffi.string, &(ByteArray){data, (size_t)size}, call, out);
    out->type_index = ANY_RAW_STR; /* CPython ends it in NUL */
    out->v_ptr = (void *)(uintptr_t)data;
    return 1;
}

static int pass_bytes(ByteArray bytes, Call *call, Any *out)
{
    ByteArray *place = &call->bytes[out - call->args];
    *place = bytes;
    out->type_index = ANY_BYTE_ARRAY_PTR;
    out->v_ptr = place;
    return 1;
}

static int read_bytes(PyObject *value, int kind, Call *call, Any *out)
{
    ByteArray bytes = {PyBytes_AsString(value), (size_t)PyBytes_Size(value)};
    if (bytes.size <= MOST_SMALL) return pass_in_place(ANY_SMALL_BYTES, bytes.data, bytes.size, out);
    if (kind != KIND_BYTES) return make_object(ffi.bytes, &bytes, call, out);
    return pass_bytes(bytes, call, out);
}

/* A bytearray cannot change its size while it is held. */
static int read_bytearray(PyObject *value, Call *call, Any *out)
{
    const Py_buffer *view = hold(value, call, PyBUF_SIMPLE);
    return view != NULL && pass_bytes((ByteArray){view->buf, (size_t)view->len}, call, out);
}

static inline int pass_object(void *object, Any *out)
{
    out->type_index = ((Object *)object)->type_index;
    out->small_str_len = 0;
    out->v_ptr = object;
    return 1;
}

/* A str or bytes that is held until the call returns. */
static int read_held_text(PyObject *value, int is_str, Call *call, Any *out)
{
    ByteArray bytes;
    Py_ssize_t size;
    bytes.data = is_str ? PyUnicode_AsUTF8AndSize(value, &size) : PyBytes_AsString(value);
    if (bytes.data == NULL) {
        PyErr_Clear(); /* surrogates */
        return 0;
    }
    bytes.size = (size_t)(is_str ? size : PyBytes_Size(value));
    if (bytes.size <= MOST_SMALL)
        return pass_in_place(is_str ? ANY_SMALL_STR : ANY_SMALL_BYTES, bytes.data, bytes.size, out);
    Text *text = take(sizeof *text, call);
    if (text == NULL) return 0;
    *text = (Text){{1, is_str ? ANY_STR : ANY_BYTES, 0, NULL}, bytes};
    return pass_object(text, out);
}

/* Read an int, a float or a bool; 0 for anything else, and for an int beyond 64 bits. */
static inline __attribute__((always_inline)) int read_number(PyObject *value, PyTypeObject *type,
                                                             Any *out)
{
    out->small_str_len = 0;
    if (type == &PyLong_Type) {
        int overflow;
        out->type_index = ANY_INT;
#if PY_VERSION_HEX < 0x030C0000
        /* The fast case of PyLong_AsLongLongAndOverflow, without a call. */
        if (Py_SIZE(value) >= -1 && Py_SIZE(value) <= 1) {
            out->v_int64 = Py_SIZE(value) * (int64_t)((PyLongObject *)value)->ob_digit[0];
            return 1;
        }
#endif
        out->v_int64 = PyLong_AsLongLongAndOverflow(value, &overflow);
        return !overflow;
    }
    if (type == &PyFloat_Type) {
        out->type_index = ANY_FLOAT;
        out->v_float64 = PyFloat_AsDouble(value);
        return 1;
    }
    out->type_index = ANY_BOOL;
    out->v_int64 = value == Py_True;
    return type == &PyBool_Type;
}

/* The items of a list, which another thread may change while a kernel runs without the GIL. */
static PyObject *hold_items(PyObject *list, Call *call)
{
    PyObject *items = call->held_count == MAX_HELD ? NULL : PyList_AsTuple(list);
    return hold_made(items, call) ? items : NULL;
}

enum { MOST_LEVELS = 8 }; /* of containers that are looked through here */

static int read_plain(PyObject *value, int kind, Call *call, Any *out, int levels);

static inline int read_array(PyObject *value, PyTypeObject *type, Call *call, Any *out,
                             int read_only)
{
    if (type == numpy.array) return read_ndarray(value, call, out, read_only);
    if (type == torch.tensor || type == torch.parameter)
        return read_torch(value, call, out, read_only);
    return read_exchange(value, type, call, out);
}

/* Read an item that is no number. Python knows whether bytes are a buffer. */
static int read_item(PyObject *item, int kind, Call *call, Any *out, int levels)
{
    PyTypeObject *type = Py_TYPE(item);
    if (!(kind & KIND_ARRAYS)) return read_plain(item, kind, call, out, levels);
    if (type == managed.tensor) return read_managed(item, out);
    if (read_array(item, type, call, out, kind & KIND_READS)) return pass_around(out);
    return type != &PyBytes_Type && read_plain(item, kind, call, out, levels);
}

/* Numbers of a list are copied. All else is borrowed, so it is held. */
static int read_items(PyObject *value, int kind, Call *call, Any *out, int levels)
{
    int is_list = Py_TYPE(value) == &PyList_Type;
    Py_ssize_t size = PySequence_Size(value);
    Array *array = take(sizeof *array + (size_t)size * sizeof(Any), call);
    if (array == NULL) return 0;
    *array = (Array){{1, ANY_ARRAY, 0, NULL}, array->items, size, size, NULL};
    for (Py_ssize_t i = 0; i < size; i++) {
        PyObject *item = is_list ? PyList_GetItem(value, i) : TUPLE_ITEM(value, i);
        if (read_number(item, Py_TYPE(item), &array->items[i])) continue;
        if (is_list) {
            value = hold_items(value, call);
            if (value == NULL || TUPLE_SIZE(value) != size) return 0; /* Python ran and changed it */
            item = TUPLE_ITEM(value, i);
            is_list = 0;
        }
        if (!read_item(item, kind, call, &array->items[i], levels - 1)) return 0;
    }
    return pass_object(array, out);
}

/* Read a list or tuple, or what else may be in it. */
static int read_plain(PyObject *value, int kind, Call *call, Any *out, int levels)
{
    PyTypeObject *type = Py_TYPE(value);
    if (type == &PyList_Type || type == &PyTuple_Type)
        return levels > 0 && read_items(value, kind, call, out, levels);
    int is_str = type == &PyUnicode_Type;
    if (is_str || type == &PyBytes_Type) return read_held_text(value, is_str, call, out);
    if (value == Py_None) {
        *out = (Any){ANY_NONE, 0, {0}};
        return 1;
    }
    /* An object of tvm-ffi. Python converts what else it passes for an item of a struct. */
    if ((kind & KIND_BITS) != KIND_GENERAL || !PyType_IsSubtype(type, base.object)) return 0;
    void *handle = FIELD(void *, value, base.handle);
    return handle != NULL && pass_object(handle, out);
}

/* What is not a tensor; not inline, so that tensors are read quickly. */
static __attribute__((noinline)) int read_other(PyObject *value, int kind, Call *call, Any *out)
{
    if (kind & KIND_LISTS) return read_plain(value, kind, call, out, MOST_LEVELS);
    return kind & KIND_VARIANT && read_number(value, Py_TYPE(value), out);
}

/* A handle that is closed, or that points to something else, is left to Python. */
static __attribute__((noinline)) int read_address(PyObject *value, PyTypeObject *type,
                                                  const Parameter *parameter, Any *out)
{
    out->type_index = ANY_OPAQUE_PTR;
    out->small_str_len = 0;
    if (type == addresses.pointer) {
        out->v_ptr = *FIELD(void **, value, addresses.contents);
        return 1;
    }
    if (type != addresses.handle) return 0;
    PyObject *address = FIELD(PyObject *, value, addresses.address);
    PyObject *pointee = FIELD(PyObject *, value, addresses.pointee);
    if (address == NULL || Py_TYPE(address) != &PyLong_Type) return 0;
    if (pointee != parameter->pointee && parameter->pointee != NULL && pointee != NULL &&
        (PyUnicode_Check(pointee) != 1 || PyUnicode_Compare(pointee, parameter->pointee) != 0))
        return 0;
    out->v_ptr = PyLong_AsVoidPtr(address);
    return 1;
}

static int read_tensor(PyObject *value, PyTypeObject *type, const Parameter *parameter, Call *call,
                       Any *out)
{
    int kind = parameter->kind;
    if (type == managed.tensor) return read_managed(value, out);
    if (kind > KIND_TENSOR_IN) {
        if (kind == KIND_HANDLE) return read_address(value, type, parameter, out);
        if (read_other(value, kind, call, out)) return 1;
        if (!(kind & KIND_VARIANT)) return 0;
        kind = KIND_TENSOR;
    }
    if (read_array(value, type, call, out, kind == KIND_TENSOR_IN)) return 1;
    return is_buffer(type) && read_buffer(value, call, out, kind == KIND_TENSOR_IN);
}

static inline int read_argument(PyObject *value, const Parameter *parameter, Call *call, Any *out)
{
    PyTypeObject *type = Py_TYPE(value);
    int kind = parameter->kind;
    if (kind >= KIND_TENSOR && value != Py_None)
        return read_tensor(value, type, parameter, call, out);
    out->small_str_len = 0;
    if (value == Py_None) {
        out->type_index = ANY_NONE;
        out->v_int64 = 0;
        return 1;
    }
    if (kind == KIND_GENERAL) return 0;
    if (type == &PyLong_Type || type == &PyFloat_Type || type == &PyBool_Type)
        return read_number(value, type, out);
    if (type == &PyUnicode_Type)
        return kind <= KIND_TEXT && read_str(value, kind, call, out);
    if (type == &PyBytes_Type) return is_for_bytes(kind) && read_bytes(value, kind, call, out);
    return type == &PyByteArray_Type && kind == KIND_BYTES && read_bytearray(value, call, out);
}

/* The number of the parameter with this name, or -1. */
static int parameter_named(const Entry *entry, PyObject *name)
{
    for (int i = 0; i < entry->count; i++)
        if (entry->parameters[i].name == name) return i;
    for (int i = 0; i < entry->count; i++)
        if (PyUnicode_Compare(entry->parameters[i].name, name) == 0) return i;
    return -1;
}

/* Whether all arguments are given in the order of the parameters, so that `bind` is not needed. */
static inline int in_order(const Entry *entry, Py_ssize_t given, PyObject *keywords)
{
    if (!entry->ordered || given > entry->positional) return 0;
    Py_ssize_t named = keywords == NULL ? 0 : TUPLE_SIZE(keywords);
    if (given + named != entry->count) return 0;
    const Parameter *next = entry->parameters + given;
    for (Py_ssize_t i = 0; i < named; i++)
        if (next[i].name != TUPLE_ITEM(keywords, i)) return 0;
    return 1;
}

/* Put arguments and defaults in the order of the parameters. Return 0 if they do not fit. */
static int bind(const Entry *entry, PyObject *const *args, Py_ssize_t given, PyObject *keywords,
                PyObject **values)
{
    if (given > entry->positional) return 0;
    const Parameter *parameters = entry->parameters;
    Py_ssize_t count = entry->count, named = keywords == NULL ? 0 : TUPLE_SIZE(keywords);
    for (Py_ssize_t i = 0; i < count; i++) values[i] = NULL;
    for (Py_ssize_t i = 0; i < given; i++) values[parameters[i].at] = args[i];
    for (Py_ssize_t i = 0; i < named; i++) {
        int at = parameter_named(entry, TUPLE_ITEM(keywords, i));
        if (at < 0 || values[at] != NULL) return 0;
        values[at] = args[given + i];
    }
    if (given + named == count) return 1; /* each parameter exactly once */
    for (Py_ssize_t i = 0; i < count; i++) {
        if (values[i] == NULL) values[i] = entry->parameters[i].fallback;
        if (values[i] == NULL) return 0;
    }
    return 1;
}

/* Whether values of a type contain no others: it is no container, and none of its values stands for
 * another one. */
static int is_flat(PyTypeObject *type)
{
    static const void *flat[64]; /* addresses only: a new type at an old address is taken for flat */
    const void **slot = &flat[((uintptr_t)type >> 6) % 64];
    if (*slot == type) return 1;
    if (type != managed.shape &&
        (PyType_GetFlags(type) &
         (Py_TPFLAGS_LIST_SUBCLASS | Py_TPFLAGS_TUPLE_SUBCLASS | Py_TPFLAGS_DICT_SUBCLASS)))
        return 0;
    PyObject *found = PyObject_GetAttrString((PyObject *)type, "__tvm_ffi_value__");
    if (found != NULL) {
        Py_DECREF(found);
        return 0;
    }
    PyErr_Clear();
    *slot = type;
    return 1;
}

/* Whether a value has few levels. tvm-ffi converts more and more of them until the stack ends. */
static int is_shallow(PyObject *value, int levels)
{
    PyTypeObject *type = Py_TYPE(value);
    if (is_flat(type)) return 1;
    if ((type != &PyTuple_Type && type != &PyList_Type) || levels == 0) return 0;
    for (Py_ssize_t i = 0; i < PySequence_Size(value); i++) {
        PyObject *item = type == &PyTuple_Type ? PyTuple_GetItem(value, i) : PyList_GetItem(value, i);
        if (!is_shallow(item, levels - 1)) return 0;
    }
    return 1;
}

/* Whether Python would pass a value unchanged. Record the arrays that it is or contains. */
static int passes(const Entry *entry, PyObject *value, int kind, Call *call, int depth)
{
    PyTypeObject *type = Py_TYPE(value);
    if (kind == KIND_GENERAL || (kind <= KIND_KEPT_BYTES && entry->by_position))
        return is_shallow(value, MOST_LEVELS);
    if (kind == KIND_HANDLE) return !PyCallable_Check(value) && is_shallow(value, MOST_LEVELS);
    if (value == Py_None || type == &PyLong_Type || type == &PyFloat_Type ||
        type == &PyBool_Type || type == &PyUnicode_Type || type == managed.tensor)
        return 1;
    if (type == &PyBytes_Type || type == &PyByteArray_Type) return is_for_bytes(kind);
    if (kind == KIND_ITEMS && (type == &PyTuple_Type || type == &PyList_Type) &&
        depth < MOST_LEVELS) {
        for (Py_ssize_t i = 0; i < PySequence_Size(value); i++) {
            PyObject *item = type == &PyTuple_Type ? PyTuple_GetItem(value, i) : PyList_GetItem(value, i);
            if (!passes(entry, item, kind, call, depth + 1)) return 0;
        }
        return 1;
    }
    /* An object of tvm-ffi: neither it nor its contents belong to a framework. */
    if (kind == KIND_ITEMS && PyType_IsSubtype(type, base.object)) return 1;
    int read_only = kind == KIND_TENSOR_IN || kind == KIND_KEPT_IN;
    if (type == numpy.array) {
        call->has_arrays = 1;
        return is_writable(value) && is_exported(value);
    }
    if (type == torch.tensor || type == torch.parameter) {
        call->has_arrays = 1;
        if (!is_plain_torch(value, call)) return 0;
        if (read_only) return 1;
        if (call->written_count == MAX_ARGS) return 0;
        call->written[call->written_count++] = value;
        return 1;
    }
    return 0;
}

static void drop_held(Call *call)
{
    for (int i = 0; i < call->string_count; i++) ffi.decref(call->strings[i]);
    for (int i = 0; i < call->held_count; i++) Py_DECREF(call->held[i]);
    release_views(call);
}

#endif
