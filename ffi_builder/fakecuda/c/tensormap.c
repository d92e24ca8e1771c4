/* cuTensorMapEncodeTiled: the requirements of its documentation, and a map that a test can read:
 * "FAKETMAP", then as 64-bit numbers the address, the rank and the type, then the dimensions, and as
 * 32-bit numbers the box, both five of them, and swizzle, interleave, promotion and fill. */
#include <string.h>

#include "fake.h"

typedef struct Map {
  char magic[8];
  uint64_t address, rank, type, dims[5];
  uint32_t box[5], options[4];
} Map;

_Static_assert(sizeof(Map) <= sizeof(CUtensorMap) && sizeof(CUtensorMap) == 128, "128 bytes");

enum { kMostRank = 5 };

/* In bits, by CUtensorMapDataType. */
static const unsigned kBits[] = {8, 16, 32, 32, 64, 64, 16, 32, 64, 16, 32, 32, 32, 4, 4, 6};
enum { kTypes = sizeof(kBits) / sizeof(kBits[0]) };

/* Packed in memory, spread out to 16 bytes. */
static bool spread(unsigned type) {
  return type == CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B ||
         type == CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B;
}

static bool sizes_fit(unsigned type, unsigned rank, const cuuint64_t* dims,
                      const cuuint64_t* strides, unsigned alignment) {
  for (unsigned i = 0; i < rank; ++i) {
    if (dims[i] == 0 || dims[i] > (cuuint64_t)1 << 32) return false;
    if (i + 1 < rank && (strides[i] % alignment != 0 || strides[i] >= (cuuint64_t)1 << 40)) {
      return false;
    }
  }
  if (spread(type)) return dims[0] % 128 == 0;
  return type != CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B || dims[0] % 2 == 0;
}

static bool box_fits(unsigned type, unsigned rank, const cuuint32_t* box, const cuuint32_t* steps,
                     unsigned interleave, unsigned swizzle) {
  static const unsigned spans[] = {0, 32, 64, 128, 128, 128, 128};
  for (unsigned i = 0; i < rank; ++i) {
    if (box[i] == 0 || box[i] > 256) return false;
    bool ignored = i == 0 && interleave == CU_TENSOR_MAP_INTERLEAVE_NONE;
    if (!ignored && (steps[i] == 0 || steps[i] > 8)) return false;
  }
  if (spread(type)) return box[0] == 128;
  if (interleave != CU_TENSOR_MAP_INTERLEAVE_NONE) return true;
  unsigned inner = box[0] * kBits[type];
  if (inner % (16 * 8) != 0) return false;
  return swizzle == CU_TENSOR_MAP_SWIZZLE_NONE || inner <= spans[swizzle] * 8;
}

static CUresult encode(CUtensorMap* out, unsigned type, unsigned rank, uint64_t address,
                       const cuuint64_t* dims, const cuuint64_t* strides, const cuuint32_t* box,
                       const cuuint32_t* steps, const unsigned* options) {
  unsigned interleave = options[0], swizzle = options[1];
  if (out == NULL || dims == NULL || box == NULL || steps == NULL ||
      (strides == NULL && rank > 1)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if ((uintptr_t)out % 64 != 0 || type >= kTypes || rank == 0 || rank > kMostRank ||
      interleave > CU_TENSOR_MAP_INTERLEAVE_32B || swizzle > CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B ||
      options[2] > CU_TENSOR_MAP_L2_PROMOTION_L2_256B || options[3] > 1) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  bool wide = interleave == CU_TENSOR_MAP_INTERLEAVE_32B || spread(type);
  unsigned alignment = wide ? 32 : 16;
  if ((interleave != CU_TENSOR_MAP_INTERLEAVE_NONE && rank < 3) || address % alignment != 0 ||
      (interleave == CU_TENSOR_MAP_INTERLEAVE_32B && swizzle != CU_TENSOR_MAP_SWIZZLE_32B) ||
      !sizes_fit(type, rank, dims, strides, alignment) ||
      !box_fits(type, rank, box, steps, interleave, swizzle)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  Map map = {.address = address, .rank = rank, .type = type};
  memcpy(map.magic, "FAKETMAP", sizeof(map.magic));
  memcpy(map.dims, dims, rank * sizeof(*dims));
  memcpy(map.box, box, rank * sizeof(*box));
  memcpy(map.options, options, sizeof(map.options));
  memset(out, 0, sizeof(*out));
  memcpy(out, &map, sizeof(map));
  return CUDA_SUCCESS;
}

CUresult cuTensorMapEncodeTiled(CUtensorMap* out, CUtensorMapDataType type, cuuint32_t rank,
                                void* address, const cuuint64_t* dims, const cuuint64_t* strides,
                                const cuuint32_t* box, const cuuint32_t* steps,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  const unsigned options[] = {interleave, swizzle, promotion, fill};
  API(kContext,
      encode(out, type, rank, (uint64_t)(uintptr_t)address, dims, strides, box, steps, options),
      "out=%p type=%d rank=%u address=%p", (void*)out, (int)type, rank, address);
}
