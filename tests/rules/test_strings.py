"""*Strings, bytes and choices* of docs/checks.md."""

from __future__ import annotations

import pytest

from ffi_builder.abi import TypeIndex
from ffi_builder.spec import Bytes, Choice, Param, String
from tests.differential.description import NONE, Plain
from tests.rules.calls import accepted, fault
from tests.support.raw import (
    byte_array,
    bytes_,
    char_pointer,
    kept,
    moved,
    object_,
    small,
    str_,
    words,
)

STRING: list[Param] = [String("s")]
BYTES: list[Param] = [Bytes("s")]
NULL = "ValueError #0 s: a non-NULL object | NULL"
NO_ELEMENTS = "ValueError #0 s: non-NULL elements | NULL"


class TestKinds:
    @pytest.mark.parametrize(
        ("given", "content"),
        [
            (char_pointer(b"a longer one"), b"a longer one"),
            (char_pointer(b""), b""),
            (small(b""), b""),
            (small(b"7 bytes"), b"7 bytes"),
            (small(b"a\0b"), b"a\0b"),
            (str_("ä longer one".encode()), "ä longer one".encode()),
            (str_(b"with\0NUL"), b"with\0NUL"),
            (moved(str_(b"moved")), b"moved"),
        ],
    )
    def test_str(self, given: Plain, content: bytes) -> None:
        assert accepted(STRING, given).singles == {"s": content}

    @pytest.mark.parametrize(
        ("given", "content"),
        [
            (byte_array(b"a\xff"), b"a\xff"),
            (small(b"7 bytes", TypeIndex.SMALL_BYTES), b"7 bytes"),
            (bytes_(b"a longer\0one"), b"a longer\0one"),
            (moved(bytes_(b"")), b""),
        ],
    )
    def test_bytes(self, given: Plain, content: bytes) -> None:
        assert accepted(BYTES, given).singles == {"s": content}

    @pytest.mark.parametrize(
        ("given", "kind"),
        [
            (NONE, "None"),
            (byte_array(b""), "TVMFFIByteArray*"),
            (small(b"a", TypeIndex.SMALL_BYTES), "bytes"),
            (bytes_(b"a"), "bytes"),
            (moved(bytes_(b"a")), "bytes"),
            (object_(TypeIndex.ARRAY), "list"),
        ],
    )
    def test_no_str(self, given: Plain, kind: str) -> None:
        assert fault(STRING, given) == f"TypeError #0 type of s: str | {kind}"
        choice: list[Param] = [Choice("s", {"a": 1})]
        assert fault(choice, given) == f"TypeError #0 type of s: str | {kind}"

    @pytest.mark.parametrize(
        ("given", "kind"),
        [
            (char_pointer(b""), "char*"),
            (small(b"a"), "str"),
            (str_(b"a"), "str"),
            (moved(str_(b"a")), "str"),
        ],
    )
    def test_no_bytes(self, given: Plain, kind: str) -> None:
        assert fault(BYTES, given) == f"TypeError #0 type of s: bytes | {kind}"


class TestContent:
    def test_null(self) -> None:
        for type_index in (TypeIndex.RAW_STR, TypeIndex.STR, TypeIndex.OBJECT_RVALUE_REF):
            assert fault(STRING, Plain(type_index)) == NULL
        for type_index in (TypeIndex.BYTE_ARRAY_PTR, TypeIndex.BYTES):
            assert fault(BYTES, Plain(type_index)) == NULL
        assert fault([Choice("s", {"a": 1})], Plain(TypeIndex.STR)) == NULL

    @pytest.mark.parametrize("length", [8, 9, 2**32 - 1])
    def test_length_in_place(self, length: int) -> None:
        expected = f"ValueError #0 length of s: at most 7, as it is held in place | {length}"
        assert fault(STRING, small(b"1234567", length=length)) == expected
        assert fault(BYTES, small(b"1234567", TypeIndex.SMALL_BYTES, length)) == expected
        assert fault([Choice("s", {"a": 1})], small(b"a", length=length)) == expected

    def test_null_bytes(self) -> None:
        assert fault(STRING, object_(TypeIndex.STR, 0, 1)) == NO_ELEMENTS
        assert fault(STRING, moved(object_(TypeIndex.STR, 0, 1))) == NO_ELEMENTS
        assert fault(BYTES, object_(TypeIndex.BYTES, 0, 2**64 - 1)) == NO_ELEMENTS
        assert fault(BYTES, Plain(TypeIndex.BYTE_ARRAY_PTR, words(0, 1))) == NO_ELEMENTS
        assert accepted(STRING, object_(TypeIndex.STR, 0, 0)).singles == {"s": b""}
        given = Plain(TypeIndex.BYTE_ARRAY_PTR, words(0, 0))
        assert accepted(BYTES, given).singles == {"s": b""}


