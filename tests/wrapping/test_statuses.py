"""Statuses of functions in C: which of them are success, and ``errno``."""

from __future__ import annotations

import ctypes
import errno
import os
from pathlib import Path
from typing import Any

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
SAME = "int same(int status)"


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return c_object(tmp_path_factory.mktemp("statuses"), SOURCE)


def test_another_success(code: bytes) -> None:
    one = wrap(code, "same(status: int32)", prototype=SAME, success=1)
    assert one(1) is None
    for status in (0, 2, -1):
        with pytest.raises(RuntimeError, match=f"same failed with status {status} when calling"):
            one(status)
    several = wrap(code, "same(status: int32)", prototype=SAME, success=[0, 1, -7])
    for status in (0, 1, -7):
        assert several(status) is None
    with pytest.raises(RuntimeError, match="same failed with status 7 when"):
        several(7)
    errors: Any = {0: ("ValueError", "no"), 2: ("KeyError", "two")}
    both = wrap(code, "same(status: int32)", prototype=SAME, success=1, errors=errors)
    for status, error in ((0, ValueError), (2, KeyError), (3, RuntimeError)):
        with pytest.raises(error):
            both(status)
    byte = wrap(
        code, "byte(status: uint8)", prototype="unsigned char byte(unsigned char)", success=200
    )
    assert byte(200) is None


def test_what_says_no_success(code: bytes) -> None:
    """`errors={1: None}` is for a kernel that sets an error itself."""
    same = wrap(code, "same(status: int32)", prototype=SAME, errors={1: None})
    words = "same returned 1, but has set no error; if 1 is success, say success=1 when"
    with pytest.raises(RuntimeError, match=words):
        same(1)
    for errors, success, error in (
        ({0: None}, None, "errors: 0 is success, and no error; success= says which"),
        ({1: ("ValueError", "no")}, [1, 2], "errors: 1 is success, and no error"),
        (None, [], r"success: expected the status that is no error, an int, .* but got \[\]"),
        (None, True, "success: expected the status that is no error, an int, or a list of them"),
        (
            None,
            2**40,
            "success=1099511627776: the callee @same returns i32, which is from -2147483648 to",
        ),
    ):
        options: dict[str, Any] = {"errors": errors, "success": success}
        with pytest.raises(BuildError, match=error):
            wrap(code, "same(status: int32)", prototype=SAME, **options)
    with pytest.raises(BuildError, match="success= needs a status, but `nothing` returns none"):
        wrap(code, "nothing()", prototype="void nothing(void)", success=1)


TEXTS = (
    SOURCE
    + """
const char *said(int status) { return status == 7 ? "seven" : status == 8 ? 0 : "another"; }
const char *said_wide(unsigned long status) { return "wide"; }
const char *said_byte(unsigned char status) { return "byte"; }
int unsaid(int status) { return status; }
const char *many(int status, int more) { return 0; }
const char *last(void) { return "the last error"; }
int not_last(void) { return 0; }
"""
)
TEXTS_IN_C = """
int same(int status); int64_t wide(int64_t value, int number); unsigned char byte(unsigned char b);
int set(int status, int number); void nothing(void);
const char *said(int status); const char *said_wide(unsigned long status); int unsaid(int status);
const char *said_byte(unsigned char status); const char *many(int status, int more);
const char *last(void); int not_last(void);
"""


def test_the_text_of_a_status(tmp_path: Path) -> None:
    code = c_object(tmp_path, TEXTS)
    same = wrap(code, "same(status: int32)", prototype=TEXTS_IN_C, errors="said")
    assert same(0) is None
    for status, words in ((7, "7: seven"), (-1, "-1: another"), (8, r"8: \(null\)")):
        with pytest.raises(RuntimeError, match=f"same failed with status {words} when calling"):
            same(status)
    errors: Any = {7: ("ValueError", "{callee} has {said(status)}, {status}")}
    signatures = [
        "same(status: int32)",
        "wide(value: int64, number: int32)",
        "nothing()",
        "said_wide(status: uint64) -> text: String",
    ]
    some = wrap(code, signatures[0], prototype=TEXTS_IN_C, errors=errors)
    with pytest.raises(ValueError, match="same has seven, 7 when calling"):
        some(7)
    with pytest.raises(RuntimeError, match="same failed with status 1 when calling"):
        some(1)
    several = wrap(code, signatures[1:], prototype=TEXTS_IN_C, errors="said_wide", success=1)
    with pytest.raises(RuntimeError, match="wide failed with status 9: wide when calling"):
        several["wide"](9, 0)
    assert several["said_wide"](9) == "wide"
    numbered = wrap(
        code, "set(status: int32, number: int32)", prototype=TEXTS_IN_C, errors="said", errno=True
    )
    for number, words in ((0, "set failed with status 7: seven"), (2, "No such file")):
        with pytest.raises((RuntimeError, OSError), match=words):
            numbered(7, number)


