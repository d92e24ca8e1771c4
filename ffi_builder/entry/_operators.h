/* Operators of torch: entries whose calls are read only while nothing looks at operators. */
#ifndef FFI_BUILDER_ENTRY_OPERATORS_H
#define FFI_BUILDER_ENTRY_OPERATORS_H

#include "_calls.h"

/* What may look at operators, beside what looks at all calls: modes of torch_function, autocast. */
static struct {
    _Bool (*function)(void);
    uint64_t autocast; /* the dispatch keys that are left out while no autocast is on */
} modes;

static inline int operators_are_watched(void) { return is_watched() || modes.function(); }

static inline int autocast_is_on(void) { return (local_keys()->excluded & modes.autocast) != 0; }

/* A call of an operator. While a mode is on, Python calls it through the dispatcher. It also does
 * so while autocast is on, since an autocast rule may be registered at any time. */
static PyObject *call_operator(PyObject *self, PyObject *const *args, size_t flagged,
                               PyObject *keywords)
{
    if (operators_are_watched() || autocast_is_on())
        return call_unread(self, args, flagged, keywords);
    return call_read(self, args, flagged, keywords);
}

/* A call of an operator's autograd kernel by the dispatcher, which has handled autocast already. */
static PyObject *call_kernel(PyObject *self, PyObject *const *args, size_t flagged,
                             PyObject *keywords)
{
    if (operators_are_watched()) return call_unread(self, args, flagged, keywords);
    return call_read(self, args, flagged, keywords);
}

PyDoc_STRVAR(use_modes_doc,
             "use_modes(function, autocast)\n--\n\n"
             "Take the address of torch's function that says whether a mode of torch_function is "
             "on, and the dispatch keys of autocast. `use_torch` comes first.");

static PyObject *use_modes(PyObject *module, PyObject *args)
{
    (void)module;
    unsigned long long function, autocast;
    if (!PyArg_ParseTuple(args, "KK", &function, &autocast)) return NULL;
    modes.function = (_Bool (*)(void))(uintptr_t)function;
    modes.autocast = autocast;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(operators_watched_doc,
             "is_watched()\n--\n\n"
             "Return whether a mode of torch or autocast is on. `use_modes` comes first.");

static PyObject *operators_watched(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    if (modes.function == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "use_modes comes first");
        return NULL;
    }
    return PyBool_FromLong(operators_are_watched() || autocast_is_on());
}

PyDoc_STRVAR(ask_for_modes_doc,
             "ask_for_modes(entry, autocast)\n--\n\n"
             "Read calls of this entry only while no mode of torch is on; with `autocast`, only "
             "while that is off, too. `use_modes` comes first.");

static PyObject *ask_for_modes(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *self;
    int autocast;
    if (!PyArg_ParseTuple(args, "Op", &self, &autocast) || !is_entry(self)) return NULL;
    Entry *entry = entry_of(self);
    if (modes.function == NULL || entry->makers == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "use_modes and describe come first");
        return NULL;
    }
    if (entry->call == call_read) entry->call = autocast ? call_operator : call_kernel;
    Py_RETURN_NONE;
}

#endif
