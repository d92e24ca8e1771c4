"""The fake driver reads what compilers write as PTX, refuses what is none, and has a version.

What is refused here, ptxas 13.5 refuses too, and it takes what is taken.
"""

from __future__ import annotations

import ctypes

import pytest

from tests.fakecuda import DeviceAttribute, FakeDriver, KernelImage, Result, make_fatbin, make_ptx
from tests.fakecuda.calling import P, launch, load, loading
from tests.fakecuda.kernels import EMPTY

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
KERNEL = "\n.visible .entry k(.param .u64 x, .param .align 4 .b8 s[12]) { ret; }\n"
LAST = "\n.visible .entry last() { ret; }\n"


def counted(driver: FakeDriver, code: str) -> int:
    """Load PTX, and count its kernels."""
    count = ctypes.c_uint()
    loaded = load(driver, image=code.encode() + b"\0")
    driver.must("cuLibraryGetKernelCount", ctypes.byref(count), P(loaded))
    return count.value


def words(driver: FakeDriver, result: Result) -> str:
    """What the driver says of a result."""
    text = ctypes.c_char_p()
    driver.must("cuGetErrorString", int(result), ctypes.byref(text))
    return (text.value or b"").decode()


@pytest.mark.parametrize(
    "code",
    [
        # Variables with initial values, as nvcc 13.5 writes them for tables, strings and pointers.
        ".const .align 4 .b8 table[8] = {1, 0, 0, 0, 2};",
        ".global .align 4 .u32 counter = 7;",
        ".global .align 2 .u16 negative = -3;",
        ".const .align 8 .f64 pi = 0d400921F9F01B866E;",
        ".global .u32 a = 1; .global .align 8 .u64 p = generic(a);",
        ".global .u32 a[9]; .global .align 8 .u64 p = generic(a)+8;",
        ".global .u32 a; .global .align 8 .u64 ps[3] = {1, generic(a), 0};",
        ".global .u32 a; .global .align 1 .u8 q[2] = {0XFF(generic(a)+4), 0xFF00(generic(a)+4)};",
        ".func f() { ret; } .global .align 8 .u64 functions[2] = {f, 0};",
        ".global .align 1 .b8 $str$1[4] = {37, 100, 10};",
        ".global .attribute(.managed) .align 4 .u32 managed = 4;",
        ".visible .global .align 4 .b8 farr[4] = {0, 0, 192, 63};",
        ".weak .global .align 8 .f64 _Z5templIdE = 0d4008000000000000;",
        # What else the grammar has.
        ".global .u32 a[2][2] = {{1, 2}, {3, 4}};",
        ".global .u32 a = (1 + 2) * 3, b = 2, c;",
        ".global .v4 .f32 v = {1.0, 2.0, 3.0, 4.0};",
        ".global.u32 a=1;.const.b8 b[2]={1,2};",
        ".global .b8 a[2] = {1, 2} // }\n;",
        ".global .b8 a[2] = {1, /* {{ */ 2};",
        ".visible .const .u32 c[] = {1, 2, 3};",
        ".common .global .u32 g;",
        ".extern .global .u32 g;",
        ".extern .shared .align 16 .b8 dynamic[];",
        ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b)\n;",
        ".func (.param .b32 r) f (.param .b32 a) { ret; }",
        ".visible .func f() { ret; } .visible .func g(); .alias g, f;",
        ".func f()\n.noreturn\n{ trap; }",
        '.pragma "nounroll";',
        '.file 1 "a;{.cu"',
        '.file 1 "a.cu", 123, 45',
        "# 1 \"file.cu\"\n#line 2 \"x\"",
        ".section .debug_str { .b8 1\ninfo_string0:\n.b8 65,66 }",
        "\t.section\t.debug_info\n\t{\n.b32 .debug_abbrev\n\t}",
        ".extern .entry z(.param .u32 x);",
    ],
)  # fmt: skip
def test_ptx_is_read(driver: FakeDriver, code: str):
    assert counted(driver, HEAD + KERNEL + code + LAST) == 2


