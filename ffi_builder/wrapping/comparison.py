"""Compares the parameters of a prototype with what is passed for them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final, NamedTuple, TypeGuard, cast

from ffi_builder import BuildError, spec
from ffi_builder.extending import (
    INT_RANGES,
    Data,
    Expr,
    Result,
    declared,
    dtype_of,
    parse_dtype,
    tensors_of,
    variables,
)
from ffi_builder.wrapping.c_types import DLTENSOR, POINTER, CType, llvm_type
from ffi_builder.wrapping.elements import BYTES, check_elements, fits, order

_EXPRESSION: Final = r"[A-Za-z_].*[-+*/%(]|[-+*/%(].*[A-Za-z_]"
_NUMBERS: Final = {
    "present": "bool",
    **dict.fromkeys(("dtype", "device_type", "device_id", "ndim"), "int32"),
}
_POINTERS: Final = {
    "dltensor": DLTENSOR,
    "pointers": POINTER,
    **dict.fromkeys(("shapes", "strides", "lengths"), "int64"),
}
"""What parts of parameters are passed as: numbers, and what pointers point to."""
_ADDRESSES: Final = ("int64", "uint64")
"""Integers as which C may keep addresses."""
_OWN_DTYPES: Final = (spec.Choice, spec.DType, spec.Device)
_OBJECTS: Final = (spec.Object, spec.Function, spec.Array, spec.Map, spec.Any)
_WRITTEN: Final = {
    "DType": "struct DLDataType",
    "Device": "struct DLDevice",
    **dict.fromkeys(("String", "Bytes"), "struct TVMFFIByteArray"),
}
"""The structs of C that hold a result, by its kind; other results are pointers to objects."""


class Passed(NamedTuple):
    """What a parameter of a kernel gets, and why it was not compared as a whole."""

    own: str
    type_: CType
    entry: str
    unsure: str = ""


class Converted(NamedTuple):
    """A value that is passed as another dtype, as ``args=`` says."""

    text: str
    item: object
    dtype: str


class ByAddress(NamedTuple):
    """A value whose address is passed, as ``args=`` says, and what the kernel writes there."""

    text: str
    item: object
    dtype: str | None = None
    result: str | None = None


class Comparison:
    """Compares the parameters of a prototype with what is passed, and collects what to check."""

    def __init__(
        self,
        function: str,
        params: Mapping[str, spec.Param],
        results: Mapping[str, Result],
        entries: Mapping[str, str],
    ) -> None:
        self.function, self.results, self.entries = function, results, entries
        self.scalars = {each.name for each in params.values() if isinstance(each, spec.Var)}
        self.seen = list[Passed]()
        tensors = [each for each in params.values() if isinstance(each, spec.Tensor)]
        steps = [step for each in tensors for step in each.stride_entries or ()]
        self.steps = {each.name for step in steps for each in variables(step)}
        self.narrow = dict[str, str]()
        self.ranges = list[str]()
        self.read, self.written = set[str](), set[str]()
        self.restricted, self.aligned, self.passed = list[str](), dict[str, int](), set[str]()
        self.handles = dict[str, str | None]()
        self.refuse_null = set[str]()

    def check(
        self, own: str, type_: CType, entry: object, item: object, what: str = ""
    ) -> str | None:
        """Compare a parameter with a C argument; return it as text if its address is passed.

        ``what`` begins the words of the BuildError for what does not fit.
        """
        item = int(item) if isinstance(item, str) and re.fullmatch(r"-?\d+", item) else item
        what = what or f"{self.function}: parameter {own or entry} is {type_}"
        shown, of = "NULL" if entry is None else f"{entry}", item
        if _is_read(type_, item) and f"{entry}" not in self.results:
            of = ByAddress(f"{int(item)}" if isinstance(item, bool) else shown, item)
            of = ByAddress(*item) if isinstance(item, Converted) else of
        result = of.result if isinstance(of, ByAddress) else shown
        by_address, made = isinstance(of, ByAddress), self.results.get(f"{result}")
        if _is_handle(made):
            self.points_to(made.name, type_.target(by_address=True, is_made=True))
        if _is_handle(given := of.item if isinstance(of, ByAddress) else item):
            self.points_to(given.name, type_.target(by_address=by_address))
            if type_.pointee:
                self.refuse_null.add(given.name)
        if isinstance(of, ByAddress):
            shown = self._check_address(what, type_, of)
        self.note(own, type_, shown, _unsure(type_, item))
        if isinstance(of, ByAddress):
            return shown
        self._check_item(what, type_, entry, item)
        return None

    def note(self, own: str, type_: CType, entry: object, unsure: str = "") -> None:
        """Note what a parameter, or a field of a struct, gets."""
        self.seen.append(Passed(own or "_", type_, f"{entry}", unsure))

    def points_to(self, name: str, to: str | None) -> None:
        """Note what a handle points to for the kernel."""
        self.handles[name] = to if self.handles.get(name, to) == to else None

    def _check_item(self, what: str, type_: CType, entry: object, item: object) -> None:
        """Compare what is passed as it is."""
        if type_.is_struct:
            assert type_.layout is not None
            names = [each.name for each in type_.layout.members][:2]
            raise BuildError(
                f"{what}, but {entry!r} is no Struct or Tuple: pass a dict with an entry for each "
                f"field, as in {{{', '.join(f'{name!r}: …' for name in names)}}}"
            )
        if isinstance(item, (Data, spec.Tensor)):
            self._check_elements(what, f"{entry}", type_, item)
        elif isinstance(item, Converted):
            _check_number(what, type_, entry)
            is_alike = type_.is_signless and llvm_type(item.dtype) == type_.llvm
            if item.dtype != type_.dtype and not is_alike:
                raise BuildError(f"{what}, but {entry!r} is passed")
        elif isinstance(item, _OBJECTS):
            _check_object(what, type_, item)
        elif isinstance(item, bytes):
            _check_text(what, type_, f"{item!r}")
        elif isinstance(item, spec.Field):
            _check_part(what, type_, f"{entry}", item)
            if item.part == "dltensor":
                (self.read if type_.is_const else self.written).add(item.param.name)
        elif isinstance(entry, str) and entry in self.results:
            _check_result(what, type_, self.results[entry])
        else:
            self._check_value(what, type_, entry, item)

    def _check_address(self, what: str, type_: CType, given: ByAddress) -> str:
        """Compare a value with what a pointer points to; return the text of ``args=``."""
        text, item, dtype, result = given
        own = dtype_of(item)
        if not type_.is_pointer:
            raise BuildError(f"{what}, and not a pointer: pass {text!r}, and not its address")
        to_pointer = type_.opaque == POINTER
        if type_.row or type_.first > 1 or (type_.opaque and not to_pointer):
            raise BuildError(f"{what}, but the address of one value is passed, {text!r}")
        if to_pointer != (own == "handle") and type_.to not in (*(None, *BYTES, *_ADDRESSES),):
            is_ = "is a handle" if own == "handle" else "is a number, and no pointer"
            raise BuildError(f"{what}, but {text!r}, whose address is passed, {is_}")
        if result is not None:
            if not isinstance(self.results.get(result), spec.Var):
                to = "handle" if to_pointer else type_.dtype
                raise BuildError(
                    f"{what}, but {result!r} is no result that is a number or handle: declare "
                    f"`-> {result}: {to}`"
                )
            _check_result(what, type_, self.results[result])
            return f"&{text} -> {result}"
        is_any = type_.dtype in BYTES and own not in BYTES  # `char *`, as which C takes anything
        to = None if to_pointer or is_any else type_.dtype
        if dtype is not None and to not in (None, dtype):
            raise BuildError(f"{what}, but {dtype}({text}) is passed by address")
        is_own = dtype is None and isinstance(item, (spec.Field, *_OWN_DTYPES))
        if is_own and to not in (None, own):
            raise BuildError(f"{what}, but {text!r} is {own}")
        if to is not None and dtype is None and own != "handle":
            self._check_value(what, CType(to), text, item)
        is_named = isinstance(item, (spec.Var, spec.Choice, spec.Field, spec.Optional))
        dtype = None if is_named and dtype is None else dtype or to
        return f"&{text}" if dtype is None else f"&{dtype}({text})"

    def _check_value(self, what: str, type_: CType, entry: object, item: object) -> None:
        """Compare a number, an expression or None."""
        if isinstance(item, spec.Var) and item.dtype != "handle":
            _check_number(what, type_, item.name)
            if item.name not in self.scalars and _is_narrower(type_, item.dtype):
                both = (self.narrow.get(item.name, item.dtype), f"{type_.dtype}")
                self.narrow[item.name] = min(both, key=lambda dtype: INT_RANGES[dtype][1])
            elif not self._is_passed(type_, item):
                cure = declared(item.name, item.dtype, f"{type_.dtype}")
                raise BuildError(
                    f"{what}, but {item.name!r} is {item.dtype}: {cure}"
                    f"{order(item.name, self.entries)}"
                )
        elif isinstance(item, (int, float)):
            _check_number(what, type_, item)
            _check_constant(what, type_, item)
        elif type_.is_pointer:
            return
        elif isinstance(item, spec.Choice):
            for number in item.choices.values():
                _check_constant(what, type_, number)
        elif entry is None:
            raise BuildError(f"{what}, and None is NULL")
        elif _kind(type_.dtype) == "float" and _is_expression(item):
            cure = f"pass '{type_.dtype}({item})'"
            raise BuildError(f"{what}, but {f'{item}'!r} is an integer: {cure}")
        elif INT_RANGES.get(f"{type_.dtype}", (-1, 0))[0] == 0 and _is_expression(item):
            self.ranges.append(f"0 <= {item}")  # the provider checks the other end

    def _check_elements(
        self, what: str, entry: str, type_: CType, item: Data | spec.Tensor
    ) -> None:
        """Compare a pointer to the elements of a tensor, or to its descriptor."""
        is_data = isinstance(item, Data)
        tensor = item.tensor if is_data else item
        path = entry.removesuffix(".data") if is_data else entry
        check_elements(what, type_, tensor, self.entries, is_data=is_data)
        (self.read if type_.is_const else self.written).add(tensor.name)
        if path in self.restricted or (type_.is_restrict and path in self.passed):
            raise BuildError(f"{what}, but {path!r} is passed twice, and once as `restrict`")
        self.passed.add(path)
        if type_.is_restrict:
            self.restricted.append(path)
        elements = min(parse_dtype(each).alignment for each in tensor.element_dtypes)
        if type_.align > (tensor.data_alignment or elements):
            self.aligned[path] = max(type_.align, self.aligned.get(path, 1))

    def _is_passed(self, type_: CType, number: spec.Var) -> bool:
        """Return whether a number is passed as it is; its sign may need a condition."""
        if llvm_type(number.dtype) != type_.llvm:
            return False
        low, high = INT_RANGES.get(f"{type_.dtype}", (0, 0))
        own_low, own_high = INT_RANGES.get(number.dtype, (0, 0))
        if number.name not in self.scalars | self.steps or type_.is_signless:
            return True  # sizes are not negative
        if own_low < low and number.min is None:
            self.ranges.append(f"{low} <= {number.name}")
        elif own_high > high and number.max is None:
            self.ranges.append(f"{number.name} <= {high}")
        return (number.min or 0) >= low and (number.max or 0) <= high

    def conditions(self) -> list[str]:
        """Return what the signature has to check, as text."""
        dtypes = (f"{name}: {dtype}" for name, dtype in self.narrow.items())
        return [*dict.fromkeys([*self.ranges, *dtypes])]

    def pointees(self, signature: spec.Signature) -> dict[str, spec.Param | dict[str, object]]:
        """Return what the handles of a signature point to, where it is a struct with a name."""
        pointees = dict[str, spec.Param | dict[str, object]]()
        for each in (*signature.params, *signature.results):
            if to := self.handles.get(each.name):
                inner = isinstance(each, spec.Optional) and replace(each.param, pointee=to)
                pointees[each.name] = replace(each, param=inner) if inner else {"pointee": to}
        return pointees

    def not_null(self, signature: spec.Signature) -> list[str]:
        """Return the conditions that keep NULL from a kernel, where no other speaks of it.

        They are for handles that point to a struct with a name, unless they are in an Optional.
        """
        said = {word for each in signature.where for word in re.findall(r"[\w.]+", f"{each}")}
        wanted = (
            f"{each.name}.present"
            for each in signature.params
            if isinstance(each, spec.Var) and each.name in self.refuse_null
        )
        return [each for each in wanted if each not in said]

    def no_overlap(self, signature: spec.Signature) -> list[str]:
        """Return the tensors that ``restrict`` keeps apart from others, if there are any."""
        tensors = tensors_of(signature.params)
        return [path for path in self.restricted if path in tensors] if len(tensors) > 1 else []

    def only_read(self, signature: spec.Signature) -> dict[str, spec.Param]:
        """Return the tensors that the kernel gets by const pointers alone, as ones that it reads.

        The signature says nothing of their intent. They may be in Optionals.
        """
        changed = dict[str, spec.Param]()
        for param in signature.params:
            tensor = spec.required(param)
            is_open = isinstance(tensor, spec.Tensor) and tensor.intent is None
            if is_open and tensor.name in self.read - self.written:
                read = replace(tensor, intent="in")
                inside = isinstance(param, spec.Optional)
                changed[param.name] = replace(param, param=read) if inside else read
        return changed


def _is_read(type_: CType, item: object) -> bool:
    """Return whether a pointer is to one number that is only read, and a number is passed."""
    is_one = type_.is_const and type_.opaque is None and not type_.row and type_.first < 2
    if type_.dtype in BYTES and dtype_of(item) not in BYTES:
        return False
    own = "int64" if _is_expression(item) else dtype_of(item)
    own = item.dtype if isinstance(item, Converted) else own
    is_bit = isinstance(item, int) and type_.dtype == "bool"
    return is_one and _kind(own) is not None and (is_bit or _kind(own) == _kind(type_.dtype))


def _kind(dtype: str | None) -> str | None:
    """Return the kind of a number of a dtype; None for anything else."""
    match = re.fullmatch(r"(bool)|u?(int)\d+|b?(float)\d+", dtype or "")
    return match and match[match.lastindex or 0]


def _is_handle(item: object) -> TypeGuard[spec.Var | spec.Optional]:
    """Return whether a value is a handle, which may be in an Optional."""
    item = spec.required(item) if isinstance(item, spec.Optional) else item
    return isinstance(item, spec.Var) and item.dtype == "handle"


def _is_expression(item: object) -> bool:
    is_text = isinstance(item, str)
    return isinstance(item, Expr) or (is_text and re.search(_EXPRESSION, item) is not None)


def _unsure(type_: CType, item: object) -> str:
    """Return what nothing says of a parameter, or of what is passed for it; empty if all is."""
    tensor = item.tensor if isinstance(item, Data) else item
    tensor = tensor.param if isinstance(tensor, spec.Field) else tensor
    is_read = isinstance(tensor, spec.Tensor) and tensor.intent == "in" and not type_.is_const
    both = (_unknown(type_, item), "whether it is written" if is_read else "")
    return ", and ".join(filter(None, both))


def _unknown(type_: CType, item: object) -> str:
    """Return what nothing says of what a pointer points to."""
    if not type_.is_pointer or item is None:
        return ""
    if _is_handle(item):  # a call compares the struct that it points to
        return "" if type_.pointee else "what the handle points to"
    if isinstance(item, (spec.DataPointer, spec.Stream)):
        return "what the handle points to"
    if type_.to is None:
        return "what the pointer points to"
    tensor = item.tensor if isinstance(item, Data) else item
    if type_.opaque is None and isinstance(tensor, spec.Tensor) and type_.dtype in BYTES:
        return "" if type_.dtype in tensor.dtypes else "of bytes, which elements they are"
    return ""


def _check_constant(what: str, type_: CType, number: float) -> None:
    """Raise BuildError for a constant that the kernel's type does not hold."""
    ranges = {**INT_RANGES, "bool": (0, 1)}
    low, high = ranges.get(f"{type_.dtype}", (0, 0))
    high = high - low if type_.is_signless else high
    is_int = type_.dtype in ranges
    if is_int != isinstance(number, int) or (is_int and not low <= number <= high):
        raise BuildError(f"{what}, which is not {number!r}: write a number of that type")


