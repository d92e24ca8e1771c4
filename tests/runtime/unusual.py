"""Modules of the LLVM dialect that MLIR verifies, of operations × types × attributes nobody lowers to.

Many of them end the process that translates them or generates code for them.
"""

from __future__ import annotations

import re
from random import Random
from typing import Final

# `name = one of these`, separated by two spaces. `$name` is drawn anew wherever it stands.
_CHOICES: Final = r"""
integer = i1  i2  i7  i8  i16  i24  i32  i48  i64  i65  i128  i256  i1000  i70000
float = f16  bf16  f32  f64  f80  f128  !llvm.ppc_fp128
pointer = !llvm.ptr  !llvm.ptr<1>  !llvm.ptr<3>  !llvm.ptr<270>  !llvm.ptr<999>
lanes = 1  2  3  4  5  8  16  17  64  100  256  1000  65536  [4]  [1]
int_element = i1  i7  i8  i32  i64  i128
float_element = f16  bf16  f32  f64  f128
element = $int_element  $float_element  !llvm.ptr
aggregate = !llvm.array<0 x i8>  !llvm.array<3 x f32>  !llvm.array<64 x array<64 x i8>>  !llvm.array<100000 x i8>  !llvm.array<4 x vector<16xf32>>  !llvm.array<2 x vector<[4]xf32>>  !llvm.array<9223372036854775807 x i64>  !llvm.array<3 x struct<(i8, array<1000 x i16>)>>  !llvm.struct<()>  !llvm.struct<(i32, f32)>  !llvm.struct<packed (i8, i64, f16)>  !llvm.struct<"named", (i32, struct<"inner", (f64)>)>  !llvm.struct<"itself", (i32, struct<"itself">)>  !llvm.struct<"opaque", opaque>  !llvm.struct<(vector<[4]xi32>, vector<[4]xi32>)>  !llvm.struct<(i16$many)>
odd = !llvm.void  !llvm.token  !llvm.label  !llvm.metadata  !llvm.x86_amx  !llvm.target<"spirv.Image", i32, 0>  !llvm.func<void (i32)>
vector = vector<${lanes}x$element>
integers = $integer  vector<${lanes}x$int_element>
floats = $float  vector<${lanes}x$float_element>
type = $integer  $integer  $float  $float  $pointer  $vector  $vector  $vector  $aggregate  $aggregate  $odd
binary = add  sub  mul  sdiv  udiv  urem  srem  and  or  xor  shl  lshr  ashr
float_binary = fadd  fsub  fmul  fdiv  frem
cast = trunc  zext  sext  fptrunc  fpext  sitofp  uitofp  fptosi  fptoui  bitcast  ptrtoint  inttoptr  addrspacecast
unary = acos  asin  atan  ceil  cos  cosh  exp  exp10  exp2  fabs  floor  log  log10  log2  nearbyint  rint  round  roundeven  sin  sinh  sqrt  tan  tanh  trunc
int_unary = bitreverse  bswap  ctpop
float_intrinsic = copysign  maximum  maxnum  minimum  minnum  pow
int_intrinsic = sadd.sat  smax  smin  sshl.sat  ssub.sat  uadd.sat  umax  umin  ushl.sat  usub.sat
overflow = sadd  smul  ssub  uadd  umul  usub
reduction = add  and  fmax  fmaximum  fmin  fminimum  mul  or  smax  smin  umax  umin  xor
atomic = xchg  add  sub  _and  _nand  _or  _xor  max  min  umax  umin  fadd  fsub  fmax  fmin
order = monotonic  acquire  release  acq_rel  seq_cst
alignment = $nothing  $nothing  {alignment = $align : i64}
align = 0  1  3  4  8  64  4294967296  1099511627776
compared = icmp "slt"  icmp "eq"  fcmp "olt"  fcmp "uno"
source = load %p : !llvm.ptr ->  load %p : !llvm.ptr ->  load %p : !llvm.ptr ->  mlir.undef :  mlir.zero :
call_convention = ccc  fastcc  coldcc  cc_10  cc_11  webkit_jscc  anyregcc  preserve_mostcc  preserve_allcc  swiftcc  cxx_fast_tlscc  tailcc  cfguard_checkcc  swifttailcc  x86_stdcallcc  x86_fastcallcc  arm_apcscc  ptx_kernelcc  spir_funccc  x86_thiscallcc  win64cc  x86_vectorcallcc  x86_intrcc  avr_intrcc  amdgpu_kernelcc  x86_regcallcc  msp430_intrcc  aarch64_vectorcallcc
argument = $nothing  $nothing  {llvm.signext}  {llvm.align = 3 : i64}  {llvm.noalias}  {llvm.inreg}
linkage = private  internal  available_externally  linkonce  weak  common  appending  extern_weak  linkonce_odr  weak_odr  external
section = section = ""  section = "a b"  section = ".text"  section = ".data"  section = ".rodata"  section = "$many"  section = "\00"  section = "llvm.metadata"
of_global = alignment = $align : i64  addr_space = 270 : i32  addr_space = 3 : i32  thr_local  unnamed_addr = 9 : i64  $section  $section  visibility_ = 1 : i64  externally_initialized  dso_local  $nothing
of_function = alignment = $align : i64  garbageCollector = "x"  $section  always_inline  optimize_none  vscale_range = #llvm.vscale_range<minRange = 3 : i32, maxRange = 1 : i32>  own.nothing  own.nothing  own.nothing
passed_through = ["alignstack", "3"]  ["patchable-function", "x"]  ["denormal-fp-math", "x"]  ["zero-call-used-regs", "x"]  ["stack-probe-size", "x"]  ["xray-instruction-threshold", "x"]  ["instrument-function-entry-inlined", "x"]  ["probe-stack", "inline-asm"]  ["frame-pointer", "x"]  ["stack-protector-buffer-size", "x"]  ["target-cpu", "x"]  ["target-features", "+x,-sse2"]  ["warn-stack-size", "x"]  ["patchable-function-entry", "x"]  "thunk"  ["min-legal-vector-width", "x"]  ["prefer-vector-width", "x"]  ["use-soft-float", "true"]  "no-jump-tables"  "split-stack"  "naked"  "alwaysinline"  "optnone"  "minsize"  "safestack"  "sspreq"  "sspx"  "sanitize_address"  "sanitize_memory"  "returns_twice"  "presplitcoroutine"  "builtin"  ["alignstack", "1099511627776"]  ["uwtable", "9"]  ["allocsize", "9"]  ["vscale_range", "3"]  ["memory", "77"]  "stackrealign"  "no-realign-stack"  "null_pointer_is_valid"  "indirect-tls-seg-refs"
attribute = own.name  own.name  own.name  own.name = $value  $annotation = $value
annotation = llvm.mmra  llvm.noalias  llvm.unknown  nvvm.kernel  nvvm.maxntid  rocdl.kernel  rocdl.max_flat_work_group_size  omp.declare_target  omp.is_gpu  gpu.kernel  acc.declare  xevm.x  amx.x  dlti.dl_spec  vcix.x  ptr.x  builtin.x  llvm.target_triple  llvm.data_layout  llvm.module_flags
value = 1:i64  "x"  unit  @g  []  [1:i32]  {}  i32  dense<1>:vector<2xi32>  array<i32:1>
declared = g  llvm.sqrt.f64  llvm.memcpy  llvm.nosuch  llvm.x86.rdtsc
called_type = i32  f32  f128  vector<3xf32>
called = llvm.nosuch  llvm.x86.rdtsc  llvm.nvvm.read.ptx.sreg.tid.x  llvm.experimental.gc  llvm.eh.sjlj.setjmp  llvm.frameaddress.p0  llvm.returnaddress  llvm.read_register.i64  llvm.matrix.transpose  llvm.vp.add.v4i32  llvm.coro.begin  llvm.fshl
assembly = nop  bogus  mov $$0, $$1  .rept 3  .section \22x\22  $${0:q}
constraints = $nothing  =r,r  ={nosuch},r  =x,x  =m,r  =&r,0
"""
# `how often | what stands for T, R | what follows from T: B has bits, E is its element | the lines`.
# Where a line computes `%r`, `%a`, `%b` and `%c` are of type T, and `%r` of type R, or of T.
_FORMS: Final = r"""
4 | T=integers | %r = llvm.$binary %a, %b : $T
4 | T=floats | %r = llvm.$float_binary %a, %b : $T
8 | T=type R=type | %r = llvm.$cast %a : $T to $R
3 | T=floats | %r = llvm.intr.$unary(%a) : ($T) -> $T
1 | T=integers | %r = llvm.intr.$int_unary(%a) : ($T) -> $T
1 | T=floats R=integer | %r = llvm.intr.lrint(%a) : ($T) -> $R
1 | T=type R=i1 | %r = "llvm.intr.is.constant"(%a) : ($T) -> i1
1 | T=floats | %r = "llvm.intr.$float_intrinsic"(%a, %b) : ($T, $T) -> $T
2 | T=integers | %r = "llvm.intr.$int_intrinsic"(%a, %b) : ($T, $T) -> $T
2 | T=integers | %s = "llvm.intr.$overflow.with.overflow"(%a, %b) : ($T, $T) -> !llvm.struct<($T, $B)>\n%r = llvm.extractvalue %s[0] : !llvm.struct<($T, $B)>
2 | T=floats | %r = "llvm.intr.fma"(%a, %b, %c) : ($T, $T, $T) -> $T
1 | T=integers | %r = "llvm.intr.fshl"(%a, %b, %c) : ($T, $T, $T) -> $T
4 | T=vector R=E | %r = "llvm.intr.vector.reduce.$reduction"(%a) : ($T) -> $E
6 | T=type | %r = llvm.atomicrmw $atomic %p, %a $order : !llvm.ptr, $T
2 | T=type | %s = llvm.cmpxchg %p, %a, %b acq_rel monotonic : !llvm.ptr, $T\n%r = llvm.extractvalue %s[0] : !llvm.struct<($T, i1)>
4 | T=type | %s = llvm.$compared %a, %b : $T\n%r = llvm.select %s, %a, %b : $B, $T
2 | T=type | %r = llvm.freeze %a : $T
1 | T=type | %r = llvm.mlir.undef : $T
1 | T=type | %r = llvm.mlir.zero : $T
1 | T=type | llvm.br ^b(%a : $T)\n^b(%r: $T):
1 | T=vector | %s = llvm.mlir.constant(1 : i32) : i32\n%e = llvm.extractelement %a[%s : i32] : $T\n%r = llvm.insertelement %e, %b[%s : i32] : $T
1 | T=vector R=vector<2xE> | %r = llvm.shufflevector %a, %b [0, 1] : $T
4 | T=called_type | %r = llvm.call_intrinsic "$called"(%a) : ($T) -> $T
4 | T=called_type | %r = llvm.inline_asm has_side_effects "$assembly", "$constraints" %a : ($T) -> $T
4 | T=type | %d = llvm.load %p $alignment : !llvm.ptr -> $T\nllvm.store volatile %d, %p $alignment : $T, !llvm.ptr
4 | T=type | %d = llvm.load %p atomic $order {alignment = $align : i64} : !llvm.ptr -> $T
8 | T=type | %n = llvm.mlir.constant($number : i64) : i64\n%s = llvm.alloca %n x $T $alignment : (i64) -> !llvm.ptr\n%q = llvm.getelementptr %s[1] : (!llvm.ptr) -> !llvm.ptr, $type\nllvm.store %q, %p : !llvm.ptr, !llvm.ptr
4 | T=integer | %d = llvm.load %p : !llvm.ptr -> $T\nllvm.switch %d : $T, ^c [$case: ^b, $case: ^b]\n^b:\nllvm.br ^c\n^c:
"""
_CHOSEN: Final = {
    name: choices.split("  ")
    for line in (
        *_CHOICES.strip().split("\n"),
        "number = 1  0  -1  1000000000000",
        "case = 0  1  2  3",
        f"many = {3000 * ', i16'}",
        "nothing = ",
    )
    for name, _, choices in [line.partition(" = ")]
}
_IN_MODULES: Final = """
llvm.mlir.global $linkage @g() {$of_global} : $T {
  %0 = llvm.mlir.zero : $T
  llvm.return %0 : $T
}
llvm.func @f(%p: !llvm.ptr) {
  %0 = llvm.mlir.addressof @g : !llvm.ptr
  llvm.store %0, %p : !llvm.ptr, !llvm.ptr
  llvm.return
}
=====
llvm.func $C @g(%a: $T $argument) -> $T {
  llvm.return %a : $T
}
llvm.func @h($T, ...) -> $T
llvm.func @f(%p: !llvm.ptr) {
  %a = llvm.load %p : !llvm.ptr -> $T
  %b = llvm.call $C @g(%a) : ($T) -> $T
  %c = llvm.call @h(%b, %b) vararg(!llvm.func<$T ($T, ...)>) : ($T, $T) -> $T
  llvm.store %c, %p : $T, !llvm.ptr
  llvm.return
}
=====
llvm.func @f(%p: !llvm.ptr) attributes {passthrough = [$passed_through], $of_function} {
  %n = llvm.mlir.constant(9000 : i64) : i64
  %s = llvm.alloca %n x i8 : (i64) -> !llvm.ptr
  llvm.call @g(%s) : (!llvm.ptr) -> ()
  %a = llvm.load %p : !llvm.ptr -> f64
  %b = llvm.fdiv %a, %a : f64
  llvm.store %b, %p : f64, !llvm.ptr
  llvm.return
}
llvm.func @g(!llvm.ptr)
=====
module attributes {$attribute} {
  llvm.func @f(%p: !llvm.ptr) attributes {$attribute} {
    %a = llvm.load %p {$attribute} : !llvm.ptr -> i32
    llvm.return
  }
  llvm.func @$declared(i32 {$attribute}) -> f32
}
"""


