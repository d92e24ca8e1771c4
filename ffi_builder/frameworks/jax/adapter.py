"""Generates code between XLA and a function that takes or returns what XLA does not pass.

jax-tvm-ffi passes all operands, all results, then attributes. If the function takes them in another
order, needs None for an absent one, takes lists of them, or returns numbers, XLA calls this code::

    define i32 @__tvm_ffi_adapted(ptr %self, ptr %given, i32 %count, ptr %result) {
      %arguments = alloca [3 x [2 x i64]], align 8           ; a TVMFFIAny is 16 bytes
      %v1 = getelementptr [2 x i64], ptr %given, i64 1       ; what XLA passes second
      %v2 = load [2 x i64], ptr %v1, align 8
      %v3 = getelementptr [2 x i64], ptr %arguments, i64 0
      store [2 x i64] %v2, ptr %v3, align 8
      …
      %v10 = inttoptr i64 140…472 to ptr                     ; the tvm_ffi.Function
      %v11 = call i32 @TVMFFIFunctionCall(ptr %v10, ptr %arguments, i32 3, ptr %returned)
      …
    }

Lists are made by tvm-ffi's function ``ffi.Array``. A number is written to the memory of a result of
XLA. Whatever the code owns is in a ``TVMFFIAny`` of its own, which is released at the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
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
        self._body: list[str] = []
        self._owned = ["%returned"] if adapter.numbers else []
        """The ``TVMFFIAny``s to release."""
        self._lists: list[str] = []
        """The lines that reserve memory."""
        self._texts: list[str] = []

    def lines(self) -> Iterator[str]:
        sources = self._adapter.sources
        self._fill("%arguments", sources)
        self._call_function(len(sources))
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
        yield from self._body
        yield "  store i32 0, ptr %code"
        yield "  br label %end"
        yield "end:"
        yield from (f"  call void @release(ptr {each})" for each in self._owned)
        yield "  %done = load i32, ptr %code"
        yield "  ret i32 %done"
        yield "}"

    def _name(self) -> str:
        self._names += 1
        return f"%v{self._names}"

    def _set(self, value: str) -> str:
        """Add a line that gives a value a name, and return this."""
        name = self._name()
        self._body.append(f"  {name} = {value}")
        return name

    def _at(self, start: str, index: int, element: str = "i8") -> str:
        return self._set(f"getelementptr {element}, ptr {start}, i64 {index}")

    def _load(self, type_: str, place: str) -> str:
        return self._set(f"load {type_}, ptr {place}, align 8")

    def _fill(self, target: str, sources: Sequence[Source]) -> None:
        """Write these values to an array of ``TVMFFIAny``s."""
        for at, source in enumerate(sources):
            value = "zeroinitializer"
            if isinstance(source, tuple):
                items, made = self._name(), self._name()
                self._lists.append(f"  {items} = alloca [{max(len(source), 1)} x {_ANY}], align 8")
                self._owned.append(made)
                self._fill(items, source)
                self._call(self._array, items, len(source), made)
                value = self._load(_ANY, made)
            elif source is not None:
                value = self._load(_ANY, self._at("%given", source, _ANY))
            to = self._at(target, at, _ANY)
            self._body.append(f"  store {_ANY} {value}, ptr {to}, align 8")

    def _call_function(self, count: int) -> None:
        """Call the function, and write the numbers that it returns to results of XLA."""
        numbers, cells = self._adapter.numbers, "%returned"
        self._call(self._function, "%arguments", count, cells if numbers else "%result")
        if self._adapter.several:
            self._expect(cells, [abi.TypeIndex.ARRAY], "a list of its results")
            array = self._load("ptr", self._at(cells, abi.ANY_PAYLOAD))
            size = self._load("i64", self._at(array, abi.CELL_SIZE))
            fits = self._set(f"icmp eq i64 {size}, {len(numbers)}")
            self._unless(fits, "as many results as it has")
            cells = self._load("ptr", self._at(array, abi.CELL_DATA))
        for at, number in enumerate(numbers):
            self._write(self._at(cells, at, _ANY), number)

    def _call(self, function: int, arguments: str, count: int, result: str) -> None:
        callee = self._set(f"inttoptr i64 {function} to ptr")
        passed = f"ptr {callee}, ptr {arguments}, i32 {count}, ptr {result}"
        status = self._set(f"call i32 @TVMFFIFunctionCall({passed})")
        self._unless(self._set(f"icmp eq i32 {status}, 0"))

    def _unless(self, condition: str, expected: str = "") -> None:
        """Go to the end unless a condition is true; raise TypeError if something is expected."""
        fine, wrong = self._name()[1:], self._name()[1:]
        self._body += [f"  br i1 {condition}, label %{fine}, label %{wrong}", f"{wrong}:"]
        if expected:
            words = f"expected that the function returns {expected}".encode() + b"\0"
            text = f"@text{len(self._texts)}"
            value = f'[{len(words)} x i8] c"{chr(92)}{words.hex(chr(92))}"'
            self._texts.append(f"{text} = private constant {value}")
            raising = f"call void @TVMFFIErrorSetRaisedFromCStr(ptr @kind, ptr {text})"
            self._body.append(f"  {raising}")
        self._body += ["  br label %end", f"{fine}:"]

    def _expect(self, cell: str, kinds: Sequence[int], expected: str) -> None:
        """Raise TypeError unless a ``TVMFFIAny`` is of one of these kinds."""
        index = self._load("i32", cell)
        fits = (self._set(f"icmp eq i32 {index}, {kind}") for kind in kinds)
        self._unless(reduce(lambda a, b: self._set(f"or i1 {a}, {b}"), fits), expected)

    def _write(self, cell: str, number: Number) -> None:
        """Write a number to a result of XLA."""
        self._expect(cell, _kinds(number.dtype), f"{number.name}: {number.dtype}")
        payload = self._at(cell, abi.ANY_PAYLOAD)
        wide, narrow = _types(number.written)
        if number.dtype == "uint64":  # from 2**63 on it is an object
            index = self._load("i32", cell)
            is_object = self._set(f"icmp eq i32 {index}, {int(abi.TypeIndex.BIG_INT)}")
            words = self._at(self._load("ptr", payload), abi.BIG_INT_WORDS)
            payload = self._set(f"select i1 {is_object}, ptr {words}, ptr {payload}")
        value = self._load(wide, payload)
        if narrow != wide:
            cast = "fptrunc" if wide == "double" else "trunc"
            value = self._set(f"{cast} {wide} {value} to {narrow}")
        tensor = self._load("ptr", self._at("%given", 2 * number.place + 1, "ptr"))
        to = self._load("ptr", self._at(tensor, abi.DLTENSOR_DATA))
        self._body.append(f"  store {narrow} {value}, ptr {to}")


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
