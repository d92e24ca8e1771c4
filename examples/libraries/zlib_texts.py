"""Call zlib with strs and bytes: lengths of its own types, paths, texts that it returns, errno.

apt-get install zlib1g-dev
"""

import gzip
import tempfile
import zlib
from pathlib import Path

from ffi_builder import wrap

HEADER = "#include <zlib.h>"

version = wrap("-lz", "zlibVersion() -> version: String", prototype=HEADER)
print("the same version as Python's:", version() == zlib.ZLIB_RUNTIME_VERSION)

# uLong crc32(uLong crc, const Bytef *buf, uInt len)
crc32 = wrap(
    "-lz",
    "crc32(crc: uint64, buf: Bytes) -> crc_of_all: uint64",
    prototype=HEADER,
    args={"len": "buf.length"},
)
text = b"Some texts have a NUL \0 inside. " * 100
print("the same sum as Python's:", crc32(0, text) == zlib.crc32(text))

# A gzFile is a pointer to a struct, which is a handle in Python.
gzopen = wrap(
    "-lz",
    "gzopen(path: String, mode: String) -> file: handle",
    prototype=HEADER,
    errno=True,
)
gzwrite = wrap(
    "-lz",
    "gzwrite(file: handle, buf: Bytes) -> written: int32",
    prototype=HEADER,
    args={"len": "buf.length"},
)
gzclose = wrap("-lz", "gzclose(file: handle)", prototype=HEADER)
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, "text.gz")
    file = gzopen(f"{path}", "wb")
    assert gzwrite(file, text) == len(text)
    gzclose(file)
    print("Python reads what zlib has written:", gzip.decompress(path.read_bytes()) == text)


def show_error(path: str) -> None:
    """Print why a path cannot be opened."""
    try:
        gzopen(path, "rb")
    except (OSError, ValueError) as error:
        print(f"{type(error).__name__}: {error}")


show_error("/no/such/folder/text.gz")
show_error("a\0b")
