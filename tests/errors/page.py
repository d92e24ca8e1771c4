"""docs/errors.md, from the calls of :mod:`tests.errors.cases`."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import pytest

from ffi_builder import SpecError, attach, runtime, spec
from ffi_builder.plan import Words
from ffi_builder.providers import NopCallProvider, when
from ffi_builder.providers.cuda import capability
from ffi_builder.spec import Signature
from ffi_builder.spec.expr import Expr
from tests.differential import description
from tests.errors.cases import GROUPS, Case
from tests.errors.specs import SPECS, WITHOUT_DEFAULT
from tests.support.wrapping import RawWrapper, new_module
from tools.plan_header import template_parts

PAGE: Final = Path(__file__).parents[2] / "docs" / "errors.md"
CASES: Final = [case for group in GROUPS for case in group.cases]

_HEAD: Final = """# Every error of a wrapper

<!-- Written by `pytest tests/errors --update-errors` from tests/errors/cases.txt; a test compares. -->

Each message that a wrapper's checks can raise, with a call that raises it: which argument, the
signature, what was expected, why, and what came. [checks.md](checks.md) has the rules and their
order. Tensors are on the CPU where nothing else is said. A signature has a line of its own where the
message shows less of it.

A call with `Arguments`, `Object`, `Pointer`, `Moved` or `Plain` is one that Python does not make. It
says what lies in memory, field by field (`tests/differential/description.py`). What a wrapper can
tell of such memory is in [malformed.md](malformed.md).
"""

_REST: Final = """
## Errors of the call itself

After the checks, a call provider raises its own, and each ends in the signature:

- a kernel whose status is not 0: `RuntimeError: KERNEL failed with status 3`, or what `CheckStatus`
  says instead;
- `PackedCallProvider`: the error of the function that it calls, or that no global function of that
  name is registered;
- an expression of `args=` or `context.value(…)` whose value does not fit:
  `ValueError: The value of n * 2 does not fit int64`;
- what a provider says with `context.builder.check(…)`, in its own words.

A caller that changes its arguments during the call gets `RuntimeError: an argument changed while it
was being checked, perhaps by another thread`.

## When a spec is wrong

It fails where it is made. Texts that are no signature are in [signatures.md](signatures.md#errors).
Here `n` and `k` are int64 symbols.
"""


class Functions:
    """The wrappers of all cases, in one module."""

    def __init__(self) -> None:
        module = new_module()
        self._names: dict[str, str] = {}
        for case in CASES:
            if case.signature not in self._names:
                name = f"f{len(self._names)}"
                self._names[case.signature] = name
                signature = Signature.parse(case.signature, device="cpu")
                attach(module, signature, NopCallProvider(), symbol_name=name)
        self._compiled = runtime.compile(module)

    def error(self, case: Case) -> tuple[str, str]:
        """The class and the message that the call raises."""
        name = self._names[case.signature]
        names: dict[str, Any] = {"np": np}
        if case.raw:
            names = dict(vars(description))
            raised = eval(case.call, {**names, "f": _raw(RawWrapper(self._compiled, name))})
            assert raised is not None, case
            return raised
        try:
            eval(case.call, {**names, "f": self._compiled[name]})
        except (TypeError, ValueError) as error:
            return type(error).__name__, str(error)
        raise AssertionError(f"{case} was accepted")


def _raw(wrapper: RawWrapper) -> Callable[..., tuple[str, str] | None]:
    def call(*values: Any) -> tuple[str, str] | None:
        if len(values) == 1 and isinstance(values[0], description.Arguments):
            return wrapper.with_arguments(values[0])
        return wrapper(*values)

    return call


def spec_error(call: str) -> SpecError:
    """The error of a wrong spec."""
    n, k = spec.dims("n k")
    names = {
        **vars(spec),
        "NamedTuple": NamedTuple,
        "when": when,
        "n": n,
        "k": k,
        "Expr": Expr,
        "capability": capability,
    }
    default = spec.DefaultConfig(device_type="cpu")
    with default:
        names["x"] = spec.Tensor("x", [n], "int8")
    with nullcontext() if call == WITHOUT_DEFAULT else default, pytest.raises(SpecError) as raised:
        eval(call, names)
    return raised.value


def text(functions: Functions) -> str:
    """The whole page."""
    parts = [_HEAD]
    for group in GROUPS:
        parts.append(f"\n## {group.title}\n")
        if group.text:
            parts.append(f"\n{group.text}\n")
        cases = [(case, *functions.error(case)) for case in group.cases]
        entries = [
            ("" if case.signature in message else f"{case.signature}\n")
            + f">>> {case.call}\n{kind}: {message}\n"
            for case, kind, message in cases
        ]
        parts.append("\n```\n" + "\n".join(entries) + "```\n")
    parts.append(_REST)
    for title, calls in SPECS.items():
        parts.append(f"\n### {title}\n\n```\n")
        parts.append("\n".join(f">>> {call}\nSpecError: {spec_error(call)}\n" for call in calls))
        parts.append("```\n")
    return "".join(parts)


def pattern(words: Words) -> re.Pattern[str]:
    """Return a pattern of the messages with these words."""
    expected, got = (
        "".join(re.escape(text) + (".*" if name else "") for text, name in template_parts(template))
        for template in (words.expected, words.got)
    )
    return re.compile(
        rf"Mismatched {re.escape(words.prefix)}.+ when calling: `.+`, expected {expected} but got {got}"
    )
