"""Which MLIR Python distribution a module comes from, and the little that differs between them.

The wrapper is built with the bindings of the module it goes into: ``torch_mlir``,
``jaxlib.mlir``, ``iree.compiler``, ``mlir``, or any other package of the same upstream bindings.
Which ones are tried, and what each can do, is in docs/distributions.md.
"""

from __future__ import annotations

import importlib
import sys
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from ffi_builder.errors import BuildError
from ffi_builder.ir.protocols import Module
from ffi_builder.suggest import did_you_mean

_MARK: Final = "._mlir_libs"
"""Upstream's native bindings live in this subpackage of every distribution."""

PIP_NAMES: Final = {
    "torch_mlir": "torch-mlir",
    "jaxlib.mlir": "jaxlib",
    "iree.compiler": "iree-base-compiler",
    "flydsl._mlir": "flydsl",
    "cutlass._mlir": "nvidia-cutlass-dsl",
}
"""Distributions that pip can install, and what it calls them."""

_REGISTERING: Final = ("_jax_mlir_ext", "register_jax_dialects")
"""Native modules that register jaxlib's dialects: of today, and of jaxlib 0.6."""

_CLASSES: Final = (
    *("ArrayAttr", "Attribute", "Context", "DenseI32ArrayAttr", "DenseI64ArrayAttr"),
    *("FlatSymbolRefAttr", "InsertionPoint", "IntegerAttr", "Location", "Module", "Operation"),
    *("StringAttr", "SymbolTable", "Type", "TypeAttr"),
)
"""What is used of ``ir``. Operations are made by name: no class of an operation, and no enum."""

OPERATIONS: Final = tuple(
    f"llvm.{name}"
    for name in (
        *("add", "alloca", "and", "ashr", "bitcast", "br", "call", "cmpxchg", "cond_br"),
        *("extractvalue", "fcmp", "fpext", "fptrunc", "func", "getelementptr", "icmp"),
        *("insertvalue", "inttoptr", "load", "lshr", "mul", "or", "ptrtoint", "return", "sdiv"),
        *("select", "sext", "shl", "sitofp", "srem", "store", "sub", "switch", "trunc", "udiv"),
        *("urem", "xor", "zext", "intr.memcpy", "intr.memset"),
        *(f"intr.{name}.with.overflow" for name in ("sadd", "smul", "ssub", "umul")),
        *("mlir.addressof", "mlir.constant", "mlir.global", "mlir.global_dtors", "mlir.undef"),
        "mlir.zero",
    )
)
"""The operations that wrappers are made of."""

_ATTRIBUTES: Final = (
    *("#llvm.linkage<external>", "#llvm.linkage<internal>"),
    *("#llvm.cconv<ccc>", "#llvm.cconv<preserve_mostcc>"),
)
"""Their attributes that are enums: by text, since bindings do not take objects of their enums."""

_INSTEAD: Final = (
    "take the module over to one that has it: "
    "torch_mlir.ir.Module.parse(module.operation.get_asm(print_generic_op_form=True))"
)


@dataclass(frozen=True)
class Distribution:
    """The Python modules of one distribution; ``root`` is its package, such as ``jaxlib.mlir``."""

    root: str
    ir: Any

    def load_llvm(self, context: Any) -> None:
        """Load the LLVM dialect into a context that may not have it yet.

        Raises:
            BuildError: if the distribution has no LLVM dialect, or one without something that
                wrappers are made of.
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
        """What jaxlib leaves to its users: to register its dialects with a context."""
        for name in _REGISTERING:
            try:
                extension = importlib.import_module(f"{self.root}{_MARK}.{name}")
            except ImportError:
                continue
            registry = self.ir.DialectRegistry()
            extension.register_dialects(registry)
            context.append_dialect_registry(registry)
            context.load_all_available_dialects()
            return True
        return False

    def _check_dialect(self, context: Any) -> None:
        """That of another version of LLVM may lack something: say so here, and not half-way."""
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
"""The roots of distributions whose LLVM dialect has been looked at."""


def _load(context: Any) -> bool:
    try:
        context.dialects["llvm"]
    except Exception:  # IndexError, or what the version at hand raises
        return False
    return True


def of_module(module: Module) -> Distribution:
    """The distribution whose ``ir.Module`` this is.

    Raises:
        BuildError: if it is not a module of upstream's MLIR bindings, or of bindings that lack
            something that wrappers need.
    """
    kind = type(module)
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
    if _MARK in f"{type(getattr(module, 'operation', None)).__module__}{kind.__module__}":
        raise BuildError(f"{expected}: pass the ir.Module, not an operation or a part of it")
    raise BuildError(
        f"{expected}, which has no {_MARK[1:]!r}, where upstream's bindings have their native "
        f"part; if it prints MLIR, parse that: torch_mlir.ir.Module.parse(str(module))"
    )


@cache
def named(root: str) -> Distribution:
    """The distribution whose package is ``root``, such as ``torch_mlir``.

    Raises:
        BuildError: if it cannot be imported, or lacks something that wrappers need.
    """
    bindings = _imported(root, "ir")
    # Registers the classes of the dialect's operations with the bindings, for users' sake too.
    _imported(root, "dialects.llvm")
    missing = [name for name in _CLASSES if not hasattr(bindings, name)]
    if missing:
        raise _lacking(root, f"in {root}.ir {', '.join(missing)}")
    return Distribution(root, bindings)


def _imported(root: str, part: str) -> Any:
    try:
        return importlib.import_module(f"{root}.{part}")
    except ModuleNotFoundError as error:
        there = sys.modules.get(root) is not None
        meant = _meant(root, there)
        if there and not meant:
            raise _lacking(root, f"{root}.{part} ({error})") from error
        words = f"there is no MLIR distribution {root!r} ({error})"
        raise BuildError(words + (meant or f": {_how_to_install(root)}")) from error
    except ImportError as error:
        # Two that have libraries of the same name, but for another version, end like this.
        loaded = {name.partition(_MARK)[0] for name in sys.modules if _MARK in name} - {root}
        others = f"; it may not get along with {', '.join(sorted(loaded))} in one process"
        raise BuildError(
            f"the MLIR distribution {_shown(root)} does not import: {error}"
            f"{others if loaded else ''}"
        ) from error


def _meant(root: str, there: bool) -> str:
    """``", did you mean 'jaxlib.mlir'?"`` for ``jaxlib``, or for what pip calls a distribution."""
    if root in PIP_NAMES:
        return ""
    for known, pip in PIP_NAMES.items():
        if root == pip or known.startswith(f"{root}."):
            return f", did you mean {known!r}?"
    return "" if there else did_you_mean(root, PIP_NAMES)


def _how_to_install(root: str) -> str:
    if root not in PIP_NAMES:
        return "install it, or name another one, such as 'torch_mlir'"
    extra = ", or its tried version: pip install 'ffi_builder[mlir]'"
    return f"pip install {PIP_NAMES[root]}{extra if root == 'torch_mlir' else ''}"


def _lacking(root: str, what: str) -> BuildError:
    return BuildError(
        f"the MLIR distribution {_shown(root)} lacks a part that wrappers need: {what}; {_INSTEAD}"
    )


def _shown(root: str) -> str:
    """The package, and where it was found, if it was."""
    path = next(iter(getattr(sys.modules.get(root), "__path__", ())), None)
    return repr(root) if path is None else f"{root!r} (of {path})"
