/* Warps, blocks and grids: who runs, who waits, and how a launch ends. */
#include "engine.h"

#include <fenv.h>
#include <stdarg.h>
#include <stdlib.h>

enum { kQuantum = 4096 }; /* steps of a warp before the next one has its turn */

static Special special(const Filled *f) { return (Special)f->special; }

static void thread_of(const Block *b, uint32_t thread, uint32_t tid[3]) {
  const uint32_t *n = b->m->c.block;
  tid[0] = thread % n[0];
  tid[1] = thread / n[0] % n[1];
  tid[2] = thread / n[0] / n[1];
}

void fault(Warp *w, const Instr *i, unsigned lane, Fault kind, const char *format, ...) {
  Machine *m = w->block->m;
  Report *r = &m->report;
  r->fault = kind;
  r->line = i->line;
  memcpy(r->ctaid, w->block->ctaid, sizeof(r->ctaid));
  thread_of(w->block, w->number * kLanes + lane, r->tid);
  va_list list;
  va_start(list, format);
  vsnprintf(r->words, sizeof(r->words), format, list);
  va_end(list);
  longjmp(m->out, 1);
}

static uint32_t lanes_at(const Warp *w, uint32_t among, uint32_t pc) {
  uint32_t found = 0;
  for (uint32_t m = among; m != 0; m &= m - 1) {
    unsigned l = (unsigned)__builtin_ctz(m);
    if (w->lane_pc[l] == pc)
      found |= 1u << l;
  }
  return found;
}

/* The smallest pc of lanes that is at least this. */
static uint32_t least_pc(const Warp *w, uint32_t among, uint32_t least) {
  uint32_t found = UINT32_MAX;
  for (uint32_t m = among; m != 0; m &= m - 1) {
    uint32_t pc = w->lane_pc[__builtin_ctz(m)];
    if (pc >= least && pc < found)
      found = pc;
  }
  return found;
}

static void save(Warp *w) {
  for (uint32_t m = w->active; m != 0; m &= m - 1)
    w->lane_pc[__builtin_ctz(m)] = w->pc;
}

/* Chooses the lanes that run next: those with the smallest pc, so that lanes that diverged meet
 * again. Lanes that wait in a warp-wide instruction try again when others come to it. */
void warp_pick(Warp *w) {
  save(w);
  uint32_t here = w->live & ~w->parked, able = here & ~w->stuck;
  if ((able & ~w->passed) != 0)
    able &= ~w->passed;
  else
    w->passed = 0;
  w->active = 0;
  if (able == 0)
    return;
  w->pc = least_pc(w, able, 0);
  w->active = lanes_at(w, here & ~w->passed, w->pc);
  w->stuck &= ~w->active;
  w->next = least_pc(w, here & ~w->active, w->pc);
}

/* Lanes stay at the instruction that is being executed until others come to it. */
void warp_wait(Warp *w, uint32_t lanes) {
  for (uint32_t m = lanes; m != 0; m &= m - 1)
    w->lane_pc[__builtin_ctz(m)] = w->pc - 1;
  w->stuck |= lanes;
  w->active &= ~lanes;
}

void warp_exit(Warp *w, uint32_t lanes) {
  Block *b = w->block;
  w->live &= ~lanes;
  w->active &= ~lanes;
  w->stuck = 0; /* they waited for these, perhaps */
  b->live -= (uint32_t)__builtin_popcount(lanes);
  if (b->live == 0)
    pending_finish_block(b);
  b->m->progress = b->m->steps;
  for (unsigned id = 0; id < kBarriers; ++id) {
    if (b->bars[id].waiting != 0)
      barrier_check(b, id);
  }
  cluster_check(b);
}

uint32_t warp_arrive(Warp *w, const Instr *i, uint32_t mask, const uint64_t *members) {
  uint32_t waiting = 0;
  for (uint32_t m = mask; m != 0; m &= m - 1) {
    unsigned l = (unsigned)__builtin_ctz(m);
    uint32_t named = (uint32_t)members[l];
    if ((named >> l & 1) == 0) {
      fault(w, i, l, kWrong,
            "the mask %#x of a warp-wide instruction lacks lane %u, which executes it", named, l);
    }
    if ((named & w->live & ~mask) != 0)
      waiting |= 1u << l;
  }
  if (waiting != 0)
    warp_wait(w, waiting);
  return mask & ~waiting;
}

