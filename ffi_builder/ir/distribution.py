"""MLIR Python distributions: which one a module comes from, and the few differences.

A wrapper is built with the bindings of its module: ``torch_mlir``, ``jaxlib.mlir``,
``iree.compiler``, ``mlir``, or any other package of the upstream bindings. docs/systems.md
lists the tested ones and what works with each.
"""

from __future__ import annotations

import io
import sys
from functools import cache
from typing import Any, Final

from ffi_builder import addons, importing
from ffi_builder.errors import BuildError
from ffi_builder.ir.protocols import Module
from ffi_builder.records import dataclass
from ffi_builder.suggest import did_you_mean, install

_MARK: Final = "._mlir_libs"
"""The subpackage of the native bindings in every distribution."""

PIP_NAMES: Final = {
    "torch_mlir": "torch-mlir",
    "jaxlib.mlir": "jaxlib",
    "iree.compiler": "iree-base-compiler",
    "flydsl._mlir": "flydsl",
    "cutlass._mlir": "nvidia-cutlass-dsl",
}
"""Distributions that pip can install, with their names in pip."""

_REGISTERING: Final = ("_jax_mlir_ext", "register_jax_dialects")
"""Native modules that register jaxlib's dialects: of current versions, and of jaxlib 0.6."""

_CLASSES: Final = (
    *("ArrayAttr", "Attribute", "Context", "DenseI32ArrayAttr", "DenseI64ArrayAttr"),
    *("FlatSymbolRefAttr", "InsertionPoint", "IntegerAttr", "Location", "Module", "Operation"),
    *("StringAttr", "SymbolTable", "Type", "TypeAttr"),
)
"""The classes of ``ir`` that this package uses. Operations are made by name, without the classes
and enums of dialects."""

OPERATIONS: Final = tuple(
    f"llvm.{name}"
    for name in (
        *("add", "alloca", "and", "ashr", "bitcast", "br", "call", "cmpxchg", "cond_br"),
        *("extractvalue", "fcmp", "fpext", "fptrunc", "func", "getelementptr", "icmp"),
        *("insertvalue", "inttoptr", "load", "lshr", "mul", "or", "ptrtoint", "return", "sdiv"),
        *("select", "sext", "shl", "sitofp", "srem", "store", "sub", "switch", "trunc", "udiv"),
        *("uitofp", "urem", "xor", "zext", "intr.memcpy", "intr.memset"),
        *(f"intr.{name}.with.overflow" for name in ("sadd", "smul", "ssub", "umul")),
        *("mlir.addressof", "mlir.constant", "mlir.global", "mlir.global_dtors", "mlir.undef"),
        "mlir.zero",
    )
)
"""The operations in wrappers.

Examples:
    >>> from ffi_builder.ir.distribution import OPERATIONS
    >>> "llvm.getelementptr" in OPERATIONS
    True
"""

_ATTRIBUTES: Final = (
    *("#llvm.linkage<external>", "#llvm.linkage<internal>"),
    *("#llvm.cconv<ccc>", "#llvm.cconv<preserve_mostcc>"),
)
"""The enum attributes in wrappers. They are parsed, as the bindings do not accept enum objects."""

_INSTEAD: Final = (
    "take the module over to one that has it: "
    "torch_mlir.ir.Module.parse(module.operation.get_asm(print_generic_op_form=True))"
)