def _check_object(what: str, type_: CType, param: spec.Param) -> None:
    """Raise BuildError if an object of TVM-FFI, or a value of any type, is passed for another."""
    is_any = isinstance(param, spec.Any)
    own = "TVMFFIAny" if is_any else "TVMFFI"
    if not type_.is_pointer or type_.to is None or own in type_.to:
        return
    if is_any:
        raise BuildError(f"{what}, but {param.name!r} is passed as a `const TVMFFIAny *`")
    cure = (
        f"; declare `{param.name}: handle`, for which callers pass "
        f"ctypes.CFUNCTYPE(…)(f), or let a function in C call TVMFFIFunctionCall"
    )
    raise BuildError(
        f"{what}, but {param.name!r} is passed as an object of TVM-FFI, which is a `void *` in C"
        f"{cure if isinstance(param, spec.Function) else ''}"
    )


def _check_text(what: str, type_: CType, given: str) -> None:
    """Raise BuildError if the address of bytes is passed for something else, or is written to.

    Nobody may write to what is passed: objects of Python that never change, and constants.
    """
    if not type_.is_pointer or type_.to not in (None, *BYTES) or type_.row:
        raise BuildError(f"{what}, but {given} is passed as the address of bytes")
    if type_.dtype is not None and type_.has_const and not type_.is_const:
        raise BuildError(
            f"{what}, to which the kernel may write, but {given} is only read: if the kernel does "
            f"not write there, let prototype= say const; else let callers pass an array, "
            f"Tensor([n], uint8)"
        )
    _check_align(what, type_, 1, given)


