/* Operators of torch: entries whose calls are read only while nothing looks at operators. */
#ifndef FFI_BUILDER_ENTRY_OPERATORS_H
#define FFI_BUILDER_ENTRY_OPERATORS_H

#include "_calls.h"

/* What may look at operators: modes of torch_dispatch and torch_function, a tracer. */
static struct {
    _Bool (*dispatch)(_Bool skip_infra);
    _Bool (*function)(void);
    _Bool (*included)(uint16_t key);
    uint16_t tracer; /* the dispatch key that is included while torch.jit traces */
} modes;

static inline int operators_are_watched(void)
{
    return modes.dispatch(0) || modes.function() || modes.included(modes.tracer);
}

/* A call of an operator. While a mode is on, Python calls it through the dispatcher. */
static PyObject *call_operator(PyObject *self, PyObject *const *args, size_t flagged,
                               PyObject *keywords)
{
    if (operators_are_watched()) return call_unread(self, args, flagged, keywords);
    return call_read(self, args, flagged, keywords);
}

PyDoc_STRVAR(use_modes_doc,
             "use_modes(dispatch, function, included, tracer)\n--\n\n"
             "Take the addresses of torch's functions that say whether a mode is on or a dispatch "
             "key is included, and the key of the tracer.");

static PyObject *use_modes(PyObject *module, PyObject *args)
{
    (void)module;
    unsigned long long dispatch, function, included;
    unsigned short tracer;
    if (!PyArg_ParseTuple(args, "KKKH", &dispatch, &function, &included, &tracer)) return NULL;
    modes.dispatch = (_Bool (*)(_Bool))(uintptr_t)dispatch;
    modes.function = (_Bool (*)(void))(uintptr_t)function;
    modes.included = (_Bool (*)(uint16_t))(uintptr_t)included;
    modes.tracer = tracer;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(ask_for_modes_doc,
             "ask_for_modes(entry)\n--\n\n"
             "Read calls of this entry only while no mode of torch is on. `use_modes` comes first.");

static PyObject *ask_for_modes(PyObject *module, PyObject *self)
{
    (void)module;
    if (!is_entry(self)) return NULL;
    Entry *entry = entry_of(self);
    if (modes.dispatch == NULL || entry->call == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "use_modes and describe come first");
        return NULL;
    }
    if (entry->call == call_read) entry->call = call_operator;
    Py_RETURN_NONE;
}

#endif
