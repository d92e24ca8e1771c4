/* What the files of the PTX interpreter share.
 *
 * A warp executes one decoded instruction for all of its lanes that are at it. Registers are rows
 * of 32 lanes, 64 bits each: a narrower value is in the low bits, and the others are zeros. A
 * predicate is a mask of lanes in the first word of its row. An instruction is a function OP(name);
 * Python finds it by its name, which stands in the tables of ffi_builder/ptx/forms.
 */
#ifndef ENGINE_H
#define ENGINE_H

#include <math.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { kLanes = 32, kBarriers = 16, kClusterBarrier = 16, kNone = 0x3fffffff };

typedef struct Warp Warp;
typedef struct Block Block;
typedef struct Machine Machine;
typedef struct Instr Instr;
typedef struct Pending Pending;
typedef struct KeptMap KeptMap;

/* Executes an instruction for the lanes of mask, which is never 0. */
typedef void Run(Warp *w, const Instr *i, uint32_t mask);

/* As decode.py packs it. */
struct Instr {
  Run *run;
  const uint32_t *op;   /* registers (see row()), and numbers where the form says so */
  uint32_t guard, line; /* guard: the predicate, kNone: none */
  uint8_t guard_not;
  uint8_t round;    /* a Round */
  uint8_t flags;    /* kFtz … */
  uint8_t compare;  /* a Compare */
  uint8_t combine;  /* a Combine */
  uint8_t space;    /* a Space */
  uint8_t size;     /* bytes of the last type of the opcode */
  uint8_t sign;     /* whether it is signed */
  uint8_t count;    /* elements of a vector */
  uint8_t dsize;    /* bytes of the first operand's register */
  uint8_t extra[6]; /* what the form's own modifiers mean: table.py */
};

typedef enum Round { kRn, kRz, kRm, kRp, kRna, kRs } Round;
enum {
  kFtz = 1,
  kSat = 2,
  kRelu = 4,
  kNanWins = 8,
  kXorSign = 16,
  kSatFinite = 32,
  kApprox = 64,
  kHigh = 128
};
typedef enum Compare {
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  kEqu,
  kNeu,
  kLtu,
  kLeu,
  kGtu,
  kGeu,
  kNum,
  kNan
} Compare;
typedef enum Combine { kAnd = 1, kOr, kXor } Combine;
typedef enum Space { kGeneric, kGlobal, kShared, kLocal, kConst, kParam, kCluster } Space;

/* The windows of generic addresses, above all that a process can have. */
static const uint64_t kSharedWindow = 1ull << 56, kLocalWindow = 2ull << 56,
                      kParamWindow = 3ull << 56, kGridWindow = 4ull << 56, kWindows = 0xffull << 56;
enum { kRankShift = 24 }; /* of a block in its cluster, in a shared address */

/* An asynchronous copy: what it has to do, when somebody waits for it. */
struct Pending {
  void (*finish)(Warp *w, const Pending *p);
  const Instr *i;
  uint32_t lane, kind, group;
  uint64_t barrier; /* the shared address of the mbarrier that it completes */
  uint64_t v[12];   /* operands, as finish wants them */
};
enum { kGroup, kBulkGroup, kByBarrier };

struct Warp {
  uint64_t *base[2];   /* the rows of this warp, and the constants of the launch */
  uint32_t pc, active; /* of the lanes that are being executed; pc is the next instruction's */
  uint32_t next;       /* the smallest pc of other lanes that is larger */
  uint32_t live;       /* lanes that have not exited */
  uint32_t stuck;      /* wait in a warp-wide instruction for other lanes */
  uint32_t parked;     /* wait in a barrier */
  uint32_t passed;     /* had their turn: others that can run go first */
  uint32_t arrived;    /* at the barrier of the cluster, where others have not */
  uint32_t met;        /* the same, and all others have, too */
  bool yield;          /* the warp waits for another one: let it run */
  uint32_t lane_pc[kLanes];
  uint8_t bar[kLanes]; /* in which barrier */
  uint32_t number;     /* in the block */
  Block *block;
  char *local;      /* of each lane, one after the other */
  Pending *pending; /* copies that nobody has waited for */
  uint32_t pending_count, pending_room;
  uint32_t groups[kLanes], bulk_groups[kLanes]; /* that were committed */
  uint32_t wgmmas;                              /* products of a warpgroup that it has executed */
  uint32_t carry;                               /* CC.CF of each lane */
};

typedef struct Barrier {
  uint32_t waiting, arrived, expected; /* threads; expected 0: all of the block */
  uint32_t votes;                      /* of waiting threads with a true predicate */
} Barrier;