@pytest.mark.parametrize(
    ("code", "sizes"),
    [
        ("", []),
        ("()", []),
        ("(.param .u64 a, .param .b8 b, .param .f16 c)", [8, 1, 2]),
        ("(.param .align 64 .b8 a[128])", [128]),
        ("(.param .u32 .align 8 a, .param .u32 b)", [4, 4]),
        ("(.param .u64 .ptr .global .align 16 a, .param.s8 b)", [8, 1]),
        ("(.param .b16 a[0x10U], .param .b16 b[0b11], .param .b8 c[010])", [32, 6, 8]),
        ("(.param .u32 %a) .maxntid 32", [4]),
        ('() .maxntid 128, 2 .minnctapersm 2 .pragma "a;{"; .maxnreg 32', []),
        ("() .reqntid 32 .reqnctapercluster 2 .explicitcluster", []),
        ("() .maxclusterrank 8", []),
        ("(.param .u64 a); .visible .entry e(.param .u64 a)", [8]),
    ],
)
def test_the_head_of_a_kernel(driver: FakeDriver, code: str, sizes: list[int]):
    data = f"{HEAD}.visible .entry e{code} {{ ret; }}{LAST}".encode() + b"\0"
    kernel = driver.get("cuLibraryGetKernel", P(load(driver, image=data)), b"e")
    found: list[int] = []
    offset, size = ctypes.c_size_t(), ctypes.c_size_t()
    out = (ctypes.byref(offset), ctypes.byref(size))
    while (
        driver.call("cuKernelGetParamInfo", P(kernel), ctypes.c_size_t(len(found)), *out)
        == Result.SUCCESS
    ):
        found.append(size.value)
    assert found == sizes


@pytest.mark.parametrize(
    "code",
    [
        ".version 8.0 .target sm_75 .address_size 64 .visible.entry k(.param.u64 x) { ret; }",
        "\n// c\n/* d */.version 8.0\n.target sm_90, texmode_unified" + LAST,
        ".version 8.0\n.target compute_75" + LAST,
        '.version 8.0\n.target sm_90\n.file 1 "a.cu" .entry last() { }',
    ],
)
def test_the_head_of_a_text(driver: FakeDriver, code: str):
    assert counted(driver, code) == 1


@pytest.mark.parametrize(
    "code",
    [
        ".global .b8 a[2] = {1, 2}",
        ".global .b8 a[2] = {1, 2",
        ".global .b8 a[2] = {1, 2};;",
        ".global .b8 a[2] = {1, 2}};",
        ".global .b8 a[2] = {1, 2} {3};",
        ".global .b8 a[2] {1, 2};",
        ".global .u32 a = 1",
        ".global .u32 a = {",
        ".global .u32 a",
        ";",
        "}",
        "garbage",
        "/* unclosed",
        '.pragma "unclosed',
        '.file 1 "unclosed',
        ".file 1",
        ".section .debug_str { .b8 1 };",
        ".entry",
        ".entry e",
        ".entry (.param .b32 y) {}",
        ".entry 5e() {}",
        ".entry e(.param .b32 y)",
        ".entry e(.param .b32 y) {",
        ".entry e(.param .b32 y,) {}",
        ".entry e(.param .b32 y {}",
        ".entry e(.param .b32) {}",
        ".entry e(.param .pred y) {}",
        ".entry e(.param .b8 y[]) {}",
        ".entry e(.param .b8 y[0]) {}",
        ".entry e(.param .b8 y[4*2]) {}",
        ".entry e(.reg .b32 y) {}",
        ".entry e() .maxntid {}",
        ".entry e() .maxntid 0 {}",
        ".entry e() .maxntid 1,1,1,1 {}",
        ".entry k() {}",
        ".visible .func f() { ret; }}",
    ],
)
@pytest.mark.parametrize("behind", [LAST, f"{LAST}.global .u32 b;", ""])
def test_what_is_no_ptx_is_refused(driver: FakeDriver, code: str, behind: str):
    assert loading(driver, (HEAD + KERNEL + code + behind).encode() + b"\0") == Result.INVALID_PTX


def test_the_line_that_is_no_ptx_is_named(driver: FakeDriver):
    assert loading(driver, f"{HEAD}{KERNEL}{LAST}garbage".encode() + b"\0") == Result.INVALID_PTX
    text = "a PTX JIT compilation failed"
    assert words(driver, Result.INVALID_PTX) == f"{text}. FakeCuda can read it up to line 8"
    driver.reset()
    assert words(driver, Result.INVALID_PTX) == text


