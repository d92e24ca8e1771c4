/* Calls: directly with the arguments that were read, or through the general function. */
#ifndef FFI_BUILDER_ENTRY_CALLS_H
#define FFI_BUILDER_ENTRY_CALLS_H

#include "_arguments.h"

/* ---- results */

typedef struct {
    Any result;
    int status;
} Outcome;

/* The code of `base.finish`, a tvm_ffi.Function. It returns the outcome of an earlier call. */
static int finish(void *handle, const Any *args, int32_t count, Any *result)
{
    (void)handle;
    (void)count;
    const Outcome *outcome = args[0].v_ptr;
    *result = outcome->result;
    return outcome->status;
}

/* Let tvm-ffi convert the outcome of a call to an error or a result. */
static PyObject *finished(Outcome *outcome)
{
    if (outcome->status != 0 && PyErr_Occurred()) {
        /* Python code that was called raised the error. TVM-FFI's record of it says no more. */
        void *error = NULL;
        ffi.take_error(&error);
        if (error != NULL) ffi.decref(error);
        return NULL;
    }
    PyObject *address = PyLong_FromVoidPtr(outcome);
    if (address == NULL) return NULL;
    PyObject *result = PyObject_Vectorcall(base.finish, &address, 1, NULL);
    Py_DECREF(address);
    return result;
}

/* A uint64 beyond int64 as an int; NULL, without an error, for a greater number. */
static PyObject *returned_big(const Any *result)
{
    void *object = result->v_ptr;
    const uint64_t *words = &FIELD(uint64_t, object, BIG_INT_WORDS);
    if (FIELD(int64_t, object, BIG_INT_COUNT) != 2 || words[1] != 0) return NULL;
    PyObject *made = PyLong_FromUnsignedLongLong(words[0]);
    if (made != NULL) ffi.decref(object);
    return made;
}

/* Convert several results from a tvm_ffi.Array to a tuple. Takes the reference to the result. */
static PyObject *as_tuple(PyObject *result)
{
    if (result == NULL) return NULL;
    PyObject *tuple = PySequence_Tuple(result);
    Py_DECREF(result);
    return tuple;
}

/* What is no object as a new object; NULL, without an error, for anything else. */
static PyObject *returned_plain(const Any *result)
{
    switch (result->type_index) {
        case ANY_NONE:
            Py_INCREF(Py_None);
            return Py_None;
        case ANY_INT:
            return PyLong_FromLongLong(result->v_int64);
        case ANY_FLOAT:
            return PyFloat_FromDouble(result->v_float64);
        case ANY_BOOL:
            return PyBool_FromLong(result->v_int64 != 0);
        case ANY_OPAQUE_PTR:
            if (addresses.pointer == NULL) return NULL;
            return PyObject_CallFunction((PyObject *)addresses.pointer, "K",
                                         (unsigned long long)(uintptr_t)result->v_ptr);
    }
    return NULL;
}

/* Several results without objects; NULL, without an error, if there is an object among them. */
static PyObject *returned_several(const Any *result)
{
    const Array *array = result->v_ptr;
    PyObject *tuple = PyTuple_New(array->size);
    for (int64_t i = 0; tuple != NULL && i < array->size; i++) {
        PyObject *item = returned_plain((const Any *)array->data + i);
        if (item == NULL) {
            Py_DECREF(tuple);
            return NULL;
        }
        PyTuple_SetItem(tuple, i, item);
    }
    if (tuple != NULL) ffi.decref(result->v_ptr);
    return tuple;
}

static PyObject *returned(const Entry *entry, Outcome *outcome)
{
    if (outcome->status == 0) {
        PyObject *made = NULL;
        if (outcome->result.type_index == ANY_BIG_INT) made = returned_big(&outcome->result);
        else if (entry->returns == RETURNS_TUPLE && outcome->result.type_index == ANY_ARRAY)
            made = returned_several(&outcome->result);
        else made = returned_plain(&outcome->result);
        if (made != NULL || PyErr_Occurred()) return made;
    }
    PyObject *result = finished(outcome);
    return entry->returns == RETURNS_TUPLE ? as_tuple(result) : result;
}

/* ---- calling */

static void raise_versions(const Call *call)
{
    for (int i = 0; i < call->written_count; i++) raise_version(call->written[i]);
}