class TestChoices:
    params = (Choice("s", {"relu": 7, "gelu": -1, "leaky relu": 0}),)
    expected = "ValueError #0 s: one of 'relu', 'gelu', 'leaky relu' | "

    def test_the_int(self) -> None:
        for content, value in [(b"relu", 7), (b"gelu", -1), (b"leaky relu", 0)]:
            for given in (str_(content), char_pointer(content), moved(str_(content))):
                assert accepted(self.params, given).singles == {"s": value}
        assert accepted(self.params, small(b"gelu")).singles == {"s": -1}

    @pytest.mark.parametrize(
        ("given", "hint"),
        [
            (b"rleu", " (did you mean 'relu'?)"),  # two replaced of four
            (b"elu", " (did you mean 'relu'?)"),  # as near as gelu, which is later
            (b"gel", " (did you mean 'gelu'?)"),
            (b"reluuuuu", " (did you mean 'relu'?)"),
            (b"reluuuuuu", ""),
            (b"leakyrelu", " (did you mean 'leaky relu'?)"),
            (b"RELU", ""),
            (b"relu\0", " (did you mean 'relu'?)"),
            (b"", ""),
            (b"ab", ""),
        ],
    )
    def test_none_of_them(self, given: bytes, hint: str) -> None:
        shown = given.decode().replace("\0", "\\x00")
        assert fault(self.params, str_(given)) == f"{self.expected}'{shown}'{hint}"

    def test_the_first_of_equals(self) -> None:
        params = [Choice("s", {"ac": 1, "ab": 2})]
        assert fault(params, small(b"ad")) == (
            "ValueError #0 s: one of 'ac', 'ab' | 'ad' (did you mean 'ac'?)"
        )

    def test_long_choices_are_not_thought_of(self) -> None:
        short, long = "a" * 63, "a" * 64
        params = [Choice("s", {long: 1, short: 2})]
        assert fault(params, str_(b"a" * 62)) == (
            f"ValueError #0 s: one of '{long}', '{short}' | '{'a' * 62}' (did you mean '{short}'?)"
        )
        params = [Choice("s", {long: 1})]
        assert fault(params, str_(b"a" * 62)) == f"ValueError #0 s: one of '{long}' | '{'a' * 62}'"
        assert accepted(params, str_(b"a" * 64)).singles == {"s": 1}


class TestShown:
    params = (Choice("s", {"x": 1}),)

    @pytest.mark.parametrize(
        ("given", "shown"),
        [
            (b" !#~[]", "' !#~[]'"),
            (b"\n\x7f\x1f", r"'\x0a\x7f\x1f'"),
            (b"'a\"", r"'\x27a\x22'"),
            (b"\\n", r"'\x5cn'"),
            ("é".encode(), r"'\xc3\xa9'"),
            (b"a" * 64, f"'{'a' * 64}'"),
            (b"a" * 65, f"'{'a' * 64}'..."),
            (b"\n" * 65, "'" + r"\x0a" * 64 + "'..."),
        ],
    )
    def test_escapes_and_length(self, given: bytes, shown: str) -> None:
        assert fault(self.params, str_(given)) == f"ValueError #0 s: one of 'x' | {shown}"

    def test_a_hint_for_a_long_str(self) -> None:
        choice = "a" * 60
        given = Plain(TypeIndex.RAW_STR, kept(b"a" * 70 + b"\0"))
        assert fault([Choice("s", {choice: 1})], given) == (
            f"ValueError #0 s: one of '{choice}' | '{'a' * 64}'... (did you mean '{choice}'?)"
        )
