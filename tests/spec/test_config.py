from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from ffi_builder import SpecError
from ffi_builder.spec import DefaultConfig, Tensor


def made_on() -> str | None:
    return Tensor("x", [1], "float32").device_type


def test_the_default_is_stored_in_the_tensor():
    with DefaultConfig(device_type="cuda"):
        tensor = Tensor("x", [1], "float32")
    assert tensor.device_type == "cuda"
    assert tensor == Tensor("x", [1], "float32", device_type="cuda")


def test_none_is_active_at_first_and_afterwards():
    for _ in range(2):
        with pytest.raises(SpecError) as caught:
            made_on()
        assert str(caught.value) == (
            "Tensor 'x': no device_type given and no default active. Say device_type='cpu' (or "
            "'cuda', …), or make it inside `with DefaultConfig(device_type='cpu'):`"
        )
        with DefaultConfig(device_type="cpu"):
            assert made_on() == "cpu"


def test_the_innermost_counts():
    with DefaultConfig(device_type="cuda"):
        with DefaultConfig(device_type="rocm"):
            assert made_on() == "rocm"
            assert Tensor("x", [1], "float32", device_type="cpu").device_type == "cpu"
        assert made_on() == "cuda"


def test_an_error_ends_the_block():
    with DefaultConfig(device_type="cuda"):
        with pytest.raises(ZeroDivisionError), DefaultConfig(device_type="cpu"):
            _ = 1 / 0
        assert made_on() == "cuda"


def test_one_object_nests_in_itself():
    config = DefaultConfig(device_type="cuda")
    with config, config:
        assert made_on() == "cuda"
    with pytest.raises(SpecError, match="no default active"):
        made_on()


def test_threads_do_not_meet():
    """One object, entered in two threads that leave in the order in which they came."""
    shared = DefaultConfig(device_type="cuda")
    entered, leave = threading.Barrier(2), threading.Event()

    def first() -> str | None:
        with shared:
            entered.wait(10)
            leave.wait(10)
            return made_on()

    def second() -> str | None:
        with DefaultConfig(device_type="cpu"), shared:
            entered.wait(10)
        leave.set()
        with DefaultConfig(device_type="rocm"):
            return made_on()

    with ThreadPoolExecutor(2) as pool:
        results = [pool.submit(first), pool.submit(second)]
        assert [result.result(20) for result in results] == ["cuda", "rocm"]
    with pytest.raises(SpecError, match="no default active"):
        made_on()


def test_tasks_do_not_meet():
    async def worker(device: str) -> list[str | None]:
        found: list[str | None] = []
        with DefaultConfig(device_type=device):
            for _ in range(3):
                await asyncio.sleep(0)
                found.append(made_on())
        return found

    async def both() -> list[list[str | None]]:
        return list(await asyncio.gather(worker("cpu"), worker("cuda")))

    assert asyncio.run(both()) == [["cpu"] * 3, ["cuda"] * 3]


def test_repr():
    assert repr(DefaultConfig(device_type="cuda")) == "DefaultConfig(device_type='cuda')"


def test_any_device():
    with DefaultConfig(device_type="any"):
        assert made_on() == "any"


def test_unknown_device():
    with pytest.raises(SpecError) as caught:
        DefaultConfig(device_type="gpu")
    assert "DefaultConfig: device_type: expected one of cpu, cuda, " in str(caught.value)
    assert str(caught.value).endswith(", any but got 'gpu', did you mean 'cuda'?")