bool warp_all(Warp *w, uint32_t mask) {
  if (mask == w->live)
    return true;
  warp_wait(w, mask);
  return false;
}

static void fill(Warp *w, const Filled *f) {
  const Block *b = w->block;
  const Config *c = &b->m->c;
  uint64_t *to = w->base[0] + ((size_t)f->row << 5);
  const uint32_t *at = b->ctaid, *size = c->cluster;
  for (unsigned l = 0; l < kLanes; ++l) {
    uint32_t tid[3];
    thread_of(b, w->number * kLanes + l, tid);
    uint64_t v = 0;
    switch (special(f)) {
    case kTidX:
    case kTidY:
    case kTidZ:
      v = tid[f->special - kTidX];
      break;
    case kNtidX:
    case kNtidY:
    case kNtidZ:
      v = c->block[f->special - kNtidX];
      break;
    case kCtaidX:
    case kCtaidY:
    case kCtaidZ:
      v = at[f->special - kCtaidX];
      break;
    case kNctaidX:
    case kNctaidY:
    case kNctaidZ:
      v = c->grid[f->special - kNctaidX];
      break;
    case kLaneid:
      v = l;
      break;
    case kWarpid:
      v = w->number;
      break;
    case kNwarpid:
      v = b->warp_count;
      break;
    case kSmid:
      v = b->index % 132;
      break;
    case kNsmid:
      v = 132;
      break;
    case kGridid:
      v = 1;
      break;
    case kMaskEq:
      v = 1u << l;
      break;
    case kMaskLt:
      v = (1u << l) - 1;
      break;
    case kMaskLe:
      v = (2u << l) - 1;
      break;
    case kMaskGt:
      v = (uint32_t)~((2u << l) - 1);
      break;
    case kMaskGe:
      v = (uint32_t)~((1u << l) - 1);
      break;
    case kClusterCtaidX:
    case kClusterCtaidY:
    case kClusterCtaidZ:
      v = at[f->special - kClusterCtaidX] % size[f->special - kClusterCtaidX];
      break;
    case kClusterNctaidX:
    case kClusterNctaidY:
    case kClusterNctaidZ:
      v = size[f->special - kClusterNctaidX];
      break;
    case kClusteridX:
    case kClusteridY:
    case kClusteridZ:
      v = at[f->special - kClusteridX] / size[f->special - kClusteridX];
      break;
    case kNclusteridX:
    case kNclusteridY:
    case kNclusteridZ:
      v = c->grid[f->special - kNclusteridX] / size[f->special - kNclusteridX];
      break;
    case kClusterRank:
      v = b->rank;
      break;
    case kClusterSize:
      v = size[0] * size[1] * size[2];
      break;
    case kExplicitCluster:
      v = size[0] * size[1] * size[2] > 1;
      break;
    case kDynamicShared:
      v = c->dynamic;
      break;
    case kTotalShared:
      v = c->shared_size;
      break;
    case kGridHigh:
      v = c->cooperative ? kGridWindow >> 32 : 0;
      break;
    case kGridLow:
      break;
    case kSharedAddress:
      v = ((uint64_t)b->rank << kRankShift) + f->value;
      break;
    }
    to[l] = v;
  }
}

static void begin_warp(Block *b, uint32_t number) {
  const Config *c = &b->m->c;
  Warp *w = &b->warps[number];
  size_t rows = (size_t)c->rows * kLanes;
  uint64_t *registers = w->base[0];
  char *local = w->local;
  uint32_t left = b->threads - number * kLanes;
  memset(registers, 0xcd, rows * sizeof(*registers));
  memset(local, 0xcd, (size_t)c->local_size * kLanes);
  Pending *pending = w->pending;
  uint32_t room = w->pending_room;
  *w = (Warp){.pending = pending,
              .pending_room = room,
              .base = {registers, (uint64_t *)(uintptr_t)c->constants},
              .number = number,
              .block = b,
              .local = local,
              .next = UINT32_MAX,
              .pc = c->entry};
  w->live = w->active = left >= kLanes ? UINT32_MAX : (1u << left) - 1;
  for (uint32_t k = 0; k < c->filled_count; ++k)
    fill(w, &c->filled[k]);
}

