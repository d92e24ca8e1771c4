/* A callable that reads its arguments itself: one vectorcall type, based on tvm_ffi.Function.
 *
 * An entry has a table of its parameters. A call binds keywords and defaults, reads each argument
 * into a TVMFFIAny without making an object, and calls the function. What is not exactly of a type
 * that is known here, and every other doubt, goes to the general function with the same arguments,
 * before anything has run; so that one says what is wrong. Nothing is kept between calls, so an
 * entry may be called by many threads, and by itself.
 *
 * Offsets and addresses come from Python (layouts.py), which has checked them on real objects.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <string.h>

#include "_abi.h"
#include "_arrays.h"

/* What an argument may be. None is read for each kind. */
enum { KIND_GENERAL = 0, KIND_SCALAR = 1, KIND_TENSOR = 2, KIND_TENSOR_IN = 3, KIND_KEPT = 4 };

typedef struct {
    PyObject *name;     /* interned */
    PyObject *fallback; /* the default, or NULL */
    uint8_t kind;
    uint8_t at; /* which argument the positional one of this number is */
} Parameter;

/* What an entry has behind the fields of a tvm_ffi.Function. */
typedef struct {
    vectorcallfunc call;
    PyObject *weak_references;
    PyObject *name, *info; /* for the properties in Python */
    PyObject *make_python; /* makes `python` of `general` and `info`, when it is first needed */
    PyObject *general;     /* a tvm_ffi.Function of the same handle, which `python` calls */
    PyObject *python;      /* the function in Python, with keywords and defaults */
    Parameter *parameters; /* NULL if calls are never read here */
    uint8_t count, positional;
    uint8_t ordered; /* whether the positional ones are the first, in order */
    uint8_t lenient; /* whether doubts of a positional call go to tvm-ffi's own */
    unsigned int general_calls;
} Entry;

enum { MAX_TYPES = 2 };
static PyTypeObject *entry_types[MAX_TYPES];
static int entry_type_count;
static struct {
    PyTypeObject *function; /* tvm_ffi.Function */
    Py_ssize_t entry;       /* where an entry's own fields begin */
    Py_ssize_t handle, release_gil;
    ternaryfunc call; /* the slot */
    PyObject *finish;
    PyObject *learn; /* called once with the type of an argument that is not known here */
} base;

/* libtvm_ffi's functions. */
static struct {
    int (*incref)(void *);
    int (*decref)(void *);
    int (*string)(const ByteArray *, Any *);
    void (*take_error)(void **);
    int (*set_stream)(int32_t, int32_t, void *, void **);
} ffi;

#ifdef Py_LIMITED_API
#define TUPLE_SIZE PyTuple_Size
#define TUPLE_ITEM PyTuple_GetItem
#else
#define TUPLE_SIZE PyTuple_GET_SIZE
#define TUPLE_ITEM PyTuple_GET_ITEM
#endif

static inline Entry *entry_of(PyObject *self)
{
    return (Entry *)((char *)self + base.entry);
}

/* ---- reading */

static int read_string(PyObject *text, Call *call, Any *out)
{
    ByteArray bytes;
    Py_ssize_t size;
    bytes.data = PyUnicode_AsUTF8AndSize(text, &size);
    if (bytes.data == NULL) {
        PyErr_Clear(); /* surrogates */
        return 0;
    }
    bytes.size = (size_t)size;
    if (ffi.string(&bytes, out) != 0) return 0;
    if (out->type_index >= ANY_OBJECT) call->strings[call->string_count++] = out->v_ptr;
    return 1;
}

static int read_tensor(PyObject *value, PyTypeObject *type, int kind, Call *call, Any *out)
{
    if (type == managed.tensor) return read_managed(value, out);
    if (kind == KIND_KEPT) return 0;
    if (type == numpy.array) return read_ndarray(value, call, out);
    if (type == torch.tensor || type == torch.parameter)
        return read_torch(value, call, out, kind == KIND_TENSOR_IN);
    return read_exchange(value, type, call, out);
}

