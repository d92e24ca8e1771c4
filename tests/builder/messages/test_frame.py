"""The frame of messages: written out whole, and with signatures that are too long to be."""

from __future__ import annotations

from ffi_builder import spec
from ffi_builder.spec import Tensor, TupleParam, Var, dims
from tests.builder.messages.failing import Failure, check_both, compile_all
from tests.differential.description import DLTensor, Value, array, of_int, tensor

n, m, k = dims("n m k")
LONG = [Var(f"{letter}_{'long' * 38}", "int8") for letter in "abc"]


def check(failure: Failure, message: str) -> None:
    assert failure.message == message
    check_both(failure, compile_all({"f": failure})["f"])


def test_the_message_of_the_design() -> None:
    shapes = ("A", [n, k]), ("B", [k, m]), ("C", [n, m])
    params = [Tensor(name, entries, "float32", device_type="cpu") for name, entries in shapes]
    given = [tensor(DLTensor(entries)) for entries in ((2, 3), (4, 5), (2, 5))]
    text = "f(A: Tensor([n, k], float32), B: Tensor([k, m], float32), C: Tensor([n, m], float32))"
    subject = "B.shape[0] on argument #1"
    check(
        Failure(params, given, "ValueError", subject, text, "3 (k = A.shape[1])", "4"),
        "Mismatched B.shape[0] on argument #1 when calling: `f(A: Tensor([n, k], float32), "
        "B: Tensor([k, m], float32), C: Tensor([n, m], float32))`, expected 3 (k = A.shape[1]) "
        "but got 4",
    )


def long_failure(bad: int | None, text: str) -> Failure:
    given: list[Value] = [of_int(1000 if index == bad else 1) for index in range(3)]
    if bad is None:
        return Failure(LONG, given[:2], "TypeError", "number of arguments", text, "3", "2")
    fits = "a value that fits int8 (-128 to 127)"
    subject = f"{LONG[bad].name} on argument #{bad}"
    return Failure(LONG, given, "ValueError", subject, text, fits, "1000")


def test_a_long_signature_shows_the_failing_argument() -> None:
    first, second, third = (var.name for var in LONG)
    texts = {
        None: "f(...)",
        0: f"f({first}: int8, ...)",
        1: f"f(..., {second}: int8, ...)",
        2: f"f(..., {third}: int8)",
    }
    for bad, text in texts.items():
        failure = long_failure(bad, text)
        check(failure, failure.message)


def test_400_characters_are_shown_whole() -> None:
    for length, shown in ((400, True), (401, False)):
        name = "a" * (length - len("f(: int8)"))
        params: list[spec.Param] = [Var(name, "int8")]
        text = f"f({name}: int8)" if shown else "f(...)"
        failure = Failure(params, [], "TypeError", "number of arguments", text, "1", "0")
        check(failure, failure.message)


def test_a_place_in_a_tuple_names_the_outermost_argument() -> None:
    x = Tensor("x", [n], "float32", device_type="cpu", strides=[1])
    params: list[spec.Param] = [n, TupleParam("cfg", [m, x])]
    given = [of_int(3), array(of_int(4), tensor(DLTensor((3,), (2,))))]
    check(
        Failure(
            params,
            given,
            "ValueError",
            "cfg[1].strides[0] on argument #1",
            "f(n: int64, cfg: Tuple(m: int64, x: Tensor([n], float32, strides=[1])))",
            "1",
            "2 (shape=[3], strides=[2])",
        ),
        "Mismatched cfg[1].strides[0] on argument #1 when calling: `f(n: int64, cfg: Tuple(m: "
        "int64, x: Tensor([n], float32, strides=[1])))`, expected 1 but got 2 (shape=[3], "
        "strides=[2])",
    )


def test_env_streams_are_not_arguments() -> None:
    x = Tensor("x", [n], "float32", device_type="cuda")
    params: list[spec.Param] = [spec.EnvStream("stream"), x]
    text, subject = "f(x: Tensor([n], float32))", "type of x on argument #0"
    failure = Failure(params, [of_int(1)], "TypeError", subject, text, "Tensor", "int")
    check(failure, failure.message)
