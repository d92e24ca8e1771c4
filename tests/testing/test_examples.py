"""Examples that ``testing.check_kernel`` makes for random signatures."""

from __future__ import annotations

import re
from contextlib import suppress

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ffi_builder import testing
from ffi_builder.spec import Signature
from ffi_builder.testing.kernels.examples import Examples, simpler
from ffi_builder.testing.kernels.finding import Finding
from ffi_builder.testing.kernels.frame import shown_arguments
from ffi_builder.testing.kernels.observe import observe
from tests.differential.signatures import signatures
from tests.support.drawn import drawn
from tests.testing.test_make_args import args_or_refusal, can_be_made

np = pytest.importorskip("numpy", reason="needs NumPy")


def is_small(signature: Signature) -> bool:
    """Tell whether all ints are small: sizes and strides of thousands make huge arrays."""
    return re.search(r"\d{4,}", re.sub(r"[a-z]\w*", "", str(signature))) is None


@pytest.mark.slow
@settings(max_examples=drawn(50))
@given(
    signatures().filter(is_small).filter(can_be_made),
    st.sampled_from(["numpy", "tvm_ffi"]),
    st.booleans(),
)
def test_examples_are_accepted(signature: Signature, framework: str, limits: bool) -> None:
    """Examples fit the signature, and so do those that are simpler."""
    assume(isinstance(args_or_refusal(signature, {}, framework), list))
    made = Examples(signature, framework, 0, {}, {}, limits=limits, prepare=None)
    for number in range(6):
        draw, frame = made.example(number)
        assert frame is not None
        testing.check(signature, *frame.arguments)
        with suppress(Finding):
            observe(lambda *_: None, frame)
        assert shown_arguments(frame)
        lower = list(simpler(draw))
        assert all(sum(each.values()) < sum(draw.values()) for each in lower)
        for each in lower[:: max(len(lower) // 3, 1)]:
            with suppress(ValueError):
                _, frame = made.example(number, each)
                assert frame is not None
                testing.check(signature, *frame.arguments)
