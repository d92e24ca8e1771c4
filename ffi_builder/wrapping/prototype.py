"""Prototypes of C functions: the types that an object or an address lacks.

pycparser reads C, and `$CC -E` the directives of headers. Types are those of 64-bit Linux.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, cast

from ffi_builder import importing
from ffi_builder.errors import BuildError, CompileError
from ffi_builder.records import dataclass
from ffi_builder.suggest import did_you_mean

_POINTER: Final = "ptr"
HALIDE_BUFFER: Final = "struct halide_buffer_t"
DLTENSOR: Final = "DLTensor"
_INTS: Final = {"char": 8, "short": 16, "int": 32, "long": 64, "long long": 64}
_PLAIN: Final = {
    "void": None,
    "float": "float32",
    "double": "float64",
    "_Float16": "float16",
    "__bf16": "bfloat16",
    "_Bool": "bool",
    "bool": "bool",
    "size_t": "uint64",
    "ssize_t": "int64",
    "ptrdiff_t": "int64",
    "intptr_t": "int64",
    "uintptr_t": "uint64",
    "DLDataType": "int32",  # structs that are passed as an integer of their size
    "DLDevice": "int64",
    **{f"{sign}int{bits}_t": f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
    **{
        f"{sign}int_{kind}{bits}_t": f"{sign}int{64 if kind == 'fast' and bits > 8 else bits}"
        for sign in ("", "u")
        for kind in ("fast", "least")
        for bits in (8, 16, 32, 64)
    },  # as glibc defines them
}
"""The dtypes of types that are one word."""
_TYPES: Final = {
    "float32": "f32",
    "float64": "f64",
    "float16": "f16",
    "bfloat16": "bf16",
    "bool": "i1",
}
_COMPLEX: Final = {"float _Complex": "complex64", "double _Complex": "complex128"}
_KEYWORDS: Final = (
    *("char", "short", "int", "long"),
    *("const", "volatile", "restrict", "signed", "unsigned", "struct", "union", "enum", "static"),
    *("inline", "extern", "register", "typedef", "_Complex", "_Noreturn", "__restrict"),
)
_UNKNOWN: Final = (
    *("bool", "_Float16", "__bf16", "DLDataType", "DLDevice", DLTENSOR),
    *("_Float32", "_Float32x", "_Float64", "_Float64x", "_Float128", "__int128_t", "__uint128_t"),
)
"""Types of compilers that pycparser does not know. System headers mention them."""
# Words of GNU C in system headers that pycparser does not read, and none of which is about types.
_WITHOUT: Final = (
    *("-D__attribute__(x)=", "-D__extension__=", "-D__restrict=restrict", "-D__asm__(x)="),
    "-D__inline=",
    *("-D__inline__=", "-D__const=const", "-D__builtin_va_list=void*", "-D_Noreturn="),
    *("-D__restrict__=restrict", "-D__volatile__=volatile", "-D_Nonnull=", "-D_Nullable="),
)


@dataclass(frozen=True)
class CType:
    """The type of a parameter or result."""

    dtype: str | None
    """Of a number its dtype; of a pointer that of what it points to, None if nothing says it."""
    is_pointer: bool = False
    is_const: bool = False
    """Whether the function cannot write to what it points to."""
    opaque: str | None = None
    """What a pointer points to that has no dtype: a struct, another pointer, a function."""
    is_restrict: bool = False
    """Whether the function writes to memory that nothing else reaches, as ``restrict`` says."""
    align: int = 1
    """The bytes that the address is a multiple of, as ``align`` of LLVM IR says."""
    rank: int | None = None
    """The number of dimensions of a ``halide_buffer_t``, if it is known."""
    first: int = 0
    """The size of the array, 3 of ``float x[3][5]``: it has at least so many elements."""
    row: tuple[int | None, ...] = ()
    """The sizes of the arrays to which it points, ``(5,)`` of ``float x[][5]``; None: variable."""

    @property
    def llvm(self) -> str:
        """The type, as in MLIR's LLVM dialect."""
        if self.is_pointer:
            return _POINTER
        assert self.dtype is not None, "functions have no parameters of type void"
        return llvm_type(self.dtype)

    @property
    def to(self) -> str | None:
        """What a pointer points to; None if nothing says it."""
        return self.opaque or self.dtype

    def __str__(self) -> str:
        if not self.is_pointer:
            return f"{self.dtype}"
        rows = "".join(f"{'n' if size is None else size} x " for size in self.row)
        to = f" to {rows}{self.to}" if self.to else ""
        if self.opaque == HALIDE_BUFFER and self.dtype:
            to += f" of rank {self.rank} and {self.dtype}"
        return f"a {'const ' if self.is_const else ''}pointer{to}"


