"""Functions to compare what a callee gets with the arguments of a call laid out by hand."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any, Final

from ffi_builder import runtime, spec
from ffi_builder.providers import CallProvider, DirectCallProvider, DynamicParamPackCallProvider
from tests.differential.description import Value
from tests.support.recording import Recording, c_callees
from tests.support.wrapping import RawWrapper, attached, parsed

DIRECT: Final = DirectCallProvider("callee")
PACK: Final = DynamicParamPackCallProvider("ffib_test_pack")
COUNTED: Final = DynamicParamPackCallProvider("ffib_test_pack_n", include_num_args=True)


def parameters(params: Sequence[spec.Param] | str) -> Sequence[spec.Param]:
    """Read parameters from a text, which may end in ``where …`` with the dtypes of symbols."""
    if not isinstance(params, str):
        return params
    names, where, dtypes = params.partition(" where ")
    return parsed(f"f({names}){where}{dtypes}").params


def recorded(
    params: Sequence[spec.Param] | str,
    types: Sequence[str] | str,
    provider: CallProvider = DIRECT,
    *,
    distribution: str = "torch_mlir",
) -> tuple[RawWrapper, Recording]:
    """A wrapper around a callee of these types, in text as in ``ptr i64``, and what it records.

    The callee writes to memory of the recording, which has to live as long as the wrapper.
    """
    names = types.split() if isinstance(types, str) else types
    names = [name.replace("ptr", "!llvm.ptr") if name[:3] == "ptr" else name for name in names]
    recording = Recording("callee", names)
    module = attached(parameters(params), provider, recording.text, distribution=distribution)
    return RawWrapper(runtime.compile(module), "f"), recording


def packed(
    params: Sequence[spec.Param] | str, provider: DynamicParamPackCallProvider = PACK
) -> Callable[..., list[Any]]:
    """Calls that return what the pointers of a pack point to, each as a layout of struct reads it.

    NULL is None.
    """
    callees = c_callees()
    call = RawWrapper(runtime.compile(attached(parameters(params), provider)), "f")

    def called(layouts: str, *given: Value) -> list[Any]:
        every = [f"<{layout}" for layout in layouts.split()]
        sizes = [struct.calcsize(layout) for layout in every]
        callees.expect(*sizes)
        assert call(*given) is None
        assert callees.calls == 1
        assert callees.count == (len(every) if provider.include_num_args else -1)
        return [
            None if i in callees.nulls else struct.unpack(layout, callees.read(i, sizes[i]))
            for i, layout in enumerate(every)
        ]

    return called
