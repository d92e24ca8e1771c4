"""The oracle's verdict as an outcome: everything that the kernel must get."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ffi_builder.spec import Any as AnyValue
from ffi_builder.spec import (
    Array,
    Bytes,
    Choice,
    DataPointer,
    Device,
    Dim,
    DType,
    EnvStream,
    Function,
    List,
    Map,
    Object,
    Optional,
    Param,
    Signature,
    Stream,
    String,
    Tensor,
    TensorList,
    Var,
    VarArgs,
    Variant,
    required,
    with_paths,
)
from tests.differential.memory import Memory
from tests.differential.outcome import Outcome, show, show_values, stream_of
from tests.differential.recorder import ELEMENTS, IN_ROW
from tests.oracle import Accepted, Rejected, Verdict
from tests.oracle.tensors import Decoded, wrapped

ABSENT_TENSOR = {
    "data": "0x0",
    "dltensor": "0x0",
    "ndim": "0",
    "dtype": "0",
    "device_type": "0",
    "device_id": "0",
}


def of_verdict(signature: Signature, verdict: Verdict, memory: Memory) -> Outcome:
    """The oracle's verdict on arguments in this memory."""
    if isinstance(verdict, Rejected):
        return Outcome(verdict.kind, verdict.message)
    kernel = dict(Kernel(signature, verdict, memory).items())
    return Outcome("accepted", "", show_values(signature, verdict.values), kernel)


@dataclass(frozen=True)
class Kernel:
    """The values that the kernel gets from a correct call, except the symbols."""

    signature: Signature
    verdict: Accepted
    memory: Memory

    def items(self) -> Iterator[tuple[str, str]]:
        """A name and a text for everything."""
        for path, param in with_paths(self.signature.params):
            if isinstance(param, EnvStream):
                device = self.verdict.env_stream_device
                yield path, hex(0 if device is None else stream_of(*device))
                continue
            yield f"{path} present", str(self.is_there(path))
            plain = required(param)
            if isinstance(plain, Tensor):
                for part, text in self.tensor(plain, self.verdict.tensors.get(path)).items():
                    yield f"{path}.{part}", text
            elif isinstance(plain, TensorList):
                for part, value in self.arrays(plain, self.verdict.lists.get(path, ())).items():
                    yield f"{path}.{part}", str(value)
            elif isinstance(plain, List):
                found = self.verdict.elements.get(path, ())
                yield f"{path}.length", str(len(found))
                part = "rows" if isinstance(plain.element, List) else "data"
                yield f"{path}.{part}", str([item_of(plain, each) for each in found[:ELEMENTS]])
            elif isinstance(plain, Variant):
                yield from self.variant(path, plain)
            else:
                yield from self.single(path, param)

    def variant(self, path: str, param: Variant) -> Iterator[tuple[str, str]]:
        """Yield which of the parameters came, and the numbers; other parameters are on their own."""
        which = self.verdict.singles.get(path, -1)
        yield f"{path}.which", str(which)
        for part, each in param.parts.items():
            if isinstance(each, Var):
                at = f"{path}.{part}"
                found = self.verdict.elements.get(at, [False if part == "bool" else 0])
                value = float(found[0]) if part == "float" else found[0]
                yield at, show(value, each.dtype)

    def is_there(self, path: str) -> bool:
        """Tell whether neither it nor an Optional around it is absent."""
        return all(
            there
            for outer, there in self.verdict.present.items()
            if path == outer or path.startswith((f"{outer}[", f"{outer}."))
        )

    def single(self, path: str, param: Param) -> Iterator[tuple[str, str]]:
        """Yield the value of a parameter that has just one."""
        found = self.verdict.singles.get(path)
        match required(param):
            case Var() as var:
                yield path, show(self.verdict.values[var.name], var.dtype)
            case String() | Bytes():
                yield path, "NULL" if found is None else repr(found)
            case Device():
                yield path, str((0, 0) if found is None else found)
            case AnyValue():
                head, payload = found if isinstance(found, tuple) else (0, 0)
                yield path, f"{head}, {self.memory.name_of(payload % 2**64)}"
            case VarArgs():
                yield f"{path}.length", str(found)
            case Choice() | DType():
                yield path, str(found or 0)
            case Stream() | DataPointer():
                assert isinstance(found, int) or not self.is_there(path)
                yield path, hex(found if isinstance(found, int) else 0)
            case Object() | Function() | Array() | Map():
                yield path, self.memory.name_of(found if isinstance(found, int) else 0)
            case _:
                assert found is None
                assert not isinstance(param, Optional) or path in self.verdict.present

    def tensor(self, param: Tensor, found: Decoded | None) -> dict[str, str]:
        """All parts of a tensor; None where it is absent."""
        parts = ABSENT_TENSOR
        if found is not None:
            dtype = found.dtype
            parts = {
                "data": hex(found.data),
                "dltensor": self.memory.name_of(found.address),
                "ndim": str(found.ndim),
                "dtype": str(dtype.code | dtype.bits << 8 | dtype.lanes << 16),
                "device_type": str(found.device_type),
                "device_id": str(found.device_id),
            }
        if param.any_rank:
            return parts
        shape = self.entries(param.dims, found.shape if found else None)
        layout = {"shape": shape, "wide shape": wide(shape)}
        if param.stride_entries is not None:
            strides = self.entries(param.stride_entries, found.strides if found else None)
            layout |= {"strides": strides, "wide strides": wide(strides)}
        else:
            # An absent tensor has only its innermost stride, 1, whatever its dimensions are.
            dims = found.shape if found else [0] * param.ndim
            layout["strides"] = layout["wide strides"] = contiguous(param, dims)
        return {**parts, **{name: str(values) for name, values in layout.items()}}

    def arrays(self, param: TensorList, found: Sequence[Decoded]) -> dict[str, object]:
        """Return the contents of a list's arrays, as far as they are recorded."""
        shown = found[:ELEMENTS]
        given = param.tensor.stride_entries is not None
        return {
            "length": len(found),
            "pointers": [[each.data] for each in shown],
            "shapes": [wide(each.shape) for each in shown],
            "strides": [
                wide(each.strides) if given else contiguous(param.tensor, each.shape)
                for each in shown
            ],
        }

    def entries(self, entries: Sequence[Dim | None], came: Sequence[int] | None) -> list[int]:
        """Symbols and ints as they are bound and given; all else as it came, or 0."""
        values: list[int] = []
        for axis, entry in enumerate(entries):
            match entry:
                case Var():
                    values.append(int(self.verdict.values[entry.name]))
                case int():
                    values.append(entry)
                case _:
                    values.append(0 if came is None else came[axis])
        return values


def item_of(param: List, found: Any) -> object:
    """Return what is recorded of an element of a list."""
    match param.element:
        case Var(dtype=dtype):
            return show(found, dtype)
        case List() as row:
            return len(found), [item_of(row, each) for each in found[:IN_ROW]]
        case _:
            return repr(found)


def wide(values: Sequence[int]) -> list[int]:
    return [wrapped(value) for value in values]


def contiguous(param: Tensor, shape: Sequence[int]) -> list[int]:
    """Strides of a tensor of this shape, whatever those that it came with are."""
    axes = range(len(shape))
    inner = [shape[:axis] if param.order == "F" else shape[axis + 1 :] for axis in axes]
    return [wrapped(math.prod(dims)) for dims in inner]
