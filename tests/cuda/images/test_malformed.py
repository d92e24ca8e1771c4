"""Bytes that are no image, truncated or damaged: an Image or a SpecError, and nothing else."""

from __future__ import annotations

import functools
import pickle
import struct
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ffi_builder import SpecError
from ffi_builder.cuda.images import Image, kernels
from tests.cuda.images.images import IMAGES, image

NAMES = sorted(path.name for path in IMAGES.iterdir())
CUBIN = "cuda13-sm_90a.cubin"


@functools.cache
def bytes_of(name: str) -> bytes:
    return image(name)


def read_or_refuse(data: bytes) -> Image | None:
    """Read an image; any error but a SpecError fails the test."""
    try:
        read = kernels(data)
    except SpecError:
        return None
    assert str(read).startswith(read.format)
    return read


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "but it is empty$"),
        (b"\0" * 7, "but it is 7 zero bytes$"),
        (b"\1\2\3", r"but it starts with b'\\x01\\x02\\x03' \(3 bytes\)\. PTX starts with `\.version`"),
        (bytes(range(1, 40)), r"but it starts with b'.*\\x10'… \(39 bytes\)"),
        (b"saxpy.cubin", r"but it starts with b'saxpy\.cubin' \(11 bytes\)"),
        (b"BC\xc0\xde\x35\x14", "but it is LLVM bitcode; ffi_builder.cuda.lower_to_ptx"),
        (b"ML\xefR\x0d", "but it is MLIR bytecode; ffi_builder.cuda.lower_to_ptx"),
        (b"!<arch>\n/ ", r"but it is an archive of objects \(\.a\)"),
        (b"\xb1\x43\x62\x46\1\0\0\0", "but it is the wrapper of a fatbin: give the fatbin to which it points"),
        (b"__CLANG_OFFLOAD_BUNDLE__\1", "but it is an offload bundle of clang.*: give the entry for CUDA alone"),
        (b"\x28\xb5\x2f\xfd", "but it is compressed by zstd"),
        (b'extern "C" __global__ void f() {}\n', r"but it is CUDA C\+\+; ffi_builder\.cuda\.compile"),
        (b"; ModuleID = 'x'\ndefine void @f() {", "but it is LLVM IR; ffi_builder.cuda.lower_to"),
        (b"gpu.module @k {}\n", "but it is MLIR; ffi_builder.cuda.lower_to_ptx"),
        (b"\x7fELF", "The cubin is truncated or damaged: the ELF header would be bytes 0 to 64, but there are 4"),
    ],
)  # fmt: skip
def test_what_it_looks_like(data: bytes, words: str):
    with pytest.raises(SpecError, match=words):
        kernels(data)


@pytest.mark.parametrize(
    ("machine", "words"),
    [
        (62, "but it is an object or library for x86_64. `nvcc -cubin` and `nvcc -fatbin` write"),
        (183, "but it is an object or library for aarch64"),
        (224, "but it is an AMD code object, whose kernels `wrap` launches"),
        (9, "but it is an object or library for ELF machine 9"),
    ],
)
def test_elf_files_for_others(machine: int, words: str):
    data = bytearray(bytes_of(CUBIN))
    struct.pack_into("<H", data, 18, machine)
    with pytest.raises(SpecError, match=words):
        kernels(bytes(data))


def test_the_running_program():
    with pytest.raises(SpecError, match="is an object or library for"):
        kernels(Path("/proc/self/exe").read_bytes())


@pytest.mark.parametrize("given_", [None, 3, Path("a.cubin"), [b""]])
def test_other_types(given_: object):
    with pytest.raises(TypeError, match=r"image: expected bytes but got .* \(\w+\)"):
        kernels(given_)  # pyright: ignore


