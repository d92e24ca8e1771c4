/* A callable that reads its arguments itself: one vectorcall type, based on tvm_ffi.Function.
 *
 * An entry has a table of its parameters. A call binds keywords and defaults, reads each argument
 * into a TVMFFIAny without making an object, and calls the function. If the type of an argument is
 * not exactly a known one, or in any other doubt, the call goes to the general function with the
 * same arguments before any code has run. So the general function reports all errors. A call leaves
 * no state in the entry, so many threads may call it, and it may be called recursively.
 *
 * Offsets and addresses come from Python (layouts.py), which has checked them on real objects.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <string.h>

#include "_calls.h"
#include "_operators.h"
#include "_setup.h"

/* An entry that is nothing yet says so when it is called. Without a vectorcall, `__call__` of the
 * bases would call it again. */
static PyObject *entry_alloc(PyTypeObject *type, Py_ssize_t count)
{
    PyObject *self = PyType_GenericAlloc(type, count);
    if (self != NULL) entry_of(self)->call = call_unread;
    return self;
}

static int entry_traverse(PyObject *self, visitproc visit, void *arg)
{
    const Entry *entry = entry_of(self);
    /* If the base is a heap type, it visits the type. */
    if (!(PyType_GetFlags(base.function) & Py_TPFLAGS_HEAPTYPE)) Py_VISIT(Py_TYPE(self));
    Py_VISIT(entry->name);
    Py_VISIT(entry->info);
    Py_VISIT(entry->makers);
    Py_VISIT(entry->general);
    for (int i = 0; i < PYTHON_COUNT; i++) Py_VISIT(entry->python[i]);
    for (int i = 0; entry->parameters != NULL && i < entry->count; i++)
        Py_VISIT(entry->parameters[i].fallback);
    traverseproc traverse = (traverseproc)PyType_GetSlot(base.function, Py_tp_traverse);
    return traverse == NULL ? 0 : traverse(self, visit, arg);
}

static void clear_parameters(Entry *entry)
{
    Parameter *parameters = entry->parameters;
    int count = entry->count;
    entry->parameters = NULL;
    entry->call = call_unread;
    if (parameters == NULL) return;
    for (int i = 0; i < count; i++) {
        Py_XDECREF(parameters[i].name);
        Py_XDECREF(parameters[i].fallback);
        Py_XDECREF(parameters[i].pointee);
    }
    PyMem_Free(parameters);
}

static int entry_clear(PyObject *self)
{
    Entry *entry = entry_of(self);
    clear_parameters(entry);
    Py_CLEAR(entry->name);
    Py_CLEAR(entry->info);
    Py_CLEAR(entry->makers);
    Py_CLEAR(entry->general);
    for (int i = 0; i < PYTHON_COUNT; i++) Py_CLEAR(entry->python[i]);
    inquiry clear = (inquiry)PyType_GetSlot(base.function, Py_tp_clear);
    return clear == NULL ? 0 : clear(self);
}

static void entry_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (entry_of(self)->weak_references != NULL) PyObject_ClearWeakRefs(self);
    entry_clear(self);
    destructor dealloc = (destructor)PyType_GetSlot(base.function, Py_tp_dealloc);
    dealloc(self);
    /* If the base is a heap type, it has dropped the reference to the type. */
    if (!(PyType_GetFlags(base.function) & Py_TPFLAGS_HEAPTYPE)) Py_DECREF(type);
}

PyDoc_STRVAR(make_type_doc,
             "make_type(bases, size, handle, release_gil, addresses, learn)\n--\n\n"
             "Make a type of entries: `bases` end with tvm_ffi.Function, whose instances have "
             "`size` bytes. Their `__call__` is for tools that look it up: calls do not use it.");