/* Blocks lie in the order of clusters, and in each in that of its ranks. */
static void place(Block *b, uint32_t index) {
  const Config *c = &b->m->c;
  uint32_t size = c->cluster[0] * c->cluster[1] * c->cluster[2];
  uint32_t cluster = index / size, rank = index % size;
  uint32_t inside[3] = {rank % c->cluster[0], rank / c->cluster[0] % c->cluster[1],
                        rank / c->cluster[0] / c->cluster[1]};
  for (unsigned d = 0; d < 3; ++d) {
    uint32_t clusters = c->grid[d] / c->cluster[d];
    b->ctaid[d] = cluster % clusters * c->cluster[d] + inside[d];
    cluster /= clusters;
  }
  b->rank = rank;
  b->index = index;
}

static void begin_block(Block *b, uint32_t index) {
  const Config *c = &b->m->c;
  place(b, index);
  b->threads = b->live = c->block[0] * c->block[1] * c->block[2];
  memset(b->shared, 0xcd, c->shared_size);
  memset(b->written, 0, c->shared_size);
  memset(b->bars, 0, sizeof(b->bars));
  b->tensor_taken = 0;
  for (uint32_t k = 0; k < b->warp_count; ++k)
    begin_warp(b, k);
}

static void step(Warp *w) {
  Machine *m = w->block->m;
  const Instr *code = m->c.code;
  uint64_t left = kQuantum;
  if (w->active == 0)
    warp_pick(w);
  w->yield = false;
  while (w->active != 0 && left != 0 && !w->yield) {
    if (w->pc >= w->next)
      warp_pick(w);
    const Instr *i = &code[w->pc++];
    uint32_t mask = w->active;
    --left;
    if (i->guard != kNone) {
      uint32_t found = (uint32_t)*row(w, i->guard);
      mask &= i->guard_not ? ~found : found;
      if (mask == 0)
        continue;
    }
    i->run(w, i, mask);
    if (w->active == 0)
      warp_pick(w);
  }
  m->steps += kQuantum - left;
  uint32_t others = w->live & ~w->parked & ~w->stuck & ~w->active;
  if (w->active != 0 && others != 0) {
    uint32_t had = w->passed | w->active;
    warp_pick(w);
    w->passed = had;
    warp_pick(w);
  }
}

static _Noreturn void never(Machine *m, const char *why) {
  for (uint32_t k = 0; k < m->count; ++k) {
    for (uint32_t n = 0; n < m->blocks[k].warp_count; ++n) {
      Warp *w = &m->blocks[k].warps[n];
      if (w->live == 0)
        continue;
      save(w);
      unsigned l = (unsigned)__builtin_ctz(w->live);
      uint32_t pc = w->lane_pc[l];
      if ((w->parked >> l & 1) != 0 && pc > 0)
        --pc;
      const char *how = w->parked >> l & 1 ? "waits in a barrier that other threads do not reach"
                        : w->stuck >> l & 1
                            ? "waits in a warp-wide instruction for lanes that do not reach it"
                            : "goes round here";
      fault(w, &m->c.code[pc], l, kStuck, "%s: it %s", why, how);
    }
  }
  abort();
}

/* One turn of all warps; false: none of them can run. */
static bool turn(Machine *m) {
  bool ran = false;
  for (uint32_t k = 0; k < m->count; ++k) {
    Block *b = &m->blocks[k];
    for (uint32_t n = 0; n < b->warp_count && b->live != 0; ++n) {
      Warp *w = &b->warps[n];
      if (w->live == 0 || (w->live & ~w->parked) == 0)
        continue;
      uint64_t before = m->steps;
      step(w);
      ran = ran || m->steps != before;
    }
  }
  return ran;
}

static bool alive(const Machine *m) {
  for (uint32_t k = 0; k < m->count; ++k) {
    if (m->blocks[k].live != 0)
      return true;
  }
  return false;
}

static void next_blocks(Machine *m) {
  uint32_t left = m->total - m->first;
  m->count = left < m->c.resident ? left : m->c.resident;
  uint32_t cluster = m->c.cluster[0] * m->c.cluster[1] * m->c.cluster[2];
  for (uint32_t k = 0; k < m->count; ++k) {
    m->blocks[k].cluster = &m->blocks[k / cluster * cluster];
    begin_block(&m->blocks[k], m->first + k);
  }
}

