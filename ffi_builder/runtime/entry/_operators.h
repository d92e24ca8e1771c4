/* Operators of torch: entries whose calls are read only while nothing looks at operators. */
#ifndef FFI_BUILDER_ENTRY_OPERATORS_H
#define FFI_BUILDER_ENTRY_OPERATORS_H

#include "_calls.h"

/* What may look at operators: modes of torch_dispatch and torch_function, a tracer, autocast. */
static struct {
    _Bool (*dispatch)(_Bool skip_infra);
    _Bool (*function)(void);
    _Bool (*included)(uint16_t key);
    _Bool (*excluded)(uint64_t keys); /* whether all these bits of a DispatchKeySet are */
    uint64_t autocast; /* the dispatch keys that are excluded while no autocast is on */
    uint16_t tracer;   /* the dispatch key that is included while torch.jit traces */
} modes;

static inline int operators_are_watched(void)
{
    return modes.dispatch(0) || modes.function() || modes.included(modes.tracer);
}

static inline int autocast_is_on(void) { return !modes.excluded(modes.autocast); }

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
             "use_modes(dispatch, function, included, excluded, autocast, tracer)\n--\n\n"
             "Take the addresses of torch's functions that say whether a mode is on, a dispatch "
             "key is included, or a set of them is excluded, and the keys of autocast and of the "
             "tracer.");

static PyObject *use_modes(PyObject *module, PyObject *args)
{
    (void)module;
    unsigned long long dispatch, function, included, excluded, autocast;
    unsigned short tracer;
    if (!PyArg_ParseTuple(args, "KKKKKH", &dispatch, &function, &included, &excluded, &autocast,
                          &tracer))
        return NULL;
    modes.dispatch = (_Bool (*)(_Bool))(uintptr_t)dispatch;
    modes.function = (_Bool (*)(void))(uintptr_t)function;
    modes.included = (_Bool (*)(uint16_t))(uintptr_t)included;
    modes.excluded = (_Bool (*)(uint64_t))(uintptr_t)excluded;
    modes.autocast = autocast;
    modes.tracer = tracer;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(is_watched_doc,
             "is_watched()\n--\n\n"
             "Return whether a mode of torch or autocast is on. `use_modes` comes first.");

static PyObject *is_watched(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    if (modes.dispatch == NULL) {
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
    if (modes.dispatch == NULL || entry->call == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "use_modes and describe come first");
        return NULL;
    }
    if (entry->call == call_read) entry->call = autocast ? call_operator : call_kernel;
    Py_RETURN_NONE;
}

#endif
