"""``wrap``: a function that checks its arguments, around whatever a compiler emits."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ffi_builder import runtime, spec
from ffi_builder.wrapping.options import Options
from ffi_builder.wrapping.prepare import prepare
from ffi_builder.wrapping.sources import UNOWNED
from ffi_builder.wrapping.statuses import Errors

if TYPE_CHECKING:
    from ffi_builder import Sanitize
    from ffi_builder.providers import CallProvider
    from ffi_builder.runtime import CompiledModule


def wrap(
    source: object,
    signature: spec.Signature | str | Sequence[spec.Signature | str],
    *,
    device: str | None = None,
    function: str | None = None,
    prototype: str | os.PathLike[str] | None = None,
    include: Iterable[str | os.PathLike[str]] = (),
    args: Sequence[Any] | Mapping[str, Any] | None = None,
    errors: Errors | None = None,
    success: int | str | Sequence[int | str] | None = None,
    errno: bool = False,
    free: str | None = None,
    destroy: str | Mapping[str, str] | None = None,
    provider: CallProvider | type[Any] | None = None,
    launch: object = None,
    owner: object = UNOWNED,
    release_gil: bool | None = None,
    pipeline: str | None = None,
    link: Iterable[str | bytes | os.PathLike[str]] = (),
    sanitize: bool | Sanitize = False,
    opt_level: int = 2,
    cache_dir: str | os.PathLike[str] | None = None,
) -> CompiledModule:
    """Compile a function that checks its arguments and calls a kernel, whatever that is.

    ====================================== =================================================
    source                                 how its kernel is called
    ====================================== =================================================
    MLIR: a module, or its text            by the types of the function: memrefs or plain C
    LLVM IR text                           plain C, of the types that it is defined with
    an object or a static archive          plain C, of the types of ``prototype=``
    a shared library                       the same; an exported library needs it
    a function of cffi, Numba's            the same, or of the types that it has
    ``@cfunc``, or one of ctypes
    an address: a capsule, an int or a     the same; ``owner=`` keeps the code of the last two
    ``c_void_p``                           alive
    a cubin, a fatbin or PTX; a kernel     launched as ``launch=`` says
    that Triton compiled
    a ``tvm_ffi.Function``                 with the arguments of the wrapper, once checked
    ====================================== =================================================

    A path stands for its file, whose first bytes say what it is. ``provider=`` calls in another
    way, and says so where nothing has the types.

    With a prototype, or LLVM IR, parameters of the kernel get the parameter or symbol of their
    name; if none of these names is in the signature, those of their position. An integer that the
    kernel returns is a status, unless it is a result of the signature: other than 0, or
    ``success=``, it is raised as a RuntimeError, or as ``errors=`` and ``errno=`` say.

    Args:
        source: what the compiler emitted.
        signature: what the function accepts, or its text (:meth:`~ffi_builder.spec.Signature.parse`
            reads it). A list of them makes a function of each: ``errors``, ``success``, ``errno``,
            ``free`` and each entry of a dict in ``args`` then go to the functions that they fit,
            and ``sanitize`` to those with tensors.
        device: the device type of tensors of a text that have none; "cuda" for a launch.
        function: the symbol of the kernel; left out, that of the prototype, or the signature's
            name. It goes with one signature, as a list in ``args=`` does.
        prototype: the kernel's declaration in C, or the path of a header that has it. Beside a
            ``VariantsCallProvider``, the declarations of the functions of all variants.
        include: folders of the headers that the prototype includes.
        args: what the kernel gets, in order, as for the providers. Beside a prototype with names,
            and for kernels of Triton and FlyDSL, also a dict with those parameters that the
            signature does not name, such as ``{"ctx": None}``. ``"float32(a)"`` is ``a`` as another
            dtype, ``"&n"`` the address of a copy of ``n``, and ``"&n -> size"`` one that the kernel
            overwrites with the result ``size``. A dict in it is a struct, with an entry for each
            field.
        errors: a dict of an error for certain statuses, such as
            ``{22: ("ValueError", "the order is negative")}``, or one error for all. A prototype may
            give statuses names, such as ``"Z_BUF_ERROR"``, here and in the next, and ``...`` is all
            others. An error is a class, ``"ValueError"``; the name of a function of the library
            that says the text of a status, or of its last error, ``"zError"``; or both, with words
            that may have ``{zError(status)}`` or ``{last_error()}``. A class or words that it lacks
            are those of ``...``. None raises the TVM-FFI error that the kernel has set.
        success: the status that is no error, such as 1 in OpenSSL, or several in a list; left out,
            it is 0. It holds for destroyers, too.
        errno: whether the kernel sets ``errno``. A status that is no success, or a result of -1 or
            NULL, is then an OSError, such as a FileNotFoundError.
        free: the function that frees the text which the kernel returns as a ``char *``, such as
            ``"sqlite3_free"``. Left out, nobody frees it.
        destroy: the function that destroys the handle which a result is; for several, a dict by the
            names of the results. Callers in Python get an object with ``close()``.
        provider: a class of :mod:`ffi_builder.providers` that is made with the symbol and ``args``,
            or a provider.
        launch: how a kernel image is launched: a :class:`~ffi_builder.Launch` for CUDA's, and what
            its add-on says for another device's.
        owner: the object that frees the code at an int when it is dropped; None for code that
            stays. Functions keep it alive.
        release_gil: whether other threads of Python may run during the call. False for a kernel
            that uses Python: the wrapper takes the GIL, and what the kernel raises is the error of
            the call. Left out, it is False for capsules and functions of a ``PyDLL``, and True for
            all others.
        pipeline: MLIR passes; left out, those for linalg, affine, scf, memref and func where the
            module has a ``func.func``. Tensors become memrefs, and tensors that it returns its last
            arguments, which must have the sizes that the function makes.
        link: more LLVM IR, objects and paths of these, as for :func:`~ffi_builder.runtime.compile`,
            like the next.
        sanitize: check what the kernel does to its tensors: see :class:`~ffi_builder.Sanitize`.
        opt_level: 0 to 3.
        cache_dir: a folder for compiled code.

    Raises:
        TypeError: a source of another kind, an option that does not go with it, or an int or a
            ``c_void_p`` without ``owner=``.
        SpecError: the signature is none, or an image cannot be read or launched so.
        BuildError: the kernel takes other arguments; nothing says which it takes.
        CompileError: the source is damaged, for another machine, or has no such function; the
            prototype is not read.
        LinkError: a symbol is missing, or defined twice.
        OSError: a file cannot be read.

    Examples:
        C's ``hypot`` by its address:

        >>> import ctypes
        >>> import ffi_builder
        >>> hypot = ffi_builder.wrap(
        ...     ctypes.CDLL("libm.so.6").hypot,
        ...     "hypot(x: float64, y: float64) -> r: float64",
        ...     prototype="double hypot(double x, double y)",
        ... )
        >>> hypot["hypot"](3.0, 4.0)
        5.0
    """
    options = Options(
        device=device,
        function=function,
        prototype=prototype,
        include=include,
        args=args,
        errors=errors,
        success=success,
        errno=errno,
        free=free,
        destroy=destroy,
        provider=provider,
        launch=launch,
        owner=owner,
        release_gil=release_gil,
        pipeline=pipeline,
        link=link,
        sanitize=sanitize,
    )
    given: Any = signature if isinstance(signature, (list, tuple)) else [signature]
    if not all(isinstance(each, (str, spec.Signature)) for each in given):
        given = [signature]  # no list of signatures, as its error says
    wrapped = prepare(source, given, options)
    compiled = runtime.compile(**wrapped.arguments, opt_level=opt_level, cache_dir=cache_dir)
    compiled.report = wrapped.report
    return compiled
