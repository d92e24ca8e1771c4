"""What the fake driver calls for each launched kernel that comes with PTX."""

from __future__ import annotations

import ctypes
from collections import OrderedDict
from functools import lru_cache
from typing import Final

from ffi_builder.fakecuda.driver import FakeDriver, IllegalAddressError, Running
from ffi_builder.fakecuda.driver import MisalignedAddressError as Misaligned
from ffi_builder.fakecuda.constants import Result
from ffi_builder.ptx import text
from ffi_builder.ptx.decode import Program, decode
from ffi_builder.ptx.errors import Fault, KernelFault, PtxError
from ffi_builder.ptx.initial import initial_bytes
from ffi_builder.ptx.machine import Code, Memory, Shape

_MOST_KEPT: Final = 256
_kept: OrderedDict[tuple[int, int, str], Code] = OrderedDict()
"""By context, library and kernel; handles are never used again."""


@lru_cache(maxsize=_MOST_KEPT)
def _program(ptx: str, kernel: str) -> Program:
    return decode(text.read(ptx), kernel)


def execute(driver: FakeDriver, run: Running) -> None:
    """Execute a launched kernel.

    Raises:
        PtxError: its PTX is not executed.
        RuntimeError: it does what no kernel may, with the ``result`` of the driver.
    """
    key = run.context, run.library, run.kernel
    code = _kept.get(key)
    if code is None:
        code = _code(driver, run)
        _kept[key] = code
        while len(_kept) > _MOST_KEPT:
            _kept.popitem(last=False)
    shape = Shape(
        run.grid, run.block, run.cluster, run.shared, run.cooperative, run.device, 0
    )
    try:
        code.run(run.arguments, shape, _memory(driver))
    except KernelFault as error:
        raise _as_driver(error) from None


def _code(driver: FakeDriver, run: Running) -> Code:
    module = text.read(run.ptx)
    program = _program(run.ptx, run.kernel)
    names = {name for _, name, _ in program.variables}
    addresses: dict[str, int] = {}
    new: list[str] = []

    def address(name: str) -> int:
        if name not in addresses:
            variable = module.variables.get(name)
            if variable is None or variable.external or not variable.size:
                raise PtxError(
                    f"kernel {run.kernel!r} is not executed: the variable {name!r} is external"
                )
            addresses[name], fresh = driver.variable(run, name, variable.size)
            if fresh and variable.initial:
                new.append(name)
        return addresses[name]

    for name in sorted(names):
        address(name)
    while new:
        variable = module.variables[new.pop()]
        values = initial_bytes(variable, address)
        at = driver.host(addresses[variable.name], len(values), run.device)
        ctypes.memmove(at, values, len(values))
    return Code(program, addresses)


@lru_cache(maxsize=1)
def _memory(driver: FakeDriver) -> Memory:
    def at(name: str) -> int:
        return ctypes.cast(getattr(driver.cuda, name), ctypes.c_void_p).value or 0

    return Memory(*map(at, ("fake_lock", "fake_unlock", "fake_extents", "fake_tensor_map")))


class KernelFailedError(RuntimeError):
    """A kernel ended by a trap, a failed assert, a deadlock, or a wrong use of an instruction."""

    def __init__(self, words: str, result: Result) -> None:
        super().__init__(words)
        self.result = result


def _as_driver(error: KernelFault) -> RuntimeError:
    """Return what the driver calls it."""
    match error.kind:
        case Fault.ILLEGAL:
            return IllegalAddressError(f"{error} ({Result.ILLEGAL_ADDRESS.symbol})")
        case Fault.MISALIGNED:
            return Misaligned(f"{error} ({Result.MISALIGNED_ADDRESS.symbol})")
        case Fault.ASSERT:
            result = Result.ASSERT
        case Fault.STUCK:
            result = Result.LAUNCH_TIMEOUT
        case _:
            result = Result.LAUNCH_FAILED
    return KernelFailedError(f"{error} ({result.symbol})", result)
