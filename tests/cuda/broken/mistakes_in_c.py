"""Mistakes in C: what stands in the place of a line of the support code."""

from __future__ import annotations

from typing import Final

from tests.cuda.broken.breaking import code

_LEAVE: Final = "  cuda_leave(state, *pushed);\n"
_RELAX: Final = "int32_t mode = cuda_relax_capture(state);"
_RESTORE: Final = "cuda_restore_capture(state, mode);"
_LOAD: Final = "  int32_t status = cuda_load_image("
_TAKE: Final = "  int32_t status = cuda_take_kernel("

no_init = code("find.c", ("state->driver.cuInit(0)", "CUDA_SUCCESS"))
without_suffix = code(
    "numbers.h",
    ('"cuCtxPushCurrent_v2"', '"cuCtxPushCurrent"'),
    ('"cuCtxPopCurrent_v2"', '"cuCtxPopCurrent"'),
)
"""As the header has the names, before its macros."""

# Contexts.

enter_nothing = code(
    "context.c",
    ("*pushed = false;\n  CUcontext current", "*pushed = false;\n  return 0;\n  CUcontext current"),
)
"""The current context must do."""
enter_only_if_nothing_is_current = code(
    "context.c", ("current != NULL && device < 0", "current != NULL")
)
leave_nothing = code("context.c", ("if (pushed)", "if (false)"))
leave_always = code("context.c", ("if (pushed)", "if (true)"))
launch_and_look_before_leaving = code(
    "launch.c", (_LEAVE, f"  if (result != CUDA_SUCCESS)\n    return result;\n{_LEAVE}")
)
retain_each_time = code(
    "context.c",
    ("*out = __atomic_load_n(slot, __ATOMIC_ACQUIRE);", "*out = NULL;"),
    ("  CUcontext before = NULL;", "  return 0;\n  CUcontext before = NULL;"),
)
device_after_the_last = code(
    "context.c",
    ("cuDevicePrimaryCtxRetain(out, device)", "cuDevicePrimaryCtxRetain(out, device + 1)"),
)
"""The device's number counts from 1."""
release_twice = code(
    "load.c",
    (
        "cuda_interpreter_ends())\n    return;\n",
        "cuda_interpreter_ends())\n    return;\n  state->driver.cuDevicePrimaryCtxRelease_v2(0);\n",
    ),
)

# Maps.

outermost_first = code(
    "tensor_map.c", ("arguments[CUDA_MAP_BOX + i]", "arguments[CUDA_MAP_BOX + plan->rank - 1 - i]")
)
"""The box is not turned."""

# Images and kernels.

image_elsewhere = code("load.c", ("(&loaded, image,", "(&loaded, (const void *)4096,"))
"""The image's address is not what is passed."""
take_before_loading = code("load.c", ("cuda_load_image(state, library, image, log);", "0;"))
kernel_of_the_library = code(
    "load.c",
    (
        "state->driver.cuLibraryGetKernel(out, library->handle, symbol)",
        "(*out = (CUkernel)library->handle, CUDA_SUCCESS)",
    ),
)
"""The CUlibrary is launched."""
take_the_function = code(
    "load.c",
    (
        f"  {_RESTORE}\n  return status;\n}}\n\n// Loads a kernel",
        "  bool pushed;\n  cuda_enter(state, 0, &pushed);\n"
        "  state->driver.cuKernelGetFunction((CUfunction *)out, *out);\n"
        f"  cuda_leave(state, pushed);\n  {_RESTORE}\n  return status;\n}}\n\n// Loads a kernel",
    ),
)
"""A CUfunction of the context that happens to be current, instead of the CUkernel."""
unload_and_remember = code("load.c", ("      cuda_forget_kernel(kernel);", "      ;"))
"""The kernels' handles stay where they are."""

# Launches and captures.

with_extra = code(
    "launch.c", ("(CUfunction)kernel, params, NULL", "(CUfunction)kernel, params, params")
)
not_relaxed = code("load.c", (f"  {_RELAX}\n{_LOAD}", f"  int32_t mode = 0;\n{_LOAD}"))
relaxed_for_ever = code(
    "load.c",
    (
        f"  {_RESTORE}\n  return status;\n}}\n\n// Loads",
        "  return mode < 0 ? 1 : status;\n}\n\n// Loads",
    ),
)
try_twice = code("load.c", (_TAKE, f"  cuda_load_image(state, library, image, log);\n{_TAKE}"))
"""First as it comes, then with the capture mode relaxed; by then the capture is lost."""