static void run(Machine *m, uint64_t until) {
  while (m->steps < until) {
    if (!alive(m)) {
      m->first += m->count;
      if (m->first >= m->total) {
        m->report.done = 1;
        return;
      }
      next_blocks(m);
    }
    bool ran = turn(m);
    if (!alive(m))
      continue;
    if (!ran)
      never(m, "no thread can go on");
    if (m->steps - m->progress > m->c.patience)
      never(m, "the launch makes no progress");
  }
}

/* The memory of the device as it is now. */
static void look(Machine *m) {
  m->hit = NULL;
  if (m->c.extents == NULL)
    return;
  size_t found;
  while ((found = m->c.extents(m->c.device, m->extents, m->extent_room)) > m->extent_room) {
    m->extent_room = found + 64;
    m->extents = realloc(m->extents, m->extent_room * sizeof(Extent));
    if (m->extents == NULL)
      abort();
  }
  m->extent_count = found;
}

/* Runs some steps, with the driver's lock, so that nobody frees memory meanwhile. */
void ptx_run(Machine *m, uint64_t steps) {
  fenv_t before;
  feholdexcept(&before);
  fesetenv(FE_DFL_ENV);
  if (m->c.lock != NULL)
    m->c.lock();
  look(m);
  if (setjmp(m->out) == 0)
    run(m, m->steps + steps);
  if (m->c.unlock != NULL)
    m->c.unlock();
  fesetenv(&before);
  m->report.steps = m->steps;
}

Report *ptx_report(Machine *m) { return &m->report; }

void print_text(Machine *m, const char *text, size_t size) {
  Report *r = &m->report;
  if (size == 0) return;
  if (r->text_size + size > m->text_room) {
    m->text_room = 2 * (r->text_size + size);
    r->text = realloc(r->text, m->text_room);
    if (r->text == NULL)
      abort();
  }
  memcpy(r->text + r->text_size, text, size);
  r->text_size += (uint32_t)size;
}

void ptx_end(Machine *m) {
  for (uint32_t k = 0; m->blocks != NULL && k < m->c.resident; ++k) {
    Block *b = &m->blocks[k];
    for (uint32_t n = 0; b->warps != NULL && n < b->warp_count; ++n) {
      free(b->warps[n].base[0]);
      free(b->warps[n].local);
      free(b->warps[n].pending);
    }
    free(b->warps);
    free(b->tensor);
    free(b->shared);
    free(b->written);
  }
  maps_end(m);
  free(m->blocks);
  if (m->c.given == NULL)
    free(m->extents);
  free(m->report.text);
  free(m);
}

static bool block_new(Machine *m, Block *b) {
  const Config *c = &m->c;
  b->m = m;
  b->warp_count = (c->block[0] * c->block[1] * c->block[2] + kLanes - 1) / kLanes;
  b->shared = malloc(c->shared_size + 1u);
  b->written = malloc(c->shared_size + 1u);
  b->warps = calloc(b->warp_count, sizeof(Warp));
  if (b->shared == NULL || b->written == NULL || b->warps == NULL)
    return false;
  for (uint32_t n = 0; n < b->warp_count; ++n) {
    b->warps[n].base[0] = malloc(((size_t)c->rows + 1) * kLanes * sizeof(uint64_t));
    b->warps[n].local = malloc((size_t)c->local_size * kLanes + 1);
    if (b->warps[n].base[0] == NULL || b->warps[n].local == NULL)
      return false;
  }
  return true;
}

/* NULL: there is no memory for the resident blocks. */
Machine *ptx_begin(const Config *config) {
  Machine *m = calloc(1, sizeof(*m));
  if (m == NULL)
    return NULL;
  m->c = *config;
  m->total = config->grid[0] * config->grid[1] * config->grid[2];
  if (config->given != NULL) {
    m->extents = (Extent *)(uintptr_t)config->given;
    m->extent_count = config->given_count;
  }
  m->blocks = calloc(config->resident, sizeof(Block));
  bool made = m->blocks != NULL;
  for (uint32_t k = 0; made && k < config->resident; ++k)
    made = block_new(m, &m->blocks[k]);
  if (made) {
    next_blocks(m);
    return m;
  }
  ptx_end(m);
  return NULL;
}
