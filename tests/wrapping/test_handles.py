"""``destroy=``: handles that are destroyed once, with what they need until then."""

from __future__ import annotations

import copy
import ctypes
import gc
import os
import pickle
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from ffi_builder import BuildError, CompileError, SpecError, attach, providers, runtime, spec, wrap
from ffi_builder.cli.main import main
from ffi_builder.runtime.extending import Extension, extension
from ffi_builder.runtime.python.handles import Handle
from tests.runtime.samples import c_object, needs_cc
from tests.support.wrapping import new_module

pytest.importorskip("clang.native")
pytestmark = needs_cc

SOURCE: Final = """
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
struct db { int64_t id; };
struct row { struct db *of; };
int64_t destroyed;  /* the ids of what was destroyed, as digits */
int db_open(int64_t id, struct db **db, int *count) {
  if (id < 0) return 3;
  *db = id ? malloc(sizeof **db) : NULL;
  if (*db) (*db)->id = id;
  *count = 1;
  return 0;
}
int db_close(struct db *db) {
  int status = db->id == 9 ? 5 : 0;
  destroyed = 10 * destroyed + db->id;
  db->id = 0;
  free(db);
  return status;
}
struct row *row_of(struct db *db, const double *x, int64_t n) {
  struct row *row = malloc(sizeof *row);
  row->of = db;
  return row;
}
int64_t row_id(const struct row *row) { return row->of->id; }
void row_free(struct row **row) {
  destroyed = 10 * destroyed + ((*row)->of->id == 0 ? 0 : 8);
  free(*row);
  *row = NULL;
}
int64_t log_of(int64_t begin) { if (begin) destroyed = 0; return destroyed; }
struct db *db_copy(const struct db *from) {
  struct db *db = malloc(sizeof *db);
  memcpy(db, from, sizeof *db);
  return db;
}
"""
HEADER: Final = """
#include <stdint.h>
struct db; struct row;
int db_open(int64_t id, struct db **db, int *count);
int db_close(struct db *db);
struct row *row_of(struct db *of, const double *x, int64_t n);
int64_t row_id(const struct row *of);
void row_free(struct row **row);
int64_t log_of(int64_t begin);
struct db *db_copy(const struct db *of);
"""
FREXP: Final = "double frexp(double x, int *exp)"
OPEN: Final = "db_open(id: int64) -> (db: handle, count: int32)"
SIGNATURES: Final = (
    OPEN,
    "row_of(of: handle, x: Tensor([n], float64)) -> row: handle where of.present",
    "row_id(of: handle) -> id: int64 where of.present",
    "db_copy(of: handle) -> other: handle where of.present",
    "log_of(begin: int64) -> digits: int64",
)
DESTROY: Final = {"db": "db_close", "row": "row_free", "other": "db_close"}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("handles")
    c_object(folder, SOURCE)
    (folder / "part.o").rename(folder / "db.o")
    (folder / "db.h").write_text(HEADER)
    return folder / "db.o"


@pytest.fixture(scope="module")
def library(path: Path) -> Any:
    return of(path, SIGNATURES, destroy=DESTROY)


@pytest.fixture(autouse=True)
def emptied(library: Any) -> Iterator[None]:
    library["log_of"](1)
    yield
    gc.collect()


def of(path: Path, signatures: Any, **options: Any) -> Any:
    """Functions of the library, as its header declares them."""
    return wrap(path, signatures, prototype=path.with_name("db.h"), device="cpu", **options)


def log(library: Any) -> int:
    """Return the ids of what was destroyed since the test began, as digits."""
    gc.collect()
    return library["log_of"](0)


def opened(library: Any, number: int) -> Any:
    return library["db_open"](number)[0]


def test_the_destroyers_are_functions_too(library: Any) -> None:
    names = [text.partition("(")[0] for text in SIGNATURES]
    assert library.functions == (*names, "db_close", "row_free")