@pytest.mark.parametrize(
    ("at", "layout", "value", "words"),
    [
        (4, "B", 1, "it is not 64-bit and little-endian"),
        (48, "I", 0, "its flags 0x0 name no architecture"),
        (40, "Q", 1 << 62, "the section headers would be bytes"),
        (58, "H", 40, "a section header would have 40 bytes, not 64"),
        (60, "H", 60000, "the section headers would be bytes"),
        (62, "H", 5000, "there is no section 5000, which would have the names"),
        (62, "H", 18, "there is no section 18, which would have the names"),
    ],
)
def test_damaged_headers(at: int, layout: str, value: int, words: str):
    data = bytearray(bytes_of("cuda13-sm_80.cubin"))
    struct.pack_into(f"<{layout}", data, at, value)
    with pytest.raises(SpecError, match=f"The cubin is truncated or damaged: {words}"):
        kernels(bytes(data))


# Sections of cuda13-sm_80.cubin, the fields of a section header, and its last symbol.
SECTION_NAMES, SYMBOL_NAMES, SYMBOLS = 1, 2, 3
OFFSET, SIZE, LINK = (24, "Q"), (32, "Q"), (40, "I")
LAST_SYMBOL = 12 * 24


def section_field(
    data: bytes | bytearray, section: int, field: tuple[int, str]
) -> tuple[str, int, int]:
    """How a field of a section header is laid out, where it is, and its value."""
    (headers,) = struct.unpack_from("<Q", data, 40)
    at, layout = headers + 64 * section + field[0], f"<{field[1]}"
    return layout, at, struct.unpack_from(layout, data, at)[0]


@pytest.mark.parametrize(
    ("section", "field", "change", "words"),
    [
        (SECTION_NAMES, SIZE, -1, "a name would be at byte 384 of a table of 398"),
        (SYMBOL_NAMES, SIZE, -1, r"a name would be at byte \d+ of a table of \d+"),
        (SYMBOLS, LINK, 16, "there is no section 18, which would have symbols' names"),
        (SYMBOLS, SIZE, -1, r"section \.symtab has 311 bytes, not a multiple of 24"),
    ],
)  # fmt: skip
def test_damaged_names_of_sections_and_symbols(
    section: int, field: tuple[int, str], change: int, words: str
):
    data = bytearray(bytes_of("cuda13-sm_80.cubin"))
    layout, at, value = section_field(data, section, field)
    struct.pack_into(layout, data, at, value + change)
    with pytest.raises(SpecError, match=f"The cubin is truncated or damaged: {words}"):
        kernels(bytes(data))


@pytest.mark.parametrize("behind", [-1, 0, 1])
def test_the_name_of_a_symbol_at_the_end_of_the_names(behind: int):
    data = bytearray(bytes_of("cuda13-sm_80.cubin"))
    *_, symbols = section_field(data, SYMBOLS, OFFSET)
    *_, size = section_field(data, SYMBOL_NAMES, SIZE)
    assert "saxpy" in kernels(bytes(data)).kernels
    struct.pack_into("<I", data, symbols + LAST_SYMBOL, size + behind)
    if behind < 0:  # the last NUL: a name of no letters
        assert set(kernels(bytes(data)).kernels) == {"tensor_map", ""}
        return
    with pytest.raises(SpecError, match=f"a name would be at byte {size + behind} of a table of"):
        kernels(bytes(data))


# The description of the third parameter of `saxpy`, up to where its size is, and of the second one.
THIRD = struct.pack("<BBHIHH", 4, 0x17, 12, 0, 2, 16)
SECOND = struct.pack("<BBHIHH", 4, 0x17, 12, 0, 1, 8)


