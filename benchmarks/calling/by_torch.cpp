// An operator that writes its arguments and does nothing.
#include <torch/library.h>

static void three(at::Tensor, at::Tensor, at::Tensor) {}
static void eight(at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor,
                  at::Tensor, at::Tensor) {}

TORCH_LIBRARY(ffi_builder_calls, m) {
  m.def("three(Tensor(a!) a, Tensor(b!) b, Tensor(c!) c) -> ()");
  m.def(
      "eight(Tensor(a!) a, Tensor(b!) b, Tensor(c!) c, Tensor(d!) d, Tensor(e!) e, Tensor(f!) f, "
      "Tensor(g!) g, Tensor(h!) h) -> ()");
}
TORCH_LIBRARY_IMPL(ffi_builder_calls, CompositeExplicitAutograd, m) {
  m.impl("three", &three);
  m.impl("eight", &eight);
}