static PyObject *make_type(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *bases, *learner;
    Py_ssize_t size, handle, release_gil;
    unsigned long long incref, decref, string, bytes, take_error, set_stream;
    if (!PyArg_ParseTuple(args, "O!nnn(KKKKKK)O", &PyTuple_Type, &bases, &size, &handle,
                          &release_gil, &incref, &decref, &string, &bytes, &take_error,
                          &set_stream, &learner))
        return NULL;
    if (entry_type_count == MAX_TYPES) {
        PyErr_SetString(PyExc_RuntimeError, "the types are made already");
        return NULL;
    }
    PyObject *function = PyTuple_GetItem(bases, PyTuple_Size(bases) - 1);
    if (function == NULL) return NULL;
    PyMemberDef members[] = {
        {"__vectorcalloffset__", Py_T_PYSSIZET, size + offsetof(Entry, call), Py_READONLY, NULL},
        {"__weaklistoffset__", Py_T_PYSSIZET, size + offsetof(Entry, weak_references), Py_READONLY,
         NULL},
        {"_name", Py_T_OBJECT_EX, size + offsetof(Entry, name), Py_READONLY, NULL},
        {"_info", Py_T_OBJECT_EX, size + offsetof(Entry, info), Py_READONLY, NULL},
        {"_general_calls", Py_T_UINT, size + offsetof(Entry, general_calls), Py_READONLY,
         "How many calls were not read here."},
        {"_by_position", Py_T_BOOL, size + offsetof(Entry, by_position), Py_READONLY, NULL},
        {NULL, 0, 0, 0, NULL},
    };
    PyType_Slot slots[] = {
        {Py_tp_traverse, entry_traverse},
        {Py_tp_clear, entry_clear},
        {Py_tp_dealloc, entry_dealloc},
        /* tvm-ffi's own functions may reuse the memory for an object with other fields. */
        {Py_tp_alloc, entry_alloc},
        {Py_tp_free, PyObject_GC_Del},
        {Py_tp_members, members},
        {0, NULL},
    };
    PyType_Spec spec = {
        "ffi_builder.entry._entry.Entry",
        (int)(size + (Py_ssize_t)sizeof(Entry)),
        0,
        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
        slots,
    };
    base.function = (PyTypeObject *)function;
    base.object = (PyTypeObject *)PyType_GetSlot(base.function, Py_tp_base);
    base.entry = size;
    base.handle = handle;
    base.release_gil = release_gil;
    base.call = (ternaryfunc)PyType_GetSlot(base.function, Py_tp_call);
    ffi.incref = (int (*)(void *))(uintptr_t)incref;
    ffi.decref = (int (*)(void *))(uintptr_t)decref;
    ffi.string = (int (*)(const ByteArray *, Any *))(uintptr_t)string;
    ffi.bytes = (int (*)(const ByteArray *, Any *))(uintptr_t)bytes;
    ffi.take_error = (void (*)(void **))(uintptr_t)take_error;
    ffi.set_stream = (int (*)(int32_t, int32_t, void *, void **))(uintptr_t)set_stream;
    PyObject *made = PyType_FromSpecWithBases(&spec, bases);
    if (made == NULL) return NULL;
    entry_types[entry_type_count++] = (PyTypeObject *)made;
    Py_INCREF(function);
    Py_INCREF(learner);
    base.learn = learner;
    Py_INCREF(made);
    return made;
}

PyDoc_STRVAR(use_finish_doc,
             "use_finish(function)\n--\n\n"
             "Take the tvm_ffi.Function whose code is at `FINISH`: it makes errors and objects.");

