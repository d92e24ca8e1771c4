"""PTX text: what compilers write, and what else the grammar allows."""

from __future__ import annotations

import pytest

from ffi_builder import SpecError
from ffi_builder.cuda.images import Image, Kernel, Parameter, kernels
from tests.cuda.images.images import FILL, SIZES, image

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"


def ptx(code: str) -> Image:
    return kernels(HEAD + code)


def kernel(code: str) -> Kernel:
    (found,) = ptx(code).kernels.values()
    return found


def types(code: str) -> list[tuple[str | None, int]]:
    parameters = kernel(f".visible .entry k({code}) {{ ret; }}").parameters
    assert parameters is not None
    return [(parameter.type, parameter.size) for parameter in parameters]


@pytest.mark.parametrize("name", ["cuda12-sm_90a.ptx", "cuda13-sm_90a.ptx"])
def test_what_nvrtc_writes(name: str):
    read = kernels(image(name))
    assert (read.format, read.architectures, read.unread) == ("ptx", ("compute_90a",), ())
    cubin = kernels(image(name.replace(".ptx", ".cubin")))
    assert list(read.kernels) == list(SIZES)
    for mine in read.kernels.values():
        theirs = cubin.kernels[mine.name]
        assert mine.parameters is not None
        assert [parameter.size for parameter in mine.parameters] == SIZES[mine.name]
        assert (mine.max_threads, mine.cluster, mine.max_cluster_rank, mine.block) == (
            *(theirs.max_threads, theirs.cluster, theirs.max_cluster_rank, theirs.block),
        )
        assert (mine.registers, mine.static_shared_bytes) == (None, None)


def test_types_and_no_offsets():
    read = kernels(image("cuda13-sm_90a.ptx"))
    assert read.kernels["tensor_map"].parameters == (
        Parameter(0, None, 4, "u32"),
        Parameter(1, None, 128, "b8[128]", 64),
        Parameter(2, None, 8, "u64"),
    )
    assert str(read.kernels["saxpy"]) == "saxpy(f32, u64, u64, u32)"
    assert str(read.kernels[FILL]) == f"{FILL}(u64, f32)"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("", []),
        (".param .u64 a", [("u64", 8)]),
        (".param .b16 a, .param .f16 b, .param .f64 c", [("b16", 2), ("f16", 2), ("f64", 8)]),
        (".param .align 64 .b8 a[128]", [("b8[128]", 128)]),
        (".param .u64 .ptr .global .align 16 a", [("u64", 8)]),
        (".param .u64 .ptr .shared .align 4 u32, .param .s8 b", [("u64", 8), ("s8", 1)]),
        (".param .u32 a[0x10], .param .b32 b[010], .param .b8 c[0b11]", [("u32[16]", 64), ("b32[8]", 32), ("b8[3]", 3)]),
        (".param .b128 a", [("b128", 16)]),
        (".param .f16x2 a, .param .bf16x2 b, .param .bf16 c", [("f16x2", 4), ("bf16x2", 4), ("bf16", 2)]),
        (".param .b8 a[16U]", [("b8[16]", 16)]),
        (".param .texref t, .param .u64 a", [("texref", 0), ("u64", 8)]),
        ("/* .param .u8 no, */ .param .u32 a // )\n", [("u32", 4)]),
    ],
)  # fmt: skip
def test_parameters(code: str, expected: list[tuple[str, int]]):
    assert types(code) == expected


def test_a_type_that_is_not_known_leaves_the_parameters_open():
    found = kernel(".entry k(.param .u32 a, .param .q77 b) { ret; }")
    assert found.parameters is None
    assert str(found) == "k(…)"


@pytest.mark.parametrize(
    ("directives", "expected"),
    [
        ("", (None, None, None, None)),
        (".maxntid 256, 1, 1", (256, None, None, None)),
        (".maxntid 32,4\n.minnctapersm 2", (128, None, None, None)),
        (".maxntid 33", (33, None, None, None)),
        (".maxntid 0x80, 0b10U, 1U", (256, None, None, None)),
        (".reqntid 0200", (128, (128, 1, 1), None, None)),
        (".maxnreg 0q .maxntid 4", (4, None, None, None)),
        (".reqntid 32, 2", (64, (32, 2, 1), None, None)),
        (".reqnctapercluster 2,1,1 .explicitcluster", (None, None, (2, 1, 1), None)),
        (".explicitcluster .maxclusterrank 8", (None, None, None, 8)),
        ('.pragma "nounroll"; .maxntid 4', (4, None, None, None)),
        ('.maxntid 4 .pragma "a;{", "b" ; .maxclusterrank 2', (4, None, None, 2)),
    ],
)
def test_bounds(directives: str, expected: object):
    found = kernel(f".visible .entry k(.param .u64 a)\n{directives}\n{{ ret; }}")
    assert (found.max_threads, found.block, found.cluster, found.max_cluster_rank) == expected


