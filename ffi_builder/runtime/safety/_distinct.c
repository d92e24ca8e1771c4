/* What is different in a big kernel: lines of LLVM IR, and operations of MLIR.
 *
 * A kernel of a hundred thousand operations has a few hundred kinds of them. These functions find
 * one of each kind, for the rules in Python to look at. `distinct.py` says what a kind is.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- a set of keys, each a run of bytes in one buffer */

typedef struct {
  char *bytes;
  size_t length, room;
  struct slot {
    uint64_t hash;
    size_t start, length; /* of length 0: the slot is free, and no key is empty */
  } *slots;
  size_t count, mask;
} Keys;

static int start_keys(Keys *keys) {
  memset(keys, 0, sizeof *keys);
  keys->mask = 1023;
  keys->slots = calloc(keys->mask + 1, sizeof *keys->slots);
  return keys->slots != NULL;
}

static void end_keys(Keys *keys) {
  free(keys->bytes);
  free(keys->slots);
}

static int reserve(Keys *keys, size_t more) {
  if (keys->length + more <= keys->room) return 1;
  size_t room = 2 * (keys->length + more);
  char *bytes = realloc(keys->bytes, room);
  if (bytes == NULL) return 0;
  keys->bytes = bytes, keys->room = room;
  return 1;
}

static int grow(Keys *keys) {
  size_t mask = 2 * keys->mask + 1;
  struct slot *slots = calloc(mask + 1, sizeof *slots);
  if (slots == NULL) return 0;
  for (size_t i = 0; i <= keys->mask; i++) {
    if (keys->slots[i].length == 0) continue;
    size_t at = keys->slots[i].hash & mask;
    while (slots[at].length != 0) at = (at + 1) & mask;
    slots[at] = keys->slots[i];
  }
  free(keys->slots);
  keys->slots = slots, keys->mask = mask;
  return 1;
}

static uint64_t hash_of(const char *bytes, size_t length) {
  uint64_t hash = length, word;
  while (length >= sizeof word) {
    memcpy(&word, bytes, sizeof word);
    hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 29;
    bytes += sizeof word, length -= sizeof word;
  }
  word = 0;
  memcpy(&word, bytes, length);
  hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
  return hash ^ hash >> 32;
}

/* Adds the bytes from `start` to the end of the buffer as a key. Returns 1 if it is new; else takes
 * it out of the buffer and returns 0. Returns -1 without memory. */
static int add_key(Keys *keys, size_t start) {
  const char *key = keys->bytes + start;
  size_t length = keys->length - start;
  uint64_t hash = hash_of(key, length);
  size_t at = hash & keys->mask;
  for (; keys->slots[at].length != 0; at = (at + 1) & keys->mask) {
    struct slot *slot = &keys->slots[at];
    if (slot->hash == hash && slot->length == length &&
        memcmp(keys->bytes + slot->start, key, length) == 0) {
      keys->length = start;
      return 0;
    }
  }
  keys->slots[at] = (struct slot){hash, start, length};
  if (2 * ++keys->count > keys->mask && !grow(keys)) return -1;
  return 1;
}

/* ---- lines */

static int is_digit(char c) { return c >= '0' && c <= '9'; }

enum { MOST_DIGITS = 9 };

/* Appends a line to the buffer, with one digit for each number of a value or of metadata. Numbers of
 * more than MOST_DIGITS stay, for the rules to see. */
static void append_line(Keys *keys, const char *line, const char *end) {
  char *to = keys->bytes + keys->length;
  while (line < end) {
    char c = *to++ = *line++;
    if (c != '%' && c != '!') continue;
    const char *number = line;
    while (line < end && is_digit(*line)) line++;
    if (line - number > MOST_DIGITS)
      line = number;
    else if (line > number)
      *to++ = '0';
  }
  *to++ = '\n';
  keys->length = (size_t)(to - keys->bytes);
}

static PyObject *lines(PyObject *self, PyObject *text) {
  (void)self;
  Py_ssize_t size;
  const char *at = PyUnicode_AsUTF8AndSize(text, &size);
  if (at == NULL) return NULL;
  const char *end = at + size;
  Keys keys;
  PyObject *result = NULL;
  size_t kept = 0;
  char *output = malloc((size_t)size + 1);
  if (!start_keys(&keys) || output == NULL) goto no_memory;
  for (;;) {
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    const char *stop = newline == NULL ? end : newline;
    size_t length = (size_t)(stop - at), start = keys.length;
    if (!reserve(&keys, length + 1)) goto no_memory; /* a number has at least one digit */
    append_line(&keys, at, stop);
    int added = add_key(&keys, start);
    if (added < 0) goto no_memory;
    if (added) {
      memcpy(output + kept, at, length);
      kept += length;
      output[kept++] = '\n';
    }
    if (newline == NULL) break;
    at = newline + 1;
  }
  result = PyUnicode_FromStringAndSize(output, (Py_ssize_t)kept - 1);
  goto done;
no_memory:
  PyErr_NoMemory();
done:
  end_keys(&keys);
  free(output);
  return result;
}

/* ---- operations */

/* Structs of MLIR's C API, which are all passed by value. */
typedef struct {
  const void *ptr;
} Handle;

typedef struct {
  Handle name, value;
} NamedAttribute;

typedef struct {
  const char *data;
  size_t length;
} StringRef;