def _check_part(what: str, type_: CType, path: str, field: spec.Field) -> None:
    """Raise BuildError if a part of a parameter is passed for something else."""
    text = spec.required(field.param)
    if isinstance(text, spec.Map) and field.part in ("keys", "values"):
        dtype = text.key if field.part == "keys" else text.value
        _check_numbers(what, type_, path, f"{dtype}")
        return
    if isinstance(text, spec.List) and field.part in ("data", "c_str"):
        if isinstance(text.element, spec.Var):
            _check_numbers(what, type_, path, text.element.dtype)
        else:
            _check_texts(what, type_, path, field.part)
        return
    if isinstance(text, (spec.String, spec.Bytes)) and field.part in ("data", "c_str"):
        _check_text(what, type_, f"{path if field.part == 'c_str' else path.rpartition('.')[0]!r}")
        return
    if field.part == "length":
        if type_.dtype not in INT_RANGES or type_.is_pointer:
            of = "bytes" if isinstance(text, (spec.String, spec.Bytes)) else "elements"
            raise BuildError(f"{what}, but {path!r} is passed as the number of {of}")
        return
    number, pointer = _NUMBERS.get(field.part), _POINTERS.get(field.part)
    if isinstance(text, spec.Variant):
        number = dtype_of(field)
    words = number or f"a pointer to {pointer}"
    if field.part == "pointers":
        items = cast("spec.TensorList | spec.List", text)
        dtypes = items.tensor.dtypes if isinstance(items, spec.TensorList) else _of_rows(items)
        if type_.opaque == POINTER and not fits(type_, dtypes):
            raise BuildError(
                f"{what} to {type_.dtype}, but the elements of {path.rpartition('.')[0]!r} are "
                f"{' or '.join(dtypes)}"
            )
    is_alike = type_.to in (None, pointer) if type_.is_pointer else type_.llvm == _llvm(number)
    is_alike = is_alike and type_.row in ((), *_rows(field))
    if type_.is_pointer != (pointer is not None) or not is_alike:
        raise BuildError(f"{what}, but {path!r} is passed as {words}")


