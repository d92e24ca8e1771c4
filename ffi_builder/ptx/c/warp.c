/* Warp-wide instructions: shfl, vote, match, redux, elect. */
#include "engine.h"

enum { kIdx, kUp, kDown, kBfly };

/* op: result, predicate, a, b, c, members. */
OP(shfl) {
  uint32_t go = warp_arrive(w, i, mask, ROW(5));
  if (go == 0)
    return;
  uint64_t from[kLanes], *d = ROW(0);
  const uint64_t *a = ROW(2), *b = ROW(3), *c = ROW(4), *members = ROW(5);
  memcpy(from, a, sizeof(from));
  uint32_t valid = 0;
  mask = go;
  LANES(int lane = (int)l; int by = (int)(b[l] & 31); int clamp = (int)(c[l] & 31);
        int segment = (int)(c[l] >> 8 & 31); int most = (lane & segment) | (clamp & ~segment);
        int least = lane & segment; int j = i->extra[0] == kIdx    ? least | (by & ~segment)
                                            : i->extra[0] == kUp   ? lane - by
                                            : i->extra[0] == kDown ? lane + by
                                                                   : lane ^ by;
        bool in = i->extra[0] == kUp ? j >= most : j <= most; if (!in) j = lane;
        if (in) valid |= 1u << l; if ((members[l] >> j & 1) == 0 || (w->live >> j & 1) == 0) {
          fault(w, i, l, kWrong, "shfl reads lane %d, which %s", j,
                (w->live >> j & 1) == 0 ? "has exited" : "is not in the mask");
        } d[l] = from[j];);
  SET_PRED(1, valid);
}

/* op: result, predicate, members. */
OP(vote_any) {
  uint32_t go = warp_arrive(w, i, mask, ROW(2));
  mask = go;
  uint32_t votes = PRED(1) & go, found = 0;
  const uint64_t *members = ROW(2);
  LANES(if ((votes & (uint32_t)members[l]) != 0) found |= 1u << l;)
  SET_PRED(0, found);
}

OP(vote_all) {
  uint32_t go = warp_arrive(w, i, mask, ROW(2));
  mask = go;
  uint32_t against = ~PRED(1) & go, found = 0;
  const uint64_t *members = ROW(2);
  LANES(if ((against & (uint32_t)members[l]) == 0) found |= 1u << l;)
  SET_PRED(0, found);
}

OP(vote_uni) {
  uint32_t go = warp_arrive(w, i, mask, ROW(2));
  mask = go;
  uint32_t votes = PRED(1) & go, found = 0;
  const uint64_t *members = ROW(2);
  LANES(uint32_t of = (uint32_t)members[l] & go;
        if ((votes & of) == 0 || (votes & of) == of) found |= 1u << l;)
  SET_PRED(0, found);
}

OP(vote_ballot) {
  uint32_t go = warp_arrive(w, i, mask, ROW(2));
  mask = go;
  uint32_t votes = PRED(1) & go;
  uint64_t *d = ROW(0);
  const uint64_t *members = ROW(2);
  LANES(d[l] = votes & (uint32_t)members[l];)
}

/* op: result, predicate of match.all, a, members. */
OP(match_any) {
  uint32_t go = warp_arrive(w, i, mask, ROW(3));
  mask = go;
  uint64_t *d = ROW(0), made[kLanes] = {0};
  const uint64_t *a = ROW(2), *members = ROW(3);
  LANES(for (unsigned k = 0; k < kLanes; ++k) {
    if ((members[l] & go) >> k & 1 && a[k] == a[l])
      made[l] |= 1u << k;
  })
  LANES(d[l] = made[l];)
}

OP(match_all) {
  uint32_t go = warp_arrive(w, i, mask, ROW(3));
  mask = go;
  uint64_t *d = ROW(0), made[kLanes] = {0};
  const uint64_t *a = ROW(2), *members = ROW(3);
  uint32_t found = 0;
  LANES(uint32_t of = (uint32_t)members[l] & go; uint32_t same = 0;
        for (unsigned k = 0; k < kLanes; ++k) if (of >> k & 1 && a[k] == a[l]) same |= 1u << k;
        if (same == of) {
          made[l] = of;
          found |= 1u << l;
        })
  LANES(d[l] = made[l];)
  SET_PRED(1, found);
}

/* op: result, a, members. */
#define REDUX(name, T, expression)                                                                 \
  OP(redux_##name) {                                                                               \
    mask = warp_arrive(w, i, mask, ROW(2));                                                        \
    uint64_t *d = ROW(0), made[kLanes];                                                            \
    const uint64_t *from = ROW(1), *members = ROW(2);                                              \
    uint32_t go = mask;                                                                            \
    LANES(uint32_t of = (uint32_t)members[l] & go; T a = (T)from[__builtin_ctz(of)];               \
          for (of &= of - 1; of != 0; of &= of - 1) {                                              \
            T b = (T)from[__builtin_ctz(of)];                                                      \
            a = (T)(expression);                                                                   \
          } made[l] = BITS(T, a);)                                                                 \
    LANES(d[l] = made[l];)                                                                         \
  }
REDUX(add_u32, uint32_t, a + b)
REDUX(min_u32, uint32_t, a < b ? a : b)
REDUX(max_u32, uint32_t, a > b ? a : b)
REDUX(min_s32, int32_t, a < b ? a : b)
REDUX(max_s32, int32_t, a > b ? a : b)
REDUX(and_b32, uint32_t, a &b)
REDUX(or_b32, uint32_t, a | b)
REDUX(xor_b32, uint32_t, a ^ b)

/* extra: whether the largest is looked for, and by magnitude. */
static uint32_t further(const Instr *i, uint32_t first, uint32_t second) {
  bool largest = i->extra[0], magnitude = i->extra[1], wins = (i->flags & kNanWins) != 0;
  if (magnitude)
    first &= 0x7fffffff, second &= 0x7fffffff;
  float a = f32_of(first), b = f32_of(second);
  if (isnan(a) || isnan(b)) {
    if (wins || (isnan(a) && isnan(b)))
      return 0x7fffffff;
    return isnan(a) ? second : first;
  }
  if (a == b)
    return (signbit(a) != 0) == largest ? second : first; /* -0 is less than 0 */
  return (a > b) == largest ? first : second;
}
REDUX(f32, uint32_t, further(i, a, b))

OP(activemask) {
  uint64_t *d = ROW(0);
  uint32_t now = mask;
  LANES(d[l] = now;)
}

/* op: the leader, whether it is this lane, members. */
OP(elect) {
  mask = warp_arrive(w, i, mask, ROW(2));
  uint64_t *d = ROW(0);
  const uint64_t *members = ROW(2);
  uint32_t found = 0, go = mask;
  LANES(unsigned leader = (unsigned)__builtin_ctz((uint32_t)members[l] & go); d[l] = leader;
        if (leader == l) found |= 1u << l;)
  SET_PRED(1, found);
}
