# pyright: basic
"""Hash with OpenSSL, at once or in parts: 1 is success, and a context is freed once.

apt-get install libssl-dev
"""

import hashlib

import numpy as np

from ffi_builder import wrap

openssl = wrap(
    "-lcrypto",
    [
        """EVP_Q_digest(name: String, data: Bytes, md: Tensor([size], uint8, intent=out))
           -> mdlen: uint64 where size >= 64""",
        "EVP_sha256() -> type: handle",
        "EVP_MD_CTX_new() -> ctx: handle",
        "EVP_DigestInit_ex(ctx: handle, type: handle)",
        "EVP_DigestUpdate(ctx: handle, d: Tensor([n], uint8))",
        """EVP_DigestFinal_ex(ctx: handle, md: Tensor([size], uint8, intent=out)) -> s: uint32
           where size >= 64""",
    ],
    prototype="#include <openssl/evp.h>",
    # Each entry is for the functions that have such a parameter, and None is NULL.
    args={"libctx": None, "propq": None, "datalen": "data.length", "impl": None, "cnt": "n"},
    success=1,
    destroy={"ctx": "EVP_MD_CTX_free"},
    device="cpu",
)


def digest(name, data):
    """Return the hash that OpenSSL calls `name`. None is longer than 64 bytes."""
    found = np.empty(64, "uint8")
    return found[: openssl["EVP_Q_digest"](name, data, found)].tobytes()


class Sha256:
    """A hash of parts: bytes, arrays, or anything else with a buffer."""

    def __init__(self):
        self.context = openssl["EVP_MD_CTX_new"]()
        openssl["EVP_DigestInit_ex"](self.context, openssl["EVP_sha256"]())

    def update(self, part):
        """Go on with a part."""
        openssl["EVP_DigestUpdate"](self.context, part)

    def finish(self):
        """Return the hash. There are no more parts: this frees the context."""
        found = np.empty(64, "uint8")
        with self.context:
            size = openssl["EVP_DigestFinal_ex"](self.context, found)
        return found[:size].tobytes()


text = b"Some texts have a NUL \0 inside. " * 100
for name in ("sha256", "sha512"):
    print("the same hash as Python's:", digest(name, text) == hashlib.new(name, text).digest())
parts = Sha256()
parts.update(text)
parts.update(bytearray(text))
parts.update(np.frombuffer(text, "uint8"))


def refused(call, *args):
    try:
        call(*args)
    except (RuntimeError, TypeError, ValueError) as error:
        print(f"{type(error).__name__}: {error}")


refused(digest, "sha257", text)
refused(digest, "sha256", "a str")
refused(openssl["EVP_Q_digest"], "sha256", text, np.empty(32, "uint8"))
refused(openssl["EVP_DigestInit_ex"], openssl["EVP_MD_CTX_new"](), None)
refused(openssl["EVP_DigestInit_ex"], openssl["EVP_sha256"](), openssl["EVP_sha256"]())
refused(openssl["EVP_DigestInit_ex"], openssl["EVP_MD_CTX_new"](), openssl["EVP_MD_CTX_new"]())
refused(parts.update, np.ones(3))
print("the same hash as Python's:", parts.finish() == hashlib.sha256(text * 3).digest())
refused(parts.update, text)
