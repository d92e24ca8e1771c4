# pyright: basic
"""Compress with zstd, whose sizes may be error codes: a function of Python tells them apart.

apt-get install libzstd-dev
"""

import numpy as np

from ffi_builder import wrap

zstd = wrap(
    "-lzstd",
    [
        """ZSTD_compress(dst: Tensor([dstCapacity], uint8, intent=out), src: Tensor([n], uint8),
                         compressionLevel: int32) -> size: uint64 where no_overlap(dst)""",
        """ZSTD_decompress(dst: Tensor([dstCapacity], uint8, intent=out), src: Tensor([n], uint8))
           -> size: uint64 where no_overlap(dst)""",
        "ZSTD_compressBound(srcSize: uint64) -> size: uint64",
        "ZSTD_isError(code: uint64) -> wrong: uint32",
        "ZSTD_getErrorName(code: uint64) -> name: String",
    ],
    prototype="#include <zstd.h>",
    args={"srcSize": "n", "compressedSize": "n"},
    device="cpu",
)


def checked(code):
    """Return a size, or raise the error for which it stands."""
    if zstd["ZSTD_isError"](code):
        raise ValueError(f"zstd: {zstd['ZSTD_getErrorName'](code)}")
    return code


def compress(data, level=3):
    """Return the frame of bytes, of an array of them, or of anything else with a buffer."""
    frame = np.empty(checked(zstd["ZSTD_compressBound"](len(data))), "uint8")
    return frame[: checked(zstd["ZSTD_compress"](frame, data, level))]


def decompress(frame, size):
    """Return the `size` bytes of a frame."""
    data = np.empty(size, "uint8")
    return data[: checked(zstd["ZSTD_decompress"](data, frame))]


text = b"Some texts are longer than they need to be. " * 100
frame = compress(text)
print("smaller by a factor of", len(text) // len(frame))
print("the same text:", decompress(frame, len(text)).tobytes() == text)
print("the same frame of an array:", (compress(np.frombuffer(text, "uint8")) == frame).all())


def refused(call, *args):
    try:
        call(*args)
    except (TypeError, ValueError) as error:
        print(f"{type(error).__name__}: {error}")


refused(decompress, frame[:-1], len(text))
refused(decompress, frame, 10)
refused(compress, np.ones(10))
refused(compress, text, 2**40)
refused(decompress, frame[::2], len(text))
buffer = np.empty(1000, "uint8")
refused(zstd["ZSTD_compress"], buffer, buffer[500:], 3)
