"""Finding a kernel by its name, and the errors for one that is not there."""

from __future__ import annotations

import pytest

from ffi_builder import SpecError
from ffi_builder.cuda.images import Image, Kernel, kernels
from tests.cuda.images.images import FILL, image


def having(*names: str) -> Image:
    return Image("cubin", ("sm_90",), {name: Kernel(name, ()) for name in names})


def refused(image: Image, name: str) -> str:
    with pytest.raises(SpecError) as caught:
        image[name]
    return str(caught.value)


def test_by_its_name():
    read = kernels(image("cuda13-sm_90a.cubin"))
    assert read["saxpy"].name == "saxpy"
    assert read[FILL].name == FILL


def test_a_name_nearly_right():
    words = refused(kernels(image("cuda12-sm_80.cubin")), "sapxy")
    assert words == (
        "No kernel 'sapxy' in the cubin for sm_80, which has 'tensor_map', 'saxpy', "
        "did you mean 'saxpy'?"
    )
    assert refused(having("Gemm"), "gemm").endswith("did you mean 'Gemm'?")


def test_a_name_like_none():
    assert refused(having("one", "two"), "something_else") == (
        "No kernel 'something_else' in the cubin for sm_90, which has 'one', 'two'"
    )


@pytest.mark.parametrize("name", ["fill", "ns::fill", "::ns::fill", "fill<float>"])
def test_a_name_that_is_mangled(name: str):
    words = refused(kernels(image("cuda13-sm_90a.cubin")), name)
    assert words.startswith(f"No kernel '{name}' in the cubin for sm_90a, which has ")
    assert words.endswith(
        f". C++ compiles it to a mangled name: ask for '{FILL}', or declare it `extern \"C\" "
        "__global__`"
    )


def test_a_name_that_is_mangled_twice():
    words = refused(having("_Z1fPf", "_Z1fPi", "_Z1gPi"), "f")
    assert "ask for '_Z1fPf' or '_Z1fPi', or declare" in words


def test_what_is_no_name_of_the_kernel():
    """The end of a longer number, and the class of a parameter."""
    assert "mangled" not in refused(having("_Z11foundationsPf"), "f")
    assert "mangled" not in refused(having("_Z4gemm6Params"), "Params")


def test_an_image_without_kernels():
    assert "it has no kernels at all. A kernel that is a static" in refused(having(), "f")


def test_an_image_with_nothing_in_it():
    assert refused(Image("fatbin", (), {}), "f") == "No kernel 'f' in the fatbin, which is empty"


def test_only_some_of_many_are_listed():
    words = refused(having(*(f"kernel_{at:03}" for at in range(1000))), "x")
    assert words.endswith("'kernel_010', 'kernel_011' and 988 more")