/* In the order of `distinct.FUNCTIONS`. */
typedef struct {
  Handle (*region)(Handle, intptr_t);
  Handle (*first_block)(Handle);
  Handle (*next_block)(Handle);
  Handle (*first_operation)(Handle);
  Handle (*next_operation)(Handle);
  Handle (*name)(Handle);
  StringRef (*string)(Handle);
  intptr_t (*operands)(Handle);
  Handle (*operand)(Handle, intptr_t);
  intptr_t (*results)(Handle);
  Handle (*result)(Handle, intptr_t);
  Handle (*type)(Handle);
  intptr_t (*attributes)(Handle);
  NamedAttribute (*attribute)(Handle, intptr_t);
  intptr_t (*discardable)(Handle);
} Api;

enum { FUNCTIONS = sizeof(Api) / sizeof(void *) };

static int read_api(PyObject *addresses, Api *api) {
  void *found[FUNCTIONS];
  if (!PyTuple_Check(addresses) || PyTuple_Size(addresses) != FUNCTIONS) {
    PyErr_SetString(PyExc_TypeError, "expected a tuple of the addresses of MLIR's functions");
    return 0;
  }
  for (Py_ssize_t i = 0; i < FUNCTIONS; i++) {
    found[i] = PyLong_AsVoidPtr(PyTuple_GetItem(addresses, i));
    if (PyErr_Occurred()) return 0;
    if (found[i] == NULL) {
      PyErr_SetString(PyExc_ValueError, "expected addresses of functions, but got 0");
      return 0;
    }
  }
  memcpy(api, found, sizeof found);
  return 1;
}

static int append(Keys *keys, const void *pointer) {
  if (!reserve(keys, sizeof pointer)) return 0;
  memcpy(keys->bytes + keys->length, &pointer, sizeof pointer);
  keys->length += sizeof pointer;
  return 1;
}

/* Appends everything that makes an operation's kind, but for its name. */
static int append_kind(const Api *api, Keys *keys, Handle operation) {
  intptr_t operands = api->operands(operation), results = api->results(operation);
  int fine = append(keys, (void *)operands);
  for (intptr_t i = 0; i < operands; i++)
    fine &= append(keys, api->type(api->operand(operation, i)).ptr);
  fine &= append(keys, (void *)results);
  for (intptr_t i = 0; i < results; i++)
    fine &= append(keys, api->type(api->result(operation, i)).ptr);
  intptr_t attributes = api->attributes(operation);
  for (intptr_t i = 0; i < attributes; i++) {
    NamedAttribute attribute = api->attribute(operation, i);
    fine &= append(keys, attribute.name.ptr) & append(keys, attribute.value.ptr);
  }
  return fine;
}

/* Names that were seen, by their addresses, which MLIR keeps one of each. */
typedef struct {
  const void *name;
  int by_name;
} Name;

enum { NAMES = 1024 };

/* Returns whether operations of a name are all of one kind, or -1 with an exception. */
static int is_by_name(const Api *api, Name *names, PyObject *by_name, Handle name) {
  Name *entry = &names[((uintptr_t)name.ptr >> 4) % NAMES];
  if (entry->name != name.ptr) {
    StringRef string = api->string(name);
    PyObject *text = PyUnicode_FromStringAndSize(string.data, (Py_ssize_t)string.length);
    int found = text == NULL ? -1 : PySet_Contains(by_name, text);
    Py_XDECREF(text);
    if (found < 0) return -1;
    *entry = (Name){name.ptr, found};
  }
  return entry->by_name;
}

static PyObject *operations(PyObject *self, PyObject *args) {
  (void)self;
  PyObject *addresses, *address, *by_name;
  Api api;
  if (!PyArg_ParseTuple(args, "OOO", &addresses, &address, &by_name)) return NULL;
  if (!read_api(addresses, &api)) return NULL;
  Handle function = {PyLong_AsVoidPtr(address)};
  if (PyErr_Occurred()) return NULL;
  if (!PyAnySet_Check(by_name)) {
    PyErr_SetString(PyExc_TypeError, "expected a set of names");
    return NULL;
  }
  Keys keys;
  PyObject *found = PyList_New(0);
  Name *names = calloc(NAMES, sizeof *names);
  if (!start_keys(&keys) || names == NULL || found == NULL) goto no_memory;
  Handle block = api.first_block(api.region(function, 0));
  for (; block.ptr != NULL; block = api.next_block(block)) {
    Handle operation = api.first_operation(block);
    for (; operation.ptr != NULL; operation = api.next_operation(operation)) {
      size_t start = keys.length;
      Handle name = api.name(operation);
      int simple = is_by_name(&api, names, by_name, name);
      if (simple < 0) goto failed;
      if (simple && api.discardable(operation) > 0) simple = 0;
      if (!append(&keys, name.ptr)) goto no_memory;
      if (!simple && !append_kind(&api, &keys, operation)) goto no_memory;
      int added = add_key(&keys, start);
      if (added < 0) goto no_memory;
      if (!added) continue;
      PyObject *pointer = PyLong_FromVoidPtr((void *)operation.ptr);
      int failed = pointer == NULL || PyList_Append(found, pointer) < 0;
      Py_XDECREF(pointer);
      if (failed) goto failed;
    }
  }
  goto done;
no_memory:
  PyErr_NoMemory();
failed:
  Py_CLEAR(found);
done:
  end_keys(&keys);
  free(names);
  return found;
}

static PyMethodDef METHODS[] = {
    {"lines", lines, METH_O, NULL},
    {"operations", operations, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef MODULE = {
    PyModuleDef_HEAD_INIT, "_distinct", NULL, 0, METHODS, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__distinct(void) { return PyModuleDef_Init(&MODULE); }
