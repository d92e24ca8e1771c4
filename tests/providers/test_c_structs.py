"""The C structs of docs/providers.md, and others, with C functions that read them."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any, Final

import pytest
from tvm_ffi import libinfo

from ffi_builder import attach, runtime, spec
from ffi_builder.providers import (
    CallProvider,
    CheckStatus,
    DirectCallProvider,
    DynamicParamPackCallProvider,
    MemRefCallProvider,
)
from ffi_builder.spec import Signature, Tensor
from tests.differential.description import (
    NONE,
    DLTensor,
    Plain,
    array,
    of_bool,
    of_float,
    of_int,
    of_pointer,
    shape,
    tensor,
)
from tests.differential.description import Value as Given
from tests.docs.blocks import blocks
from tests.support.native import loaded
from tests.support.raw import object_, small, str_
from tests.support.wrapping import RawWrapper, new_module

PAGE: Final = Path(__file__).parents[2] / "docs" / "providers.md"
SEEN: Final = 16
TAIL: Final = """
struct mask { int8_t *data; int32_t rows; int64_t cols; int64_t strides[2]; };
int64_t ffib_doc_seen[16];
#define SEE(i, value) ffib_doc_seen[i] = (int64_t)(value)

int32_t ffib_doc_packed(void **params, int32_t count) {
  struct x *x = params[0];
  struct y *y = params[1];
  struct dims *dims = params[2];
  SEE(0, x->data); SEE(1, x->rows); SEE(2, x->cols); SEE(3, x->pitch);
  SEE(4, y->data); SEE(5, y->rows); SEE(6, y->cols_times_2);
  SEE(7, dims->rows); SEE(8, dims->cols);
  SEE(9, *(float *)params[3] * 8); SEE(10, *(uint8_t *)params[4]); SEE(11, *(void **)params[5]);
  SEE(12, count);
  return callee_packed(params, count);
}

void _mlir_ciface_ffib_doc(struct memref_x *x, struct memref_z *z, float factor) {
  SEE(0, x->allocated); SEE(1, x->aligned); SEE(2, x->offset);
  SEE(3, x->sizes[0]); SEE(4, x->sizes[1]); SEE(5, x->strides[0]); SEE(6, x->strides[1]);
  SEE(7, z->allocated); SEE(8, z->aligned); SEE(9, z->offset);
  SEE(10, factor * 8);
}

int32_t ffib_doc_status(float *x, int32_t rows) { SEE(0, x); SEE(1, rows); return -rows; }

static void see_label(const char *label, int64_t length) {
  int64_t sum = 0;
  for (int64_t i = 0; i < length; i++) sum += label[i];
  SEE(6, sum); SEE(7, length);
}
static int64_t see_dtype(DLDataType dtype) { return dtype.code * 10000 + dtype.bits * 10 + dtype.lanes; }

void ffib_doc_others_direct(int8_t *mask, DLTensor *rest, const char *label, int64_t length,
                            int8_t act, DLDevice device, TVMFFIObject *callback, float alpha,
                            DLDataType dtype) {
  SEE(0, mask); SEE(5, rest->ndim * 100 + rest->dtype.bits);
  see_label(label, length);
  SEE(8, act); SEE(9, device.device_type); SEE(10, device.device_id);
  SEE(11, callback); SEE(12, callback->type_index);
  SEE(13, alpha * 8); SEE(14, see_dtype(dtype));
}

