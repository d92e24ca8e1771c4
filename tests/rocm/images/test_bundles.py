"""Clang's offload bundles: plain, and compressed by zlib and zstd, in each version."""

from __future__ import annotations

import hashlib
import struct
import sys
import zlib

import pytest

from ffi_builder import SpecError, rocm
from ffi_builder.cuda.images import Kernel
from ffi_builder.cuda.images import kernels as cuda_kernels
from ffi_builder.rocm.images.signs import is_bundle, is_code_object, is_image
from tests.rocm.images.images import image

MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"
NAMES = ["saxpy", "by_value", "narrow", "_ZN2ns4fillIfEEvPT_S1_"]
TARGETS = ("gfx90a:sramecc+:xnack-", "gfx1100")


def bundle(*entries: tuple[str, bytes]) -> bytes:
    at = len(MAGIC) + 8 + sum(24 + len(name) for name, _ in entries)
    head = MAGIC + struct.pack("<Q", len(entries))
    for name, payload in entries:
        head += struct.pack("<QQQ", at, len(payload), len(name)) + name.encode()
        at += len(payload)
    return head + b"".join(payload for _, payload in entries)


def packed(version: int, data: bytes, method: int = 0, **changed: int) -> bytes:
    """Compress by hand; ``changed`` are numbers of the header."""
    payload = zlib.compress(data) if method == 0 else zstd(data)
    layout = {1: "<IQ", 2: "<IIQ", 3: "<QQQ"}[version]
    hashed = int.from_bytes(hashlib.md5(data, usedforsecurity=False).digest()[:8], "little")
    total = 8 + struct.calcsize(layout) + len(payload)
    numbers = {"total": total, "size": len(data), "hash": hashed} | changed
    given = [numbers[name] for name in ("total", "size", "hash")][version == 1 :]
    return b"CCOB" + struct.pack("<HH", version, method) + struct.pack(layout, *given) + payload


def zstd(data: bytes) -> bytes:
    if sys.version_info >= (3, 14):
        from compression.zstd import compress

        return compress(data)
    return pytest.importorskip("zstandard").ZstdCompressor().compress(data)


@pytest.mark.parametrize("name", ["hip.hipfb", "hip.ccob"])
def test_what_all_entries_together_have(name: str):
    if name == "hip.ccob" and sys.version_info < (3, 14):
        pytest.importorskip("zstandard")
    read = rocm.kernels(image(name))
    assert (read.format, read.unread) == ("offload bundle", ())
    assert set(read.architectures) == set(TARGETS)
    assert list(read.kernels) == NAMES
    for kernel in read.kernels.values():
        assert set(kernel.architectures) == set(TARGETS)
        assert kernel.wave_size is None  # they differ
    narrow = read["narrow"].parameters
    assert narrow is not None
    assert [(each.offset, each.size) for each in narrow] == [
        (0, 1),
        (1, 1),
        (2, 2),
        (8, 8),
        (16, 8),
    ]
    assert [each.is_pointer for each in narrow] == [False] * 4 + [True]
    assert read["saxpy"].max_threads == 256


@pytest.mark.parametrize("method", [0, 1], ids=["zlib", "zstd"])
@pytest.mark.parametrize("version", [1, 2, 3])
def test_each_version_of_compressed_ones(version: int, method: int):
    plain = image("hip.hipfb")
    assert rocm.kernels(packed(version, plain, method)) == rocm.kernels(plain)


def test_without_a_decoder_any_kernel_may_be_there(monkeypatch: pytest.MonkeyPatch):
    for name in ("compression.zstd", "zstandard"):
        monkeypatch.setitem(sys.modules, name, None)
    read = rocm.kernels(image("hip.ccob"))
    assert (read.kernels, read.architectures) == ({}, ())
    assert "compressed by zstd" in read.unread[0]
    assert "install zstandard, as the extra ffi_builder[rocm] does" in read.unread[0]
    assert read["whatever"] == Kernel("whatever", None)
    assert set(rocm.kernels(packed(3, image("hip.hipfb"))).kernels) == set(NAMES)


