"""The examples with front ends of others, and with frameworks, in processes of their own: `make test-frameworks`."""

from __future__ import annotations

from tests.examples.running import run
from tests.frontends.support import needs
from tests.runtime.samples import needs_cc

MLP = "`mlp(input: Tensor([batch, 16], float32), out0: Tensor([batch, 10], float32))`"
RATIO = "`ratio(x: Tensor([n, m], float32, strides=any), by: float64, y: Tensor([n, m], float32))`"


def test_torch_fx_is_as_eager_at_every_batch_size() -> None:
    needs("torch")
    assert run("torch_fx/main.py").splitlines() == [
        *(f"{batch}: as eager" for batch in (1, 2, 7, 64)),
        f"ValueError: Mismatched out0.shape[0] on argument #1 when calling: {MLP}, "
        "expected 64 (batch = input.shape[0]) but got 63",
        f"ValueError: Mismatched input.strides[0] on argument #0 when calling: {MLP}, "
        "expected 16 (row-major contiguous) but got 1 (shape=[64, 16], strides=[1, 64])",
        f"TypeError: Mismatched input.dtype on argument #0 when calling: {MLP}, "
        "expected float32 but got float64",
    ]


def test_numba_kernel_divides_and_raises() -> None:
    needs("numba")
    assert run("numba_kernel.py", in_one_process=True).splitlines() == [
        "[[0.5 1.5]",
        " [2.  3. ]]",
        "RuntimeError: ratio_inner raised an exception: its status in Numba is 1 when calling: "
        + RATIO,
    ]


@needs_cc
def test_torch_rms_norm_trains_as_torch_does() -> None:
    needs("torch")
    assert run("torch_rms_norm.py").splitlines() == [
        "40 steps under torch.compile: the losses are those of torch.nn.RMSNorm"
    ]
