#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

namespace py = pybind11;
using Array = py::array_t<float, 0>;

PYBIND11_MODULE(by_pybind11, m) {
  m.def("ints", [](int, int, int) {}, py::arg("a"), py::arg("b"), py::arg("c"));
  m.def("arrays3", [](const Array &, const Array &, const Array &) {});
}
