"""Each instruction for matrices against a product in NumPy, with the layouts that PTX has."""

from __future__ import annotations

import re
from itertools import product
from typing import Any, Final

import numpy
import pytest

from ffi_builder.ptx.errors import KernelFault
from tests.ptx.elements import BITS, bits_of, drawn, fused, value
from tests.ptx.running import COUNT, TESTED, Case, checks, evaluate

np: Any = numpy  # its stubs leave open what views are

_WARPS: Final = COUNT // 32
_LANE: Final = np.arange(32)


def elements(kind: str, registers: list[Any]) -> Any:
    """The bits of a fragment's elements, by warp, lane, and number."""
    bits = BITS[kind]
    words = np.stack(
        [each.view(f"uint{8 * each.itemsize}").reshape(_WARPS, 32) for each in registers], 2
    )
    if bits == 64:
        return words
    parts = np.arange(32 // bits, dtype="uint64") * np.uint64(bits)
    split = words.astype("uint64")[..., None] >> parts & np.uint64((1 << bits) - 1)
    return split.reshape(_WARPS, 32, -1)


def whole(fragment: Any, rows: Any, columns: Any) -> Any:
    """The matrices of all warps, from the places of each lane's elements."""
    made = np.zeros((_WARPS, rows.max() + 1, columns.max() + 1), fragment.dtype)
    made[:, rows, columns] = fragment
    return made


def places_a(m: int, count: int, bits: int) -> tuple[Any, Any]:
    """Rows and columns of a, of each lane's elements."""
    group, thread, at = _LANE[:, None] // 4, _LANE[:, None] % 4, np.arange(count)[None]
    each = max(32 // bits, 1)
    lower = (at // each % 2 == 1) if m == 16 else np.zeros_like(at, bool)
    step = 2 * each if m == 16 else each
    return group + 8 * lower, thread * each + at % each + at // step * (4 * each)


def places_b(count: int, bits: int) -> tuple[Any, Any]:
    """Rows and columns of b."""
    group, thread, at = _LANE[:, None] // 4, _LANE[:, None] % 4, np.arange(count)[None]
    each = max(32 // bits, 1)
    row = thread * each + at % each + at // each * (4 * each)
    return row, np.broadcast_to(group, row.shape)


def places_c(count: int) -> tuple[Any, Any]:
    """Rows and columns of c and d."""
    group, thread, at = _LANE[:, None] // 4, _LANE[:, None] % 4, np.arange(count)[None]
    return group + np.where(at < 2, 0, 8), thread * 2 + at % 2


def multiplied(opcode: str) -> Case:
    """A Case for mma, whose opcode says the shape and the types."""
    shape = re.search(r"m(\d+)n8k(\d+)", opcode)
    types = re.findall(r"\.([a-z]+\d+(?:m\d)?)(?=\.|$)", opcode)
    types = [each for each in types if each in BITS][-4:]
    assert shape is not None
    assert len(types) == 4
    m, k = int(shape[1]), int(shape[2])
    d, a, b, c = types
    counts = {"d": m * 8 // 32, "a": m * k // 32, "b": k * 8 // 32, "c": m * 8 // 32}
    per = {name: max(32 // BITS[kind], 1) for name, kind in zip("dabc", types, strict=True)}
    registers = {name: counts[name] // per[name] for name in "dabc"}
    places = {
        "a": places_a(m, counts["a"], BITS[a]),
        "b": places_b(counts["b"], BITS[b]),
        "c": places_c(counts["c"]),
    }

    def split(operands: tuple[Any, ...]) -> dict[str, list[Any]]:
        ends = np.cumsum([registers[name] for name in "abc"]).tolist()
        starts = [0, *ends]
        return {name: list(operands[starts[at] : ends[at]]) for at, name in enumerate("abc")}

    def prepare(*operands: Any) -> list[Any]:
        generator = np.random.default_rng(len(operands))
        kinds = zip("abc", (a, b, c), strict=True)
        return [
            each for name, kind in kinds for each in drawn(kind, registers[name], COUNT, generator)
        ]

    def meaning(*operands: Any) -> tuple[Any, ...]:
        parts = split(operands)
        one, other, sum_ = (
            whole(value(kind, elements(kind, parts[name])), *places[name])
            for name, kind in (("a", a), ("b", b), ("c", c))
        )
        if c == "s32":
            operate = np.bitwise_xor if ".xor" in opcode else np.bitwise_and
            if a == "b1":
                products = operate(one[:, :, None, :], other.transpose(0, 2, 1)[:, None]).sum(3)
            else:
                products = one @ other
            found = sum_.astype("int64") + products
        elif c == "f64":
            found = sum_
            for at in range(k):
                found = fused(one[:, :, at, None], other[:, None, at, :], found)
        else:
            found = sum_ + one @ other
        bits = bits_of(d, found, saturates="satfinite" in opcode)
        each = np.ascontiguousarray(bits[(slice(None), *places["c"])].reshape(COUNT, counts["d"]))
        each = each.view("uint64" if d == "f64" else "uint32").reshape(COUNT, -1)
        return tuple(each[:, at] for at in range(registers["d"]))

    kinds = {
        name: "b64" if kind == "f64" else "b32" for name, kind in zip("dabc", types, strict=True)
    }
    results = " ".join([kinds["d"]] * registers["d"])
    operands = " ".join(each for name in "abc" for each in [kinds[name]] * registers[name])
    groups = [", ".join(f"%d{at}" for at in range(registers["d"]))]
    at = 0
    for name in "abc":
        groups.append(", ".join(f"%s{at + each}" for each in range(registers[name])))
        at += registers[name]
    arguments = ", ".join(f"{{{each}}}" for each in groups)
    return Case(opcode, f"{results}: {operands}", meaning, arguments, prepare)


def quads(d: str, c: str, layouts: str) -> Case:
    """Four products of 8 by 8 by 4, each of eight lanes."""
    a_layout, b_layout = layouts.split(".")
    lane, at = _LANE[:, None], np.arange(4)[None]
    own, upper, quad = lane % 4, lane // 16 * 4, lane % 16 // 4
    alone = upper + own + 0 * at, at + 0 * lane  # a row of its own, or a column
    shared = upper + at, own + 0 * at  # four of each

    def places(kind: str) -> tuple[Any, Any]:
        number = np.arange(8)[None]
        if kind == "f16":
            return upper + own + 0 * number, number + 0 * lane
        x = (number & 4) + (lane & 2) + (number & 1)
        return upper + (lane & 1) + (number & 2), x

    def matrix(fragment: Any, y: Any, x: Any) -> Any:
        made = np.zeros((_WARPS, 4, y.max() + 1, x.max() + 1))
        made[:, quad, y, x] = fragment
        return made

    def meaning(*operands: Any) -> tuple[Any, ...]:
        one, other, sum_ = (
            value(kind, elements(kind, list(part)))
            for kind, part in (("f16", operands[:2]), ("f16", operands[2:4]), (c, operands[4:]))
        )
        a = matrix(one, *(alone if a_layout == "row" else shared))
        b = matrix(other, *reversed(shared if b_layout == "row" else alone))
        found = matrix(sum_, *places(c)) + a @ b
        part = np.ascontiguousarray(found[:, quad, places(d)[0], places(d)[1]].reshape(COUNT, 8))
        bits = bits_of(d, part).view("uint32")
        return tuple(bits[:, each] for each in range(bits.shape[1]))

    def prepare(*operands: Any) -> list[Any]:
        generator = np.random.default_rng(len(operands))
        return [*drawn("f16", 4, COUNT, generator), *drawn(c, len(operands) - 4, COUNT, generator)]

    counts = {"f16": 4, "f32": 8}
    groups, first = [", ".join(f"%d{each}" for each in range(counts[d]))], 0
    for count in (2, 2, counts[c]):
        groups.append(", ".join(f"%s{first + each}" for each in range(count)))
        first += count
    arguments = ", ".join(f"{{{each}}}" for each in groups)
    types = f"{'b32 ' * counts[d]}: {'b32 ' * first}"
    opcode = f"mma.sync.aligned.m8n8k4.{layouts}.{d}.f16.f16.{c}"
    return Case(opcode, types, meaning, arguments, prepare)


_MMA: Final = "mma.sync.aligned"
_F8: Final = ("e4m3", "e5m2", "e3m2", "e2m3", "e2m1")
CASES: Final = [
    *(
        quads(d, c, layouts)
        for d, c in (("f16", "f16"), ("f32", "f16"), ("f32", "f32"))
        for layouts in ("row.row", "row.col", "col.row", "col.col")
    ),
    *(
        multiplied(f"{_MMA}.m16n8k{k}.row.col.{d}.{kind}.{kind}.{d}")
        for kind, ks, ds in (
            ("f16", (8, 16), ("f16", "f32")),
            ("bf16", (8, 16), ("f32",)),
            ("tf32", (4, 8), ("f32",)),
        )
        for k, d in product(ks, ds)
    ),
    *(
        multiplied(f"{_MMA}.m16n8k{k}.row.col.{d}.{a}.{b}.{d}")
        for k, d, a, b in product((16, 32), ("f16", "f32"), _F8[:2], _F8[:2])
    ),
    *(
        multiplied(f"{_MMA}{first}.m16n8k32.row.col{second}.{d}.{a}.{b}.{d}")
        for first, second in ((".kind::f8f6f4", ""), ("", ".kind::f8f6f4"))
        for d, a, b in product(("f16", "f32"), _F8, _F8)
    ),
    *(
        multiplied(f"{_MMA}.m{m}n8k{k}.row.col.f64.f64.f64.f64")
        for m, k in ((8, 4), (16, 4), (16, 8), (16, 16))
    ),
    *(
        multiplied(f"{_MMA}.{shape}.row.col{'.satfinite' * (a == b)}.s32.{a}{bits}.{b}{bits}.s32")
        for bits, shapes in (
            (8, ("m8n8k16", "m16n8k16", "m16n8k32")),
            (4, ("m8n8k32", "m16n8k32", "m16n8k64")),
        )
        for shape, a, b in product(shapes, "su", "su")
    ),
    *(
        multiplied(f"{_MMA}.{shape}.row.col.s32.b1.b1.s32.{operation}.popc")
        for shape in ("m8n8k128", "m16n8k128", "m16n8k256")
        for operation in ("and", "xor")
    ),
]


test_as_it_means = checks(CASES)


_ROWS: Final = """
{
.shared .align 16 .b8 rows[8192];
.reg .b32 %at;
mov.u32 %at, rows;
mad.lo.u32 %at, %n, 16, %at;
BODY
}
"""
"""Each thread has 16 bytes of shared memory at %at."""
_MOVES: Final = [
    (count, trans, shape)
    for count in (1, 2, 4)
    for trans in ("", ".trans")
    for shape in (f".m8n8.x{count}{trans}.shared::cta", f".x{count}{trans}.m8n8.shared")
]
"""Both orders are found."""
TESTED.extend(
    f"{name}.sync.aligned{shape}.b16" for name in ("ldmatrix", "stmatrix") for _, _, shape in _MOVES
)


def _pairs(matrices: Any, trans: str) -> Any:
    """What lanes have of matrices [warp, number, row, column]: [warp, lane, number]."""
    if trans:
        matrices = matrices.swapaxes(2, 3)
    found = matrices[:, :, _LANE[:, None] // 4, _LANE[:, None] % 4 * 2 + np.arange(2)]
    return np.ascontiguousarray(found.transpose(0, 2, 1, 3)).view("uint32")[..., 0]


@pytest.mark.parametrize(("count", "trans", "shape"), _MOVES)
def test_ldmatrix(count: int, trans: str, shape: str) -> None:
    given = np.random.default_rng(count).integers(0, 2**32, (COUNT, 4)).astype("uint32")
    results = ", ".join(f"%d{at}" for at in range(count))
    body = _ROWS.replace(
        "BODY",
        "st.shared.v4.b32 [%at], {%s0, %s1, %s2, %s3};\nbar.warp.sync 0xffffffff;\n"
        f"ldmatrix.sync.aligned{shape}.b16 {{{results}}}, [%at];",
    )

    found = evaluate(body, ["b32"] * count, [("b32", given[:, at]) for at in range(4)])

    rows = given.view("uint16").reshape(_WARPS, 4, 8, 8)[:, :count]
    expected = _pairs(rows, trans).reshape(COUNT, count)
    np.testing.assert_array_equal(np.stack(found, 1), expected)


@pytest.mark.parametrize(("count", "trans", "shape"), _MOVES)
def test_stmatrix(count: int, trans: str, shape: str) -> None:
    matrices = (
        np.random.default_rng(count).integers(0, 2**16, (_WARPS, count, 8, 8)).astype("uint16")
    )
    given = _pairs(matrices, trans).reshape(COUNT, count)
    operands = ", ".join(f"%s{at}" for at in range(count))
    body = _ROWS.replace(
        "BODY",
        "st.shared.v4.b32 [%at], {0, 0, 0, 0};\nbar.warp.sync 0xffffffff;\n"
        f"stmatrix.sync.aligned{shape}.b16 [%at], {{{operands}}};\n"
        "bar.warp.sync 0xffffffff;\nld.shared.v4.b32 {%d0, %d1, %d2, %d3}, [%at];",
    )

    found = evaluate(body, ["b32"] * 4, [("b32", given[:, at]) for at in range(count)])

    rows = np.stack(found, 1).view("uint16").reshape(_WARPS, 4, 8, 8)
    np.testing.assert_array_equal(rows[:, :count], matrices)
    assert not rows[:, count:].any()


def test_movmatrix() -> None:
    opcode = "movmatrix.sync.aligned.m8n8.trans.b16"

    def meaning(a: Any) -> Any:
        matrices = a.view("uint16").reshape(_WARPS, 1, 8, 8)
        return _pairs(matrices, ".trans").reshape(COUNT)

    Case(opcode, "b32: b32", meaning).check()


TESTED.append("movmatrix.sync.aligned.m8n8.trans.b16")


def test_mma_of_infinities_and_nans() -> None:
    opcode = f"{_MMA}.m16n8k8.row.col.f32.f16.f16.f32"
    ones, zeros = np.full(32, 0x3C003C00, "uint32"), np.zeros(32, "uint32")
    first = ones.copy()
    first[0] = 0x3C007C00  # row 0 has an infinity
    first[4] = 0x3C007E01  # and row 1 a NaN

    found = evaluate(
        f"{opcode} {{%d0, %d1, %d2, %d3}}, {{%s0, %s1}}, {{%s2}}, {{%s3, %s3, %s3, %s3}};",
        ["b32"] * 4,
        [("b32", first), ("b32", ones), ("b32", ones), ("b32", zeros)],
    )

    assert found[0][:9].tolist() == [0x7F800000] * 4 + [0x7FFFFFFF] * 4 + [0x41000000]


@pytest.mark.parametrize(
    ("address", "words"),
    [("rows+8", "not aligned to 16 bytes"), ("rows+16", "of which there are 16 bytes")],
)
def test_a_row_at_a_wrong_address_is_a_fault(address: str, words: str) -> None:
    body = f"""
    .shared .align 16 .b8 rows[16];
    .reg .b32 %r;
    ldmatrix.sync.aligned.m8n8.x1.shared.b16 {{%r}}, [{address}];
    """

    with pytest.raises(KernelFault, match=words):
        evaluate(body, [], [("b32", np.zeros(32, "uint32"))])


def test_a_warp_that_is_not_whole_is_a_fault() -> None:
    body = "movmatrix.sync.aligned.m8n8.trans.b16 %d0, %s0;"

    with pytest.raises(KernelFault, match="a whole warp, of which only the lanes 0xffff are left"):
        evaluate(body, ["b32"], [("b32", np.zeros(16, "uint32"))])


def test_lanes_that_do_not_come_to_a_matrix_instruction_are_waited_for() -> None:
    body = """
    .reg .pred %few;
    setp.lt.u32 %few, %n, 16;
    @%few movmatrix.sync.aligned.m8n8.trans.b16 %d0, %s0;
    bar.sync 0;
    """

    with pytest.raises(KernelFault, match="waits"):
        evaluate(body, ["b32"], [("b32", np.zeros(32, "uint32"))])
