/* The floor of any extension: a function that looks at nothing; and one for ctypes. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

static PyObject *bare(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    (void)module;
    (void)args;
    (void)count;
    Py_RETURN_NONE;
}

void by_ctypes(long long a, long long b, long long c)
{
    (void)a;
    (void)b;
    (void)c;
}

static PyMethodDef methods[] = {
    {"bare", (PyCFunction)(void (*)(void))bare, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};
static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "bare", NULL, -1, methods, NULL, NULL, NULL, NULL,
};
PyMODINIT_FUNC PyInit_bare(void) { return PyModule_Create(&definition); }
