"""Values of any type for functions in C."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from ffi_builder import BuildError, wrap
from tests.runtime.samples import c_object, needs_cc

pytestmark = needs_cc

KIND: Final = """
#include <stdint.h>
typedef struct { int32_t type_index; uint32_t padding; int64_t payload; } TVMFFIAny;
int64_t kind(const TVMFFIAny *x) { return x->type_index; }
"""
PROTOTYPE: Final = "#include <tvm/ffi/c_api.h>\nint64_t kind(const {} *x);"


def kind(tmp_path: Path, type_: str = "TVMFFIAny") -> Any:
    data, prototype = c_object(tmp_path, KIND), PROTOTYPE.format(type_)
    return wrap(data, "kind(x: Any) -> found: int64", prototype=prototype)["kind"]


def test_a_kernel_gets_values_of_every_type(tmp_path: Path) -> None:
    function = kind(tmp_path)
    given: list[Any] = [None, True, 3, 0.5, "a", b"a", [1], {}, print, np.zeros(2), 2**70, object()]
    assert [function(value) for value in given] == [0, 2, 1, 3, 11, 12, 71, 72, 68, 70, 78, 74]
    with pytest.raises(TypeError, match=r"argument: 'x'|expected 1 but got 0"):
        function()


def test_a_kernel_of_another_type_is_refused(tmp_path: Path) -> None:
    for type_ in ("float", "TVMFFIObject"):
        with pytest.raises(BuildError, match="'x' is passed as a `const TVMFFIAny \\*`"):
            kind(tmp_path, type_)
