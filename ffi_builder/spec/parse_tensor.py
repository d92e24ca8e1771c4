"""Parsing Tensors: their shape, dtypes and options."""

from __future__ import annotations

from collections.abc import Callable
from types import EllipsisType
from typing import Any, Final, TypeVar

from ffi_builder.spec._check import one_of
from ffi_builder.spec.config import has_default
from ffi_builder.spec.devices import DEVICES
from ffi_builder.spec.dtypes import DataType, parse_dtype
from ffi_builder.spec.expr import Dim, Var
from ffi_builder.spec.parse_dims import DimParser
from ffi_builder.spec.tensor import INTENTS, LAYOUTS, Tensor
from ffi_builder.spec.tokens import Token
from ffi_builder.spec.workspace import Workspace

Made = TypeVar("Made", bound=Tensor)


class TensorParser(DimParser):
    """The parser of Tensors."""

    def tensor(self, name: Token, kind: Token, make: Callable[..., Made] = Tensor) -> Made:
        """Parse ``([n, 4], float32 | float16, strides=F)``, and make a Tensor or Workspace."""
        t = self.tokens
        t.expect("(")
        shape = self._shape_of_tensor()
        t.expect(",")
        dtypes = self._dtypes()
        options: dict[str, Any] = {"device_type": self.device}
        seen: set[str] = set()
        known = _OF_WORKSPACES if make is Workspace else _OPTIONS
        while t.accept(",") and not t.sees(")"):
            option = t.name("an option such as strides or device_type")
            with t.at(option):
                one_of(f"option of a {kind.text}", option.text, known)
            if option.text in seen:
                raise t.error(option, f"{option.text} is given twice")
            seen.add(option.text)
            t.expect("=")
            options[option.text] = known[option.text](self)
        t.close()
        if options["device_type"] is None and not has_default():
            words = (
                f"{kind.text} {name.text!r}: no device_type given. Say device_type=cpu (or cuda, "
                f"…) in its brackets, or device='cpu' for all tensors that do not say theirs"
            )
            raise t.error(kind, words)
        with t.at(kind):
            return make(name.text, shape, dtypes, **options)

    def _shape_of_tensor(self) -> list[Dim | None] | EllipsisType | str:
        """Parse ``[n, 4]``, ``...`` or ``x.shape``."""
        t = self.tokens
        if t.sees_reference("shape"):
            return t.advance().text
        return ... if t.accept("...") else self.entries()

    def _dtypes(self) -> list[str] | str:
        """Parse ``float16 | float32``, or ``x.dtype``.

        ``float32`` and ``float32x1`` are the same dtype.
        """
        if self.tokens.sees_reference("dtype"):
            return self.tokens.advance().text
        found: dict[DataType, str] = {}
        while True:
            token = self.tokens.next
            name = self._dtype()
            dtype = parse_dtype(name)
            if dtype in found:
                raise self.tokens.error(token, f"{name} is given twice")
            found[dtype] = name
            if not self.tokens.accept("|"):
                return list(found.values())

    def _dtype(self) -> str:
        token = self.tokens.name("a dtype such as float32")
        with self.tokens.at(token):
            parse_dtype(token.text)
        return token.text

    def _strides(self) -> str | list[Dim | None]:
        t = self.tokens
        if t.sees("["):
            return self.entries()
        return t.one_of("strides such as [n, 1], or C, F or any,", "strides", LAYOUTS)

    def _device_type(self) -> str:
        if self.tokens.sees_reference("device_type"):
            return self.tokens.advance().text
        return self.tokens.one_of("a device type such as cpu", "device_type", DEVICES)

    def _device_id(self) -> int | Var:
        return self.int_or_symbol("a device id")

    def int_or_symbol(self, what: str) -> int | Var:
        """Parse an int, or the name of an integer symbol; ``what`` is for errors."""
        if self.tokens.next.kind in ("name", "quoted"):
            return self.symbol(self.tokens.advance())
        return self.tokens.integer(f"{what} or a symbol")

    def _data_alignment(self) -> int:
        return self.tokens.integer("an alignment in bytes")

    def _fills(self) -> bool:
        return self.tokens.one_of("True or False", "zero", ("True", "False")) == "True"

    def _intent(self) -> str:
        return self.tokens.one_of("in, out or inout", "intent", INTENTS)


_OPTIONS: Final[dict[str, Callable[[TensorParser], Any]]] = {
    "strides": TensorParser._strides,  # pyright: ignore[reportPrivateUsage]
    "device_type": TensorParser._device_type,  # pyright: ignore[reportPrivateUsage]
    "device_id": TensorParser._device_id,  # pyright: ignore[reportPrivateUsage]
    "data_alignment": TensorParser._data_alignment,  # pyright: ignore[reportPrivateUsage]
    "storage_dtype": TensorParser._dtype,  # pyright: ignore[reportPrivateUsage]
    "intent": TensorParser._intent,  # pyright: ignore[reportPrivateUsage]
}
"""The options of a Tensor, and the parsers of their values."""
_OF_WORKSPACES: Final = {
    **{name: _OPTIONS[name] for name in ("device_type", "device_id", "data_alignment")},
    "zero": TensorParser._fills,  # pyright: ignore[reportPrivateUsage]
}
"""The options of a Workspace, likewise."""
