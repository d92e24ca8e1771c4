#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

namespace nb = nanobind;
using Array = nb::ndarray<float, nb::ndim<1>, nb::device::cpu>;

NB_MODULE(by_nanobind, m) {
  m.def("ints", [](int, int, int) {}, nb::arg("a"), nb::arg("b"), nb::arg("c"));
  m.def("arrays3", [](Array, Array, Array) {});
  m.def("arrays8", [](Array, Array, Array, Array, Array, Array, Array, Array) {});
}
