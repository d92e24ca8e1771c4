/* Branches, exits, calls, and barriers of a block and of a cluster. */
#include "engine.h"

static void jump(Warp *w, uint32_t lanes, uint32_t target) {
  if (lanes == w->active) {
    w->pc = target;
    if (lanes != (w->live & ~w->parked))
      warp_pick(w);
    return;
  }
  uint32_t rest = w->active & ~lanes;
  for (uint32_t m = lanes; m != 0; m &= m - 1)
    w->lane_pc[__builtin_ctz(m)] = target;
  w->active = rest;
  warp_pick(w);
}

OP(bra) { jump(w, mask, i->op[0]); }

OP(nothing) {
  (void)w;
  (void)i;
  (void)mask;
}

OP(exit) {
  (void)i;
  warp_exit(w, mask);
}

OP(trap) { fault(w, i, (unsigned)__builtin_ctz(mask), kTrap, "trap"); }

OP(nanosleep) {
  (void)i;
  (void)mask;
  w->yield = true;
}

/* op: where to, the row that keeps where to return, and for each parameter the local offsets from
 * and to, and the size. */
OP(call) {
  uint64_t *back = ROW(1);
  uint32_t size = w->block->m->c.local_size;
  LANES(char *local = w->local + (size_t)l * size; back[l] = w->pc;
        for (unsigned k = 0; k < i->count; ++k) {
          const uint32_t *p = &i->op[2 + 3 * k];
          memcpy(local + p[1], local + p[0], p[2]);
        });
  jump(w, mask, i->op[0]);
}

/* op: the row that the call has written. */
OP(ret) {
  const uint64_t *back = ROW(0);
  uint32_t first = (uint32_t)back[__builtin_ctz(mask)], same = 0;
  LANES(if ((uint32_t)back[l] == first) same |= 1u << l;);
  if (same == mask) {
    jump(w, mask, first);
    return;
  }
  uint32_t rest = w->active & ~mask;
  LANES(w->lane_pc[l] = (uint32_t)back[l];);
  w->active = rest;
  warp_pick(w);
}

/* op: the index, how many labels there are, and where they are. */
OP(brx) {
  const uint64_t *index = ROW(0);
  uint32_t rest = w->active & ~mask;
  LANES(if (index[l] >= i->op[1])
            fault(w, i, l, kWrong, "branch %u of %u", (uint32_t)index[l], i->op[1]);
        w->lane_pc[l] = i->op[2 + index[l]];);
  w->active = rest;
  warp_pick(w);
}

/* extra: the low half, the high half, or both. */
OP(clock) {
  uint64_t *d = ROW(0), now = ++w->block->m->ticks;
  LANES(d[l] = i->extra[0] == 0 ? (uint32_t)now : i->extra[0] == 1 ? now >> 32 : now;);
}

/* Copies what a call returned: local offsets from and to, and the size. */
OP(returned) {
  uint32_t size = w->block->m->c.local_size;
  LANES(char *local = w->local + (size_t)l * size;
        memcpy(local + i->op[1], local + i->op[0], i->op[2]););
}

/* Barriers of the block. */
enum { kPlain, kPopc, kAll, kAny };

static void vote(Warp *w, const Instr *i, unsigned lane, const Barrier *bar, uint32_t threads) {
  if (i->extra[0] == kPopc)
    ROW(0)[lane] = bar->votes;
  if (i->extra[0] <= kPopc)
    return;
  bool found = i->extra[0] == kAll ? bar->votes == threads : bar->votes != 0;
  uint64_t *to = ROW(0);
  *to = ((uint32_t)*to & ~(1u << lane)) | (uint32_t)found << lane;
}

static void release(Block *b, unsigned id) {
  Barrier *bar = &b->bars[id];
  Barrier before = *bar;
  memset(bar, 0, sizeof(*bar));
  b->m->progress = b->m->steps;
  for (uint32_t n = 0; n < b->warp_count; ++n) {
    Warp *w = &b->warps[n];
    uint32_t leaving = 0;
    for (uint32_t m = w->parked; m != 0; m &= m - 1) {
      unsigned l = (unsigned)__builtin_ctz(m);
      if (w->bar[l] != id)
        continue;
      leaving |= 1u << l;
      vote(w, &b->m->c.code[w->lane_pc[l] - 1], l, &before, before.waiting);
    }
    w->parked &= ~leaving;
    if (leaving != 0 && w->active != 0)
      warp_pick(w);
  }
}

/* Threads that have exited count as waiting where others of their warp wait. */
static uint32_t exited_with(const Block *b, unsigned id) {
  uint32_t count = 0;
  for (uint32_t n = 0; n < b->warp_count; ++n) {
    const Warp *w = &b->warps[n];
    bool waits = false;
    for (uint32_t m = w->parked; m != 0 && !waits; m &= m - 1)
      waits = w->bar[__builtin_ctz(m)] == id;
    if (waits)
      count += kLanes - (uint32_t)__builtin_popcount(w->live);
  }
  return count;
}