def llvm_type(dtype: str) -> str:
    """Return the type of a number in MLIR's LLVM dialect."""
    return _TYPES.get(dtype) or f"i{dtype.lstrip('uint')}"


@dataclass(frozen=True)
class Prototype:
    """The parameters of a function by name, where they have one, and its result."""

    name: str
    params: tuple[tuple[str, CType], ...]
    result: CType | None

    def declaration(self) -> tuple[str, str, list[str]]:
        """Return what :meth:`~ffi_builder.ir.PlainModule.declare` takes."""
        result = "void" if self.result is None else self.result.llvm
        return self.name, result, [type_.llvm for _, type_ in self.params]


def read(given: str | os.PathLike[str], function: str | None, default: str) -> Prototype:
    """Read a prototype, or find it in a header.

    Args:
        given: ``"int gemv(int64_t m, const float *A)"``, or the path of a header.
        function: its name; None for the only function that is declared, or ``default``. The only
            function also stands for a name that is no identifier of C, such as ``f.1``.
        default: the name of the signature.

    Raises:
        CompileError: C that pycparser does not read, with its line; no such function, or several;
            a parameter or result of a type that is neither a number nor a pointer.
        OSError: the header cannot be read, or there is no C compiler.
    """
    if not isinstance(given, (str, os.PathLike)):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"wrap: prototype= is C as text or the path of a header, but got {given!r}")
    is_path = not isinstance(given, str) or re.fullmatch(r"[^\n()]+\.(h|hh|hpp|i)", given)
    if is_path:
        text = _preprocessed(Path(given))
    elif "#" in str(given):
        text = _preprocessed(str(given))
    else:
        text = f'# 1 "prototype"\n{_plain_c(str(given))}'
    if not is_path and not re.search(r"[;}]\s*$", text):
        text += ";"
    typedefs: dict[str, Any] = {}
    functions: dict[str, Any] = {}
    twice: set[str] = set()
    for node in _parse(text, header=Path(given) if is_path else None):
        kind = type(node).__name__
        if kind == "Typedef":
            typedefs[node.name] = node.type
        declared = node.decl if kind == "FuncDef" else node
        if type(getattr(declared, "type", None)).__name__ == "FuncDecl":
            earlier = functions.setdefault(declared.name, declared.type)
            if earlier is not declared.type and _differ(earlier, declared.type, typedefs):
                twice.add(declared.name)
    where = str(given) if is_path else "the prototype"
    symbol = function
    if len(functions) == 1 and (function is None or not function.isidentifier()):
        [function] = functions  # C cannot declare a symbol such as `f.1`, but something like it
    function = function or default
    if function not in functions:
        meant = did_you_mean(function, functions) or "; say which with function="
        raise CompileError(
            f"{where} declares no function {function!r}; it has "
            f"{', '.join(list(functions)[:8]) or 'none'}{meant}"
        )
    if function in twice:
        raise CompileError(f"{where} declares {function!r} twice, with different types")
    return _prototype(symbol or function, functions[function], typedefs)


def _differ(first: Any, second: Any, typedefs: Mapping[str, Any]) -> bool:
    """Return whether two declarations have other types; one that is not read has none."""
    try:
        found = [_prototype("", each, typedefs) for each in (first, second)]
    except CompileError:
        return False
    types = [([type_ for _, type_ in each.params], each.result) for each in found]
    return types[0] != types[1]


