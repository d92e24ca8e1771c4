llvm.mlir.global private unnamed_addr constant @__ffi_builder_table_list("TABLE") {addr_space = 0 : i32}
llvm.func @__tvm_ffi_list(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i32, %arg3: !llvm.ptr) -> i32 attributes {passthrough = ["noinline", "optnone", "ffi-builder-trusted-8fac28d8", ["ffi-builder-metadata", "JSON"]]} {
  %0 = llvm.mlir.constant(1 : i32) : i32
  %1 = llvm.alloca %0 x i64 : (i32) -> !llvm.ptr
  %2 = llvm.mlir.constant(1 : i32) : i32
  %3 = llvm.alloca %2 x i64 : (i32) -> !llvm.ptr
  %4 = llvm.mlir.constant(255 : i32) : i32
  %5 = llvm.alloca %4 x i64 : (i32) -> !llvm.ptr
  %6 = llvm.mlir.constant(1 : i32) : i32
  %7 = llvm.alloca %6 x i64 : (i32) -> !llvm.ptr
  %8 = llvm.mlir.constant(1 : i32) : i32
  %9 = llvm.alloca %8 x i1 : (i32) -> !llvm.ptr
  %10 = llvm.mlir.constant(1 : i32) : i32
  %11 = llvm.alloca %10 x i1 : (i32) -> !llvm.ptr
  %12 = llvm.mlir.constant(1 : i32) : i32
  %13 = llvm.alloca %12 x i64 : (i32) -> !llvm.ptr
  %14 = llvm.mlir.constant(255 : i32) : i32
  %15 = llvm.alloca %14 x i64 : (i32) -> !llvm.ptr
  %16 = llvm.mlir.constant(1 : i32) : i32
  %17 = llvm.alloca %16 x !llvm.ptr : (i32) -> !llvm.ptr
  %18 = llvm.mlir.constant(1 : i32) : i32
  %19 = llvm.alloca %18 x !llvm.ptr : (i32) -> !llvm.ptr
  %20 = llvm.mlir.zero : !llvm.ptr
  llvm.store %20, %19 : !llvm.ptr, !llvm.ptr
  %21 = llvm.mlir.zero : !llvm.ptr
  llvm.store %21, %17 : !llvm.ptr, !llvm.ptr
  %22 = llvm.mlir.constant(2 : i32) : i32
  %23 = llvm.icmp "eq" %arg2, %22 : i32
  llvm.cond_br %23, ^bb1, ^bb46(%arg2 : i32)
^bb1:  // pred: ^bb0
  %24 = llvm.mlir.zero : !llvm.ptr
  %25 = llvm.icmp "ne" %arg1, %24 : !llvm.ptr
  llvm.cond_br %25, ^bb2, ^bb43
^bb2:  // pred: ^bb1
  %26 = llvm.load %arg1 : !llvm.ptr -> i32
  %27 = llvm.getelementptr %arg1[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %28 = llvm.load %27 : !llvm.ptr -> !llvm.ptr
  %29 = llvm.mlir.constant(71 : i32) : i32
  %30 = llvm.icmp "eq" %26, %29 : i32
  llvm.cond_br %30 weights([2000, 1]), ^bb3(%28, %26 : !llvm.ptr, i32), ^bb52
^bb3(%31: !llvm.ptr, %32: i32):  // 3 preds: ^bb2, ^bb52, ^bb54
  %33 = llvm.mlir.zero : !llvm.ptr
  %34 = llvm.icmp "ne" %31, %33 : !llvm.ptr
  llvm.cond_br %34, ^bb4, ^bb43
^bb4:  // pred: ^bb3
  %35 = llvm.getelementptr %31[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %36 = llvm.load %35 : !llvm.ptr -> i64
  %37 = llvm.mlir.constant(2147483647 : i64) : i64
  %38 = llvm.icmp "ule" %36, %37 : i64
  llvm.cond_br %38, ^bb5, ^bb43
^bb5:  // pred: ^bb4
  %39 = llvm.mlir.zero : !llvm.ptr
  %40 = llvm.mlir.constant(0 : i64) : i64
  %41 = llvm.icmp "eq" %36, %40 : i64
  %42 = llvm.getelementptr %31[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %43 = llvm.load %42 : !llvm.ptr -> !llvm.ptr
  %44 = llvm.mlir.zero : !llvm.ptr
  %45 = llvm.icmp "ne" %43, %44 : !llvm.ptr
  %46 = llvm.or %45, %41 : i1
  llvm.cond_br %46, ^bb6, ^bb43
^bb6:  // pred: ^bb5
  %47 = llvm.mlir.constant(51 : i64) : i64
  %48 = llvm.icmp "ule" %36, %47 : i64
  llvm.cond_br %48 weights([2000, 1]), ^bb7(%15 : !llvm.ptr), ^bb55
^bb7(%49: !llvm.ptr):  // 2 preds: ^bb6, ^bb56
  %50 = llvm.getelementptr %49[%36] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  %51 = llvm.getelementptr %50[%36] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<2 x i64>
  %52 = llvm.mlir.constant(0 : i64) : i64
  llvm.store %52, %13 : i64, !llvm.ptr
  %53 = llvm.mlir.constant(false) : i1
  llvm.store %53, %11 : i1, !llvm.ptr
  %54 = llvm.mlir.constant(false) : i1
  llvm.store %54, %9 : i1, !llvm.ptr
  %55 = llvm.mlir.constant(0 : i64) : i64
  llvm.store %55, %7 : i64, !llvm.ptr
  %56 = llvm.mlir.constant(0 : i64) : i64
  llvm.br ^bb8(%56 : i64)
^bb8(%57: i64):  // 2 preds: ^bb7, ^bb21
  %58 = llvm.icmp "slt" %57, %36 : i64
  llvm.cond_br %58, ^bb9, ^bb22
^bb9:  // pred: ^bb8
  %59 = llvm.getelementptr %43[%57] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<2 x i64>
  %60 = llvm.mlir.constant(0 : i64) : i64
  %61 = llvm.icmp "ne" %57, %60 : i64
  %62 = llvm.mlir.zero : !llvm.ptr
  %63 = llvm.load %7 : !llvm.ptr -> i64
  %64 = llvm.mlir.zero : !llvm.ptr
  %65 = llvm.load %13 : !llvm.ptr -> i64
  %66 = llvm.load %11 : !llvm.ptr -> i1
  %67 = llvm.load %9 : !llvm.ptr -> i1
  %68 = llvm.load %59 : !llvm.ptr -> i32
  %69 = llvm.getelementptr %59[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %70 = llvm.load %69 : !llvm.ptr -> !llvm.ptr
  %71 = llvm.mlir.constant(70 : i32) : i32
  %72 = llvm.icmp "eq" %68, %71 : i32
  llvm.cond_br %72 weights([2000, 1]), ^bb10(%70 : !llvm.ptr), ^bb58
^bb10(%73: !llvm.ptr):  // 2 preds: ^bb9, ^bb58
  %74 = llvm.mlir.zero : !llvm.ptr
  %75 = llvm.icmp "ne" %73, %74 : !llvm.ptr
  llvm.cond_br %75, ^bb11, ^bb43
^bb11:  // pred: ^bb10
  %76 = llvm.getelementptr %73[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %77 = llvm.load %76 : !llvm.ptr -> i64
  %78 = llvm.mlir.constant(316667938734082 : i64) : i64
  %79 = llvm.icmp "eq" %77, %78 : i64
  llvm.cond_br %79, ^bb12, ^bb43
^bb12:  // pred: ^bb11
  %80 = llvm.getelementptr %73[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %81 = llvm.load %80 : !llvm.ptr -> i64
  %82 = llvm.trunc %81 : i64 to i32
  %83 = llvm.mlir.constant(1 : i32) : i32
  %84 = llvm.icmp "eq" %82, %83 : i32
  llvm.cond_br %84, ^bb13, ^bb43
^bb13:  // pred: ^bb12
  %85 = llvm.mlir.constant(true) : i1
  %86 = llvm.trunc %81 : i64 to i32
  %87 = llvm.trunc %63 : i64 to i32
  %88 = llvm.icmp "eq" %86, %87 : i32
  %89 = llvm.and %85, %88 : i1
  %90 = llvm.and %89, %61 : i1
  %91 = llvm.icmp "eq" %81, %63 : i64
  %92 = llvm.xor %90, %85 : i1
  %93 = llvm.or %91, %92 : i1
  %94 = llvm.and %85, %93 : i1
  %95 = llvm.xor %90, %85 : i1
  %96 = llvm.and %85, %95 : i1
  llvm.cond_br %94, ^bb14, ^bb43
^bb14:  // pred: ^bb13
  %97 = llvm.getelementptr %73[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %98 = llvm.load %97 : !llvm.ptr -> !llvm.ptr
  %99 = llvm.mlir.zero : !llvm.ptr
  %100 = llvm.icmp "ne" %98, %99 : !llvm.ptr
  llvm.cond_br %100, ^bb15, ^bb43
^bb15:  // pred: ^bb14
  %101 = llvm.load %98 : !llvm.ptr -> i64
  %102 = llvm.getelementptr %98[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %103 = llvm.load %102 : !llvm.ptr -> i64
  %104 = llvm.icmp "eq" %103, %65 : i64
  %105 = llvm.mlir.constant(true) : i1
  %106 = llvm.xor %66, %105 : i1
  %107 = llvm.or %104, %106 : i1
  llvm.cond_br %107, ^bb16, ^bb43
^bb16:  // pred: ^bb15
  %108 = llvm.getelementptr %73[56] : (!llvm.ptr) -> !llvm.ptr, i8
  %109 = llvm.load %108 : !llvm.ptr -> !llvm.ptr
  %110 = llvm.mlir.zero : !llvm.ptr
  %111 = llvm.icmp "eq" %109, %110 : !llvm.ptr
  llvm.cond_br %111, ^bb19, ^bb17
^bb17:  // pred: ^bb16
  %112 = llvm.getelementptr %109[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %113 = llvm.load %112 : !llvm.ptr -> i64
  %114 = llvm.mlir.constant(1 : i64) : i64
  %115 = llvm.icmp "eq" %113, %114 : i64
  llvm.cond_br %115 weights([2000, 1]), ^bb18, ^bb59
^bb18:  // pred: ^bb17
  %116 = llvm.load %109 : !llvm.ptr -> i64
  %117 = llvm.icmp "eq" %116, %103 : i64
  llvm.cond_br %117 weights([2000, 1]), ^bb19, ^bb59
^bb19:  // 3 preds: ^bb16, ^bb18, ^bb59
  %118 = llvm.getelementptr %73[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %119 = llvm.load %118 : !llvm.ptr -> !llvm.ptr
  %120 = llvm.getelementptr %73[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %121 = llvm.load %120 : !llvm.ptr -> i64
  %122 = llvm.getelementptr %119[%121] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %123 = llvm.getelementptr %119[-1] : (!llvm.ptr) -> !llvm.ptr, i8
  %124 = llvm.icmp "ult" %123, %122 : !llvm.ptr
  llvm.cond_br %124 weights([2000, 1]), ^bb20, ^bb60
^bb20:  // 2 preds: ^bb19, ^bb60
  %125 = llvm.or %101, %103 : i64
  %126 = llvm.mlir.constant(2147483648 : i64) : i64
  %127 = llvm.icmp "ult" %125, %126 : i64
  llvm.cond_br %127 weights([2000, 1]), ^bb21, ^bb61
^bb21:  // 2 preds: ^bb20, ^bb61
  %128 = llvm.getelementptr %49[%57] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  llvm.store %122, %128 : !llvm.ptr, !llvm.ptr
  %129 = llvm.getelementptr %50[%57] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<2 x i64>
  llvm.store %101, %129 : i64, !llvm.ptr
  %130 = llvm.getelementptr %129[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %103, %130 : i64, !llvm.ptr
  %131 = llvm.getelementptr %51[%57] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<2 x i64>
  llvm.store %103, %131 : i64, !llvm.ptr
  %132 = llvm.mlir.constant(1 : i64) : i64
  %133 = llvm.getelementptr %131[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %132, %133 : i64, !llvm.ptr
  %134 = llvm.load %7 : !llvm.ptr -> i64
  %135 = llvm.select %61, %134, %81 : i1, i64
  llvm.store %135, %7 : i64, !llvm.ptr
  llvm.store %103, %13 : i64, !llvm.ptr
  %136 = llvm.mlir.constant(true) : i1
  llvm.store %136, %11 : i1, !llvm.ptr
  %137 = llvm.mlir.constant(true) : i1
  llvm.store %137, %9 : i1, !llvm.ptr
  %138 = llvm.mlir.constant(1 : i64) : i64
  %139 = llvm.add %57, %138 : i64
  llvm.br ^bb8(%139 : i64)
^bb22:  // pred: ^bb8
  %140 = llvm.mlir.constant(true) : i1
  %141 = llvm.xor %41, %140 : i1
  %142 = llvm.mlir.zero : !llvm.ptr
  %143 = llvm.load %7 : !llvm.ptr -> i64
  %144 = llvm.mlir.zero : !llvm.ptr
  %145 = llvm.load %13 : !llvm.ptr -> i64
  %146 = llvm.load %11 : !llvm.ptr -> i1
  %147 = llvm.load %9 : !llvm.ptr -> i1
  %148 = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %149 = llvm.load %148 : !llvm.ptr -> i32
  %150 = llvm.getelementptr %arg1[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %151 = llvm.load %150 : !llvm.ptr -> !llvm.ptr
  %152 = llvm.mlir.constant(71 : i32) : i32
  %153 = llvm.icmp "eq" %149, %152 : i32
  llvm.cond_br %153 weights([2000, 1]), ^bb23(%151, %149 : !llvm.ptr, i32), ^bb62
^bb23(%154: !llvm.ptr, %155: i32):  // 3 preds: ^bb22, ^bb62, ^bb64
  %156 = llvm.mlir.zero : !llvm.ptr
  %157 = llvm.icmp "ne" %154, %156 : !llvm.ptr
  llvm.cond_br %157, ^bb24, ^bb43
^bb24:  // pred: ^bb23
  %158 = llvm.getelementptr %154[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %159 = llvm.load %158 : !llvm.ptr -> i64
  %160 = llvm.mlir.constant(2147483647 : i64) : i64
  %161 = llvm.icmp "ule" %159, %160 : i64
  llvm.cond_br %161, ^bb25, ^bb43
^bb25:  // pred: ^bb24
  %162 = llvm.mlir.zero : !llvm.ptr
  %163 = llvm.icmp "eq" %159, %36 : i64
  llvm.cond_br %163, ^bb26, ^bb43
^bb26:  // pred: ^bb25
  %164 = llvm.mlir.constant(0 : i64) : i64
  %165 = llvm.icmp "eq" %159, %164 : i64
  %166 = llvm.getelementptr %154[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %167 = llvm.load %166 : !llvm.ptr -> !llvm.ptr
  %168 = llvm.mlir.zero : !llvm.ptr
  %169 = llvm.icmp "ne" %167, %168 : !llvm.ptr
  %170 = llvm.or %169, %165 : i1
  llvm.cond_br %170, ^bb27, ^bb43
^bb27:  // pred: ^bb26
  %171 = llvm.mlir.constant(85 : i64) : i64
  %172 = llvm.icmp "ule" %159, %171 : i64
  llvm.cond_br %172 weights([2000, 1]), ^bb28(%5 : !llvm.ptr), ^bb65
^bb28(%173: !llvm.ptr):  // 2 preds: ^bb27, ^bb66
  %174 = llvm.getelementptr %173[%159] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  %175 = llvm.getelementptr %174[%159] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<1 x i64>
  %176 = llvm.mlir.constant(0 : i64) : i64
  llvm.store %176, %3 : i64, !llvm.ptr
  %177 = llvm.mlir.constant(0 : i64) : i64
  llvm.br ^bb29(%177 : i64)
^bb29(%178: i64):  // 2 preds: ^bb28, ^bb39
  %179 = llvm.icmp "slt" %178, %159 : i64
  llvm.cond_br %179, ^bb30, ^bb40
^bb30:  // pred: ^bb29
  %180 = llvm.getelementptr %167[%178] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<2 x i64>
  %181 = llvm.mlir.constant(0 : i64) : i64
  %182 = llvm.icmp "ne" %178, %181 : i64
  %183 = llvm.mlir.zero : !llvm.ptr
  %184 = llvm.load %3 : !llvm.ptr -> i64
  %185 = llvm.mlir.zero : !llvm.ptr
  %186 = llvm.getelementptr %50[%178] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<2 x i64>
  %187 = llvm.load %186 : !llvm.ptr -> i64
  %188 = llvm.load %180 : !llvm.ptr -> i32
  %189 = llvm.getelementptr %180[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %190 = llvm.load %189 : !llvm.ptr -> !llvm.ptr
  %191 = llvm.mlir.constant(70 : i32) : i32
  %192 = llvm.icmp "eq" %188, %191 : i32
  llvm.cond_br %192 weights([2000, 1]), ^bb31(%190 : !llvm.ptr), ^bb68
^bb31(%193: !llvm.ptr):  // 2 preds: ^bb30, ^bb68
  %194 = llvm.mlir.zero : !llvm.ptr
  %195 = llvm.icmp "ne" %193, %194 : !llvm.ptr
  llvm.cond_br %195, ^bb32, ^bb43
^bb32:  // pred: ^bb31
  %196 = llvm.getelementptr %193[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %197 = llvm.load %196 : !llvm.ptr -> i64
  %198 = llvm.mlir.constant(316667938734081 : i64) : i64
  %199 = llvm.icmp "eq" %197, %198 : i64
  llvm.cond_br %199, ^bb33, ^bb43
^bb33:  // pred: ^bb32
  %200 = llvm.getelementptr %193[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %201 = llvm.load %200 : !llvm.ptr -> i64
  %202 = llvm.icmp "eq" %201, %143 : i64
  llvm.cond_br %202, ^bb34, ^bb43
^bb34:  // pred: ^bb33
  %203 = llvm.getelementptr %193[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %204 = llvm.load %203 : !llvm.ptr -> !llvm.ptr
  %205 = llvm.mlir.zero : !llvm.ptr
  %206 = llvm.icmp "ne" %204, %205 : !llvm.ptr
  llvm.cond_br %206, ^bb35, ^bb43
^bb35:  // pred: ^bb34
  %207 = llvm.load %204 : !llvm.ptr -> i64
  %208 = llvm.icmp "eq" %207, %187 : i64
  llvm.cond_br %208, ^bb36, ^bb43
^bb36:  // pred: ^bb35
  %209 = llvm.getelementptr %193[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %210 = llvm.load %209 : !llvm.ptr -> !llvm.ptr
  %211 = llvm.getelementptr %193[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %212 = llvm.load %211 : !llvm.ptr -> i64
  %213 = llvm.getelementptr %210[%212] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %214 = llvm.getelementptr %210[-1] : (!llvm.ptr) -> !llvm.ptr, i8
  %215 = llvm.icmp "ult" %214, %213 : !llvm.ptr
  llvm.cond_br %215 weights([2000, 1]), ^bb37, ^bb69
^bb37:  // 2 preds: ^bb36, ^bb69
  %216 = llvm.mlir.constant(-9223372036854775808 : i64) : i64
  %217 = llvm.icmp "ult" %187, %216 : i64
  llvm.cond_br %217 weights([2000, 1]), ^bb38, ^bb70
^bb38:  // 2 preds: ^bb37, ^bb70
  %218 = llvm.getelementptr %173[%178] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  llvm.store %213, %218 : !llvm.ptr, !llvm.ptr
  %219 = llvm.getelementptr %193[56] : (!llvm.ptr) -> !llvm.ptr, i8
  %220 = llvm.load %219 : !llvm.ptr -> !llvm.ptr
  %221 = llvm.mlir.zero : !llvm.ptr
  %222 = llvm.icmp "ne" %220, %221 : !llvm.ptr
  llvm.cond_br %222 weights([2000, 1]), ^bb39(%220 : !llvm.ptr), ^bb71
^bb39(%223: !llvm.ptr):  // 2 preds: ^bb38, ^bb71
  %224 = llvm.load %223 : !llvm.ptr -> i64
  %225 = llvm.getelementptr %174[%178] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<1 x i64>
  llvm.store %187, %225 : i64, !llvm.ptr
  %226 = llvm.getelementptr %175[%178] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<1 x i64>
  llvm.store %224, %226 : i64, !llvm.ptr
  %227 = llvm.load %3 : !llvm.ptr -> i64
  %228 = llvm.select %182, %227, %201 : i1, i64
  llvm.store %228, %3 : i64, !llvm.ptr
  %229 = llvm.mlir.constant(1 : i64) : i64
  %230 = llvm.add %178, %229 : i64
  llvm.br ^bb29(%230 : i64)
^bb40:  // pred: ^bb29
  %231 = llvm.mlir.constant(true) : i1
  %232 = llvm.xor %165, %231 : i1
  %233 = llvm.mlir.zero : !llvm.ptr
  %234 = llvm.load %3 : !llvm.ptr -> i64
  %235 = llvm.mlir.zero : !llvm.ptr
  %236 = llvm.mlir.constant(0 : i64) : i64
  llvm.store %236, %arg3 : i64, !llvm.ptr
  %237 = llvm.getelementptr %arg3[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %236, %237 : i64, !llvm.ptr
  %238 = llvm.trunc %36 : i64 to i32
  llvm.call @callee(%238, %49, %50, %173) : (i32, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
  %239 = llvm.load %19 : !llvm.ptr -> !llvm.ptr
  %240 = llvm.mlir.zero : !llvm.ptr
  %241 = llvm.icmp "ne" %239, %240 : !llvm.ptr
  llvm.cond_br %241, ^bb72, ^bb41
^bb41:  // 2 preds: ^bb40, ^bb72
  %242 = llvm.load %17 : !llvm.ptr -> !llvm.ptr
  %243 = llvm.mlir.zero : !llvm.ptr
  %244 = llvm.icmp "ne" %242, %243 : !llvm.ptr
  llvm.cond_br %244, ^bb73, ^bb42
^bb42:  // 2 preds: ^bb41, ^bb73
  %245 = llvm.mlir.constant(0 : i32) : i32
  llvm.return %245 : i32
^bb43:  // 26 preds: ^bb1, ^bb3, ^bb4, ^bb5, ^bb10, ^bb11, ^bb12, ^bb13, ^bb14, ^bb15, ^bb23, ^bb24, ^bb25, ^bb26, ^bb31, ^bb32, ^bb33, ^bb34, ^bb35, ^bb53, ^bb59, ^bb60, ^bb61, ^bb63, ^bb69, ^bb70
  %246 = llvm.load %19 : !llvm.ptr -> !llvm.ptr
  %247 = llvm.mlir.zero : !llvm.ptr
  %248 = llvm.icmp "ne" %246, %247 : !llvm.ptr
  llvm.cond_br %248, ^bb74, ^bb44
^bb44:  // 2 preds: ^bb43, ^bb74
  %249 = llvm.load %17 : !llvm.ptr -> !llvm.ptr
  %250 = llvm.mlir.zero : !llvm.ptr
  %251 = llvm.icmp "ne" %249, %250 : !llvm.ptr
  llvm.cond_br %251, ^bb75, ^bb45
^bb45:  // 2 preds: ^bb44, ^bb75
  %252 = llvm.mlir.constant(2 : i32) : i32
  llvm.br ^bb46(%252 : i32)
^bb46(%253: i32):  // 2 preds: ^bb0, ^bb45
  %254 = llvm.mlir.addressof @__ffi_builder_table_list : !llvm.ptr
  %255 = llvm.call tail @__ffi_builder_shared_diagnose_DIGEST(%arg1, %253, %254) : (!llvm.ptr, i32, !llvm.ptr) -> i32
  llvm.return %255 : i32
^bb47(%256: i32):  // 2 preds: ^bb57, ^bb67
  %257 = llvm.load %19 : !llvm.ptr -> !llvm.ptr
  %258 = llvm.mlir.zero : !llvm.ptr
  %259 = llvm.icmp "ne" %257, %258 : !llvm.ptr
  llvm.cond_br %259, ^bb50, ^bb48
^bb48:  // 2 preds: ^bb47, ^bb50
  %260 = llvm.load %17 : !llvm.ptr -> !llvm.ptr
  %261 = llvm.mlir.zero : !llvm.ptr
  %262 = llvm.icmp "ne" %260, %261 : !llvm.ptr
  llvm.cond_br %262, ^bb51, ^bb49
^bb49:  // 2 preds: ^bb48, ^bb51
  llvm.return %256 : i32
^bb50:  // pred: ^bb47
  llvm.call @free(%257) : (!llvm.ptr) -> ()
  llvm.br ^bb48
^bb51:  // pred: ^bb48
  llvm.call @free(%260) : (!llvm.ptr) -> ()
  llvm.br ^bb49
^bb52:  // pred: ^bb2
  %263 = llvm.mlir.constant(75 : i32) : i32
  %264 = llvm.icmp "eq" %26, %263 : i32
  llvm.cond_br %264, ^bb3(%28, %26 : !llvm.ptr, i32), ^bb53
^bb53:  // pred: ^bb52
  %265 = llvm.mlir.constant(2176 : i64) : i64
  %266 = llvm.call preserve_mostcc @__ffi_builder_shared_moved_object_DIGEST(%arg1, %265) : (!llvm.ptr, i64) -> !llvm.ptr
  %267 = llvm.mlir.zero : !llvm.ptr
  %268 = llvm.icmp "ne" %266, %267 : !llvm.ptr
  llvm.cond_br %268, ^bb54, ^bb43
^bb54:  // pred: ^bb53
  %269 = llvm.getelementptr %266[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %270 = llvm.load %269 : !llvm.ptr -> i32
  llvm.br ^bb3(%266, %270 : !llvm.ptr, i32)
^bb55:  // pred: ^bb6
  %271 = llvm.mlir.constant(40 : i64) : i64
  %272 = llvm.mul %36, %271 : i64
  %273 = llvm.call @malloc(%272) : (i64) -> !llvm.ptr
  %274 = llvm.mlir.zero : !llvm.ptr
  %275 = llvm.icmp "eq" %273, %274 : !llvm.ptr
  llvm.cond_br %275, ^bb57, ^bb56
^bb56:  // pred: ^bb55
  llvm.store %273, %19 : !llvm.ptr, !llvm.ptr
  llvm.br ^bb7(%273 : !llvm.ptr)
^bb57:  // pred: ^bb55
  %276 = llvm.mlir.addressof @__ffi_builder_text_DIGEST : !llvm.ptr
  %277 = llvm.mlir.addressof @__ffi_builder_text_DIGEST : !llvm.ptr
  %278 = llvm.mlir.constant(11 : i64) : i64
  %279 = llvm.mlir.constant(34 : i64) : i64
  %280 = llvm.mlir.constant(0 : i64) : i64
  %281 = llvm.call @__ffi_builder_shared_raise_DIGEST(%276, %278, %277, %279, %276, %280) : (!llvm.ptr, i64, !llvm.ptr, i64, !llvm.ptr, i64) -> i32
  llvm.br ^bb47(%281 : i32)
^bb58:  // pred: ^bb9
  %282 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%59) : (!llvm.ptr) -> !llvm.ptr
  llvm.br ^bb10(%282 : !llvm.ptr)
^bb59:  // 2 preds: ^bb17, ^bb18
  %283 = llvm.call preserve_mostcc @__ffi_builder_shared_contiguous_DIGEST(%73) : (!llvm.ptr) -> i1
  llvm.cond_br %283, ^bb19, ^bb43
^bb60:  // pred: ^bb19
  %284 = llvm.call preserve_mostcc @__ffi_builder_shared_has_no_data_DIGEST(%73) : (!llvm.ptr) -> i1
  llvm.cond_br %284, ^bb20, ^bb43
^bb61:  // pred: ^bb20
  %285 = llvm.call preserve_mostcc @__ffi_builder_shared_numel_fits_DIGEST(%73) : (!llvm.ptr) -> i1
  llvm.cond_br %285, ^bb21, ^bb43
^bb62:  // pred: ^bb22
  %286 = llvm.mlir.constant(75 : i32) : i32
  %287 = llvm.icmp "eq" %149, %286 : i32
  llvm.cond_br %287, ^bb23(%151, %149 : !llvm.ptr, i32), ^bb63
^bb63:  // pred: ^bb62
  %288 = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %289 = llvm.mlir.constant(2176 : i64) : i64
  %290 = llvm.call preserve_mostcc @__ffi_builder_shared_moved_object_DIGEST(%288, %289) : (!llvm.ptr, i64) -> !llvm.ptr
  %291 = llvm.mlir.zero : !llvm.ptr
  %292 = llvm.icmp "ne" %290, %291 : !llvm.ptr
  llvm.cond_br %292, ^bb64, ^bb43
^bb64:  // pred: ^bb63
  %293 = llvm.getelementptr %290[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %294 = llvm.load %293 : !llvm.ptr -> i32
  llvm.br ^bb23(%290, %294 : !llvm.ptr, i32)
^bb65:  // pred: ^bb27
  %295 = llvm.mlir.constant(24 : i64) : i64
  %296 = llvm.mul %159, %295 : i64
  %297 = llvm.call @malloc(%296) : (i64) -> !llvm.ptr
  %298 = llvm.mlir.zero : !llvm.ptr
  %299 = llvm.icmp "eq" %297, %298 : !llvm.ptr
  llvm.cond_br %299, ^bb67, ^bb66
^bb66:  // pred: ^bb65
  llvm.store %297, %17 : !llvm.ptr, !llvm.ptr
  llvm.br ^bb28(%297 : !llvm.ptr)
^bb67:  // pred: ^bb65
  %300 = llvm.mlir.addressof @__ffi_builder_text_DIGEST : !llvm.ptr
  %301 = llvm.mlir.addressof @__ffi_builder_text_DIGEST : !llvm.ptr
  %302 = llvm.mlir.constant(11 : i64) : i64
  %303 = llvm.mlir.constant(34 : i64) : i64
  %304 = llvm.mlir.constant(0 : i64) : i64
  %305 = llvm.call @__ffi_builder_shared_raise_DIGEST(%300, %302, %301, %303, %300, %304) : (!llvm.ptr, i64, !llvm.ptr, i64, !llvm.ptr, i64) -> i32
  llvm.br ^bb47(%305 : i32)
^bb68:  // pred: ^bb30
  %306 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%180) : (!llvm.ptr) -> !llvm.ptr
  llvm.br ^bb31(%306 : !llvm.ptr)
^bb69:  // pred: ^bb36
  %307 = llvm.call preserve_mostcc @__ffi_builder_shared_has_no_data_DIGEST(%193) : (!llvm.ptr) -> i1
  llvm.cond_br %307, ^bb37, ^bb43
^bb70:  // pred: ^bb37
  %308 = llvm.call preserve_mostcc @__ffi_builder_shared_numel_fits_DIGEST(%193) : (!llvm.ptr) -> i1
  llvm.cond_br %308, ^bb38, ^bb43
^bb71:  // pred: ^bb38
  %309 = llvm.call preserve_mostcc @__ffi_builder_shared_row_major_strides_DIGEST(%193, %1) : (!llvm.ptr, !llvm.ptr) -> !llvm.ptr
  llvm.br ^bb39(%309 : !llvm.ptr)
^bb72:  // pred: ^bb40
  llvm.call @free(%239) : (!llvm.ptr) -> ()
  llvm.br ^bb41
^bb73:  // pred: ^bb41
  llvm.call @free(%242) : (!llvm.ptr) -> ()
  llvm.br ^bb42
^bb74:  // pred: ^bb43
  llvm.call @free(%246) : (!llvm.ptr) -> ()
  llvm.br ^bb44
^bb75:  // pred: ^bb44
  llvm.call @free(%249) : (!llvm.ptr) -> ()
  llvm.br ^bb45
}
