llvm.mlir.global private unnamed_addr constant @__ffi_builder_table_list("TABLE") {addr_space = 0 : i32}
llvm.func @__tvm_ffi_list(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i32, %arg3: !llvm.ptr) -> i32 attributes {passthrough = ["noinline", "optnone", "ffi-builder-trusted-734a1a6f", ["ffi-builder-metadata", "JSON"]]} {
  %0 = llvm.mlir.constant(1 : i32) : i32
  %1 = llvm.alloca %0 x i64 : (i32) -> !llvm.ptr
  %2 = llvm.mlir.constant(1 : i32) : i32
  %3 = llvm.alloca %2 x i64 : (i32) -> !llvm.ptr
  %4 = llvm.mlir.constant(220 : i32) : i32
  %5 = llvm.alloca %4 x i8 : (i32) -> !llvm.ptr
  %6 = llvm.mlir.constant(255 : i32) : i32
  %7 = llvm.alloca %6 x i64 : (i32) -> !llvm.ptr
  %8 = llvm.mlir.constant(1 : i32) : i32
  %9 = llvm.alloca %8 x i64 : (i32) -> !llvm.ptr
  %10 = llvm.mlir.constant(1 : i32) : i32
  %11 = llvm.alloca %10 x i1 : (i32) -> !llvm.ptr
  %12 = llvm.mlir.constant(1 : i32) : i32
  %13 = llvm.alloca %12 x i1 : (i32) -> !llvm.ptr
  %14 = llvm.mlir.constant(1 : i32) : i32
  %15 = llvm.alloca %14 x i64 : (i32) -> !llvm.ptr
  %16 = llvm.mlir.constant(220 : i32) : i32
  %17 = llvm.alloca %16 x i8 : (i32) -> !llvm.ptr
  %18 = llvm.mlir.constant(255 : i32) : i32
  %19 = llvm.alloca %18 x i64 : (i32) -> !llvm.ptr
  %20 = llvm.mlir.constant(1 : i32) : i32
  %21 = llvm.alloca %20 x !llvm.ptr : (i32) -> !llvm.ptr
  %22 = llvm.mlir.constant(1 : i32) : i32
  %23 = llvm.alloca %22 x !llvm.ptr : (i32) -> !llvm.ptr
  %24 = llvm.mlir.zero : !llvm.ptr
  llvm.store %24, %23 : !llvm.ptr, !llvm.ptr
  %25 = llvm.mlir.zero : !llvm.ptr
  llvm.store %25, %21 : !llvm.ptr, !llvm.ptr
  %26 = llvm.mlir.constant(2 : i32) : i32
  %27 = llvm.icmp "eq" %arg2, %26 : i32
  llvm.cond_br %27, ^bb1, ^bb46(%arg2 : i32)
^bb1:  // pred: ^bb0
  %28 = llvm.mlir.zero : !llvm.ptr
  %29 = llvm.icmp "ne" %arg1, %28 : !llvm.ptr
  llvm.cond_br %29, ^bb2, ^bb43
^bb2:  // pred: ^bb1
  %30 = llvm.load %arg1 : !llvm.ptr -> i32
  %31 = llvm.getelementptr %arg1[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %32 = llvm.load %31 : !llvm.ptr -> !llvm.ptr
  %33 = llvm.mlir.constant(71 : i32) : i32
  %34 = llvm.icmp "eq" %30, %33 : i32
  llvm.cond_br %34 weights([2000, 1]), ^bb3(%32, %30 : !llvm.ptr, i32), ^bb52
^bb3(%35: !llvm.ptr, %36: i32):  // 3 preds: ^bb2, ^bb52, ^bb54
  %37 = llvm.mlir.zero : !llvm.ptr
  %38 = llvm.icmp "ne" %35, %37 : !llvm.ptr
  llvm.cond_br %38, ^bb4, ^bb43
^bb4:  // pred: ^bb3
  %39 = llvm.getelementptr %35[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %40 = llvm.load %39 : !llvm.ptr -> i64
  %41 = llvm.mlir.constant(2147483647 : i64) : i64
  %42 = llvm.icmp "ule" %40, %41 : i64
  llvm.cond_br %42, ^bb5, ^bb43
^bb5:  // pred: ^bb4
  %43 = llvm.mlir.zero : !llvm.ptr
  %44 = llvm.mlir.constant(0 : i64) : i64
  %45 = llvm.icmp "eq" %40, %44 : i64
  %46 = llvm.getelementptr %35[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %47 = llvm.load %46 : !llvm.ptr -> !llvm.ptr
  %48 = llvm.mlir.zero : !llvm.ptr
  %49 = llvm.icmp "ne" %47, %48 : !llvm.ptr
  %50 = llvm.or %49, %45 : i1
  llvm.cond_br %50, ^bb6, ^bb43
^bb6:  // pred: ^bb5
  %51 = llvm.mlir.constant(51 : i64) : i64
  %52 = llvm.icmp "ule" %40, %51 : i64
  llvm.cond_br %52 weights([2000, 1]), ^bb7(%19 : !llvm.ptr), ^bb55
^bb7(%53: !llvm.ptr):  // 2 preds: ^bb6, ^bb56
  %54 = llvm.getelementptr %53[%40] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  %55 = llvm.getelementptr %54[%40] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<2 x i64>
  %56 = llvm.mlir.constant(0 : i64) : i64
  llvm.store %56, %15 : i64, !llvm.ptr
  %57 = llvm.mlir.constant(false) : i1
  llvm.store %57, %13 : i1, !llvm.ptr
  %58 = llvm.mlir.constant(false) : i1
  llvm.store %58, %11 : i1, !llvm.ptr
  %59 = llvm.mlir.constant(0 : i64) : i64
  llvm.store %59, %9 : i64, !llvm.ptr
  %60 = llvm.mlir.constant(0 : i64) : i64
  llvm.br ^bb8(%60 : i64)
^bb8(%61: i64):  // 2 preds: ^bb7, ^bb21
  %62 = llvm.icmp "slt" %61, %40 : i64
  llvm.cond_br %62, ^bb9, ^bb22
^bb9:  // pred: ^bb8
  %63 = llvm.getelementptr %47[%61] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<2 x i64>
  %64 = llvm.mlir.constant(0 : i64) : i64
  %65 = llvm.icmp "ne" %61, %64 : i64
  %66 = llvm.mlir.zero : !llvm.ptr
  %67 = llvm.load %9 : !llvm.ptr -> i64
  %68 = llvm.mlir.zero : !llvm.ptr
  %69 = llvm.load %15 : !llvm.ptr -> i64
  %70 = llvm.load %13 : !llvm.ptr -> i1
  %71 = llvm.load %11 : !llvm.ptr -> i1
  %72 = llvm.load %63 : !llvm.ptr -> i32
  %73 = llvm.getelementptr %63[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %74 = llvm.load %73 : !llvm.ptr -> !llvm.ptr
  %75 = llvm.mlir.constant(70 : i32) : i32
  %76 = llvm.icmp "eq" %72, %75 : i32
  llvm.cond_br %76 weights([2000, 1]), ^bb10(%74 : !llvm.ptr), ^bb58
^bb10(%77: !llvm.ptr):  // 2 preds: ^bb9, ^bb58
  %78 = llvm.mlir.zero : !llvm.ptr
  %79 = llvm.icmp "ne" %77, %78 : !llvm.ptr
  llvm.cond_br %79, ^bb11, ^bb43
^bb11:  // pred: ^bb10
  %80 = llvm.getelementptr %77[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %81 = llvm.load %80 : !llvm.ptr -> i64
  %82 = llvm.mlir.constant(316667938734082 : i64) : i64
  %83 = llvm.icmp "eq" %81, %82 : i64
  llvm.cond_br %83, ^bb12, ^bb43
^bb12:  // pred: ^bb11
  %84 = llvm.getelementptr %77[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %85 = llvm.load %84 : !llvm.ptr -> i64
  %86 = llvm.trunc %85 : i64 to i32
  %87 = llvm.mlir.constant(1 : i32) : i32
  %88 = llvm.icmp "eq" %86, %87 : i32
  llvm.cond_br %88, ^bb13, ^bb43
^bb13:  // pred: ^bb12
  %89 = llvm.mlir.constant(true) : i1
  %90 = llvm.trunc %85 : i64 to i32
  %91 = llvm.trunc %67 : i64 to i32
  %92 = llvm.icmp "eq" %90, %91 : i32
  %93 = llvm.and %89, %92 : i1
  %94 = llvm.and %93, %65 : i1
  %95 = llvm.icmp "eq" %85, %67 : i64
  %96 = llvm.xor %94, %89 : i1
  %97 = llvm.or %95, %96 : i1
  %98 = llvm.and %89, %97 : i1
  %99 = llvm.xor %94, %89 : i1
  %100 = llvm.and %89, %99 : i1
  llvm.cond_br %98, ^bb14, ^bb43
^bb14:  // pred: ^bb13
  %101 = llvm.getelementptr %77[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %102 = llvm.load %101 : !llvm.ptr -> !llvm.ptr
  %103 = llvm.mlir.zero : !llvm.ptr
  %104 = llvm.icmp "ne" %102, %103 : !llvm.ptr
  llvm.cond_br %104, ^bb15, ^bb43
^bb15:  // pred: ^bb14
  %105 = llvm.load %102 : !llvm.ptr -> i64
  %106 = llvm.getelementptr %102[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %107 = llvm.load %106 : !llvm.ptr -> i64
  %108 = llvm.icmp "eq" %107, %69 : i64
  %109 = llvm.mlir.constant(true) : i1
  %110 = llvm.xor %70, %109 : i1
  %111 = llvm.or %108, %110 : i1
  llvm.cond_br %111, ^bb16, ^bb43
^bb16:  // pred: ^bb15
  %112 = llvm.getelementptr %77[56] : (!llvm.ptr) -> !llvm.ptr, i8
  %113 = llvm.load %112 : !llvm.ptr -> !llvm.ptr
  %114 = llvm.mlir.zero : !llvm.ptr
  %115 = llvm.icmp "eq" %113, %114 : !llvm.ptr
  llvm.cond_br %115, ^bb19, ^bb17
^bb17:  // pred: ^bb16
  %116 = llvm.getelementptr %113[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %117 = llvm.load %116 : !llvm.ptr -> i64
  %118 = llvm.mlir.constant(1 : i64) : i64
  %119 = llvm.icmp "eq" %117, %118 : i64
  llvm.cond_br %119 weights([2000, 1]), ^bb18, ^bb59
^bb18:  // pred: ^bb17
  %120 = llvm.load %113 : !llvm.ptr -> i64
  %121 = llvm.icmp "eq" %120, %107 : i64
  llvm.cond_br %121 weights([2000, 1]), ^bb19, ^bb59
^bb19:  // 3 preds: ^bb16, ^bb18, ^bb59
  %122 = llvm.getelementptr %77[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %123 = llvm.load %122 : !llvm.ptr -> !llvm.ptr
  %124 = llvm.getelementptr %77[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %125 = llvm.load %124 : !llvm.ptr -> i64
  %126 = llvm.getelementptr %123[%125] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %127 = llvm.getelementptr %123[-1] : (!llvm.ptr) -> !llvm.ptr, i8
  %128 = llvm.icmp "ult" %127, %126 : !llvm.ptr
  llvm.cond_br %128 weights([2000, 1]), ^bb20, ^bb60
^bb20:  // 2 preds: ^bb19, ^bb60
  %129 = llvm.or %105, %107 : i64
  %130 = llvm.mlir.constant(2147483648 : i64) : i64
  %131 = llvm.icmp "ult" %129, %130 : i64
  llvm.cond_br %131 weights([2000, 1]), ^bb21, ^bb61
^bb21:  // 2 preds: ^bb20, ^bb61
  %132 = llvm.getelementptr %53[%61] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  llvm.store %126, %132 : !llvm.ptr, !llvm.ptr
  %133 = llvm.getelementptr %54[%61] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<2 x i64>
  llvm.store %105, %133 : i64, !llvm.ptr
  %134 = llvm.getelementptr %133[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %107, %134 : i64, !llvm.ptr
  %135 = llvm.getelementptr %55[%61] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<2 x i64>
  llvm.store %107, %135 : i64, !llvm.ptr
  %136 = llvm.mlir.constant(1 : i64) : i64
  %137 = llvm.getelementptr %135[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %136, %137 : i64, !llvm.ptr
  %138 = llvm.load %9 : !llvm.ptr -> i64
  %139 = llvm.select %65, %138, %85 : i1, i64
  llvm.store %139, %9 : i64, !llvm.ptr
  llvm.store %107, %15 : i64, !llvm.ptr
  %140 = llvm.mlir.constant(true) : i1
  llvm.store %140, %13 : i1, !llvm.ptr
  %141 = llvm.mlir.constant(true) : i1
  llvm.store %141, %11 : i1, !llvm.ptr
  %142 = llvm.mlir.constant(1 : i64) : i64
  %143 = llvm.add %61, %142 : i64
  llvm.br ^bb8(%143 : i64)
^bb22:  // pred: ^bb8
  %144 = llvm.mlir.constant(true) : i1
  %145 = llvm.xor %45, %144 : i1
  %146 = llvm.mlir.zero : !llvm.ptr
  %147 = llvm.load %9 : !llvm.ptr -> i64
  %148 = llvm.mlir.zero : !llvm.ptr
  %149 = llvm.load %15 : !llvm.ptr -> i64
  %150 = llvm.load %13 : !llvm.ptr -> i1
  %151 = llvm.load %11 : !llvm.ptr -> i1
  %152 = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %153 = llvm.load %152 : !llvm.ptr -> i32
  %154 = llvm.getelementptr %arg1[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %155 = llvm.load %154 : !llvm.ptr -> !llvm.ptr
  %156 = llvm.mlir.constant(71 : i32) : i32
  %157 = llvm.icmp "eq" %153, %156 : i32
  llvm.cond_br %157 weights([2000, 1]), ^bb23(%155, %153 : !llvm.ptr, i32), ^bb62
^bb23(%158: !llvm.ptr, %159: i32):  // 3 preds: ^bb22, ^bb62, ^bb64
  %160 = llvm.mlir.zero : !llvm.ptr
  %161 = llvm.icmp "ne" %158, %160 : !llvm.ptr
  llvm.cond_br %161, ^bb24, ^bb43
^bb24:  // pred: ^bb23
  %162 = llvm.getelementptr %158[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %163 = llvm.load %162 : !llvm.ptr -> i64
  %164 = llvm.mlir.constant(2147483647 : i64) : i64
  %165 = llvm.icmp "ule" %163, %164 : i64
  llvm.cond_br %165, ^bb25, ^bb43
^bb25:  // pred: ^bb24
  %166 = llvm.mlir.zero : !llvm.ptr
  %167 = llvm.icmp "eq" %163, %40 : i64
  llvm.cond_br %167, ^bb26, ^bb43
^bb26:  // pred: ^bb25
  %168 = llvm.mlir.constant(0 : i64) : i64
  %169 = llvm.icmp "eq" %163, %168 : i64
  %170 = llvm.getelementptr %158[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %171 = llvm.load %170 : !llvm.ptr -> !llvm.ptr
  %172 = llvm.mlir.zero : !llvm.ptr
  %173 = llvm.icmp "ne" %171, %172 : !llvm.ptr
  %174 = llvm.or %173, %169 : i1
  llvm.cond_br %174, ^bb27, ^bb43
^bb27:  // pred: ^bb26
  %175 = llvm.mlir.constant(85 : i64) : i64
  %176 = llvm.icmp "ule" %163, %175 : i64
  llvm.cond_br %176 weights([2000, 1]), ^bb28(%7 : !llvm.ptr), ^bb65
^bb28(%177: !llvm.ptr):  // 2 preds: ^bb27, ^bb66
  %178 = llvm.getelementptr %177[%163] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  %179 = llvm.getelementptr %178[%163] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<1 x i64>
  %180 = llvm.mlir.constant(0 : i64) : i64
  llvm.store %180, %3 : i64, !llvm.ptr
  %181 = llvm.mlir.constant(0 : i64) : i64
  llvm.br ^bb29(%181 : i64)
^bb29(%182: i64):  // 2 preds: ^bb28, ^bb39
  %183 = llvm.icmp "slt" %182, %163 : i64
  llvm.cond_br %183, ^bb30, ^bb40
^bb30:  // pred: ^bb29
  %184 = llvm.getelementptr %171[%182] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<2 x i64>
  %185 = llvm.mlir.constant(0 : i64) : i64
  %186 = llvm.icmp "ne" %182, %185 : i64
  %187 = llvm.mlir.zero : !llvm.ptr
  %188 = llvm.load %3 : !llvm.ptr -> i64
  %189 = llvm.mlir.zero : !llvm.ptr
  %190 = llvm.getelementptr %54[%182] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<2 x i64>
  %191 = llvm.load %190 : !llvm.ptr -> i64
  %192 = llvm.load %184 : !llvm.ptr -> i32
  %193 = llvm.getelementptr %184[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %194 = llvm.load %193 : !llvm.ptr -> !llvm.ptr
  %195 = llvm.mlir.constant(70 : i32) : i32
  %196 = llvm.icmp "eq" %192, %195 : i32
  llvm.cond_br %196 weights([2000, 1]), ^bb31(%194 : !llvm.ptr), ^bb68
^bb31(%197: !llvm.ptr):  // 2 preds: ^bb30, ^bb68
  %198 = llvm.mlir.zero : !llvm.ptr
  %199 = llvm.icmp "ne" %197, %198 : !llvm.ptr
  llvm.cond_br %199, ^bb32, ^bb43
^bb32:  // pred: ^bb31
  %200 = llvm.getelementptr %197[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %201 = llvm.load %200 : !llvm.ptr -> i64
  %202 = llvm.mlir.constant(316667938734081 : i64) : i64
  %203 = llvm.icmp "eq" %201, %202 : i64
  llvm.cond_br %203, ^bb33, ^bb43
^bb33:  // pred: ^bb32
  %204 = llvm.getelementptr %197[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %205 = llvm.load %204 : !llvm.ptr -> i64
  %206 = llvm.icmp "eq" %205, %147 : i64
  llvm.cond_br %206, ^bb34, ^bb43
^bb34:  // pred: ^bb33
  %207 = llvm.getelementptr %197[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %208 = llvm.load %207 : !llvm.ptr -> !llvm.ptr
  %209 = llvm.mlir.zero : !llvm.ptr
  %210 = llvm.icmp "ne" %208, %209 : !llvm.ptr
  llvm.cond_br %210, ^bb35, ^bb43
^bb35:  // pred: ^bb34
  %211 = llvm.load %208 : !llvm.ptr -> i64
  %212 = llvm.icmp "eq" %211, %191 : i64
  llvm.cond_br %212, ^bb36, ^bb43
^bb36:  // pred: ^bb35
  %213 = llvm.getelementptr %197[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %214 = llvm.load %213 : !llvm.ptr -> !llvm.ptr
  %215 = llvm.getelementptr %197[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %216 = llvm.load %215 : !llvm.ptr -> i64
  %217 = llvm.getelementptr %214[%216] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %218 = llvm.getelementptr %214[-1] : (!llvm.ptr) -> !llvm.ptr, i8
  %219 = llvm.icmp "ult" %218, %217 : !llvm.ptr
  llvm.cond_br %219 weights([2000, 1]), ^bb37, ^bb69
^bb37:  // 2 preds: ^bb36, ^bb69
  %220 = llvm.mlir.constant(-9223372036854775808 : i64) : i64
  %221 = llvm.icmp "ult" %191, %220 : i64
  llvm.cond_br %221 weights([2000, 1]), ^bb38, ^bb70
^bb38:  // 2 preds: ^bb37, ^bb70
  %222 = llvm.getelementptr %177[%182] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  llvm.store %217, %222 : !llvm.ptr, !llvm.ptr
  %223 = llvm.getelementptr %197[56] : (!llvm.ptr) -> !llvm.ptr, i8
  %224 = llvm.load %223 : !llvm.ptr -> !llvm.ptr
  %225 = llvm.mlir.zero : !llvm.ptr
  %226 = llvm.icmp "ne" %224, %225 : !llvm.ptr
  llvm.cond_br %226 weights([2000, 1]), ^bb39(%224 : !llvm.ptr), ^bb71
^bb39(%227: !llvm.ptr):  // 2 preds: ^bb38, ^bb71
  %228 = llvm.load %227 : !llvm.ptr -> i64
  %229 = llvm.getelementptr %178[%182] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<1 x i64>
  llvm.store %191, %229 : i64, !llvm.ptr
  %230 = llvm.getelementptr %179[%182] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<1 x i64>
  llvm.store %228, %230 : i64, !llvm.ptr
  %231 = llvm.load %3 : !llvm.ptr -> i64
  %232 = llvm.select %186, %231, %205 : i1, i64
  llvm.store %232, %3 : i64, !llvm.ptr
  %233 = llvm.mlir.constant(1 : i64) : i64
  %234 = llvm.add %182, %233 : i64
  llvm.br ^bb29(%234 : i64)
^bb40:  // pred: ^bb29
  %235 = llvm.mlir.constant(true) : i1
  %236 = llvm.xor %169, %235 : i1
  %237 = llvm.mlir.zero : !llvm.ptr
  %238 = llvm.load %3 : !llvm.ptr -> i64
  %239 = llvm.mlir.zero : !llvm.ptr
  %240 = llvm.mlir.constant(0 : i64) : i64
  llvm.store %240, %arg3 : i64, !llvm.ptr
  %241 = llvm.getelementptr %arg3[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %240, %241 : i64, !llvm.ptr
  %242 = llvm.trunc %40 : i64 to i32
  llvm.call @callee(%242, %53, %54, %177) : (i32, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
  %243 = llvm.load %23 : !llvm.ptr -> !llvm.ptr
  %244 = llvm.mlir.zero : !llvm.ptr
  %245 = llvm.icmp "ne" %243, %244 : !llvm.ptr
  llvm.cond_br %245, ^bb72, ^bb41
^bb41:  // 2 preds: ^bb40, ^bb72
  %246 = llvm.load %21 : !llvm.ptr -> !llvm.ptr
  %247 = llvm.mlir.zero : !llvm.ptr
  %248 = llvm.icmp "ne" %246, %247 : !llvm.ptr
  llvm.cond_br %248, ^bb73, ^bb42
^bb42:  // 2 preds: ^bb41, ^bb73
  %249 = llvm.mlir.constant(0 : i32) : i32
  llvm.return %249 : i32
^bb43:  // 26 preds: ^bb1, ^bb3, ^bb4, ^bb5, ^bb10, ^bb11, ^bb12, ^bb13, ^bb14, ^bb15, ^bb23, ^bb24, ^bb25, ^bb26, ^bb31, ^bb32, ^bb33, ^bb34, ^bb35, ^bb53, ^bb59, ^bb60, ^bb61, ^bb63, ^bb69, ^bb70
  %250 = llvm.load %23 : !llvm.ptr -> !llvm.ptr
  %251 = llvm.mlir.zero : !llvm.ptr
  %252 = llvm.icmp "ne" %250, %251 : !llvm.ptr
  llvm.cond_br %252, ^bb74, ^bb44
^bb44:  // 2 preds: ^bb43, ^bb74
  %253 = llvm.load %21 : !llvm.ptr -> !llvm.ptr
  %254 = llvm.mlir.zero : !llvm.ptr
  %255 = llvm.icmp "ne" %253, %254 : !llvm.ptr
  llvm.cond_br %255, ^bb75, ^bb45
^bb45:  // 2 preds: ^bb44, ^bb75
  %256 = llvm.mlir.constant(2 : i32) : i32
  llvm.br ^bb46(%256 : i32)
^bb46(%257: i32):  // 2 preds: ^bb0, ^bb45
  %258 = llvm.mlir.addressof @__ffi_builder_table_list : !llvm.ptr
  %259 = llvm.call tail @__ffi_builder_shared_diagnose_DIGEST(%arg1, %257, %258) : (!llvm.ptr, i32, !llvm.ptr) -> i32
  llvm.return %259 : i32
^bb47(%260: i32):  // 2 preds: ^bb57, ^bb67
  %261 = llvm.load %23 : !llvm.ptr -> !llvm.ptr
  %262 = llvm.mlir.zero : !llvm.ptr
  %263 = llvm.icmp "ne" %261, %262 : !llvm.ptr
  llvm.cond_br %263, ^bb50, ^bb48
^bb48:  // 2 preds: ^bb47, ^bb50
  %264 = llvm.load %21 : !llvm.ptr -> !llvm.ptr
  %265 = llvm.mlir.zero : !llvm.ptr
  %266 = llvm.icmp "ne" %264, %265 : !llvm.ptr
  llvm.cond_br %266, ^bb51, ^bb49
^bb49:  // 2 preds: ^bb48, ^bb51
  llvm.return %260 : i32
^bb50:  // pred: ^bb47
  llvm.call @free(%261) : (!llvm.ptr) -> ()
  llvm.br ^bb48
^bb51:  // pred: ^bb48
  llvm.call @free(%264) : (!llvm.ptr) -> ()
  llvm.br ^bb49
^bb52:  // pred: ^bb2
  %267 = llvm.mlir.constant(75 : i32) : i32
  %268 = llvm.icmp "eq" %30, %267 : i32
  llvm.cond_br %268, ^bb3(%32, %30 : !llvm.ptr, i32), ^bb53
^bb53:  // pred: ^bb52
  %269 = llvm.mlir.constant(2176 : i64) : i64
  %270 = llvm.call preserve_mostcc @__ffi_builder_shared_moved_object_DIGEST(%arg1, %269) : (!llvm.ptr, i64) -> !llvm.ptr
  %271 = llvm.mlir.zero : !llvm.ptr
  %272 = llvm.icmp "ne" %270, %271 : !llvm.ptr
  llvm.cond_br %272, ^bb54, ^bb43
^bb54:  // pred: ^bb53
  %273 = llvm.getelementptr %270[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %274 = llvm.load %273 : !llvm.ptr -> i32
  llvm.br ^bb3(%270, %274 : !llvm.ptr, i32)
^bb55:  // pred: ^bb6
  %275 = llvm.mlir.constant(40 : i64) : i64
  %276 = llvm.mul %40, %275 : i64
  %277 = llvm.call @malloc(%276) : (i64) -> !llvm.ptr
  %278 = llvm.mlir.zero : !llvm.ptr
  %279 = llvm.icmp "ne" %277, %278 : !llvm.ptr
  llvm.cond_br %279, ^bb56, ^bb57
^bb56:  // pred: ^bb55
  llvm.store %277, %23 : !llvm.ptr, !llvm.ptr
  llvm.br ^bb7(%277 : !llvm.ptr)
^bb57:  // pred: ^bb55
  %280 = llvm.mlir.constant(220 : i64) : i64
  %281 = llvm.mlir.addressof @__ffi_builder_text_DIGEST : !llvm.ptr
  %282 = llvm.call @snprintf(%17, %280, %281, %40) vararg(!llvm.func<i32 (ptr, i64, ptr, ...)>) : (!llvm.ptr, i64, !llvm.ptr, i64) -> i32
  %283 = llvm.sext %282 : i32 to i64
  %284 = llvm.mlir.addressof @__ffi_builder_text_DIGEST : !llvm.ptr
  %285 = llvm.mlir.constant(0 : i64) : i64
  %286 = llvm.mlir.constant(11 : i64) : i64
  %287 = llvm.call @__ffi_builder_shared_raise_DIGEST(%284, %286, %17, %283, %284, %285) : (!llvm.ptr, i64, !llvm.ptr, i64, !llvm.ptr, i64) -> i32
  llvm.br ^bb47(%287 : i32)
^bb58:  // pred: ^bb9
  %288 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%63) : (!llvm.ptr) -> !llvm.ptr
  llvm.br ^bb10(%288 : !llvm.ptr)
^bb59:  // 2 preds: ^bb17, ^bb18
  %289 = llvm.call preserve_mostcc @__ffi_builder_shared_contiguous_DIGEST(%77) : (!llvm.ptr) -> i1
  llvm.cond_br %289, ^bb19, ^bb43
^bb60:  // pred: ^bb19
  %290 = llvm.call preserve_mostcc @__ffi_builder_shared_has_no_data_DIGEST(%77) : (!llvm.ptr) -> i1
  llvm.cond_br %290, ^bb20, ^bb43
^bb61:  // pred: ^bb20
  %291 = llvm.call preserve_mostcc @__ffi_builder_shared_numel_fits_DIGEST(%77) : (!llvm.ptr) -> i1
  llvm.cond_br %291, ^bb21, ^bb43
^bb62:  // pred: ^bb22
  %292 = llvm.mlir.constant(75 : i32) : i32
  %293 = llvm.icmp "eq" %153, %292 : i32
  llvm.cond_br %293, ^bb23(%155, %153 : !llvm.ptr, i32), ^bb63
^bb63:  // pred: ^bb62
  %294 = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %295 = llvm.mlir.constant(2176 : i64) : i64
  %296 = llvm.call preserve_mostcc @__ffi_builder_shared_moved_object_DIGEST(%294, %295) : (!llvm.ptr, i64) -> !llvm.ptr
  %297 = llvm.mlir.zero : !llvm.ptr
  %298 = llvm.icmp "ne" %296, %297 : !llvm.ptr
  llvm.cond_br %298, ^bb64, ^bb43
^bb64:  // pred: ^bb63
  %299 = llvm.getelementptr %296[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %300 = llvm.load %299 : !llvm.ptr -> i32
  llvm.br ^bb23(%296, %300 : !llvm.ptr, i32)
^bb65:  // pred: ^bb27
  %301 = llvm.mlir.constant(24 : i64) : i64
  %302 = llvm.mul %163, %301 : i64
  %303 = llvm.call @malloc(%302) : (i64) -> !llvm.ptr
  %304 = llvm.mlir.zero : !llvm.ptr
  %305 = llvm.icmp "ne" %303, %304 : !llvm.ptr
  llvm.cond_br %305, ^bb66, ^bb67
^bb66:  // pred: ^bb65
  llvm.store %303, %21 : !llvm.ptr, !llvm.ptr
  llvm.br ^bb28(%303 : !llvm.ptr)
^bb67:  // pred: ^bb65
  %306 = llvm.mlir.constant(220 : i64) : i64
  %307 = llvm.mlir.addressof @__ffi_builder_text_DIGEST : !llvm.ptr
  %308 = llvm.call @snprintf(%5, %306, %307, %163) vararg(!llvm.func<i32 (ptr, i64, ptr, ...)>) : (!llvm.ptr, i64, !llvm.ptr, i64) -> i32
  %309 = llvm.sext %308 : i32 to i64
  %310 = llvm.mlir.addressof @__ffi_builder_text_DIGEST : !llvm.ptr
  %311 = llvm.mlir.constant(0 : i64) : i64
  %312 = llvm.mlir.constant(11 : i64) : i64
  %313 = llvm.call @__ffi_builder_shared_raise_DIGEST(%310, %312, %5, %309, %310, %311) : (!llvm.ptr, i64, !llvm.ptr, i64, !llvm.ptr, i64) -> i32
  llvm.br ^bb47(%313 : i32)
^bb68:  // pred: ^bb30
  %314 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%184) : (!llvm.ptr) -> !llvm.ptr
  llvm.br ^bb31(%314 : !llvm.ptr)
^bb69:  // pred: ^bb36
  %315 = llvm.call preserve_mostcc @__ffi_builder_shared_has_no_data_DIGEST(%197) : (!llvm.ptr) -> i1
  llvm.cond_br %315, ^bb37, ^bb43
^bb70:  // pred: ^bb37
  %316 = llvm.call preserve_mostcc @__ffi_builder_shared_numel_fits_DIGEST(%197) : (!llvm.ptr) -> i1
  llvm.cond_br %316, ^bb38, ^bb43
^bb71:  // pred: ^bb38
  %317 = llvm.call preserve_mostcc @__ffi_builder_shared_row_major_strides_DIGEST(%197, %1) : (!llvm.ptr, !llvm.ptr) -> !llvm.ptr
  llvm.br ^bb39(%317 : !llvm.ptr)
^bb72:  // pred: ^bb40
  llvm.call @free(%243) : (!llvm.ptr) -> ()
  llvm.br ^bb41
^bb73:  // pred: ^bb41
  llvm.call @free(%246) : (!llvm.ptr) -> ()
  llvm.br ^bb42
^bb74:  // pred: ^bb43
  llvm.call @free(%250) : (!llvm.ptr) -> ()
  llvm.br ^bb44
^bb75:  // pred: ^bb44
  llvm.call @free(%253) : (!llvm.ptr) -> ()
  llvm.br ^bb45
}
