"""The broken providers: each has one mistake, which breaks a rule of the driver."""

from __future__ import annotations

from typing import Final

from ffi_builder.cuda.launch import dimensions, launching, provider
from ffi_builder.cuda.launch.attributes import Attribute
from ffi_builder.cuda.launch.dimensions import Launch
from ffi_builder.cuda.launch.launching import Launcher
from tests.cuda.broken import mistakes as m
from tests.cuda.broken import mistakes_in_c as c
from tests.cuda.broken import scenarios as s
from tests.cuda.broken.breaking import Breakage, number, part

RACE: Final = "who loses a compare-and-swap goes on"
"""With functions that are not there yet, it may be: so this one may also end the process."""
_INVALID: Final = "cuLaunchKernelEx failed: CUDA_ERROR_INVALID_VALUE"
_NO_HANDLE: Final = "CUDA_ERROR_INVALID_HANDLE"
_CLUSTER: Final = "cuLaunchKernelEx failed: CUDA_ERROR_INVALID_CLUSTER_SIZE"

# The rule, what is wrong, what is done with it, how that ends, what is replaced. A rule of "" is
# one that no driver has: that of its callers.
_TABLE: Final = (
    # The driver and its contexts.
    ("init", "no cuInit", s.a_call, "CUDA_ERROR_NOT_INITIALIZED", c.no_init),
    ("outdated-name", "names without _v2", s.a_call, "outdated-name", c.without_suffix),
    ("context", "no context is made current", s.a_call, "CUDA_ERROR_INVALID_CONTEXT", c.enter_nothing),
    ("device-memory", "any current context will do", s.two_devices, "the wrong sum", c.enter_only_if_nothing_is_current),
    ("context-failed", "any current context will do, twice", s.saxpy_again, "CUDA_ERROR_ILLEGAL_ADDRESS", c.enter_only_if_nothing_is_current),
    ("stack", "no pop", s.many_calls_on_another_device, "stack", c.leave_nothing),
    ("", "no pop after one call", s.a_callers_context, "another context is current", c.leave_nothing),
    ("", "no pop after a failure", s.a_callers_context_after_a_failure, "another context is current", c.launch_and_look_before_leaving),
    ("pop", "a pop without a push", s.a_context_of_the_caller, "cuCtxPopCurrent_v2: 201", c.leave_always),
    ("", "retained for each launch", s.many_calls, "retained again and again", c.retain_each_time),
    ("primary-count", "released once too often", s.a_module_that_goes, "another one's primary context was released", c.release_twice),
    (
        "context-destroyed",
        "released once too often, and used",
        s.a_context_that_is_current_when_a_module_goes,
        "cuCtxSynchronize: 709",
        c.release_twice,
    ),
    ("device", "devices counted from 1", s.on_the_last_device, "CUDA_ERROR_INVALID_DEVICE", c.device_after_the_last),
    # Images and kernels.
    ("image-memory", "another address", s.a_call, "image-memory", c.image_elsewhere),
    ("ptx", "PTX without its end", s.ptx, "CUDA_ERROR_INVALID_PTX", part(provider, "_PTX_END", b"x")),
    ("library", "the kernel before the library", s.a_call, _NO_HANDLE, c.take_before_loading),
    ("kernel-name", "another name", s.a_call, "CUDA_ERROR_NOT_FOUND", m.wrong_name),
    ("kernel", "the library is launched", s.a_call, _NO_HANDLE, c.kernel_of_the_library),
    ("kernel", RACE, s.sixteen_threads, "calls have failed", part(Launcher, "_kernel", m.compare_and_swap)),
    ("", "a failure is remembered", s.a_failure_and_a_success, _NO_HANDLE, part(Launcher, "_kernel", m.once_whatever_comes)),
    ("kernel-unloaded", "kernels remembered after unloading", s.a_release_and_a_call, "kernel-unloaded", c.unload_and_remember),
    ("function-context", "one context's function for all", s.two_devices, _NO_HANDLE, c.take_the_function),
    # The launch.
    (
        "",
        "narrowed without a check",
        s.grids_of_every_size,
        "another size|not enough values|too many values",
        part(dimensions, "emit_size", m.unchecked),
    ),
    ("grid", "an empty grid is launched", s.grids_of_every_size, _INVALID, part(Launch, "is_empty", m.never_empty)),
    ("block", "the block for the grid", s.a_large_grid, _INVALID, part(launching, "emit_config", m.config_with_grid_and_block_swapped)),
    ("shared", "shared memory not asked for", s.much_shared_memory, _INVALID, part(Launch, "may_need", 0)),
    (
        "shared",
        "asked for on the first device",
        s.much_shared_memory_on_each_device,
        _INVALID,
        part(Launcher, "_prepare", m.first_device_stands_for_all),
    ),
    ("attribute", "another number", s.a_small_cluster_and_flags, _INVALID, part(Attribute, "number", 3)),
    (
        "attribute",
        "attributes of 64 bytes",
        s.a_small_cluster_and_flags,
        f"{_INVALID}|other attributes|an attribute with",
        number("ATTRIBUTE_SIZE", 64),
    ),
    (
        "attribute-memory",
        "attributes elsewhere",
        s.attributes_and_a_status,
        "attribute-memory",
        part(launching, "emit_config", m.config_of_unwritten_attributes),
    ),
    ("cluster", "y before x", s.a_small_cluster_and_flags, _CLUSTER, part(launching, "emit_config", m.config_with_the_cluster_turned)),
    ("cluster-large", "not asked for", s.a_large_cluster, _CLUSTER, part(Launch, "may_need", 0)),
    ("parameters", "given twice", s.parameters_of_every_kind, _INVALID, c.with_extra),
    (
        "parameter-memory",
        "values for addresses",
        s.parameters_of_every_kind,
        "parameter-memory",
        part(launching, "addresses", m.values_for_addresses),
    ),
    (
        "parameter-alignment",
        "anywhere on the stack",
        s.parameters_of_every_kind,
        "parameter-alignment",
        part(launching, "_copied", m.copied_anywhere),
    ),
    ("", "a struct without its padding", s.parameters_of_every_kind, "other bytes", part(m.arguments, "layout", m.packed)),
    ("tensor-map", "the outermost first", s.a_tensor_map, "cuTensorMapEncodeTiled failed: CUDA_ERROR_INVALID_VALUE", c.outermost_first),
    # Streams and graphs.
    ("stream", "another handle", s.a_stream, _NO_HANDLE, part(launching, "emit_config", m.config_of_another_stream)),
    (
        "stream-destroyed",
        "the first stream is kept",
        s.one_stream_after_another,
        "stream-destroyed",
        part(Launcher, "_stream", m.stream_of_the_first_call),
    ),
    ("capture-unsafe", "loaded while a stream captures", s.a_first_call_in_a_capture, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", c.not_relaxed),
    ("", "the capture mode stays relaxed", s.a_capture_of_others_after_a_call, "the thread's capture mode is another one", c.relaxed_for_ever),
    ("capture-lost", "relaxed when it is too late", s.a_first_call_in_a_capture, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", c.try_twice),
    (
        "capture-legacy",
        "the NULL stream for any",
        s.a_capture_of_a_blocking_stream,
        "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT",
        part(launching, "emit_config", m.config_without_stream),
    ),
    (
        "graph-outlived",
        "unloaded after each launch",
        s.a_first_call_in_a_capture,
        "graph-outlived",
        part(Launcher, "_call", m.unload_after_each_launch),
    ),
)  # fmt: skip
BREAKAGES: Final = tuple(Breakage(*row) for row in _TABLE)

OF_THE_CALLER: Final = {
    "no-device": "the machine has none",
    "exit": "what the provider's destructor gets then is ignored (test_export.py)",
    "fork": "the program forks",
    "image": "it has been read before, in Python",
    "image-gpu": "the caller's image is for other GPUs",
    "ptx-version": "the caller's PTX is newer than the driver",
    "device-alignment": "the caller's pointer is not aligned",
    "registers": "the caller's block is too large for the kernel",
    "cooperative": "the caller's grid is too large for the device",
    "cluster-device": "the caller's device has no clusters",
}
"""Rules that only a caller can break, and why; the provider has to say so (test_errors.py)."""
