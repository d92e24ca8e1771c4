"""Prints the options with which C and C++ compilers find the header and the library."""

from __future__ import annotations

from ._load import FOLDER, library  # noqa: TID252  # it is copied into packages


def main() -> None:
    """Print them in one line."""
    used = library()
    name = used.stem.removeprefix("lib")
    # The loader of the C library looks for the best level below lib.
    folders = f"-I{FOLDER / 'include'} -L{used.parent} -Wl,-rpath,{FOLDER / 'lib'}"
    print(f"{folders} -l{name}")


main()