def test_close(library: Any) -> None:
    db, count = library["db_open"](3)
    assert (type(db), count, db.closed) == (Handle, 1, False)
    assert repr(db) == "<Handle db of db_open>"
    assert isinstance(db.value, int)
    db.close()
    db.close()
    assert (log(library), db.closed, db.value) == (3, True, None)
    assert repr(db) == "<Handle db of db_open, closed>"
    with opened(library, 4) as other:
        assert not other.closed
    assert (other.closed, log(library)) == (True, 34)
    with pytest.raises(KeyError), opened(library, 5):
        raise KeyError
    last = opened(library, 6)
    assert log(library) == 345
    del last
    assert log(library) == 3456


def test_null_is_none(library: Any) -> None:
    assert opened(library, 0) is None
    with pytest.raises(RuntimeError, match="db_open failed with status 3"):
        opened(library, -1)
    assert log(library) == 0


@pytest.mark.parametrize("by_name", [False, True])
def test_what_it_was_made_from_is_kept(library: Any, by_name: bool) -> None:
    """A row is destroyed before its database, whichever is dropped first."""
    db = opened(library, 3)
    make = library.callable("row_of") if by_name else library["row_of"]
    row = make(of=db, x=np.zeros(2)) if by_name else make(db, np.zeros(2))
    del db
    assert (log(library), library["row_id"](row)) == (0, 3)
    del row
    assert log(library) == 83


def test_the_code_is_kept(path: Path) -> None:
    db, _ = of(path, OPEN, destroy="db_close")(7)
    gc.collect()
    db.close()  # a segmentation fault if the code is gone


