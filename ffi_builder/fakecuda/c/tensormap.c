/* cuTensorMapEncodeTiled, …Im2col and …Im2colWide: the requirements of their documentation, and a map
 * that a test can read: "FAKETMAP", "FAKEIMAP" or "FAKEWMAP", then as 64-bit numbers the address, the
 * rank and the type, then the dimensions, and as 32-bit numbers the box (for im2col channels and
 * pixels), both five of them, then swizzle, interleave, promotion and fill, and at 112 a digest of
 * all arguments. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"

typedef struct Map {
  char magic[8];
  uint64_t address, rank, type, dims[5];
  uint32_t box[5], options[4], padding;
  uint64_t digest;
} Map;

_Static_assert(sizeof(Map) <= sizeof(CUtensorMap) && sizeof(CUtensorMap) == 128, "128 bytes");
_Static_assert(offsetof(Map, digest) == 112, "as the comment says");

enum { kMostRank = 5, kListed = 128, kMostCorner = 1 << 15 };

/* In bits, by CUtensorMapDataType. */
static const unsigned kBits[] = {8, 16, 32, 32, 64, 64, 16, 32, 64, 16, 32, 32, 32, 4, 4, 6};
enum { kTypes = sizeof(kBits) / sizeof(kBits[0]) };

/* What all three functions are asked for. */
typedef struct Asked {
  unsigned type, rank, interleave, swizzle, promotion, fill;
  uint64_t address;
  const cuuint64_t *dims, *strides;
  const cuuint32_t* steps;
} Asked;

/* Packed in memory, spread out to 16 bytes. */
static bool spread(unsigned type) {
  return type == CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B ||
         type == CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B;
}

static bool is_float(unsigned type) {
  return type >= CU_TENSOR_MAP_DATA_TYPE_FLOAT16 && type <= CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ;
}

static bool sizes_fit(const Asked* asked, unsigned alignment) {
  for (unsigned i = 0; i < asked->rank; ++i) {
    if (asked->dims[i] == 0 || asked->dims[i] > (cuuint64_t)1 << 31) return false;
    if (i + 1 == asked->rank) break;
    cuuint64_t stride = asked->strides[i];
    if (stride % alignment != 0 || stride >= (cuuint64_t)1 << 40) return false;
  }
  if (spread(asked->type)) return asked->dims[0] % 128 == 0;
  return asked->type != CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B || asked->dims[0] % 2 == 0;
}

static bool steps_fit(const Asked* asked) {
  for (unsigned i = 0; i < asked->rank; ++i) {
    bool ignored = i == 0 && asked->interleave == CU_TENSOR_MAP_INTERLEAVE_NONE;
    if (!ignored && (asked->steps[i] == 0 || asked->steps[i] > 8)) return false;
  }
  return true;
}

/* The inner dimension of the box, in elements: without interleave it fits the swizzle. */
static bool swizzle_fits(const Asked* asked, unsigned inner) {
  static const unsigned spans[] = {0, 32, 64, 128, 128, 128, 128};
  unsigned swizzle = asked->swizzle;
  if (asked->interleave == CU_TENSOR_MAP_INTERLEAVE_32B) {
    return swizzle == CU_TENSOR_MAP_SWIZZLE_32B;
  }
  if (asked->interleave != CU_TENSOR_MAP_INTERLEAVE_NONE) return true;
  return swizzle == CU_TENSOR_MAP_SWIZZLE_NONE || inner * kBits[asked->type] <= spans[swizzle] * 8;
}

static bool packed_fits(const Asked* asked, bool wide) {
  unsigned swizzle = asked->swizzle;
  bool usual = swizzle == CU_TENSOR_MAP_SWIZZLE_128B || swizzle == CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B;
  bool none = swizzle == CU_TENSOR_MAP_SWIZZLE_NONE && !wide;
  if (asked->type == CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B) return usual || none;
  if (asked->type != CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B) return true;
  unsigned also = wide ? CU_TENSOR_MAP_SWIZZLE_64B : CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B;
  return asked->interleave == CU_TENSOR_MAP_INTERLEAVE_NONE && (usual || none || swizzle == also);
}

static bool fits(const CUtensorMap* out, const Asked* asked, unsigned least_rank, bool wide) {
  if (out == NULL || asked->dims == NULL || asked->steps == NULL ||
      (asked->strides == NULL && asked->rank > 1)) {
    return false;
  }
  bool interleaved = asked->interleave != CU_TENSOR_MAP_INTERLEAVE_NONE;
  if ((uintptr_t)out % 64 != 0 || asked->type >= kTypes || asked->rank < least_rank ||
      asked->rank > kMostRank || asked->interleave > CU_TENSOR_MAP_INTERLEAVE_32B ||
      asked->swizzle > CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B ||
      asked->promotion > CU_TENSOR_MAP_L2_PROMOTION_L2_256B || asked->fill > 1 ||
      (interleaved && asked->rank < 3) || (asked->fill != 0 && !is_float(asked->type))) {
    return false;
  }
  bool by_32 = asked->interleave == CU_TENSOR_MAP_INTERLEAVE_32B || spread(asked->type);
  unsigned alignment = by_32 ? 32 : 16;
  return asked->address % alignment == 0 && sizes_fit(asked, alignment) && steps_fit(asked) &&
         packed_fits(asked, wide);
}

