"""The rules of the driver that the fake enforces: what breaks each of them, and what comes of it.

Each is read from the driver API's documentation (the comments of cuda.h), and tried in
``tests/fakecuda/test_fake_driver.py`` and ``test_fake_launches.py``. docs/fake-cuda.md shows them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ffi_builder.fakecuda.constants import Result


@dataclass(frozen=True)
class Rule:
    """``results`` are what the call returns; none: the fake writes down a violation instead."""

    text: str
    results: tuple[Result, ...] = ()


RULES: Final = {
    # The driver.
    "init": Rule("Most functions need cuInit before.", (Result.NOT_INITIALIZED,)),
    "no-device": Rule("Without a GPU cuInit fails.", (Result.NO_DEVICE,)),
    "exit": Rule("When the process ends, the driver goes first.", (Result.DEINITIALIZED,)),
    "fork": Rule("A child process cannot use what its parent began.", (Result.NOT_INITIALIZED,)),
    "outdated-name": Rule("`cuCtxPopCurrent` without `_v2` is a function of CUDA 3."),
    # Contexts.
    "context": Rule(
        "The streams NULL, legacy and per-thread, and cuGraphInstantiate, need a current context.",
        (Result.INVALID_CONTEXT,),
    ),
    "context-destroyed": Rule(
        "A destroyed context can do nothing.", (Result.CONTEXT_IS_DESTROYED,)
    ),
    "context-failed": Rule(
        "After a kernel's error, all later calls in its context return it.",
        (Result.ILLEGAL_ADDRESS, Result.MISALIGNED_ADDRESS),
    ),
    "device-memory": Rule("A kernel reaches its device's memory alone.", (Result.ILLEGAL_ADDRESS,)),
    "device-alignment": Rule(
        "Pointers are aligned as their elements.", (Result.MISALIGNED_ADDRESS,)
    ),
    "stack": Rule("What is pushed is popped."),
    "pop": Rule("What is popped was pushed.", (Result.INVALID_CONTEXT,)),
    "primary-count": Rule(
        "A primary context is released as often as retained.", (Result.INVALID_CONTEXT,)
    ),
    "device": Rule("Devices count from 0.", (Result.INVALID_DEVICE,)),
    # Images and kernels.
    "image": Rule("An image is a cubin, a fatbin or PTX.", (Result.INVALID_IMAGE,)),
    "image-memory": Rule("An image can be read."),
    "image-gpu": Rule("An image has code for a device.", (Result.NO_BINARY_FOR_GPU,)),
    "ptx": Rule("PTX is text that ends with a NUL.", (Result.INVALID_PTX,)),
    "ptx-version": Rule("PTX is no newer than the driver.", (Result.UNSUPPORTED_PTX_VERSION,)),
    "library": Rule("A library was loaded.", (Result.INVALID_HANDLE,)),
    "kernel-name": Rule("Kernels, globals and constants have exact names.", (Result.NOT_FOUND,)),
    "kernel": Rule("A CUkernel or a CUfunction is launched.", (Result.INVALID_HANDLE,)),
    "kernel-unloaded": Rule("A kernel goes with its library."),
    "function-context": Rule("A CUfunction is launched in its context.", (Result.INVALID_HANDLE,)),
    # A launch.
    "grid": Rule("A grid has 1 to as many blocks as the device allows.", (Result.INVALID_VALUE,)),
    "block": Rule(
        "A block has 1 to as many threads as device and kernel allow.", (Result.INVALID_VALUE,)
    ),
    "registers": Rule("A block's registers fit the device.", (Result.LAUNCH_OUT_OF_RESOURCES,)),
    "shared": Rule(
        "Dynamic shared memory fits the device; above 48 KiB, the kernel's attribute 8 allows it.",
        (Result.INVALID_VALUE,),
    ),
    "attribute": Rule(
        "Launch attributes are of kernels, with a valid value.", (Result.INVALID_VALUE,)
    ),
    "attribute-memory": Rule("The attributes can be read."),
    "cluster": Rule(
        "The grid is a multiple of the cluster, which is the one that was compiled in.",
        (Result.INVALID_CLUSTER_SIZE,),
    ),
    "cluster-large": Rule(
        "For more than 8 blocks, the kernel's attribute 14 is set.", (Result.INVALID_CLUSTER_SIZE,)
    ),
    "cluster-device": Rule("The device has clusters.", (Result.INVALID_VALUE,)),
    "cooperative": Rule(
        "All blocks of a cooperative launch fit at once.", (Result.COOPERATIVE_LAUNCH_TOO_LARGE,)
    ),
    "parameters": Rule("Parameters are pointers or a buffer, not both.", (Result.INVALID_VALUE,)),
    "parameter-memory": Rule("Each parameter can be read."),
    "parameter-alignment": Rule("Each parameter is aligned as its type: a CUtensorMap to 64."),
    "tensor-map": Rule("A tensor map's values fit each other.", (Result.INVALID_VALUE,)),
    # Streams and graphs.
    "stream": Rule("A stream was made.", (Result.INVALID_HANDLE,)),
    "stream-destroyed": Rule("A destroyed stream is not used."),
    "capture-unsafe": Rule(
        "What may wait or allocate is called in a capture in relaxed mode alone.",
        (Result.STREAM_CAPTURE_UNSUPPORTED,),
    ),
    "capture-legacy": Rule(
        "The legacy stream is not used while a blocking stream captures.",
        (Result.STREAM_CAPTURE_IMPLICIT,),
    ),
    "capture-lost": Rule(
        "After a call that is not allowed, the capture is lost.",
        (Result.STREAM_CAPTURE_INVALIDATED,),
    ),
    "graph-outlived": Rule("What a graph launches stays loaded."),
}
