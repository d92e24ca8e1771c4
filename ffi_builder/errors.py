"""The exception classes of ffi_builder. Calls of wrappers raise Python's built-in exceptions."""

from __future__ import annotations


class SpecError(ValueError):
    """A specification contradicts itself, or names something that does not exist.

    Examples:
        >>> from ffi_builder import SpecError, spec
        >>> try:
        ...     spec.Var("n", "int32", min=8, max=4)
        ... except SpecError as error:
        ...     print(error)
        Var 'n': min 8 is greater than max 4
    """


class NoKernelError(SpecError):
    """A CUDA image has kernels, but none of the name that was asked for.

    Whoever took the name adds how another one is given.
    """


class BuildError(RuntimeError):
    """A wrapper could not be attached: the module, the provider or the callee does not fit.

    Examples:
        >>> from torch_mlir import ir
        >>> from ffi_builder import BuildError, attach, providers, spec
        >>> module = ir.Module.parse("llvm.func @relu(!llvm.ptr)", ir.Context())
        >>> try:
        ...     attach(module, spec.Signature("relu", []), providers.DirectCallProvider("relu"))
        ... except BuildError as error:
        ...     print(error)
        DirectCallProvider: the callee @relu takes 1 argument, but 0 are passed for 'relu':
               expected  passed
        >  #0  ptr       nothing
        Choose and order them with args=, or change the signature or the callee.
            DynamicParamPackCallProvider calls it if that is an array of pointers to its parameters
    """


class CompileError(RuntimeError):
    """A module could not be lowered, verified or compiled.

    Examples:
        >>> from ffi_builder import CompileError, runtime
        >>> try:
        ...     runtime.compile("func.func @relu(%x: f32) -> f32 { return %y : f32 }")
        ... except CompileError as error:
        ...     print(error)
        The MLIR text does not parse: Unable to parse module assembly:
        error: "-":1:42: use of undeclared SSA value name
        func.func @relu(%x: f32) -> f32 { return %y : f32 }
                                                 ^
    """


class LinkError(CompileError):
    """Compiled code could not be linked: a symbol is missing or defined twice.

    Examples:
        >>> from torch_mlir import ir
        >>> from ffi_builder import LinkError, attach, providers, runtime, spec
        >>> module = ir.Module.parse("", ir.Context())
        >>> attach(module, spec.Signature("relu", []), providers.DirectCallProvider("my_relu"))
        >>> try:
        ...     runtime.compile(module)
        ... except LinkError as error:
        ...     print(error)
        Neither the linked objects nor this process define: `my_relu`; pass what defines them
            with link=: LLVM IR, an object, an archive or a library (`my_relu` is what the call
            provider of `relu` calls)
    """
