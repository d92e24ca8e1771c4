/* Tensor maps: of the host, which the fake driver keeps, and of the device, which are made here. */
#ifndef TENSOR_H
#define TENSOR_H

#include "engine.h"

/* As fake_control.h has it. */
typedef struct TensorMap {
  uint64_t digest, address, dims[5], strides[4];
  uint32_t rank, type, bits, interleave, swizzle, fill;
  uint32_t box[5], steps[5];
  int32_t lower[3], upper[3];
  uint32_t im2col;
} TensorMap;

enum { kDigest = 112, kMap = 128, kMostRank = 5 };

/* CUtensorMapDataType, from the first one on that is no integer. */
enum { kMapF16 = 6, kMapF32, kMapF64, kMapBf16, kMapF32Ftz, kMapTf32, kMapTf32Ftz };

/* tensormap.c: the map that the 128 bytes at an address are, or NULL. It stays until the launch
 * ends. */
const TensorMap *map_of(Machine *m, const char *bytes);

#endif
