"""Statuses and options that CheckStatus refuses."""

from __future__ import annotations

from typing import Any, Final

import pytest

from ffi_builder.errors import BuildError
from ffi_builder.providers import (
    CheckStatus,
    DirectCallProvider,
    DynamicParamPackCallProvider,
    NopCallProvider,
    PackedCallProvider,
)
from tests.providers.test_status import DIRECT, returning
from tests.support.wrapping import refused

F: Final = "f(code: int64)"
ERRORS: Final = (
    "RuntimeError, ValueError, TypeError, AttributeError, KeyError, IndexError, AssertionError, "
    "MemoryError"
)


FIELDS: Final = "expected {callee} and {status} as its only fields, or {f(status)} and {f()} for the text of a function in C"


NONE: Final = "returns nothing; expected an integer status"
NO_STATUS: Final[list[tuple[Any, str, str]]] = [
    # provider, the callee in the module, and what is said
    (DIRECT, "llvm.func @k(i64)", f"the callee @k {NONE}"),
    *(
        (DIRECT, f"llvm.func @k(i64) -> {result}", f"the callee @k returns {result}; expected an integer of up to 64 bits")
        for result in ("f32", "!llvm.ptr", "i128", "!llvm.struct<(i32)>")
    ),
    (CheckStatus(DynamicParamPackCallProvider("k", returns_status=False)), "", f"the callee @k {NONE}"),
    (CheckStatus(NopCallProvider()), "", f"NopCallProvider {NONE}"),
]  # fmt: skip


@pytest.mark.parametrize(("provider", "text", "words"), NO_STATUS)
def test_no_status(provider: Any, text: str, words: str) -> None:
    assert refused(F, provider, text) == f"CheckStatus: {words}"


REFUSED: Final[list[tuple[Any, dict[str, Any], str]]] = [
    *(
        (DirectCallProvider("k"), {"message": message}, f"message: {FIELDS}, but got {message!r}")
        for message in ("{code}", "{}", "{0}", "{status:x}", "{status!r}")
    ),
    *(
        (
            DirectCallProvider("k"),
            {"message": message},
            f"message: expected something between doubled braces but got {message!r}",
        )
        for message in ("{{}}", "{{}} {status}")
    ),
    (PackedCallProvider("g"), {}, "a PackedCallProvider passes on the error of its callee; leave CheckStatus out"),
    *(
        (
            DirectCallProvider("k"),
            {"error": error},
            f"error: expected one of {ERRORS} but got {error!r}{meant}",
        )
        for error, meant in list[tuple[Any, str]](
            [
                ("status", ""),
                (ValueError, ", did you mean 'ValueError'?"),
                ("ValeuError", ", did you mean 'ValueError'?"),
            ]
        )
    ),
    ("k", {}, "expected a call provider, such as DirectCallProvider('f'), but got 'k': say how it is called, as in DirectCallProvider('k')"),
    (
        NopCallProvider,
        {},
        f"expected a call provider, such as DirectCallProvider('f'), but got {NopCallProvider}, a "
        "class: create an instance, as in Provider('callee')",
    ),
    *((DirectCallProvider("k"), {"message": x}, f"message: expected a str but got {x!r}") for x in (None, 7)),
    (DirectCallProvider("k"), {"errors": [1]}, "errors: expected a dict but got [1]"),
    *((DirectCallProvider("k"), {"errors": {code: ("ValueError", "")}}, f"errors: expected an int but got {code!r}") for code in (True, "1")),
    (DirectCallProvider("k"), {"errors": {0: ("ValueError", "")}}, "errors: 0 is success, and no error; success= says which statuses are"),
    *(
        (
            DirectCallProvider("k"),
            {"errors": {1: value}},
            f"errors[1]: expected a class and a message, as in "
            f'("ValueError", "out of range"), but got {value!r}',
        )
        for value in ("no", ("ValueError",))
    ),
    (DirectCallProvider("k"), {"errors": {1: ("value", "")}}, f"errors[1]: expected one of {ERRORS} but got 'value'"),
    (DirectCallProvider("k"), {"errors": {1: ("ValueError", "{x}")}}, f"errors[1]: {FIELDS}, but got '{{x}}'"),
]  # fmt: skip


@pytest.mark.parametrize(("provider", "options", "words"), REFUSED)
def test_what_cannot_be_checked(provider: Any, options: dict[str, Any], words: str) -> None:
    """It is refused where it is made."""
    with pytest.raises(BuildError) as raised:
        CheckStatus(provider, **options)
    assert str(raised.value) == f"CheckStatus: {words}"


@pytest.mark.parametrize("message", ["{status", "status}"])
def test_unpaired_braces(message: str) -> None:
    with pytest.raises(BuildError) as raised:
        CheckStatus(DirectCallProvider("k"), message=message)
    assert str(raised.value).startswith("CheckStatus: message: ")
    assert str(raised.value).endswith(f" in {message!r}")


@pytest.mark.parametrize(
    ("type_", "code", "limits"), [("i1", -1, "0 to 1"), ("i8", 200, "-128 to 127")]
)
def test_a_status_that_the_callee_never_returns(type_: str, code: int, limits: str) -> None:
    provider = CheckStatus(DirectCallProvider("k"), errors={code: ("KeyError", "")})
    assert refused(F, provider, returning(type_)) == (
        f"CheckStatus: errors[{code}]: the callee @k returns {type_}, which is from {limits}"
    )


def test_a_negative_status_of_an_unsigned_type() -> None:
    provider = CheckStatus(DirectCallProvider("k"), errors={-1: ("KeyError", "")}, unsigned=True)
    assert refused(F, provider, returning("i8")) == (
        "CheckStatus: errors[-1]: the callee @k returns i8, which is from 0 to 255: write 255"
    )