struct Block {
  Machine *m;
  uint32_t ctaid[3], rank; /* in the cluster */
  uint32_t index;          /* in the grid */
  Block *cluster;          /* the first one of its cluster; they lie one after the other */
  uint32_t threads, warp_count, live;
  Warp *warps;
  uint8_t *shared, *written; /* a byte for each: whether anything wrote it */
  Barrier bars[kBarriers];
  uint32_t *tensor;      /* tensor memory, of which nothing is there before it is allocated */
  uint32_t tensor_taken; /* a bit for each 32 columns that are */
};

typedef struct Extent {
  uint64_t lo, size;
  char *host;
} Extent;

/* What a special register is, for the rows that are filled when a warp begins. */
typedef enum Special {
  kTidX,
  kTidY,
  kTidZ,
  kNtidX,
  kNtidY,
  kNtidZ,
  kCtaidX,
  kCtaidY,
  kCtaidZ,
  kNctaidX,
  kNctaidY,
  kNctaidZ,
  kLaneid,
  kWarpid,
  kNwarpid,
  kSmid,
  kNsmid,
  kGridid,
  kMaskEq,
  kMaskLt,
  kMaskLe,
  kMaskGt,
  kMaskGe,
  kClusterCtaidX,
  kClusterCtaidY,
  kClusterCtaidZ,
  kClusterNctaidX,
  kClusterNctaidY,
  kClusterNctaidZ,
  kClusteridX,
  kClusteridY,
  kClusteridZ,
  kNclusteridX,
  kNclusteridY,
  kNclusteridZ,
  kClusterRank,
  kClusterSize,
  kExplicitCluster,
  kDynamicShared,
  kTotalShared,
  kGridHigh,
  kGridLow,
  kSharedAddress
} Special;

typedef struct Filled {
  uint32_t row, special;
  uint64_t value; /* the offset of kSharedAddress */
} Filled;

/* What Python asks for; machine.py has the same. */
typedef struct Config {
  const Instr *code;
  const uint64_t *constants;
  const Filled *filled;
  const char *params;
  uint32_t code_count, filled_count, rows, params_size;
  uint32_t entry, local_size, shared_size, dynamic;
  uint32_t grid[3], block[3], cluster[3];
  uint32_t cooperative;
  uint32_t resident; /* how many blocks are there at once: 1, those of a cluster, or all */
  int32_t device;
  uint64_t patience;                   /* steps without progress that are an error */
  void (*lock)(void), (*unlock)(void); /* of the fake driver; NULL: none */
  size_t (*extents)(int device, Extent *to, size_t room);
  const struct TensorMap *(*map)(uint64_t digest); /* of the fake driver */
  const Extent *given;                             /* instead of these, for tests */
  uint64_t given_count;
} Config;

typedef enum Fault { kNoFault, kIllegal, kMisaligned, kTrap, kAssert, kStuck, kWrong } Fault;

/* How a slice ended, and what is said to the user. */
typedef struct Report {
  uint32_t done, fault;
  uint32_t ctaid[3], tid[3], line, text_size; /* text_size: what printf has printed */
  char words[512];
  char *text;
  uint64_t steps;
} Report;

struct Machine {
  Config c;
  Report report;
  jmp_buf out;
  Block *blocks;                /* the resident ones */
  uint32_t first, count, total; /* which blocks of the grid they are, and how many there are */
  Extent *extents;
  size_t extent_count, extent_room;
  const Extent *hit;
  uint64_t steps, progress; /* progress: the step of the last one */
  uint64_t ticks;           /* of clocks */
  char grid[64]; /* what cooperative groups count blocks in; its address is in %envreg1 and 2 */
  size_t text_room;
  KeptMap *maps; /* tensormap.c */
};

#define PRINTF(at) __attribute__((format(printf, at, at + 1)))

/* engine.c */
_Noreturn void fault(Warp *w, const Instr *i, unsigned lane, Fault kind, const char *format, ...)
    PRINTF(5);
void warp_pick(Warp *w);
void warp_wait(Warp *w, uint32_t lanes);
void warp_exit(Warp *w, uint32_t lanes);
/* Whether all lanes that have not exited are in mask; if not, these wait for the others. */
bool warp_all(Warp *w, uint32_t mask);
/* The lanes of mask whose members, a row of masks, are all there; the others wait. */
uint32_t warp_arrive(Warp *w, const Instr *i, uint32_t mask, const uint64_t *members);
void barrier_check(Block *b, unsigned id);
void cluster_check(Block *b);
void print_text(Machine *m, const char *text, size_t size);

