"""examples/launch_hooks, on the fake driver: what needs a GPU, Proton's measuring, does not run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.examples.running import run
from tests.fakecuda import missing

pytestmark = pytest.mark.skipif(missing() is not None, reason=str(missing()))


def test_events_for_tritonparse(tmp_path: Path) -> None:
    path = tmp_path / "trace.ndjson"
    run("launch_hooks/tritonparse_trace.py", str(path))
    events: list[dict[str, Any]] = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(event["name"], event["grid"]) for event in events] == [
        ("twice", [3, 1, 1]),
        ("twice", [8, 1, 1]),
    ]
    validation: Any = pytest.importorskip(
        "tritonparse.validation.json_validator", reason="needs tritonparse"
    )
    found = validation.validate_trace_file(str(path))
    assert (found["valid"], found["event_type_counts"]) == (True, {"launch": 2}), found


def test_scopes_of_proton() -> None:
    pytest.importorskip("triton", reason="needs triton: `make test-cuda` installs it")
    lines = run("launch_hooks/proton_scopes.py").splitlines()
    assert lines[-1] == "launched twice"
