// Calls of kernels that need Python's lock, the GIL. Python's functions are found in the process,
// so that code which is loaded where no Python runs needs none of them.

#include "support.h"
#include <dlfcn.h>

typedef struct {
  int (*Py_IsInitialized)(void);
  int (*PyGILState_Check)(void);
  int (*PyGILState_Ensure)(void);
  void (*PyGILState_Release)(int);
  void *(*PyErr_Occurred)(void); // returns a borrowed reference, as no other here
  void (*PyErr_Fetch)(void **, void **, void **);
  void (*PyErr_NormalizeException)(void **, void **, void **);
  void (*PyErr_Restore)(void *, void *, void *);
  void (*PyErr_Clear)(void);
  void *(*PyObject_GetAttrString)(void *, const char *);
  void *(*PyObject_Str)(void *);
  void *(*PyUnicode_FromFormat)(const char *, ...);
  const char *(*PyUnicode_AsUTF8AndSize)(void *, ptrdiff_t *);
  void (*Py_DecRef)(void *);
} PythonApi;

enum { PYTHON_FUNCTIONS = sizeof(PythonApi) / sizeof(void *) };

// The variable of a module. Threads that fill it at once write the same addresses.
typedef struct {
  union {
    PythonApi api;
    void *addresses[PYTHON_FUNCTIONS];
  };
  int (*Py_IsFinalizing)(void); // NULL where Python has no such function
  int64_t ready;
} Python;

_Static_assert(sizeof(Python) == 128, "the size of providers/gil.py");

// A call, in 8 bytes that the wrapper has made room for.
typedef struct {
  int32_t state;
  int32_t was_held; // by the caller
} PythonCall;

static const char python_names[PYTHON_FUNCTIONS][28] = {
    "Py_IsInitialized",         "PyGILState_Check", "PyGILState_Ensure",
    "PyGILState_Release",       "PyErr_Occurred",   "PyErr_Fetch",
    "PyErr_NormalizeException", "PyErr_Restore",    "PyErr_Clear",
    "PyObject_GetAttrString",   "PyObject_Str",     "PyUnicode_FromFormat",
    "PyUnicode_AsUTF8AndSize",  "Py_DecRef",
};

static bool python_found(Python *python) {
  if (__atomic_load_n(&python->ready, __ATOMIC_ACQUIRE) != 0)
    return true;
  for (int i = 0; i < PYTHON_FUNCTIONS; ++i) {
    void *address = dlsym(NULL, python_names[i]);
    if (address == NULL)
      return false;
    __atomic_store_n(&python->addresses[i], address, __ATOMIC_RELAXED);
  }
  void *ends = dlsym(NULL, "Py_IsFinalizing"); // from Python 3.13 on
  if (ends == NULL)
    ends = dlsym(NULL, "_Py_IsFinalizing");
  int (*is_finalizing)(void);
  memcpy(&is_finalizing, &ends, sizeof ends);
  __atomic_store_n(&python->Py_IsFinalizing, is_finalizing, __ATOMIC_RELAXED);
  __atomic_store_n(&python->ready, 1, __ATOMIC_RELEASE);
  return true;
}

// Take the GIL, and return true. Return false if no Python runs, or if it ends: a thread that asks
// for the GIL then never gets it.
bool SHARED(hold_gil)(Python *python, PythonCall *call) {
  if (!python_found(python))
    return false;
  const PythonApi *api = &python->api;
  if (api->Py_IsInitialized() == 0)
    return false;
  call->was_held = api->PyGILState_Check();
  if (call->was_held == 0 && python->Py_IsFinalizing != NULL && python->Py_IsFinalizing() != 0)
    return false;
  call->state = api->PyGILState_Ensure();
  return true;
}

// The classes that tvm-ffi raises by their names; it makes RuntimeError of others.
static bool is_known_kind(const char *name) {
  static const char known[][18] = {"RuntimeError",   "ValueError",  "TypeError",
                                   "AttributeError", "KeyError",    "IndexError",
                                   "AssertionError", "MemoryError", "KeyboardInterrupt"};
  for (size_t i = 0; i < sizeof known / sizeof *known; ++i)
    if (same_bytes(name, known[i], (int64_t)strlen(known[i]) + 1)) // and the NUL
      return true;
  return false;
}

// Set TVM-FFI's error to Python's, which stays set for a caller that holds the GIL: tvm-ffi calls
// such an error EnvErrorAlreadySet, and raises Python's own. Other callers know nothing of it.
static int32_t raise_python_error(const Python *python, bool stays) {
  const PythonApi *api = &python->api;
  void *type = NULL, *value = NULL, *trace = NULL;
  api->PyErr_Fetch(&type, &value, &trace);
  api->PyErr_NormalizeException(&type, &value, &trace);
  ptrdiff_t size = 0, name_size = 0;
  void *named = api->PyObject_GetAttrString(type, "__name__");
  void *text = value == NULL ? NULL : api->PyObject_Str(value);
  if (text == NULL) { // its __str__ raised an error
    api->PyErr_Clear();
    text = api->PyUnicode_FromFormat("");
  }
  const char *kind = named == NULL ? NULL : api->PyUnicode_AsUTF8AndSize(named, &name_size);
  const bool known = kind != NULL && !stays && is_known_kind(kind);
  void *whole = known || named == NULL || text == NULL
                    ? NULL
                    : api->PyUnicode_FromFormat("%U: %U", named, text);
  void *shown = whole == NULL ? text : whole;
  const char *message = shown == NULL ? NULL : api->PyUnicode_AsUTF8AndSize(shown, &size);
  if (message == NULL) {
    message = "an error of Python whose text cannot be read";
    size = (ptrdiff_t)strlen(message);
  }
  if (!known) {
    kind = stays ? "EnvErrorAlreadySet" : "RuntimeError";
    name_size = (ptrdiff_t)strlen(kind);
  }
  SHARED(raise)(kind, name_size, message, size, "", 0);
  api->PyErr_Clear(); // of the functions above
  api->Py_DecRef(named);
  api->Py_DecRef(text);
  api->Py_DecRef(whole);
  if (stays) {
    api->PyErr_Restore(type, value, trace);
  } else {
    api->Py_DecRef(type);
    api->Py_DecRef(value);
    api->Py_DecRef(trace);
  }
  return -1;
}

// Give the GIL back. Return the status of the call, or -1 if Python's error is set, which is then
// the error of the call.
int32_t SHARED(release_gil)(const Python *python, const PythonCall *call, int32_t status) {
  if (python->api.PyErr_Occurred() != NULL)
    status = raise_python_error(python, call->was_held != 0);
  python->api.PyGILState_Release(call->state);
  return status;
}