@pytest.mark.parametrize(
    ("new", "words"),
    [
        (SECOND, "kernel 'saxpy' has parameter 1 twice"),
        (struct.pack("<BBHIHH", 4, 0x17, 12, 0, 9, 16), r"has parameters \[0, 1, 3, 9\], some of"),
        (struct.pack("<BBHIHH", 4, 0x17, 12, 0, 2, 600), "2 of kernel 'saxpy' would end at byte 608"),
        (struct.pack("<BBHIHH", 9, 0x17, 12, 0, 2, 16), "attribute of kernel 'saxpy' is of format 9"),
        (struct.pack("<BBHIHH", 4, 0x05, 12, 0, 2, 16), r"has parameters \[0, 1, 3\], some of which"),
        (struct.pack("<BBHIHH", 4, 0x17, 900, 0, 2, 16), "attribute 0x17 of kernel 'saxpy' would be"),
        (struct.pack("<BBHIHH", 4, 0x17, 8, 0, 2, 16), "0x17 of kernel 'saxpy' has 8 bytes, not 12"),
        (struct.pack("<BBHIHH", 4, 0x3F, 12, 0, 2, 16), "0x3f of kernel 'saxpy' has 12 bytes, not 4"),
    ],
)  # fmt: skip
def test_damaged_descriptions_of_parameters(new: bytes, words: str):
    data = bytes_of("cuda13-sm_80.cubin")
    assert THIRD in data
    at = data.index(THIRD, data.index(struct.pack("<BBHIHH", 4, 0x17, 12, 0, 3, 24)))
    with pytest.raises(SpecError, match=f"The cubin is truncated or damaged: .*{words}"):
        kernels(data[:at] + new + data[at + len(new) :])


@pytest.mark.parametrize("name", NAMES)
def test_cut_off_everywhere(name: str):
    data = bytes_of(name)
    step = max(1, len(data) // 400)
    for end in (*range(min(len(data), 200)), *range(200, len(data), step)):
        read = read_or_refuse(data[:end])
        if read is not None:
            # A cubin ends in its segments' headers, and PTX in the code of its last kernel.
            assert read.format == "ptx" or end > len(data) - 500


@given(st.data())
@settings(max_examples=400)
def test_flipped_bits(data: st.DataObject):
    name = data.draw(st.sampled_from(NAMES))
    changed = bytearray(bytes_of(name))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(changed) - 1))
        changed[at] = data.draw(st.integers(0, 255))
    read_or_refuse(bytes(changed))


@given(st.data())
@settings(max_examples=200)
def test_wrong_numbers_where_numbers_are(data: st.DataObject):
    """In the headers, which flipped bits seldom hit: the largest numbers, and those near the end."""
    name = data.draw(st.sampled_from([name for name in NAMES if not name.endswith(".ptx")]))
    changed = bytearray(bytes_of(name))
    sections = struct.unpack_from("<Q", changed, 40)[0] if name.endswith(".cubin") else 16
    start = data.draw(st.sampled_from([0, sections]))
    layout = data.draw(st.sampled_from(["<H", "<I", "<Q"]))
    size = struct.calcsize(layout)
    most = 256**size - 1
    value = data.draw(
        st.sampled_from([0, 1, most, most // 2 + 1, len(changed) & most, len(changed) - 1 & most])
    )  # fmt: skip
    at = min(start + data.draw(st.integers(0, 2000)), len(changed) - size)
    struct.pack_into(layout, changed, at, value)
    read_or_refuse(bytes(changed))


@given(st.binary(max_size=200))
@example(b"\x7fELF")
@example(b"\x50\xed\x55\xba")
def test_any_bytes(data: bytes):
    read_or_refuse(data)
    read_or_refuse(b"\x50\xed\x55\xba\1\0\x10\0" + data)
    read_or_refuse(bytes_of(CUBIN)[:64] + data)


@given(st.text(alphabet='\n./*"(){},;[]0x1a ', max_size=60))
def test_any_text_that_looks_like_ptx(text: str):
    read_or_refuse(b".version 8.0\n.target sm_90\n.entry k" + text.encode())
    read_or_refuse(b".version 8.0\n.target sm_90\n.entry k(.param .b8 a" + text.encode())


def test_images_can_be_compared_and_pickled():
    read = kernels(bytes_of(CUBIN))
    assert pickle.loads(pickle.dumps(read)) == read
    assert read != kernels(bytes_of("cuda12-sm_80.cubin"))
