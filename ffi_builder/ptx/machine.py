"""Runs decoded kernels in the interpreter: what C gets, and what it reports."""

from __future__ import annotations

import ctypes
import math
import struct
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ffi_builder.ptx.build import interpreter
from ffi_builder.ptx.errors import Fault, KernelFault, PtxError
from ffi_builder.ptx.program import INSTR, Program, place

Dims = tuple[int, int, int]

_SLICE: Final = 200_000
"""Steps between two looks at signals: some 10 ms."""
PATIENCE: Final = 100_000_000
"""Steps of warps without progress that end a launch: some ten seconds."""
_MOST_MEMORY: Final = 2 << 30
_U32: Final = ctypes.c_uint32
_LANES: Final = 32


_OF_MEMORY: Final = ("lock", "unlock", "extents", "map")
_OF_SHAPE: Final = ("grid", "block", "cluster", "cooperative", "device")


class Extent(ctypes.Structure):
    """``Extent`` of engine.h: memory of a device, and where the host finds it."""

    _fields_ = (("lo", ctypes.c_uint64), ("size", ctypes.c_uint64), ("host", ctypes.c_void_p))


class _Config(ctypes.Structure):
    _fields_ = (
        ("code", ctypes.c_void_p),
        ("constants", ctypes.c_void_p),
        ("filled", ctypes.c_void_p),
        ("params", ctypes.c_void_p),
        *((name, _U32) for name in ("code_count", "filled_count", "rows", "params_size")),
        *((name, _U32) for name in ("entry", "local_size", "shared_size", "dynamic")),
        *((name, _U32 * 3) for name in ("grid", "block", "cluster")),
        ("cooperative", _U32),
        ("resident", _U32),
        ("device", ctypes.c_int32),
        ("patience", ctypes.c_uint64),
        *((name, ctypes.c_void_p) for name in (*_OF_MEMORY, "given")),
        ("given_count", ctypes.c_uint64),
    )


class _Report(ctypes.Structure):
    _fields_ = (
        ("done", _U32),
        ("fault", _U32),
        ("ctaid", _U32 * 3),
        ("tid", _U32 * 3),
        ("line", _U32),
        ("text_size", _U32),
        ("words", ctypes.c_char * 512),
        ("text", ctypes.c_void_p),
        ("steps", ctypes.c_uint64),
    )


@dataclass(frozen=True)
class Memory:
    """Where a launch finds the memory of its device: functions of the fake driver, or extents."""

    lock: int = 0
    unlock: int = 0
    extents: int = 0
    map: int = 0
    given: Sequence[tuple[int, int, int]] = ()
    """Address, size, and where the host finds it; in order."""


@dataclass(frozen=True)
class Shape:
    """How a kernel is launched."""

    grid: Dims = (1, 1, 1)
    block: Dims = (1, 1, 1)
    cluster: Dims = (1, 1, 1)
    shared: int = 0
    cooperative: bool = False
    device: int = 0


class Code:
    """A program as C has it, for one context: with the addresses of its variables.

    Raises:
        KeyError: a variable has no address.
    """

    def __init__(self, program: Program, variables: Mapping[str, int]) -> None:
        self.program = program
        library = interpreter()
        addresses: dict[str, int] = {}
        for handler in {each[0] for each in program.code}:
            function = getattr(library, f"op_{handler}")
            addresses[handler] = ctypes.cast(function, ctypes.c_void_p).value or 0
        operands = program.operands.tobytes()
        self._operands = ctypes.create_string_buffer(operands, len(operands) + 4)
        base = ctypes.addressof(self._operands)
        packed = b"".join(
            INSTR.pack(addresses[handler], base + 4 * at, guard, line, *rest)
            for handler, at, guard, line, rest in program.code
        )
        self._code = ctypes.create_string_buffer(packed, len(packed) + 1)
        values = list(program.constants)
        for at, name, offset in program.variables:
            values[at] = (variables[name] + offset) & (2**64 - 1)
        rows = b"".join(struct.pack("<Q", value) * _LANES for value in values)
        self._constants = ctypes.create_string_buffer(rows, len(rows) + 1)
        filled = b"".join(struct.pack("<IIQ", *each) for each in program.filled)
        self._filled = ctypes.create_string_buffer(filled, len(filled) + 1)

    def run(
        self,
        arguments: Sequence[bytes],
        shape: Shape,
        memory: Memory,
        *,
        patience: int | None = None,
    ) -> int:
        """Run a launch to its end; return how many steps its warps took.

        Raises:
            KernelFault: the kernel does what no kernel may.
            PtxError: the arguments do not fit, or there is not enough memory.
        """
        program, name = self.program, self.program.kernel.name
        params = self._params(arguments)
        resident = math.prod(shape.grid if shape.cooperative else shape.cluster)
        warps = -(-math.prod(shape.block) // _LANES)
        shared = program.shared_size + shape.shared
        of_block = warps * _LANES * (8 * program.rows + program.local_size) + 2 * shared
        if resident * of_block > _MOST_MEMORY:
            raise PtxError(
                f"kernel {name!r} is not executed: {resident} blocks at once need "
                f"{resident * of_block >> 20} MiB of this machine, more than {_MOST_MEMORY >> 20}"
            )
        config = _Config(
            *map(ctypes.addressof, (self._code, self._constants, self._filled, params)),
            code_count=len(program.code),
            filled_count=len(program.filled),
            rows=program.rows,
            params_size=len(params) - 1,
            local_size=place(program.local_size, 16),
            shared_size=shared,
            dynamic=shape.shared,
            **{name: getattr(shape, name) for name in _OF_SHAPE},
            resident=resident,
            patience=PATIENCE if patience is None else patience,
            **{name: getattr(memory, name) for name in _OF_MEMORY},
        )
        given = (Extent * max(len(memory.given), 1))(*memory.given)
        if not memory.extents:
            config.given = ctypes.addressof(given)
            config.given_count = len(memory.given)
        return self._run(config)

    def _params(self, arguments: Sequence[bytes]) -> Any:
        places = list(self.program.params.values())
        if [size for _, size in places] != [len(each) for each in arguments]:
            name = self.program.kernel.name
            raise PtxError(f"kernel {name!r} is not executed: its parameters have other sizes")
        size = max((at + size for at, size in places), default=0)
        buffer = bytearray(size)
        for (at, length), data in zip(places, arguments, strict=True):
            buffer[at : at + length] = data
        return ctypes.create_string_buffer(bytes(buffer), size + 1)

    def _run(self, config: _Config) -> int:
        library = interpreter()
        machine = library.ptx_begin(ctypes.byref(config))
        if not machine:
            raise MemoryError("FakeCuda: no memory for the blocks of a kernel")
        try:
            report = _Report.from_address(library.ptx_report(machine))
            while not report.done:
                library.ptx_run(machine, _SLICE)  # Python looks at signals after it
                self._print(report)
                if report.fault:
                    raise self._fault(report)
            return report.steps
        finally:
            library.ptx_end(machine)

    def _print(self, report: _Report) -> None:
        if report.text_size:
            words = ctypes.string_at(report.text, report.text_size)
            report.text_size = 0
            sys.stdout.write(words.decode(errors="replace"))
            sys.stdout.flush()

    def _fault(self, report: _Report) -> KernelFault:
        line = report.line
        return KernelFault(
            Fault(report.fault),
            self.program.kernel.name,
            report.words.decode(errors="replace"),
            tuple(report.ctaid),
            tuple(report.tid),
            line,
            self.program.source_of(line),
        )
