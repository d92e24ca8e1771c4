"""The symbols that a launching wrapper adds to its module.

Wrappers share the symbols that they can:

==================================== ===========================================================
``__ffi_builder_cuda_state``         the module's state: driver functions and retained contexts
``__ffi_builder_cuda_image_…``       the image, named by its digest: a constant, 64-byte aligned
``__ffi_builder_cuda_library_…``     the state of the image
``__ffi_builder_cuda_kernel_…``      the state of a kernel in it
``__ffi_builder_cuda_driver``        the module's state, once the driver was found for workspaces
``__ffi_builder_cuda_ready_f``       callback of ``TVMFFIHandleInitOnce`` that finds it for ``f``
``__ffi_builder_cuda_init_…_f``      callback of ``TVMFFIHandleInitOnce`` that loads for ``f``;
                                     ``…`` is that of the kernel (``ffi-builder inspect`` reads it)
``__ffi_builder_cuda_unload_…``      callback that unloads the image under the same lock
``__ffi_builder_cuda_leave``         the module's destructor
``__tvm_ffi__cuda_preload_f``        loads the image, and prepares the kernel on a device
``__tvm_ffi__cuda_release_f``        unloads the image
==================================== ===========================================================

All but the last two are internal. All variables are zero at first: loading the code runs none of
it. If a wrapper launches several kernels, the later ones have ``…_cuda_preload2_f`` and so on.

Those of another vendor have its word in their names; but preloading and releasing is called as with
CUDA, so that code which does so need not know whose GPUs there are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final

from ffi_builder.cuda.launch.vendor import CUDA, Vendor
from ffi_builder.extending import Builder, abi, call_support, dataclass, pass_through, run_support
from ffi_builder.ir import CheckingBuilder, Symbols, Value

INIT_ONCE: Final = "TVMFFIHandleInitOnce"
_IMAGE_ALIGN: Final = 64
_MOST_SHOWN: Final = 200


@dataclass(frozen=True)
class Source:
    """An image, as the driver expects it, and the name of a kernel in it.

    ``having_it`` lists the architectures that have the kernel; empty stands for all.
    """

    data: bytes
    architectures: Sequence[str]
    kernel: str
    having_it: Sequence[str] = ()
    vendor: Vendor = CUDA

    @property
    def digest(self) -> str:
        """The digest of the image; equal images share one constant in a module."""
        return hashlib.sha256(self.data).hexdigest()[:16]

    @property
    def parts(self) -> str:
        """The architectures in messages."""
        every = ", ".join(self.architectures)
        if not self.having_it or set(self.having_it) == set(self.architectures):
            return every
        return f"{every} (this kernel in {', '.join(self.having_it)} alone)"

    @property
    def shown(self) -> str:
        """The kernel's name in messages, shortened: names of C++ templates may be very long."""
        name = self.kernel
        return name if len(name) <= _MOST_SHOWN else f"{name[: _MOST_SHOWN - 1]}…"


def name_of(b: CheckingBuilder) -> str:
    """Return the name of the function that a wrapper exports."""
    return b.function.attributes["sym_name"].value.removeprefix(abi.PREFIX)


@dataclass(frozen=True)
class Site:
    """A wrapper, and the details for its errors: a kernel, and the architectures of its image."""

    b: CheckingBuilder
    kernel: str
    parts: str = ""
    vendor: Vendor = CUDA

    def operands(self, b: Builder) -> list[Value]:
        """Return the last operands of functions that raise: a ``CudaSite``."""
        wrapper, backtrace = self.b, self.b.backtrace
        return [
            b.text_constant(self.kernel.encode() + b"\0"),
            b.text_constant(self.parts.encode() + b"\0"),
            b.address_of(wrapper.raiser),
            b.text_constant(wrapper.suffix.encode() + b"\0"),
            b.text_constant(backtrace or b"\0"),
            b.i64(len(backtrace)),
        ]

    def define_callback(self, name: str, callee: str, symbols: Sequence[str], *text: str) -> None:
        """Define a function that passes on its argument, a pointer, and the symbols' addresses."""
        t = self.b.types
        f = Builder.define(self.b.symbols, name, t.i32, [t.ptr])
        operands = [f.entry.arguments[0], *map(f.address_of, symbols)]
        operands += [f.text_constant(each.encode() + b"\0") for each in text]
        _end(f, self.vendor.function(callee), [*operands, *self.operands(f)])


