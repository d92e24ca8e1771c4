"""The compile cache's folder: what is not believed, what is kept, and many processes at once."""

from __future__ import annotations

import errno
import os
import random
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest

from ffi_builder import runtime
from ffi_builder.runtime.compiler import cache as compile_cache
from ffi_builder.runtime.compiler.cache import Cache, Entry, decode, encode
from ffi_builder.runtime.sources.modules import CachedSource, Code, LlvmSource, ObjectSource
from tests.runtime.samples import ADD_ONE, llvm_entry, run_child

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    monkeypatch.delenv("FFI_BUILDER_CACHE_DIR", raising=False)
    monkeypatch.delenv("FFI_BUILDER_CACHE_SIZE", raising=False)
    monkeypatch.setattr(compile_cache, "_warned", set[Path]())


def built(folder: Path, key: str = "k", text: str = llvm_entry("f")) -> bool:
    """Tell whether `compile_cached` builds; check that the function is right in any case."""
    calls: list[int] = []
    compiled = runtime.compile_cached(key, lambda: calls.append(1) or text, cache_dir=folder)
    assert compiled[compiled.functions[0]](41) == 42
    return bool(calls)


def only_entry(folder: Path) -> Path:
    (entry,) = folder.iterdir()
    return entry


# ---- what is not believed


def damaged(data: bytes) -> dict[str, bytes]:
    half = len(data) // 2
    return {
        "empty": b"",
        "a byte": b"f",
        "the header alone": data[:52],
        "half": data[:half],
        "all but the last byte": data[:-1],
        "a byte more": data + b"\0",
        "zeros": bytes(len(data)),
        "zeros at the end": data[:half] + bytes(len(data) - half),
        "another version": data[:8] + b"\x7f" + data[9:],
        "another file": Path(sys.executable).read_bytes()[: len(data)],
        "text": b"not an entry\n",
    }


@pytest.mark.parametrize("how", damaged(bytes(100)))
def test_a_damaged_entry_is_built_again(tmp_path: Path, how: str) -> None:
    assert built(tmp_path, text=ADD_ONE)
    entry = only_entry(tmp_path)
    entry.write_bytes(damaged(entry.read_bytes())[how])
    assert built(tmp_path, text=ADD_ONE)
    assert not built(tmp_path, text=ADD_ONE)
    assert only_entry(tmp_path) == entry


def test_an_entry_of_another_key_is_built_again(tmp_path: Path) -> None:
    assert built(tmp_path / "a", "a")
    assert built(tmp_path / "b", "b")
    entry = only_entry(tmp_path / "b")
    entry.write_bytes(only_entry(tmp_path / "a").read_bytes())
    assert built(tmp_path / "b", "b")
    assert not built(tmp_path / "b", "b")


ENTRY = Entry(
    Code((b"own" * 50, b"helpers"), (b"linked",)),
    b"getter",
    CachedSource(b"ML\xefR" * 20, "torch_mlir", {"f": '{"signature": "f(x)"}'}),
    {"torch_mlir": "0123"},
    [["mlir", "4567"], ["llvm", "89ab"]],
)


@pytest.mark.parametrize(
    "source",
    [
        ENTRY.source,
        None,
        LlvmSource("define void @f() { ret void } ; é"),
        ObjectSource(b"own" * 50),
    ],
)
def test_an_entry_is_read_as_it_was_written(
    source: CachedSource | LlvmSource | ObjectSource | None,
) -> None:
    entry = Entry(ENTRY.code, ENTRY.getter, source, ENTRY.distributions, ENTRY.made_of)
    assert decode(b"key", encode(b"key", entry)) == entry
    assert decode(b"kez", encode(b"key", entry)) is None


def test_no_bit_can_flip_unseen() -> None:
    data = encode(b"key", ENTRY)
    for at in range(len(data)):
        for bit in range(8):
            flipped = bytearray(data)
            flipped[at] ^= 1 << bit
            assert decode(b"key", bytes(flipped)) is None