static inline int read_argument(PyObject *value, int kind, Call *call, Any *out)
{
    PyTypeObject *type = Py_TYPE(value);
    if (kind >= KIND_TENSOR && value != Py_None)
        return read_tensor(value, type, kind, call, out);
    out->small_str_len = 0;
    if (value == Py_None) {
        out->type_index = ANY_NONE;
        out->v_int64 = 0;
        return 1;
    }
    if (kind == KIND_GENERAL) return 0;
    if (type == &PyLong_Type) {
        int overflow;
        out->type_index = ANY_INT;
#if PY_VERSION_HEX < 0x030C0000
        /* What PyLong_AsLongLongAndOverflow does first, without a call. */
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
    if (type == &PyBool_Type) {
        out->type_index = ANY_BOOL;
        out->v_int64 = value == Py_True;
        return 1;
    }
    return type == &PyUnicode_Type && read_string(value, call, out);
}

/* The number of the parameter of that name, or -1. */
static int parameter_named(const Entry *entry, PyObject *name)
{
    for (int i = 0; i < entry->count; i++)
        if (entry->parameters[i].name == name) return i;
    for (int i = 0; i < entry->count; i++)
        if (PyUnicode_Compare(entry->parameters[i].name, name) == 0) return i;
    return -1;
}

/* Whether all arguments are given, in the order of the parameters: `args` is what `bind` makes. */
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

/* Put what is given, and defaults, in the order of the parameters. 0 if that cannot be done. */
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
    if (given + named == count) return 1; /* each of them once */
    for (Py_ssize_t i = 0; i < count; i++) {
        if (values[i] == NULL) values[i] = entry->parameters[i].fallback;
        if (values[i] == NULL) return 0;
    }
    return 1;
}

static void drop_strings(Call *call)
{
    for (int i = 0; i < call->string_count; i++) ffi.decref(call->strings[i]);
}

/* ---- what came back */

typedef struct {
    Any result;
    int status;
} Outcome;

/* The code of `base.finish`, a tvm_ffi.Function: it ends as another call did. */
static int finish(void *handle, const Any *args, int32_t count, Any *result)
{
    (void)handle;
    (void)count;
    const Outcome *outcome = args[0].v_ptr;
    *result = outcome->result;
    return outcome->status;
}

