"""Compiled functions as operators of PyTorch, under `torch.compile` too.

from ffi_builder.frameworks import torch as ffi_torch

op = ffi_torch.operator(compiled["f"], namespace="mine")
"""

from ffi_builder.frameworks.torch.calls import Operator
from ffi_builder.frameworks.torch.define import operator

__all__ = ["Operator", "operator"]