def test_no_length_is_believed() -> None:
    data = encode(b"key", ENTRY)
    assert all(decode(b"key", data[:length]) is None for length in range(len(data)))
    draw = random.Random(7)
    for _ in range(300):
        start, end = sorted(draw.choices(range(len(data)), k=2))
        if start != end:
            assert decode(b"key", data[:start] + data[end:]) is None


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_what_others_may_have_written_is_not_run(tmp_path: Path, mode: int) -> None:
    assert built(tmp_path)
    entry = only_entry(tmp_path)
    assert entry.stat().st_mode & 0o777 == 0o600
    entry.chmod(mode)
    assert built(tmp_path)
    assert not built(tmp_path)
    assert only_entry(tmp_path).stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(os.geteuid() != 0, reason="needs to give a file away")
def test_what_others_have_written_is_not_run(tmp_path: Path) -> None:
    assert built(tmp_path)
    os.chown(only_entry(tmp_path), 12345, -1)
    assert built(tmp_path)
    assert not built(tmp_path)


def test_a_fifo_does_not_block(tmp_path: Path) -> None:
    assert built(tmp_path)
    entry = only_entry(tmp_path)
    entry.unlink()
    os.mkfifo(entry)
    assert built(tmp_path)
    assert not built(tmp_path)


def test_a_directory_in_its_place_is_a_warning(tmp_path: Path) -> None:
    assert built(tmp_path)
    entry = only_entry(tmp_path)
    entry.unlink()
    entry.mkdir()
    with pytest.warns(RuntimeWarning, match="cannot be written"):
        assert built(tmp_path)
    assert only_entry(tmp_path) == entry


# ---- a folder that cannot be written


def test_a_folder_that_cannot_be_made_is_a_warning_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    folder = tmp_path / "file" / "cache"
    with pytest.warns(RuntimeWarning, match="compile cache .* cannot be written") as caught:
        assert built(folder)
    assert Path(caught[0].filename) == Path(__file__)  # it points at who compiles
    assert built(folder)
    runtime.compile(llvm_entry("f"), cache_dir=folder)


