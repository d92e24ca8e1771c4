"""Writes the Python modules of a wheel of kernels."""

from __future__ import annotations

import ast
import inspect
import keyword
from collections.abc import Iterator, Sequence
from importlib import resources

from ffi_builder.errors import BuildError
from ffi_builder.packaging.choices import FRAMEWORKS
from ffi_builder.packaging.project import Project
from ffi_builder.runtime.export.function_info import Described
from ffi_builder.runtime.export.stub import docstring
from ffi_builder.runtime.metadata import Info, python_names, python_signature


def modules(
    project: Project, functions: Sequence[Described], frameworks: Sequence[str], *, own: bool
) -> dict[str, str]:
    """Return the Python modules by their names.

    `own` says whether the wheel depends on `ffi_builder`.
    """
    for function in functions:
        _check_name(function)
    infos = [function.info for function in functions if function.info is not None]
    template = resources.files("ffi_builder.packaging.template")
    copied = {name: template.joinpath(name).read_text() for name in ("_load.py", "__main__.py")}
    head = (
        f'"""{project.summary or f"Kernels of {project.name}."}\n\nWritten by ffi_builder.\n"""\n'
    )
    lines = _through_ffi_builder(infos) if own else _through_tvm_ffi(infos)
    made = {"__init__.py": "\n".join([head, *_loading(project), *lines, ""])}
    writers = {"torch": _operators, "jax": _functions_of_jax}
    for framework in frameworks:
        made[f"{framework}.py"] = "\n".join([*writers[framework](project, infos), ""])
    return copied | made


def is_helper(function: Described) -> bool:
    """Return whether a function is part of another, such as `_cuda_preload_f`."""
    return function.info is None and function.name.startswith("_")


def _check_name(function: Described) -> None:
    name = function.name
    if function.info is None:
        raise BuildError(f"package: function {name!r} says nothing of its parameters")
    is_name = name.isidentifier() and not keyword.iskeyword(name) and not name.startswith("_")
    if not is_name or name in FRAMEWORKS:
        raise BuildError(
            f"package: function {name!r} cannot be an attribute of the package: give it another "
            f"name (rename_tvm_ffi_function)"
        )


def _loading(project: Project) -> Iterator[str]:
    yield "from . import _load"
    yield ""
    yield f'_load.check_versions("{project.name}")'
    yield ""


def _through_ffi_builder(infos: Sequence[Info]) -> Iterator[str]:
    yield "from ffi_builder import runtime"
    yield ""
    yield f"__all__ = {[info.name for info in infos]!r}"
    yield ""
    if any(info.allocates for info in infos):
        yield "runtime.install_allocator(every_thread=True)  # some functions make tensors"
    yield "_library = runtime.load(_load.library())"
    for info in infos:
        yield f'{info.name} = _library.callable("{info.name}")'


def _through_tvm_ffi(infos: Sequence[Info]) -> Iterator[str]:
    """Write functions that pass all arguments by position, as functions of tvm-ffi take them."""
    yield "from tvm_ffi import load_module"
    yield ""
    yield f"__all__ = {[info.name for info in infos]!r}"
    yield ""
    yield "_library = load_module(str(_load.library()))"
    names = {info.name for info in infos} | {"_library", "_load"}
    for info in infos:
        own = f"_{info.name}"
        while own in names:
            own += "_"
        names.add(own)
        yield f'{own} = _library["{info.name}"]'
        yield from ("", "", f"def {info.name}({', '.join(_parameters(info))}):")
        yield f"    {docstring(info.documentation)}"
        yield f"    return {own}({', '.join(python_names(info))})"
        yield ""


def _parameters(info: Info) -> Iterator[str]:
    by_position = True
    for param in python_signature(info).parameters.values():
        if by_position and param.kind is param.KEYWORD_ONLY:
            by_position = False
            yield "*"
        yield (
            param.name if param.default is param.empty else f"{param.name}={_default(info, param)}"
        )


def _default(info: Info, param: inspect.Parameter) -> str:
    shown = repr(param.default)
    try:
        ast.literal_eval(shown)
    except (ValueError, SyntaxError):
        raise BuildError(
            f"package: function {info.name!r}: {param.name}: its default {shown} cannot be "
            f"written for tvm-ffi alone: add `ffi_builder` to the project's dependencies"
        ) from None
    return shown


def _operators(project: Project, infos: Sequence[Info]) -> Iterator[str]:
    yield f'"""Operators of PyTorch, {project.name}::…, which importing this registers."""'
    yield ""
    yield "from ffi_builder.frameworks.torch import operator"
    yield ""
    yield f"from {project.name} import _library"
    yield ""
    for info in infos:
        more = f', namespace="{project.name}", form="{_form(info)}"'
        yield f'{info.name} = operator(_library["{info.name}"]{more})'


def _form(info: Info) -> str:
    """Return the form of an operator: functional if its tensors are read or written, not both."""
    intents = {param.intent for param in info.parameters}
    return "functional" if "out" in intents and "inout" not in intents else "mutating"


def _functions_of_jax(project: Project, infos: Sequence[Info]) -> Iterator[str]:
    yield f'"""Functions of JAX, with the targets {project.name}.… in XLA."""'
    yield ""
    yield "from ffi_builder.frameworks.jax import function"
    yield ""
    yield f"from {project.name} import _library"
    yield ""
    for info in infos:
        target = f"{project.name}.{info.name}"
        yield f'{info.name} = function(_library["{info.name}"], target="{target}")'
