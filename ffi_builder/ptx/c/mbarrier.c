/* mbarrier: a word of 64 bits in shared memory. PTX leaves open what is in it; here it is
 *     bits 0 to 19    arrivals that this phase still waits for
 *     bits 20 to 39   arrivals of a phase
 *     bits 40 to 62   bytes that this phase still waits for, with a sign
 *     bit 63          the phase. */
#include "engine.h"

typedef struct Parts {
  uint32_t waiting, expected, phase;
  int32_t bytes;
} Parts;

enum { kField = 20, kMost = (1 << kField) - 1 };

static Parts parts_of(uint64_t word) {
  return (Parts){word & kMost, word >> kField & kMost, (uint32_t)(word >> 63),
                 (int32_t)((int64_t)(word << 1) >> 41)};
}

static uint64_t word_of(const Parts *p) {
  return p->waiting | (uint64_t)p->expected << kField |
         ((uint64_t)(uint32_t)p->bytes & 0x7fffff) << 40 | (uint64_t)p->phase << 63;
}

static char *barrier_at(Warp *w, const Instr *i, unsigned lane, Space space, uint64_t address,
                        Access access) {
  if (address % 8 != 0)
    fault(w, i, lane, kMisaligned, "mbarrier at %#llx, which is not aligned to 8",
          (unsigned long long)address);
  return memory_at(w, i, lane, space, address, 8, access);
}

static Parts load(const char *at) {
  uint64_t word;
  memcpy(&word, at, sizeof(word));
  return parts_of(word);
}

/* A phase ends when nothing is missing. */
static void store(Warp *w, char *at, Parts *p) {
  if (p->waiting == 0 && p->bytes == 0) {
    p->phase ^= 1;
    p->waiting = p->expected;
  }
  uint64_t word = word_of(p);
  memcpy(at, &word, sizeof(word));
  w->block->m->progress = w->block->m->steps;
}

static uint64_t change(Warp *w, const Instr *i, unsigned lane, Space space, uint64_t address,
                       uint32_t arrivals, int64_t bytes, uint32_t dropped) {
  char *at = barrier_at(w, i, lane, space, address, kBoth);
  Parts p = load(at);
  uint64_t before = word_of(&p);
  if (p.expected == 0)
    fault(w, i, lane, kWrong, "an mbarrier that nobody initialized, at %#llx",
          (unsigned long long)address);
  if (arrivals > p.waiting) {
    fault(w, i, lane, kWrong,
          "%u arrivals at an mbarrier of %u threads, which waits for %u of them", arrivals,
          p.expected, p.waiting);
  }
  p.waiting -= arrivals;
  p.expected -= dropped < p.expected ? dropped : p.expected;
  p.bytes += (int32_t)bytes;
  if (p.bytes > kMost || p.bytes < -kMost)
    fault(w, i, lane, kWrong, "an mbarrier that waits for %d bytes", p.bytes);
  store(w, at, &p);
  return before;
}

void mbarrier_complete(Warp *w, const Instr *i, unsigned lane, uint64_t address, uint32_t bytes) {
  change(w, i, lane, kCluster, address, 0, -(int64_t)bytes, 0);
}

void mbarrier_arrive(Warp *w, const Instr *i, unsigned lane, uint64_t address, uint32_t count,
                     bool more) {
  (void)more;
  change(w, i, lane, (Space)i->space, address, count, 0, 0);
}

/* op: address, count. */
OP(mbarrier_init) {
  LANES(uint32_t count = (uint32_t)ROW(2)[l];
        if (count == 0 || count > kMost) fault(w, i, l, kWrong, "an mbarrier of %u threads", count);
        Parts p = {count, count, 0, 0}; uint64_t word = word_of(&p);
        memcpy(barrier_at(w, i, l, (Space)i->space, ADDRESS(0, l), kWrite), &word, sizeof(word));)
}

OP(mbarrier_inval) {
  LANES(memset(barrier_at(w, i, l, (Space)i->space, ADDRESS(0, l), kBoth), 0, 8);)
}

OP(mbarrier_expect_tx) {
  LANES(change(w, i, l, (Space)i->space, ADDRESS(0, l), 0, (uint32_t)ROW(2)[l], 0);)
}

OP(mbarrier_complete_tx) {
  LANES(change(w, i, l, (Space)i->space, ADDRESS(0, l), 0, -(int64_t)(uint32_t)ROW(2)[l], 0);)
}

/* op: state, address, and perhaps a count. extra[0]: it is of bytes; extra[1]: dropped. */
OP(mbarrier_arrive) {
  uint64_t *d = ROW(0);
  LANES(uint32_t given = i->op[3] != 0 ? (uint32_t)ROW(3)[l] : 1;
        uint32_t count = i->extra[0] ? 1 : given;
        if (count == 0) fault(w, i, l, kWrong, "no arrival at an mbarrier");
        d[l] = change(w, i, l, (Space)i->space, ADDRESS(1, l), count, i->extra[0] ? given : 0,
                      i->extra[1] ? count : 0);)
}

/* op: whether the phase is over, address, state or parity. extra[0]: parity. */
OP(mbarrier_wait) {
  uint32_t found = 0;
  for (uint32_t m = mask; m != 0; m &= m - 1) {
    unsigned l = (unsigned)__builtin_ctz(m);
    uint64_t address = ADDRESS(1, l), state = ROW(3)[l];
    pending_finish_barrier(w, address);
    Parts p = load(barrier_at(w, i, l, (Space)i->space, address, kRead));
    if (p.expected == 0)
      fault(w, i, l, kWrong, "a wait for an mbarrier that nobody initialized");
    uint32_t phase = i->extra[0] ? (uint32_t)state & 1 : (uint32_t)(state >> 63);
    if (p.phase != phase)
      found |= 1u << l;
  }
  if (found != mask)
    w->yield = true;
  SET_PRED(0, found);
}

OP(mbarrier_pending_count) { UNARY(uint64_t, a &kMost) }