def test_the_text_of_the_last_error(tmp_path: Path) -> None:
    code = c_object(tmp_path, TEXTS)
    errors: Any = {7: ("ValueError", "{status} is {last()}")}
    for given, words in (
        ("last", "same failed with status 7: the last"),
        (errors, "7 is the last"),
    ):
        same = wrap(code, "same(status: int32)", prototype=TEXTS_IN_C, errors=given)
        assert same(0) is None
        with pytest.raises((RuntimeError, ValueError), match=f"^{words} error when calling"):
            same(7)


@pytest.mark.parametrize(
    ("errors", "seven", "one"),
    [
        ({"SEVEN": "ValueError", ...: "said"}, "ValueError: same failed with status 7: seven", "RuntimeError: same failed with status 1: another"),
        ({7: "said", ...: "KeyError"}, "KeyError: same failed with status 7: seven", "KeyError: same failed with status 1"),
        ({7: ("KeyError", "no"), ...: ("ValueError", "{last()}")}, "KeyError: no", "ValueError: the last error"),
        ({7: "KeyError", ...: ("ValueError", "{last()}")}, "KeyError: the last error", "ValueError: the last error"),
        ({7: "KeyError", 1: "last"}, "KeyError: same failed with status 7", "RuntimeError: same failed with status 1: the last error"),
        ("ValueError", "ValueError: same failed with status 7", "ValueError: same failed with status 1"),
        (("KeyError", "{said(status)}"), "KeyError: seven", "KeyError: another"),
        ("said(status)", "RuntimeError: same failed with status 7: seven", "RuntimeError: same failed with status 1: another"),
        ({7: "KeyError", ...: None}, "KeyError: same failed with status 7", "RuntimeError: same returned 1, but has set no error"),
    ],
)  # fmt: skip
def test_errors_of_all_statuses(tmp_path: Path, errors: Any, seven: str, one: str) -> None:
    code = c_object(tmp_path, TEXTS)
    prototype = f"{TEXTS_IN_C} enum {{ SEVEN = 7 }};"
    same = wrap(code, "same(status: int32)", prototype=prototype, errors=errors)
    assert same(0) is None
    for status, words in ((7, seven), (1, one)):
        with pytest.raises(Exception, match="when calling") as caught:
            same(status)
        shown = f"{type(caught.value).__name__}: {caught.value.args[0]}"
        assert shown == f"{words} when calling: `same(status: int32)`"


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
        wrap(code, "same(status: int32)", prototype=SAME, errors=errors)


def test_errno_and_an_error_of_all_statuses(code: bytes) -> None:
    signature, prototype = "set(status: int32, number: int32)", "int set(int status, int number)"
    for errors in ("ValueError", ("KeyError", "no"), {...: None}):
        with pytest.raises(TypeError, match="errno=True makes an OSError of each status that err"):
            wrap(code, signature, prototype=prototype, errno=True, errors=errors)
    f = wrap(code, signature, prototype=prototype, errno=True, errors={2: "KeyError"})
    with pytest.raises(KeyError):
        f(2, errno.ENOENT)
    with pytest.raises(FileNotFoundError):
        f(3, errno.ENOENT)


@pytest.mark.parametrize(
    ("signature", "errors", "words"),
    [
        ("same(status: int32)", "unsaid", "errors= has 'unsaid', which is no function that returns"),
        ("same(status: int32)", "many", r"as `const char \*many\(int\)`"),
        ("same(status: int32)", "said_byte", "errors= has 'said_byte', which is no"),
        ("same(status: int32)", "sad", "declares no function 'sad'.*did you mean"),
        ("same(status: int32)", "ValueErr", "'ValueErr': the prototype .*'ValueErr', did you mean 'ValueError'"),
        ("same(status: int32)", {1: ("KeyError", "{sad(status)}")}, "declares no function 'sad'"),
        ("same(status: int32)", {1: ("KeyError", "{said(code)}")}, r"or \{f\(status\)\} and \{f\(\)\} for the te"),
        ("same(status: int32)", {1: ("KeyError", "{said()}")}, r"'said', .* as `const char \*said\(void\)`"),
        ("same(status: int32)", {1: ("KeyError", "{last(status)}")}, r"'last', .* as `const char \*last\(int\)`"),
        ("same(status: int32)", "not_last", "'not_last', which is no function that returns the text"),
        ("same(status: int32)", "said_wide", "symbol @said_wide is needed as"),
        ("byte(b: uint8)", "said", r"said\(status\) takes 32 or 64 bits, but byte returns i8"),
        ("nothing()", "said", "errors= needs a status, but `nothing` returns none"),
    ],
)  # fmt: skip
def test_what_returns_no_text(tmp_path: Path, signature: str, errors: Any, words: str) -> None:
    code = c_object(tmp_path, TEXTS)
    with pytest.raises((BuildError, CompileError), match=words):
        wrap(code, signature, prototype=TEXTS_IN_C, errors=errors)


