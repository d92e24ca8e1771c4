"""Generates code between XLA and a function that takes or returns what XLA does not pass.

jax-tvm-ffi passes all operands, all results, then attributes. If the function takes them in another
order, needs None for an absent one, takes lists of them, or returns numbers, XLA calls this code::

    define i32 @__tvm_ffi_adapted(ptr %self, ptr %given, i32 %count, ptr %result) {
      %arguments = alloca [3 x [2 x i64]], align 8           ; a TVMFFIAny is 16 bytes
      %from0 = getelementptr [2 x i64], ptr %given, i64 1       ; what XLA passes second
      %value0 = load [2 x i64], ptr %from0, align 8
      %to0 = getelementptr [2 x i64], ptr %arguments, i64 0
      store [2 x i64] %value0, ptr %to0, align 8
      …
      %function = inttoptr i64 140…472 to ptr                   ; the tvm_ffi.Function
      %status = call i32 @TVMFFIFunctionCall(ptr %function, ptr %arguments, i32 3, ptr %returned)
      …
    }

Lists are made by tvm-ffi's function ``ffi.Array``. A number is written to the memory of a result of
XLA. Whatever the code owns is in a ``TVMFFIAny`` of its own, which is released at the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias, Union

from ffi_builder import CompileError, runtime
from ffi_builder.extending import FLOAT_DTYPES, abi, dataclass, importing, parse_dtype

if TYPE_CHECKING:
    import tvm_ffi

Source: TypeAlias = Union[int, tuple["Source", ...], None]
"""Where an argument comes from: its index among what XLA passes, None, or a list of sources."""


@dataclass(frozen=True)
class Number:
    """A number that the function returns."""

    place: int
    """The index of the result of XLA to which it is written."""
    name: str
    dtype: str

    @property
    def written(self) -> str:
        """The dtype as which it is written: LLVM may need a library for floats of 16 bits."""
        return "float32" if self.dtype in FLOAT_DTYPES and self.dtype != "float64" else self.dtype


@dataclass(frozen=True)
class Adapter:
    """What a function gets and returns."""

    sources: Sequence[Source]
    """Of each argument."""
    numbers: Sequence[Number] = ()
    several: bool = False
    """Whether the function returns its numbers in a list."""

    def adapted(self, function: tvm_ffi.Function) -> tvm_ffi.Function:
        """Return a function that takes what XLA passes, and calls this one; it, if that does.

        Raises:
            CompileError: the extra `jit` is not installed, for example.
        """
        if list(self.sources) == list(range(len(self.sources))) and not self.numbers:
            return function
        array = importing.load("tvm_ffi").get_global_func("ffi.Array")
        text = "\n".join(_Code(self, function.__chandle__(), array.__chandle__()).lines())
        try:
            # Objects are not cached on disk: these addresses are of no use to other processes.
            return runtime.compile(runtime.lower(text).object)[_NAME]
        except CompileError as error:
            raise CompileError(
                f"XLA passes operands, then outputs, then static values, and the function takes "
                f"them in another order or in lists, or returns numbers, so code between them is "
                f"compiled: {error}"
            ) from error


_NAME: Final = "adapted"
_ANY: Final = "[2 x i64]"
_DECLARED: Final = f"""
declare i32 @TVMFFIFunctionCall(ptr, ptr, i32, ptr)
declare i32 @TVMFFIObjectDecRef(ptr)
declare void @TVMFFIErrorSetRaisedFromCStr(ptr, ptr)
@kind = private constant [10 x i8] c"TypeError\\00"
define private void @release(ptr %any) {{
  %index = load i32, ptr %any, align 8
  %is_object = icmp sge i32 %index, {abi.FIRST_OBJECT}
  br i1 %is_object, label %object, label %end
object:
  %at = getelementptr i8, ptr %any, i64 {abi.ANY_PAYLOAD}
  %payload = load ptr, ptr %at, align 8
  %status = call i32 @TVMFFIObjectDecRef(ptr %payload)
  br label %end
end:
  ret void
}}
"""


class _Code:
    """The code of one adapter."""

    def __init__(self, adapter: Adapter, function: int, array: int) -> None:
        self._adapter, self._function, self._array = adapter, function, array
        self._names = 0
        self._owned = ["%returned"] if adapter.numbers else []
        """The ``TVMFFIAny``s to release."""
        self._lists: list[str] = []
        """The lines that reserve memory."""
        self._texts: list[str] = []

    def lines(self) -> Iterator[str]:
        sources = self._adapter.sources
        body = [*self._filled("%arguments", sources), *self._called(len(sources))]
        for at, number in enumerate(self._adapter.numbers):
            body += self._written(at, number)
        yield _DECLARED
        yield from self._texts
        parameters = "ptr %self, ptr %given, i32 %count, ptr %result"
        yield f"define i32 @{abi.PREFIX}{_NAME}({parameters}) {{"
        yield f"  %arguments = alloca [{max(len(sources), 1)} x {_ANY}], align 8"
        yield from self._lists
        for each in self._owned:
            yield f"  {each} = alloca {_ANY}, align 8"
            yield f"  store {_ANY} zeroinitializer, ptr {each}, align 8"
        yield "  %code = alloca i32"
        yield "  store i32 -1, ptr %code"
        yield from body
        yield "  store i32 0, ptr %code"
        yield "  br label %end"
        yield "end:"
        yield from (f"  call void @release(ptr {each})" for each in self._owned)
        yield "  %done = load i32, ptr %code"
        yield "  ret i32 %done"
        yield "}"

    def _name(self, what: str) -> str:
        self._names += 1
        return f"%{what}{self._names}"

    def _filled(self, target: str, sources: Sequence[Source]) -> Iterator[str]:
        """Yield the lines that write these values to an array of ``TVMFFIAny``s."""
        for at, source in enumerate(sources):
            value, to = self._name("value"), self._name("to")
            if source is None:
                value = "zeroinitializer"
            elif isinstance(source, tuple):
                items, made = self._name("items"), self._name("list")
                self._lists.append(f"  {items} = alloca [{max(len(source), 1)} x {_ANY}], align 8")
                self._owned.append(made)
                yield from self._filled(items, source)
                yield from self._call(self._array, items, len(source), made)
                yield f"  {value} = load {_ANY}, ptr {made}, align 8"
            else:
                start = self._name("from")
                yield f"  {start} = getelementptr {_ANY}, ptr %given, i64 {source}"
                yield f"  {value} = load {_ANY}, ptr {start}, align 8"
            yield f"  {to} = getelementptr {_ANY}, ptr {target}, i64 {at}"
            yield f"  store {_ANY} {value}, ptr {to}, align 8"

    def _called(self, count: int) -> Iterator[str]:
        returned = "%returned" if self._adapter.numbers else "%result"
        yield from self._call(self._function, "%arguments", count, returned)
        if self._adapter.several:
            yield from self._expect("%returned", [abi.TypeIndex.ARRAY], "a list of its results")
            yield f"  %at = getelementptr i8, ptr %returned, i64 {abi.ANY_PAYLOAD}"
            yield "  %array = load ptr, ptr %at, align 8"
            yield f"  %length = getelementptr i8, ptr %array, i64 {abi.CELL_SIZE}"
            yield "  %size = load i64, ptr %length, align 8"
            yield f"  %long = icmp eq i64 %size, {len(self._adapter.numbers)}"
            yield from self._unless("%long", [self._raising("as many results as it has")])
            yield f"  %data = getelementptr i8, ptr %array, i64 {abi.CELL_DATA}"
            yield "  %cells = load ptr, ptr %data, align 8"

    def _call(self, function: int, arguments: str, count: int, result: str) -> Iterator[str]:
        callee, status, ok = self._name("callee"), self._name("status"), self._name("ok")
        yield f"  {callee} = inttoptr i64 {function} to ptr"
        yield (
            f"  {status} = call i32 @TVMFFIFunctionCall(ptr {callee}, ptr {arguments}, "
            f"i32 {count}, ptr {result})"
        )
        yield f"  {ok} = icmp eq i32 {status}, 0"
        yield from self._unless(ok, [])

    def _unless(self, condition: str, otherwise: list[str]) -> Iterator[str]:
        """Yield the lines that go to the end, after others, unless a condition is true."""
        fine, wrong = self._name("fine")[1:], self._name("wrong")[1:]
        yield f"  br i1 {condition}, label %{fine}, label %{wrong}"
        yield f"{wrong}:"
        yield from otherwise
        yield "  br label %end"
        yield f"{fine}:"

    def _expect(self, cell: str, kinds: Sequence[int], expected: str) -> Iterator[str]:
        """Yield the lines that raise TypeError unless a ``TVMFFIAny`` is of one of these kinds."""
        index = self._name("index")
        yield f"  {index} = load i32, ptr {cell}, align 8"
        condition = self._name("kind")
        yield f"  {condition} = icmp eq i32 {index}, {kinds[0]}"
        for kind in kinds[1:]:
            also, either = self._name("kind"), self._name("kind")
            yield f"  {also} = icmp eq i32 {index}, {kind}"
            yield f"  {either} = or i1 {condition}, {also}"
            condition = either
        yield from self._unless(condition, [self._raising(expected)])

    def _raising(self, expected: str) -> str:
        words = f"expected that the function returns {expected}".encode() + b"\0"
        text = f"@text{len(self._texts)}"
        characters = "".join(f"\\{byte:02X}" for byte in words)
        self._texts.append(f'{text} = private constant [{len(words)} x i8] c"{characters}"')
        return f"  call void @TVMFFIErrorSetRaisedFromCStr(ptr @kind, ptr {text})"

    def _written(self, at: int, number: Number) -> Iterator[str]:
        """Yield the lines that write a number to a result of XLA."""
        cell, payload, value = self._name("cell"), self._name("payload"), self._name("value")
        start = "%cells" if self._adapter.several else "%returned"
        yield f"  {cell} = getelementptr {_ANY}, ptr {start}, i64 {at}"
        yield from self._expect(cell, _kinds(number.dtype), f"{number.name}: {number.dtype}")
        yield f"  {payload} = getelementptr i8, ptr {cell}, i64 {abi.ANY_PAYLOAD}"
        wide, narrow = _types(number.written)
        if number.dtype == "uint64":  # from 2**63 on it is an object
            index, is_object = self._name("index"), self._name("is_object")
            big, words, either = self._name("big"), self._name("words"), self._name("either")
            yield f"  {index} = load i32, ptr {cell}, align 8"
            yield f"  {is_object} = icmp eq i32 {index}, {int(abi.TypeIndex.BIG_INT)}"
            yield f"  {big} = load ptr, ptr {payload}, align 8"
            yield f"  {words} = getelementptr i8, ptr {big}, i64 {abi.BIG_INT_WORDS}"
            yield f"  {either} = select i1 {is_object}, ptr {words}, ptr {payload}"
            payload = either
        yield f"  {value} = load {wide}, ptr {payload}, align 8"
        if narrow != wide:
            cast, narrowed = "fptrunc" if wide == "double" else "trunc", self._name("narrowed")
            yield f"  {narrowed} = {cast} {wide} {value} to {narrow}"
            value = narrowed
        passed, tensor = self._name("passed"), self._name("tensor")
        yield f"  {passed} = getelementptr [2 x ptr], ptr %given, i64 {number.place}, i64 1"
        yield f"  {tensor} = load ptr, ptr {passed}, align 8"
        data, to = self._name("data"), self._name("to")
        yield f"  {data} = getelementptr i8, ptr {tensor}, i64 {abi.DLTENSOR_DATA}"
        yield f"  {to} = load ptr, ptr {data}, align 8"
        yield f"  store {narrow} {value}, ptr {to}"


def _kinds(dtype: str) -> list[int]:
    """Return the type indices of a returned number of this dtype."""
    if dtype in FLOAT_DTYPES:
        return [abi.TypeIndex.FLOAT]
    if dtype == "uint64":
        return [abi.TypeIndex.INT, abi.TypeIndex.BIG_INT]
    return [abi.TypeIndex.BOOL if dtype == "bool" else abi.TypeIndex.INT]


def _types(dtype: str) -> tuple[str, str]:
    """Return LLVM's types of a number in a ``TVMFFIAny`` and in a result of XLA."""
    if dtype in FLOAT_DTYPES:
        return "double", {"float32": "float", "float64": "double"}[dtype]
    return "i64", f"i{parse_dtype(dtype).bits}"