def test_kernels_of_any_linkage_and_name():
    read = ptx(
        ".entry hidden() { ret; } .weak .entry $w1(){} .extern .func (.param .b32 r) f(.param .b32 a);"
        ".visible .entry _Z1kPf(.param .u64 _Z1kPf_param_0)\n{\n{ st.b32 [%rd1], 1; } ret;\n}\n"
        ".visible .entry no_list { ret; }"
    )
    assert list(read.kernels) == ["hidden", "$w1", "_Z1kPf", "no_list"]


def test_what_is_only_declared_is_no_kernel():
    read = ptx(".visible .entry a(.param .u64 x);\n.visible .entry b(.param .u64 x) { ret; }")
    assert list(read.kernels) == ["b"]


def test_what_comments_and_strings_say_is_no_code():
    read = ptx(
        "// .entry a() {}\n/* .entry b() {}\n */ .entry c(/* x */) { // }\n"
        ' .loc 1 2 3, function_name "entry"; ret; }\n.file 1 ".entry d() {}"\n/* unclosed .entry e(){}'
    )
    assert list(read.kernels) == ["c"]


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("sm_100f", "compute_100f"),
        ("sm_80, debug", "compute_80"),
        ("texmode_independent, sm_75", "compute_75"),
        ("compute_90a", "compute_90a"),
    ],
)
def test_target(target: str, expected: str):
    text = f"\n// a comment\n.version 7.0\n.target {target}\n.entry k() {{ ret; }}"
    assert kernels(text).architectures == (expected,)


def test_bytes_with_a_nul_at_the_end_and_text():
    text = HEAD + "// é\n.entry k() { ret; }"
    expected = kernels(text)
    assert list(expected.kernels) == ["k"]
    assert kernels(text.encode()) == expected
    assert kernels(text.encode() + b"\0\0") == expected
    assert kernels(text.replace("é", "e").encode("latin-1")) == expected
    assert kernels(text.encode("latin-1")) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (".version 8.0\n.address_size 64", r"no architecture, such as `.target sm_90`: there is no"),
        (".version 8.0\n.target gfx90a", r"its \.target is 'gfx90a'"),
        (HEAD + ".visible .entry k(.param .u64 a, .par", r"ends in the head of kernel 'k': it is"),
        (HEAD + ".visible .entry", r"ends in the head of kernel: it is cut off"),
        (HEAD + ".entry k(.reg .u64 a) {}", r"'k' that does not begin with \.param: '\.reg \.u64 a'"),
        (HEAD + ".entry k(.param .b8 a[n]) {}", r"'k' whose size is not a number: '\.param \.b8 a \[ n"),
        (HEAD + ".entry k(.param .b8 a[089]) {}", r"'k' whose size is not a number"),
        (HEAD + ".entry k() .maxntid { ret; }", r"numbers after \.maxntid of 'k'"),
        (HEAD + ".entry k() .reqntid 1,2,3,4 {}", r"numbers after \.reqntid of 'k'"),
        (HEAD + ".entry k() .maxntid 089 {}", r"'089' after \.maxntid of 'k'; expected a number"),
        (HEAD + ".entry k() .maxntid -1 {}", r"'-1' after \.maxntid of 'k'; expected a number"),
        (HEAD + ".entry k() .maxntid 0 {}", r"'0' after \.maxntid of 'k'; expected a number of at least 1"),
        (HEAD + ".entry k() .maxntid 1,\u0663 {}", r"after \.maxntid of 'k'; expected a number"),
        (HEAD + f".entry k() .maxclusterrank {'1' * 5000} {{}}", r"after \.maxclusterrank of 'k'"),
        (f".version 8.0\n.target sm_{'9' * 5000}", r"no architecture, .*: its \.target is 'sm_999"),
        (HEAD + ".entry k() {}\0" + HEAD + ".entry l() {}", r"a NUL at character \d+ of \d+, where"),
        (HEAD + ".entry k() {} // \ud800", r"image: expected text, but character \d+ is '.ud800'"),
    ],
)  # fmt: skip
def test_damaged(text: str, words: str):
    with pytest.raises(SpecError, match=words):
        kernels(text)


@pytest.mark.parametrize("text", ["/*", '"', "\n", ".pragma ", "//", "/", "* /", "{", ".entry\n"])
@pytest.mark.slow
def test_a_long_tail_is_read_at_once(text: str):
    """A search from each place to the end would take many minutes."""
    long = text * 300_000
    if text.startswith(".entry"):
        long = long.replace("\n", " k() {}\n")
    assert "k" in ptx(".entry k() { ret; }" + long).kernels
