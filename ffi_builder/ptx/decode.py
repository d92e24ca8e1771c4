"""Decodes the functions of a kernel into instructions for C, or says what is not executed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from ffi_builder.ptx import program
from ffi_builder.ptx.errors import PtxError
from ffi_builder.ptx.forms import FORMS
from ffi_builder.ptx.numbers import bits_of
from ffi_builder.ptx.program import Program, place
from ffi_builder.ptx.scopes import Frame, Place, Register, Scopes
from ffi_builder.ptx.table import Decoded, Form, Operand, decoded
from ffi_builder.ptx.text import SIZES, Function, Module, Statement, Variable, variable

_SHARED, _LOCAL, _PARAM = 2, 3, 5
_MOST_ROWS: Final = 1 << 20
_BY_WORD: Final[dict[str, list[Form]]] = {}
for _form in FORMS:
    for _word in _form.words:
        _BY_WORD.setdefault(_word, []).append(_form)


class _Decoder:
    def __init__(self, module: Module, kernel: Function) -> None:
        self.module = module
        self.out = Program(kernel, files=module.files)
        self._constants: dict[int, int] = {}
        self._addresses: dict[tuple[str, int], int] = {}
        self._filled: dict[tuple[int, int], int] = {}
        self._shared: dict[str, int] = {}
        self._dynamic_align = 0
        self._entries: dict[str, int] = {}
        self._frames: dict[str, Frame] = {}
        self._calls: list[tuple[int, str]] = []
        """Operands that are where a function begins."""
        self._cache: dict[str, list[Decoded]] = {}
        self.line = kernel.line
        self.function = kernel
        self.scopes = Scopes()

    # The program.

    def decode(self) -> Program:
        kernel, at = self.out.kernel, 0
        for param in kernel.params:
            at = place(at, param.align)
            self.out.params[param.name] = at, param.size
            at += param.size
        waiting = [kernel.name]
        while waiting:
            name = waiting.pop()
            if name in self._entries:
                continue
            self._entries[name] = len(self.out.code)
            self._function(self.module.functions[name])
            waiting += [called for _, called in self._calls]
        self._refuse_recursion()
        for at, called in self._calls:
            self.out.operands[at] = self._entries[called]
        end = place(self.out.shared_size, self._dynamic_align)
        self.out.shared_size = end if self._dynamic_align else self.out.shared_size
        for at, (row, special, value) in enumerate(self.out.filled):
            if special == program.SHARED_ADDRESS and value < 0:
                self.out.filled[at] = row, special, end - 1 - value
        return self.out

    def fail(self, what: str) -> PtxError:
        return PtxError(f"kernel {self.out.kernel.name!r} is not executed: {what}", self.line)

    def _refuse_recursion(self) -> None:
        done: set[str] = set()

        def visit(name: str, above: tuple[str, ...]) -> None:
            if name in above:
                raise self.fail(f"the function {name!r} calls itself")
            if name not in done:
                for called in self._frames[name].calls:
                    visit(called, (*above, name))
                done.add(name)

        visit(self.out.kernel.name, ())

    def emit(
        self,
        handler: str,
        operands: Iterable[int],
        guard: tuple[int, bool] | None = None,
        fields: dict[str, int] | None = None,
        extra: bytes = b"",
        dsize: int = 0,
    ) -> int:
        """Append an instruction; return where its operands begin."""
        at = len(self.out.operands)
        self.out.operands.extend(operands)
        given = fields or {}
        values = bytes(
            (
                int(guard is not None and guard[1]),
                *(given.get(name, int(name == "count")) for name in program.FIELDS),
                dsize,
            )
        )
        row = guard[0] if guard else program.NO_GUARD
        packed = values + extra.ljust(6, b"\0")
        self.out.code.append((handler, at, row, self.line, packed))
        return at

    def row(self, size: int = 8) -> int:
        """Return a new row; two for 128 bits."""
        row = self.out.rows
        self.out.rows += 2 if size == 16 else 1
        if self.out.rows > _MOST_ROWS:
            raise self.fail("it has too many registers")
        return row

    def constant(self, value: int) -> int:
        """Return the operand of a number."""
        if value not in self._constants:
            self._constants[value] = len(self.out.constants)
            self.out.constants.append(value)
        return self._constants[value] | program.CONSTANT

    def fill(self, special: int, value: int = 0) -> int:
        """Return the row that has a special register, or an address in shared memory."""
        if (special, value) not in self._filled:
            row = self.row()
            self._filled[special, value] = row
            self.out.filled.append((row, special, value))
        return self._filled[special, value]

    def _global(self, name: str, offset: int) -> int:
        if (name, offset) not in self._addresses:
            self._addresses[name, offset] = len(self.out.constants)
            self.out.variables.append((len(self.out.constants), name, offset))
            self.out.constants.append(0)
        return self._addresses[name, offset] | program.CONSTANT

    # Functions.

    def _frame(self, function: Function) -> Frame:
        """Return the place of a function's parameters and results, and of where it returns to."""
        if function.name not in self._frames:
            frame = Frame(self.row())
            of_call = () if function.is_kernel else (*function.params, *function.results)
            for each in of_call:
                frame.places[each.name] = self._local(each)
            self._frames[function.name] = frame
        return self._frames[function.name]

    def _local(self, variable: Variable) -> int:
        if variable.space == "reg" or variable.size == 0:
            raise self.fail(f"the parameter {variable.name!r} of a function is a register")
        at = place(self.out.local_size, variable.align)
        self.out.local_size = place(at + variable.size, 16)
        if self.out.local_size > 1 << 20:
            raise self.fail("it has more than 1 MiB of local memory")
        return at

    def _shared_at(self, variable: Variable) -> int:
        """Return where a variable is; what has no size is behind all others: -1."""
        if not variable.size:
            self._dynamic_align = max(self._dynamic_align, variable.align, 16)
            return -1
        at = place(self.out.shared_size, variable.align)
        self.out.shared_size = at + variable.size
        if self.out.shared_size > 1 << 20:
            raise self.fail("it has more than 1 MiB of shared memory")
        return at

    def _function(self, function: Function) -> None:
        if function.body is None:
            raise self.fail(f"the function {function.name!r} is declared only")
        self.function = function
        self.frame = self._frame(function)
        self.scopes = Scopes()
        self.labels: dict[str, int] = {}
        jumps: list[tuple[int, list[str], int]] = []
        self._jumps = jumps
        self._targets = _branch_targets(function.body)
        for statement in function.body:
            self.line = statement.line
            if statement.source[1]:
                self.out.sources[statement.line] = statement.source
            self._statement(statement)
        self._return(None)
        for at, names, line in jumps:
            positions = [self.labels[name] for name in names if name in self.labels]
            if not positions:
                self.line = line
                raise self.fail(f"there is no label {names[0].partition(':')[2]!r}")
            self.out.operands[at] = positions[0]

    def _statement(self, statement: Statement) -> None:
        text = statement.text
        if text == "{":
            self.scopes.open()
        elif text == "}":
            self.scopes.close()
        elif text.endswith(":"):
            name = self.scopes.label(text[:-1])
            if name in self.labels:
                raise self.fail(f"the label {text[:-1]!r} stands twice")
            self.labels[name] = len(self.out.code)
        elif text[0] == ".":
            self._directive(text)
        else:
            self._instruction(text)

    def _directive(self, text: str) -> None:
        if text.startswith(".reg"):
            self.scopes.declare(text, self.fail)
        elif re.match(r"\.(shared|local|param|global|const)\b|\.extern\b", text):
            declared = variable(text, self.line)
            if declared.space == "shared":
                made = Place("shared", self._shared_at(declared))
            elif declared.space in ("local", "param"):
                made = Place("local", self._local(declared))
            else:
                raise self.fail(f"a variable in {declared.space} memory within a function")
            self.scopes.variables[declared.name] = made
        elif not re.match(r"\.(pragma|branchtargets|callprototype|calltargets|loc|file)\b", text):
            raise self.fail(f"the directive {text.split()[0]}")

    # Instructions.

    def _instruction(self, text: str) -> None:
        guard = None
        if text[0] == "@":
            match = re.match(r"@(!?)\s*(%?[\w$]+)\s+(.*)", text, re.DOTALL)
            if match is None:
                raise self.fail(f"the instruction {text!r}")
            guard = self._register(match[2], "pred").row, match[1] == "!"
            text = match[3]
        opcode, rest = (*text.split(None, 1), "")[:2]
        word = opcode.partition(".")[0]
        if word == "call":
            self._call(opcode, rest.strip(), guard)
        elif word == "ret":
            self._return(guard)
        elif word == "brx":
            self._branch_by_index(rest, guard)
        else:
            self._listed(text, opcode, _operands(rest), guard)

    def _listed(
        self, text: str, opcode: str, given: list[str], guard: tuple[int, bool] | None
    ) -> None:
        for form in self._forms(opcode):
            if form.takes(given):
                self._emit(form, given, guard)
                return
        raise self.fail(f"no form of the instruction {' '.join(text.split())!r} is listed")

    def _forms(self, opcode: str) -> list[Decoded]:
        if opcode not in self._cache:
            rows = _BY_WORD.get(opcode.partition(".")[0], [])
            self._cache[opcode] = [form for row in rows if (form := decoded(row, opcode))]
        return self._cache[opcode]

    def _emit(self, form: Decoded, given: list[str], guard: tuple[int, bool] | None) -> None:
        operands: list[int] = []
        fields = form.fields
        self._dsize = 0
        labels: list[tuple[int, str]] = []
        texts = iter(given)
        for operand in form.operands:
            text = "" if operand.kind == "absent" else next(texts, "")
            if not text:
                operands.append(0)
            elif operand.count and operand.kind == "address":
                operands += self._tensor_address(text, operand.count)
            elif operand.kind == "address":
                base, offset, space = self._address(text, fields.get("space", 0))
                operands += base, offset & 0xFFFFFFFF
                fields = {**fields, "space": space} if not labels and space != -1 else fields
            elif operand.kind == "number":
                operands.append(bits_of(text, "u32", self.fail) & 0xFFFFFFFF)
            elif operand.kind == "label":
                labels.append((len(operands), text))
                operands.append(0)
            else:
                operands += self._values(operand, text)
        at = self.emit(form.handler, operands, guard, fields, form.extra, self._dsize)
        for offset, label in labels:
            self._jumps.append((at + offset, self.scopes.labels(label), self.line))

    def _values(self, operand: Operand, text: str) -> list[int]:
        if operand.count == 0 or text[0] != "{":
            return self._value(operand, text)
        if text[-1] != "}":
            raise self.fail(f"the operand {text!r}")
        parts = [part.strip() for part in text[1:-1].split(",")]
        if len(parts) != operand.count or not all(parts):
            raise self.fail(f"{operand.count} registers are expected and there is {text}")
        return [row for part in parts for row in self._value(operand, part)]

    def _value(self, operand: Operand, text: str) -> list[int]:
        kind = operand.type
        match operand.kind:
            case "written":
                return [self._written(text, operand)]
            case "pair":
                first, _, second = (part.strip() for part in text.partition("|"))
                other = self._register(second, "pred").row if second and second != "_" else 0
                return [self._written(first, operand), other]
            case _:
                pass
        if kind == "pred":
            negated = text[0] == "!"
            if negated and not operand.negated:
                raise self.fail(f"the operand {text!r} is negated")
            if text[0] in "-0123456789":
                return [self.constant(2**32 - 1 if bits_of(text, "s32", self.fail) else 0)]
            row = self._register(text.removeprefix("!").strip(), "pred").row
            return [row | program.NEGATED if negated else row]
        return [self._read(text, operand)]

    def _written(self, text: str, operand: Operand) -> int:
        if text == "_":
            self._dsize = self._dsize or SIZES[operand.type]
            return 0
        register = self._register(text, operand.type, operand.wider)
        self._dsize = self._dsize or register.size
        return register.row

    def _read(self, text: str, operand: Operand) -> int:
        register = self.scopes.register(text, self.row)
        if register is not None:
            self._check(register, text, operand.type, operand.wider)
            return register.row
        if text in program.SPECIAL:
            return self.fill(program.SPECIAL[text])
        if text in program.CLOCKS:
            row = self.row()
            self.emit("clock", [row], extra=bytes([program.CLOCKS[text]]))
            return row
        if text == "WARP_SZ":
            return self.constant(32)
        if text[0] in "-~0123456789(+":
            size = SIZES[operand.type]
            value = bits_of(text, operand.type, self.fail)
            return self.constant(value & ((1 << 8 * size) - 1))
        return self._named(text)[0]

    def _register(self, text: str, kind: str, wider: bool = False) -> Register:
        register = self.scopes.register(text, self.row)
        if register is None:
            raise self.fail(f"{text!r} is no register")
        self._check(register, text, kind, wider)
        return register

    def _check(self, register: Register, text: str, kind: str, wider: bool) -> None:
        expected = SIZES[kind]
        fits = register.size == expected or (wider and expected < register.size <= 8)
        if not fits or (register.type == "pred") != (kind == "pred"):
            raise self.fail(f"the register {text} is .{register.type}, and .{kind} is expected")

    def _address(self, text: str, space: int) -> tuple[int, int, int]:
        """Return the base's row, the offset and the space of ``[base+offset]``."""
        inside = text[1:-1].strip()
        if text[-1] != "]":
            raise self.fail(f"the address {text!r}")
        match = re.fullmatch(r"([%\w$]+)\s*(?:\+?\s*(-?\s*\w+))?", inside)
        if match is None:
            raise self.fail(f"the address {text!r}")
        offset = bits_of(match[2].replace(" ", ""), "s64", self.fail) if match[2] else 0
        offset = (offset ^ 1 << 63) - (1 << 63)
        base = match[1]
        register = self.scopes.register(base, self.row)
        if register is not None:
            if register.size not in (4, 8):
                raise self.fail(f"the address {text!r} in a register of {register.size} bytes")
            row = register.row
        elif base[0].isdigit():
            row = self.constant(bits_of(base, "u64", self.fail))
        else:
            row, where = self._named(base)
            space = where if where in (_LOCAL, _PARAM) else space
        if not -(2**31) <= offset < 2**31:
            raise self.fail(f"the offset of the address {text!r}")
        return row, offset, space

    def _tensor_address(self, text: str, rank: int) -> list[int]:
        """Return the address of a map, and its coordinates."""
        match = re.fullmatch(r"\[([^,]*),\s*(\{[^}]*\})\s*\]", text)
        if match is None:
            raise self.fail(f"the address {text!r}")
        base, offset, space = self._address(f"[{match[1].strip()}]", 0)
        if space == _PARAM:
            raise self.fail(f"the tensor map {text!r} is not at a generic address")
        coordinates = self._values(Operand("register", "b32", rank), match[2])
        return [base, offset & 0xFFFFFFFF, *coordinates]

    def _named(self, text: str) -> tuple[int, int]:
        """Return the operand that is a variable's address, and its space."""
        match = re.fullmatch(r"([A-Za-z_$%][\w$]*)\s*(?:\+\s*(\w+))?", text)
        if match is None:
            raise self.fail(f"the operand {text!r}")
        name = match[1]
        offset = bits_of(match[2], "s64", self.fail) if match[2] else 0
        local = self.scopes.variable(name)
        if local is None and name in self.frame.places:
            local = Place("local", self.frame.places[name])
        if local is not None and local.space == "local":
            return self.constant(local.at + offset), _LOCAL
        if local is not None:
            return self._shared_address(local.at, offset), _SHARED
        if self.function is self.out.kernel and name in self.out.params:
            return self.constant(self.out.params[name][0] + offset), _PARAM
        declared = self.module.variables.get(name)
        if declared is None:
            raise self.fail(f"the operand {text!r}, which nothing declares")
        if declared.space == "shared":
            if name not in self._shared:
                self._shared[name] = self._shared_at(declared)
            return self._shared_address(self._shared[name], offset), _SHARED
        return self._global(name, offset), 1

    def _shared_address(self, at: int, offset: int) -> int:
        return self.fill(program.SHARED_ADDRESS, -1 - offset if at < 0 else at + offset)

    # Calls.

    def _return(self, guard: tuple[int, bool] | None) -> None:
        if self.function is self.out.kernel:
            self.emit("exit", (), guard)
        else:
            self.emit("ret", [self.frame.back], guard)

    def _call(self, opcode: str, rest: str, guard: tuple[int, bool] | None) -> None:
        match = re.fullmatch(
            r"(?:\(\s*([\w$%]*)\s*\)\s*,\s*)?([\w$%]+)\s*(?:,\s*\(([^)]*)\))?\s*(?:,\s*[\w$]+)?",
            rest,
            re.DOTALL,
        )
        if match is None or opcode not in ("call", "call.uni"):
            raise self.fail(f"the call {opcode} {rest}")
        result, name, given = match.groups()
        arguments = [each.strip() for each in (given or "").split(",") if each.strip()]
        if name in _BUILT_IN:
            places = [self._place(each) for each in (*arguments, *([result] if result else []))]
            if len(arguments) != _BUILT_IN[name]:
                raise self.fail(f"the call of {name!r} does not fit its parameters")
            self.emit(f"call_{name.strip('_')}", places, guard, {"count": len(places)})
            return
        function = self.module.functions.get(name)
        if function is None:
            raise self.fail(f"a call of {name!r}, which is no function by name")
        if function.body is None:
            raise self.fail(f"a call of {name!r}, which is declared only")
        if len(arguments) != len(function.params) or bool(result) != bool(function.results):
            raise self.fail(f"the call of {name!r} does not fit its parameters")
        self.frame.calls.add(name)
        frame = self._frame(function)
        copies: list[int] = []
        for argument, param in zip(arguments, function.params, strict=True):
            copies += self._place(argument), frame.places[param.name], param.size
        at = self.emit("call", [0, frame.back, *copies], guard, {"count": len(arguments)})
        self._calls.append((at, name))
        if result:
            returned = function.results[0]
            self.emit(
                "returned", [frame.places[returned.name], self._place(result), returned.size], guard
            )

    def _place(self, name: str) -> int:
        if name in self.frame.places:
            return self.frame.places[name]
        local = self.scopes.variable(name)
        if local is None or local.space != "local":
            raise self.fail(f"the argument {name!r} of a call is no variable in param space")
        return local.at

    def _branch_by_index(self, rest: str, guard: tuple[int, bool] | None) -> None:
        given = _operands(rest)
        labels = self._targets.get(given[1]) if len(given) == 2 else None
        if labels is None:
            raise self.fail(f"the branch brx.idx {rest}")
        row = self._register(given[0], "b32").row
        at = self.emit("brx", [row, len(labels), *(0 for _ in labels)], guard)
        for number, label in enumerate(labels):
            self._jumps.append((at + 2 + number, self.scopes.labels(label), self.line))


_BUILT_IN: Final = {"vprintf": 2, "__assertfail": 5}
"""How many arguments the functions have that calls.c defines."""


def _branch_targets(body: Iterable[Statement]) -> dict[str, list[str]]:
    targets: dict[str, list[str]] = {}
    label = ""
    for each in body:
        if each.text.startswith(".branchtargets"):
            words = each.text.removeprefix(".branchtargets").split(",")
            targets[label] = [word.strip() for word in words]
        label = each.text[:-1] if each.text.endswith(":") else ""
    return targets


_PART: Final = re.compile(
    r"\{[^}]*\}|\[[^\[\]{}]*(?:\{[^}]*\}[^\[\]{}]*)*\]|\([^)]*\)|[^,{}\[\]()]+"
)


def _operands(rest: str) -> list[str]:
    """Split at commas that are in no brackets."""
    if "{" not in rest and "[" not in rest:
        return [part.strip() for part in rest.split(",") if part.strip()]
    return [part.strip() for part in _PART.findall(rest) if part.strip()]


def decode(module: Module, name: str) -> Program:
    """Decode a kernel.

    Raises:
        PtxError: it has something that is not executed, or is damaged.
    """
    return _Decoder(module, module.functions[name]).decode()