def _of_rows(items: spec.List) -> tuple[str, ...]:
    """Return the dtype of the numbers in a list of lists."""
    row = items.element
    return (f"{row.dtype}",) if isinstance(row, spec.List) else ()


def _check_numbers(what: str, type_: CType, path: str, dtype: str) -> None:
    """Raise BuildError if the address of numbers is passed for something else."""
    known = type_.is_pointer and type_.opaque is None and not type_.row
    if not known or not fits(type_, (dtype,)):
        raise BuildError(f"{what}, but {path!r} is passed as a pointer to {dtype}")
    _check_align(what, type_, parse_dtype(dtype).alignment, f"{path!r}")


def _check_texts(what: str, type_: CType, path: str, part: str) -> None:
    """Raise BuildError if the addresses of several texts are passed for something else."""
    is_fine = type_.is_pointer and not type_.row
    if part == "c_str":
        of_pointers = type_.opaque == POINTER and type_.dtype in (None, *BYTES)
        if not is_fine or not (of_pointers or type_.to is None):
            raise BuildError(f"{what}, but {path!r} is passed as a pointer to pointers to bytes")
    elif not is_fine or type_.dtype is not None or type_.opaque == POINTER:
        own = path.rpartition(".")[0]
        raise BuildError(
            f"{what}, but {path!r} is passed as a pointer to struct TVMFFIByteArray, the address "
            f"and the size of each; write args=[…] with '{own}.c_str' if it takes pointers to "
            f"texts that end in a NUL"
        )


