"""Fatbins: uncompressed, by LZ4 and by zstd, with and without a decoder."""

from __future__ import annotations

import struct
import sys

import pytest

from ffi_builder import SpecError
from ffi_builder.cuda.images import Kernel, Parameter
from ffi_builder.cuda.images import kernels as read_image
from tests.cuda.images.images import SIZES, image

FATBINS = ("none.fatbin", "speed.fatbin", "size.fatbin")
HEADER = struct.Struct("<4sHHQ")
ENTRY = struct.Struct("<HHIQIIHHIIIQQQ")
ELF, PTX, LTO = 2, 1, 8
LZ4 = 0x2011


def needs_decoder(name: str) -> None:
    if name == "speed.fatbin":
        pytest.importorskip("lz4.block")
    if name == "size.fatbin" and sys.version_info < (3, 14):
        pytest.importorskip("zstandard")


def fatbin(*entries: bytes) -> bytes:
    payload = b"".join(entries)
    return HEADER.pack(b"\x50\xed\x55\xba", 1, 16, len(payload)) + payload


def entry(
    payload: bytes, *, kind: int = ELF, sm: int = 90, flags: int = 0x11, size: int = 0
) -> bytes:
    padded = payload + bytes(-len(payload) % 8)
    return (
        ENTRY.pack(kind, 0x101, 64, len(padded), len(payload), 0, 8, 1, sm, 0, 0, flags, 0, size)
        + padded
    )


@pytest.mark.parametrize("name", FATBINS)
def test_what_all_parts_together_have(name: str):
    needs_decoder(name)
    read = read_image(image(name))
    assert (read.format, read.unread) == ("fatbin", ())
    assert read.architectures == ("sm_80", "sm_90", "compute_90a")
    assert set(read.kernels) == set(SIZES)
    for kernel in read.kernels.values():
        assert kernel.parameters is not None
        assert [parameter.size for parameter in kernel.parameters] == SIZES[kernel.name]


@pytest.mark.parametrize("name", FATBINS)
def test_what_the_parts_disagree_on_is_not_said(name: str):
    """The map is at byte 32 on sm_80 and at byte 48 on sm_90; the registers differ too."""
    needs_decoder(name)
    kernels = read_image(image(name)).kernels
    assert kernels["tensor_map"].parameters == (
        Parameter(0, 0, 4, "u32"),
        Parameter(1, None, 128, "b8[128]", 64),
        Parameter(2, None, 8, "u64"),
    )
    assert kernels["tensor_map"].registers is None
    assert kernels["saxpy"].registers == 10
    assert kernels["saxpy"].static_shared_bytes == 0
    assert kernels["bounded"].max_threads == 256


def test_a_part_that_does_not_know_its_parameters_overrules_none():
    ptx = b".version 8.0\n.target sm_100\n.visible .entry saxpy(.param .q99 a) { ret; }\0"
    read = read_image(
        fatbin(entry(image("cuda12-sm_80.cubin"), sm=80), entry(ptx, kind=PTX, sm=100))
    )
    parameters = read["saxpy"].parameters
    assert parameters is not None
    assert [parameter.size for parameter in parameters] == SIZES["saxpy"]


def test_other_parameters_in_another_part_cannot_be_launched():
    ptx = b".version 8.0\n.target sm_100\n.visible .entry saxpy(.param .u64 a) { ret; }\0"
    read = read_image(
        fatbin(entry(image("cuda12-sm_80.cubin"), sm=80), entry(ptx, kind=PTX, sm=100))
    )
    assert read.architectures == ("sm_80", "compute_100")
    assert read.kernels["saxpy"].parameters is None
    differ = "sm_80 has (4 bytes, 8 bytes, 8 bytes, 4 bytes), compute_100 has (u64)"
    assert f"saxpy(…)  [its parameters differ: {differ}]" in str(read)
    with pytest.raises(SpecError) as caught:
        read["saxpy"]
    assert f"so no launch fits all of them: {differ}. Compile" in str(caught.value)
    assert read.kernels["tensor_map"].parameters is not None