def _kinds() -> list[tuple[str, str]]:
    """What stands for the types, and the text, each as often as it is drawn."""
    kinds: list[tuple[str, str]] = []
    for row in _FORMS.strip().split("\n"):
        count, types, lines = row.split(" | ")
        before, after = "", ""
        if "%r" in lines:
            before = "".join(f"%{name} = llvm.$source $T\n" for name in "abc")
            after = f"\nllvm.store %r, %p : {'$R' if 'R=' in types else '$T'}, !llvm.ptr"
        body = before + lines.replace(r"\n", "\n") + after
        text = f"llvm.func @f(%p: !llvm.ptr) {{\n{body}\nllvm.return\n}}"
        kinds += [(types, text)] * int(count)
    return kinds + [("T=type C=call_convention", text) for text in _IN_MODULES.split("=====")] * 10


_KINDS: Final = _kinds()


def module(seed: int) -> str:
    """Return one module; the same seed gives the same module."""
    random = Random(seed)

    def drawn(text: str, known: dict[str, str]) -> str:
        def replaced(found: re.Match[str]) -> str:
            name = found[1] or found[2]
            return (
                "$" if name == "$" else known.get(name) or drawn(random.choice(_CHOSEN[name]), {})
            )

        return re.sub(r"\$(?:(\w+|\$)|\{(\w+)\})", replaced, text)

    types, text = random.choice(_KINDS)
    known: dict[str, str] = {}
    for each in types.split():
        name, _, kind = each.partition("=")
        known[name] = drawn(f"${kind}", known) if kind in _CHOSEN else kind.replace("E", known["E"])
        lanes, _, element = known["T"].removeprefix("vector<").removesuffix(">").rpartition("x")
        is_vector = known["T"].startswith("vector")
        known |= {"E": element, "B": f"vector<{lanes}xi1>" if is_vector else "i1"}
    return drawn(text, known)
