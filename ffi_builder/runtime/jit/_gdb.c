/* Lists loaded code for debuggers, as "JIT Compilation Interface" in gdb's manual describes.
 *
 * gdb looks for the two symbols below in every loaded library, puts a breakpoint on the function,
 * and reads the list when it attaches. So the symbols must be in a library, not in code of a JIT.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define VISIBLE __attribute__((visibility("default"), used))

enum { NO_ACTION, REGISTER, UNREGISTER };

/* The names and layouts are gdb's. */
struct jit_code_entry {
  struct jit_code_entry *next_entry;
  struct jit_code_entry *prev_entry;
  const char *symfile_addr;
  uint64_t symfile_size;
};

struct jit_descriptor {
  uint32_t version;
  uint32_t action_flag;
  struct jit_code_entry *relevant_entry;
  struct jit_code_entry *first_entry;
};

VISIBLE struct jit_descriptor __jit_debug_descriptor = {1, NO_ACTION, NULL, NULL};

VISIBLE __attribute__((noinline)) void __jit_debug_register_code(void) {
  __asm__ volatile("" ::: "memory");
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void acquire(void) { pthread_mutex_lock(&lock); }
static void release(void) { pthread_mutex_unlock(&lock); }

static void tell(uint32_t action, struct jit_code_entry *entry) {
  __jit_debug_descriptor.relevant_entry = entry;
  __jit_debug_descriptor.action_flag = action;
  __jit_debug_register_code();
  __jit_debug_descriptor.action_flag = NO_ACTION;
  __jit_debug_descriptor.relevant_entry = NULL;
}

/* Code calls this when it is unloaded, from any thread, without the GIL. */
static void forget(struct jit_code_entry *entry) {
  if (entry->symfile_addr != NULL) {
    acquire();
    if (entry->prev_entry != NULL)
      entry->prev_entry->next_entry = entry->next_entry;
    else
      __jit_debug_descriptor.first_entry = entry->next_entry;
    if (entry->next_entry != NULL) entry->next_entry->prev_entry = entry->prev_entry;
    tell(UNREGISTER, entry);
    release();
    free((void *)entry->symfile_addr);
  }
  free(entry);
}

static PyObject *new_entry(PyObject *self, PyObject *none) {
  struct jit_code_entry *entry = calloc(1, sizeof *entry);
  return entry == NULL ? PyErr_NoMemory() : PyLong_FromVoidPtr(entry);
}

static PyObject *announce(PyObject *self, PyObject *args) {
  PyObject *number;
  const char *data;
  Py_ssize_t size;
  if (!PyArg_ParseTuple(args, "Oy#", &number, &data, &size)) return NULL;
  struct jit_code_entry *entry = PyLong_AsVoidPtr(number);
  if (entry == NULL) return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_ValueError, "no entry");
  char *copy = malloc(size);
  if (copy == NULL) return PyErr_NoMemory();
  memcpy(copy, data, size);
  entry->symfile_addr = copy;
  entry->symfile_size = size;
  acquire();
  entry->next_entry = __jit_debug_descriptor.first_entry;
  if (entry->next_entry != NULL) entry->next_entry->prev_entry = entry;
  __jit_debug_descriptor.first_entry = entry;
  tell(REGISTER, entry);
  release();
  Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"new_entry", new_entry, METH_NOARGS, "Return the address of an entry that is in no list."},
    {"announce", announce, METH_VARARGS, "Put an entry into the list, with an ELF file."},
    {NULL, NULL, 0, NULL},
};

static int set_up(PyObject *module) {
  /* A child has the list of its parent, but not the threads that may hold the lock. */
  if (pthread_atfork(acquire, release, release) != 0) {
    PyErr_SetString(PyExc_OSError, "pthread_atfork failed");
    return -1;
  }
  PyObject *address = PyLong_FromVoidPtr((void *)forget);
  int failed = address == NULL || PyModule_AddObjectRef(module, "FORGET", address) < 0;
  Py_XDECREF(address);
  return failed ? -1 : 0;
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, set_up}, {0, NULL}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_gdb", NULL, 0, methods, slots, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__gdb(void) { return PyModuleDef_Init(&definition); }
