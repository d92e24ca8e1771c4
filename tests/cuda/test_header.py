"""The numbers that C has are those of Python."""

from __future__ import annotations

from pathlib import Path

from ffi_builder.cuda import support
from ffi_builder.cuda.launch import driver, header

FOLDER = Path(support.__file__).parent


def test_messages_name_each_flag():
    """They are words of the C code, and keywords of the provider."""
    text = (FOLDER / "report.c").read_text()
    for name, number in driver.FLAGS.items():
        assert f"case CU_LAUNCH_ATTRIBUTE_{name.upper()}:" in text
        assert f'", {name}"' in text
        assert f"  CU_LAUNCH_ATTRIBUTE_{name.upper()} = {number},\n" in header.text()
