"""What the kernels of tests/cubin/kernels.cu do, for the fake driver."""

from __future__ import annotations

import struct

from tests.cuda.fake import FakeDriver, Running
from tests.cuda.fake.kernels import emulate_saxpy


def emulate(driver: FakeDriver) -> None:
    """Let them compute."""
    emulate_saxpy(driver)

    def tensor_map(launch: Running) -> None:
        number, words, out = launch.arguments
        word = struct.unpack("<16Q", words)[struct.unpack("<i", number)[0]]
        launch.memory(struct.unpack("<Q", out)[0], launch.block[0], "uint64")[:] = word

    driver.kernel("tensor_map", tensor_map)