class States:
    """The symbols that one wrapper uses; made by :func:`define_states`."""

    def __init__(self, b: CheckingBuilder, source: Source) -> None:
        digest, self.name = source.digest, name_of(b)
        self.vendor = source.vendor
        prefix = self.vendor.prefix
        named = hashlib.sha256(source.kernel.encode()).hexdigest()[:8]
        self.site = Site(b, source.shown, source.parts, source.vendor)
        self.image = f"{prefix}image_{digest}"
        self.library = f"{prefix}library_{digest}"
        self.kernel = f"{prefix}kernel_{digest}_{named}"
        self.unload = f"{prefix}unload_{digest}"
        self.init = b.symbols.unique(f"{prefix}init_{digest}_{named}_{self.name}")


def define_states(b: CheckingBuilder, source: Source, needs: int) -> States:
    """Add the symbols that the module lacks; ``needs`` are the attributes that preloading sets."""
    states, symbols, vendor = States(b, source), b.symbols, source.vendor
    define_module(symbols, vendor)
    if states.image not in symbols:
        symbols.constant(states.image, source.data, align=_IMAGE_ALIGN, keep_name=True)
        symbols.variable(states.library, bytes(vendor.library_size), align=8)
    if states.kernel not in symbols:
        symbols.variable(states.kernel, bytes(vendor.kernel_size), align=8)
    if states.unload not in symbols:
        f = Builder.define(symbols, states.unload, b.types.i32, [b.types.ptr])
        addresses = map(f.address_of, (vendor.state, states.library))
        _end(f, vendor.function("unload"), [f.entry.arguments[0], *addresses])
    names = (vendor.state, states.library, states.kernel, states.image)
    states.site.define_callback(states.init, "load", names, source.kernel)
    f, (args, count, result) = _begin_safe_call(b, "preload", states.name)
    addresses = map(f.address_of, (vendor.state, states.kernel, states.init))
    operands = [args, count, result, *addresses, f.i32(needs)]
    _end(f, vendor.function("preload"), [*operands, *states.site.operands(f)])
    f, (_, count, result) = _begin_safe_call(b, "release", states.name)
    operands = [count, f.address_of(vendor.state), result, f.address_of(states.unload)]
    _end(f, vendor.function("release"), [*operands, *states.site.operands(f)])
    return states


def define_module(symbols: Symbols, vendor: Vendor) -> None:
    """Add the symbols that all wrappers of a module share, unless it has them."""
    t = symbols.types
    symbols.declare(INIT_ONCE, t.i32, [t.ptr, t.ptr])
    define_module_state(symbols, vendor)
    leave = f"{vendor.prefix}leave"
    if leave not in symbols:
        f = Builder.define(symbols, leave, t.void, [])
        run_support(f, vendor.function("leave_module"), [f.address_of(vendor.state)])
        f.ret()
        _mark(f)
        symbols.destructor(leave)


def define_driver(site: Site) -> str:
    """Add code that finds the driver if no kernel is loaded; return the name of the callback."""
    symbols, vendor = site.b.symbols, site.vendor
    if vendor.driver not in symbols:
        symbols.variable(vendor.driver, bytes(8), align=8)
    init = symbols.unique(f"{vendor.prefix}ready_{name_of(site.b)}")
    site.define_callback(init, "ready", (vendor.state,))
    return init


def define_module_state(symbols: Symbols, vendor: Vendor) -> None:
    """Add the state of the module, if it is missing."""
    if vendor.state not in symbols:
        symbols.variable(vendor.state, bytes(vendor.state_size), align=8)


def _begin_safe_call(b: CheckingBuilder, what: str, own: str) -> tuple[Builder, Sequence[Value]]:
    """Begin an exported function of the TVM-FFI C ABI; return its arguments except the handle."""
    t, number = b.types, 1
    name = f"{abi.PREFIX}_cuda_{what}_{own}"
    while name in b.symbols:  # another launch of the same wrapper
        number += 1  # in front of the name, since another wrapper's name may end in a number
        name = f"{abi.PREFIX}_cuda_{what}{number}_{own}"
    f = Builder.define(b.symbols, name, t.i32, [t.ptr, t.ptr, t.i32, t.ptr], "external")
    f.location = b.location
    return f, f.entry.arguments[1:]


def _end(f: Builder, callee: str, operands: Sequence[Value]) -> None:
    """End the function with a call of support code, whose result it returns."""
    f.ret(call_support(f, callee, operands))
    _mark(f)


def _mark(f: Builder) -> None:
    """Turn off LLVM's passes, which gain nothing here."""
    pass_through(f.types, f.function, ("noinline", "optnone"))
