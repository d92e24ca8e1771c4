"""Writes the Python modules of a wheel of kernels."""

from __future__ import annotations

import ast
import keyword
from collections.abc import Iterator, Sequence
from importlib import resources

from ffi_builder import BuildError
from ffi_builder.packaging.choices import FRAMEWORKS
from ffi_builder.packaging.project import Project
from ffi_builder.runtime.extending import Described, Info, docstring


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
    summary = project.summary or f"Kernels of {project.name}."
    made = {"__init__.py": "\n".join([*_functions(project, infos, summary, own=own), ""])}
    for framework in frameworks:
        made[f"{framework}.py"] = "\n".join([*_for(framework, project, infos), ""])
    return copied | made


def _check_name(function: Described) -> None:
    name = function.name
    if function.info is None:
        raise BuildError(f"package: function {name!r} says nothing of its parameters")
    is_name = name.isidentifier() and not keyword.iskeyword(name) and not name.startswith("_")
    if not is_name or name in FRAMEWORKS:
        raise BuildError(
            f"package: function {name!r} cannot be a name in the package, as it is a module of "
            f"it, a keyword or private: give it another name in its signature"
        )


def _functions(
    project: Project, infos: Sequence[Info], summary: str, *, own: bool
) -> Iterator[str]:
    """Write functions of Python, which can be pickled, around those of the library."""
    yield from (docstring(f"{summary}\n\nWritten by ffi_builder.").replace("\n    ", "\n"), "")
    yield from ("from . import _load", "", f'_load.check_versions("{project.name}")', "")
    yield "from ffi_builder import runtime" if own else "from tvm_ffi import load_module"
    yield ""
    yield f"__all__ = {[info.name for info in infos]!r}"
    yield f"__version__ = {project.version!r}"
    yield ""
    if own and any(info.allocates for info in infos):
        yield "runtime.install_allocator(every_thread=True)  # some functions make tensors"
    path = "_load.library()"
    yield f"_library = {f'runtime.load({path})' if own else f'load_module(str({path}))'}"
    names = {"_library", "_load"}.union(*([info.name, *info.python_names] for info in infos))
    for info in infos:
        called = f"_library.callable({info.name!r})" if own else f"_library[{info.name!r}]"
        params = [*_parameters(info)]
        if None in params:
            if not own:
                raise BuildError(
                    f"package: function {info.name!r}: a default cannot be written as Python: add "
                    f"`ffi_builder` to the project's dependencies"
                )
            yield f"{info.name} = {called}"
            continue
        hidden = f"_{info.name}"
        while hidden in names:
            hidden += "_"
        names.add(hidden)
        yield from (f"{hidden} = {called}", "", "")
        yield f"def {info.name}({', '.join(filter(None, params))}):"
        yield f"    {docstring(info.documentation)}"
        yield f"    return {hidden}({', '.join(_passed(info, own=own))})"
        yield ""


def _passed(info: Info, *, own: bool) -> list[str]:
    """Return the arguments of the call. Functions of tvm-ffi take them by position alone."""
    pairs = list(zip(info.python_names, info.parameters, strict=True))
    if not own:
        return [name for name, _ in pairs]
    first = [name for name, param in pairs if not param.kw_only]
    return first + [f"{name}={name}" for name, param in pairs if param.kw_only]


def _parameters(info: Info) -> Iterator[str | None]:
    """Yield the parameters of Python; None for one whose default cannot be written."""
    by_position = True
    for param in info.python_signature.parameters.values():
        if by_position and param.kind is param.KEYWORD_ONLY:
            by_position = False
            yield "*"
        if param.default is param.empty:
            yield param.name
            continue
        try:
            ast.literal_eval(repr(param.default))
        except (ValueError, SyntaxError):
            yield None
        else:
            yield f"{param.name}={param.default!r}"


def _for(framework: str, project: Project, infos: Sequence[Info]) -> Iterator[str]:
    """Write the operators of PyTorch, or the functions of JAX."""
    name = project.name
    doc, maker = {
        "torch": (f"Operators of PyTorch, {name}::…, which importing this registers.", "operator"),
        "jax": (f"Functions of JAX, with the targets {name}.… in XLA.", "function"),
    }[framework]
    yield from (f'"""{doc}"""', "")
    yield from (f"from ffi_builder.frameworks.{framework} import {maker}", "")
    yield from (f"from {name} import _library", "")
    for info in infos:
        options = f'target="{name}.{info.name}"'
        if framework == "torch":
            options = f'namespace="{name}", form="{_form(info)}"'
        yield f'{info.name} = {maker}(_library["{info.name}"], {options})'


def _form(info: Info) -> str:
    """Return the form of an operator: functional if its tensors are read or written, not both."""
    intents = {param.intent for param in info.parameters}
    return "functional" if "out" in intents and "inout" not in intents else "mutating"
