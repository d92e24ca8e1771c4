"""The allocator as machine code, compiled once per process."""

from __future__ import annotations

from typing import Final

from ffi_builder.runtime.allocator.python import ALIGNMENT, DEVICE, SIZE
from ffi_builder.runtime.compiler import compile as compile_

_NAME: Final = "allocate"

# One block holds everything, so that libc's free() is the deleter and no code need outlive this
# process' Python: DLManagedTensorVersioned (80 bytes: version 0, manager_ctx 8, deleter 16,
# flags 24, dl_tensor 32), shape, strides, and at the next multiple of 64 the data.
_IR: Final = f"""
@runtime_error = private constant [13 x i8] c"RuntimeError\\00"
@memory_error = private constant [12 x i8] c"MemoryError\\00"
@device_words = private constant [{len(DEVICE) + 1} x i8] c"{DEVICE}\\00"
@size_words = private constant [{len(SIZE) + 1} x i8] c"{SIZE}\\00"
declare i32 @posix_memalign(ptr, i64, i64)
declare void @free(ptr)
declare {{ i64, i1 }} @llvm.umul.with.overflow.i64(i64, i64)

define i32 @__tvm_ffi_{_NAME}(ptr %prototype, ptr %out, ptr %context, ptr %set_error) {{
entry:
  %slot = alloca ptr
  %device_at = getelementptr i8, ptr %prototype, i64 8
  %device = load i32, ptr %device_at
  %on_cpu = icmp eq i32 %device, 1
  br i1 %on_cpu, label %sizes, label %elsewhere
elsewhere:
  call void %set_error(ptr %context, ptr @runtime_error, ptr @device_words)
  ret i32 -1
sizes:
  %ndim_at = getelementptr i8, ptr %prototype, i64 16
  %ndim32 = load i32, ptr %ndim_at
  %ndim = sext i32 %ndim32 to i64
  %bits_at = getelementptr i8, ptr %prototype, i64 21
  %bits8 = load i8, ptr %bits_at
  %bits = zext i8 %bits8 to i64
  %lanes_at = getelementptr i8, ptr %prototype, i64 22
  %lanes16 = load i16, ptr %lanes_at
  %lanes = zext i16 %lanes16 to i64
  %width = mul i64 %bits, %lanes
  %shape_at = getelementptr i8, ptr %prototype, i64 24
  %shape = load ptr, ptr %shape_at
  br label %product
product:
  %axis = phi i64 [ 0, %sizes ], [ %axis_next, %multiply ]
  %total = phi i64 [ %width, %sizes ], [ %total_next, %multiply ]
  %over = phi i1 [ false, %sizes ], [ %over_next, %multiply ]
  %more = icmp slt i64 %axis, %ndim
  br i1 %more, label %multiply, label %enough
multiply:
  %dim_at = getelementptr i64, ptr %shape, i64 %axis
  %dim = load i64, ptr %dim_at
  %multiplied = call {{ i64, i1 }} @llvm.umul.with.overflow.i64(i64 %total, i64 %dim)
  %total_next = extractvalue {{ i64, i1 }} %multiplied, 0
  %overflows = extractvalue {{ i64, i1 }} %multiplied, 1
  %over_or_so = or i1 %over, %overflows
  %not_empty = icmp ne i64 %dim, 0  ; of an empty one the product is 0, whatever it was before
  %over_next = and i1 %over_or_so, %not_empty
  %axis_next = add i64 %axis, 1
  br label %product
enough:
  %huge = icmp ugt i64 %total, {2**62}
  %too_large = or i1 %over, %huge
  br i1 %too_large, label %refuse, label %allocate
allocate:
  %rounded_bits = add i64 %total, 7
  %bytes = lshr i64 %rounded_bits, 3
  %arrays = mul i64 %ndim, 16
  %head_exact = add i64 %arrays, {80 + ALIGNMENT - 1}
  %head = and i64 %head_exact, -{ALIGNMENT}
  %size = add i64 %head, %bytes
  %status = call i32 @posix_memalign(ptr %slot, i64 {ALIGNMENT}, i64 %size)
  %fine = icmp eq i32 %status, 0
  br i1 %fine, label %fill, label %refuse
refuse:
  call void %set_error(ptr %context, ptr @memory_error, ptr @size_words)
  ret i32 -1
fill:
  %block = load ptr, ptr %slot
  %data = getelementptr i8, ptr %block, i64 %head
  %own_shape = getelementptr i8, ptr %block, i64 80
  %own_strides = getelementptr i64, ptr %own_shape, i64 %ndim
  store i32 1, ptr %block
  %minor_at = getelementptr i8, ptr %block, i64 4
  store i32 0, ptr %minor_at
  %manager_at = getelementptr i8, ptr %block, i64 8
  store ptr null, ptr %manager_at
  %deleter_at = getelementptr i8, ptr %block, i64 16
  store ptr @free, ptr %deleter_at
  %flags_at = getelementptr i8, ptr %block, i64 24
  store i64 0, ptr %flags_at
  %data_at = getelementptr i8, ptr %block, i64 32
  store ptr %data, ptr %data_at
  %device_both = load i64, ptr %device_at
  %own_device_at = getelementptr i8, ptr %block, i64 40
  store i64 %device_both, ptr %own_device_at
  %type_both = load i64, ptr %ndim_at
  %own_type_at = getelementptr i8, ptr %block, i64 48
  store i64 %type_both, ptr %own_type_at
  %own_shape_at = getelementptr i8, ptr %block, i64 56
  store ptr %own_shape, ptr %own_shape_at
  %own_strides_at = getelementptr i8, ptr %block, i64 64
  store ptr %own_strides, ptr %own_strides_at
  %offset_at = getelementptr i8, ptr %block, i64 72
  store i64 0, ptr %offset_at
  store ptr %block, ptr %out
  br label %layout
layout:
  %left = phi i64 [ %ndim, %fill ], [ %index, %one ]
  %stride = phi i64 [ 1, %fill ], [ %stride_next, %one ]
  %again = icmp sgt i64 %left, 0
  br i1 %again, label %one, label %done
one:
  %index = sub i64 %left, 1
  %from = getelementptr i64, ptr %shape, i64 %index
  %extent = load i64, ptr %from
  %to_shape = getelementptr i64, ptr %own_shape, i64 %index
  store i64 %extent, ptr %to_shape
  %to_strides = getelementptr i64, ptr %own_strides, i64 %index
  store i64 %stride, ptr %to_strides
  %stride_next = mul i64 %stride, %extent
  br label %layout
done:
  ret i32 0
}}
"""

_kept: list[object] = []


def address() -> int:
    """Compile the allocator, and return its address; the code is never freed."""
    compiled = compile_(_IR)
    _kept.append(compiled)
    return compiled.address(_NAME)