static uint64_t digest(const char* text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (; *text != '\0'; ++text) hash = (hash ^ (unsigned char)*text) * 0x100000001b3;
  return hash;
}

typedef struct Kept {
  FakeTensorMap map;
  struct Kept* next;
} Kept;

static Kept* kept; /* for ever: a map is copied as bytes, and graphs hold such copies */

const FakeTensorMap* fake_tensor_map(uint64_t digest) {
  for (const Kept* each = kept; each != NULL; each = each->next) {
    if (each->map.digest == digest) return &each->map;
  }
  return NULL;
}

static FakeTensorMap* keep(const Asked* asked, uint64_t of) {
  Kept* made = must(calloc(1, sizeof(*made)));
  FakeTensorMap* map = &made->map;
  *map = (FakeTensorMap){.digest = of, .address = asked->address, .rank = asked->rank,
                         .type = asked->type, .bits = kBits[asked->type],
                         .interleave = asked->interleave, .swizzle = asked->swizzle,
                         .fill = asked->fill};
  for (unsigned i = 0; i < asked->rank; ++i) {
    map->dims[i] = asked->dims[i];
    map->steps[i] = asked->steps[i];
    if (i + 1 < asked->rank) map->strides[i] = asked->strides[i];
  }
  made->next = kept;
  kept = made;
  return map;
}

static CUresult write_map(CUtensorMap* out, const char* magic, const Asked* asked,
                          const cuuint32_t* box, unsigned boxes, const int* lower,
                          const int* upper, unsigned corners, const char* text) {
  Map map = {.address = asked->address, .rank = asked->rank, .type = asked->type};
  memcpy(map.magic, magic, sizeof(map.magic));
  memcpy(map.dims, asked->dims, asked->rank * sizeof(*asked->dims));
  memcpy(map.box, box, boxes * sizeof(*box));
  const uint32_t options[] = {asked->swizzle, asked->interleave, asked->promotion, asked->fill};
  memcpy(map.options, options, sizeof(map.options));
  map.digest = digest(text);
  if (fake_tensor_map(map.digest) == NULL) {
    FakeTensorMap* all = keep(asked, map.digest);
    memcpy(all->box, box, boxes * sizeof(*box));
    all->im2col = magic[4] == 'T' ? 0 : magic[4] == 'I' ? 1 : 2;
    for (unsigned i = 0; i < corners; ++i) {
      all->lower[i] = lower[i];
      all->upper[i] = upper[i];
    }
  }
  memset(out, 0, sizeof(*out));
  memcpy(out, &map, sizeof(map));
  return CUDA_SUCCESS;
}

static CUresult tiled(CUtensorMap* out, const Asked* asked, const cuuint32_t* box,
                      const char* text) {
  if (box == NULL || !fits(out, asked, 1, false)) return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < asked->rank; ++i) {
    if (box[i] == 0 || box[i] > 256) return CUDA_ERROR_INVALID_VALUE;
  }
  bool whole = asked->interleave != CU_TENSOR_MAP_INTERLEAVE_NONE ||
               box[0] * kBits[asked->type] % (16 * 8) == 0;
  if (!whole || (spread(asked->type) && box[0] != 128) || !swizzle_fits(asked, box[0])) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return write_map(out, "FAKETMAP", asked, box, asked->rank, NULL, NULL, 0, text);
}

/* The corners of each spatial dimension, the width first, fit their bits and leave something. */
static bool corners_fit(const Asked* asked, const int* lower, const int* upper, unsigned count,
                        int most) {
  for (unsigned i = 0; i < count; ++i) {
    if (lower[i] < -most || lower[i] >= most || upper[i] < -most || upper[i] >= most) return false;
    if ((int64_t)asked->dims[i + 1] + upper[i] - lower[i] <= 0) return false;
  }
  return true;
}

