"""Functions that Halide compiled ahead of time: their metadata take the place of a prototype."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ffi_builder import BuildError, providers, wrap
from tests.runtime.samples import c_object, needs_cc

pytestmark = needs_cc

# Layouts of HalideRuntime.h, written again here.
BLEND = """
struct dimension { int32_t min, extent, stride; uint32_t flags; };
struct halide_buffer_t {
  uint64_t device; const void *interface; float *host; uint64_t flags;
  struct { uint8_t code, bits; uint16_t lanes; } type;
  int32_t dimensions; struct dimension *dim; void *padding;
};
int blend(struct halide_buffer_t *a, float k, struct halide_buffer_t *out) {
  for (int i = 0; i < a->dim[0].extent; i++) out->host[i] = k * a->host[i];
  return 0;
}
struct argument {
  const char *name; int32_t kind, dimensions; uint8_t code, bits; uint16_t lanes;
  const void *values[4], *estimates;
};
struct metadata {
  int32_t version, count; const struct argument *arguments; const char *target, *name;
};
static const struct argument arguments[] = {
    {"a", 1, 1, 2, 32, 1}, {"k", 0, 0, 2, 32, 1}, {"out", 2, 1, 2, 32, 1}};
static const struct metadata metadata = {VERSION, 3, arguments, "host", "blend"};
const struct metadata *blend_metadata(void) { return &metadata; }
"""
SIGNATURE = "blend(a: Tensor([n], float32), k: float32, out: Tensor([n], float32))"


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return c_object(tmp_path_factory.mktemp("blend"), BLEND, "-DVERSION=1")


def blend(code: bytes, signature: str = SIGNATURE, **options: Any) -> Any:
    return wrap(code, signature, device="cpu", **options)


@pytest.mark.parametrize(
    "signature",
    [
        SIGNATURE,
        "blend(out: Tensor([n], float32), a: Tensor([n], float32), k: float32)",
        "blend(x: Tensor([n], float32), factor: float32, y: Tensor([n], float32))",
    ],
)
@pytest.mark.parametrize("provider", [None, providers.HalideCallProvider])
def test_by_name_else_by_position(signature: str, provider: Any, code: bytes) -> None:
    compiled = blend(code, signature, provider=provider)
    x, y = np.arange(3, dtype="float32"), np.zeros(3, "float32")
    names = [*compiled["blend"].__signature__.parameters]
    values = {"a": x, "x": x, "k": 2.0, "factor": 2.0, "out": y, "y": y}
    compiled(*(values[name] for name in names))
    assert y.tolist() == [0, 2, 4]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("k: float32", "k: float64", "parameter k is float32, but 'k' is float64"),
        (
            ", k: float32",
            "",
            "has parameters that the signature lacks: k; add them to the signature, or to args=",
        ),
        ("a: Tensor([n]", "a: Tensor([n, m]", "of rank 1 and float32, but 'a' has rank 2"),
        ("[n], float32)", "[n], uint8)", "but the elements of 'a' are uint8"),
        ("a: Tensor([n], float32)", "a: float32", "and None passes NULL|'a' is a number"),
        ("float32)", "float32, intent=out)", "a is a const pointer .* but intent='out'"),
    ],
)
def test_what_differs_from_the_metadata(old: str, new: str, words: str, code: bytes) -> None:
    with pytest.raises(BuildError, match=words):
        blend(code, SIGNATURE.replace(old, new, 1))


def test_options_that_contradict_the_metadata(code: bytes) -> None:
    with pytest.raises(BuildError, match="Halide compiled `blend`: leave provider= out"):
        blend(code, provider=providers.DirectCallProvider)
    with pytest.raises(BuildError, match=r"but Halide's metadata have \(a const pointer to struct"):
        blend(code, prototype="int blend(float *a, float k, float *out)")


def test_inputs_are_only_read(code: bytes) -> None:
    x, y = np.ones(3, "float32"), np.zeros(3, "float32")
    x.flags.writeable = False
    blend(code)(x, 2.0, y)
    assert y.tolist() == [2, 2, 2]


def test_metadata_of_another_version(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="nothing says which arguments `blend` takes"):
        blend(c_object(tmp_path, BLEND, "-DVERSION=2"))
