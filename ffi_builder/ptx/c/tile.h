/* Factors of products that are in shared memory, as descriptors say. */
#ifndef TILE_H
#define TILE_H

#include "matrix.h"

enum { kChunk = 16 };

/* A matrix in shared memory: rows of a and columns of b are counted by mn. It consists of chunks of
 * 16 bytes, which are neighbours along k, or, of a transposed one, along mn. Eight chunks in the
 * other direction are a pattern, whose lines are as wide as the swizzle, or one chunk without it.
 */
typedef struct Tile {
  uint64_t start, leading, stride;
  unsigned width;
  bool by_mn;
} Tile;

/* width 0: what the descriptor asks for is not executed. */
static inline Tile tile_of(Warp *w, const Instr *i, uint64_t descriptor, unsigned width,
                           bool by_mn) {
  if (width == 0 || (descriptor >> 49 & 7) != 0) {
    fault(w, i, 0, kWrong, "the descriptor %#llx of a matrix, with %s, which is not executed",
          (unsigned long long)descriptor, width == 0 ? "this swizzle" : "a base offset");
  }
  return (Tile){
      .start = ((uint64_t)w->block->rank << kRankShift) + ((descriptor & 0x3fff) << 4),
      .leading = (descriptor >> 16 & 0x3fff) << 4,
      .stride = (descriptor >> 32 & 0x3fff) << 4,
      .width = width,
      .by_mn = by_mn,
  };
}

/* The address of a chunk: the one at `along` in its line, and the line `across`. */
static inline uint64_t chunk_address(const Tile *t, unsigned along, unsigned across) {
  unsigned chunks = t->width / kChunk; /* of a line */
  uint64_t address = t->start + across % 8 * t->width;
  if (!t->by_mn)
    address += across / 8 * t->stride + along * (chunks == 1 ? t->leading : kChunk);
  else if (chunks == 1)
    address += along * t->stride + across / 8 * t->leading;
  else
    address += along % chunks * kChunk + along / chunks * t->leading + across / 8 * t->stride;
  return address ^ (address >> 7 & (chunks - 1)) << 4;
}

/* Reads elements from mn on, as many as count, and all k of them; set puts each one. */
typedef void Set(void *to, unsigned mn, unsigned k, Type type, uint64_t bits);
static inline void tile_read(Warp *w, const Instr *i, const Tile *t, Type type, unsigned mn,
                             unsigned count, unsigned ks, Set *set, void *to) {
  unsigned each = kChunk * 8 / kBits[type], lines = t->by_mn ? ks : count,
           chunks = (t->by_mn ? count : ks) / each;
  if (t->by_mn && (count % each != 0 || kBits[type] > 16)) {
    fault(w, i, 0, kWrong, "a transposed matrix of %u elements of %u bits, which is not executed",
          count, kBits[type]);
  }
  for (unsigned line = 0; line < lines; ++line) {
    for (unsigned chunk = 0; chunk < chunks; ++chunk) {
      unsigned along = chunk + (t->by_mn ? mn / each : 0), across = line + (t->by_mn ? 0 : mn);
      uint32_t words[4];
      memcpy(words, memory_at(w, i, 0, kShared, chunk_address(t, along, across), kChunk, kRead),
             kChunk);
      for (unsigned at = 0; at < each; ++at) {
        unsigned per = in_register(type), number = chunk * each + at;
        uint64_t bits = nth(type, words[at / per], at % per);
        if (t->by_mn)
          set(to, number, line, type, bits);
        else
          set(to, line, number, type, bits);
      }
    }
  }
}

#endif
