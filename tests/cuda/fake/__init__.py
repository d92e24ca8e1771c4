"""A CUDA driver with no device: libcuda.so.1 in C, built by the tests against the real cuda.h.

It is written from the documentation of the driver API, in cuda.h itself, and refuses what a driver
refuses, with the same results; :mod:`tests.cuda.fake.rules` has a list. What a driver leaves
undefined it writes down as a violation. Kernels run on the host: as functions that tests give.
"""

from tests.cuda.fake.build import environment, library, missing, no_driver
from tests.cuda.fake.constants import (
    LEGACY,
    NON_BLOCKING,
    PER_THREAD,
    CaptureMode,
    DeviceAttribute,
    FunctionAttribute,
    LaunchAttribute,
    Result,
)
from tests.cuda.fake.driver import DriverError, FakeDriver, IllegalAddressError, Running
from tests.cuda.fake.image import KernelImage, make_cubin, make_fatbin, make_ptx
from tests.cuda.fake.memory import DeviceArray, device_array
from tests.cuda.fake.records import Call, Launch, Parameter, Violation

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
