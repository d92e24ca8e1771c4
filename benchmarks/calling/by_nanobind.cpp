#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string_view.h>

namespace nb = nanobind;
using Array = nb::ndarray<float, nb::ndim<1>, nb::device::cpu>;

extern "C" unsigned long long f(const void *, unsigned long long, unsigned long long);

NB_MODULE(by_nanobind, m) {
  m.def("ints", [](int, int, int) {}, nb::arg("a"), nb::arg("b"), nb::arg("c"));
  m.def("bytes", [](nb::bytes data, uint64_t seed) { return f(data.data(), data.size(), seed); });
  m.def("str", [](std::string_view s, uint64_t seed) { return f(s.data(), s.size(), seed); });
  m.def("arrays3", [](Array, Array, Array) {});
  m.def("arrays8", [](Array, Array, Array, Array, Array, Array, Array, Array) {});
}