/* memory.c: where bytes are, or a fault. */
typedef enum Access { kRead, kWrite, kBoth } Access;
char *memory_at(Warp *w, const Instr *i, unsigned lane, Space space, uint64_t address,
                unsigned size, Access access);

/* integer.c: what comparisons have found becomes predicates (setp), or numbers (set). */
uint32_t combined(Warp *w, const Instr *i, uint32_t found, unsigned with);
void set_compared(Warp *w, const Instr *i, uint32_t mask, uint32_t found);
void set_number(Warp *w, const Instr *i, uint32_t mask, uint32_t found);

/* tensormap.c: forgets the maps of the device. */
void maps_end(Machine *m);

/* asynchronous.c */
Pending *pending_new(Warp *w, const Instr *i, unsigned lane, uint32_t kind);
void pending_finish_block(Block *b);
/* Finishes what completes an mbarrier of the cluster. */
void pending_finish_barrier(Warp *w, uint64_t barrier);

/* mbarrier.c: at a shared address. */
void mbarrier_complete(Warp *w, const Instr *i, unsigned lane, uint64_t address, uint32_t bytes);
void mbarrier_arrive(Warp *w, const Instr *i, unsigned lane, uint64_t address, uint32_t count,
                     bool more);

/* Registers. Bit 31 of an operand: a constant; bit 30: a predicate that is negated. */
static inline uint64_t *row(const Warp *w, uint32_t op) {
  return w->base[op >> 31] + ((size_t)(op & 0x3fffffff) << 5);
}
#define ROW(k) row(w, i->op[k])
static inline uint32_t predicate(const Warp *w, uint32_t op) {
  uint32_t found = (uint32_t)*row(w, op);
  return op & 0x40000000 ? ~found : found;
}
#define PRED(k) predicate(w, i->op[k])
#define SET_PRED(k, bits)                                                                          \
  do {                                                                                             \
    uint64_t *to_ = ROW(k);                                                                        \
    *to_ = ((uint32_t)*to_ & ~mask) | ((uint32_t)(bits) & mask);                                   \
  } while (0)
/* An address [base+offset] takes two operands: the base's row, and the offset. */
#define ADDRESS(k, l) (ROW(k)[l] + (uint64_t)(int64_t)(int32_t)i->op[(k) + 1])

#define OP(name) void op_##name(Warp *w, const Instr *i, uint32_t mask)
/* For each lane l of mask. */
#define LANES(...)                                                                                 \
  {                                                                                                \
    if (mask == 0xffffffffu) {                                                                     \
      for (unsigned l = 0; l < kLanes; ++l) {                                                      \
        __VA_ARGS__                                                                                \
      }                                                                                            \
    } else {                                                                                       \
      for (uint32_t m_ = mask; m_ != 0; m_ &= m_ - 1) {                                            \
        unsigned l = (unsigned)__builtin_ctz(m_);                                                  \
        __VA_ARGS__                                                                                \
      }                                                                                            \
    }                                                                                              \
  }

/* A value of type T as a register has it: the bits above are zeros. */
#define BITS(T, value) ((uint64_t)(value) & (~0ull >> (64 - 8 * sizeof(T))))
#define UNARY(T, expression)                                                                       \
  uint64_t *d_ = ROW(0);                                                                           \
  const uint64_t *a_ = ROW(1);                                                                     \
  LANES(T a = (T)a_[l]; d_[l] = BITS(T, expression);)
#define BINARY(T, expression)                                                                      \
  uint64_t *d_ = ROW(0);                                                                           \
  const uint64_t *a_ = ROW(1), *b_ = ROW(2);                                                       \
  LANES(T a = (T)a_[l]; T b = (T)b_[l]; d_[l] = BITS(T, expression);)
#define TERNARY(T, expression)                                                                     \
  uint64_t *d_ = ROW(0);                                                                           \
  const uint64_t *a_ = ROW(1), *b_ = ROW(2), *c_ = ROW(3);                                         \
  LANES(T a = (T)a_[l]; T b = (T)b_[l]; T c = (T)c_[l]; d_[l] = BITS(T, expression);)

/* Floats and their bits. */
static inline float f32_of(uint64_t bits) {
  uint32_t low = (uint32_t)bits;
  float value;
  memcpy(&value, &low, sizeof(value));
  return value;
}
static inline uint64_t bits_of_f32(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return bits;
}
static inline double f64_of(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}
static inline uint64_t bits_of_f64(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return bits;
}

#endif
