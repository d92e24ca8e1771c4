"""Stand-ins for what ``triton.compile`` returns, with the attributes of Triton 3.9."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any


def tritons(
    name: str, asm: dict[str, Any], types: dict[str, str], attrs: Any = (), **metadata: Any
) -> Any:
    """Return a kernel; ``metadata`` are those that are not as of most kernels."""
    known: dict[str, Any] = {"name": name, "num_warps": 4, "num_ctas": 1, "shared": 0}
    for kind in ("global", "profile"):
        known |= {f"{kind}_scratch_size": 0, f"{kind}_scratch_align": 1}
    return SimpleNamespace(
        asm=asm,
        metadata=SimpleNamespace(**known | metadata),
        src=SimpleNamespace(name=name, signature=types, attrs=dict(attrs), fn=None),
    )


def tritons_for_amd(
    name: str, arch: str, asm: dict[str, Any], types: dict[str, str], attrs: Any = (), **more: Any
) -> Any:
    """Return a kernel for one of AMD's GPUs."""
    wave = 64 if arch.startswith("gfx9") else 32
    target = SimpleNamespace(backend="hip", arch=arch, warp_size=wave)
    known = {"target": target, "warp_size": wave, "launch_cooperative_grid": False}
    return tritons(name, asm, types, attrs, **known | more)
