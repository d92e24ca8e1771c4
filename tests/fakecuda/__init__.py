"""The fake driver of ``ffi_builder.testing``, with images, kernels and arrays for our tests."""

from ffi_builder.fakecuda.build import environment, library
from ffi_builder.fakecuda.constants import NON_BLOCKING, CaptureMode, DeviceAttribute, Result
from ffi_builder.fakecuda.driver import (
    DriverError,
    FakeDriver,
    IllegalAddressError,
    MisalignedAddressError,
    Running,
)
from ffi_builder.fakecuda.records import Call, Launch, Parameter, Violation
from tests.fakecuda.building import missing, no_driver, older
from tests.fakecuda.image import KernelImage, make_cubin, make_fatbin, make_ptx
from tests.fakecuda.memory import DeviceArray, device_array
from tests.fakecuda.numbers import LEGACY, PER_THREAD, FunctionAttribute, LaunchAttribute

__all__ = [
    "LEGACY",
    "NON_BLOCKING",
    "PER_THREAD",
    "Call",
    "CaptureMode",
    "DeviceArray",
    "DeviceAttribute",
    "DriverError",
    "FakeDriver",
    "FunctionAttribute",
    "IllegalAddressError",
    "KernelImage",
    "Launch",
    "LaunchAttribute",
    "MisalignedAddressError",
    "Parameter",
    "Result",
    "Running",
    "Violation",
    "device_array",
    "environment",
    "library",
    "make_cubin",
    "make_fatbin",
    "make_ptx",
    "missing",
    "no_driver",
    "older",
]
