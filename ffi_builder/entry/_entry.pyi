from collections.abc import Callable, Mapping
from typing import Any

FINISH: int
MAX_ARGS: int

def make_type(
    bases: tuple[type, ...],
    size: int,
    handle: int,
    release_gil: int,
    addresses: tuple[int, ...],
    learn: Callable[[type], object],
) -> Any: ...
def use_finish(function: object) -> None: ...
def describe(
    entry: object,
    name: str,
    info: object,
    makers: tuple[Callable[[Any, Any], object], ...],
    by_position: bool,
    returns: int,
    positional: int,
    parameters: tuple[tuple[Any, ...], ...] | None,
) -> None: ...
def use_numpy(
    ndarray: type | None, dtypes: Mapping[int, tuple[int, int]], row_major: bool
) -> None: ...
def use_addresses(
    handle: type | None, address: int, pointee: int, pointer: type | None, contents: int
) -> None: ...
def use_managed(tensor: type | None, shape: type | None, handle: int) -> None: ...
def use_torch(
    tensor: type | None,
    parameter: type | None,
    dtypes: Mapping[int, tuple[int, int]],
    offsets: tuple[int, int, int, int, int, int],
    keys: tuple[int, int, int, int],
    local_keys: int,
    api: int,
    addresses: tuple[int, ...],
) -> None: ...
def use_modes(function: int, autocast: int) -> None: ...
def is_watched() -> bool: ...
def ask_for_modes(entry: object, autocast: bool) -> None: ...
def use_buffer(type: type) -> None: ...
def use_exchange(type: type, api: int) -> bool: ...
