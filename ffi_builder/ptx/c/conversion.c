/* cvt, and what goes with it. */
#include "engine.h"

/* From an integer type to another one: the value, cut to the type, extended to the register. */
OP(cvt_integer) {
  /* extra: bytes and sign of the source. size and sign are of the source too: the last type. */
  uint64_t *d = ROW(0);
  const uint64_t *a = ROW(1);
  unsigned from = 64 - 8u * i->size, to = 64 - 8u * i->extra[0], room = 64 - 8u * i->dsize;
  bool to_signed = i->extra[1];
  LANES(uint64_t v = a[l] << from; v = i->sign ? (uint64_t)((int64_t)v >> from) : v >> from;
        v <<= to; v = to_signed ? (uint64_t)((int64_t)v >> to) : v >> to; d[l] = v << room >> room;);
}
