"""Requests of tensor maps that break one rule of cuda.h each, and their neighbours that keep it."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from ffi_builder import spec
from ffi_builder.cuda.launch.map_rules import (
    FILLS,
    INTERLEAVES,
    SWIZZLES,
    TYPES,
    Setting,
    Subject,
    broken_choices,
    limit,
)
from tests.fakecuda import FakeDriver, KernelImage

P = ctypes.c_void_p
TILED, IM2COL = "cuTensorMapEncodeTiled", "cuTensorMapEncodeIm2col"


@dataclass(frozen=True)
class Request:
    """What a driver is asked for, innermost first; a rule changes one thing of one that is right."""

    dtype: str = "float16"
    rank: int = 3
    address: int = 1 << 20
    sizes: Sequence[int] = (64, 8, 4, 2, 2)
    strides: Sequence[int] = (128, 1024, 4096, 8192)
    """In bytes."""
    box: Sequence[int] = (64, 8, 1, 1, 1)
    steps: Sequence[int] = (1, 1, 1, 1, 1)
    swizzle: str = "none"
    interleave: str = "none"
    oob_fill: str = "none"
    corners: tuple[Sequence[int], Sequence[int]] | None = None
    channels: int = 64
    pixels: int = 32
    wide: str | None = None

    @property
    def setting(self) -> Setting:
        """The setting; the tensor's elements are the driver's."""
        corners = None
        if self.corners is not None:
            lower, upper = (tuple(corner[: self.spatial]) for corner in self.corners)
            corners = lower, upper
        return Setting(
            self.dtype,
            TYPES[self.dtype],
            self.rank,
            self.swizzle,
            self.interleave,
            self.oob_fill,
            self.wide,
            corners,
        )

    @property
    def spatial(self) -> int:
        return 1 if self.wide else max(self.rank - 2, 0)

    def numbers(self) -> list[tuple[Subject, int, int]]:
        """Subject, axis and value."""
        rank = min(self.rank, 5)
        found: list[tuple[Subject, int, int]] = []

        def add(subject: Subject, values: Sequence[int], first: int = 0) -> None:
            found.extend((subject, first + axis, value) for axis, value in enumerate(values))

        add("rank", [self.rank])
        add("address", [self.address])
        add("size", self.sizes[:rank])
        add("element stride", self.steps[:rank])
        if self.corners is None:
            add("box", self.box[:rank])
            return found
        add("channels", [self.channels])
        add("pixels", [self.pixels])
        for corner in self.corners:
            add("corner", corner[: self.spatial], 1)
        return found

    def allowed(self) -> bool:
        """Whether the rules allow it."""
        setting = self.setting
        if not limit(setting, "rank").range.holds(self.rank):
            return False
        numbers = all(
            limit(setting, s, axis).range.holds(value) for s, axis, value in self.numbers()
        )
        strides = all(
            stride * 8 % TYPES[self.dtype] == 0
            and limit(setting, "stride", 1 + i).range.holds(stride * 8 // TYPES[self.dtype])
            for i, stride in enumerate(self.strides[: self.rank - 1])
        )
        return numbers and strides and not list(broken_choices(setting))

    def made(self, call: Callable[..., int], room: Any = None) -> int:
        """What a driver answers; ``call`` calls one of its functions, with a context current."""
        out = ctypes.byref(aligned(ctypes.create_string_buffer(256) if room is None else room))
        dims, strides = (ctypes.c_uint64 * 5)(*self.sizes), (ctypes.c_uint64 * 4)(*self.strides)
        steps = (ctypes.c_uint32 * 5)(*self.steps)
        first = (out, list(TYPES).index(self.dtype), self.rank, P(self.address), dims, strides)
        swizzle = list(SWIZZLES).index(self.swizzle)
        fill, interleave = FILLS.index(self.oob_fill), INTERLEAVES.index(self.interleave)
        last = (swizzle, 0, fill)
        if self.corners is None:
            box = (ctypes.c_uint32 * 5)(*self.box)
            return call(TILED, *first, box, steps, interleave, *last)
        lower, upper = self.corners
        pixels = (self.channels, self.pixels, steps, interleave)
        if self.wide is None:
            ends = (ctypes.c_int * 3)(*lower), (ctypes.c_int * 3)(*upper)
            return call(IM2COL, *first, *ends, *pixels, *last)
        mode = ("w", "w128").index(self.wide)
        return call(f"{IM2COL}Wide", *first, lower[0], upper[0], *pixels, mode, *last)


PLAIN: Final = Request()
PATCHES: Final = replace(PLAIN, corners=((-1, 0, 0), (1, 0, 0)))
WIDE: Final = replace(PATCHES, wide="w", swizzle="128B")
U4: Final = replace(
    PLAIN, dtype="16u4_align16b", sizes=(128, 8, 4, 2, 2), box=(128, 8, 1, 1, 1), channels=128
)
U6: Final = replace(U4, dtype="16u6_align16b", strides=(96, 960, 9600, 96000))
U4_8: Final = replace(U4, dtype="16u4_align8b")
BY_32: Final = replace(PLAIN, interleave="32B", swizzle="32B")


def aligned(room: Any) -> ctypes.Array[ctypes.c_char]:
    """The 128 bytes for a map in a buffer of 256."""
    return (ctypes.c_char * 128).from_buffer(room, -ctypes.addressof(room) % 128)


def changed(values: Sequence[int], axis: int, value: int) -> tuple[int, ...]:
    return (*values[:axis], value, *values[axis + 1 :])


def of(request: Request, name: str, axis: int, *values: int) -> list[Request]:
    return [replace(request, **{name: changed(getattr(request, name), axis, v)}) for v in values]


def one(request: Request, name: str, *values: Any) -> list[Request]:
    return [replace(request, **{name: value}) for value in values]


CASES: Final[list[tuple[str, list[Request], list[Request]]]] = [
    # Of a rule: requests that are accepted, and that are refused.
    ("1 to 5 dimensions", one(PLAIN, "rank", 1, 5), one(PLAIN, "rank", 0, 6)),
    ("interleaved ones have 3", one(replace(PLAIN, interleave="16B"), "rank", 3), one(replace(PLAIN, interleave="16B"), "rank", 1, 2)),
    ("im2col is for 3 to 5", one(PATCHES, "rank", 3, 4), one(PATCHES, "rank", 2, 6)),
    ("aligned to 16 bytes", one(PLAIN, "address", 1 << 20 | 16), one(PLAIN, "address", 1 << 20 | 8)),
    (
        "to 32 with interleave",
        one(BY_32, "address", 1 << 20 | 32) + one(U4, "address", 1 << 20 | 32),
        one(BY_32, "address", 1 << 20 | 16) + one(U6, "address", 1 << 20 | 16),
    ),
    ("no empty dimension", of(PLAIN, "sizes", 1, 1, 2**31), of(PLAIN, "sizes", 1, 0, 2**31 + 1)),
    ("groups of 128", of(U4, "sizes", 0, 256) + of(U6, "sizes", 0, 256), of(U6, "sizes", 0, 64)),
    ("whole bytes", of(U4_8, "sizes", 0, 130), of(U4_8, "sizes", 0, 129)),
    (
        "between the corners is not empty",
        of(replace(PATCHES, corners=((3, 0, 0), (0, 0, 0))), "sizes", 1, 4),
        of(replace(PATCHES, corners=((3, 0, 0), (0, 0, 0))), "sizes", 1, 3),
    ),
    ("multiples of 16 bytes, below", of(PLAIN, "strides", 1, 0, 16, 2**40 - 16), of(PLAIN, "strides", 1, 8, 24, 2**40)),
    ("of 32 with", of(BY_32, "strides", 1, 32) + of(U4, "strides", 0, 64), of(BY_32, "strides", 0, 48) + of(U4, "strides", 1, 80)),
    ("box has 1 to 256", of(PLAIN, "box", 1, 1, 256), of(PLAIN, "box", 1, 0, 257)),
    ("rows are multiples of 16", of(PLAIN, "box", 0, 8, 256), of(PLAIN, "box", 0, 4, 12)),
    ("longer than what is swizzled", of(replace(PLAIN, swizzle="64B"), "box", 0, 8, 32), of(replace(PLAIN, swizzle="64B"), "box", 0, 40, 64)),
    ("rows of 128 such", [U4, U6], of(U4, "box", 0, 64) + of(U6, "box", 0, 256)),
    ("1 to 256 channels", one(PATCHES, "channels", 1, 256), one(PATCHES, "channels", 0, 257)),
    ("no more than what is swizzled", one(replace(PATCHES, swizzle="32B"), "channels", 16), one(replace(PATCHES, swizzle="32B"), "channels", 17)),
    ("it has 128 such values", [replace(U4, corners=PATCHES.corners)], one(replace(U4, corners=PATCHES.corners), "channels", 64)),
    ("1 to 1024 pixels", one(PATCHES, "pixels", 1, 1024), one(PATCHES, "pixels", 0, 1025)),
    ("element strides are 1 to 8", of(PLAIN, "steps", 2, 1, 8), of(PLAIN, "steps", 2, 0, 9)),
    (
        "corners have 16 bits",
        [
            replace(PATCHES, corners=((-(2**15), 0, 0), (2**15 - 1, 0, 0))),
            replace(PATCHES, rank=4, corners=((-128, 0, 0), (127, 0, 0))),
            replace(PATCHES, rank=5, corners=((0, 0, -16), (0, 0, 15))),
            replace(WIDE, rank=5, corners=((-(2**15),), (2**15 - 1,))),
        ],
        [
            replace(PATCHES, corners=((-(2**15) - 1, 0, 0), (0, 0, 0))),
            replace(PATCHES, rank=4, corners=((0, 0, 0), (0, 128, 0))),
            replace(PATCHES, rank=5, corners=((0, 0, -17), (0, 0, 0))),
        ],
    ),
    ("32B swizzles 32", [BY_32], one(BY_32, "swizzle", "none", "64B", "128B")),
    (
        "16u6_align16b is swizzled so",
        one(U6, "swizzle", "none", "128B", "128B_ATOM_32B", "128B_ATOM_64B"),
        one(U6, "swizzle", "32B", "64B", "128B_ATOM_32B_FLIP_8B"),
    ),
    ("16u4_align16b is swizzled so", one(U4, "swizzle", "none", "128B", "128B_ATOM_32B"), one(U4, "swizzle", "32B", "64B", "128B_ATOM_64B")),
    (
        "wide im2col swizzles",
        one(replace(WIDE, channels=32), "swizzle", "64B", "128B", "128B_ATOM_32B"),
        one(replace(WIDE, channels=16), "swizzle", "none", "32B", "128B_ATOM_64B"),
    ),
    (
        "16u4_align16b is swizzled so in wide",
        one(replace(WIDE, dtype="16u4_align16b", sizes=U4.sizes, channels=128), "swizzle", "128B"),
        one(replace(WIDE, dtype="16u4_align16b", sizes=U4.sizes, channels=128), "swizzle", "64B"),
    ),
    ("16u6_align16b is not interleaved", [U6], one(U6, "interleave", "16B")),
    (
        "NaN is for floats",
        one(replace(PLAIN, dtype="tfloat32", box=(32, 1, 1, 1, 1)), "oob_fill", "none", "nan"),
        [replace(each, oob_fill="nan") for each in (U4, U6, replace(PLAIN, dtype="uint16"))],
    ),
]  # fmt: skip


MAP: Final = KernelImage("k", (128,))
M, K = spec.dims("m k", "int64")


def tensor(*dims: Any, dtype: str = "float16", name: str = "x", **options: Any) -> spec.Tensor:
    every: dict[str, Any] = {"device_type": "cuda", **options}
    return spec.Tensor(name, list(dims), dtype, **every)


X: Final = tensor(M, K)


def ints(text: int | str) -> list[int]:
    return [int(each) for each in str(text).split(",")]


def asked(driver: FakeDriver, name: str = TILED) -> list[Any]:
    return [call.arguments for call in driver.calls() if call.name == name]
