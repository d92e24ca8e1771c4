"""Statuses of functions in C: which of them are success, and ``errno``."""

from __future__ import annotations

import ctypes
import errno
import os
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from ffi_builder import BuildError, CompileError, runtime, wrap
from ffi_builder.providers import CheckStatus, DirectCallProvider
from tests.runtime.samples import c_object, needs_cc
from tests.wrapping.libraries import needs_header

pytest.importorskip("clang.native")
pytestmark = needs_cc

SOURCE = """
#include <errno.h>
#include <stdlib.h>
#include <string.h>
int same(int status) { return status; }
unsigned char byte(unsigned char status) { return status; }
int set(int status, int number) { if (number) errno = number; return status; }
int64_t wide(int64_t value, int number) { if (number) errno = number; return value; }
void *address(int is_there, int number) { errno = number; return is_there ? &errno : 0; }
char *text(int is_there, int number) { errno = number; return is_there ? strdup("abc") : 0; }
void nothing(void) { }
"""
SAID = """
const char *said(int status) { return status == 7 ? "seven" : status == 8 ? 0 : "another"; }
const char *said_wide(unsigned long status) { return "wide"; }
const char *said_byte(unsigned char status) { return "byte"; }
int unsaid(int status) { return status; }
const char *many(int status, int more) { return 0; }
const char *last(void) { return "the last error"; }
int not_last(void) { return 0; }
"""
PROTOTYPE = """
#define AGAIN 3
enum { BAD = -5, SEVEN = 7, DONE = 101 };
int same(int status); int64_t wide(int64_t value, int number); unsigned char byte(unsigned char b);
int set(int status, int number); void nothing(void); void *address(int is_there, int number);
char *text(int is_there, int number);
const char *said(int status); const char *said_wide(unsigned long status); int unsaid(int status);
const char *said_byte(unsigned char status); const char *many(int status, int more);
const char *last(void); int not_last(void);
"""
SAME = "same(status: int32)"
SET = "set(status: int32, number: int32)"
WIDE = "wide(value: int64, number: int32)"


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return c_object(tmp_path_factory.mktemp("statuses"), SOURCE + SAID)


def failed(status: int, more: str = "", name: str = "RuntimeError", of: str = "same") -> str:
    return f"{name}: {of} failed with status {status}{more} when calling"


