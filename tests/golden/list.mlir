llvm.mlir.global private unnamed_addr constant @__ffi_builder_table_list("TABLE") {addr_space = 0 : i32}
llvm.func @__tvm_ffi_list(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i32, %arg3: !llvm.ptr) -> i32 attributes {passthrough = ["noinline", "optnone", "ffi-builder-trusted-de1bd1ca", ["ffi-builder-metadata", "JSON"]]} {
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
  llvm.cond_br %23, ^bb1, ^bb45(%arg2 : i32)
^bb1:  // pred: ^bb0
  %24 = llvm.mlir.zero : !llvm.ptr
  %25 = llvm.icmp "ne" %arg1, %24 : !llvm.ptr
  llvm.cond_br %25, ^bb2, ^bb42
^bb2:  // pred: ^bb1
  %26 = llvm.load %arg1 : !llvm.ptr -> i32
  %27 = llvm.getelementptr %arg1[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %28 = llvm.load %27 : !llvm.ptr -> !llvm.ptr
  %29 = llvm.mlir.constant(71 : i32) : i32
  %30 = llvm.icmp "eq" %26, %29 : i32
  llvm.cond_br %30 weights([2000, 1]), ^bb3(%28 : !llvm.ptr), ^bb51
^bb3(%31: !llvm.ptr):  // 3 preds: ^bb2, ^bb51, ^bb53
  %32 = llvm.mlir.zero : !llvm.ptr
  %33 = llvm.icmp "ne" %31, %32 : !llvm.ptr
  llvm.cond_br %33, ^bb4, ^bb42
^bb4:  // pred: ^bb3
  %34 = llvm.getelementptr %31[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %35 = llvm.load %34 : !llvm.ptr -> i64
  %36 = llvm.mlir.constant(2147483647 : i64) : i64
  %37 = llvm.icmp "ule" %35, %36 : i64
  llvm.cond_br %37, ^bb5, ^bb42
^bb5:  // pred: ^bb4
  %38 = llvm.mlir.zero : !llvm.ptr
  %39 = llvm.mlir.constant(0 : i64) : i64
  %40 = llvm.icmp "eq" %35, %39 : i64
  %41 = llvm.getelementptr %31[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %42 = llvm.load %41 : !llvm.ptr -> !llvm.ptr
  %43 = llvm.mlir.zero : !llvm.ptr
  %44 = llvm.icmp "ne" %42, %43 : !llvm.ptr
  %45 = llvm.or %44, %40 : i1
  llvm.cond_br %45, ^bb6, ^bb42
^bb6:  // pred: ^bb5
  %46 = llvm.mlir.constant(51 : i64) : i64
  %47 = llvm.icmp "ule" %35, %46 : i64
  llvm.cond_br %47 weights([2000, 1]), ^bb7(%15 : !llvm.ptr), ^bb54
^bb7(%48: !llvm.ptr):  // 2 preds: ^bb6, ^bb55
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
  llvm.cond_br %71 weights([2000, 1]), ^bb10(%69 : !llvm.ptr), ^bb57
^bb10(%72: !llvm.ptr):  // 2 preds: ^bb9, ^bb57
  %73 = llvm.mlir.zero : !llvm.ptr
  %74 = llvm.icmp "ne" %72, %73 : !llvm.ptr
  llvm.cond_br %74, ^bb11, ^bb42
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
  llvm.cond_br %86, ^bb12, ^bb42
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
  llvm.cond_br %98, ^bb13, ^bb42
^bb13:  // pred: ^bb12
  %101 = llvm.getelementptr %72[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %102 = llvm.load %101 : !llvm.ptr -> !llvm.ptr
  %103 = llvm.mlir.zero : !llvm.ptr
  %104 = llvm.icmp "ne" %102, %103 : !llvm.ptr
  llvm.cond_br %104, ^bb14, ^bb42
^bb14:  // pred: ^bb13
  %105 = llvm.load %102 : !llvm.ptr -> i64
  %106 = llvm.getelementptr %102[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %107 = llvm.load %106 : !llvm.ptr -> i64
  %108 = llvm.icmp "eq" %107, %64 : i64
  %109 = llvm.mlir.constant(true) : i1
  %110 = llvm.xor %65, %109 : i1
  %111 = llvm.or %108, %110 : i1
  llvm.cond_br %111, ^bb15, ^bb42
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
  llvm.cond_br %119 weights([2000, 1]), ^bb17, ^bb58
^bb17:  // pred: ^bb16
  %120 = llvm.load %113 : !llvm.ptr -> i64
  %121 = llvm.icmp "eq" %120, %107 : i64
  llvm.cond_br %121 weights([2000, 1]), ^bb18, ^bb58
^bb18:  // 3 preds: ^bb15, ^bb17, ^bb58
  %122 = llvm.getelementptr %72[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %123 = llvm.load %122 : !llvm.ptr -> !llvm.ptr
  %124 = llvm.getelementptr %72[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %125 = llvm.load %124 : !llvm.ptr -> i64
  %126 = llvm.getelementptr %123[%125] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %127 = llvm.getelementptr %123[-1] : (!llvm.ptr) -> !llvm.ptr, i8
  %128 = llvm.icmp "ult" %127, %126 : !llvm.ptr
  llvm.cond_br %128 weights([2000, 1]), ^bb19, ^bb59
^bb19:  // 2 preds: ^bb18, ^bb59
  %129 = llvm.or %105, %107 : i64
  %130 = llvm.mlir.constant(2147483647 : i64) : i64
  %131 = llvm.icmp "ule" %129, %130 : i64
  llvm.cond_br %131 weights([2000, 1]), ^bb20, ^bb60
^bb20:  // 2 preds: ^bb19, ^bb60
  %132 = llvm.getelementptr %48[%56] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  llvm.store %126, %132 : !llvm.ptr, !llvm.ptr
  %133 = llvm.getelementptr %49[%56] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<2 x i64>
  llvm.store %105, %133 : i64, !llvm.ptr
  %134 = llvm.getelementptr %133[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %107, %134 : i64, !llvm.ptr
  %135 = llvm.getelementptr %50[%56] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<2 x i64>
  llvm.store %107, %135 : i64, !llvm.ptr
  %136 = llvm.mlir.constant(1 : i64) : i64
  %137 = llvm.getelementptr %135[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %136, %137 : i64, !llvm.ptr
  %138 = llvm.load %7 : !llvm.ptr -> i64
  %139 = llvm.select %60, %138, %88 : i1, i64
  llvm.store %139, %7 : i64, !llvm.ptr
  llvm.store %107, %13 : i64, !llvm.ptr
  %140 = llvm.mlir.constant(true) : i1
  llvm.store %140, %11 : i1, !llvm.ptr
  %141 = llvm.mlir.constant(true) : i1
  llvm.store %141, %9 : i1, !llvm.ptr
  %142 = llvm.mlir.constant(1 : i64) : i64
  %143 = llvm.add %56, %142 : i64
  llvm.br ^bb8(%143 : i64)
^bb21:  // pred: ^bb8
  %144 = llvm.mlir.constant(true) : i1
  %145 = llvm.xor %40, %144 : i1
  %146 = llvm.mlir.zero : !llvm.ptr
  %147 = llvm.load %7 : !llvm.ptr -> i64
  %148 = llvm.mlir.zero : !llvm.ptr
  %149 = llvm.load %13 : !llvm.ptr -> i64
  %150 = llvm.load %11 : !llvm.ptr -> i1
  %151 = llvm.load %9 : !llvm.ptr -> i1
  %152 = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %153 = llvm.load %152 : !llvm.ptr -> i32
  %154 = llvm.getelementptr %arg1[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %155 = llvm.load %154 : !llvm.ptr -> !llvm.ptr
  %156 = llvm.mlir.constant(71 : i32) : i32
  %157 = llvm.icmp "eq" %153, %156 : i32
  llvm.cond_br %157 weights([2000, 1]), ^bb22(%155 : !llvm.ptr), ^bb61
^bb22(%158: !llvm.ptr):  // 3 preds: ^bb21, ^bb61, ^bb63
  %159 = llvm.mlir.zero : !llvm.ptr
  %160 = llvm.icmp "ne" %158, %159 : !llvm.ptr
  llvm.cond_br %160, ^bb23, ^bb42
^bb23:  // pred: ^bb22
  %161 = llvm.getelementptr %158[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %162 = llvm.load %161 : !llvm.ptr -> i64
  %163 = llvm.mlir.constant(2147483647 : i64) : i64
  %164 = llvm.icmp "ule" %162, %163 : i64
  llvm.cond_br %164, ^bb24, ^bb42
^bb24:  // pred: ^bb23
  %165 = llvm.mlir.zero : !llvm.ptr
  %166 = llvm.icmp "eq" %162, %35 : i64
  llvm.cond_br %166, ^bb25, ^bb42
^bb25:  // pred: ^bb24
  %167 = llvm.mlir.constant(0 : i64) : i64
  %168 = llvm.icmp "eq" %162, %167 : i64
  %169 = llvm.getelementptr %158[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %170 = llvm.load %169 : !llvm.ptr -> !llvm.ptr
  %171 = llvm.mlir.zero : !llvm.ptr
  %172 = llvm.icmp "ne" %170, %171 : !llvm.ptr
  %173 = llvm.or %172, %168 : i1
  llvm.cond_br %173, ^bb26, ^bb42
^bb26:  // pred: ^bb25
  %174 = llvm.mlir.constant(85 : i64) : i64
  %175 = llvm.icmp "ule" %162, %174 : i64
  llvm.cond_br %175 weights([2000, 1]), ^bb27(%5 : !llvm.ptr), ^bb64
^bb27(%176: !llvm.ptr):  // 2 preds: ^bb26, ^bb65
  %177 = llvm.getelementptr %176[%162] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  %178 = llvm.getelementptr %177[%162] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<1 x i64>
  %179 = llvm.mlir.constant(0 : i64) : i64
  llvm.store %179, %3 : i64, !llvm.ptr
  %180 = llvm.mlir.constant(0 : i64) : i64
  llvm.br ^bb28(%180 : i64)
^bb28(%181: i64):  // 2 preds: ^bb27, ^bb38
  %182 = llvm.icmp "slt" %181, %162 : i64
  llvm.cond_br %182, ^bb29, ^bb39
^bb29:  // pred: ^bb28
  %183 = llvm.getelementptr %170[%181] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<2 x i64>
  %184 = llvm.mlir.constant(0 : i64) : i64
  %185 = llvm.icmp "ne" %181, %184 : i64
  %186 = llvm.mlir.zero : !llvm.ptr
  %187 = llvm.load %3 : !llvm.ptr -> i64
  %188 = llvm.mlir.zero : !llvm.ptr
  %189 = llvm.getelementptr %49[%181] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<2 x i64>
  %190 = llvm.load %189 : !llvm.ptr -> i64
  %191 = llvm.load %183 : !llvm.ptr -> i32
  %192 = llvm.getelementptr %183[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %193 = llvm.load %192 : !llvm.ptr -> !llvm.ptr
  %194 = llvm.mlir.constant(70 : i32) : i32
  %195 = llvm.icmp "eq" %191, %194 : i32
  llvm.cond_br %195 weights([2000, 1]), ^bb30(%193 : !llvm.ptr), ^bb67
^bb30(%196: !llvm.ptr):  // 2 preds: ^bb29, ^bb67
  %197 = llvm.mlir.zero : !llvm.ptr
  %198 = llvm.icmp "ne" %196, %197 : !llvm.ptr
  llvm.cond_br %198, ^bb31, ^bb42
^bb31:  // pred: ^bb30
  %199 = llvm.getelementptr %196[40] : (!llvm.ptr) -> !llvm.ptr, i8
  %200 = llvm.load %199 : !llvm.ptr -> i64
  %201 = llvm.mlir.constant(316667938734081 : i64) : i64
  %202 = llvm.icmp "eq" %200, %201 : i64
  llvm.cond_br %202, ^bb32, ^bb42
^bb32:  // pred: ^bb31
  %203 = llvm.getelementptr %196[32] : (!llvm.ptr) -> !llvm.ptr, i8
  %204 = llvm.load %203 : !llvm.ptr -> i64
  %205 = llvm.icmp "eq" %204, %147 : i64
  llvm.cond_br %205, ^bb33, ^bb42
^bb33:  // pred: ^bb32
  %206 = llvm.getelementptr %196[48] : (!llvm.ptr) -> !llvm.ptr, i8
  %207 = llvm.load %206 : !llvm.ptr -> !llvm.ptr
  %208 = llvm.mlir.zero : !llvm.ptr
  %209 = llvm.icmp "ne" %207, %208 : !llvm.ptr
  llvm.cond_br %209, ^bb34, ^bb42
^bb34:  // pred: ^bb33
  %210 = llvm.load %207 : !llvm.ptr -> i64
  %211 = llvm.icmp "eq" %210, %190 : i64
  llvm.cond_br %211, ^bb35, ^bb42
^bb35:  // pred: ^bb34
  %212 = llvm.getelementptr %196[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %213 = llvm.load %212 : !llvm.ptr -> !llvm.ptr
  %214 = llvm.getelementptr %196[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %215 = llvm.load %214 : !llvm.ptr -> i64
  %216 = llvm.getelementptr %213[%215] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %217 = llvm.getelementptr %213[-1] : (!llvm.ptr) -> !llvm.ptr, i8
  %218 = llvm.icmp "ult" %217, %216 : !llvm.ptr
  llvm.cond_br %218 weights([2000, 1]), ^bb36, ^bb68
^bb36:  // 2 preds: ^bb35, ^bb68
  %219 = llvm.mlir.constant(0 : i64) : i64
  %220 = llvm.icmp "sge" %190, %219 : i64
  llvm.cond_br %220 weights([2000, 1]), ^bb37, ^bb69
^bb37:  // 2 preds: ^bb36, ^bb69
  %221 = llvm.getelementptr %176[%181] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  llvm.store %216, %221 : !llvm.ptr, !llvm.ptr
  %222 = llvm.getelementptr %196[56] : (!llvm.ptr) -> !llvm.ptr, i8
  %223 = llvm.load %222 : !llvm.ptr -> !llvm.ptr
  %224 = llvm.mlir.zero : !llvm.ptr
  %225 = llvm.icmp "ne" %223, %224 : !llvm.ptr
  llvm.cond_br %225 weights([2000, 1]), ^bb38(%223 : !llvm.ptr), ^bb70
^bb38(%226: !llvm.ptr):  // 2 preds: ^bb37, ^bb70
  %227 = llvm.load %226 : !llvm.ptr -> i64
  %228 = llvm.getelementptr %177[%181] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<1 x i64>
  llvm.store %190, %228 : i64, !llvm.ptr
  %229 = llvm.getelementptr %178[%181] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<1 x i64>
  llvm.store %227, %229 : i64, !llvm.ptr
  %230 = llvm.load %3 : !llvm.ptr -> i64
  %231 = llvm.select %185, %230, %204 : i1, i64
  llvm.store %231, %3 : i64, !llvm.ptr
  %232 = llvm.mlir.constant(1 : i64) : i64
  %233 = llvm.add %181, %232 : i64
  llvm.br ^bb28(%233 : i64)
^bb39:  // pred: ^bb28
  %234 = llvm.mlir.constant(true) : i1
  %235 = llvm.xor %168, %234 : i1
  %236 = llvm.mlir.zero : !llvm.ptr
  %237 = llvm.load %3 : !llvm.ptr -> i64
  %238 = llvm.mlir.zero : !llvm.ptr
  %239 = llvm.mlir.constant(0 : i64) : i64
  llvm.store %239, %arg3 : i64, !llvm.ptr
  %240 = llvm.getelementptr %arg3[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %239, %240 : i64, !llvm.ptr
  %241 = llvm.trunc %35 : i64 to i32
  llvm.call @callee(%241, %48, %49, %176) : (i32, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
  %242 = llvm.load %19 : !llvm.ptr -> !llvm.ptr
  %243 = llvm.mlir.zero : !llvm.ptr
  %244 = llvm.icmp "ne" %242, %243 : !llvm.ptr
  llvm.cond_br %244, ^bb71, ^bb40
^bb40:  // 2 preds: ^bb39, ^bb71
  %245 = llvm.load %17 : !llvm.ptr -> !llvm.ptr
  %246 = llvm.mlir.zero : !llvm.ptr
  %247 = llvm.icmp "ne" %245, %246 : !llvm.ptr
  llvm.cond_br %247, ^bb72, ^bb41
^bb41:  // 2 preds: ^bb40, ^bb72
  %248 = llvm.mlir.constant(0 : i32) : i32
  llvm.return %248 : i32
^bb42:  // 25 preds: ^bb1, ^bb3, ^bb4, ^bb5, ^bb10, ^bb11, ^bb12, ^bb13, ^bb14, ^bb22, ^bb23, ^bb24, ^bb25, ^bb30, ^bb31, ^bb32, ^bb33, ^bb34, ^bb52, ^bb58, ^bb59, ^bb60, ^bb62, ^bb68, ^bb69
  %249 = llvm.load %19 : !llvm.ptr -> !llvm.ptr
  %250 = llvm.mlir.zero : !llvm.ptr
  %251 = llvm.icmp "ne" %249, %250 : !llvm.ptr
  llvm.cond_br %251, ^bb73, ^bb43
^bb43:  // 2 preds: ^bb42, ^bb73
  %252 = llvm.load %17 : !llvm.ptr -> !llvm.ptr
  %253 = llvm.mlir.zero : !llvm.ptr
  %254 = llvm.icmp "ne" %252, %253 : !llvm.ptr
  llvm.cond_br %254, ^bb74, ^bb44
^bb44:  // 2 preds: ^bb43, ^bb74
  %255 = llvm.mlir.constant(2 : i32) : i32
  llvm.br ^bb45(%255 : i32)
^bb45(%256: i32):  // 2 preds: ^bb0, ^bb44
  %257 = llvm.mlir.addressof @__ffi_builder_table_list : !llvm.ptr
  %258 = llvm.call tail @__ffi_builder_shared_diagnose_DIGEST(%arg1, %256, %257) : (!llvm.ptr, i32, !llvm.ptr) -> i32
  llvm.return %258 : i32
^bb46(%259: i32):  // 2 preds: ^bb56, ^bb66
  %260 = llvm.load %19 : !llvm.ptr -> !llvm.ptr
  %261 = llvm.mlir.zero : !llvm.ptr
  %262 = llvm.icmp "ne" %260, %261 : !llvm.ptr
  llvm.cond_br %262, ^bb49, ^bb47
^bb47:  // 2 preds: ^bb46, ^bb49
  %263 = llvm.load %17 : !llvm.ptr -> !llvm.ptr
  %264 = llvm.mlir.zero : !llvm.ptr
  %265 = llvm.icmp "ne" %263, %264 : !llvm.ptr
  llvm.cond_br %265, ^bb50, ^bb48
^bb48:  // 2 preds: ^bb47, ^bb50
  llvm.return %259 : i32
^bb49:  // pred: ^bb46
  llvm.call @free(%260) : (!llvm.ptr) -> ()
  llvm.br ^bb47
^bb50:  // pred: ^bb47
  llvm.call @free(%263) : (!llvm.ptr) -> ()
  llvm.br ^bb48
^bb51:  // pred: ^bb2
  %266 = llvm.mlir.constant(75 : i32) : i32
  %267 = llvm.icmp "eq" %26, %266 : i32
  llvm.cond_br %267, ^bb3(%28 : !llvm.ptr), ^bb52
^bb52:  // pred: ^bb51
  %268 = llvm.mlir.constant(2176 : i64) : i64
  %269 = llvm.call preserve_mostcc @__ffi_builder_shared_moved_object_DIGEST(%268, %arg1) : (i64, !llvm.ptr) -> !llvm.ptr
  %270 = llvm.mlir.zero : !llvm.ptr
  %271 = llvm.icmp "ne" %269, %270 : !llvm.ptr
  llvm.cond_br %271, ^bb53, ^bb42
^bb53:  // pred: ^bb52
  llvm.br ^bb3(%269 : !llvm.ptr)
^bb54:  // pred: ^bb6
  %272 = llvm.mlir.constant(40 : i64) : i64
  %273 = llvm.mul %35, %272 : i64
  %274 = llvm.call @malloc(%273) : (i64) -> !llvm.ptr
  %275 = llvm.mlir.zero : !llvm.ptr
  %276 = llvm.icmp "eq" %274, %275 : !llvm.ptr
  llvm.cond_br %276, ^bb56, ^bb55
^bb55:  // pred: ^bb54
  llvm.store %274, %19 : !llvm.ptr, !llvm.ptr
  llvm.br ^bb7(%274 : !llvm.ptr)
^bb56:  // pred: ^bb54
  %277 = llvm.mlir.addressof @__ffi_builder_text_DIGEST : !llvm.ptr
  %278 = llvm.mlir.addressof @__ffi_builder_text_DIGEST : !llvm.ptr
  %279 = llvm.mlir.constant(11 : i64) : i64
  %280 = llvm.mlir.constant(34 : i64) : i64
  %281 = llvm.mlir.constant(0 : i64) : i64
  %282 = llvm.call @__ffi_builder_shared_raise_DIGEST(%277, %279, %278, %280, %277, %281) : (!llvm.ptr, i64, !llvm.ptr, i64, !llvm.ptr, i64) -> i32
  llvm.br ^bb46(%282 : i32)
^bb57:  // pred: ^bb9
  %283 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%58) : (!llvm.ptr) -> !llvm.ptr
  llvm.br ^bb10(%283 : !llvm.ptr)
^bb58:  // 2 preds: ^bb16, ^bb17
  %284 = llvm.call preserve_mostcc @__ffi_builder_shared_contiguous_DIGEST(%72) : (!llvm.ptr) -> i1
  llvm.cond_br %284, ^bb18, ^bb42
^bb59:  // pred: ^bb18
  %285 = llvm.call preserve_mostcc @__ffi_builder_shared_has_no_data_DIGEST(%72) : (!llvm.ptr) -> i1
  llvm.cond_br %285, ^bb19, ^bb42
^bb60:  // pred: ^bb19
  %286 = llvm.call preserve_mostcc @__ffi_builder_shared_numel_fits_DIGEST(%72) : (!llvm.ptr) -> i1
  llvm.cond_br %286, ^bb20, ^bb42
^bb61:  // pred: ^bb21
  %287 = llvm.mlir.constant(75 : i32) : i32
  %288 = llvm.icmp "eq" %153, %287 : i32
  llvm.cond_br %288, ^bb22(%155 : !llvm.ptr), ^bb62
^bb62:  // pred: ^bb61
  %289 = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %290 = llvm.mlir.constant(2176 : i64) : i64
  %291 = llvm.call preserve_mostcc @__ffi_builder_shared_moved_object_DIGEST(%290, %289) : (i64, !llvm.ptr) -> !llvm.ptr
  %292 = llvm.mlir.zero : !llvm.ptr
  %293 = llvm.icmp "ne" %291, %292 : !llvm.ptr
  llvm.cond_br %293, ^bb63, ^bb42
^bb63:  // pred: ^bb62
  llvm.br ^bb22(%291 : !llvm.ptr)
^bb64:  // pred: ^bb26
  %294 = llvm.mlir.constant(24 : i64) : i64
  %295 = llvm.mul %162, %294 : i64
  %296 = llvm.call @malloc(%295) : (i64) -> !llvm.ptr
  %297 = llvm.mlir.zero : !llvm.ptr
  %298 = llvm.icmp "eq" %296, %297 : !llvm.ptr
  llvm.cond_br %298, ^bb66, ^bb65
^bb65:  // pred: ^bb64
  llvm.store %296, %17 : !llvm.ptr, !llvm.ptr
  llvm.br ^bb27(%296 : !llvm.ptr)
^bb66:  // pred: ^bb64
  %299 = llvm.mlir.addressof @__ffi_builder_text_DIGEST : !llvm.ptr
  %300 = llvm.mlir.addressof @__ffi_builder_text_DIGEST : !llvm.ptr
  %301 = llvm.mlir.constant(11 : i64) : i64
  %302 = llvm.mlir.constant(34 : i64) : i64
  %303 = llvm.mlir.constant(0 : i64) : i64
  %304 = llvm.call @__ffi_builder_shared_raise_DIGEST(%299, %301, %300, %302, %299, %303) : (!llvm.ptr, i64, !llvm.ptr, i64, !llvm.ptr, i64) -> i32
  llvm.br ^bb46(%304 : i32)
^bb67:  // pred: ^bb29
  %305 = llvm.call preserve_mostcc @__ffi_builder_shared_tensor_object_DIGEST(%183) : (!llvm.ptr) -> !llvm.ptr
  llvm.br ^bb30(%305 : !llvm.ptr)
^bb68:  // pred: ^bb35
  %306 = llvm.call preserve_mostcc @__ffi_builder_shared_has_no_data_DIGEST(%196) : (!llvm.ptr) -> i1
  llvm.cond_br %306, ^bb36, ^bb42
^bb69:  // pred: ^bb36
  %307 = llvm.call preserve_mostcc @__ffi_builder_shared_numel_fits_DIGEST(%196) : (!llvm.ptr) -> i1
  llvm.cond_br %307, ^bb37, ^bb42
^bb70:  // pred: ^bb37
  %308 = llvm.call preserve_mostcc @__ffi_builder_shared_row_major_strides_DIGEST(%196, %1) : (!llvm.ptr, !llvm.ptr) -> !llvm.ptr
  llvm.br ^bb38(%308 : !llvm.ptr)
^bb71:  // pred: ^bb39
  llvm.call @free(%242) : (!llvm.ptr) -> ()
  llvm.br ^bb40
^bb72:  // pred: ^bb40
  llvm.call @free(%245) : (!llvm.ptr) -> ()
  llvm.br ^bb41
^bb73:  // pred: ^bb42
  llvm.call @free(%249) : (!llvm.ptr) -> ()
  llvm.br ^bb43
^bb74:  // pred: ^bb43
  llvm.call @free(%252) : (!llvm.ptr) -> ()
  llvm.br ^bb44
}