def test_errno_of_a_status(code: bytes) -> None:
    signature, prototype = "set(status: int32, number: int32)", "int set(int status, int number)"
    set_ = wrap(code, signature, prototype=prototype, errno=True)
    assert set_(0, errno.ENOENT) is None  # a success may leave anything in errno
    for number, kind in ((errno.ENOENT, FileNotFoundError), (errno.EINVAL, OSError)):
        with pytest.raises(kind) as caught:
            set_(-1, number)
        assert caught.value.errno == number
        assert f"{caught.value.strerror}".startswith(f"{os.strerror(number)} when calling: `set(")
    ctypes.set_errno(errno.EINVAL)
    with pytest.raises(RuntimeError, match="set failed with status -1 when"):
        set_(-1, 0)
    errors: Any = {2: ("KeyError", "two")}
    both = wrap(code, signature, prototype=prototype, errno=True, success=1, errors=errors)
    assert both(1, 0) is None
    with pytest.raises(KeyError):
        both(2, errno.EINVAL)
    with pytest.raises(PermissionError):
        both(0, errno.EACCES)


def test_errno_of_a_result(code: bytes) -> None:
    wide = wrap(
        code,
        "wide(value: int64, number: int32) -> r: int64",
        prototype="int64_t wide(int64_t value, int number)",
        errno=True,
    )
    assert [wide(0, 0), wide(7, errno.EINVAL), wide(-1, 0)] == [0, 7, -1]
    with pytest.raises(FileExistsError):
        wide(-1, errno.EEXIST)
    prototype = "void *address(int is_there, int number)"
    signature = "address(is_there: int32, number: int32) -> r: handle"
    address = wrap(code, signature, prototype=prototype, errno=True)
    assert address(1, errno.EINVAL)
    assert not address(0, 0)
    with pytest.raises(ConnectionRefusedError):
        address(0, errno.ECONNREFUSED)
    prototype = "char *text(int is_there, int number)"
    signature = "text(is_there: int32, number: int32) -> r: String"
    text = wrap(code, signature, prototype=prototype, errno=True, free="free")
    assert text(1, errno.EINVAL) == "abc"
    with pytest.raises(IsADirectoryError):
        text(0, errno.EISDIR)
    with pytest.raises(ValueError, match="text returned NULL for r"):
        text(0, 0)


def test_errno_of_a_provider(code: bytes) -> None:
    provider = CheckStatus(DirectCallProvider("set"), error="OSError")
    with pytest.raises(NotADirectoryError):
        wrap(code, "set(status: int32, number: int32)", provider=provider)(1, errno.ENOTDIR)
    with pytest.raises(BuildError, match=r"of a status, CheckStatus\(…, error='OSError'\) raises"):
        wrap(code, "set(s: int32, n: int32)", provider=DirectCallProvider("set", errno=True))
    with pytest.raises(BuildError, match="errno=True goes with a result that @nothing returns"):
        wrap(code, "nothing()", prototype="void nothing(void)", errno=True)


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


def test_names_of_statuses(code: bytes) -> None:
    """`errors=` and `success=` take what the prototype calls a status."""
    named = f"#define AGAIN 3\nenum {{ BAD = -5, DONE = 101 }};\n{SAME};"
    errors: Any = {"BAD": ("KeyError", "bad"), 7: ("ValueError", "seven")}
    same = wrap(
        code, "same(status: int32)", prototype=named, errors=errors, success=[0, "DONE", "AGAIN"]
    )
    assert same(101) is None
    assert same(3) is None
    with pytest.raises(KeyError, match="bad when calling"):
        same(-5)
    with pytest.raises(ValueError, match="seven when calling"):
        same(7)
    one = wrap(code, "same(status: int32)", prototype=named, success="DONE")
    with pytest.raises(RuntimeError, match="same failed with status 0 when"):
        one(0)
    words = "errors= or success= has 'DON', and DON is not a constant that prototype= declares, did"
    with pytest.raises(BuildError, match=words):
        wrap(code, "same(status: int32)", prototype=named, success="DON")
