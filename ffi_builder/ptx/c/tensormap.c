/* tensormap.replace: maps that a kernel makes or changes. PTX leaves the layout of a map open: ours
 * has a mark and what PTX calls the fields. */
#include "tensor.h"

#include <stdlib.h>

typedef struct Made {
  char mark[4];
  uint8_t rank, type, swizzle, interleave, fill, atomicity; /* rank: 0 is one dimension */
  uint16_t box[5];
  uint64_t address, strides[4];
  uint32_t dims[5];
  uint8_t steps[5];
} Made;
_Static_assert(sizeof(Made) <= kDigest,
               "a map has 128 bytes, with the digest of one of the host's");

static const char kHost[4] = "FAKE", kDevice[4] = "MADE";

/* PTX counts types otherwise than CUtensorMapDataType. */
static const uint8_t kTypes[] = {
    0, 1, 2, 3, 4, 5, kMapF16, kMapF32, kMapF32Ftz, kMapF64, kMapBf16, kMapTf32, kMapTf32Ftz};
static const uint8_t kTypeBits[] = {8, 16, 32, 32, 64, 64, 16, 32, 64, 16, 32, 32, 32};

/* Maps of the device that were used, so that copies which are under way can refer to them. */
struct KeptMap {
  KeptMap *next;
  char bytes[kMap];
  TensorMap map;
};

static const TensorMap *host_map(const Machine *m, const char *bytes) {
  uint64_t digest;
  memcpy(&digest, bytes + kDigest, sizeof(digest));
  return m->c.map == NULL ? NULL : m->c.map(digest);
}

static TensorMap expanded(const Made *from) {
  TensorMap to = {.address = from->address,
                  .rank = from->rank + 1u,
                  .type = kTypes[from->type],
                  .interleave = from->interleave,
                  .swizzle = from->swizzle,
                  .fill = from->fill};
  to.bits = kTypeBits[to.type];
  for (unsigned d = 0; d < kMostRank; ++d) {
    to.dims[d] = from->dims[d];
    to.box[d] = from->box[d];
    to.steps[d] = from->steps[d];
    if (d < 4)
      to.strides[d] = from->strides[d];
  }
  return to;
}

const TensorMap *map_of(Machine *m, const char *bytes) {
  if (memcmp(bytes, kHost, sizeof(kHost)) == 0)
    return host_map(m, bytes);
  if (memcmp(bytes, kDevice, sizeof(kDevice)) != 0)
    return NULL;
  for (KeptMap *kept = m->maps; kept != NULL; kept = kept->next) {
    if (memcmp(kept->bytes, bytes, kMap) == 0)
      return &kept->map;
  }
  KeptMap *kept = calloc(1, sizeof(*kept));
  if (kept == NULL)
    abort();
  Made made;
  memcpy(&made, bytes, sizeof(made));
  memcpy(kept->bytes, bytes, kMap);
  kept->map = expanded(&made);
  kept->next = m->maps;
  return &(m->maps = kept)->map;
}

void maps_end(Machine *m) {
  while (m->maps != NULL) {
    KeptMap *next = m->maps->next;
    free(m->maps);
    m->maps = next;
  }
}