@dataclass(frozen=True)
class Distribution:
    """A distribution: the name of its package, such as ``jaxlib.mlir``, and its ``ir`` module.

    Examples:
        >>> from torch_mlir import ir as mlir
        >>> from ffi_builder.ir.distribution import named
        >>> distribution = named("torch_mlir")
        >>> distribution.ir is mlir
        True
    """

    root: str
    ir: Any

    @property
    def is_plain(self) -> bool:
        """Whether its modules are plain Python, with one context for all."""
        return self.root in addons.places("bindings").values()

    def load_llvm(self, context: Any) -> None:
        """Load the LLVM dialect into a context.

        Raises:
            BuildError: the distribution has no LLVM dialect, or one that lacks an operation or
                attribute that wrappers need.
        """
        if hasattr(context, "is_dialect_loaded") and context.is_dialect_loaded("llvm"):
            loaded = True
        else:
            loaded = _load(context)
        if not loaded and not (self._register(context) and _load(context)):
            raise BuildError(
                f"the MLIR distribution {_shown(self.root)} has no LLVM dialect to build a wrapper "
                f"in: none is registered with the module's context; {_INSTEAD}"
            )
        if self.root not in _complete:
            self._check_dialect(context)
            _complete.add(self.root)

    def _register(self, context: Any) -> bool:
        """Register jaxlib's dialects with a context; jaxlib leaves this to its users."""
        for name in _REGISTERING:
            try:
                extension = importing.load(f"{self.root}{_MARK}.{name}")
            except ImportError:
                continue
            registry = self.ir.DialectRegistry()
            extension.register_dialects(registry)
            context.append_dialect_registry(registry)
            context.load_all_available_dialects()
            return True
        return False

    def _check_dialect(self, context: Any) -> None:
        """Check the dialect early: other LLVM versions may lack an operation or attribute."""
        missing: list[str] = []
        if hasattr(context, "is_registered_operation"):
            known = context.is_registered_operation
            missing += [name for name in OPERATIONS if not known(name)]
        missing += [text for text in _ATTRIBUTES if not self._parses(text, context)]
        if missing:
            raise _lacking(self.root, f"in its LLVM dialect {', '.join(missing)}")

    def _parses(self, attribute: str, context: Any) -> bool:
        try:
            self.ir.Attribute.parse(attribute, context)
        except Exception:  # MLIRError, which old bindings do not have
            return False
        return True


_complete: Final[set[str]] = set()
"""The distributions whose LLVM dialect has been checked."""


def _load(context: Any) -> bool:
    try:
        context.dialects["llvm"]
    except Exception:  # IndexError, or another exception in other versions
        return False
    return True


def of_module(module: Module) -> Distribution:
    """Return the distribution of an ``ir.Module``.

    Raises:
        BuildError: the object is not a module of the upstream MLIR bindings, or the bindings lack
            something that wrappers need.

    Examples:
        >>> from torch_mlir import ir as mlir
        >>> from ffi_builder.ir.distribution import of_module
        >>> of_module(mlir.Module.parse("", mlir.Context())).root
        'torch_mlir'
    """
    kind = type(module)
    plain = _plain_root(module)
    if plain is not None and hasattr(module, "body"):
        return Distribution(plain, importing.load(plain))
    root, mark, _ = kind.__module__.partition(_MARK)
    if mark and hasattr(module, "body") and hasattr(module, "context"):
        return named(root)
    if isinstance(module, str):
        raise BuildError(
            "expected an ir.Module but got text: parse it, as torch_mlir.ir.Module.parse(text, "
            "context) does, or attach in a hook of runtime.compile, which takes text"
        )
    expected = (
        "expected an ir.Module of an MLIR Python distribution (torch_mlir, jaxlib.mlir, "
        f"iree.compiler, mlir, …) but got {kind.__name__} from {kind.__module__!r}"
    )
    if is_plain(module):
        raise BuildError(f"{expected}: pass the ir.PlainModule, not a part of it")
    if _MARK in f"{type(getattr(module, 'operation', None)).__module__}{kind.__module__}":
        raise BuildError(f"{expected}: pass the ir.Module, not an operation or a part of it")
    raise BuildError(
        f"{expected}, which has no {_MARK[1:]!r}, where upstream's bindings have their native "
        f"part; if it prints MLIR, parse that: torch_mlir.ir.Module.parse(str(module))"
    )


def root_of(bound: object) -> str | None:
    """Return the root package of an object of MLIR's bindings; None for any other object.

    Examples:
        >>> from torch_mlir import ir as mlir
        >>> from ffi_builder.ir.distribution import root_of
        >>> root_of(mlir.Context()), root_of("module {}")
        ('torch_mlir', None)
    """
    root, mark, _ = type(bound).__module__.partition(_MARK)
    return root if mark else None