def test_compile_warns_where_it_is_called(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.warns(RuntimeWarning, match="cannot be written") as caught:
        runtime.compile(llvm_entry("f"), cache_dir=tmp_path / "file")
    assert Path(caught[0].filename) == Path(__file__)


def test_a_full_disk_is_a_warning_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(file: int, data: bytes) -> None:
        os.write(file, data[:100])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(compile_cache, "_write_all", full)
    with pytest.warns(RuntimeWarning, match="No space left"):
        assert built(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(file: int, data: bytes) -> None:
        os.write(file, data[:100])
        raise KeyboardInterrupt

    monkeypatch.setattr(compile_cache, "_write_all", interrupted)
    with pytest.raises(KeyboardInterrupt):
        built(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_leaves_is_not_read_and_goes(tmp_path: Path) -> None:
    done = run_child(f"""
        import os, signal
        from ffi_builder import runtime
        from ffi_builder.runtime.compiler import cache as compile_cache
        from tests.runtime.samples import llvm_entry
        def killed(file, data):
            os.write(file, data[: len(data) // 2])
            os.kill(os.getpid(), signal.SIGKILL)
        compile_cache._write_all = killed
        runtime.compile_cached("k", lambda: llvm_entry("f"), cache_dir={str(tmp_path)!r})
        """)
    assert done.returncode == -signal.SIGKILL
    left = only_entry(tmp_path)
    small = Cache(tmp_path, 1 << 20)
    small.write(b"a", ENTRY)
    assert left.exists()  # another process may be about to finish it
    os.utime(left, (0, time.time() - 3600))
    Cache(tmp_path, len(encode(b"b", ENTRY))).write(b"b", ENTRY)
    assert not left.exists()
    assert built(tmp_path)
    assert not built(tmp_path)


# ---- its size


def total(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())


def test_the_least_recently_used_entries_go(tmp_path: Path) -> None:
    size = len(encode(b"00", ENTRY))
    folder = Cache(tmp_path, 10 * size)
    for index in range(10):
        folder.write(f"{index:02}".encode(), ENTRY)
        path = folder.path(f"{index:02}".encode())
        then = time.time() + index - 100
        os.utime(path, (then, then))
    os.utime(folder.path(b"01"))  # used again
    foreign = tmp_path / "notes.txt"
    foreign.write_text("mine")
    folder.write(b"10", ENTRY)
    kept = [index for index in range(11) if folder.read(f"{index:02}".encode()) is not None]
    assert kept == [1, 4, 5, 6, 7, 8, 9, 10]
    assert foreign.exists()


def test_it_does_not_grow_beyond_its_size(tmp_path: Path) -> None:
    size = len(encode(b"000", ENTRY))
    folder = Cache(tmp_path, 200 * size)
    largest = 0
    for index in range(1000):
        folder.write(f"{index:03}".encode(), ENTRY)
        largest = max(largest, len(list(tmp_path.iterdir())))
    # It is looked through once every three writes: 60 without are too unlikely to happen.
    assert 150 < largest < 260


def test_the_newest_stays_even_if_it_is_nearly_all(tmp_path: Path) -> None:
    folder = Cache(tmp_path, len(encode(b"a", ENTRY)) + 1)
    for key in (b"a", b"b"):
        folder.write(key, ENTRY)
        assert folder.read(key) == ENTRY
    assert folder.read(b"a") is None


def test_entries_that_vanish_meanwhile_are_no_trouble(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = len(encode(b"a", ENTRY))
    Cache(tmp_path, 1 << 20).write(b"a", ENTRY)
    folder = Cache(tmp_path, size + 1)
    entries = Cache.entries

    def vanishing(self: Cache) -> object:
        found = list(entries(self))
        self.path(b"a").unlink()
        return found

    monkeypatch.setattr(Cache, "entries", vanishing)
    folder.write(b"b", ENTRY)
    assert only_entry(tmp_path) == folder.path(b"b")


def test_what_is_larger_than_all_is_not_stored(tmp_path: Path) -> None:
    Cache(tmp_path, 100).write(b"a", ENTRY)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "size"),
    [("", 512 << 20), ("0", 0), ("1000", 1000), ("64M", 64 << 20), (" 2 GiB ", 2 << 30), ("1kb", 1024)],
)  # fmt: skip
def test_the_environment_says_the_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, size: int
) -> None:
    monkeypatch.setenv("FFI_BUILDER_CACHE_SIZE", text)
    opened = compile_cache.open_folder(tmp_path)
    assert opened is not None
    assert opened.limit == size
    assert built(tmp_path)
    assert built(tmp_path) == (size < 10_000)


@pytest.mark.parametrize("text", ["much", "-1", "1.5G", "1P"])
def test_another_size_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv("FFI_BUILDER_CACHE_SIZE", text)
    with pytest.raises(ValueError, match="FFI_BUILDER_CACHE_SIZE"):
        runtime.compile(llvm_entry("f"), cache_dir=tmp_path)


# ---- many processes

WORKER = """
import sys, time
from pathlib import Path
from ffi_builder import runtime
from tests.runtime.samples import llvm_entry
here, number = Path(sys.argv[1]), int(sys.argv[2])
runtime.compile(llvm_entry("warm"))
for folder in ("first", "second", "third", "fourth"):
    print("ready", flush=True)
    while not (here / f"go {folder}").exists():
        time.sleep(0.001)
    for key, text in (("shared", llvm_entry("f")), (("own", number), llvm_entry("f", f"%x = add i64 %v, {number}"))):
        compiled = runtime.compile_cached(key, lambda: text, cache_dir=here / folder / "cache")
        print(compiled["f"](100), flush=True)
"""


def test_processes_start_at_once_on_one_folder(tmp_path: Path) -> None:
    """Eight of them, in four folders, one after the other."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-W", "error", "-c", WORKER, str(tmp_path), str(number)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(8)
    ]
    outputs = [process.stdout for process in processes if process.stdout is not None]
    try:
        for name in ("first", "second", "third", "fourth"):
            assert [output.readline() for output in outputs] == ["ready\n"] * 8
            (tmp_path / f"go {name}").touch()
            found = [(output.readline(), output.readline()) for output in outputs]
            assert found == [("101\n", f"{100 + number}\n") for number in range(8)]
            folder = tmp_path / name / "cache"
            assert [path.suffix for path in folder.iterdir()] == [".ffib"] * 9
            assert folder.stat().st_mode & 0o777 == 0o700
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                compiled = runtime.compile_cached("shared", lambda: 1 // 0, cache_dir=folder)
            assert compiled["f"](1) == 2
        assert [process.communicate(timeout=300) for process in processes] == [("", "")] * 8
    finally:
        for process in processes:
            process.kill()