void barrier_check(Block *b, unsigned id) {
  const Barrier *bar = &b->bars[id];
  bool all = bar->expected == 0 ? bar->waiting == b->live
                                : bar->waiting + bar->arrived + exited_with(b, id) >= bar->expected;
  if (all)
    release(b, id);
}

/* extra: the kind, and which operands are the barrier, the threads and the predicate; 255: none. */
static void meet(Warp *w, const Instr *i, uint32_t mask, bool waits) {
  enum { kAbsent = 255 };
  Block *b = w->block;
  const uint64_t *ids = ROW(i->extra[1]),
                 *counts = i->extra[2] == kAbsent ? NULL : ROW(i->extra[2]);
  uint32_t votes = i->extra[0] == kPlain ? 0 : PRED(i->extra[3]);
  uint32_t touched = 0;
  for (uint32_t m = mask; m != 0; m &= m - 1) {
    unsigned l = (unsigned)__builtin_ctz(m);
    uint64_t id = ids[l];
    uint32_t threads = counts == NULL ? 0 : (uint32_t)counts[l];
    if (id >= kBarriers)
      fault(w, i, l, kWrong, "barrier %llu, and there are %d", (unsigned long long)id, kBarriers);
    Barrier *bar = &b->bars[id];
    if (bar->waiting + bar->arrived != 0 && bar->expected != threads) {
      fault(w, i, l, kWrong, "barrier %llu is of %u threads here and of %u elsewhere",
            (unsigned long long)id, threads, bar->expected);
    }
    if (counts != NULL && (threads == 0 || threads % kLanes != 0)) {
      fault(w, i, l, kWrong, "a barrier of %u threads, which is no multiple of %d", threads,
            kLanes);
    }
    bar->expected = threads;
    if (waits)
      ++bar->waiting;
    else
      ++bar->arrived;
    bar->votes += votes >> l & 1;
    w->bar[l] = (uint8_t)id;
    if (waits)
      w->lane_pc[l] = w->pc;
    touched |= 1u << id;
  }
  if (waits) {
    w->parked |= mask;
    w->active &= ~mask;
  }
  for (uint32_t m = touched; m != 0; m &= m - 1)
    barrier_check(b, (unsigned)__builtin_ctz(m));
}

OP(bar_sync) { meet(w, i, mask, true); }
OP(bar_arrive) { meet(w, i, mask, false); }

OP(bar_warp_sync) { warp_arrive(w, i, mask, ROW(0)); }

/* The barrier of a cluster: arrived threads go on, and wait for the others later. */
static uint32_t blocks_of(const Block *b) {
  const uint32_t *n = b->m->c.cluster;
  return n[0] * n[1] * n[2];
}

void cluster_check(Block *b) {
  uint32_t blocks = blocks_of(b), count = 0;
  for (uint32_t k = 0; k < blocks; ++k) {
    for (uint32_t n = 0; n < b->cluster[k].warp_count; ++n) {
      const Warp *w = &b->cluster[k].warps[n];
      if ((w->live & ~w->arrived) != 0)
        return;
      count += (uint32_t)__builtin_popcount(w->live & w->arrived);
    }
  }
  if (count == 0)
    return;
  b->m->progress = b->m->steps;
  for (uint32_t k = 0; k < blocks; ++k) {
    for (uint32_t n = 0; n < b->cluster[k].warp_count; ++n) {
      Warp *w = &b->cluster[k].warps[n];
      uint32_t leaving = 0;
      for (uint32_t m = w->parked; m != 0; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        if (w->bar[l] == kClusterBarrier)
          leaving |= 1u << l;
      }
      w->met = w->arrived & ~leaving;
      w->arrived = 0;
      w->parked &= ~leaving;
      if (leaving != 0 && w->active != 0)
        warp_pick(w);
    }
  }
}

OP(cluster_arrive) {
  uint32_t again = mask & (w->arrived | w->met);
  if (again != 0) {
    fault(w, i, (unsigned)__builtin_ctz(again), kWrong,
          "barrier.cluster.arrive twice, with no wait between");
  }
  w->arrived |= mask;
  cluster_check(w->block);
}

OP(cluster_wait) {
  uint32_t without = mask & ~(w->arrived | w->met), waiting = mask & w->arrived;
  if (without != 0) {
    fault(w, i, (unsigned)__builtin_ctz(without), kWrong,
          "barrier.cluster.wait without barrier.cluster.arrive");
  }
  w->met &= ~mask;
  for (uint32_t m = waiting; m != 0; m &= m - 1) {
    unsigned l = (unsigned)__builtin_ctz(m);
    w->bar[l] = kClusterBarrier;
    w->lane_pc[l] = w->pc;
  }
  w->parked |= waiting;
  w->active &= ~waiting;
}
