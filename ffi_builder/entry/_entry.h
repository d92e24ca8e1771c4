/* The fields of an entry, and the state that all entries of the process share. */
#ifndef FFI_BUILDER_ENTRY_ENTRY_H
#define FFI_BUILDER_ENTRY_ENTRY_H

#include "_abi.h"
#include "_arrays.h"

/* Kinds of arguments. For each kind, None is read. */
enum {
    KIND_GENERAL = 0,   /* no array, and not converted by Python: left to tvm-ffi */
    KIND_SCALAR = 1,     /* a number, a str or a stream */
    KIND_TEXT = 2,       /* a str that may be borrowed */
    KIND_BYTES = 3,      /* bytes that may be borrowed */
    KIND_KEPT_BYTES = 4, /* bytes that may outlive the call */
    KIND_TENSOR = 5,     /* may be borrowed */
    KIND_TENSOR_IN = 6,  /* and is only read */
    KIND_KEPT = 7,       /* may outlive the call, so tvm-ffi makes an object of it */
    KIND_KEPT_IN = 8,
    KIND_ITEMS = 9,    /* a list or tuple, in which every array may be written */
    KIND_UNKNOWN = 10, /* left to Python */
    KIND_HANDLE = 11,  /* an address: a handle that is open or a `c_void_p` */

    KIND_BITS = 15,
    KIND_LISTS = 16,   /* may be added: lists and tuples of plain values may be borrowed */
    KIND_VARIANT = 32, /* may be added: a number or a tensor, which may be borrowed */
    KIND_ARRAYS = 64,  /* may be added to KIND_LISTS: arrays in them may be borrowed, too */
    KIND_READS = 128,  /* may be added to KIND_ARRAYS: and are only read */
};

/* Functions in Python. They take all arguments in order; the arguments as given; a result and the
 * arguments; or the arguments and an error. */
enum { PYTHON_IN_ORDER, PYTHON_AS_GIVEN, PYTHON_RETURNED, PYTHON_REFUSED, PYTHON_COUNT };

typedef struct {
    PyObject *name;     /* interned */
    PyObject *fallback; /* the default, or NULL */
    PyObject *pointee;  /* of a handle what it points to, interned; NULL if nothing says it */
    uint8_t kind;
    uint8_t at; /* the argument to which the positional argument of this number belongs */
} Parameter;

/* Kinds of results. */
enum {
    RETURNS_AS_IS = 0,
    RETURNS_TENSORS = 1, /* converted to the framework of the arguments */
    RETURNS_TUPLE = 2,   /* several, without tensors */
};

/* The fields of an entry after those of a tvm_ffi.Function. */
typedef struct {
    vectorcallfunc call;
    PyObject *weak_references;
    PyObject *name, *info; /* for the properties in Python */
    PyObject *makers;      /* make `python` from `general` and `info` on first use */
    PyObject *general;     /* a tvm_ffi.Function with the same handle, which `python` calls */
    PyObject *python[PYTHON_COUNT]; /* the functions in Python, by PYTHON_… */
    Parameter *parameters; /* NULL if calls are never read here */
    uint8_t count, positional;
    uint8_t ordered;     /* whether the positional parameters come first, in order */
    uint8_t by_position; /* whether it is shown as a function of positional arguments */
    uint8_t returns; /* RETURNS_… */
    unsigned int general_calls;
} Entry;

enum { MAX_TYPES = 2 }; /* entries, and entries that are operators of torch */
static PyTypeObject *entry_types[MAX_TYPES];
static int entry_type_count;
static struct {
    PyTypeObject *function; /* tvm_ffi.Function */
    PyTypeObject *object;   /* its base, which all objects of tvm-ffi share */
    Py_ssize_t entry;       /* the offset of an entry's own fields */
    Py_ssize_t handle, release_gil;
    ternaryfunc call; /* the slot */
    PyObject *finish;
    PyObject *learn; /* called once with each unknown type of an argument */
} base;

/* Objects that are addresses: open handles have an int in a slot, and a `c_void_p` the address of
 * its own. */
static struct {
    PyTypeObject *handle; /* NULL: not read here */
    Py_ssize_t address, pointee;
    PyTypeObject *pointer; /* ctypes.c_void_p */
    Py_ssize_t contents;
} addresses;

/* libtvm_ffi's functions. */
static struct {
    int (*incref)(void *);
    int (*decref)(void *);
    int (*string)(const ByteArray *, Any *);
    int (*bytes)(const ByteArray *, Any *);
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

static int is_entry(PyObject *object)
{
    for (int i = 0; i < entry_type_count; i++)
        if (Py_TYPE(object) == entry_types[i]) return 1;
    PyErr_SetString(PyExc_TypeError, "expected an entry");
    return 0;
}

#endif