@cache
def named(root: str) -> Distribution:
    """Return the distribution whose package is ``root``, such as ``torch_mlir``.

    Raises:
        BuildError: the package cannot be imported, or lacks something that wrappers need.

    Examples:
        >>> from ffi_builder.ir.distribution import named
        >>> named("torch_mlir").root
        'torch_mlir'
        >>> named("torch-mlir")
        Traceback (most recent call last):
        ...
        ffi_builder.errors.BuildError: there is no MLIR distribution 'torch-mlir' (No module
            named 'torch-mlir'), did you mean 'torch_mlir'?
    """
    bindings = _imported(root, "ir")
    # Importing the dialect registers the classes of its operations, which users expect too.
    _imported(root, "dialects.llvm")
    missing = [name for name in _CLASSES if not hasattr(bindings, name)]
    if missing:
        raise _lacking(root, f"in {root}.ir {', '.join(missing)}")
    return Distribution(root, bindings)


def _imported(root: str, part: str) -> Any:
    try:
        return importing.load(f"{root}.{part}")
    except ModuleNotFoundError as error:
        there = sys.modules.get(root) is not None
        meant = _meant(root, there)
        if there and not meant:
            raise _lacking(root, f"{root}.{part} ({error})") from error
        words = f"there is no MLIR distribution {root!r} ({error})"
        raise BuildError(words + (meant or f": {_how_to_install(root)}")) from error
    except ImportError as error:
        # Two distributions with different versions of a library of the same name fail like this.
        loaded = {name.partition(_MARK)[0] for name in sys.modules if _MARK in name} - {root}
        others = f"; it may be incompatible with {', '.join(sorted(loaded))} in one process"
        raise BuildError(
            f"the MLIR distribution {_shown(root)} cannot be imported: {error}"
            f"{others if loaded else ''}"
        ) from error


def _meant(root: str, there: bool) -> str:
    """Return ``", did you mean 'jaxlib.mlir'?"`` for ``jaxlib`` or a distribution's name in pip."""
    if root in PIP_NAMES:
        return ""
    for known, pip in PIP_NAMES.items():
        if root == pip or known.startswith(f"{root}."):
            return f", did you mean {known!r}?"
    return "" if there else did_you_mean(root, PIP_NAMES)


def _how_to_install(root: str) -> str:
    if root not in PIP_NAMES:
        return "install it, or name another one, such as 'torch_mlir'"
    return install("mlir") if root == "torch_mlir" else f"pip install {PIP_NAMES[root]}"


def _lacking(root: str, what: str) -> BuildError:
    return BuildError(
        f"the MLIR distribution {_shown(root)} lacks a part that wrappers need: {what}; {_INSTEAD}"
    )


def _shown(root: str) -> str:
    """Return the name of the package, with its path if it was imported."""
    path = next(iter(getattr(sys.modules.get(root), "__path__", ())), None)
    return repr(root) if path is None else f"{root!r} (of {path})"


def stored(module: Any) -> Any:
    """Return a module as what ``ir.Module.parse`` of its distribution reads quickly.

    It is bytecode, which MLIR reads in a third of the time of building the module. The module must
    verify: MLIR ends the process on an invalid one.

    Examples:
        >>> from torch_mlir import ir as mlir
        >>> from ffi_builder.ir.distribution import stored
        >>> data = stored(mlir.Module.parse("llvm.func @relu(!llvm.ptr)", mlir.Context()))
        >>> print(mlir.Module.parse(data, mlir.Context()))
        module {
          llvm.func @relu(!llvm.ptr)
        }
    """
    if is_plain(module):
        return module  # parsing copies it
    buffer = io.BytesIO()
    module.operation.write_bytecode(buffer)
    return buffer.getvalue()


def is_plain(built: object) -> bool:
    """Tell whether an object is a plain module, or a part of one.

    Examples:
        >>> from ffi_builder import ir
        >>> from ffi_builder.ir.distribution import is_plain
        >>> is_plain(ir.PlainModule())
        True
    """
    return _plain_root(built) is not None


def _plain_root(built: object) -> str | None:
    """Return the package of a plain module, or of a part of one; None for those of MLIR."""
    module = type(built).__module__
    roots = addons.places("bindings").values()
    return next((root for root in roots if module.startswith(f"{root}.")), None)
