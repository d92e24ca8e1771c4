"""``testing.FakeCuda(execute=True)``: which kernels are executed, and where their faults are raised."""

from __future__ import annotations

import signal
import threading
from typing import Any, Final

import numpy
import pytest

from ffi_builder import Launch, addons, cuda, spec, testing, wrap
from ffi_builder.fakecuda.driver import IllegalAddressError, MisalignedAddressError
from ffi_builder.ptx import machine
from tests.fakecuda import KernelImage, make_cubin, make_fatbin, missing

np: Any = numpy

pytestmark = pytest.mark.skipif(missing() is not None, reason=str(missing()))

SIGNATURE: Final = spec.Signature.parse(
    "scale(x: Tensor([n], float32)) where n: int32", device="cuda"
)


def ptx(body: str, more: str = "", version: str = "8.0") -> str:
    """A kernel of an array and its size, whose threads have the address of an element in %x."""
    return f"""
.version {version}
.target sm_70
.address_size 64
{more}
.visible .entry scale(.param .u64 x, .param .u32 n) {{
  .reg .b64 %x, %o; .reg .b32 %i, %n, %b; .reg .f32 %f; .reg .pred %p;
  mov.u32 %i, %ctaid.x; mov.u32 %n, %ntid.x; mov.u32 %b, %tid.x; mad.lo.u32 %i, %i, %n, %b;
  ld.param.u32 %n, [n]; setp.ge.u32 %p, %i, %n; @%p ret;
  ld.param.u64 %x, [x]; mul.wide.u32 %o, %i, 4; add.u64 %x, %x, %o;
  {body}
  ret;
}}
"""


DOUBLED: Final = ptx("ld.global.f32 %f, [%x]; add.f32 %f, %f, %f; st.global.f32 [%x], %f;")
CUBIN: Final = make_cubin([KernelImage("scale", (8, 4))])


def compiled(source: Any, grid: Any = "ceildiv(n, 64)") -> Any:
    launch = Launch(grid=grid, block=64)
    return wrap(source, SIGNATURE, launch=launch, args=["x", "n"])["scale"]


def run(source: Any, **options: Any) -> Any:
    """Run a kernel on 100 ones; return what it made of them."""
    with testing.FakeCuda(execute=True, **options) as gpu:
        x = gpu.array(np.ones(100, "float32"))
        compiled(source)(x)
        return x.numpy().copy()


@pytest.mark.parametrize(
    "source",
    [DOUBLED, make_fatbin([(CUBIN, 90), (DOUBLED.encode() + b"\0", 70)])],
    ids=["text", "fatbin"],
)
def test_the_ptx_of_an_image_is_executed(source: Any) -> None:
    assert (run(source) == 2).all()


def test_it_is_executed_only_if_asked_for() -> None:
    with testing.FakeCuda() as gpu:
        x = gpu.array(np.ones(100, "float32"))
        compiled(DOUBLED)(x)
        assert (x.numpy() == 1).all()


@pytest.mark.parametrize("source", [DOUBLED, CUBIN], ids=["PTX", "cubin"])
def test_a_function_in_python_wins(source: Any) -> None:
    def tripled(launch: Any, x: Any, n: int) -> None:
        x[:n] *= 3

    with testing.FakeCuda(execute=True) as gpu:
        gpu.kernel("scale", ["float32*", "int32"])(tripled)
        x = gpu.array(np.ones(100, "float32"))
        compiled(source)(x)
        assert (x.numpy() == 3).all()


def test_a_cubin_alone_is_refused() -> None:
    words = r"'scale' is not executed: its image has no PTX .*gpu\.kernel\(.scale., …\)"
    with pytest.raises(RuntimeError, match=words):
        run(CUBIN)


@pytest.mark.parametrize("number", ["0f3F800000", "1.5"])
def test_a_float_for_a_narrower_operand_is_refused(number: str) -> None:
    words = rf"the number '{number}' is a float, and the operand is of \.f16 \(line 11"
    with pytest.raises(RuntimeError, match=words):
        run(ptx(f".reg .b16 %h; add.f16 %h, %h, {number};"))


def test_what_is_not_listed_is_refused_before_anything_runs() -> None:
    body = "st.global.f32 [%x], 0f00000000; tex.1d.v4.f32.s32 {%f, %f, %f, %f}, [t, {%i}];"
    words = r"no form of the instruction 'tex\.1d.*' is listed \(line 11 of the PTX\)"
    with testing.FakeCuda(execute=True) as gpu:
        x = gpu.array(np.ones(100, "float32"))
        compiled(ptx(body))(x)
        with pytest.raises(RuntimeError, match=words):
            x.numpy()
        assert (x.numpy() == 1).all()


def test_a_fault_is_raised_at_the_end_and_fails_later_launches() -> None:
    wrong, right = compiled(ptx("st.global.f32 [%x+400], %f;")), compiled(DOUBLED)
    words = r"write of 4 bytes .* block \(0, 0, 0\), thread \(0, 0, 0\), line 11 .*ILLEGAL_ADDRESS"

    def both() -> None:
        with testing.FakeCuda(execute=True) as gpu:
            x = gpu.array(np.ones(100, "float32"))
            wrong(x)
            with pytest.raises(RuntimeError, match="CUDA_ERROR_ILLEGAL_ADDRESS"):
                right(x)

    with pytest.raises(IllegalAddressError, match=words):
        both()
    assert (run(DOUBLED) == 2).all()


