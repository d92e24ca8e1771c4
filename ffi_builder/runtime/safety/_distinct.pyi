from collections.abc import Set

def lines(text: str, /) -> str:
    """Do what `distinct.lines` does."""

def operations(functions: tuple[int, ...], function: int, by_name: Set[str], /) -> list[int]:
    """Return the addresses of operations in `function`, one of each kind, in order.

    `functions` are the addresses of `distinct.FUNCTIONS`.
    """