def _plain_c(text: str) -> str:
    """Leave out what C++ and GNU C add to a declaration and what says nothing of its types."""
    text = re.sub(r"\bcomplex\b", "_Complex", re.sub(r"\b__restrict(?:__)?\b", "restrict", text))
    return re.sub(
        r'extern\s*"C"|\bstd::|\bnoexcept\b|__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)',
        " ",
        text,
    )


def _preprocessed(source: Path | str) -> str:
    """Return a header, or text with directives, after the preprocessor."""
    include_paths = importing.load("tvm_ffi.libinfo").include_paths
    compiler = os.environ.get("CC", "cc").split()
    path = source if isinstance(source, Path) else Path("-")
    if path is source and not path.exists():
        raise CompileError(f"prototype=: there is no header {path}")
    try:
        include = [f"-I{each}" for each in include_paths()]  # of tvm-ffi and DLPack
        done = subprocess.run(
            [*compiler, "-E", "-x", "c", *_WITHOUT, *include, str(path)],
            input=None if path is source else f'# 1 "prototype"\n{source}\n',
            capture_output=True,
            text=True,
            errors="replace",
        )
    except FileNotFoundError:
        raise CompileError(
            "prototype=: headers and directives need a C compiler ($CC, or cc); or give the "
            "declaration alone, as text"
        ) from None
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"{compiler[0]} -E fails"]
        errors = [line for line in lines if "error" in line]
        where = f"{path}: " if path is source else ""
        raise CompileError(f"prototype=: {where}{(errors or lines)[0]}{_if_cxx(path)}")
    return _without_bodies(done.stdout)