ENOENT = "FileNotFoundError: [Errno 2] No such file or directory when calling"
CALLS: list[tuple[str, dict[str, Any], list[tuple[Any, Any]]]] = [
    # signature, options; arguments and either a result or how the error begins
    (SAME, {"success": 1}, [(1, None), *((status, failed(status)) for status in (0, 2, -1))]),
    (SAME, {"success": [0, 1, -7]}, [(0, None), (1, None), (-7, None), (7, failed(7))]),
    (SAME, {"success": 1, "errors": {0: ("ValueError", "no"), 2: ("KeyError", "two")}}, [(1, None), (0, "ValueError: no when"), (2, "KeyError: two when"), (3, failed(3))]),
    ("byte(status: uint8)", {"success": 200}, [(200, None), (0, failed(0, of="byte"))]),
    # `errors={1: None}` is for a kernel that sets an error itself.
    (SAME, {"errors": {1: None}}, [(0, None), (1, "RuntimeError: same returned 1, but has set no error; if 1 is success, say success=1 when")]),
    # `errors=` and `success=` take what the prototype calls a status.
    (SAME, {"errors": {"BAD": ("KeyError", "bad"), 7: ("ValueError", "seven")}, "success": [0, "DONE", "AGAIN"]}, [(101, None), (3, None), (-5, "KeyError: bad when"), (7, "ValueError: seven when")]),
    (SAME, {"success": "DONE"}, [(101, None), (0, failed(0))]),
    # The text of a status, and of the last error.
    (SAME, {"errors": "said"}, [(0, None), (7, failed(7, ": seven")), (-1, failed(-1, ": another")), (8, failed(8, ": (null)"))]),
    (SAME, {"errors": {7: ("ValueError", "{callee} has {said(status)}, {status}")}}, [(7, "ValueError: same has seven, 7 when"), (1, failed(1))]),
    (WIDE, {"errors": "said_wide", "success": 1}, [((1, 0), None), ((9, 0), failed(9, ": wide", of="wide"))]),
    (SET, {"errors": "said", "errno": True}, [((7, 0), failed(7, ": seven", of="set")), ((7, 2), ENOENT)]),
    (SAME, {"errors": "last"}, [(0, None), (7, failed(7, ": the last error"))]),
    (SAME, {"errors": {7: ("ValueError", "{status} is {last()}")}}, [(0, None), (7, "ValueError: 7 is the last error when")]),
    # Errors of all other statuses.
    *(
        (SAME, {"errors": errors}, [(0, None), (7, seven), (1, one)])
        for errors, seven, one in [
            ({"SEVEN": "ValueError", ...: "said"}, failed(7, ": seven", "ValueError"), failed(1, ": another")),
            ({7: "said", ...: "KeyError"}, failed(7, ": seven", "KeyError"), failed(1, "", "KeyError")),
            ({7: ("KeyError", "no"), ...: ("ValueError", "{last()}")}, "KeyError: no when", "ValueError: the last error when"),
            ({7: "KeyError", ...: ("ValueError", "{last()}")}, "KeyError: the last error when", "ValueError: the last error when"),
            ({7: "KeyError", 1: "last"}, failed(7, "", "KeyError"), failed(1, ": the last error")),
            ("ValueError", failed(7, "", "ValueError"), failed(1, "", "ValueError")),
            (("KeyError", "{said(status)}"), "KeyError: seven when", "KeyError: another when"),
            ("said(status)", failed(7, ": seven"), failed(1, ": another")),
            ({7: "KeyError", ...: None}, failed(7, "", "KeyError"), "RuntimeError: same returned 1, but has set no error"),
        ]
    ),
    # A success may leave anything in errno.
    (SET, {"errno": True}, [((0, errno.ENOENT), None), ((-1, errno.ENOENT), ENOENT), ((-1, errno.EINVAL), "OSError: [Errno 22] Invalid argument when calling: `set("), ((-1, 0), failed(-1, of="set"))]),
    (SET, {"errno": True, "success": 1, "errors": {2: ("KeyError", "two")}}, [((1, 0), None), ((2, errno.EINVAL), "KeyError: two"), ((0, errno.EACCES), "PermissionError: ")]),
    (SET, {"errno": True, "errors": {2: "KeyError"}}, [((2, errno.ENOENT), "KeyError: "), ((3, errno.ENOENT), ENOENT)]),
    (f"{WIDE} -> r: int64", {"errno": True}, [((0, 0), 0), ((7, errno.EINVAL), 7), ((-1, 0), -1), ((-1, errno.EEXIST), "FileExistsError: ")]),
    ("text(is_there: int32, number: int32) -> r: String", {"errno": True, "free": "free"}, [((1, errno.EINVAL), "abc"), ((0, errno.EISDIR), "IsADirectoryError: "), ((0, 0), "ValueError: text returned NULL for r")]),
]  # fmt: skip


@pytest.mark.parametrize(("signature", "options", "calls"), CALLS)
def test_what_comes_of_a_status(
    code: bytes, signature: str, options: dict[str, Any], calls: list[tuple[Any, Any]]
) -> None:
    call = wrap(code, signature, prototype=PROTOTYPE, **options)
    ctypes.set_errno(errno.EINVAL)
    for given, expected in calls:
        args = cast("tuple[Any, ...]", given if isinstance(given, tuple) else (given,))
        try:
            found: Any = call(*args)
        except Exception as error:
            words = str(error) if isinstance(error, OSError) else str(error.args[0])
            found = f"{type(error).__name__}: {words}"
            assert found.startswith(str(expected)), found
        else:
            assert found == expected


