"""``testing.make_args``: what it makes is accepted, and binds what was asked for."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest
import tvm_ffi
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ffi_builder import SpecError, spec, testing
from ffi_builder.spec import Shape, Signature, Tensor, TupleParam, Var, ceildiv, dims
from ffi_builder.spec.dtypes import NAMES
from ffi_builder.testing.make.arrays import free_memory
from tests.differential.signatures import signatures, symbols_of, tensors_of
from tests.support.drawn import drawn
from tests.testing.making import bound, cpu, made

np = pytest.importorskip("numpy", reason="needs NumPy")
n, m, k = dims("n m k")


def on_cpu(params: Any) -> bool:
    return all(tensor.device == "cpu" for _, tensor in tensors_of(params))


def can_be_made(signature: Signature) -> bool:
    """On the CPU, and without objects of types that only a test has registered."""
    plain = [spec.required(param) for _, param in spec.with_paths(signature.params)]
    lists = [p.tensor for p in plain if isinstance(p, spec.TensorList)]
    own = [p for p in plain if isinstance(p, spec.Object) and (p.type_key or "").startswith("test")]
    return on_cpu([*signature.params, *lists]) and not own


REFUSED = re.compile(
    r"make_args: (found no (values of|arguments that fit) .*|.* does not hold with .*|.* needs? \d+ bytes.*|.* does not fit .*|.*: expected .* but got .*"
    r"|.*, and must (not be negative|be a multiple of \d+, .*|be 0, where such arrays are.*"
    r"|be from 0 to 2147483647)|.*, and must not be as low for packed elements)"
)


def args_or_refusal(signature: Signature, asked: dict[str, float], framework: str) -> Any:
    try:
        return testing.make_args(signature, asked, framework)
    except ValueError as error:
        return REFUSED.fullmatch(str(error))


def of_lists(signature: Signature) -> set[str]:
    """The names of symbols that lists of tensors have."""
    plain = [spec.required(param) for _, param in spec.with_paths(signature.params)]
    return {v.name for p in plain if isinstance(p, spec.TensorList) for v in p.symbols}


@pytest.mark.slow
def test_what_is_made_is_accepted() -> None:
    refused: list[bool] = []

    @settings(max_examples=drawn(200), database=None)
    @given(signatures().filter(can_be_made), st.data())
    def accepted(signature: Signature, data: st.DataObject) -> None:
        framework = data.draw(st.sampled_from(["numpy", "tvm_ffi"]))
        args = args_or_refusal(signature, {}, framework)
        assert args is not None
        refused.append(not isinstance(args, list))
        assume(not refused[-1])
        found = testing.check(signature, *args)
        # Ask for some symbols: for the values that were bound, or for others.
        asked: dict[str, float] = {}
        for var in symbols_of(signature.params):
            if data.draw(st.booleans()):
                other = found[var.name] + (var.divisibility or 1) * data.draw(st.integers(0, 3))
                asked[var.name] = other if var.is_integer else found[var.name]
        args = args_or_refusal(signature, asked, framework)
        assert args is not None
        if isinstance(args, re.Match):
            return
        again = testing.check(signature, *args)
        for name, value in asked.items():
            if again[name] == 0 and (name in of_lists(signature) or any(a is None for a in args)):
                continue  # they are empty, or an Optional has to be None
            assert again[name] == pytest.approx(value, rel=0, abs=0, nan_ok=True)

    accepted()
    # It would say nothing of a make_args that refuses everything.
    assert refused.count(False) > 2 * refused.count(True)


def test_a_device_id_out_of_range_is_refused() -> None:
    x = spec.Tensor("x", [], "int8", device_type="cpu", device_id=n)
    found = args_or_refusal(Signature("f", [x]), {"n": 2**31}, "tvm_ffi")
    assert isinstance(found, re.Match)
    words = "make_args: x.device_id = n with n = 2147483648 is 2147483648, and must be from 0 to 2147483647"
    assert found.group() == words


class TestSymbols:
    def test_small_and_different(self) -> None:
        assert bound(cpu("A", n, k), cpu("B", k, m)) == {"n": 2, "k": 3, "m": 4}
        assert bound(cpu("A", n, k), cpu("B", k, m), k=2) == {"n": 3, "k": 2, "m": 4}

    @pytest.mark.parametrize(
        ("var", "value"),
        [
            (Var("x", "int32", divisibility=16), 16),
            (Var("x", "int32", min=100), 100),
            (Var("x", "int32", max=1), 1),
            (Var("x", "int32", max=-5), -5),
            (Var("x", "int8", min=-100, max=-3, divisibility=7), -7),
            (Var("x", "int8", min=100, divisibility=7), 105),
            (Var("x", "uint64", min=2**64 - 1), 2**64 - 1),
            (Var("x", "int64", divisibility=2**62 + 1), 2**62 + 1),
            (Var("x", "bool"), True),
            (Var("x", "float16"), 0.5),
            (Var("x", "handle"), 0),
        ],
    )
    def test_alone(self, var: Var, value: float) -> None:
        assert bound(var) == {"x": value}

    def test_equal_ones_are_avoided_only_where_they_can_be(self) -> None:
        sixteen = [Var(name, "int32", divisibility=16, max=32) for name in "abc"]
        assert bound(*sixteen) == {"a": 16, "b": 32, "c": 16}

    def test_expressions_are_solved_and_evaluated(self) -> None:
        assert bound(cpu("A", n * 2 + 1)) == {"n": 2}
        assert bound(cpu("A", ceildiv(n, 4), n % 3), n, n=10) == {"n": 10}
        assert bound(cpu("A", n - 100), Shape("s", [k, 8 - k])) == {"n": 102, "k": 2}
        assert bound(Shape("s", [n - k, k - n]), n, k) == {"n": 2, "k": 2}

    def test_packed_dimensions_are_multiples(self) -> None:
        packed = cpu("A", n, k, dtype="float4_e2m1fn", storage_dtype="float4_e2m1fnx2")
        assert bound(packed) == {"n": 2, "k": 4}
        assert bound(packed, k=10) == {"n": 2, "k": 10}
        three = Var("t", "int64", divisibility=3)
        assert bound(cpu("A", three, dtype="uint1", storage_dtype="uint8")) == {"t": 24}

    def test_given_ones(self) -> None:
        params = (Var("a", "bool"), Var("b", "float32"), Var("c", "handle"), n)
        assert bound(*params, a=False, b=0.25, c=0x70, n=-7)["c"] == 0x70
        assert made(Var("b", "float32"), b=0.1) == [float(np.float32(0.1))]
        assert math.isnan(made(Var("b", "float32"), b=math.nan)[0])
        assert bound(n, n=np.int32(3)) == {"n": 3}
        limited = Var("x", "int8", min=-3, max=5)
        assert [bound(limited, x=value)["x"] for value in (-3, 5)] == [-3, 5]

    def test_jumps_back_to_what_is_to_blame(self) -> None:
        between = [Var(name, "int64") for name in "abcdefgh"]
        params = (cpu("A", n), *between, cpu("B", k - n * 1000), Var("k", "int64", max=900))
        assert bound(*params[:-2], cpu("B", k - n * 1000), cpu("C", k))["n"] == 2
        small = Var("k", "int64", max=900)
        assert bound(cpu("A", n), *between, cpu("B", small - n * 1000), small)["n"] == 0


class TestTensors:
    def test_what_they_are(self) -> None:
        [a] = made(cpu("A", n, 4, None, dtype="int16"))
        assert isinstance(a, np.ndarray)
        assert (a.shape, str(a.dtype), a.flags.c_contiguous) == ((2, 4, 3), "int16", True)
        assert not a.any()
        a[:] = 1  # its own memory, which may be written to

    @pytest.mark.parametrize(
        ("strides", "expected"),
        [
            ([m, 1], (4, 1)),
            ([1, m], (1, 3)),
            ([m, k], (4, 1)),
            ([None, None], (4, 1)),
            ([m * 2, 1], (4, 1)),
            ([m + 3, 2], (8, 2)),
            ([-8, 1], (-8, 1)),
            ([0, -1], (0, -1)),
            ([Var("m", "int64", divisibility=16), 1], (16, 1)),
        ],
    )
    @pytest.mark.parametrize("dtype", ["float64", "bfloat16", "int4"])
    def test_strides(self, strides: list[Any], expected: tuple[int, ...], dtype: str) -> None:
        tensor = cpu("A", 3, 4, dtype=dtype, strides=strides)
        [a] = made(tensor)
        if dtype == "float64":
            assert tuple(stride // 8 for stride in a.strides) == expected
            a[:] = 1
        else:
            assert a.strides == expected
        testing.check(Signature("f", [tensor]), a)

    def test_strides_of_several_tensors(self) -> None:
        tensors = (cpu("A", 3, 4, strides=[m, 1]), cpu("B", 3, 9, strides=[m, 1]))
        assert bound(*tensors) == {"m": 9}
        assert bound(*tensors, m=20) == {"m": 20}

    def test_a_stride_clears_the_dimension_that_reaches_farthest(self) -> None:
        assert bound(cpu("A", 2, 2, 3, strides=[m, 4, 1])) == {"m": 8}
        assert bound(cpu("A", 2, 2, 3, strides=[m, 1, 4])) == {"m": 12}

    @pytest.mark.parametrize("framework", ["numpy", "tvm_ffi"])
    def test_free_strides_have_the_value_asked_for(self, framework: str) -> None:
        for entries in ((1, 4), (0, 4)):
            found = bound(cpu("A", *entries, strides=[m, 1]), framework=framework, m=77)
            assert found == {"m": 77}
        assert bound(cpu("A", 1, strides=[m]), framework=framework, m=2**62) == {"m": 2**62}

    @pytest.mark.parametrize("dtype", NAMES)
    @pytest.mark.parametrize("framework", ["numpy", "tvm_ffi"])
    def test_every_dtype(self, dtype: str, framework: str) -> None:
        for lanes in ("", "x3"):
            bound(cpu("A", n, 3, dtype=dtype + lanes), framework=framework, n=5)

    def test_alignment(self) -> None:
        for alignment in (1, 64, 4096, 2**20):
            tensor = cpu("A", 5, 3, strides=[-3, 1], data_alignment=alignment)
            for framework in ("numpy", "tvm_ffi"):
                bound(tensor, framework=framework)
        assert made(cpu("A", 0, data_alignment=2**40))[0].shape == (0,)

    @pytest.mark.parametrize(
        "text",
        [
            "f(x: X) where x.data % 1048576 == 0",
            "f(x: X) where x.data % 1048576 == 0 or x.dtype == int32",
            "f(t: Tuple(x: X)) where t[0].data % 1048576 == 0",
            "f(x: Optional(X)) where x.data % 1048576 == 0, x.present",
        ],
    )
    def test_alignment_of_a_condition(self, text: str) -> None:
        text = text.replace("X", "Tensor([n], float32 | int32)")
        signature = spec.Signature.parse(text, device="cpu")
        for framework in ("numpy", "tvm_ffi"):
            (made,) = testing.make_args(signature, {"n": 5}, framework)
            testing.check(signature, made)
            x = tvm_ffi.from_dlpack(made[0] if "Tuple" in text else made)
            assert x.data_ptr() % 2**20 == 0

    @pytest.mark.parametrize("condition", ["x.data % 16 == 4", "x.data % 16 != 0"])
    def test_alignment_that_is_not_made(self, condition: str) -> None:
        text = f"f(x: Tensor([n], float32)) where {condition}"
        signature = spec.Signature.parse(text, device="cpu")
        with pytest.raises(ValueError, match=f"found no arguments that fit .*{condition}"):
            testing.make_args(signature)

    def test_tvm_ffi(self) -> None:
        [a] = made(cpu("A", n), framework="tvm_ffi")
        assert isinstance(a, tvm_ffi.Tensor)
        ids = [cpu("A", n, device_id=3), cpu("B", n), cpu("C", n, device_id=k)]
        assert bound(*ids, framework="tvm_ffi", k=7)["k"] == 7

    def test_torch(self) -> None:
        torch = pytest.importorskip("torch")
        a, b = made(
            cpu("A", 3, 4, strides=[8, 1]), cpu("B", n, dtype="bfloat16"), framework="torch"
        )
        assert isinstance(a, torch.Tensor)
        assert a.stride() == (8, 1)
        assert b.dtype is torch.bfloat16
        bound(cpu("A", 3, 4, strides=[8, 1]), cpu("B", n, dtype="bool"), framework="torch", n=9)
        with pytest.raises(ValueError, match=r"A has the strides .* PyTorch has no negative ones"):
            made(cpu("A", 3, strides=[-1]), framework="torch")
        with pytest.raises(ValueError, match=r"A is float32x3, of which PyTorch makes no tensor"):
            made(cpu("A", 3, dtype="float32x3"), framework="torch")


def test_other_parameters() -> None:
    args = made(
        Shape("s", [n, 4]),
        TupleParam("t", [k, TupleParam("u", [cpu("A", n, k), spec.DataPointer("p")])]),
        spec.ConstInt("i", 3),
        spec.ConstBool("b", True),
        spec.ConstFloat("c", math.inf),
        spec.ConstNone("d"),
        spec.Stream("e"),
        spec.List("f", "int64", n + 1),
        spec.List("g", "bool", 3),
        spec.List("h", "float32"),
        spec.List("k", "String", n),
        spec.List("l", spec.List("row", "int8", 3), n),
    )
    assert args[0] == (2, 4)
    assert args[1][0] == 3
    assert args[1][1][0].shape == (2, 3)
    assert args[1][1][1] is None
    assert args[2:7] == [3, True, math.inf, None, None]
    assert args[7:9] == [[0, 1, 2], [False, True, False]]
    assert all(isinstance(number, float) for number in args[9])
    assert [type(text) for text in args[10]] == [str, str]
    assert args[11] == [[0, 1, 2]] * 2


@pytest.mark.parametrize(
    ("params", "symbols", "words"),
    [
        ([spec.List("x", "int8", 2**31 - 1)], {}, "x needs 137438953408 bytes, and make_args makes 1073741824 at most"),
        ([n], {"nn": 3}, "f has no symbol 'nn'; it has n, did you mean 'n'?"),
        ([], {"n": 3}, "f has no symbol 'n'; it has none"),
        ([n], {"n": 2.5}, "n = 2.5: expected int but got float"),
        ([Var("x", "float32")], {"x": "1"}, "x = '1': expected float but got str"),
        ([Var("x", "bool")], {"x": 2}, "x = 2: expected True, False, 0 or 1 but got 2"),
        ([Var("x", "int8")], {"x": 128}, "x = 128: expected a value that fits int8 (-128 to 127) but got 128"),
        ([Var("x", "int8", min=2)], {"x": 1}, "x = 1: expected at least 2 (min of x) but got 1"),
        ([Var("x", "int8", max=2)], {"x": 3}, "x = 3: expected at most 2 (max of x) but got 3"),
        ([Var("x", "int8", divisibility=3)], {"x": 4}, "x = 4: expected a multiple of 3 (divisibility of x) but got 4"),
        ([cpu("A", n)], {"n": -1}, "A.shape[0] = n with n = -1 is -1, and must not be negative"),
        ([TupleParam("t", [Shape("s", [4 - n]), n])], {"n": 9}, "t[0][0] = 4 - n with n = 9 is -5, and must not be negative"),
        ([cpu("A", n, dtype="int4", storage_dtype="int8")], {"n": 5}, "A.shape[0] = n with n = 5 is 5, and must be a multiple of 2, as so many are packed"),
        ([cpu("A", 0, 2, dtype="int4", storage_dtype="int8", strides=[m, 1])], {"m": -(2**63)}, f"A.strides[0] = m with m = {-(2**63)} is {-(2**63)}, and must not be as low for packed elements"),
        ([cpu("A", n * k), n, k], {"n": 2**62, "k": 2}, f"A.shape[0] = n * k with n = {2**62}, k = 2 does not fit int64"),
        ([cpu("A", n)], {"n": 2**28 + 1}, f"A needs {2**30 + 4} bytes, and make_args makes {2**30} at most"),
        ([cpu("A", n, k)], {"n": 2**40, "k": 2**40}, f"A has the shape [{2**40}, {2**40}], whose product does not fit int64"),
        ([cpu("A", 1, device_id=2)], {}, "A.device_id = 2 is 2, and must be 0, where such arrays are; framework='tvm_ffi' takes others"),
        ([cpu("A", Var("x", "int64", max=-1))], {}, "found no values of x that fit f: A.shape[0] = x with x = -1 is -1, and must not be negative; give some in dims="),
        (
            [n, TupleParam("t", [Tensor("A", [n], "float32", device_type="cuda")])],
            {},
            "t[0] on argument #1 is on cuda, and make_args makes CPU arrays only; test with a "
            "signature whose device_type is 'cpu', or in a testing.FakeCuda()",
        ),
    ],
)  # fmt: skip
def test_refused(params: list[Any], symbols: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=r"^make_args: ") as error:
        made(*params, **symbols)
    assert str(error.value) == f"make_args: {words}"


@pytest.mark.slow
def test_more_memory_than_is_free() -> None:
    """They are refused before any of them is made; memory that is not written is not used."""
    free = free_memory()
    if free is None or free > 2**39:
        pytest.skip("the system does not say how much memory is free, or has half a TiB")
    # Other processes may free 4 GiB meanwhile.
    params = [cpu(f"x{index}", n, dtype="uint8") for index in range(free // 2**29 + 9)]
    with pytest.raises(
        ValueError, match=r"^make_args: the tensors need \d+ bytes together"
    ) as error:
        made(*params, n=2**29)
    assert str(error.value).startswith(f"make_args: the tensors need {len(params) * 2**29} bytes")
    assert str(error.value).endswith(f"largest is x0 with {2**29} bytes; give smaller dims=")
    assert len(made(*params[:2], n=2**29)) == 2


@pytest.mark.parametrize("framework", ["numpy", "tvm_ffi"])
def test_memory_of_their_own(framework: str) -> None:
    """Values that are given are not inspected; ``check`` finds that they overlap."""
    x, y, z = (cpu(name, n, k, strides="any") for name in "xyz")
    signature = Signature("f", [x, y, TupleParam("t", [z])], no_overlap=["y", "t[0]"])
    args = testing.make_args(signature, {"n": 5}, framework)
    assert testing.check(signature, *args)["n"] == 5
    again = testing.make_args(signature, {"n": 5}, framework, {"y": args[0], "x": args[0]})
    with pytest.raises(ValueError, match=r"memory apart from that of x \(no_overlap\)"):
        testing.check(signature, *again)


TAKEN = Signature.parse(
    "f(a: Tensor([n], float32 | float16), b: Tensor([n], a.dtype), "
    "t: Tuple(c: Optional(Tensor([n], b.dtype))))",
    device="cpu",
)


@pytest.mark.parametrize("framework", ["numpy", "tvm_ffi"])
def test_a_dtype_that_is_taken_from_another(framework: str) -> None:
    a, b, (c,) = testing.make_args(TAKEN, framework=framework)
    assert {str(each.dtype) for each in (a, b, c)} == {"float32"}
    for name in ("a", "b"):
        given = {"a": np.zeros(2, "float16"), "b": np.zeros(2, "float16")}
        left = {key: given[key] for key in (["a", "b"] if name == "b" else ["a"])}
        args = testing.make_args(TAKEN, {"n": 2}, framework, values=left)
        assert {str(each.dtype) for each in (*args[:2], *args[2])} == {"float16"}
        testing.check(TAKEN, *args)


def test_unknown_framework() -> None:
    with pytest.raises(ValueError, match="expected one of numpy, torch, tvm_ffi but got 'jax'"):
        made(n, framework="jax")


def test_a_framework_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with pytest.raises(ModuleNotFoundError, match="testing needs PyTorch here: pip install torch"):
        made(cpu("A", n), framework="torch")


@pytest.mark.parametrize("value", [10**400, "three", [1.0], None])
def test_what_is_not_a_float(value: Any) -> None:
    signature = Signature("f", [Var("a", "float32")])
    with pytest.raises(ValueError, match=r"^make_args: a = .*: (expected|int too large)"):
        testing.make_args(signature, {"a": value})


def test_what_is_no_signature() -> None:
    with pytest.raises(SpecError, match=r"expected a Signature but got 'f\(n: int32\)'"):
        testing.make_args("f(n: int32)")  # pyright: ignore[reportArgumentType]