static PyObject *use_finish(PyObject *module, PyObject *function)
{
    (void)module;
    Py_INCREF(function);
    Py_XDECREF(base.finish);
    base.finish = function;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(describe_doc,
             "describe(entry, name, info, makers, by_position, returns, positional, parameters)\n"
             "--\n\n"
             "Tell an entry what it is. `parameters` are tuples (name, kind, position, "
             "pointee, *default), or None if no call is to be read here; `positional` of them are "
             "taken by position.");

static PyObject *describe(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *self, *name, *info, *makers, *parameters;
    int by_position, returns, positional;
    if (!PyArg_ParseTuple(args, "OOOO!piiO", &self, &name, &info, &PyTuple_Type, &makers,
                          &by_position, &returns, &positional, &parameters) ||
        !is_entry(self))
        return NULL;
    if (PyTuple_Size(makers) != PYTHON_COUNT) {
        PyErr_SetString(PyExc_ValueError, "another number of makers");
        return NULL;
    }
    Entry *entry = entry_of(self);
    if (entry->makers != NULL) {
        PyErr_SetString(PyExc_RuntimeError, "the entry is described already");
        return NULL;
    }
    Py_ssize_t count = 0;
    Parameter *made = NULL;
    if (parameters != Py_None) {
        count = PyTuple_Size(parameters);
        if (count < 0) return NULL;
        if (count > MAX_ARGS || positional < 0 || positional > count) {
            PyErr_SetString(PyExc_ValueError, "too many parameters");
            return NULL;
        }
        made = PyMem_Calloc(count + 1, sizeof *made);
        if (made == NULL) return PyErr_NoMemory();
    }
    Py_INCREF(name);
    Py_INCREF(info);
    Py_INCREF(makers);
    entry->name = name;
    entry->info = info;
    entry->makers = makers;
    entry->by_position = (uint8_t)by_position;
    entry->returns = (uint8_t)returns;
    entry->positional = (uint8_t)positional;
    entry->count = (uint8_t)count;
    entry->parameters = made;
    entry->ordered = 1;
    for (Py_ssize_t i = 0; i < count; i++) {
        Parameter *it = &made[i];
        PyObject *of = PyTuple_GetItem(parameters, i), *default_ = NULL, *called, *pointee;
        if (of == NULL || !PyArg_ParseTuple(of, "UbbU|O", &called, &it->kind, &it->at, &pointee,
                                            &default_))
            return NULL;
        if (it->at >= count) {
            PyErr_SetString(PyExc_ValueError, "no such parameter");
            return NULL;
        }
        if (i < positional && it->at != i) entry->ordered = 0;
        Py_INCREF(called);
        it->name = called;
        PyUnicode_InternInPlace(&it->name);
        if (PyUnicode_GetLength(pointee) != 0) {
            Py_INCREF(pointee);
            it->pointee = pointee;
        }
        Py_XINCREF(default_);
        it->fallback = default_;
    }
    if (made != NULL) entry->call = call_read;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"make_type", make_type, METH_VARARGS, make_type_doc},
    {"use_finish", use_finish, METH_O, use_finish_doc},
    {"describe", describe, METH_VARARGS, describe_doc},
    {"use_numpy", use_numpy, METH_VARARGS, use_numpy_doc},
    {"use_addresses", use_addresses, METH_VARARGS, use_addresses_doc},
    {"use_managed", use_managed, METH_VARARGS, use_managed_doc},
    {"use_torch", use_torch, METH_VARARGS, use_torch_doc},
    {"use_modes", use_modes, METH_VARARGS, use_modes_doc},
    {"is_watched", operators_watched, METH_NOARGS, operators_watched_doc},
    {"ask_for_modes", ask_for_modes, METH_VARARGS, ask_for_modes_doc},
    {"use_buffer", use_buffer, METH_O, use_buffer_doc},
    {"use_exchange", use_exchange, METH_VARARGS, use_exchange_doc},
    {NULL, NULL, 0, NULL},
};

static int execute(PyObject *module)
{
    static int done; /* runs only once: the type and the offsets belong to the process */
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0) {
        PyErr_SetString(PyExc_ImportError, "this is a subinterpreter");
        return -1;
    }
    if (done) {
        PyErr_SetString(PyExc_ImportError, "it was loaded before");
        return -1;
    }
    done = 1;
    PyObject *address = PyLong_FromVoidPtr((void *)finish);
    if (address == NULL || PyModule_AddObject(module, "FINISH", address) != 0) return -1;
    return PyModule_AddIntConstant(module, "MAX_ARGS", MAX_ARGS);
}

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, execute},
#ifdef Py_mod_multiple_interpreters
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#endif
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    "ffi_builder.entry._entry",
    "Calls of compiled functions whose arguments are read in C.",
    0,
    methods,
    module_slots,
    NULL,
    NULL,
    NULL,
};

PyMODINIT_FUNC PyInit__entry(void) { return PyModuleDef_Init(&definition); }