void ffib_doc_others_packed(void **params) {
  struct mask *mask = params[0];
  DLTensor *rest = params[1];
  TVMFFIByteArray *label = params[2];
  float *alpha = params[6];
  DLDevice *device = params[4];
  SEE(0, mask ? mask->data : 0);
  SEE(1, mask ? mask->rows : 0); SEE(2, mask ? mask->cols : 0);
  SEE(3, mask ? mask->strides[0] : 0); SEE(4, mask ? mask->strides[1] : 0);
  SEE(5, rest->ndim * 100 + rest->dtype.bits);
  see_label(label->data, label->size);
  SEE(8, *(int8_t *)params[3]); SEE(9, device->device_type); SEE(10, device->device_id);
  TVMFFIObject *callback = *(TVMFFIObject **)params[5];
  SEE(11, callback); SEE(12, callback->type_index);
  SEE(13, alpha ? *alpha * 8 : 0); SEE(14, see_dtype(*(DLDataType *)params[7]));
}
"""


def namespace() -> dict[str, Any]:
    """Run the block of the page that makes a signature, and return the names that it defines."""
    found: dict[str, Any] = {"__name__": "docs", "spec": spec}
    for block in blocks(PAGE):
        if block.language == "python" and "SIGNATURE = " in block.code:
            exec(block.code, found)
    return found


# Once in a process: whatever is linked later finds the library that was loaded first.
@pytest.fixture(scope="session")
def seen() -> Any:
    """Load the C functions, which record their arguments."""
    code = "\n".join(block.code for block in blocks(PAGE) if block.language == "c")
    prelude = "#include <stddef.h>\n#include <stdint.h>\n#include <tvm/ffi/c_api.h>\n"
    flags = [f"-I{path}" for path in libinfo.include_paths()]
    library = loaded(prelude + code + TAIL, "-std=c11", *flags)
    return (ctypes.c_int64 * SEEN).in_dll(library, "ffib_doc_seen")


def wrapped(signature: Signature, provider: CallProvider) -> RawWrapper:
    module = new_module()
    attach(module, signature, provider)
    return RawWrapper(runtime.compile(module), signature.name)


def test_the_first_signature(seen: Any) -> None:
    provider = DynamicParamPackCallProvider(
        "ffib_doc_packed", include_num_args=True, returns_status=True
    )
    call = wrapped(namespace()["SIGNATURE"], provider)
    x, y = DLTensor((2, 3), (7, 1), 0x40), DLTensor((2, 6, 4), None, 0x80, byte_offset=8)
    given: list[Given] = [tensor(x), tensor(y), shape(2, 3, 3), of_float(0.5), of_bool(True)]
    assert call(*given, of_pointer(0x70), of_int(2)) is None
    assert list(seen)[:13] == [0x40, 2, 3, 7, 0x88, 2, 6, 2, 3, 4, 1, 0x70, 6]


def test_descriptors_of_memrefs(seen: Any) -> None:
    z = Tensor("z", [], "float32", device_type="cpu")
    x, _y, _dims, factor, *_ = namespace()["SIGNATURE"].params
    signature = Signature("of_z", [x, z, factor])
    call = wrapped(signature, MemRefCallProvider("ffib_doc", c_interface=True))
    given = tensor(DLTensor((2, 3), (7, 1), 0x40, byte_offset=8)), tensor(DLTensor((), None, 0x80))
    assert call(*given, of_float(0.5)) is None
    assert list(seen)[:7] == [0x48, 0x48, 0, 2, 3, 7, 1]
    assert list(seen)[7:11] == [0x80, 0x80, 0, 4]


def test_a_status(seen: Any) -> None:
    provider = DirectCallProvider("ffib_doc_status", args=["x", "rows"])
    signature = Signature("f", [namespace()["SIGNATURE"].params[0]])
    call = wrapped(signature, CheckStatus(provider, error="ValueError"))
    assert call(tensor(DLTensor((0, 3), (7, 1), 0x40))) is None
    assert call(tensor(DLTensor((2, 3), (7, 1), 0x40))) == (
        "ValueError",
        "ffib_doc_status failed with status -2 when calling: `f(x: Tensor([rows, cols], float32, "
        "strides=[pitch, 1]))`",
    )
    assert list(seen)[:2] == [0x40, 2]


OTHERS: Final = Signature.parse(
    "others(mask: Optional(Tensor([rows, None], int8, device_type=cpu, strides=any)),"
    " rest: Tensor(..., float32 | float64, device_type=any), label: String,"
    " act: Choice({'relu': 1, 'gelu': -2}, int8), device: Device, callback: Function,"
    " cfg: Struct(alpha: Optional(float32), dtype: DType)) where rows: int32"
)
ALPHA: Final = of_float(0.25)
DTYPE: Final = Plain(5, 0x0001_20_02)
MASK: Final = tensor(DLTensor((5, 6), (-6, 0), 0x40, (0, 8, 1)))
REST: Final = tensor(DLTensor((1, 2, 3), dtype=(2, 64, 1)))


@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize("packed", [True, False])
def test_the_other_kinds(seen: Any, packed: bool, there: bool) -> None:
    name = "ffib_doc_others_packed" if packed else "ffib_doc_others_direct"
    provider = DynamicParamPackCallProvider(name) if packed else DirectCallProvider(name)
    call = wrapped(OTHERS, provider)
    callback = object_(68)
    ctypes.memset(seen, 0, ctypes.sizeof(seen))
    for label in (small(b"abc"), str_(b"a longer label")):
        mask, alpha = (MASK, ALPHA) if there else (NONE, NONE)
        device = Plain(6, 3 << 32 | 2)
        given = [mask, REST, label, small(b"gelu"), device, callback, array(alpha, DTYPE)]
        assert call(*given) is None
        content = b"abc" if label.type_index == 11 else b"a longer label"
        of_mask = [0x40, *((5, 6, -6, 0) if packed else (0,) * 4)] if there else [0] * 5
        assert list(seen)[:5] == of_mask
        assert list(seen)[5:8] == [364, sum(content), len(content)]
        assert list(seen)[8:13] == [-2, 2, 3, callback.payload, 68]
        assert list(seen)[13:15] == [2 if there else 0, 20321]
