"""Draw mistake.svg: the README's example at a prompt, with a right call and a wrong one."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text

from tests.docs.blocks import blocks

HERE = Path(__file__).parent
README = HERE.parents[1] / "README.md"
WIDTH = 92
PROMPTS = (
    "a.shape, b.shape, c.shape",
    "matmul(a, b, c)  # c = a @ b",
    "matmul(a, c, c)",
    "matmul(a, b.astype('float64'), c)",
    "matmul(a, b)",
)


def names() -> dict[str, Any]:
    """Run the README's example, which defines ``matmul`` and ends with a wrong call."""
    code = next(block.code for block in blocks(README) if block.language == "python")
    found: dict[str, Any] = {}
    with contextlib.suppress(ValueError), contextlib.redirect_stdout(io.StringIO()):
        exec(code, found)
    return found


def prompt(code: str) -> Text:
    """Highlight a line that is typed in."""
    colored = Syntax("", "python", theme="monokai", background_color="default").highlight(code)
    colored.rstrip()
    return Text().append(">>> ", style="dim").append_text(colored)


def told(error: Exception) -> Text:
    """Color an error: its class, and what was expected."""
    text = Text(type(error).__name__, style="bold red").append(f": {error}", style="not bold white")
    text.highlight_regex(r"expected .*", "bold yellow")
    return text


def main() -> None:
    """Draw it."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    namespace = names()
    for code in PROMPTS:
        console.print(prompt(code))
        try:
            value = eval(code, namespace)
        except (TypeError, ValueError) as error:
            console.print(told(error))
        else:
            if value is not None:
                console.print(repr(value), highlight=False)
    (HERE / "mistake.svg").write_text(console.export_svg(title="python", unique_id="mistake"))


if __name__ == "__main__":
    main()