def _without_bodies(text: str) -> str:
    """Leave out what functions do: inline ones in headers of compilers are more than plain C."""
    kept, depth, body = list[str](), 0, False
    before = ""
    for token in re.findall(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|[{}]|[^{}"\']+', text):
        if token == "{":
            body = body or (depth == 0 and before.rstrip().endswith(")"))
            depth += 1
        if not body:
            kept.append(token)
            before = token
        if token == "}":
            depth -= 1
            if body and depth == 0:
                kept.append(";")
                body = False
    return "".join(kept)


def _if_cxx(path: Path | None) -> str:
    """Say what to do with a header of C++."""
    words = r'\b(namespace|template|class|using|extern\s*"C")|#\s*include\s*<\w+>'
    if (
        path is None
        or not path.is_file()
        or not re.search(words, path.read_text("utf-8", "replace"))
    ):
        return ""
    return "; it is C++: guard that by `#ifdef __cplusplus`, or give the declaration as text"


def _parse(text: str, *, header: Path | None) -> Sequence[Any]:
    try:
        c_parser = importing.load("pycparser.c_parser")
    except ModuleNotFoundError:
        raise CompileError(
            "prototype= needs pycparser: pip install 'ffi_builder[prototype]'"
        ) from None
    unknown = [name for name in _PLAIN if name.endswith("_t")]
    known = "".join(f"typedef int {name};" for name in [*unknown, *_UNKNOWN]) + "\n"
    try:
        return cast("Sequence[Any]", c_parser.CParser().parse(known + text).ext)
    except c_parser.ParseError as error:
        words = re.findall(r"\b([A-Za-z_]\w*)\s+(?=[*A-Za-z_])", text.partition("\n")[2])
        strange = dict.fromkeys(w for w in words if w not in {*_PLAIN, *_UNKNOWN, *_KEYWORDS})
        hint = f"; it has {', '.join(strange)}, which a header may declare"
        hint = hint if strange and header is None else _if_cxx(header)
        if "fn" in strange:
            hint = "; it is Rust: write the declaration in C, as cbindgen does"
        raise CompileError(f"prototype=: not read as C: {error}{hint}") from None


def _prototype(name: str, function: Any, typedefs: Mapping[str, Any]) -> Prototype:
    params: list[tuple[str, CType]] = []
    for index, node in enumerate(function.args.params if function.args else ()):
        kind = type(node).__name__
        if kind == "EllipsisParam":
            raise CompileError(f"{name}: a function with `...` cannot be called by a wrapper")
        what = f"{name}: parameter {node.name or f'#{index}'}" if kind != "ID" else name
        type_ = _type(what, node.type, typedefs)
        if type_ is not None:
            params.append((node.name or "", type_))
        elif len(function.args.params) > 1 or node.name:
            raise CompileError(f"{what} is void")
    return Prototype(name, tuple(params), _type(f"{name}: the result", function.type, typedefs))


def _type(what: str, node: Any, typedefs: Mapping[str, Any]) -> CType | None:
    """Return the type of a declaration; None for void."""
    match type(node).__name__:
        case "TypeDecl":
            return _named(what, node.type, typedefs)
        case "PtrDecl" | "ArrayDecl":
            is_const = "const" in getattr(_element(node.type), "quals", ())
            dtype, opaque = _pointee(node.type, typedefs)
            return CType(
                dtype,
                is_pointer=True,
                is_const=is_const,
                is_restrict="restrict" in getattr(node, "quals", ()) and not is_const,
                opaque=opaque,
                first=_size(node) or 0,
                row=_row(node.type),
            )
        case "FuncDecl":
            return CType(None, is_pointer=True, opaque="a function")
        case other:
            raise CompileError(f"{what} has a type that is not read: {other}")


def _element(node: Any) -> Any:
    """Return what arrays of arrays have as elements."""
    return _element(node.type) if type(node).__name__ == "ArrayDecl" else node


def _row(node: Any) -> tuple[int | None, ...]:
    """Return the sizes of an array type; none for another type."""
    if type(node).__name__ != "ArrayDecl":
        return ()
    return (_size(node), *_row(node.type))


def _size(node: Any) -> int | None:
    """Return the size of an array type, if it is written."""
    value = getattr(getattr(node, "dim", None), "value", "")
    size = re.fullmatch(r"(0[xX][\da-fA-F]+|\d+)[uUlL]*", value)
    return int(size[1], 0) if size else None


def _pointee(node: Any, typedefs: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Return the dtype that a pointer points to, or what else it points to; neither for void."""
    match type(node).__name__:
        case "PtrDecl":
            return None, "a pointer"
        case "FuncDecl":
            return None, "a function"
        case "ArrayDecl":
            return _pointee(node.type, typedefs)
        case "TypeDecl":
            return _pointee(node.type, typedefs)
        case "Struct" | "Union" as kind:
            return None, f"{kind.lower()} {node.name or '{…}'}"
        case "Enum":
            return "int32", None
        case _:
            words = " ".join(node.names)
            if words == DLTENSOR:
                return None, words
            if words in _COMPLEX:
                return _COMPLEX[words], None
            if words in typedefs and words not in _PLAIN:
                return _pointee(typedefs[words], typedefs)
            try:
                found = _named("", node, typedefs)
            except CompileError:
                return None, words
            return (None if found is None else found.dtype), None


def _named(what: str, node: Any, typedefs: Mapping[str, Any]) -> CType | None:
    kind = type(node).__name__
    if kind == "Enum":
        return CType("int32")
    if kind != "IdentifierType":
        raise CompileError(
            f"{what} is a {kind.lower()} that is passed by value, which providers cannot pass; "
            f"let a function in C take its address"
        )
    words = " ".join(node.names)
    if words in typedefs and words not in _PLAIN:
        return _type(what, typedefs[words], typedefs)
    if words == "void":
        return None
    dtype = number(node.names)
    if dtype is None:
        raise CompileError(f"{what} is a {words}, which no parameter of a signature is")
    return CType(dtype)


def number(words: Sequence[str]) -> str | None:
    """Return the dtype of a number of C by its words; None for another type."""
    if " ".join(words) in _PLAIN:
        return _PLAIN[" ".join(words)]
    kept = [word for word in words if word not in ("signed", "unsigned")]
    if len(kept) > 1 and kept[-1] == "int":
        kept.pop()
    bits = _INTS.get(" ".join(kept) or "int")
    return None if bits is None else f"{'u' if 'unsigned' in words else ''}int{bits}"


def bound_args(prototype: Prototype, names: Sequence[str]) -> list[str] | None:
    """Return the names of the parameters as ``args=``, if the signature has them.

    None if it has none of them: then the order counts.

    Raises:
        BuildError: the signature has some of the names and lacks others.
    """
    own = [name for name, _ in prototype.params]
    lacking = [name or "without a name" for name in own if name not in names]
    if len(lacking) == len(own):
        return None
    if lacking:
        raise BuildError(
            f"{prototype.name} has parameters that the signature lacks: {', '.join(lacking)}; "
            f"write args=[…] with an entry (None for NULL) for each of "
            f"{', '.join(n or '_' for n in own)}"
        )
    return own


_LLVM_DTYPES: Final = {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "bfloat": "bfloat16",
    "i1": "bool",
    **{f"i{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
}


def defined_in(text: str, function: str) -> Prototype:
    """Return the types with which LLVM IR defines a function.

    Raises:
        CompileError: it defines no such function, or one of other types than numbers and pointers.
    """
    quoted = re.escape(function)
    result = r"(<[^>]*>|\S+)"
    found = re.search(rf'^\s*define\b([^@\n]*?){result} @"?{quoted}"?\((.*)$', text, re.MULTILINE)
    if found is None:
        names = re.findall(r'^\s*define\b[^@\n]*@"?([^"(\s]+)', text, re.MULTILINE)
        meant = did_you_mean(function, names)
        raise CompileError(
            f"the LLVM IR defines no `{function}`; it has {', '.join(names[:8]) or 'none'}{meant}; "
            f"say which with function="
        )
    if re.search(r"\b(internal|private)\b", found[1]):
        raise CompileError(
            f"`{function}` is internal or private in the LLVM IR, so nothing else can call it: "
            f"make it external"
        )
    convention = re.search(r"\b(?!ccc\b)(\w+cc|cc \d+|spir_\w+|ptx_\w+)\b", found[1])
    if convention is not None:
        raise CompileError(
            f"`{function}` is {convention[1]}, which C does not call; give provider="
        )
    params: list[tuple[str, CType]] = []
    for param in _split(found[3]):
        vector = re.match(r"<[^>]*>", param)
        first, *rest = [vector[0]] if vector else param.split()
        if re.search(r"\b(byval|byref|inalloca|sret)\b", param):
            raise CompileError(f"`{function}` takes `{param}`, a struct by value; give provider=")
        name = rest[-1][1:].strip('"') if rest and rest[-1].startswith("%") else ""
        type_ = _of_llvm(function, first)
        if type_.is_pointer:
            align = re.search(r"\balign[ (](\d+)", param)
            is_restrict = "noalias" in rest and not {"readonly", "readnone"} & {*rest}
            type_ = replace(type_, is_restrict=is_restrict, align=int(align[1]) if align else 1)
        params.append(("" if name.isdecimal() else name, type_))
    result = None if found[2] == "void" else _of_llvm(function, found[2])
    return Prototype(function, tuple(params), result)


def _split(text: str) -> list[str]:
    """Return the parameters before the bracket that ends them."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "([{<") - (letter in ")]}>")
        if depth < 0:
            break
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part for part in map(str.strip, parts) if part]


def _of_llvm(function: str, word: str) -> CType:
    if word == "ptr":
        return CType(None, is_pointer=True)
    if word.endswith("*"):
        raise CompileError(
            f"`{function}` takes `{word}`, but LLVM has had only opaque pointers since version 17: "
            f"let your compiler write `ptr`"
        )
    if word not in _LLVM_DTYPES:
        raise CompileError(f"`{function}` has a type that is not read: {word}; give provider=")
    return CType(_LLVM_DTYPES[word])
