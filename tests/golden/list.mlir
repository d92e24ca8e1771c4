llvm.mlir.global private unnamed_addr constant @__ffi_builder_table_list("TABLE") {addr_space = 0 : i32}
llvm.func @__tvm_ffi_list(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i32, %arg3: !llvm.ptr) -> i32 attributes {passthrough = ["noinline", "optnone", "ffi-builder-trusted", ["ffi-builder-metadata", "JSON"]]} {
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
  llvm.cond_br %30 weights([2000, 1]), ^bb3(%28 : !llvm.ptr), ^bb52
^bb3(%31: !llvm.ptr):  // 3 preds: ^bb2, ^bb52, ^bb54
  %32 = llvm.mlir.zero : !llvm.ptr
  %33 = llvm.icmp "ne" %31, %32 : !llvm.ptr
  llvm.cond_br %33, ^bb4, ^bb43
^bb4:  // pred: ^bb3
  %34 = llvm.getelementptr %31[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %35 = llvm.load %34 : !llvm.ptr -> i64
  %36 = llvm.mlir.constant(2147483647 : i64) : i64
  %37 = llvm.icmp "ule" %35, %36 : i64
  llvm.cond_br %37, ^bb5, ^bb43
^bb5:  // pred: ^bb4
  %38 = llvm.mlir.zero : !llvm.ptr
  %39 = llvm.mlir.constant(0 : i64) : i64
  %40 = llvm.icmp "eq" %35, %39 : i64
  %41 = llvm.getelementptr %31[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %42 = llvm.load %41 : !llvm.ptr -> !llvm.ptr
  %43 = llvm.mlir.zero : !llvm.ptr
  %44 = llvm.icmp "ne" %42, %43 : !llvm.ptr
  %45 = llvm.or %44, %40 : i1
  llvm.cond_br %45, ^bb6, ^bb43
^bb6:  // pred: ^bb5
  %46 = llvm.mlir.constant(51 : i64) : i64
  %47 = llvm.icmp "ule" %35, %46 : i64
  llvm.cond_br %47 weights([2000, 1]), ^bb7(%15 : !llvm.ptr), ^bb55
^bb7(%48: !llvm.ptr):  // 2 preds: ^bb6, ^bb56
  %49 = llvm.getelementptr %48[%35] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  %50 = llvm.getelementptr %49[%35] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<2 x i64>
  %51 = llvm.mlir.constant(0 : i64) : i64
  llvm.store %51, %13 : i64, !llvm.ptr
  %52 = llvm.mlir.constant(false) : i1
  llvm.store %52, %11 : i1, !llvm.ptr
  %53 = llvm.mlir.constant(false) : i1
  llvm.store %53, %9 : i1, !llvm.ptr
  %54 = llvm.mlir.constant(0 : i64) : i64
  llvm.store %54, %7 : i64, !llvm.ptr
  %55 = llvm.mlir.constant(0 : i64) : i64
  llvm.br ^bb8(%55 : i64)
^bb8(%56: i64):  // 2 preds: ^bb7, ^bb20
  %57 = llvm.icmp "slt" %56, %35 : i64
  llvm.cond_br %57, ^bb9, ^bb21
^bb9:  // pred: ^bb8
  %58 = llvm.getelementptr %42[%56] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<2 x i64>
  %59 = llvm.mlir.constant(0 : i64) : i64
  %60 = llvm.icmp "ne" %56, %59 : i64
  %61 = llvm.mlir.zero : !llvm.ptr
  %62 = llvm.load %7 : !llvm.ptr -> i64
  %63 = llvm.mlir.zero : !llvm.ptr
  %64 = llvm.load %13 : !llvm.ptr -> i64
  %65 = llvm.load %11 : !llvm.ptr -> i1
  %66 = llvm.load %9 : !llvm.ptr -> i1
  %67 = llvm.load %58 : !llvm.ptr -> i32
  %68 = llvm.getelementptr %58[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %69 = llvm.load %68 : !llvm.ptr -> !llvm.ptr
  %70 = llvm.mlir.constant(70 : i32) : i32
  %71 = llvm.icmp "eq" %67, %70 : i32
  llvm.cond_br %71 weights([2000, 1]), ^bb10(%69 : !llvm.ptr), ^bb58
^bb10(%72: !llvm.ptr):  // 2 preds: ^bb9, ^bb58
  %73 = llvm.mlir.zero : !llvm.ptr
  %74 = llvm.icmp "ne" %72, %73 : !llvm.ptr
  llvm.cond_br %74, ^bb11, ^bb43
^bb11:  // pred: ^bb10
  %75 = llvm.getelementptr %72[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %76 = llvm.load %75 : !llvm.ptr -> i32
  %77 = llvm.zext %76 : i32 to i64
  %78 = llvm.mlir.constant(1 : i64) : i64
  %79 = llvm.xor %77, %78 : i64
  %80 = llvm.getelementptr %72[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %81 = llvm.load %80 : !llvm.ptr -> i64
  %82 = llvm.mlir.constant(316667938734082 : i64) : i64
  %83 = llvm.xor %81, %82 : i64
  %84 = llvm.or %83, %79 : i64
  %85 = llvm.mlir.constant(0 : i64) : i64
  %86 = llvm.icmp "eq" %84, %85 : i64
  llvm.cond_br %86, ^bb12, ^bb43
^bb12:  // pred: ^bb11
  %87 = llvm.getelementptr %72[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %88 = llvm.load %87 : !llvm.ptr -> i64
  %89 = llvm.mlir.constant(true) : i1
  %90 = llvm.trunc %88 : i64 to i32
  %91 = llvm.trunc %62 : i64 to i32
  %92 = llvm.icmp "eq" %90, %91 : i32
  %93 = llvm.and %89, %92 : i1
  %94 = llvm.and %93, %60 : i1
  %95 = llvm.icmp "eq" %88, %62 : i64
  %96 = llvm.xor %94, %89 : i1
  %97 = llvm.or %95, %96 : i1
  %98 = llvm.and %89, %97 : i1
  %99 = llvm.xor %94, %89 : i1
  %100 = llvm.and %89, %99 : i1
  llvm.cond_br %98, ^bb13, ^bb43
^bb13:  // pred: ^bb12
  %101 = llvm.getelementptr %72[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %102 = llvm.load %101 : !llvm.ptr -> !llvm.ptr
  %103 = llvm.mlir.zero : !llvm.ptr
  %104 = llvm.icmp "ne" %102, %103 : !llvm.ptr
  llvm.cond_br %104, ^bb14, ^bb43
^bb14:  // pred: ^bb13
  %105 = llvm.load %102 : !llvm.ptr -> i64
  %106 = llvm.getelementptr %102[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %107 = llvm.load %106 : !llvm.ptr -> i64
  %108 = llvm.icmp "eq" %107, %64 : i64
  %109 = llvm.mlir.constant(true) : i1
  %110 = llvm.xor %65, %109 : i1
  %111 = llvm.or %108, %110 : i1
  llvm.cond_br %111, ^bb15, ^bb43
^bb15:  // pred: ^bb14
  %112 = llvm.getelementptr %72[56] : (!llvm.ptr) -> !llvm.ptr, i8
  %113 = llvm.load %112 : !llvm.ptr -> !llvm.ptr
  %114 = llvm.mlir.zero : !llvm.ptr
  %115 = llvm.icmp "eq" %113, %114 : !llvm.ptr
  llvm.cond_br %115, ^bb18, ^bb16
^bb16:  // pred: ^bb15
  %116 = llvm.getelementptr %113[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %117 = llvm.load %116 : !llvm.ptr -> i64
  %118 = llvm.mlir.constant(1 : i64) : i64
  %119 = llvm.icmp "eq" %117, %118 : i64
  llvm.cond_br %119 weights([2000, 1]), ^bb17, ^bb59
^bb17:  // pred: ^bb16
  %120 = llvm.load %113 : !llvm.ptr -> i64
  %121 = llvm.icmp "eq" %120, %107 : i64
  llvm.cond_br %121 weights([2000, 1]), ^bb18, ^bb59
^bb18:  // 3 preds: ^bb15, ^bb17, ^bb59
  %122 = llvm.getelementptr %72[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %123 = llvm.load %122 : !llvm.ptr -> !llvm.ptr
  %124 = llvm.getelementptr %72[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %125 = llvm.load %124 : !llvm.ptr -> i64
  %126 = llvm.getelementptr %123[%125] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %127 = llvm.getelementptr %123[-1] : (!llvm.ptr) -> !llvm.ptr, i8
  %128 = llvm.icmp "ult" %127, %126 : !llvm.ptr
  llvm.cond_br %128 weights([2000, 1]), ^bb19, ^bb60
^bb19:  // 2 preds: ^bb18, ^bb60
  %129 = llvm.or %105, %107 : i64
  %130 = llvm.ptrtoint %126 : !llvm.ptr to i64
  %131 = llvm.mlir.constant(62 : i64) : i64
  %132 = llvm.shl %130, %131 : i64
  %133 = llvm.or %132, %129 : i64
  %134 = llvm.mlir.constant(2147483647 : i64) : i64
  %135 = llvm.icmp "ule" %133, %134 : i64
  llvm.cond_br %135 weights([2000, 1]), ^bb20, ^bb61
^bb20:  // 2 preds: ^bb19, ^bb61
  %136 = llvm.getelementptr %48[%56] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  llvm.store %126, %136 : !llvm.ptr, !llvm.ptr
  %137 = llvm.getelementptr %49[%56] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<2 x i64>
  llvm.store %105, %137 : i64, !llvm.ptr
  %138 = llvm.getelementptr %137[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %107, %138 : i64, !llvm.ptr
  %139 = llvm.getelementptr %50[%56] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<2 x i64>
  llvm.store %107, %139 : i64, !llvm.ptr
  %140 = llvm.mlir.constant(1 : i64) : i64
  %141 = llvm.getelementptr %139[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %140, %141 : i64, !llvm.ptr
  %142 = llvm.load %7 : !llvm.ptr -> i64
  %143 = llvm.select %60, %142, %88 : i1, i64
  llvm.store %143, %7 : i64, !llvm.ptr
  llvm.store %107, %13 : i64, !llvm.ptr
  %144 = llvm.mlir.constant(true) : i1
  llvm.store %144, %11 : i1, !llvm.ptr
  %145 = llvm.mlir.constant(true) : i1
  llvm.store %145, %9 : i1, !llvm.ptr
  %146 = llvm.mlir.constant(1 : i64) : i64
  %147 = llvm.add %56, %146 : i64
  llvm.br ^bb8(%147 : i64)
^bb21:  // pred: ^bb8
  %148 = llvm.mlir.constant(true) : i1
  %149 = llvm.xor %40, %148 : i1
  %150 = llvm.mlir.zero : !llvm.ptr
  %151 = llvm.load %7 : !llvm.ptr -> i64
  %152 = llvm.mlir.zero : !llvm.ptr
  %153 = llvm.load %13 : !llvm.ptr -> i64
  %154 = llvm.load %11 : !llvm.ptr -> i1
  %155 = llvm.load %9 : !llvm.ptr -> i1
  %156 = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %157 = llvm.load %156 : !llvm.ptr -> i32
  %158 = llvm.getelementptr %arg1[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %159 = llvm.load %158 : !llvm.ptr -> !llvm.ptr
  %160 = llvm.mlir.constant(71 : i32) : i32
  %161 = llvm.icmp "eq" %157, %160 : i32
  llvm.cond_br %161 weights([2000, 1]), ^bb22(%159 : !llvm.ptr), ^bb62
^bb22(%162: !llvm.ptr):  // 3 preds: ^bb21, ^bb62, ^bb64
  %163 = llvm.mlir.zero : !llvm.ptr
  %164 = llvm.icmp "ne" %162, %163 : !llvm.ptr
  llvm.cond_br %164, ^bb23, ^bb43
^bb23:  // pred: ^bb22
  %165 = llvm.getelementptr %162[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %166 = llvm.load %165 : !llvm.ptr -> i64
  %167 = llvm.mlir.constant(2147483647 : i64) : i64
  %168 = llvm.icmp "ule" %166, %167 : i64
  llvm.cond_br %168, ^bb24, ^bb43
^bb24:  // pred: ^bb23
  %169 = llvm.mlir.zero : !llvm.ptr
  %170 = llvm.icmp "eq" %166, %35 : i64
  llvm.cond_br %170, ^bb25, ^bb43
^bb25:  // pred: ^bb24
  %171 = llvm.mlir.constant(0 : i64) : i64
  %172 = llvm.icmp "eq" %166, %171 : i64
  %173 = llvm.getelementptr %162[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %174 = llvm.load %173 : !llvm.ptr -> !llvm.ptr
  %175 = llvm.mlir.zero : !llvm.ptr
  %176 = llvm.icmp "ne" %174, %175 : !llvm.ptr
  %177 = llvm.or %176, %172 : i1
  llvm.cond_br %177, ^bb26, ^bb43
^bb26:  // pred: ^bb25
  %178 = llvm.mlir.constant(85 : i64) : i64
  %179 = llvm.icmp "ule" %166, %178 : i64
  llvm.cond_br %179 weights([2000, 1]), ^bb27(%5 : !llvm.ptr), ^bb65
^bb27(%180: !llvm.ptr):  // 2 preds: ^bb26, ^bb66
  %181 = llvm.getelementptr %180[%166] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  %182 = llvm.getelementptr %181[%166] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<1 x i64>
  %183 = llvm.mlir.constant(0 : i64) : i64
  llvm.store %183, %3 : i64, !llvm.ptr
  %184 = llvm.mlir.constant(0 : i64) : i64
  llvm.br ^bb28(%184 : i64)
^bb28(%185: i64):  // 2 preds: ^bb27, ^bb39
  %186 = llvm.icmp "slt" %185, %166 : i64
  llvm.cond_br %186, ^bb29, ^bb40
^bb29:  // pred: ^bb28
  %187 = llvm.getelementptr %174[%185] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<2 x i64>
  %188 = llvm.mlir.constant(0 : i64) : i64
  %189 = llvm.icmp "ne" %185, %188 : i64
  %190 = llvm.mlir.zero : !llvm.ptr
  %191 = llvm.load %3 : !llvm.ptr -> i64
  %192 = llvm.mlir.zero : !llvm.ptr
  %193 = llvm.getelementptr %49[%185] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<2 x i64>
  %194 = llvm.load %193 : !llvm.ptr -> i64
  %195 = llvm.load %187 : !llvm.ptr -> i32
  %196 = llvm.getelementptr %187[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %197 = llvm.load %196 : !llvm.ptr -> !llvm.ptr
  %198 = llvm.mlir.constant(70 : i32) : i32
  %199 = llvm.icmp "eq" %195, %198 : i32
  llvm.cond_br %199 weights([2000, 1]), ^bb30(%197 : !llvm.ptr), ^bb68
^bb30(%200: !llvm.ptr):  // 2 preds: ^bb29, ^bb68
  %201 = llvm.mlir.zero : !llvm.ptr
  %202 = llvm.icmp "ne" %200, %201 : !llvm.ptr
  llvm.cond_br %202, ^bb31, ^bb43
^bb31:  // pred: ^bb30
  %203 = llvm.getelementptr %200[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %204 = llvm.load %203 : !llvm.ptr -> i64
  %205 = llvm.mlir.constant(316667938734081 : i64) : i64
  %206 = llvm.icmp "eq" %204, %205 : i64
  llvm.cond_br %206, ^bb32, ^bb43
^bb32:  // pred: ^bb31
  %207 = llvm.getelementptr %200[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %208 = llvm.load %207 : !llvm.ptr -> i64
  %209 = llvm.icmp "eq" %208, %151 : i64
  llvm.cond_br %209, ^bb33, ^bb43
^bb33:  // pred: ^bb32
  %210 = llvm.getelementptr %200[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %211 = llvm.load %210 : !llvm.ptr -> !llvm.ptr
  %212 = llvm.mlir.zero : !llvm.ptr
  %213 = llvm.icmp "ne" %211, %212 : !llvm.ptr
  llvm.cond_br %213, ^bb34, ^bb43
^bb34:  // pred: ^bb33
  %214 = llvm.load %211 : !llvm.ptr -> i64
  %215 = llvm.icmp "eq" %214, %194 : i64
  llvm.cond_br %215, ^bb35, ^bb43
^bb35:  // pred: ^bb34
  %216 = llvm.getelementptr %200[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %217 = llvm.load %216 : !llvm.ptr -> !llvm.ptr
  %218 = llvm.getelementptr %200[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %219 = llvm.load %218 : !llvm.ptr -> i64
  %220 = llvm.getelementptr %217[%219] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %221 = llvm.getelementptr %217[-1] : (!llvm.ptr) -> !llvm.ptr, i8
  %222 = llvm.icmp "ult" %221, %220 : !llvm.ptr
  llvm.cond_br %222 weights([2000, 1]), ^bb36, ^bb69
^bb36:  // 2 preds: ^bb35, ^bb69
  %223 = llvm.ptrtoint %220 : !llvm.ptr to i64
  %224 = llvm.mlir.constant(62 : i64) : i64
  %225 = llvm.shl %223, %224 : i64
  %226 = llvm.or %225, %194 : i64
  %227 = llvm.mlir.constant(2147483647 : i64) : i64
  %228 = llvm.icmp "ule" %226, %227 : i64
  llvm.cond_br %228 weights([2000, 1]), ^bb37, ^bb70
^bb37:  // 3 preds: ^bb36, ^bb38, ^bb71
  %229 = llvm.getelementptr %180[%185] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  llvm.store %220, %229 : !llvm.ptr, !llvm.ptr
  %230 = llvm.getelementptr %200[56] : (!llvm.ptr) -> !llvm.ptr, i8
  %231 = llvm.load %230 : !llvm.ptr -> !llvm.ptr
  %232 = llvm.mlir.zero : !llvm.ptr
  %233 = llvm.icmp "ne" %231, %232 : !llvm.ptr
  llvm.cond_br %233 weights([2000, 1]), ^bb39(%231 : !llvm.ptr), ^bb72
^bb38:  // pred: ^bb70
  %234 = llvm.ptrtoint %220 : !llvm.ptr to i64
  %235 = llvm.mlir.constant(62 : i64) : i64
  %236 = llvm.shl %234, %235 : i64
  %237 = llvm.mlir.constant(0 : i64) : i64
  %238 = llvm.icmp "eq" %236, %237 : i64
  llvm.cond_br %238 weights([2000, 1]), ^bb37, ^bb71
^bb39(%239: !llvm.ptr):  // 2 preds: ^bb37, ^bb72
  %240 = llvm.load %239 : !llvm.ptr -> i64
  %241 = llvm.getelementptr %181[%185] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<1 x i64>
  llvm.store %194, %241 : i64, !llvm.ptr
  %242 = llvm.getelementptr %182[%185] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<1 x i64>
  llvm.store %240, %242 : i64, !llvm.ptr
  %243 = llvm.load %3 : !llvm.ptr -> i64
  %244 = llvm.select %189, %243, %208 : i1, i64
  llvm.store %244, %3 : i64, !llvm.ptr
  %245 = llvm.mlir.constant(1 : i64) : i64
  %246 = llvm.add %185, %245 : i64
  llvm.br ^bb28(%246 : i64)
^bb40:  // pred: ^bb28
  %247 = llvm.mlir.constant(true) : i1
  %248 = llvm.xor %172, %247 : i1
  %249 = llvm.mlir.zero : !llvm.ptr
  %250 = llvm.load %3 : !llvm.ptr -> i64
  %251 = llvm.mlir.zero : !llvm.ptr
  %252 = llvm.mlir.constant(0 : i64) : i64
  llvm.store %252, %arg3 : i64, !llvm.ptr
  %253 = llvm.getelementptr %arg3[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %252, %253 : i64, !llvm.ptr
  %254 = llvm.trunc %35 : i64 to i32
  llvm.call @callee(%254, %48, %49, %180) : (i32, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
  %255 = llvm.load %19 : !llvm.ptr -> !llvm.ptr
  %256 = llvm.mlir.zero : !llvm.ptr
  %257 = llvm.icmp "ne" %255, %256 : !llvm.ptr
  llvm.cond_br %257, ^bb73, ^bb41
^bb41:  // 2 preds: ^bb40, ^bb73
  %258 = llvm.load %17 : !llvm.ptr -> !llvm.ptr
  %259 = llvm.mlir.zero : !llvm.ptr
  %260 = llvm.icmp "ne" %258, %259 : !llvm.ptr
  llvm.cond_br %260, ^bb74, ^bb42
^bb42:  // 2 preds: ^bb41, ^bb74
  %261 = llvm.mlir.constant(0 : i32) : i32
  llvm.return %261 : i32
^bb43:  // 26 preds: ^bb1, ^bb3, ^bb4, ^bb5, ^bb10, ^bb11, ^bb12, ^bb13, ^bb14, ^bb22, ^bb23, ^bb24, ^bb25, ^bb30, ^bb31, ^bb32, ^bb33, ^bb34, ^bb53, ^bb59, ^bb60, ^bb61, ^bb63, ^bb69, ^bb70, ^bb71
  %262 = llvm.load %19 : !llvm.ptr -> !llvm.ptr
  %263 = llvm.mlir.zero : !llvm.ptr
  %264 = llvm.icmp "ne" %262, %263 : !llvm.ptr
  llvm.cond_br %264, ^bb75, ^bb44
^bb44:  // 2 preds: ^bb43, ^bb75
  %265 = llvm.load %17 : !llvm.ptr -> !llvm.ptr
  %266 = llvm.mlir.zero : !llvm.ptr
  %267 = llvm.icmp "ne" %265, %266 : !llvm.ptr
  llvm.cond_br %267, ^bb76, ^bb45
^bb45:  // 2 preds: ^bb44, ^bb76
  %268 = llvm.mlir.constant(2 : i32) : i32
  llvm.br ^bb46(%268 : i32)
^bb46(%269: i32):  // 2 preds: ^bb0, ^bb45
  %270 = llvm.mlir.addressof @__ffi_builder_table_list : !llvm.ptr
  %271 = llvm.call tail @__ffi_builder_shared_diagnose_DIGEST(%arg1, %269, %270) : (!llvm.ptr, i32, !llvm.ptr) -> i32
  llvm.return %271 : i32
^bb47(%272: i32):  // 2 preds: ^bb57, ^bb67
  %273 = llvm.load %19 : !llvm.ptr -> !llvm.ptr
  %274 = llvm.mlir.zero : !llvm.ptr
  %275 = llvm.icmp "ne" %273, %274 : !llvm.ptr
  llvm.cond_br %275, ^bb50, ^bb48
^bb48:  // 2 preds: ^bb47, ^bb50
  %276 = llvm.load %17 : !llvm.ptr -> !llvm.ptr
  %277 = llvm.mlir.zero : !llvm.ptr
  %278 = llvm.icmp "ne" %276, %277 : !llvm.ptr
  llvm.cond_br %278, ^bb51, ^bb49
^bb49:  // 2 preds: ^bb48, ^bb51
  llvm.return %272 : i32
^bb50:  // pred: ^bb47
  llvm.call @free(%273) : (!llvm.ptr) -> ()
  llvm.br ^bb48
^bb51:  // pred: ^bb48
  llvm.call @free(%276) : (!llvm.ptr) -> ()
  llvm.br ^bb49
^bb52:  // pred: ^bb2
  %279 = llvm.mlir.constant(75 : i32) : i32
  %280 = llvm.icmp "eq" %26, %279 : i32
  llvm.cond_br %280, ^bb3(%28 : !llvm.ptr), ^bb53
^bb53:  // pred: ^bb52
  %281 = llvm.mlir.constant(2176 : i64) : i64
  %282 = llvm.call preserve_mostcc @__ffi_builder_shared_moved_object_DIGEST(%281, %arg1) : (i64, !llvm.ptr) -> !llvm.ptr
  %283 = llvm.mlir.zero : !llvm.ptr
  %284 = llvm.icmp "ne" %282, %283 : !llvm.ptr
  llvm.cond_br %284, ^bb54, ^bb43
^bb54:  // pred: ^bb53
  llvm.br ^bb3(%282 : !llvm.ptr)
^bb55:  // pred: ^bb6
  %285 = llvm.mlir.constant(40 : i64) : i64
  %286 = llvm.mul %35, %285 : i64
  %287 = llvm.call @malloc(%286) : (i64) -> !llvm.ptr
  %288 = llvm.mlir.zero : !llvm.ptr
  %289 = llvm.icmp "eq" %287, %288 : !llvm.ptr
  llvm.cond_br %289, ^bb57, ^bb56
^bb56:  // pred: ^bb55
  llvm.store %287, %19 : !llvm.ptr, !llvm.ptr
  llvm.br ^bb7(%287 : !llvm.ptr)
^bb57:  // pred: ^bb55
  %290 = llvm.mlir.addressof @__ffi_builder_text_DIGEST : !llvm.ptr
  %291 = llvm.mlir.addressof @__ffi_builder_text_DIGEST : !llvm.ptr
  %292 = llvm.mlir.constant(11 : i64) : i64
  %293 = llvm.mlir.constant(34 : i64) : i64
  %294 = llvm.mlir.constant(0 : i64) : i64
  %295 = llvm.call @__ffi_builder_shared_raise_DIGEST(%290, %292, %291, %293, %290, %294) : (!llvm.ptr, i64, !llvm.ptr, i64, !llvm.ptr, i64) -> i32
  llvm.br ^bb47(%295 : i32)
^bb58:  // pred: ^bb9
  %296 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%58) : (!llvm.ptr) -> !llvm.ptr
  llvm.br ^bb10(%296 : !llvm.ptr)
^bb59:  // 2 preds: ^bb16, ^bb17
  %297 = llvm.call preserve_mostcc @__ffi_builder_shared_contiguous_DIGEST(%72) : (!llvm.ptr) -> i1
  llvm.cond_br %297, ^bb18, ^bb43
^bb60:  // pred: ^bb18
  %298 = llvm.call preserve_mostcc @__ffi_builder_shared_has_no_data_DIGEST(%72) : (!llvm.ptr) -> i1
  llvm.cond_br %298, ^bb19, ^bb43
^bb61:  // pred: ^bb19
  %299 = llvm.mlir.constant(2 : i32) : i32
  %300 = llvm.mlir.addressof @__ffi_builder_table_list : !llvm.ptr
  %301 = llvm.call preserve_mostcc @__ffi_builder_shared_nothing_is_wrong_DIGEST(%arg1, %299, %300) : (!llvm.ptr, i32, !llvm.ptr) -> i1
  llvm.cond_br %301, ^bb20, ^bb43
^bb62:  // pred: ^bb21
  %302 = llvm.mlir.constant(75 : i32) : i32
  %303 = llvm.icmp "eq" %157, %302 : i32
  llvm.cond_br %303, ^bb22(%159 : !llvm.ptr), ^bb63
^bb63:  // pred: ^bb62
  %304 = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %305 = llvm.mlir.constant(2176 : i64) : i64
  %306 = llvm.call preserve_mostcc @__ffi_builder_shared_moved_object_DIGEST(%305, %304) : (i64, !llvm.ptr) -> !llvm.ptr
  %307 = llvm.mlir.zero : !llvm.ptr
  %308 = llvm.icmp "ne" %306, %307 : !llvm.ptr
  llvm.cond_br %308, ^bb64, ^bb43
^bb64:  // pred: ^bb63
  llvm.br ^bb22(%306 : !llvm.ptr)
^bb65:  // pred: ^bb26
  %309 = llvm.mlir.constant(24 : i64) : i64
  %310 = llvm.mul %166, %309 : i64
  %311 = llvm.call @malloc(%310) : (i64) -> !llvm.ptr
  %312 = llvm.mlir.zero : !llvm.ptr
  %313 = llvm.icmp "eq" %311, %312 : !llvm.ptr
  llvm.cond_br %313, ^bb67, ^bb66
^bb66:  // pred: ^bb65
  llvm.store %311, %17 : !llvm.ptr, !llvm.ptr
  llvm.br ^bb27(%311 : !llvm.ptr)
^bb67:  // pred: ^bb65
  %314 = llvm.mlir.addressof @__ffi_builder_text_DIGEST : !llvm.ptr
  %315 = llvm.mlir.addressof @__ffi_builder_text_DIGEST : !llvm.ptr
  %316 = llvm.mlir.constant(11 : i64) : i64
  %317 = llvm.mlir.constant(34 : i64) : i64
  %318 = llvm.mlir.constant(0 : i64) : i64
  %319 = llvm.call @__ffi_builder_shared_raise_DIGEST(%314, %316, %315, %317, %314, %318) : (!llvm.ptr, i64, !llvm.ptr, i64, !llvm.ptr, i64) -> i32
  llvm.br ^bb47(%319 : i32)
^bb68:  // pred: ^bb29
  %320 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%187) : (!llvm.ptr) -> !llvm.ptr
  llvm.br ^bb30(%320 : !llvm.ptr)
^bb69:  // pred: ^bb35
  %321 = llvm.call preserve_mostcc @__ffi_builder_shared_has_no_data_DIGEST(%200) : (!llvm.ptr) -> i1
  llvm.cond_br %321, ^bb36, ^bb43
^bb70:  // pred: ^bb36
  %322 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%187) : (!llvm.ptr) -> !llvm.ptr
  %323 = llvm.call preserve_mostcc @__ffi_builder_shared_numel_fits_DIGEST(%322) : (!llvm.ptr) -> i1
  llvm.cond_br %323, ^bb38, ^bb43
^bb71:  // pred: ^bb38
  %324 = llvm.mlir.constant(2 : i32) : i32
  %325 = llvm.mlir.addressof @__ffi_builder_table_list : !llvm.ptr
  %326 = llvm.call preserve_mostcc @__ffi_builder_shared_nothing_is_wrong_DIGEST(%arg1, %324, %325) : (!llvm.ptr, i32, !llvm.ptr) -> i1
  llvm.cond_br %326, ^bb37, ^bb43
^bb72:  // pred: ^bb37
  %327 = llvm.call preserve_mostcc @__ffi_builder_shared_row_major_strides_DIGEST(%200, %1) : (!llvm.ptr, !llvm.ptr) -> !llvm.ptr
  llvm.br ^bb39(%327 : !llvm.ptr)
^bb73:  // pred: ^bb40
  llvm.call @free(%255) : (!llvm.ptr) -> ()
  llvm.br ^bb41
^bb74:  // pred: ^bb41
  llvm.call @free(%258) : (!llvm.ptr) -> ()
  llvm.br ^bb42
^bb75:  // pred: ^bb43
  llvm.call @free(%262) : (!llvm.ptr) -> ()
  llvm.br ^bb44
^bb76:  // pred: ^bb44
  llvm.call @free(%265) : (!llvm.ptr) -> ()
  llvm.br ^bb45
}
