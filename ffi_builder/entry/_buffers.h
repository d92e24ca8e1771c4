/* Borrowed reads of objects with the buffer protocol: bytes, array.array, memoryviews and others.
 *
 * runtime/python/buffers.py has the rules. In any doubt, the call goes there.
 */
#ifndef FFI_BUILDER_ENTRY_BUFFERS_H
#define FFI_BUILDER_ENTRY_BUFFERS_H

#include "_arrays.h"

enum { MAX_BUFFER_TYPES = 64, MAX_TRIES = 8 };
static PyTypeObject *buffer_types[MAX_BUFFER_TYPES]; /* each at or behind where its address says */

/* Where a type is, or would be put: an empty place if there is one. */
static PyTypeObject **place_of_buffer(PyTypeObject *type)
{
    uintptr_t first = (uintptr_t)type >> 6;
    for (int i = 0; i < MAX_TRIES; i++) {
        PyTypeObject **place = &buffer_types[(first + i) % MAX_BUFFER_TYPES];
        if (*place == type || *place == NULL) return place;
    }
    return &buffer_types[first % MAX_BUFFER_TYPES];
}

/* Whether values of this type are read as buffers. */
static int is_buffer(PyTypeObject *type) { return *place_of_buffer(type) == type; }

/* The dtype of a buffer's items; its `bits` are 0 if there is none. */
static DataType dtype_of_format(const char *format, Py_ssize_t size)
{
    const DataType none = {0};
    DataType found = {0, (uint8_t)(8 * size), 1};
    if (format == NULL) format = "B";
    if (*format == '@' || *format == '=' || *format == '<') format++; /* this machine's order */
    if (strcmp(format, "Zf") == 0 || strcmp(format, "Zd") == 0) {
        found.code = 5;
        return found;
    }
    if (*format == '\0' || format[1] != '\0') return none;
    if (strchr("bhilqn", *format) != NULL) found.code = 0;
    else if (strchr("BHILQN", *format) != NULL) found.code = 1;
    else if (strchr("efd", *format) != NULL) found.code = 2;
    else if (*format == '?') found.code = 6;
    else return none;
    return found;
}

/* Hold the memory of an object until the call has returned, or return NULL. */
static Py_buffer *hold(PyObject *object, Call *call, int flags)
{
    if (call->view_count == MAX_VIEWS) return NULL;
    Py_buffer *view = &call->views[call->view_count];
    if (PyObject_GetBuffer(object, view, flags) != 0) {
        PyErr_Clear();
        return NULL;
    }
    call->view_count++;
    return view;
}

static void release_views(Call *call)
{
    while (call->view_count) PyBuffer_Release(&call->views[--call->view_count]);
}

static int read_buffer(PyObject *object, Call *call, Any *out, int read_only)
{
    const Py_buffer *view = hold(object, call, read_only ? PyBUF_RECORDS_RO : PyBUF_RECORDS);
    if (view == NULL) return 0;
    DataType dtype = dtype_of_format(view->format, view->itemsize);
    if (dtype.bits == 0) return 0;
    Tensor *tensor = new_tensor(call, view->ndim);
    if (tensor == NULL || (view->ndim > 0 && view->shape == NULL)) return 0;
    int64_t size = view->itemsize, row_major = size;
    for (int i = view->ndim; i-- > 0; row_major *= view->shape[i]) {
        int64_t stride = view->strides == NULL ? row_major : view->strides[i]; /* ctypes has none */
        if (stride % size != 0) return 0;
        tensor->shape[i] = view->shape[i];
        tensor->strides[i] = stride / size;
    }
    tensor->data = view->buf;
    tensor->dtype = dtype;
    return pass_tensor(tensor, out);
}

#endif
