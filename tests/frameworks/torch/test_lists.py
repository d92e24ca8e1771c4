"""Operators of PyTorch with lists of numbers: their schema, eager calls, graphs, what is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest

from ffi_builder import SpecError, wrap
from tests.frameworks.torch.functions import operator
from tests.runtime.samples import c_object, needs_cc

torch = pytest.importorskip("torch", reason="needs torch: `make test-frameworks` installs it")
pytestmark = [needs_cc, pytest.mark.filterwarnings("ignore:.*torch.jit.script")]

GATHER: Final = """
#include <stdbool.h>
#include <stdint.h>
void gather(const float *x, const int64_t *at, int64_t m, const double *w, int64_t k,
            const bool *flags, int64_t j, float *y) {
  for (int64_t i = 0; i < m; ++i) y[i] = x[at[i]] * (k ? w[0] : 1) + (j && flags[0]);
}
"""
PARAMS: Final = (
    "x: Tensor([n], float32, intent=in), at: List(int64, m), w: List(float64), "
    "flags: Optional(List(bool))"
)
FORMS: Final = {
    "result": (f"gather({PARAMS}) -> y: Tensor([m], float32)", "mutating"),
    "functional": (f"gather({PARAMS}, y: Tensor([m], float32, intent=out))", "functional"),
}


@pytest.fixture(params=FORMS)
def gather(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    signature, form = FORMS[request.param]
    made = wrap(
        c_object(tmp_path, GATHER),
        signature,
        device="cpu",
        prototype="void gather(const float *, const int64_t *, int64_t, const double *, int64_t, "
        "const bool *, int64_t, float *)",
        args=["x", "at", "w", "flags", "y"],
    )
    return operator(made["gather"], form=form)


def test_the_schema(gather: Any) -> None:
    assert gather.schema.endswith("(Tensor x, SymInt[] at, float[] w, bool[]? flags) -> Tensor")


def test_eager_calls(gather: Any) -> None:
    x = torch.arange(5.0)
    assert gather(x, [1, 2, 4], [2.0], None).tolist() == [2, 4, 8]
    assert gather(x, (0,), [], [True]).tolist() == [1]
    assert gather.overload(x, [], [3], None).shape == (0,)


@pytest.mark.parametrize("dynamic", [None, True])
def test_graphs(gather: Any, dynamic: bool | None) -> None:
    torch._dynamo.reset()

    def doubled(x: Any, at: list[int]) -> Any:
        return gather(x, at, [2.0], None)

    graph = torch.compile(doubled, fullgraph=True, dynamic=dynamic, backend="eager")
    for size, at in ((5, [1, 2, 4]), (7, [6, 5]), (9, [8])):
        assert graph(torch.arange(float(size)), at).tolist() == [2 * each for each in at]


def test_opcheck(gather: Any) -> None:
    x = torch.arange(5.0)
    torch.library.opcheck(gather.overload, (x, [1, 2], [1.5], [True]))
    torch.library.opcheck(gather.overload, (x, [], [], None))


JOIN: Final = """
#include <stddef.h>
#include <stdint.h>
#include <string.h>
struct text { const char *data; size_t size; };
void join(const struct text *names, int64_t n, uint8_t *out) {
  for (int64_t i = 0; i < n; out += names[i++].size) memcpy(out, names[i].data, names[i].size);
}
"""


def test_strs(tmp_path: Path) -> None:
    made = wrap(
        c_object(tmp_path, JOIN),
        "join(names: List(String, n), out: Tensor([16], uint8, intent=out))",
        device="cpu",
        prototype="struct text; void join(const struct text *names, int64_t n, uint8_t *out)",
    )
    join = operator(made["join"], form="mutating")
    assert "(str[] names, Tensor(a1!) out) -> ()" in join.schema
    out = torch.zeros(16, dtype=torch.uint8)
    for function in (join, torch.compile(join, fullgraph=True, backend="eager")):
        function(["ab", "a long name"], out.zero_())
        assert bytes(out.tolist()) == b"aba long name\0\0\0"
    with pytest.raises(TypeError, match=r"Mismatched type of names\[1\] .*, expected str but got"):
        join(["ab", 3], out)


def test_bytes_are_refused(tmp_path: Path) -> None:
    made = wrap(
        c_object(tmp_path, JOIN),
        "join(names: List(Bytes, n), out: Tensor([16], uint8, intent=out))",
        device="cpu",
        prototype="struct text; void join(const struct text *names, int64_t n, uint8_t *out)",
    )
    with pytest.raises(
        SpecError, match="'names' is a List\\(Bytes, n\\), which operators of torch"
    ):
        operator(made["join"], form="mutating")


@pytest.mark.parametrize(
    ("args", "error", "words"),
    [
        (([1, 2.5], [1.0], None), TypeError, r"type of at\[1\] .*, expected int but got float"),
        (([1], ["a"], None), TypeError, r"type of w\[0\] .*, expected float but got str"),
        (([1], [1.0], [2]), ValueError, r"flags\[0\] .*, expected True, False, 0 or 1 but got 2"),
        ((3, [1.0], None), TypeError, "type of at .*, expected list of ints but got int"),
    ],
)
def test_what_is_wrong(gather: Any, args: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=f"Mismatched {words}"):
        gather(torch.arange(5.0), *args)
