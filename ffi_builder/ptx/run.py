"""Executes each kernel that the fake driver launches, if it comes with PTX."""

from __future__ import annotations

import ctypes
from collections import OrderedDict
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from ffi_builder.fakecuda.constants import Result
from ffi_builder.fakecuda.driver import (
    FakeDriver,
    IllegalAddressError,
    MisalignedAddressError,
    Running,
)
from ffi_builder.ptx import text
from ffi_builder.ptx.decode import decode
from ffi_builder.ptx.errors import Fault, KernelFault, PtxError
from ffi_builder.ptx.initial import initial_bytes
from ffi_builder.ptx.machine import Code, Memory, Shape
from ffi_builder.ptx.program import Program

_MOST_KEPT: Final = 256
_kept: Final[OrderedDict[tuple[int, int, str], Code]] = OrderedDict()
"""By context, library and kernel; handles are never used again."""


class KernelFailedError(RuntimeError):
    """A kernel ended by a trap, a failed assert, a deadlock, or a wrong use of an instruction."""

    def __init__(self, words: str, result: Result) -> None:
        super().__init__(words)
        self.result = result


def execute(driver: FakeDriver, run: Running) -> None:
    """Execute a launched kernel; without one, give all variables of the PTX their values.

    Raises:
        PtxError: its PTX is not executed.
        RuntimeError: it does what no kernel may, with the ``result`` of the driver.
    """
    if not run.kernel:
        module = text.read(run.ptx)
        of_global = (each for each in module.variables.values() if each.space in _GLOBAL)
        _addresses(driver, run, module, [each.name for each in of_global if each.initial])
        return
    if not run.has_ptx:
        raise PtxError(
            f"kernel {run.kernel!r} is not executed: its image has no PTX for device {run.device}, "
            f"or only compressed; wrap the PTX (of Triton's kernel k: `k.asm.pop('cubin')` leaves "
            f"it), or say what the kernel does with `gpu.kernel({run.kernel!r}, …)`"
        )
    key = run.context, run.library, run.kernel
    code = _kept.get(key)
    if code is None:
        code = _kept[key] = _code(driver, run)
        while len(_kept) > _MOST_KEPT:
            _kept.popitem(last=False)
    shape = Shape(run.grid, run.block, run.cluster, run.shared, run.cooperative, run.device)
    try:
        code.run(run.arguments, shape, _memory(driver))
    except KernelFault as error:
        raise _as_driver(error) from None


_GLOBAL: Final = ("global", "const")


@lru_cache(maxsize=_MOST_KEPT)
def _program(ptx: str, kernel: str) -> Program:
    return decode(text.read(ptx), kernel)


def _code(driver: FakeDriver, run: Running) -> Code:
    program = _program(run.ptx, run.kernel)
    names = {name for _, name, _ in program.variables}
    return Code(program, _addresses(driver, run, text.read(run.ptx), sorted(names)))


def _addresses(
    driver: FakeDriver, run: Running, module: text.Module, names: Iterable[str]
) -> dict[str, int]:
    """Return the addresses of variables; those that nobody has used yet get their values."""
    addresses: dict[str, int] = {}
    new: list[text.Variable] = []

    def address(name: str) -> int:
        if name not in addresses:
            variable = module.variables.get(name)
            if variable is None or variable.external or variable.space not in _GLOBAL:
                raise PtxError(
                    f"kernel {run.kernel!r} is not executed: no variable {name!r} is defined"
                )
            addresses[name], fresh = driver.variable(run, name, variable.size)
            if not addresses[name]:
                raise MemoryError(f"FakeCuda: no memory for the variable {name!r}")
            if fresh and variable.initial:
                new.append(variable)
        return addresses[name]

    for name in names:
        address(name)
    while new:
        variable = new.pop()
        values = initial_bytes(variable, address)
        ctypes.memmove(
            driver.host(addresses[variable.name], len(values), run.device), values, len(values)
        )
    return addresses


@lru_cache(maxsize=1)
def _memory(driver: FakeDriver) -> Memory:
    def at(name: str) -> int:
        return ctypes.cast(getattr(driver.cuda, name), ctypes.c_void_p).value or 0

    return Memory(at("fake_lock"), at("fake_unlock"), at("fake_extents"), map=at("fake_tensor_map"))


def _as_driver(error: KernelFault) -> RuntimeError:
    """Return what the driver calls it."""
    match error.kind:
        case Fault.ILLEGAL:
            return IllegalAddressError(f"{error} ({Result.ILLEGAL_ADDRESS.symbol})")
        case Fault.MISALIGNED:
            return MisalignedAddressError(f"{error} ({Result.MISALIGNED_ADDRESS.symbol})")
        case Fault.ASSERT:
            result = Result.ASSERT
        case Fault.STUCK:
            result = Result.LAUNCH_TIMEOUT
        case _:
            result = Result.LAUNCH_FAILED
    return KernelFailedError(f"{error} ({result.symbol})", result)
