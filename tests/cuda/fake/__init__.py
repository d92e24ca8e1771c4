"""The fake driver of ``ffi_builder.testing``, with images, kernels and arrays for our tests."""

from ffi_builder.testing.cuda.build import environment, library
from ffi_builder.testing.cuda.constants import (
    LEGACY,
    NON_BLOCKING,
    PER_THREAD,
    CaptureMode,
    DeviceAttribute,
    FunctionAttribute,
    LaunchAttribute,
    Result,
)
from ffi_builder.testing.cuda.driver import (
    DriverError,
    FakeDriver,
    IllegalAddressError,
    MisalignedAddressError,
    Running,
)
from ffi_builder.testing.cuda.records import Call, Launch, Parameter, Violation
from tests.cuda.fake.building import missing, no_driver
from tests.cuda.fake.image import KernelImage, make_cubin, make_fatbin, make_ptx
from tests.cuda.fake.memory import DeviceArray, device_array

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
]
