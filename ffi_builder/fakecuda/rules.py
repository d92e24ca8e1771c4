"""The rules of the driver that the fake enforces: what breaks each of them, and what comes of it.

Each is read from the driver API's documentation (the comments of cuda.h), and tried in
``tests/fakecuda/test_fake_driver.py``; ``tests/cuda/broken`` has a provider that breaks it.
docs/fake-cuda.md shows them.
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
    "init": Rule("Every function but a few needs cuInit before.", (Result.NOT_INITIALIZED,)),
    "no-device": Rule("Without a GPU cuInit fails.", (Result.NO_DEVICE,)),
    "exit": Rule("When the process ends, the driver goes first.", (Result.DEINITIALIZED,)),
    "fork": Rule("A child process cannot use what its parent began.", (Result.NOT_INITIALIZED,)),
    "outdated-name": Rule("`cuCtxPopCurrent` without `_v2` is a function of CUDA 3."),
    # Contexts.
    "context": Rule(
        "The streams NULL, legacy and per-thread need a current context, and so does "
        "cuGraphInstantiate.",
        (Result.INVALID_CONTEXT,),
    ),
    "context-destroyed": Rule(
        "A context that is gone can do nothing.", (Result.CONTEXT_IS_DESTROYED,)
    ),
    "context-failed": Rule(
        "A kernel's error stays with its context: all later calls in it return the error.",
        (Result.ILLEGAL_ADDRESS, Result.MISALIGNED_ADDRESS),
    ),
    "device-memory": Rule(
        "A kernel reaches the memory of its context's device, and no other.",
        (Result.ILLEGAL_ADDRESS,),
    ),
    "device-alignment": Rule(
        "A kernel's pointers are aligned as its elements.", (Result.MISALIGNED_ADDRESS,)
    ),
    "stack": Rule("What is pushed is popped; a thread's stack does not grow for ever."),
    "pop": Rule("There must be something to pop.", (Result.INVALID_CONTEXT,)),
    "primary-count": Rule(
        "A primary context lives until it was released as often as retained.",
        (Result.INVALID_CONTEXT,),
    ),
    "device": Rule("Devices are numbered from 0 on.", (Result.INVALID_DEVICE,)),
    # Images and kernels.
    "image": Rule("An image is a cubin, a fatbin or PTX.", (Result.INVALID_IMAGE,)),
    "image-memory": Rule("An image is memory that can be read."),
    "image-gpu": Rule("An image has code for one of the devices.", (Result.NO_BINARY_FOR_GPU,)),
    "ptx": Rule("PTX is text that ends with a NUL.", (Result.INVALID_PTX,)),
    "ptx-version": Rule(
        "PTX may not be newer than the driver, whose version can be chosen.",
        (Result.UNSUPPORTED_PTX_VERSION,),
    ),
    "library": Rule("A library is one that is loaded.", (Result.INVALID_HANDLE,)),
    "kernel-name": Rule(
        "A kernel, a global and a constant are found by their exact names.", (Result.NOT_FOUND,)
    ),
    "kernel": Rule("What is launched is a CUkernel or a CUfunction.", (Result.INVALID_HANDLE,)),
    "kernel-unloaded": Rule("A kernel goes with its library."),
    "function-context": Rule(
        "A CUfunction is launched in the context that it is of.", (Result.INVALID_HANDLE,)
    ),
    # A launch.
    "grid": Rule("A grid has 1 to as many blocks as the device says.", (Result.INVALID_VALUE,)),
    "block": Rule(
        "A block has 1 to as many threads as device and kernel allow.", (Result.INVALID_VALUE,)
    ),
    "registers": Rule("A block's registers fit the device.", (Result.LAUNCH_OUT_OF_RESOURCES,)),
    "shared": Rule(
        "Above 48 KiB dynamic shared memory is asked for, by attribute 8 of the kernel on that "
        "device, and not more than the device has.",
        (Result.INVALID_VALUE,),
    ),
    "attribute": Rule(
        "A launch attribute is one of kernels, with a value that it may have.",
        (Result.INVALID_VALUE,),
    ),
    "attribute-memory": Rule("The array of attributes can be read."),
    "cluster": Rule(
        "Each dimension of the grid is a multiple of the cluster's; one that was compiled in is "
        "kept.",
        (Result.INVALID_CLUSTER_SIZE,),
    ),
    "cluster-large": Rule(
        "More than 8 blocks are asked for, by attribute 14 of the kernel on that device.",
        (Result.INVALID_CLUSTER_SIZE,),
    ),
    "cluster-device": Rule("The device has clusters.", (Result.INVALID_VALUE,)),
    "cooperative": Rule(
        "All blocks of a cooperative launch fit at once.", (Result.COOPERATIVE_LAUNCH_TOO_LARGE,)
    ),
    "parameters": Rule("Parameters are pointers or a buffer, not both.", (Result.INVALID_VALUE,)),
    "parameter-memory": Rule("Each parameter can be read, all of its bytes."),
    "parameter-alignment": Rule("Each parameter is aligned as its type: a CUtensorMap to 64."),
    "tensor-map": Rule(
        "A tensor map's address, sizes, strides, box, type, interleave and swizzle fit each other.",
        (Result.INVALID_VALUE,),
    ),
    # Streams and graphs.
    "stream": Rule("A stream is one that was made.", (Result.INVALID_HANDLE,)),
    "stream-destroyed": Rule("A stream is not used after it was destroyed."),
    "capture-unsafe": Rule(
        "What may wait or allocate is not called while a stream captures, but in relaxed mode.",
        (Result.STREAM_CAPTURE_UNSUPPORTED,),
    ),
    "capture-legacy": Rule(
        "The legacy stream is not used while a blocking stream captures.",
        (Result.STREAM_CAPTURE_IMPLICIT,),
    ),
    "capture-lost": Rule(
        "After such a call the capture is lost.", (Result.STREAM_CAPTURE_INVALIDATED,)
    ),
    "graph-outlived": Rule("What a graph launches stays loaded as long as the graph is launched."),
}