/* Let tvm-ffi make the error or the object of a call. */
static PyObject *finished(Outcome *outcome)
{
    if (outcome->status != 0 && PyErr_Occurred()) {
        /* Raised by Python code that was called; what TVM-FFI has noted says no more than that. */
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

static PyObject *returned(Outcome *outcome)
{
    if (outcome->status == 0) {
        switch (outcome->result.type_index) {
            case ANY_NONE:
                Py_INCREF(Py_None);
                return Py_None;
            case ANY_INT:
                return PyLong_FromLongLong(outcome->result.v_int64);
            case ANY_FLOAT:
                return PyFloat_FromDouble(outcome->result.v_float64);
            case ANY_BOOL:
                return PyBool_FromLong(outcome->result.v_int64 != 0);
        }
    }
    return finished(outcome);
}

/* ---- calling */

/* The call that has been read. The handle was looked at before. */
static PyObject *run(PyObject *self, int count, Call *call)
{
    Outcome outcome = {{ANY_NONE, 0, {0}}, 0};
    void *handle = FIELD(void *, self, base.handle), *previous = NULL;
    SafeCall code = FIELD(SafeCall, handle, FUNCTION_SAFE_CALL);
    for (int i = 0; i < call->version_count; i++)
        __atomic_fetch_add(call->versions[i], 1, __ATOMIC_RELAXED);
    if (call->has_stream) {
        outcome.status = ffi.set_stream(call->device_type, call->device_id, call->stream, &previous);
        if (outcome.status != 0) {
            drop_strings(call);
            return returned(&outcome);
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
    if (call->string_count) drop_strings(call);
    return returned(&outcome);
}

/* Another tvm_ffi.Function of the same handle. */
static PyObject *same_function(PyObject *self)
{
    void *handle = FIELD(void *, self, base.handle);
    PyObject *made = PyObject_CallMethod((PyObject *)base.function, "__new__", "O", base.function);
    if (made == NULL || handle == NULL) return made;
    if (ffi.incref(handle) != 0) {
        Py_DECREF(made);
        PyErr_SetString(PyExc_RuntimeError, "a function's handle cannot be counted");
        return NULL;
    }
    FIELD(void *, made, base.handle) = handle;
    return made;
}

/* The function in Python; a borrowed reference, or NULL and an error. */
static PyObject *python_of(PyObject *self, Entry *entry)
{
    if (entry->python == NULL) {
        PyObject *general = same_function(self);
        if (general == NULL) return NULL;
        PyObject *made =
            PyObject_CallFunctionObjArgs(entry->make_python, general, entry->info, NULL);
        if (made != NULL && entry->python == NULL) {
            entry->general = general;
            entry->python = made;
            general = made = NULL;
        } /* else it failed, or another thread was quicker */
        Py_XDECREF(general);
        Py_XDECREF(made);
        if (entry->python == NULL) return NULL;
    }
    FIELD(int, entry->general, base.release_gil) = FIELD(int, self, base.release_gil);
    return entry->python;
}

/* Show Python the types that were not known here, so that it can say how they are read. */
static int learn(const Entry *entry, PyObject *const *values)
{
    static const void *seen[16]; /* addresses only: a type in another's place is not learnt */
    for (int i = 0; i < entry->count; i++) {
        PyTypeObject *type = Py_TYPE(values[i]);
        if (entry->parameters[i].kind < KIND_TENSOR || type == managed.tensor ||
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

/* The same arguments, by the general way. */
static PyObject *call_general(PyObject *self, PyObject *const *args, size_t flagged,
                              PyObject *keywords, int bound)
{
    Entry *entry = entry_of(self);
    entry->general_calls++;
    Py_ssize_t given = flagged & ~PY_VECTORCALL_ARGUMENTS_OFFSET;
    int named = keywords != NULL && PyTuple_Size(keywords) > 0;
    if (!named && entry->lenient && (!bound || given == entry->count)) {
        PyObject *tuple = PyTuple_New(given);
        if (tuple == NULL) return NULL;
        for (Py_ssize_t i = 0; i < given; i++) {
            Py_INCREF(args[i]);
            PyTuple_SetItem(tuple, i, args[i]);
        }
        PyObject *result = base.call(self, tuple, NULL);
        Py_DECREF(tuple);
        return result;
    }
    PyObject *python = python_of(self, entry);
    if (python == NULL) return NULL;
    Py_INCREF(python);
    PyObject *result = PyObject_Vectorcall(python, args, flagged, keywords);
    Py_DECREF(python);
    return result;
}

static PyObject *call_unread(PyObject *self, PyObject *const *args, size_t flagged,
                             PyObject *keywords)
{
    return call_general(self, args, flagged, keywords, 0);
}

static PyObject *call_read(PyObject *self, PyObject *const *args, size_t flagged,
                           PyObject *keywords)
{
    const Entry *entry = entry_of(self);
    Py_ssize_t given = flagged & ~PY_VECTORCALL_ARGUMENTS_OFFSET;
    PyObject *bound[MAX_ARGS], *const *values = args;
    if (!in_order(entry, given, keywords)) {
        if (!bind(entry, args, given, keywords, bound))
            return call_general(self, args, flagged, keywords, 0);
        values = bound;
    }
    Call call;
    call.tensor_count = call.dim_count = call.version_count = call.string_count = 0;
    call.grad_mode = -1;
    call.has_stream = 0;
    int count = entry->count, i = 0;
    while (i < count && read_argument(values[i], entry->parameters[i].kind, &call, &call.args[i]))
        i++;
    if (i == count && FIELD(void *, self, base.handle) != NULL) return run(self, count, &call);
    drop_strings(&call);
    if (learn(entry, values) != 0) return NULL;
    return call_general(self, args, flagged, keywords, 1);
}

/* ---- operators of torch */

/* Whether anything looks at operators now: modes of torch_dispatch and torch_function, a tracer. */
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

/* A call of an operator: while a mode is on, the general way calls it through the dispatcher. */
static PyObject *call_operator(PyObject *self, PyObject *const *args, size_t flagged,
                               PyObject *keywords)
{
    if (operators_are_watched()) return call_general(self, args, flagged, keywords, 0);
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

static int is_entry(PyObject *object)
{
    for (int i = 0; i < entry_type_count; i++)
        if (Py_TYPE(object) == entry_types[i]) return 1;
    PyErr_SetString(PyExc_TypeError, "this is no entry");
    return 0;
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

/* ---- the type */

static int entry_traverse(PyObject *self, visitproc visit, void *arg)
{
    const Entry *entry = entry_of(self);
    /* A base that is a heap type itself visits the type. */
    if (!(PyType_GetFlags(base.function) & Py_TPFLAGS_HEAPTYPE)) Py_VISIT(Py_TYPE(self));
    Py_VISIT(entry->name);
    Py_VISIT(entry->info);
    Py_VISIT(entry->make_python);
    Py_VISIT(entry->general);
    Py_VISIT(entry->python);
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
    }
    PyMem_Free(parameters);
}

static int entry_clear(PyObject *self)
{
    Entry *entry = entry_of(self);
    clear_parameters(entry);
    Py_CLEAR(entry->name);
    Py_CLEAR(entry->info);
    Py_CLEAR(entry->make_python);
    Py_CLEAR(entry->general);
    Py_CLEAR(entry->python);
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
    /* A base that is a heap type itself has dropped the reference to the type. */
    if (!(PyType_GetFlags(base.function) & Py_TPFLAGS_HEAPTYPE)) Py_DECREF(type);
}

PyDoc_STRVAR(make_type_doc,
             "make_type(bases, size, handle, release_gil, addresses, learn, call)\n--\n\n"
             "Make a type of entries: `bases` end with tvm_ffi.Function, whose instances have "
             "`size` bytes. With `call` false its `__call__` is that of the bases, for who looks it "
             "up: calls do not use it.");

static PyObject *make_type(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *bases, *learner;
    Py_ssize_t size, handle, release_gil;
    unsigned long long incref, decref, string, take_error, set_stream;
    int own_call;
    if (!PyArg_ParseTuple(args, "O!nnn(KKKKK)Op", &PyTuple_Type, &bases, &size, &handle,
                          &release_gil, &incref, &decref, &string, &take_error,
                          &set_stream, &learner, &own_call))
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
        {"_lenient", Py_T_BOOL, size + offsetof(Entry, lenient), Py_READONLY, NULL},
        {NULL, 0, 0, 0, NULL},
    };
    PyType_Slot slots[] = {
        {Py_tp_traverse, entry_traverse},
        {Py_tp_clear, entry_clear},
        {Py_tp_dealloc, entry_dealloc},
        /* tvm-ffi's own keep memory for the next object of a handle, which has other fields. */
        {Py_tp_alloc, PyType_GenericAlloc},
        {Py_tp_free, PyObject_GC_Del},
        {Py_tp_members, members},
        {own_call ? Py_tp_call : 0, PyVectorcall_Call},
        {0, NULL},
    };
    PyType_Spec spec = {
        "ffi_builder.runtime.entry._entry.Entry",
        (int)(size + (Py_ssize_t)sizeof(Entry)),
        0,
        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
        slots,
    };
    base.function = (PyTypeObject *)function;
    base.entry = size;
    base.handle = handle;
    base.release_gil = release_gil;
    base.call = (ternaryfunc)PyType_GetSlot(base.function, Py_tp_call);
    ffi.incref = (int (*)(void *))(uintptr_t)incref;
    ffi.decref = (int (*)(void *))(uintptr_t)decref;
    ffi.string = (int (*)(const ByteArray *, Any *))(uintptr_t)string;
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
             "describe(entry, name, info, make_python, lenient, positional, parameters)\n--\n\n"
             "Tell an entry what it is. `parameters` are tuples (name, kind, position, *default), "
             "or None if no call is to be read here; `positional` of them are taken by position.");

static PyObject *describe(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *self, *name, *info, *make_python, *parameters;
    int lenient, positional;
    if (!PyArg_ParseTuple(args, "OOOOpiO", &self, &name, &info, &make_python, &lenient,
                          &positional, &parameters) || !is_entry(self))
        return NULL;
    Entry *entry = entry_of(self);
    if (entry->call != NULL) {
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
    Py_INCREF(make_python);
    entry->name = name;
    entry->info = info;
    entry->make_python = make_python;
    entry->lenient = (uint8_t)lenient;
    entry->positional = (uint8_t)positional;
    entry->count = (uint8_t)count;
    entry->parameters = made;
    entry->call = call_unread;
    entry->ordered = 1;
    for (Py_ssize_t i = 0; i < count; i++) {
        Parameter *it = &made[i];
        PyObject *of = PyTuple_GetItem(parameters, i), *default_ = NULL, *called;
        if (of == NULL || !PyArg_ParseTuple(of, "Ubb|O", &called, &it->kind, &it->at, &default_))
            return NULL;
        if (it->at >= count) {
            PyErr_SetString(PyExc_ValueError, "no such parameter");
            return NULL;
        }
        if (i < positional && it->at != i) entry->ordered = 0;
        Py_INCREF(called);
        it->name = called;
        PyUnicode_InternInPlace(&it->name);
        Py_XINCREF(default_);
        it->fallback = default_;
    }
    if (made != NULL) entry->call = call_read;
    Py_RETURN_NONE;
}

/* ---- set-up */

/* The pairs (number, (code, bits)) of a dict, as a table. */
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
             "use_managed(tensor, handle)\n--\n\n"
             "Read exact `tvm_ffi.Tensor`s, whose handle is at that offset; or with None no longer.");

static PyObject *use_managed(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *type;
    if (!PyArg_ParseTuple(args, "On", &type, &managed.handle)) return NULL;
    use_type(&managed.tensor, type);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(use_torch_doc,
             "use_torch(tensor, parameter, dtypes, offsets, keys, api, addresses)\n--\n\n"
             "Read exact `torch.Tensor`s and Parameters, or with None no longer.");

static PyObject *use_torch(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *tensor, *parameter, *dtypes;
    Py_ssize_t at[6];
    unsigned long long allowed, needed, api, to[9];
    if (!PyArg_ParseTuple(args, "OOO!(nnnnnn)(KK)K(KKKKKKKKK)", &tensor, &parameter, &PyDict_Type,
                          &dtypes, &at[0], &at[1], &at[2], &at[3], &at[4], &at[5], &allowed,
                          &needed, &api, &to[0], &to[1], &to[2], &to[3], &to[4], &to[5], &to[6],
                          &to[7], &to[8]))
        return NULL;
    if (fill_dtypes(dtypes, torch.dtypes) != 0) return NULL;
    torch.impl = at[0];
    torch.keys = at[1];
    torch.autograd = at[2];
    torch.tangent = at[3];
    torch.counter = at[4];
    torch.version = at[5];
    torch.allowed_keys = allowed;
    torch.needed_keys = needed;
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
    use_type(&torch.tensor, tensor);
    use_type(&torch.parameter, parameter);
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
    if (exchange_count == MAX_EXCHANGE || api->major != 1 || api->borrow == NULL) Py_RETURN_FALSE;
    exchange[exchange_count].type = NULL;
    use_type(&exchange[exchange_count].type, type);
    exchange[exchange_count].api = api;
    exchange_count++;
    Py_RETURN_TRUE;
}

static PyMethodDef methods[] = {
    {"make_type", make_type, METH_VARARGS, make_type_doc},
    {"use_finish", use_finish, METH_O, use_finish_doc},
    {"describe", describe, METH_VARARGS, describe_doc},
    {"use_numpy", use_numpy, METH_VARARGS, use_numpy_doc},
    {"use_managed", use_managed, METH_VARARGS, use_managed_doc},
    {"use_torch", use_torch, METH_VARARGS, use_torch_doc},
    {"use_modes", use_modes, METH_VARARGS, use_modes_doc},
    {"ask_for_modes", ask_for_modes, METH_O, ask_for_modes_doc},
    {"use_exchange", use_exchange, METH_VARARGS, use_exchange_doc},
    {NULL, NULL, 0, NULL},
};

static int execute(PyObject *module)
{
    static int done; /* one interpreter only: types and offsets are the process's */
    if (done) {
        PyErr_SetString(PyExc_ImportError, "it is loaded in another interpreter already");
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
    "ffi_builder.runtime.entry._entry",
    "Calls of compiled functions whose arguments are read in C.",
    0,
    methods,
    module_slots,
    NULL,
    NULL,
    NULL,
};

PyMODINIT_FUNC PyInit__entry(void) { return PyModuleDef_Init(&definition); }
