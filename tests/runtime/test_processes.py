"""The end of the interpreter, and forks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.runtime.samples import run_child
from tests.support.forking import COMPILING, Forking

pytestmark = pytest.mark.slow


START = """
import atexit, builtins, gc, os, sys, threading, time, weakref
from ffi_builder import runtime
from ffi_builder.spec import Var
from tests.runtime.callables import checking
from tests.runtime.samples import llvm_entry, mlir_entry, parse

ENDING = '''
declare i64 @write(i32, ptr, i64)
@text = private constant [4 x i8] c"end\\\\0A"
define internal void @end() {
  %n = call i64 @write(i32 1, ptr @text, i64 4)
  ret void
}
@llvm.global_dtors = appending global [1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 65535, ptr @end, ptr null }]
'''
compiled = runtime.compile(checking(Var("a", "int32", default=1)).mlir, link=[ENDING])
f, call = compiled["f"], compiled.callable("f")
f(1), call()
"""

ENDS = {
    "in globals": "",
    "the function alone": "del compiled, call",
    "the callable alone": "del compiled, f",
    "in a cycle": "kept = [compiled, f, call]; kept.append(kept); del compiled, f, call",
    "in builtins": "builtins.kept = f, call; del compiled",
    "without the collector": "gc.disable(); kept = [f]; kept.append(kept); builtins.kept = call",
    "called at exit": "atexit.register(lambda: (f(1), call(a=2)))",
    "called by a finalizer": """
class Owner:
    pass
owner = Owner()
weakref.finalize(owner, call, a=1)
""",
    "called in a destructor": """
class Owner:
    def __init__(self):
        self.f, self.call = f, call
    def __del__(self):
        self.f(1), self.call(a=2)
sys.owner = Owner()
del compiled, f, call
""",
    "called by a thread": """
threading.Thread(target=lambda: (time.sleep(0.2), f(1), call())).start()
del compiled
""",
    "held by an error": """
try:
    call(a="x")
except TypeError as error:
    kept = error
""",
    "by sys.exit": "sys.exit(0)",
}


@pytest.fixture(scope="module")
def forking() -> Iterator[Forking]:
    server = Forking(COMPILING)
    yield server
    server.close()


@pytest.fixture(scope="module")
def compiled() -> Iterator[Forking]:
    """Forks of a process that has compiled, and called what it has compiled."""
    server = Forking(f"{COMPILING}\n{START}")
    yield server
    server.close()


@pytest.mark.parametrize("how", ENDS)
def test_the_end_of_the_interpreter(how: str, compiled: Forking) -> None:
    """Nothing on stderr, and the author's destructors have run."""
    # One is a process that is no fork.
    done = run_child(START) if how == "in globals" else compiled.run(ENDS[how])
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")


def test_code_that_never_ends(compiled: Forking) -> None:
    """Functions in tvm-ffi's registry, or after os._exit, are just not freed."""
    for how in ("import tvm_ffi; tvm_ffi.register_global_func('kept', f)", "os._exit(0)"):
        done = compiled.run(how)
        assert (done.returncode, done.stderr) == (0, "")


# ---- forks

PIPELINE = "builtin.module(func.func(canonicalize,cse),convert-to-llvm)"
FORK = f"""
import multiprocessing, os, signal, sys, threading, time
from ffi_builder import runtime
from ffi_builder.spec import Var
from tests.runtime.callables import checking
from tests.runtime.samples import by_assembly, llvm_entry, mlir_entry, parse

# Many functions: a pass manager runs them in threads, if there are some.
MANY = "".join(f"func.func @k{{i}}(%a: i64) -> i64 {{{{ return %a : i64 }}}}\\n" for i in range(8))

def plus(number):
    text = MANY + mlir_entry("f", f'''%c = llvm.mlir.constant({{number}} : i64) : i64
                                      %x = llvm.add %v, %c : i64''')
    return runtime.compile(text, pipeline="{PIPELINE}")["f"]

def in_child(number):
    return runtime.compile(llvm_entry("f", by_assembly(number)))["f"]

def forked(work):
    pid = os.fork()
    if pid == 0:
        signal.alarm(60)
        work()
        sys.exit(7)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert status == 7, status

def wrapper(value):
    call = checking(Var("a", "int32", max=5)).callable("f")
    call(a=value)
    try:
        call(a=6)
    except ValueError as error:
        assert "Mismatched a on argument #0" in str(error), error
    else:
        assert False
"""

FORKS = {
    "compile after fork": """
def work():
    for number in range(5):
        assert plus(number)(1) == number + 1
        wrapper(number)
forked(work)
work()
""",
    "fork after compile": """
f, g = plus(3), in_child(42)
wrapper(1)
module = parse(MANY + mlir_entry("h"))
def work():
    assert (f(1), g(1)) == (4, 42)
    for number in range(5):
        assert plus(number)(1) == number + 1
        assert in_child(number)(0) == number
        wrapper(number)
    assert runtime.compile(module, pipeline="builtin.module(convert-to-llvm)")["h"](1) == 2
forked(work)
forked(lambda: forked(work))
work()
""",
    "fork while another thread compiles": """
from ffi_builder.runtime.codegen import mlir
from ffi_builder.runtime.python import loaded
from ffi_builder.runtime.codegen import llvm
from ffi_builder.runtime.sources import wrappers
plus(3)
wrapper(1)
locks = [loaded._lock, mlir._lock, llvm._machine_lock, wrappers._lock]
for lock in locks:
    lock.acquire()
def work():
    assert plus(4)(1) == 5
    wrapper(2)
forked(work)
""",
    "dropped in the child": """
f, g = plus(3), in_child(42)
def work():
    global f, g
    del f, g
    assert plus(4)(1) == 5
forked(work)
assert (f(1), g(1)) == (4, 42)
""",
    "multiprocessing": """
f = plus(3)
def work(number):
    return f(number), plus(number)(1), in_child(number)(0)
with multiprocessing.get_context("fork").Pool(3) as pool:
    assert pool.map(work, range(6)) == [(i + 3, i + 1, i) for i in range(6)]
    pool.close()
    pool.join()
assert work(1) == (4, 2, 1)
""",
    "a child that outlives its parent": """
assert in_child(42)(0) == 42
if os.fork() == 0:
    os.close(1), os.close(2)
    time.sleep(20)
    os._exit(0)
""",
}


@pytest.mark.parametrize("how", FORKS)
def test_forks(how: str, forking: Forking) -> None:
    if "outlives" in how:  # it would keep pipes open
        done = run_child(FORK + FORKS[how], seconds=15)
    else:
        done = forking.run(FORK + FORKS[how])
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