@pytest.fixture
def no_decoder(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("compression.zstd", "zstandard", "lz4.block"):
        monkeypatch.setitem(sys.modules, name, None)


@pytest.mark.usefixtures("no_decoder")
@pytest.mark.parametrize(
    ("name", "compression", "package"),
    [("speed.fatbin", "LZ4", "lz4"), ("size.fatbin", "zstd", "zstandard")],
)
def test_without_a_decoder_any_kernel_may_be_there(name: str, compression: str, package: str):
    read = read_image(image(name))
    assert read.kernels == {}
    assert read.architectures == ("sm_80", "sm_90", "compute_90a")
    assert [words.partition(": ")[0] for words in read.unread] == [
        "entry 1, code for sm_80",
        "entry 2, code for sm_90",
        "entry 3, PTX for compute_90a",
    ]
    assert f"install {package}, as the extra ffi_builder[cuda] does" in read.unread[0]
    assert read["whatever"] == Kernel("whatever", None)
    assert f"not read: entry 1, code for sm_80: compressed by {compression}" in str(read)


@pytest.mark.usefixtures("no_decoder")
def test_what_is_not_compressed_is_read_without_a_decoder():
    assert set(read_image(image("none.fatbin")).kernels) == set(SIZES)


def test_kinds_of_entries_that_have_no_kernels():
    code = entry(image("cuda12-sm_80.cubin"), sm=80)
    read = read_image(fatbin(code, entry(b"\6\7", kind=LTO), entry(b"", kind=77, sm=100)))
    assert read.unread == (
        "entry 2, LTO IR for sm_90: not a kind that kernels are read from",
        "entry 3, an entry of kind 77 for sm_100: not a kind that kernels are read from",
    )
    assert read.architectures == ("sm_80", "sm_90", "sm_100")
    assert read["saxpy"].registers == 10
    assert read["in the LTO IR, perhaps"].parameters is None


def test_flags_say_the_letter_of_what_is_not_read():
    parts = [entry(b"", kind=LTO, sm=100, flags=flags) for flags in (0x100011, 0x200011)]
    assert read_image(fatbin(*parts)).architectures == ("sm_100a", "sm_100f")


def test_an_empty_one_and_what_follows_its_end():
    assert read_image(fatbin()).kernels == {}
    assert read_image(fatbin() + b"padding").architectures == ()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (fatbin(entry(b"x"))[:40], r"all entries together would be bytes 16 to 88, but there are"),
        (fatbin()[:15], r"the header would be bytes 0 to 16, but there are 15"),
        (fatbin(b"\1" * 20), r"entry 1 would be bytes 16 to 80, but there are 36"),
        (HEADER.pack(b"\x50\xed\x55\xba", 2, 16, 0), r"version is 2 and its header 16 bytes"),
        (HEADER.pack(b"\x50\xed\x55\xba", 1, 0, 0), r"version is 1 and its header 0 bytes"),
        (fatbin(ENTRY.pack(*[0] * 14)), r"the header of entry 1 would have 0 bytes, not 64"),
        (fatbin(ENTRY.pack(2, 1, 64, 1 << 60, *[0] * 10)), r"entry 1 would end at byte \d+ of 80"),
        (fatbin(entry(b"junk")), r"In the fatbin, entry 1, code for sm_90: The cubin is truncated"),
        (fatbin(entry(b"junk", kind=PTX)), r"In the fatbin, entry 1, PTX for compute_90: The PTX names"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_damaged(data: bytes, words: str):
    with pytest.raises(SpecError, match=words):
        read_image(data)


PTX_TEXT = b".version 8.0\n.target sm_90\n.visible .entry k(.param .u64 k_0) { ret; }" + b"\n" * 300


@pytest.mark.parametrize(
    "block",
    [
        b"\xf0" + bytes([255, len(PTX_TEXT) - 270]) + PTX_TEXT,
        # 70 literals, the last of them a newline, which is copied from 1 byte before 288 times.
        b"\xff" + bytes([len(PTX_TEXT) - 300 - 14]) + PTX_TEXT[:-299] + b"\1\0"
        + bytes([255, 299 - 5 - 4 - 15 - 255]) + b"\x50" + b"\n" * 5,
    ],
    ids=["literals", "a match"],
)  # fmt: skip
def test_lz4_blocks_by_hand(block: bytes):
    needs_decoder("speed.fatbin")
    read = read_image(fatbin(entry(block, kind=PTX, flags=LZ4, size=len(PTX_TEXT))))
    assert list(read.kernels) == ["k"]


@pytest.mark.parametrize(
    "block",
    [
        b"",
        b"\xf0",
        b"\x50abcd",
        b"\x10a\0\0",
        b"\x10a\5\0",
        b"\x1fa\1\0" + b"\xff" * 10000,
        b"\x1fa\1\0" + b"\xff" * 10000 + b"\0",
    ],
    ids=["empty", "length", "literals", "distance 0", "distance", "no end", "too long"],
)
def test_damaged_lz4(block: bytes):
    needs_decoder("speed.fatbin")
    with pytest.raises(SpecError, match=r"entry 1, PTX for compute_90 does not decompress"):
        read_image(fatbin(entry(block, kind=PTX, flags=LZ4, size=100)))


def test_a_size_that_cannot_be():
    with pytest.raises(SpecError, match="would be 1152921504606846976 bytes when decompressed"):
        read_image(fatbin(entry(b"", flags=LZ4, size=1 << 60)))


def test_damaged_zstd():
    needs_decoder("size.fatbin")
    for payload in (b"", b"\x28\xb5\x2f\xfd", b"\x28\xb5\x2f\xfd\xff\xff\xff", b"no frame"):
        with pytest.raises(SpecError, match="entry 1, code for sm_90 does not decompress"):
            read_image(fatbin(entry(payload, flags=0x8011, size=50)))
    # A frame of more bytes than it should have: 256 KiB of one byte.
    frame = b"\x28\xb5\x2f\xfd\x00\x58" + bytes.fromhex("02 00 10 61 03 00 10 61")
    with pytest.raises(SpecError, match="to 50 bytes, as its header says"):
        read_image(fatbin(entry(frame, flags=0x8011, size=50)))