/* Make the call that has been read. The handle has been checked. */
static PyObject *run(PyObject *self, int count, Call *call)
{
    Outcome outcome = {{ANY_NONE, 0, {0}}, 0};
    void *handle = FIELD(void *, self, base.handle), *previous = NULL;
    SafeCall code = FIELD(SafeCall, handle, FUNCTION_SAFE_CALL);
    if (call->has_stream) {
        outcome.status = ffi.set_stream(call->device_type, call->device_id, call->stream, &previous);
        if (outcome.status != 0) {
            drop_held(call);
            return returned(entry_of(self), &outcome);
        }
    }
    if (FIELD(int, self, base.release_gil)) {
        PyThreadState *state = PyEval_SaveThread();
        outcome.status = code(handle, call->args, count, &outcome.result);
        PyEval_RestoreThread(state);
    } else {
        outcome.status = code(handle, call->args, count, &outcome.result);
    }
    if (call->has_stream && previous != call->stream)
        ffi.set_stream(call->device_type, call->device_id, previous, NULL);
    if (outcome.status == 0) raise_versions(call);
    if (call->string_count | call->view_count | call->held_count) drop_held(call);
    return returned(entry_of(self), &outcome);
}

/* The handle, or NULL and an error: calling without one, tvm-ffi ends the process. */
static void *handle_of(PyObject *self)
{
    void *handle = FIELD(void *, self, base.handle);
    if (handle == NULL) PyErr_SetString(PyExc_RuntimeError, "this function was moved elsewhere");
    return handle;
}

/* Another tvm_ffi.Function with the same handle. */
static PyObject *same_function(PyObject *self)
{
    void *handle = handle_of(self);
    if (handle == NULL) return NULL;
    PyObject *made = PyObject_CallMethod((PyObject *)base.function, "__new__", "O", base.function);
    if (made == NULL) return NULL;
    if (ffi.incref(handle) != 0) {
        Py_DECREF(made);
        PyErr_SetString(PyExc_RuntimeError, "a function's handle cannot be counted");
        return NULL;
    }
    FIELD(void *, made, base.handle) = handle;
    return made;
}

/* Keep what was made, unless another thread was quicker. Return 0 if nothing was made. */
static int keep_first(PyObject **place, PyObject *made)
{
    if (made == NULL) return 0;
    if (*place == NULL) *place = made;
    else Py_DECREF(made);
    return 1;
}

/* The function in Python with this number; a borrowed reference, or NULL and an error. */
static PyObject *python_of(PyObject *self, Entry *entry, int number)
{
    if (entry->makers == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "this function was cleared, or is not made yet");
        return NULL;
    }
    if (entry->general == NULL && !keep_first(&entry->general, same_function(self))) return NULL;
    if (entry->python[number] == NULL) {
        PyObject *maker = TUPLE_ITEM(entry->makers, number);
        PyObject *made = PyObject_CallFunctionObjArgs(maker, entry->general, entry->info, NULL);
        if (!keep_first(&entry->python[number], made)) return NULL;
    }
    FIELD(int, entry->general, base.release_gil) = FIELD(int, self, base.release_gil);
    return entry->python[number];
}

/* Pass unknown types to Python, so that it can say how to read them. */
static int learn(const Entry *entry, PyObject *const *values)
{
    static const void *seen[16]; /* addresses only: a new type at an old address is not learnt */
    for (int i = 0; i < entry->count; i++) {
        PyTypeObject *type = Py_TYPE(values[i]);
        if ((entry->parameters[i].kind & KIND_BITS) < KIND_TENSOR || type == managed.tensor ||
            type == numpy.array || type == torch.tensor || type == torch.parameter ||
            values[i] == Py_None)
            continue;
        const void **slot = &seen[((uintptr_t)type >> 6) % 16];
        if (*slot == type) continue;
        *slot = type;
        PyObject *done = PyObject_CallFunctionObjArgs(base.learn, (PyObject *)type, NULL);
        if (done == NULL) return -1;
        Py_DECREF(done);
    }
    return 0;
}

static PyObject *tuple_of(PyObject *const *values, Py_ssize_t count)
{
    PyObject *tuple = PyTuple_New(count);
    for (Py_ssize_t i = 0; tuple != NULL && i < count; i++) {
        Py_INCREF(values[i]);
        PyTuple_SetItem(tuple, i, values[i]);
    }
    return tuple;
}

/* tvm-ffi's own call. */
static PyObject *call_direct(PyObject *self, PyObject *const *values, Py_ssize_t count)
{
    PyObject *tuple = handle_of(self) == NULL ? NULL : tuple_of(values, count);
    if (tuple == NULL) return NULL;
    PyObject *result = base.call(self, tuple, NULL);
    Py_DECREF(tuple);
    return result;
}

/* A function in Python. */
static PyObject *call_python(PyObject *self, int number, PyObject *const *args, size_t flagged,
                             PyObject *keywords)
{
    PyObject *python = python_of(self, entry_of(self), number);
    if (python == NULL) return NULL;
    Py_INCREF(python);
    PyObject *result = PyObject_Vectorcall(python, args, flagged, keywords);
    Py_DECREF(python);
    return result;
}

