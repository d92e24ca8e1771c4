"""Strs and bytes with something changed: what they say, where they are, how long they say they are."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from hypothesis import strategies as st

from ffi_builder.abi import SMALL_CAPACITY, TypeIndex
from tests.differential.description import (
    ByteArray,
    Chars,
    CString,
    Object,
    Plain,
    Value,
    small,
)

FAR: Final = (
    *(b"", b"x", b"zzzzzzz", b"it's", b'"\\\n\t', b"a\0b", b"\xff\x00\x80", "größe".encode()),
    *(b"u" * 63, b"u" * 64, b"u" * 65, b"v" * 126, b"v" * 127, b"w" * 300, b"x" * 62, b"x" * 66),
    *(b"\x01" * 64, b"\xc3\xa9" * 33, b"choice_", b"relu" * 31, b"relu" * 32, b"relu" * 200),
)
BYTES: Final = (b"x", b"a", b"e", b"_", b"\0", b"\xff", b"\xc3", b"'", b"\\", b" ")
TOO_LONG: Final = (8, 9, 100, 2**31, 2**32 - 1)


def content_of(given: Plain | CString | ByteArray | Object) -> bytes:
    match given:
        case Plain(payload=payload, padding=size):
            return (payload % 2**64).to_bytes(8, "little")[: min(size, SMALL_CAPACITY)]
        case CString(content):
            return content
        case ByteArray(Chars(content)) | Object(body=Chars(content)):
            return content or b""
        case _:
            raise AssertionError(given)


def changed_content(draw: st.DrawFn, content: bytes) -> bytes:
    """Another text, near (by one byte, or a few) or far."""
    if draw(st.integers(0, 3)) == 3:
        return draw(st.sampled_from(FAR))
    for _ in range(draw(st.sampled_from([1, 1, 1, 2, 3]))):
        index = draw(st.integers(0, min(len(content), 100)))
        byte = draw(st.sampled_from(BYTES))
        near = [
            content[:index] + byte + content[index:],
            content[:index] + content[index + 1 :],
            content[:index] + byte + content[index + 1 :],
            content[:index] + content[index + 1 : index + 2] + content[index : index + 1],
        ]
        content = draw(st.sampled_from(near))
    return content


def changed_text(draw: st.DrawFn, given: Plain | CString | ByteArray | Object) -> Value:
    """One thing changed; mostly what it says."""
    if draw(st.integers(0, 2)):
        return with_content(given, changed_content(draw, content_of(given)))
    match given:
        case Plain():
            other = TypeIndex.SMALL_STR + TypeIndex.SMALL_BYTES - given.type_index
            sizes = st.sampled_from(TOO_LONG)
            return draw(
                st.one_of(
                    sizes.map(lambda size: replace(given, padding=size)),
                    st.just(replace(given, type_index=other)),
                )
            )
        case CString():
            return Plain(TypeIndex.RAW_STR)
        case ByteArray(chars):
            nulls: list[Value] = [Plain(TypeIndex.BYTE_ARRAY_PTR)]
            return draw(st.sampled_from([*nulls, *map(ByteArray, wrong_sizes(chars))]))
        case Object():
            assert isinstance(given.body, Chars)
            other = TypeIndex.STR + TypeIndex.BYTES - given.type_index
            wrong: list[Value] = [Plain(given.type_index), replace(given, type_index=other)]
            wrong += [replace(given, body=chars) for chars in wrong_sizes(given.body)]
            return draw(st.sampled_from(wrong))


def wrong_sizes(chars: Chars) -> list[Chars]:
    """NULL with a length, or none of it."""
    count = len(chars.content or b"")
    return [Chars(None, size) for size in (0, 1, count, 2**63, 2**64 - 1)] + [
        Chars(chars.content, count // 2)
    ]


def with_content(given: Plain | CString | ByteArray | Object, content: bytes) -> Value:
    """The same with another content; what does not fit in place becomes an object."""
    match given:
        case Plain(kind):
            if len(content) <= SMALL_CAPACITY:
                return small(kind, content)
            is_bytes = kind == TypeIndex.SMALL_BYTES
            return Object(TypeIndex.BYTES if is_bytes else TypeIndex.STR, Chars(content))
        case CString():
            return CString(content)
        case ByteArray():
            return ByteArray(Chars(content))
        case Object():
            return replace(given, body=Chars(content))
