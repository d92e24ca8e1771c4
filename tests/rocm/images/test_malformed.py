"""Bytes that are no image, truncated or damaged: an Image or a SpecError, and nothing else."""

from __future__ import annotations

import functools
import struct
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ffi_builder import SpecError, rocm
from ffi_builder.cuda.images import Image
from ffi_builder.rocm.images.msgpack import unpack
from ffi_builder.rocm.images.signs import is_image
from tests.rocm.images.images import IMAGES, image
from tests.rocm.images.reader import msgpack
from tests.support.drawn import drawn

NAMES = sorted(path.name for path in IMAGES.iterdir())
CODE = "triton-gfx1100.hsaco"


@functools.cache
def bytes_of(name: str) -> bytes:
    return image(name)


def read_or_refuse(data: bytes) -> Image | None:
    """Read an image; any error but a SpecError fails the test."""
    assert is_image(data) in (True, False)
    try:
        read = rocm.kernels(data)
    except SpecError:
        return None
    assert str(read).startswith(read.format)
    return read


def with_metadata(root: object) -> bytes:
    """A code object whose metadata are these, in a note behind all else."""
    content: bytes = root if isinstance(root, bytes) else msgpack.packb(root)
    note = struct.pack("<III8s", 7, len(content), 32, b"AMDGPU\0") + content
    data = bytearray(bytes_of(CODE))
    (segments,) = struct.unpack_from("<Q", data, 32)
    (count,) = struct.unpack_from("<H", data, 56)
    for at in range(segments, segments + 56 * count, 56):
        if struct.unpack_from("<I", data, at) == (4,):
            struct.pack_into("<Q", data, at + 8, len(data))
            struct.pack_into("<Q", data, at + 32, len(note))
    return bytes(data + note)


ARG: dict[str, object] = {".offset": 0, ".size": 8, ".value_kind": "global_buffer"}
KERNEL: dict[str, object] = {
    ".name": "k",
    ".symbol": "k.kd",
    ".kernarg_segment_size": 16,
    ".max_flat_workgroup_size": 256,
    ".group_segment_fixed_size": 0,
    ".private_segment_fixed_size": 0,
    ".wavefront_size": 64,
    ".args": [ARG],
}


NOTHING: dict[str, object] = {}
NO_LIST: list[object] = []


def root(*args: object, **changed: object) -> dict[str, object]:
    own: dict[str, object] = {".args": [*args]} if args else {}
    renamed = {f".{name}": value for name, value in changed.items()}
    return {"amdhsa.kernels": [{**KERNEL, **own, **renamed}]}


def test_metadata_by_hand():
    read = rocm.kernels(with_metadata(root()))
    assert str(read["k"]) == "k(pointer)  [threads <= 256; registers 0; waves of 64]"
    hidden = {**ARG, ".offset": 8, ".value_kind": "hidden_none"}
    second = {**ARG, ".offset": 12, ".size": 4, ".value_kind": "by_value"}
    assert "k(pointer)  [" in str(rocm.kernels(with_metadata(root(ARG, hidden))))
    assert "k(pointer, 4 bytes)  [" in str(rocm.kernels(with_metadata(root(ARG, second))))
    unordered = rocm.kernels(with_metadata(root(second, ARG)))["k"].parameters
    assert [each.offset for each in unordered or ()] == [12, 0]
    assert rocm.kernels(with_metadata(root(kind="init"))).kernels == {}
    cluster = rocm.kernels(with_metadata(root(cluster_dims=[2, 1, 1])))["k"].cluster
    assert cluster == (2, 1, 1)


