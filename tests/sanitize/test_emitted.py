"""``sanitize=`` in the wrapper: which options share it, and what it costs nobody else."""

from __future__ import annotations

from ffi_builder import Sanitize, attach, spec
from ffi_builder.providers import DirectCallProvider
from tests.support.printed import printed_wrapper
from tests.support.wrapping import new_module


def test_a_wrapper_is_reused_for_the_same_options_alone() -> None:
    signature = spec.Signature.parse(
        "f(x: Tensor([n], float32, intent=in), y: Tensor([n], float32, intent=out))", device="cpu"
    )

    def text(sanitize: bool | Sanitize) -> str:
        module = new_module()
        attach(module, signature, DirectCallProvider("kernel"), sanitize=sanitize)
        return printed_wrapper(module)

    plain, checked, small = text(False), text(True), text(Sanitize(guard_bytes=64))
    assert len({plain, checked, small}) == 3
    assert "copy_tensor" in checked
    assert "copy_tensor" not in plain
    for _ in range(3):
        assert text(False) == plain
        assert text(Sanitize()) == text(True) == checked
        assert text(Sanitize(guard_bytes=64)) == small
