"""The numbers that C has are those of Python."""

from __future__ import annotations

from ffi_builder.cuda.launch import driver
from tools import numbers_header


def test_messages_name_each_attribute():
    """They are words of the C code, and names of `attributes=`."""
    text = numbers_header.text()
    for each in driver.LaunchAttribute:
        assert f"  CU_LAUNCH_ATTRIBUTE_{each.name} = {each.value},\n" in text
        assert f'    [{each.value}] = "{each.name.lower()}",\n' in text