@pytest.mark.parametrize(
    ("metadata", "words"),
    [
        (b"", "The metadata of the AMD code object is truncated or damaged: a value would be bytes 0 to 1"),
        (b"\xc1", "before byte 1, 0xc1 begins no value"),
        (b"\xc7\0\0", "before byte 1, 0xc7 begins no value"),
        (b"\0\0", "its value ends at byte 1 of 2"),
        (b"\x91" * 40, "before byte 17, lists and maps are too deep in each other"),
        (b"\x81" * 40, "lists and maps are too deep in each other"),
        (b"\x82\xa1a\0\xa1a\0", "a map has the key 'a', which is twice there or no text"),
        (b"\x81\0\0", "a map has the key 0, which is twice there or no text"),
        (b"\xdd\xff\xff\xff\xff", "a value would be bytes 5 to 6, but there are 5"),
        (b"\xdb\xff\xff\xff\xff", "a value would be bytes 5 to 4294967300, but there are 5"),
        (NO_LIST, "the metadata is '[]', not a map"),
        (NOTHING, "the metadata has nothing as amdhsa.kernels, not a list"),
        ({"amdhsa.kernels": 5}, "the metadata has 5 as amdhsa.kernels, not a list"),
        ({"amdhsa.kernels": [5]}, "kernel 0 of the metadata is '5', not a map"),
        ({"amdhsa.kernels": [NOTHING]}, "kernel 0 of the metadata has nothing as .name, not a text"),
        ({"amdhsa.kernels": [KERNEL, KERNEL]}, "kernel 'k' is there twice"),
        (root(max_flat_workgroup_size=-1), "kernel 'k' has -1 as .max_flat_workgroup_size, not a number"),
        (root(wavefront_size=True), "kernel 'k' has True as .wavefront_size, not a number"),
        (root(reqd_workgroup_size=[1, 0, 1]), "has [1, 0, 1] as .reqd_workgroup_size, not three numbers"),
        (root(args="x" * 99), f"kernel 'k' has '{'x' * 59} as .args, not a list"),
        (root(5), "argument 0 of kernel 'k' is '5', not a map"),
        (root({**ARG, ".offset": 9}), "argument 0 of kernel 'k' would be bytes 9 to 17 of 16"),
        (root(ARG, {**ARG, ".offset": 7}), "an argument of kernel 'k' would begin in another at byte 7"),
        (root({**ARG, ".size": 0}), "argument 0 of kernel 'k' would be bytes 0 to 0 of 16"),
        (root({**ARG, ".value_kind": None}), "argument 0 of kernel 'k' has nothing as .value_kind, not a text"),
    ],
)  # fmt: skip
def test_damaged_metadata(metadata: object, words: str):
    with pytest.raises(SpecError) as caught:
        rocm.kernels(with_metadata(metadata))
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "but it is empty"),
        (b"\1\2\3", r"but it starts with b'\x01\x02\x03' (3 bytes)"),
        (bytes(range(1, 40)), r"\x10'… (39 bytes)"),
        (b"\x50\xed\x55\xba" + bytes(20), r"but it starts with b'P\xedU\xba"),
        (b"\x03\x02\x23\x07", "but it is SPIR-V, of OpenCL or Vulkan"),
        (b"\x7fELF", "The AMD code object is truncated or damaged: the ELF header would be bytes 0 to 64"),
    ],
)  # fmt: skip
def test_what_it_looks_like(data: bytes, words: str):
    with pytest.raises(SpecError) as caught:
        rocm.kernels(data)
    assert words in str(caught.value)


def test_the_running_program():
    with pytest.raises(SpecError, match="is an object or library for"):
        rocm.kernels(Path("/proc/self/exe").read_bytes())


@pytest.mark.parametrize("given_", [None, 3, "text", Path("a.hsaco"), [b""]])
def test_other_types(given_: object):
    with pytest.raises(TypeError, match=r"image: expected bytes but got .* \(\w+\)"):
        rocm.kernels(given_)  # pyright: ignore


@pytest.mark.parametrize(
    ("at", "layout", "value", "words"),
    [
        (4, "B", 1, "it is not 64-bit and little-endian"),
        (7, "B", 0, "The AMD code object is for system 0, not for HIP"),
        (7, "B", 66, "The AMD code object is for Mesa, not for HIP"),
        (8, "B", 1, "has version 1 of the ABI; expected 2 (V4), 3 (V5), 4 (V6): compile it with"),
        (48, "I", 0x300, "its flags 0x300 name no processor"),
        (32, "Q", 1 << 62, "the program headers would be bytes"),
        (54, "H", 40, "a program header would have 40 bytes, not 56"),
        (56, "H", 0, "no note of it has metadata"),
        (56, "H", 60000, "the program headers would be bytes"),
    ],
)
def test_damaged_headers(at: int, layout: str, value: int, words: str):
    data = bytearray(bytes_of(CODE))
    struct.pack_into(f"<{layout}", data, at, value)
    with pytest.raises(SpecError) as caught:
        rocm.kernels(bytes(data))
    assert words in str(caught.value)


@pytest.mark.parametrize("name", NAMES)
def test_cut_off_everywhere(name: str):
    data = bytes_of(name)
    step = max(1, len(data) // 200)
    for end in (*range(min(len(data), 200)), *range(200, len(data), step)):
        read_or_refuse(data[:end])


@given(st.data())
@settings(max_examples=drawn(300))
def test_flipped_bytes(data: st.DataObject):
    """In what is read: the headers, and the note behind them."""
    name = data.draw(st.sampled_from(NAMES))
    changed = bytearray(bytes_of(name))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, min(len(changed) - 1, 2000)))
        changed[at] = data.draw(st.integers(0, 255))
    read_or_refuse(bytes(changed))


@given(st.binary(max_size=200))
@example(b"\x7fELF")
def test_any_bytes(data: bytes):
    read_or_refuse(data)
    read_or_refuse(b"__CLANG_OFFLOAD_BUNDLE__" + data)
    read_or_refuse(b"CCOB" + data)
    read_or_refuse(bytes_of(CODE)[:64] + data)
    read_or_refuse(with_metadata(data))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.text() | st.binary()
    | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=20) | st.dictionaries(st.text(), inner, max_size=20),
    max_leaves=30,
)  # fmt: skip


@given(VALUES)
def test_any_values_as_the_other_reader_reads_them(value: object):
    data = msgpack.packb(value)
    assert unpack(data, "data") == value == msgpack.unpackb(data)


@pytest.mark.parametrize(
    ("kind", "size"),
    [
        (kind, size)
        for kind, sizes in (("text", (0, 31, 32, 300, 70000)), ("list", (15, 16, 70000)))
        for size in sizes
    ],
)
def test_long_values(kind: str, size: int):
    value = "x" * size if kind == "text" else [7] * size
    assert unpack(msgpack.packb(value), "data") == value