@pytest.mark.parametrize(
    ("code", "result"),
    [
        (".target sm_90\n.version 8.0" + LAST, Result.INVALID_IMAGE),
        (".version 8\n.target sm_90" + LAST, Result.INVALID_PTX),
        (".version 8.0\n.address_size 64\n.target sm_90" + LAST, Result.INVALID_PTX),
        (".version 8.0\n.target gfx90a" + LAST, Result.INVALID_PTX),
        (".version 8.0\n.target sm_" + LAST, Result.INVALID_PTX),
    ],
)
def test_heads_that_are_refused(driver: FakeDriver, code: str, result: Result):
    assert loading(driver, code.encode() + b"\0") == result


@pytest.mark.parametrize(
    ("target", "device", "result"),
    [
        ("sm_80", 120, Result.SUCCESS),
        ("sm_90a", 90, Result.SUCCESS),
        ("sm_90a", 100, Result.NO_BINARY_FOR_GPU),
        ("sm_100f", 100, Result.SUCCESS),
        ("sm_100f", 103, Result.SUCCESS),
        ("sm_100f", 120, Result.NO_BINARY_FOR_GPU),
        ("sm_103f", 100, Result.NO_BINARY_FOR_GPU),
        ("sm_100", 90, Result.NO_BINARY_FOR_GPU),
    ],
)
def test_where_ptx_runs(driver: FakeDriver, target: str, device: int, result: Result):
    for number in (0, 1):
        driver.set_attribute(DeviceAttribute.COMPUTE_CAPABILITY_MAJOR, device // 10, number)
        driver.set_attribute(DeviceAttribute.COMPUTE_CAPABILITY_MINOR, device % 10, number)
    assert loading(driver, make_ptx([EMPTY], target=target)) == result


# The driver's version.


@pytest.mark.parametrize(
    ("cuda", "newest", "too_new", "needed"),
    [
        ("12.0", "8.0", "8.1", "12.1"),
        ("12.5", "8.5", "8.6", "12.7"),
        ("12.6", "8.5", "8.6", "12.7"),
        ("12.8", "8.7", "9.0", "13.0"),
        ("12.9", "8.8", "9.0", "13.0"),
        ("13.0", "9.0", "9.1", "13.1"),
        ("13.5", "9.5", "10.0", "14.0"),
    ],
)
def test_the_newest_ptx_of_a_version(
    driver: FakeDriver, cuda: str, newest: str, too_new: str, needed: str
):
    """As the table *PTX release history* of the PTX ISA says."""
    major, minor = map(int, cuda.split("."))
    driver.set_version(1000 * major + 10 * minor)
    assert loading(driver, make_ptx([EMPTY], version=newest)) == Result.SUCCESS
    newer = make_ptx([EMPTY], version=too_new)
    assert loading(driver, newer) == Result.UNSUPPORTED_PTX_VERSION
    assert words(driver, Result.UNSUPPORTED_PTX_VERSION) == (
        f"the provided PTX was compiled with an unsupported toolchain. It is PTX {too_new}, and "
        f"FakeCuda is a driver of CUDA {cuda}: FakeCuda(version='{needed}') takes it"
    )
    another = make_ptx([KernelImage("another")], target="sm_80")
    assert loading(driver, make_fatbin([(newer, 90)])) == Result.UNSUPPORTED_PTX_VERSION
    assert loading(driver, make_fatbin([(newer, 90), (another, 80)])) == Result.SUCCESS


def test_the_version_is_that_of_the_header(driver: FakeDriver):
    """So it reads what the compilers of the same toolkit write."""
    version = ctypes.c_int()
    driver.must("cuDriverGetVersion", ctypes.byref(version))
    assert version.value >= 13000
    newest = f"{version.value // 1000 - 4}.{version.value % 1000 // 10}"
    assert loading(driver, make_ptx([EMPTY], version=newest)) == Result.SUCCESS
    driver.set_version(12080)
    driver.set_version(0)
    assert loading(driver, make_ptx([EMPTY], version=newest)) == Result.SUCCESS


def test_a_driver_that_becomes_older(driver: FakeDriver):
    """What an earlier block has loaded is launched on an older driver."""
    data = make_ptx([EMPTY], version="9.0")
    function = driver.get("cuLibraryGetKernel", P(load(driver, image=data)), b"empty")
    driver.set_version(12080)
    with driver.current():
        assert launch(driver, function) == Result.UNSUPPORTED_PTX_VERSION
        driver.set_version(13000)
        assert launch(driver, function) == Result.SUCCESS
