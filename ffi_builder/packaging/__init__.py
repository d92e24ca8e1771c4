"""Makes wheels of compiled kernels: `ffi_builder.package`, and `ffi-builder package`."""