def test_a_fault_is_of_the_launch_that_blocks() -> None:
    wrong = compiled(ptx("st.global.f32 [%x+400], %f;"))

    def blocking() -> None:
        with testing.FakeCuda(execute=True) as gpu:
            x = gpu.array(np.ones(100, "float32"))
            with pytest.raises(RuntimeError, match="CUDA_ERROR_ILLEGAL_ADDRESS"):
                wrong(x)

    cuda.launch_blocking(True)
    try:
        with pytest.raises(IllegalAddressError):
            blocking()
    finally:
        cuda.launch_blocking(False)


def test_a_part_of_an_array_ends_where_the_array_ends() -> None:
    with testing.FakeCuda(execute=True) as gpu:
        x = gpu.array(np.ones(100, "float32"))
        compiled(DOUBLED)(x[10:20])
        assert x.numpy().tolist() == [1] * 10 + [2] * 10 + [1] * 80


def test_an_address_that_is_not_aligned() -> None:
    with pytest.raises(MisalignedAddressError, match="CUDA_ERROR_MISALIGNED_ADDRESS"):
        run(ptx("st.global.f32 [%x+2], %f;"))


def test_check_kernel_finds_a_small_grid_and_an_array_that_is_too_short() -> None:
    signature = spec.Signature.parse(
        "scale(x: Tensor([n], float32, intent=inout)) where n: int32", device="cuda"
    )

    def doubled(x: Any) -> Any:
        return x * 2

    with testing.FakeCuda(execute=True):
        testing.check_kernel(compiled(DOUBLED), signature, doubled)
        with pytest.raises(testing.KernelError, match=r"expected 2\.0 for x\[64\] but got 1\.0"):
            testing.check_kernel(compiled(DOUBLED, "max(n // 64, 1)"), signature, doubled)
        behind = DOUBLED.replace("[%x];", "[%x+4];")
        with pytest.raises(testing.KernelError, match="which is no global memory"):
            testing.check_kernel(compiled(behind), signature, doubled)


VARIABLES: Final = """
.global .align 8 .u64 pointer = generic(numbers)+4;
.global .align 4 .b8 numbers[12] = {0, 0, 0x80, 63, 0, 0, 0, 64, 0, 0, 64, 64};
.const .align 4 .f32 factor = 2.0;
.visible .global .align 4 .f32 offset = 0f3F000000;
"""
BY_VARIABLES: Final = ptx(
    "ld.global.u64 %o, [pointer]; ld.f32 %f, [%o]; st.global.f32 [%x], %f;"
    "mov.u64 %o, factor; ld.const.f32 %f, [%o]; red.global.add.f32 [%x], %f;"
    "ld.global.f32 %f, [offset]; red.global.add.f32 [%x], %f;",
    VARIABLES,
)


def test_variables_have_their_initial_values() -> None:
    assert (run(BY_VARIABLES) == 4.5).all()


@pytest.mark.parametrize(
    ("declaration", "words"),
    [
        (".extern .global .b32 big;", "no variable 'big' is defined"),
        (".global .b8 big[999999999999999];", "no memory for the variable 'big'"),
        (".global .b8 big[4] = {1, 2, 3, 4, 5};", "more values than it has room for"),
        (".global .u64 big = nothing;", "no variable 'nothing' is defined"),
    ],
)
def test_a_variable_without_memory_or_a_value_is_an_error(declaration: str, words: str) -> None:
    with pytest.raises((RuntimeError, MemoryError), match=words):
        run(ptx("mov.u64 %o, big; ld.global.b8 %b, [%o];", declaration))


def test_the_host_reads_and_sets_variables_before_the_first_launch() -> None:
    with testing.FakeCuda(execute=True) as gpu:
        driver = gpu._inside.driver  # pyright: ignore[reportPrivateUsage]
        x = gpu.array(np.ones(100, "float32"))
        text = BY_VARIABLES.encode() + b"\0"
        with driver.current():
            library = driver.get("cuLibraryLoadData", text, *[None] * 2, 0, *[None] * 2, 0)
            address = driver.get("cuLibraryGetGlobal", None, library, b"offset")
        assert driver.memory(address, 1, "float32") == [0.5]
        compiled(BY_VARIABLES)(x)


def test_interrupts_end_a_launch() -> None:
    endless = ptx("LOOP: st.global.f32 [%x], %f; bra LOOP;")
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    # A process in the background ignores the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            run(endless)
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_spin_that_nobody_ends_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "PATIENCE", 1_000_000)
    with pytest.raises(RuntimeError, match=r"makes no progress.*CUDA_ERROR_LAUNCH_TIMEOUT"):
        run(ptx("LOOP: ld.volatile.global.u32 %b, [%x]; setp.ne.u32 %p, %b, 0; @%p bra LOOP;"))


def test_it_says_which_add_on_is_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addons, "find", lambda kind, name: None)  # pyright: ignore
    with pytest.raises(RuntimeError, match="execute=True is of the add-on ptx, which is not inst"):
        testing.FakeCuda(execute=True)