@pytest.mark.parametrize(
    ("signature", "options", "words"),
    [
        (SAME, {"errors": {0: None}}, "errors: 0 is success, and no error; success= says which"),
        (SAME, {"errors": {1: ("ValueError", "no")}, "success": [1, 2]}, "errors: 1 is success, and no error"),
        (SAME, {"success": []}, r"success: expected the status that is no error, an int, .* but got \[\]"),
        (SAME, {"success": True}, "success: expected the status that is no error, an int, or a list of them"),
        (SAME, {"success": 2**40}, "success=1099511627776: the callee @same returns i32, which is from -2147483648 to"),
        (SAME, {"success": "DON"}, "errors= or success= has 'DON', and DON is not a constant that prototype= declares, did"),
        ("nothing()", {"success": 1}, "success= needs a status, but `nothing` returns none"),
        ("nothing()", {"errno": True}, "errno=True goes with a result that @nothing returns"),
    ],
)  # fmt: skip
def test_what_says_no_success(
    code: bytes, signature: str, options: dict[str, Any], words: str
) -> None:
    with pytest.raises(BuildError, match=words):
        wrap(code, signature, prototype=PROTOTYPE, **options)


def test_texts_of_statuses_are_functions_too(code: bytes) -> None:
    signatures = [WIDE, "said_wide(status: uint64) -> text: String"]
    both = wrap(code, signatures, prototype=PROTOTYPE, errors="said_wide", success=1)
    with pytest.raises(RuntimeError, match="wide failed with status 9: wide when calling"):
        both["wide"](9, 0)
    assert both["said_wide"](9) == "wide"


