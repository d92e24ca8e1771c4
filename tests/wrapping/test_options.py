"""Which options of ``wrap`` go with which source, and kernels that Triton compiled."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ffi_builder import BuildError, CompileError, Launch, SpecError, spec, wrap
from tests.cuda.images.images import image
from tests.fakecuda import FakeDriver, Running, device_array, make_cubin
from tests.runtime.samples import TORCH_IR
from tests.wrapping.test_sources import ADD, ADD_SIGNATURE, HYPOT, HYPOT_IN_C, LLVM, TWICE, hypot

CUBIN = image("cuda13-sm_90.cubin")
AXPY = "saxpy(a: float32, x: Tensor([n], float32), y: Tensor([n], float32)) where n: int32"
LAUNCH = Launch(grid="ceildiv(n, 256)", block=256)


@pytest.mark.parametrize(
    ("source", "signature", "options", "words"),
    [
        (hypot(), HYPOT, {"launch": LAUNCH}, "launch= goes with a kernel image, but the source is an"),
        (LLVM, TWICE, {"pipeline": "x"}, "pipeline= goes with MLIR, but the source is LLVM IR"),
        (LLVM, TWICE, {"owner": 3}, "owner= goes with an address, but the source is LLVM IR"),
        (hypot(), HYPOT, {"pipeline": "x"}, "pipeline= goes with MLIR, but the source is an address"),
        (CUBIN, AXPY, {"prototype": HYPOT_IN_C}, "goes with LLVM IR or an object or an archive or a"),
        (ADD, spec.Signature.parse(ADD_SIGNATURE, device="cuda"), {}, "device='cpu' goes with the text of"),
    ],
)  # fmt: skip
def test_an_option_of_another_source(
    source: Any, signature: Any, options: dict[str, Any], words: str
) -> None:
    with pytest.raises(TypeError, match=words):
        wrap(source, signature, device="cuda" if source is CUBIN else "cpu", **options)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"link": "-lm"}, r"link= is a list: write link=\['-lm'\]"),
        ({"link": Path("x.so")}, r"link= is a list: write link=\['x\.so'\]"),
        ({"link": b"\x7fELF"}, r"link= is a list: write link=\[…\]"),
        ({"link": 3}, "link= is a list, but got 3"),
        ({"args": "n"}, r"args= is a list, or a dict: write args=\['n'\]"),
        ({"function": Path("twice")}, r"function= is a name, but got PosixPath\('twice'\)"),
        ({"launch": {"grid": 1}}, r"expected launch=Launch\(grid=…, block=…\) but got {'grid': 1}"),
        ({"link": ["-L."]}, r"only `-lname`: '-L.'; give the path of a library, as './libname.so'"),
        ({"link": ["-fopenmp"]}, r"options of linkers .* only `-lname`"),
    ],
)
def test_options_of_other_types(options: dict[str, Any], words: str) -> None:
    with pytest.raises(TypeError, match=words):
        wrap(LLVM, TWICE, device="cpu", **options)


def test_a_list_of_signatures() -> None:
    names = ("twice", "double")
    signatures = [TWICE.replace("twice", name) for name in names]
    text = LLVM + LLVM.replace("@twice", "@double")
    for source, prototype in ((text, None), (LLVM, "void twice(int64_t n, float *x)")):
        compiled = wrap(source, signatures, device="cpu", prototype=prototype)
        assert compiled.functions == names
        x = np.ones(3, "float32")
        for name in names:
            compiled[name](x)
        assert x[0] == 4
    several: list[dict[str, Any]] = [{"function": "twice"}, {"args": ["n", "x"]}]
    for options in several:
        with pytest.raises(TypeError, match=f"{next(iter(options))}= goes with one signature"):
            wrap(LLVM, signatures, device="cpu", **options)
    with pytest.raises(TypeError, match="expected a signature, or a list of them, but the list is"):
        wrap(LLVM, [], device="cpu")


def test_a_module_of_bindings_without_the_passes() -> None:
    """jaxlib has few passes; torch-mlir lowers the text."""
    jaxlib: Any = pytest.importorskip("jaxlib.mlir.ir")
    text = TORCH_IR.Module.parse(ADD, TORCH_IR.Context()).operation.get_asm(
        print_generic_op_form=True
    )
    with jaxlib.Context() as context:
        context.allow_unregistered_dialects = True
        module = jaxlib.Module.parse(text)
    x, z = np.arange(3, dtype="float32"), np.zeros(3, "float32")
    wrap(module, ADD_SIGNATURE, device="cpu")(x, x, z)
    assert z.tolist() == [0, 2, 4]
    pipeline = "builtin.module(convert-linalg-to-loops)"
    with pytest.raises(CompileError, match=r"in jaxlib\.mlir \(torch-mlir may: give the text"):
        wrap(module, ADD_SIGNATURE, device="cpu", pipeline=pipeline)


def test_text_and_files_that_are_source_code(tmp_path: Path) -> None:
    path = tmp_path / "k.c"
    path.write_text("#include <stdint.h>\nint f(void) { return 0; }")
    with pytest.raises(CompileError, match=r"k\.c is C: compile it, and give the object"):
        wrap(path, "f()", prototype="int f(void)")
    (tmp_path / "libk.so").write_text("INPUT(-lk)")
    words = r"libk\.so is text, a script of the linker: give the lib"
    with pytest.raises(CompileError, match=words):
        wrap(tmp_path / "libk.so", "f()", prototype="int f(void)")
    with pytest.raises(CompileError, match="the text is C: compile it, and give the object"):
        wrap(path.read_text(), "f()", prototype="int f(void)")
    with pytest.raises(CompileError, match="expected MLIR or LLVM IR, but the text is empty"):
        wrap(" ", "f()")


def test_llvmlites_own_module() -> None:
    text = 'target triple = "unknown-unknown-unknown"\n' + LLVM
    wrap(text, TWICE, device="cpu")["twice"](np.ones(3, "float32"))


def test_a_function_of_another_name() -> None:
    with pytest.raises(BuildError, match="the module has no @sum; it has add; say which with"):
        wrap(ADD, ADD_SIGNATURE.replace("add", "sum"), device="cpu")
    compiled = wrap(ADD, ADD_SIGNATURE.replace("add", "sum"), device="cpu", function="add")
    assert compiled.functions == ("sum",)


# ---- Triton


def compiled_by_triton(**changed: Any) -> Any:
    """An object with the attributes that ``triton.compile`` returns; the kernel is ours."""
    metadata = {
        "name": "saxpy",
        "num_warps": 4,
        "num_ctas": 1,
        "shared": 1024,
        "launch_cooperative_grid": False,
        "launch_pdl": False,
    }
    return SimpleNamespace(asm={"cubin": CUBIN}, metadata=SimpleNamespace(**metadata | changed))


def test_a_kernel_of_triton(driver: FakeDriver) -> None:
    def saxpy(running: Running) -> None:
        factor, source, target, count = running.values(["float32", "handle", "handle", "int32"])
        to = running.memory(target, count, "float32")
        to += running.memory(source, count, "float32") * factor

    driver.kernel("saxpy", saxpy)
    compiled = wrap(
        compiled_by_triton(),
        AXPY.replace("saxpy", "axpy"),
        launch=Launch(grid="ceildiv(n, 512)"),
        args=["a", "x", "y", "n"],
    )
    x, y = (device_array(driver, np.ones(1000, "float32")) for _ in "xy")
    compiled["axpy"](2.0, x.tensor(), y.tensor())
    (launch,) = driver.launches()
    assert (launch.grid, launch.block, launch.shared) == ((2, 1, 1), (128, 1, 1), 1024)
    np.testing.assert_array_equal(y.host, 3)


def test_forgotten_pointers_to_scratch_memory() -> None:
    ptx = """.version 8.0\n.target sm_80\n.address_size 64
    .visible .entry k(.param .u64 x, .param .u64 a, .param .u64 b) { ret; }"""
    words = "Triton appends two pointers to scratch memory: pass None for each$"
    with pytest.raises(BuildError, match=words):
        wrap(ptx, "k(x: Tensor([n], float32))", device="cuda", launch=Launch(grid=1, block=32))


def test_what_triton_says_is_not_said_again() -> None:
    with pytest.raises(TypeError, match="Triton's metadata say block: leave it out of launch="):
        wrap(compiled_by_triton(), AXPY, device="cuda", launch=LAUNCH)


def test_what_triton_relies_on_is_checked(driver: FakeDriver) -> None:
    compiled = compiled_by_triton()
    compiled.src = SimpleNamespace(
        name="saxpy",
        signature={"a": "fp32", "x": "*fp32", "y": "*fp32", "n": "i32", "BLOCK": "constexpr"},
        attrs={(1,): [["tt.divisibility", 16]], (3,): [["tt.divisibility", 16]]},
    )
    launch = Launch(grid=1)
    for dtype in ("int64", "float64"):
        signature = AXPY.replace("x: Tensor([n], float32)", f"x: Tensor([n], {dtype})")
        words = f"parameter x is a pointer to float32, but the elements of 'x' are {dtype}"
        with pytest.raises(BuildError, match=words):
            wrap(compiled, signature, device="cuda", launch=launch)
    with pytest.raises(BuildError, match="parameter n is int32, but 'a' is float32"):
        wrap(compiled, AXPY, device="cuda", launch=launch, args=["a", "x", "y", "a"])
    signature = AXPY.removesuffix(" where n: int32")  # the types say it
    saxpy = wrap(compiled, signature, device="cuda", launch=launch)["saxpy"]
    assert "n: int32, n % 16 == 0, x.data % 16 == 0" in str(saxpy.__doc__)
    driver.kernel("saxpy", lambda running: None)
    x, y = (device_array(driver, np.ones(17, "float32")).tensor() for _ in "xy")
    with pytest.raises(ValueError, match="expected a multiple of 16"):
        saxpy(2.0, x, y)


@pytest.mark.parametrize(
    ("divisor", "words"), [(16, None), (48, None), (8, "divisible by 8: write 16")]
)
def test_a_divisibility_that_both_say(divisor: int, words: str | None) -> None:
    compiled = compiled_by_triton()
    compiled.src = SimpleNamespace(
        name="saxpy",
        signature={"a": "fp32", "x": "*fp32", "y": "*fp32", "n": "i32"},
        attrs={(3,): [["tt.divisibility", 16]]},
    )
    signature = f"{AXPY}, n % {divisor} == 0"
    with pytest.raises(BuildError, match=words) if words else nullcontext():
        saxpy = wrap(compiled, signature, device="cuda", launch=Launch(grid=1))["saxpy"]
        assert f"n % {divisor} == 0" in str(saxpy.__doc__)


def test_scratch_memory_of_triton() -> None:
    launch = Launch(grid=1)
    scratch = {"global_scratch_size": 0, "profile_scratch_size": 0}
    with pytest.raises(BuildError, match=r"NULL: 8 bytes, #5 NULL: 8 bytes"):
        wrap(
            compiled_by_triton(**scratch),
            AXPY,
            device="cuda",
            launch=launch,
            args=["a", "x", "y", "n"],
        )


def test_the_kernel_of_an_image_under_another_name(driver: FakeDriver) -> None:
    signature = AXPY.replace("saxpy", "axpy")
    words = r"No kernel 'axpy' in the cubin .* did you mean 'saxpy'\?; say which with function=$"
    with pytest.raises(SpecError, match=words):
        wrap(CUBIN, signature, device="cuda", launch=LAUNCH)
    compiled = wrap(
        CUBIN, signature, device="cuda", launch=LAUNCH, function="saxpy", args=["a", "x", "y", "n"]
    )
    x, y = (device_array(driver, np.ones(4, "float32")) for _ in "xy")
    compiled["axpy"](2.0, x.tensor(), y.tensor())
    assert driver.launches()[0].kernel == "saxpy"


def test_an_image_of_which_no_other_kernel_can_be_named() -> None:
    with pytest.raises(SpecError, match=r'no kernels at all.*mark it `extern "C" __global__`$'):
        wrap(make_cubin([]), AXPY, device="cuda", launch=LAUNCH)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ([2.5, "x", "y", "n"], None),
        ([1e300, "x", "y", "n"], "args= has 1e[+]300, which no float of 4 bytes holds"),
        (["a", None, "y", "n"], None),
        (["a", b"A", "y", "n"], "args= has b'A', and the address of bytes is in host memory"),
        (["a", "x", 2.5, "n"], None),
    ],
)
def test_constants_of_a_launch(args: list[Any], words: str | None, driver: FakeDriver) -> None:
    def compiled() -> Any:
        return wrap(CUBIN, AXPY, device="cuda", launch=LAUNCH, args=args)

    if words is not None:
        with pytest.raises(BuildError, match=words):
            compiled()
        return
    x, y = (device_array(driver, np.ones(4, "float32")) for _ in "xy")
    driver.kernel("saxpy", lambda running: None)
    compiled()["saxpy"](2.0, x.tensor(), y.tensor())
    given = [int.from_bytes(given, "little") for given in driver.launches()[0].arguments]
    wanted = {2.5: 0x40200000 if args[0] == 2.5 else 0x4004000000000000, None: 0}
    at = next(index for index, arg in enumerate(args) if arg in wanted)
    assert given[at] == wanted[args[at]]