def test_entries_that_have_no_code():
    read = rocm.kernels(
        bundle(
            ("host-x86_64-unknown-linux--", b""),
            ("hip-amdgcn-amd-amdhsa--gfx90a", b"BC\xc0\xde"),
            ("hip-spirv64-amd-amdhsa--amdgcnspirv", b"\x03\x02\x23\x07"),
            ("hipv4-amdgcn-amd-amdhsa--gfx1100", image("triton-gfx1100.hsaco")),
            ("hipv4-amdgcn-amd-amdhsa--gfx1101", b""),
        )
    )
    assert read.architectures == ("gfx1100",)
    assert [words.partition(", ")[0] for words in read.unread] == [
        "entry 'hip-amdgcn-amd-amdhsa--gfx90a': it is no code object",
        "entry 'hip-spirv64-amd-amdhsa--amdgcnspirv': it is no code object",
        "entry 'hipv4-amdgcn-amd-amdhsa--gfx1101': it is no code object",
    ]
    assert "LLVM bitcode, which -fgpu-rdc leaves" in read.unread[0]
    assert "SPIR-V" in read.unread[1]
    assert "empty" in read.unread[2]
    assert read["add"].parameters is not None


def test_other_parameters_in_another_entry_cannot_be_launched():
    entries = (("a", image("triton-gfx1100.hsaco")), ("b", image("triton-gfx942.hsaco")))
    assert rocm.kernels(bundle(*entries))["add"].max_threads is None  # 128 and 256
    changed = image("triton-gfx942.hsaco").replace(
        b".offset\x18\xa5.size\x04", b".offset\x18\xa5.size\x08"
    )
    assert changed != image("triton-gfx942.hsaco")
    read = rocm.kernels(bundle(entries[0], ("b", changed)))
    words = "different parameters in the entries of the offload bundle"
    with pytest.raises(SpecError, match=words):
        read["add"]


CODE = image("triton-gfx1100.hsaco")
PLAIN = bundle(("hipv4-amdgcn-amd-amdhsa--gfx1100", CODE))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (MAGIC, "the number of entries would be bytes 24 to 32, but there are 24"),
        (MAGIC + b"\xff" * 8, "the header of entry 1 would be bytes 32 to 56"),
        (MAGIC + struct.pack("<QQQQ", 1, 0, 0, 1 << 40), "the id of entry 1 would have 1099511627776"),
        (MAGIC + struct.pack("<QQQQ", 1, 1 << 60, 9, 0), "entry 1 would be bytes 1152921504606846976 to"),
        (PLAIN[:2000], "entry 1 would be bytes 88 to "),
        (MAGIC + struct.pack("<Q", 2) + struct.pack("<QQQ", 0, 80, 0) * 2, "entry 2 overlaps others"),
        (bundle(("a", CODE[:900])), "In the offload bundle, entry 'a': The AMD code object is truncated"),
        (bundle(("a", b"\x7fELF")), "In the offload bundle, entry 'a': The AMD code object is truncated"),
        (bundle(("a", CODE[:18] + b"\x3e\0" + CODE[20:])), "entry 'a': it is for x86_64, not for AMD"),
        (b"CCOB", "the header would be bytes 0 to 8, but there are 4"),
        (b"CCOB\4\0\0\0", "its version is 4 and its method 0, not 1 to 3 and 0 or 1"),
        (b"CCOB\2\0\2\0", "its version is 2 and its method 2"),
        (b"CCOB\3\0\0\0" + bytes(8), "the header would be bytes 8 to 32, but there are 16"),
        (packed(3, PLAIN, total=31), "it would be 31 bytes, and "),
        (packed(3, PLAIN, total=1 << 60), "what is compressed would be bytes 32 to"),
        (packed(3, PLAIN, size=1 << 40), "1099511627776 bytes when unpacked"),
        (packed(2, PLAIN, size=5), "it does not unpack to 5 bytes, as its header says"),
        (packed(2, PLAIN, size=9999), "it does not unpack to 9999 bytes, as its header says"),
        (packed(1, PLAIN, hash=7), "what it unpacks to has another hash than its header says"),
        (packed(1, PLAIN)[:99], "it does not unpack to "),
        (packed(1, PLAIN).replace(b"\x78\x9c", b"\x79\x9c"), "it does not unpack: Error -3"),
        (packed(1, b"nothing"), "the header would be bytes 0 to 24, but there are 7"),
        (packed(1, b"n" * 60), "it does not begin with __CLANG_OFFLOAD_BUNDLE__"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_damaged(data: bytes, words: str):
    assert is_bundle(data)
    with pytest.raises(SpecError, match=words):
        rocm.kernels(data)


def test_what_begins_as_an_image():
    assert is_code_object(CODE)
    assert not is_code_object(CODE[:63])
    assert not is_code_object(CODE[:18] + b"\x3e\0" + CODE[20:])
    assert not is_bundle(CODE)
    assert is_image(CODE)
    assert is_image(PLAIN)
    assert not is_image(b"")


def test_cuda_says_that_it_is_for_another_vendor():
    for data in (PLAIN, CODE):
        with pytest.raises(SpecError, match=r"`wrap` launches"):
            cuda_kernels(data)