@pytest.mark.parametrize(
    ("errors", "words"),
    [
        (ValueError, "errors= has the class <class 'ValueError'>: expected the .*mean 'ValueError'"),
        ({2: ("KeyEror", "x")}, "errors= for 2 has the class 'KeyEror': .*did you mean 'KeyError'"),
        ({2: "OverflowError"}, "errors= for 2 has the class 'OverflowError': expected the name of"),
        ("OSError", "errors= has the class 'OSError': .*; errno=True makes it of errno"),
        ({2: ["KeyError", "x"]}, "errors= for 2: expected a class, as 'ValueError', the name of a"),
        ({2: ("KeyError",)}, r"or None if the kernel sets the error, but got \('KeyError',\)"),
        ("KeyError: no", "errors=: expected a class, as 'ValueError', the name of .*'KeyError: no'"),
        (7, "errors=: expected a class, as 'ValueError', the name of a function .* but got 7"),
        ({"...": "last"}, r"errors= has '...': write \.\.\., without quotes, for all others"),
    ],
)  # fmt: skip
def test_what_is_no_error(code: bytes, errors: Any, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        wrap(code, SAME, prototype=PROTOTYPE, errors=errors)


@pytest.mark.parametrize("errors", ["ValueError", ("KeyError", "no"), {...: None}])
def test_errno_and_an_error_of_all_statuses(code: bytes, errors: Any) -> None:
    with pytest.raises(TypeError, match="errno=True makes an OSError of each status that err"):
        wrap(code, SET, prototype=PROTOTYPE, errno=True, errors=errors)


@pytest.mark.parametrize(
    ("signature", "errors", "words"),
    [
        (SAME, "unsaid", "errors= has 'unsaid', which is no function that returns"),
        (SAME, "many", r"as `const char \*many\(int\)`"),
        (SAME, "said_byte", "errors= has 'said_byte', which is no"),
        (SAME, "sad", "declares no function 'sad'.*did you mean"),
        (SAME, "ValueErr", "'ValueErr': the prototype .*'ValueErr', did you mean 'ValueError'"),
        (SAME, {1: ("KeyError", "{sad(status)}")}, "declares no function 'sad'"),
        (SAME, {1: ("KeyError", "{said(code)}")}, r"or \{f\(status\)\} and \{f\(\)\} for the te"),
        (SAME, {1: ("KeyError", "{said()}")}, r"'said', .* as `const char \*said\(void\)`"),
        (SAME, {1: ("KeyError", "{last(status)}")}, r"'last', .* as `const char \*last\(int\)`"),
        (SAME, "not_last", "'not_last', which is no function that returns the text"),
        (SAME, "said_wide", "symbol @said_wide is needed as"),
        ("byte(b: uint8)", "said", r"said\(status\) takes 32 or 64 bits, but byte returns i8"),
        ("nothing()", "said", "errors= needs a status, but `nothing` returns none"),
    ],
)  # fmt: skip
def test_what_returns_no_text(code: bytes, signature: str, errors: Any, words: str) -> None:
    with pytest.raises((BuildError, CompileError), match=words):
        wrap(code, signature, prototype=PROTOTYPE, errors=errors)


def test_errno_of_a_handle(code: bytes) -> None:
    signature = "address(is_there: int32, number: int32) -> r: handle"
    address = wrap(code, signature, prototype=PROTOTYPE, errno=True)
    assert address(1, errno.EINVAL)
    assert not address(0, 0)
    with pytest.raises(ConnectionRefusedError):
        address(0, errno.ECONNREFUSED)


def test_errno_of_a_provider(code: bytes) -> None:
    provider = CheckStatus(DirectCallProvider("set"), error="OSError")
    with pytest.raises(NotADirectoryError):
        wrap(code, "set(status: int32, number: int32)", provider=provider)(1, errno.ENOTDIR)
    with pytest.raises(BuildError, match=r"of a status, CheckStatus\(…, error='OSError'\) raises"):
        wrap(code, "set(s: int32, n: int32)", provider=DirectCallProvider("set", errno=True))


def test_errno_of_a_library(code: bytes, tmp_path: Path) -> None:
    set_ = wrap(
        code,
        "set(status: int32, number: int32)",
        prototype="int set(int status, int number)",
        errno=True,
    )
    path = tmp_path / "set.so"
    set_.export_library(path)
    with pytest.raises(FileNotFoundError, match=r"\[Errno 2\] No such file or directory when"):
        runtime.load(path)["set"](1, errno.ENOENT)


def test_libc() -> None:
    options: dict[str, Any] = {"errno": True, "device": "cpu"}
    prototype = "int chdir(const char *path)"
    chdir = wrap("-lc", "chdir(path: String)", prototype=prototype, **options)
    chdir(".")
    with pytest.raises(FileNotFoundError):
        chdir("/no/such/folder")
    getrandom = wrap(
        "-lc",
        "getrandom(data: Tensor([n], uint8, intent=out), flags: uint32) -> count: int64",
        prototype="long getrandom(void *data, unsigned long n, unsigned flags)",
        **options,
    )
    data = np.zeros(64, "uint8")
    assert getrandom(data, 0) == 64
    assert data.any()
    with pytest.raises(OSError, match="Invalid argument") as caught:
        getrandom(data, 2**20)
    assert caught.value.errno == errno.EINVAL
    prototype = "char *realpath(const char *path, char *resolved)"
    realpath = wrap(
        "-lc",
        "realpath(path: String) -> r: String",
        prototype=prototype,
        args={"resolved": None},
        free="free",
        **options,
    )
    assert realpath("/usr/../usr/./") == os.path.realpath("/usr")
    with pytest.raises(FileNotFoundError):
        realpath("/no/such/file")


@needs_header("openssl/rand.h")
def test_openssl() -> None:
    rand = wrap(
        "-lcrypto",
        "RAND_bytes(buf: Tensor([num], uint8, intent=out))",
        prototype="#include <openssl/rand.h>",
        success=1,
        device="cpu",
    )
    data = np.zeros(64, "uint8")
    assert rand(data) is None
    assert data.any()
