/* Warp-wide instructions: shfl, vote, match, redux, elect. */
#include "engine.h"

enum { kIdx, kUp, kDown, kBfly };

/* op: result, predicate, a, b, c, members. */
OP(shfl) {
  uint32_t go = warp_arrive(w, i, mask, ROW(5));
  if (go == 0) return;
  uint64_t from[kLanes], *d = ROW(0);
  const uint64_t *a = ROW(2), *b = ROW(3), *c = ROW(4), *members = ROW(5);
  memcpy(from, a, sizeof(from));
  uint32_t valid = 0;
  mask = go;
  LANES(int lane = (int)l; int by = (int)(b[l] & 31); int clamp = (int)(c[l] & 31); int segment = (int)(c[l] >> 8 & 31);
        int most = (lane & segment) | (clamp & ~segment); int least = lane & segment;
        int j = i->extra[0] == kIdx    ? least | (by & ~segment)
                : i->extra[0] == kUp   ? lane - by
                : i->extra[0] == kDown ? lane + by
                                       : lane ^ by;
        bool in = i->extra[0] == kUp ? j >= most : j <= most;
        if (!in) j = lane;
        if (in) valid |= 1u << l;
        if ((members[l] >> j & 1) == 0 || (w->live >> j & 1) == 0) {
          fault(w, i, l, kWrong, "shfl reads lane %d, which %s", j, (w->live >> j & 1) == 0 ? "has exited" : "is not in the mask");
        }
        d[l] = from[j];);
  SET_PRED(1, valid);
}