static CUresult im2col(CUtensorMap* out, const Asked* asked, const int* lower, const int* upper,
                       cuuint32_t channels, cuuint32_t pixels, bool wide, const char* text) {
  static const int most[] = {kMostCorner, 1 << 7, 1 << 4};
  if (lower == NULL || upper == NULL || !fits(out, asked, 3, wide) || channels == 0 ||
      channels > 256 || pixels == 0 || pixels > 1024 || !swizzle_fits(asked, channels) ||
      (spread(asked->type) && channels != 128)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  unsigned count = wide ? 1 : asked->rank - 2;
  if (!corners_fit(asked, lower, upper, count, wide ? kMostCorner : most[count - 1])) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const cuuint32_t box[] = {channels, pixels};
  return write_map(out, wide ? "FAKEWMAP" : "FAKEIMAP", asked, box, 2, lower, upper, count, text);
}

static CUresult im2col_wide(CUtensorMap* out, const Asked* asked, int lower, int upper,
                            cuuint32_t channels, cuuint32_t pixels, unsigned mode,
                            const char* text) {
  bool swizzled = asked->swizzle == CU_TENSOR_MAP_SWIZZLE_64B ||
                  asked->swizzle == CU_TENSOR_MAP_SWIZZLE_128B ||
                  asked->swizzle == CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B;
  if (!swizzled || mode > CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128) return CUDA_ERROR_INVALID_VALUE;
  return im2col(out, asked, &lower, &upper, channels, pixels, true, text);
}

/* The arguments as text, for the log and the digest. */
typedef struct Text {
  char all[1024];
  size_t length;
} Text;

static void say(Text* text, const char* format, ...) PRINTF(2);
static void say(Text* text, const char* format, ...) {
  va_list list;
  va_start(list, format);
  size_t room = sizeof(text->all) - text->length;
  int length = vsnprintf(text->all + text->length, room, format, list);
  va_end(list);
  if (length > 0) text->length += (size_t)length < room ? (size_t)length : room - 1;
}

#define SAY_LIST(text, name, values, count)                                                     \
  do {                                                                                          \
    say(text, " " name "='");                                                                   \
    for (unsigned i = 0; (values) != NULL && i < (count) && i < kMostRank; ++i) {               \
      say(text, "%s%lld", i == 0 ? "" : ",", (long long)(values)[i]);                           \
    }                                                                                           \
    say(text, "'");                                                                             \
  } while (0)

static void say_asked(Text* text, const Asked* asked) {
  say(text, "type=%u rank=%u address=%#llx", asked->type, asked->rank,
      (unsigned long long)asked->address);
  SAY_LIST(text, "dims", asked->dims, asked->rank);
  SAY_LIST(text, "strides", asked->strides, asked->rank == 0 ? 0 : asked->rank - 1);
  SAY_LIST(text, "steps", asked->steps, asked->rank);
  say(text, " interleave=%u swizzle=%u promotion=%u fill=%u", asked->interleave, asked->swizzle,
      asked->promotion, asked->fill);
}

#define ASKED                                                                                \
  {(unsigned)type, rank, (unsigned)interleave, (unsigned)swizzle, (unsigned)promotion,        \
   (unsigned)fill, (uint64_t)(uintptr_t)address, dims, strides, steps}

CUresult cuTensorMapEncodeTiled(CUtensorMap* out, CUtensorMapDataType type, cuuint32_t rank,
                                void* address, const cuuint64_t* dims, const cuuint64_t* strides,
                                const cuuint32_t* box, const cuuint32_t* steps,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  const Asked asked = ASKED;
  Text text = {.length = 0};
  say_asked(&text, &asked);
  SAY_LIST(&text, "box", box, rank);
  API(kContext, tiled(out, &asked, box, text.all), "out=%p %s", (void*)out, text.all);
}

CUresult cuTensorMapEncodeIm2col(CUtensorMap* out, CUtensorMapDataType type, cuuint32_t rank,
                                 void* address, const cuuint64_t* dims, const cuuint64_t* strides,
                                 const int* lower, const int* upper, cuuint32_t channels,
                                 cuuint32_t pixels, const cuuint32_t* steps,
                                 CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                 CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  const Asked asked = ASKED;
  Text text = {.length = 0};
  unsigned corners = rank < 2 ? 0 : rank - 2;
  say_asked(&text, &asked);
  SAY_LIST(&text, "lower", lower, corners);
  SAY_LIST(&text, "upper", upper, corners);
  say(&text, " channels=%u pixels=%u", channels, pixels);
  API(kContext, im2col(out, &asked, lower, upper, channels, pixels, false, text.all), "out=%p %s",
      (void*)out, text.all);
}

CUresult cuTensorMapEncodeIm2colWide(CUtensorMap* out, CUtensorMapDataType type, cuuint32_t rank,
                                     void* address, const cuuint64_t* dims,
                                     const cuuint64_t* strides, int lower, int upper,
                                     cuuint32_t channels, cuuint32_t pixels,
                                     const cuuint32_t* steps, CUtensorMapInterleave interleave,
                                     CUtensorMapIm2ColWideMode mode, CUtensorMapSwizzle swizzle,
                                     CUtensorMapL2promotion promotion,
                                     CUtensorMapFloatOOBfill fill) {
  const Asked asked = ASKED;
  Text text = {.length = 0};
  say_asked(&text, &asked);
  say(&text, " lower='%d' upper='%d' channels=%u pixels=%u mode=%u", lower, upper, channels, pixels,
      (unsigned)mode);
  API(kContext, im2col_wide(out, &asked, lower, upper, channels, pixels, (unsigned)mode, text.all),
      "out=%p %s", (void*)out, text.all);
}