static PyObject *call_unread(PyObject *self, PyObject *const *args, size_t flagged,
                             PyObject *keywords)
{
    entry_of(self)->general_calls++;
    return call_python(self, PYTHON_AS_GIVEN, args, flagged, keywords);
}

/* Convert returned tensors to the arguments' framework. Takes the reference to the result. */
static PyObject *converted(PyObject *self, PyObject *result, PyObject *const *values)
{
    if (Py_TYPE(result) == torch.tensor || result == Py_None) return result;
    PyObject *tuple = tuple_of(values, entry_of(self)->count), *made = NULL;
    if (tuple != NULL) {
        PyObject *const args[] = {result, tuple};
        made = call_python(self, PYTHON_RETURNED, args, 2, NULL);
        Py_DECREF(tuple);
    }
    Py_DECREF(result);
    return made;
}

/* Take the error that is raised, as an object. */
static PyObject *take_raised(void)
{
#if PY_VERSION_HEX >= 0x030C0000
    return PyErr_GetRaisedException();
#else
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    PyErr_NormalizeException(&type, &error, &trace);
    if (trace != NULL) PyException_SetTraceback(error, trace);
    Py_XDECREF(trace);
    Py_DECREF(type);
    return error;
#endif
}

static void raise_object(PyObject *error)
{
#if PY_VERSION_HEX >= 0x030C0000
    PyErr_SetRaisedException(error);
#else
    PyObject *type = (PyObject *)Py_TYPE(error), *trace = PyException_GetTraceback(error);
    Py_INCREF(type);
    PyErr_Restore(type, error, trace);
#endif
}

/* If tvm-ffi's own call did not convert an argument, replace its error by one that names it. */
static void name_refused(PyObject *self, PyObject *const *values)
{
    PyObject *error = take_raised(), *named = NULL;
    PyObject *tuple = tuple_of(values, entry_of(self)->count);
    if (tuple != NULL && PyObject_IsInstance(error, PyExc_Exception) == 1) {
        PyObject *const args[] = {tuple, error};
        named = call_python(self, PYTHON_REFUSED, args, 2, NULL);
    }
    Py_XDECREF(tuple);
    PyErr_Clear();
    if (named != NULL && named != Py_None) {
        PyException_SetCause(named, error);
        raise_object(named);
        return;
    }
    Py_XDECREF(named);
    raise_object(error);
}

/* Call the general function with the same arguments: tvm-ffi's own if they need no change. */
static PyObject *call_general(PyObject *self, PyObject *const *values, Call *call)
{
    Entry *entry = entry_of(self);
    int count = entry->count, i = 0;
    entry->general_calls++;
    call->written_count = call->has_arrays = 0;
    while (i < count && passes(entry, values[i], entry->parameters[i].kind & KIND_BITS, call, 0))
        i++;
    if (i < count) return call_python(self, PYTHON_IN_ORDER, values, count, NULL);
    /* A list may lose its items during the call. */
    for (i = 0; i < call->written_count; i++) Py_INCREF(call->written[i]);
    PyObject *result = call_direct(self, values, count);
    if (result != NULL) raise_versions(call);
    for (i = 0; i < call->written_count; i++) Py_DECREF(call->written[i]);
    if (result == NULL) {
        name_refused(self, values);
        return NULL;
    }
    if (entry->returns == RETURNS_TUPLE) return as_tuple(result);
    return entry->returns && call->has_arrays ? converted(self, result, values) : result;
}

static PyObject *call_read(PyObject *self, PyObject *const *args, size_t flagged,
                           PyObject *keywords)
{
    const Entry *entry = entry_of(self);
    Py_ssize_t given = flagged & ~PY_VECTORCALL_ARGUMENTS_OFFSET;
    PyObject *bound[MAX_ARGS], *const *values = args;
    if (!in_order(entry, given, keywords)) {
        if (!bind(entry, args, given, keywords, bound))
            return call_unread(self, args, flagged, keywords);
        values = bound;
    }
    Call call;
    call.written_count = call.string_count = call.view_count = call.held_count = 0;
    call.block = (char *)call.space;
    call.block_size = sizeof call.space;
    call.taken = 0;
    call.grad_mode = call.watched = -1;
    call.has_stream = 0;
    int count = entry->count, i = 0;
    while (i < count && read_argument(values[i], &entry->parameters[i], &call, &call.args[i]))
        i++;
    if (i == count && FIELD(void *, self, base.handle) != NULL) return run(self, count, &call);
    drop_held(&call);
    if (learn(entry, values) != 0) return NULL;
    return call_general(self, values, &call);
}

#endif