def test_a_status_of_the_destroyer(library: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """It is the error of close. The handle is closed, as nobody knows what was freed."""
    db = opened(library, 9)
    with pytest.raises(RuntimeError, match="db_close failed with status 5"):
        db.close()
    db.close()
    assert (db.closed, log(library)) == (True, 9)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_status_when_nobody_waits(library: Any) -> None:
    seen: list[Any] = []
    before, sys.unraisablehook = sys.unraisablehook, seen.append
    try:
        opened(library, 9)
        gc.collect()
    finally:
        sys.unraisablehook = before
    assert "db_close failed with status 5" in str(seen[0].exc_value)


def test_a_closed_handle_is_refused(library: Any) -> None:
    db = opened(library, 3)
    row = library["row_of"](db, np.zeros(2))
    row.close()
    for function in (library["row_id"], library.callable("row_id")):
        words = (
            "Mismatched of on argument #0 .* an open handle but got <Handle row of row_of, closed>"
        )
        with pytest.raises(ValueError, match=words):
            function(row)
    with pytest.raises(ValueError, match="row_free: the handle row of row_of is closed"):
        library["row_free"](row)
    db.close()
    assert log(library) == 83


def test_the_destroyer_itself(library: Any) -> None:
    """Whoever calls it has destroyed the handle: nothing destroys it again."""
    one, other = opened(library, 1), opened(library, 2)
    library["db_close"](one)
    library.callable("db_close")(h=other)
    assert (one.closed, other.closed) == (True, True)
    del one, other
    assert log(library) == 12


def test_the_destroyer_itself_and_what_the_handle_came_from(library: Any) -> None:
    """That is there until the destroyer has returned, and goes with it."""
    row = library["row_of"](opened(library, 3), np.zeros(1))
    library["row_free"](row)
    assert (row.closed, log(library)) == (True, 83)


def test_a_handle_that_another_function_destroys(library: Any) -> None:
    db = opened(library, 3)
    words = (
        "expected a handle that row_free destroys but got <Handle db of db_open>, which db_close"
    )
    with pytest.raises(TypeError, match=words):
        library["row_free"](db)
    assert not db.closed
    with pytest.raises(ValueError, match=r"expected h\.present .* but got h = None"):
        library["row_free"](None)


def test_calls_are_read_in_c(library: Any) -> None:
    """Without a function in Python: with a handle, an address, and for several numbers."""
    row_id: Any = library["row_id"]
    db = opened(library, 7)
    row = library["row_of"](db, np.zeros(2))
    assert row_id(row) == row_id(ctypes.c_void_p(row.value)) == row_id(of=row) == 7
    several: Any = wrap("-lm", "frexp(x: float64) -> (a: float64, exp: int32)", prototype=FREXP)[
        "frexp"
    ]
    assert several(12.0) == (0.75, 4)
    if isinstance(extension(), Extension):
        assert (row_id._general_calls, several._general_calls) == (0, 0)
    row.close()
    with pytest.raises(ValueError, match="expected an open handle but got <Handle row of row_of"):
        row_id(row)


def test_parents_outlive_children_of_a_cycle(library: Any) -> None:
    """Also where a collection finds both at once."""
    cycle: list[Any] = []
    cycle += [cycle, opened(library, 4)]
    cycle.append(library["row_of"](cycle[1], np.zeros(2)))
    del cycle
    assert log(library) == 84


def test_a_handle_to_something_else(library: Any, path: Path) -> None:
    """The prototypes say what a handle points to, also those of another `wrap`."""
    db = opened(library, 3)
    other = of(path, SIGNATURES[2])
    for function in (library["row_id"], library.callable("row_id"), other["row_id"], other):
        words = (
            "Mismatched type of of on argument #0 when calling: `row_id.*expected a pointer to struct"
            " row but got <Handle db of db_open>, a pointer to struct db"
        )
        with pytest.raises(TypeError, match=words):
            function(db)
    row = library["row_of"](db, np.zeros(1))
    assert other["row_id"](row) == other["row_id"](ctypes.c_void_p(row.value)) == 3
    with pytest.raises(
        TypeError, match="expected a pointer to struct db but got <Handle row of row"
    ):
        library["row_of"](row, np.zeros(1))
    with pytest.raises(TypeError, match="<Handle row of row_of> is no function"):
        row()


def test_a_borrowed_handle(path: Path) -> None:
    """Without ``destroy=`` it is of its kind, too, and keeps what it came from, and the code."""
    borrowed = "row_of(of: handle, x: Tensor([n], float64)) -> row: handle"
    signatures = [OPEN, borrowed, *SIGNATURES[2:]]
    library = of(path, signatures, destroy={"db": "db_close"})
    log_of = library["log_of"]
    log_of(1)
    db = opened(library, 3)
    row = library["row_of"](db, np.zeros(1))
    assert (repr(row), row.is_borrowed, db.is_borrowed) == ("<Handle row of row_of>", True, False)
    assert library["row_id"](row) == library.callable("row_id")(of=row) == 3
    assert ctypes.cast(row, ctypes.POINTER(ctypes.c_void_p))[0] == db.value
    for wrong in ("db_copy", "db_close"):
        words = "expected a pointer to struct db but got <Handle row of row_of>, a pointer to struct row"
        with pytest.raises(TypeError, match=words):
            library[wrong](row)
    with pytest.raises(TypeError, match=r"row_of> is borrowed, so .* by destroy=\{'row': …\}"):
        row.close()
    row_id = library["row_id"]
    del db, library
    gc.collect()
    assert (row.closed, log_of(0), row_id(row)) == (False, 0, 3)
    del row
    gc.collect()
    assert log_of(0) == 3


def test_a_destroyer_of_a_borrowed_handle(path: Path) -> None:
    """It is destroyed by hand, and closed after that."""
    signatures = [*SIGNATURES[:3], "db_copy(of: handle) -> copied: handle", SIGNATURES[4]]
    library = of(path, signatures, destroy={"db": "db_close"})
    library["log_of"](1)
    copied = library["db_copy"](opened(library, 4))
    library["db_close"](copied)
    assert (copied.closed, log(library)) == (True, 44)
    with pytest.raises(ValueError, match="db_close: the handle copied of db_copy is closed"):
        library["db_close"](copied)
    with pytest.raises(ValueError, match="expected an open handle"):
        library["db_copy"](copied)
    with pytest.raises(ctypes.ArgumentError, match="the handle copied of db_copy is closed"):
        ctypes.cast(copied, ctypes.c_void_p)


def test_null_that_is_borrowed(tmp_path: Path) -> None:
    """Of a kind that is known it is None; a `void *` is any address, as before."""
    made = wrap(c_object(tmp_path, KINDS), [*MAKERS, "take(at: handle)"], prototype=KINDS)
    assert made["struct_of"](0) is None
    assert made["void_of"](0).value is None
    assert [type(made[each](1)) for each in ("any_of", "void_of")] == [ctypes.c_void_p] * 2


KINDS: Final = """
typedef void EASY;
typedef void MULTI;
struct s;
struct s *struct_of(int n) { return n ? (struct s *)8 : 0; }
struct s **structs_of(int n) { return (struct s **)8; }
char *chars_of(int n) { return (char *)8; }
int out_chars(int n, char **made) { *made = (char *)8; return 0; }
double *numbers_of(int n) { return (double *)8; }
EASY *easy_of(int n) { return (EASY *)8; }
MULTI *multi_of(int n) { return (MULTI *)8; }
int out_multi(int n, MULTI **made) { *made = (MULTI *)8; return 0; }
void *void_of(int n) { return n ? (void *)8 : 0; }
int any_of(int n, void *made) { *(long *)made = 8; return 0; }
void take(struct s *at) {}
void take_easy(EASY *at) {}
void take_structs(struct s **at) {}
void take_any(const void *at) {}
void take_bytes(unsigned char *at) {}
"""
MAKERS: Final = [
    f"{name}(n: int32) -> made: handle"
    for name in (
        *("struct_of", "structs_of", "chars_of", "out_chars", "numbers_of", "easy_of"),
        *("multi_of", "out_multi", "void_of", "any_of"),
    )
]


def test_kinds_of_handles(tmp_path: Path) -> None:
    """What prototypes tell apart is told apart; the rest goes everywhere."""
    takers = ("take", "take_easy", "take_structs", "take_any", "take_bytes")
    signatures = [*MAKERS, *(f"{each}(at: handle)" for each in takers)]
    library = wrap(c_object(tmp_path, KINDS), signatures, prototype=KINDS, device="cpu")
    found = {
        maker: [each for each in takers if takes(library[each], library[maker](1))]
        for maker in (text.partition("(")[0] for text in MAKERS)
    }
    anywhere = ["take_any", "take_bytes"]
    assert found == {
        "struct_of": ["take", *anywhere],
        "structs_of": ["take_structs", *anywhere],
        "chars_of": anywhere,
        "out_chars": anywhere,
        "numbers_of": anywhere,
        "easy_of": ["take_easy", *anywhere],
        "multi_of": anywhere,
        "out_multi": anywhere,
        "void_of": [*takers],
        "any_of": [*takers],
    }


def takes(function: Any, handle: Any) -> bool:
    try:
        function(handle)
    except TypeError as error:
        return "expected a pointer to " not in f"{error}"
    return True


def test_a_handle_to_what_nobody_says(library: Any, path: Path) -> None:
    prototype = "long row_id(const void *of)"
    row = library["row_of"](opened(library, 3), np.zeros(1))
    assert wrap(path, SIGNATURES[2], prototype=prototype)["row_id"](row) == 3
    point = "typedef struct { long x; } *point; long row_id(point of)"
    assert wrap(path, SIGNATURES[2], prototype=point)["row_id"](row) == 3


def test_threads_destroy_it_once(library: Any) -> None:
    for _ in range(5):
        library["log_of"](1)
        db, start = opened(library, 3), threading.Barrier(4)

        def close(db: Any = db, start: Any = start) -> None:
            start.wait()
            db.close()

        threads = [threading.Thread(target=close) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert log(library) == 3


def test_a_thread_that_ends(library: Any) -> None:
    made: list[Any] = []
    thread = threading.Thread(target=lambda: made.append(opened(library, 3)))
    thread.start()
    thread.join()
    made.clear()
    assert log(library) == 3


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="Python warns of forks beside threads")
def test_a_forked_child_destroys_nothing(library: Any) -> None:
    """The process of the test has threads of LLVM, so the child does no more than it must."""
    db, other = opened(library, 3), opened(library, 4)
    child = os.fork()
    if child == 0:
        db.close()
        del other
        os._exit(int(library["log_of"](0)))
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    db.close()
    other.close()
    assert log(library) == 34


@pytest.mark.slow
def test_the_end_of_the_process(path: Path) -> None:
    """What is left is not destroyed: a thread may still use it."""
    code = """
        import gc, sys
        from ffi_builder import wrap
        prototype = "int puts(const char *h); void *malloc(unsigned long size);"
        made = wrap("-lc", "malloc(size: uint64) -> h: handle", prototype=prototype, destroy="puts")
        left = made(8)
        cycle = [made(8)]
        cycle.append(cycle)
        print("the end", flush=True)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True
    )
    assert (done.stdout.split("\n")[0], done.stderr) == ("the end", "")
    assert done.stdout == "the end\n"


def test_copies(library: Any) -> None:
    db = opened(library, 3)
    assert copy.copy(db) is db
    assert copy.deepcopy([db]) == [db]
    with pytest.raises(TypeError, match="cannot pickle <Handle db of db_open>: what it points to"):
        pickle.dumps(db)


def test_other_functions_get_the_address(library: Any) -> None:
    """Of another module too, whether its calls are read in C or in Python."""
    module, pointer = new_module(""), spec.Var("h", "handle")

    def same_pointer(current_block: Any, context: Any) -> Any:
        context.results = [context.scalar(pointer)]
        return current_block

    attach(module, spec.Signature("same", [pointer], spec.Var("r", "handle")), same_pointer)
    same = runtime.compile(module)
    db = opened(library, 3)
    for function in (same["same"], same.callable("same")):
        found = function(db)
        assert (type(found), found.value) == (ctypes.c_void_p, db.value)


def test_an_exported_library(path: Path, tmp_path: Path) -> None:
    of(path, SIGNATURES, destroy=DESTROY).export_library(tmp_path / "made.so")
    words = [word for text in SIGNATURES for word in ("--signature", text)]
    words += [word for pair in DESTROY.items() for word in ("--destroy", "=".join(pair))]
    header = str(path.with_name("db.h"))
    words += ["--prototype", header, "--device", "cpu", "-o", str(tmp_path / "cli.so")]
    assert main(["wrap", str(path), *words, "--stub", str(tmp_path / "cli.pyi")]) == 0
    for name in ("made.so", "cli.so"):
        loaded = runtime.load(tmp_path / name)
        with opened(loaded, 3) as db:
            row = loaded["row_of"](db, np.zeros(1))
            assert loaded["row_id"](row) == 3
            row.close()
        assert loaded["log_of"](0) == 83
    assert "def db_open(id: int) -> Any:" in (tmp_path / "cli.pyi").read_text()


def test_a_destroyer_with_a_signature_of_its_own(path: Path) -> None:
    signatures = [OPEN, "db_close(db: handle) -> status: int32 where db.present"]
    library = of(path, signatures, destroy="db_close")
    assert len(library.functions) == 2
    assert library["db_close"](opened(library, 9)) == 5
    opened(library, 9).close()


@pytest.mark.parametrize(
    ("signatures", "options", "words"),
    [
        (OPEN, {"destroy": {"bd": "db_close"}}, "destroy= has 'bd', but no result of that name is a handle; handles are db"),
        (SIGNATURES[2], {"destroy": "db_close"}, "but the signature has none: declare `-> made: ha"),
        (SIGNATURES, {"destroy": "db_close"}, r"has db, row, other: .* destroy=\{'db': 'db_close', "),
        (OPEN, {"destroy": "db_clos"}, "declares no function 'db_clos'.*did you mean 'db_close'"),
        (OPEN, {"destroy": "drop"}, "declares no function 'drop'; it has .*[^=]$"),
        (OPEN, {"destroy": "db_coy"}, "declares no function 'db_coy', did you mean 'db_close'"),
        ("row_of(of: handle, x: Tensor([n], float64)) -> row: handle", {"destroy": "row_off"}, "'row_off', did you mean 'row_free'"),
        ([OPEN, "db_close(a: handle, b: handle)"], {"destroy": "db_close"}, "but it has a, b: db_clo"),
        (OPEN, {"destroy": "row_of"}, "row_of takes 3 parameters .* but 1 are passed"),
        (OPEN, {"destroy": "log_of"}, "#0  i64       ptr .h."),
        ("db_copy(of: handle) -> other: handle", {"destroy": "db_copy"}, "would destroy its own resu"),
        (OPEN, {"destroy": "not a name"}, "Var 'db': destroy: expected a name of ASCII"),
    ],
)  # fmt: skip
def test_mistakes(path: Path, signatures: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises((BuildError, CompileError, SpecError), match=words):
        of(path, signatures, **options)


def test_options_that_do_not_go_with_it(path: Path) -> None:
    provider = providers.DirectCallProvider
    with pytest.raises(TypeError, match="destroy= goes without provider="):
        wrap(path, OPEN, provider=provider, destroy="db_close")
    with pytest.raises(TypeError, match=r"destroy= goes with .*, but the source is MLIR"):
        wrap("func.func @f() { return }", "f() -> h: handle", destroy="f")
    with pytest.raises(SpecError, match="destroy is for handles, but its dtype is int64"):
        spec.Var("n", "int64", destroy="f")


def test_a_destroyer_in_what_is_linked(path: Path, tmp_path: Path) -> None:
    """A function around a library makes what the library destroys."""
    header = f"{HEADER}int make(int64_t id, struct db **db);"
    shim = f"{header}int make(int64_t id, struct db **db) {{ int n; return db_open(id, db, &n); }}"
    code, signature = c_object(tmp_path, shim), "make(id: int64) -> db: handle"
    options: dict[str, Any] = {"prototype": header, "destroy": "db_close"}
    for more in ([], ["db_close(db: handle) where db.present"]):
        library = wrap(code, [signature, *more], link=[path], **options)
        library["make"](3).close()
        with pytest.raises(RuntimeError, match="db_close failed with status 5"):
            library["make"](9).close()
    ir = "declare i32 @make(i64, ptr)\ndefine i32 @f(i64 %i, ptr %p) {\n %r = call i32 @make(i64 %i, ptr %p)\n ret i32 %r\n}"
    options["prototype"] += "int f(int64_t id, struct db **db);"
    wrap(ir, "f(id: int64) -> db: handle", link=[code, path], **options)(3).close()
    for source in (code, ir):
        with pytest.raises(CompileError, match="which neither the kernel nor what link= lists def"):
            wrap(source, signature if source is code else "f(id: int64) -> db: handle", **options)
    options |= {"destroy": "free", "prototype": f"{options['prototype']}void free(void *made);"}
    with pytest.raises(CompileError, match="to link=, as '-lc' for 'free'"):
        wrap(code, signature, link=[path], **options)
    wrap(code, signature, link=[path, "-lc"], **options)(3).close()


def test_llvm_ir() -> None:
    """It needs no prototype."""
    text = """
      declare ptr @malloc(i64)
      declare void @free(ptr)
      define ptr @make(i64 %size) {
        %made = call ptr @malloc(i64 %size)
        ret ptr %made
      }
      define void @drop(ptr %made) {
        call void @free(ptr %made)
        ret void
      }
    """
    make = wrap(text, "make(size: int64) -> made: handle", destroy="drop")
    with make(16) as made:
        assert made.value
    assert made.closed