def _rows(field: spec.Field) -> list[tuple[int | None]]:
    """Return the rows in which a part may be read: sizes of each tensor of a list."""
    tensors = spec.required(field.param)
    if field.part == "shapes" and isinstance(tensors, spec.TensorList):
        return [(tensors.tensor.ndim,), (None,)]
    return []


def _llvm(dtype: str | None) -> str | None:
    return None if dtype is None else llvm_type(dtype)


def _check_number(what: str, type_: CType, number: object) -> None:
    if type_.is_pointer:
        itself = "; an intptr_t in a prototype of your own takes the number itself"
        raise BuildError(
            f"{what}, but {number!r} is a number; None passes NULL, '&{number}' the address of a "
            f"copy, if the kernel only reads it, and '&{number} -> out' one where it writes a "
            f"result `out`{itself if isinstance(number, int) else ''}"
        )


def _is_narrower(type_: CType, dtype: str) -> bool:
    if type_.dtype not in INT_RANGES or dtype not in INT_RANGES:
        return False
    return INT_RANGES[type_.dtype][1] < INT_RANGES[dtype][1]


def _check_result(what: str, type_: CType, result: Result) -> None:
    """Raise BuildError if the kernel does not write what the result is by a pointer."""
    if not isinstance(result, spec.Var):
        name = _WRITTEN.get(result.type_name, POINTER)
        is_fitting = type_.to in (None, name) and (name != POINTER or type_.dtype is None)
        if isinstance(spec.required(result), (spec.String, spec.Bytes)) and type_.opaque == POINTER:
            raise BuildError(
                f"{what}, but no text is written there: declare `-> {result.name}: handle`, which "
                f"the function that destroy= names may free"
            )
        if not type_.is_pointer or type_.is_const or type_.row or not is_fitting:
            written = name if name == POINTER else f"a {name}"
            raise BuildError(
                f"{what}, but the kernel writes the result {result.name!r}, {written}, there"
            )
        _check_align(what, type_, 4 if name.startswith("struct DL") else 8, f"{result.name!r}")
        return
    is_pointer = type_.opaque == POINTER
    if not type_.is_pointer or type_.is_const or type_.row or (type_.opaque and not is_pointer):
        raise BuildError(f"{what}, but the kernel writes the result {result.name!r} by a pointer")
    kinds = "handle" if is_pointer else type_.dtype
    if result.dtype == "handle" and type_.dtype in _ADDRESSES:
        kinds = "handle"
    if kinds not in (None, *BYTES, result.dtype):
        raise BuildError(
            f"{what}, but the result {result.name!r} is {result.dtype}: declare "
            f"`-> {result.name}: {kinds}`"
        )
    bits = 64 if result.dtype == "handle" else parse_dtype(result.dtype).bits
    _check_align(what, type_, bits // 8, f"the result {result.name!r}")


def _check_align(what: str, type_: CType, align: int, given: str) -> None:
    """Raise BuildError for an address that is a multiple of less than the kernel relies on."""
    if type_.is_pointer and type_.align > align:
        raise BuildError(f"{what} aligned to {type_.align} bytes, but {given} is to {align}")