/* What is to be changed: a map of zeros, of the device, or of the host. */
static Made begun(Warp *w, const Instr *i, unsigned lane, const char *bytes) {
  Made made = {.rank = 0};
  static const char kZeros[kMap];
  if (memcmp(bytes, kDevice, sizeof(kDevice)) == 0) {
    memcpy(&made, bytes, sizeof(made));
  } else if (memcmp(bytes, kHost, sizeof(kHost)) == 0) {
    const TensorMap *from = host_map(w->block->m, bytes);
    if (from == NULL || from->im2col != 0 || from->type > kMapTf32Ftz) {
      fault(w, i, lane, kWrong,
            "tensormap.replace of a map that is not of tiles, which is not executed");
    }
    made.rank = (uint8_t)(from->rank - 1);
    while (kTypes[made.type] != from->type)
      ++made.type;
    made.swizzle = (uint8_t)from->swizzle;
    made.interleave = (uint8_t)from->interleave;
    made.fill = (uint8_t)from->fill;
    made.address = from->address;
    for (unsigned d = 0; d < kMostRank; ++d) {
      made.dims[d] = (uint32_t)from->dims[d];
      made.box[d] = (uint16_t)from->box[d];
      made.steps[d] = (uint8_t)from->steps[d];
      if (d < 4)
        made.strides[d] = from->strides[d];
    }
  } else if (memcmp(bytes, kZeros, kMap) != 0) {
    fault(w, i, lane, kWrong, "tensormap.replace of bytes that are neither a tensor map nor zeros");
  }
  memcpy(made.mark, kDevice, sizeof(kDevice));
  return made;
}

/* The order of _FIELDS in forms/tensor.py. */
typedef enum Field {
  kAddress,
  kRank,
  kBox,
  kDims,
  kStrides,
  kSteps,
  kType,
  kInterleave,
  kSwizzle,
  kAtomicity,
  kFill
} Field;
static const uint64_t kMostOf[] = {
    ~0ull, kMostRank - 1, 256, UINT32_MAX, ~0ull, 8, kMapTf32Ftz, 2, 3, 0, 1};

static void replace(Made *made, Field field, unsigned at, uint64_t value) {
  switch (field) {
  case kAddress:
    made->address = value;
    break;
  case kRank:
    made->rank = (uint8_t)value;
    break;
  case kBox:
    made->box[at] = (uint16_t)value;
    break;
  case kDims:
    made->dims[at] = (uint32_t)value;
    break;
  case kStrides:
    made->strides[at] = value;
    break;
  case kSteps:
    made->steps[at] = (uint8_t)value;
    break;
  case kType:
    made->type = (uint8_t)value;
    break;
  case kInterleave:
    made->interleave = (uint8_t)value;
    break;
  case kSwizzle:
    made->swizzle = (uint8_t)value;
    break;
  case kAtomicity:
    made->atomicity = (uint8_t)value;
    break;
  case kFill:
    made->fill = (uint8_t)value;
    break;
  }
}

/* extra: the field, whether it has elements. op: address, perhaps the element, and the value. */
OP(tensormap_replace) {
  Field field = (Field)i->extra[0];
  unsigned at = i->extra[1] ? i->op[2] : 0, most = field == kStrides ? kMostRank - 1 : kMostRank;
  const uint64_t *values = ROW(i->extra[1] ? 3 : 2);
  LANES(uint64_t value = i->size == 8 ? values[l] : (uint32_t)values[l];
        if (at >= most || value > kMostOf[field]) {
          fault(w, i, l, kWrong,
                "tensormap.replace with element %u and value %llu, which is not executed", at,
                (unsigned long long)value);
        } char *bytes = memory_at(w, i, l, (Space)i->space, ADDRESS(0, l), kMap, kBoth);
        Made made = begun(w, i, l, bytes); replace(&made, field, at, value); memset(bytes, 0, kMap);
        memcpy(bytes, &made, sizeof(made));)
  w->block->m->progress = w->block->m->steps;
}

/* op: where to, from where in shared memory, and bytes, of which there are 128. */
OP(tensormap_copy) {
  if (!warp_all(w, mask))
    return;
  unsigned lane = (unsigned)__builtin_ctz(mask);
  if (i->op[4] != kMap)
    fault(w, i, lane, kWrong, "a tensor map of %u bytes", i->op[4]);
  char bytes[kMap];
  memcpy(bytes, memory_at(w, i, lane, kShared, ADDRESS(2, lane), kMap, kRead), kMap);
  memcpy(memory_at(w, i, lane, kGlobal, ADDRESS(0, lane), kMap, kWrite), bytes, kMap);
  w->block->m->progress = w->block->m->steps;
}
