"""Strs, bytes and choices: every way in which they come, and in which they are malformed."""

from __future__ import annotations

from typing import Final

from ffi_builder.abi import TypeIndex
from ffi_builder.spec import Bytes, Choice, Optional, Param, String, Struct
from tests.differential.arguments import CONTENTS, arrivals
from tests.differential.description import (
    ByteArray,
    Chars,
    CString,
    Moved,
    Object,
    Plain,
    Value,
    array,
    of_bool,
    small,
    str_,
)
from tests.differential.mutated_texts import FAR
from tests.differential.strategies import Case
from tests.differential.tricky.made import case, one_by_one

MALFORMED: Final[tuple[Value, ...]] = (
    *(small(kind, b"relu", size) for kind in (11, 12) for size in (3, 8, 9, 2**31, 2**32 - 1)),
    *map(Plain, (8, 9, 10, 11, 12, 65, 66)),
    *(
        given
        for size in (0, 1, 2**63, 2**64 - 1)
        for chars in (Chars(None, size),)
        for given in (ByteArray(chars), Object(65, chars), Object(66, chars))
    ),
    *(Moved(Object(kind, Chars(None, 4))) for kind in (65, 66)),
    *(Moved(Object(kind, Chars(b"relu"))) for kind in (65, 66)),
    Object(TypeIndex.STR, Chars(b"relu"), TypeIndex.BYTES),
    Moved(Object(TypeIndex.STR, Chars(b"relu"), TypeIndex.BYTES)),
    Object(TypeIndex.STR, Chars(b"reluxxx", 4)),
    Moved(None),
)


def choices(*words: str) -> Choice:
    return Choice("c", {word: index for index, word in enumerate(words)}, "uint8")


def words(choice: Choice, *given: bytes) -> Case:
    """Each of them as a str in all ways in which it can come, and each choice."""
    right = [word.encode() for word in choice.choices]
    return one_by_one(
        [choice], *(way for word in (*right, *given) for way in arrivals(word, binary=False))
    )


def every_way(param: Param, *, binary: bool) -> Case:
    given = [way for text in CONTENTS for way in arrivals(text, binary=binary)]
    return one_by_one([param], *given, *MALFORMED)


CASES: Final[dict[str, Case]] = {
    "strs": every_way(String("s"), binary=False),
    "bytes": every_way(Bytes("s"), binary=True),
    "optional strs": every_way(Optional(String("s")), binary=False),
    "optional bytes": every_way(Optional(Bytes("s")), binary=True),
    "malformed choices": one_by_one([choices("relu", "gelu")], *MALFORMED),
    "malformed optional choices": one_by_one([Optional(choices("relu", "gelu"))], *MALFORMED),
    "texts in a struct": case(
        [Struct("t", [String("s"), Bytes("b"), choices("relu")])],
        *(
            (array(s, b, c),)
            for s in (small(11, b"a", 8), CString(b"a"), of_bool(True))
            for b in (small(12, b"\0"), small(12, b"", 8), ByteArray(Chars(None, 2)))
            for c in (str_(b"relu"), str_(b"rel"), Plain(TypeIndex.RAW_STR))
        ),
    ),
    "far from every choice": words(choices("relu", "gelu"), *FAR, *CONTENTS),
    "near a choice": words(
        choices("relu", "gelu"),
        *(b"rleu", b"relu ", b"elu", b"lu", b"u", b"gerlu", b"RELU", b"relu\0", b"\0relu"),
        *(b"re", b"rexx", b"relugelu", b"xrxexlxu", b"\xffelu", b"r'lu", b"grelu"),
    ),
    "the first of equals": words(choices("ab", "ba", "bb", "aa"), b"a", b"b", b"c", b"ac", b"abba"),
    "prefixes": words(
        choices("a", "aa", "aaa", "aaaaaaa", "aaaaaaaa"), *(b"a" * i for i in range(12))
    ),
    "nothing near": words(choices("x"), b"", b"y", b"xy", b"xyz", b"yx"),
    "long choices": words(
        choices("a" * 62, "b" * 63, "c" * 64, "d" * 255),
        *(letter * count for letter in (b"a", b"b", b"c", b"d") for count in (61, 62, 63, 64, 65)),
        *(letter * count for letter in (b"a", b"b") for count in (31, 32, 93, 94, 123, 125, 127)),
        *(letter * count for letter in (b"a", b"b") for count in (126, 128, 200, 254, 255, 256)),
        b"b" * 62 + b"\xff",
        b"d" * 254,
    ),
    "long choices alone": words(choices("c" * 64, "d" * 255), b"c" * 63, b"c" * 65, b"c", b""),
    "many choices": words(
        choices(*(f"choice {index}" for index in range(200))), b"choice 200", b"choice", b"c 7"
    ),
    "numbers of choices": one_by_one(
        [Choice("c", {"low": 0, "high": 2**64 - 1, "middle": 2**63}, "uint64")],
        *map(str_, (b"low", b"high", b"middle", b"hi")),
    ),
}
