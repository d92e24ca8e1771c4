/* atom and red: lanes go one after the other. */
#include "floats.h"

static char *atomic_at(Warp *w, const Instr *i, unsigned lane, uint64_t address, unsigned size) {
  if (address % size != 0) {
    fault(w, i, lane, kMisaligned,
          "atomic access of %u bytes at %#llx, which is not aligned to them", size,
          (unsigned long long)address);
  }
  return memory_at(w, i, lane, (Space)i->space, address, size, kBoth);
}

/* op: result, address, b, and c of cas. */
#define ATOM(name, T, expression)                                                                  \
  OP(atom_##name) {                                                                                \
    uint64_t *d_ = ROW(0);                                                                         \
    const uint64_t *b_ = ROW(3);                                                                   \
    LANES(char *at = atomic_at(w, i, l, ADDRESS(1, l), sizeof(T)); T old;                          \
          memcpy(&old, at, sizeof(T)); T b = (T)b_[l]; T made = (T)(expression);                   \
          memcpy(at, &made, sizeof(T));                                                            \
          if (made != old) w->block->m->progress = w->block->m->steps; d_[l] = BITS(T, old);)      \
  }
#define INTEGERS(name, T)                                                                          \
  ATOM(add_##name, T, (uint64_t)old + (uint64_t)b)                                                 \
  ATOM(min_##name, T, old < b ? old : b)                                                           \
  ATOM(max_##name, T, old > b ? old : b)
INTEGERS(u32, uint32_t)
INTEGERS(s32, int32_t)
INTEGERS(u64, uint64_t)
INTEGERS(s64, int64_t)

#define BITWISE(name, T)                                                                           \
  ATOM(and_##name, T, old &b)                                                                      \
  ATOM(or_##name, T, old | b)                                                                      \
  ATOM(xor_##name, T, old ^ b)                                                                     \
  ATOM(exch_##name, T, b)                                                                          \
  ATOM(cas_##name, T, old == b ? (T)ROW(4)[l] : old)
BITWISE(b16, uint16_t)
BITWISE(b32, uint32_t)
BITWISE(b64, uint64_t)

ATOM(inc_u32, uint32_t, old >= b ? 0 : old + 1)
ATOM(dec_u32, uint32_t, old == 0 || old > b ? b : old - 1)

static float zeroed(float x) { return fpclassify(x) == FP_SUBNORMAL ? copysignf(0, x) : x; }

/* In global memory subnormals are flushed, and in shared memory they are not. */
static uint32_t add_f32(const Instr *i, uint64_t address, uint32_t old, uint64_t by) {
  bool flush = i->space == kGlobal || (i->space == kGeneric && (address & kWindows) == 0);
  float a = f32_of(old), b = f32_of(by);
  float sum = flush ? zeroed(zeroed(a) + zeroed(b)) : a + b;
  return isnan(sum) ? 0x7fffffff : (uint32_t)bits_of_f32(sum);
}
ATOM(add_f32, uint32_t, add_f32(i, ADDRESS(1, l), old, b))

static uint64_t add_f64(uint64_t old, uint64_t by) { return bits_of_f64(f64_of(old) + f64_of(by)); }
ATOM(add_f64, uint64_t, add_f64(old, b))

static uint16_t add_f16(uint16_t a, uint16_t b) {
  return (uint16_t)f16_bits(f16_value(a) + f16_value(b));
}
static uint16_t add_bf16(uint16_t a, uint16_t b) {
  return (uint16_t)bf16_bits(bf16_value(a) + bf16_value(b));
}
static uint16_t extreme(uint16_t a, uint16_t b, double x, double y, bool largest) {
  if (isnan(x))
    return isnan(y) ? 0x7fff : b;
  if (isnan(y))
    return a;
  if (x == y)
    return (signbit(x) != 0) != largest ? a : b; /* -0 is less than 0 */
  return (x > y) == largest ? a : b;
}
static uint16_t min_f16(uint16_t a, uint16_t b) {
  return extreme(a, b, f16_value(a), f16_value(b), false);
}
static uint16_t max_f16(uint16_t a, uint16_t b) {
  return extreme(a, b, f16_value(a), f16_value(b), true);
}
static uint16_t min_bf16(uint16_t a, uint16_t b) {
  return extreme(a, b, bf16_value(a), bf16_value(b), false);
}
static uint16_t max_bf16(uint16_t a, uint16_t b) {
  return extreme(a, b, bf16_value(a), bf16_value(b), true);
}

#define HALVES(name)                                                                               \
  ATOM(name, uint16_t, name(old, b))                                                               \
  ATOM(name##x2, uint32_t,                                                                         \
       name((uint16_t)old, (uint16_t)b) | (uint32_t)name(old >> 16, b >> 16) << 16)
HALVES(add_f16)
HALVES(add_bf16)
HALVES(min_f16)
HALVES(max_f16)
HALVES(min_bf16)
HALVES(max_bf16)

/* Vectors are added element by element. op: count results, address, count operands. */
OP(atom_vector) {
  unsigned count = i->count, size = i->size;
  LANES(char *at = memory_at(w, i, l, (Space)i->space, ADDRESS(count, l), count * size, kBoth);
        if (ADDRESS(count, l) % (count * size) != 0) fault(
            w, i, l, kMisaligned, "atomic access of %u bytes, which is not aligned", count * size);
        for (unsigned k = 0; k < count; ++k) {
          uint32_t old = 0;
          memcpy(&old, at + k * size, size);
          uint32_t b = (uint32_t)ROW(count + 2 + k)[l];
          uint32_t made = 0;
          switch (i->extra[0]) {
          case 0:
            made = add_f32(i, ADDRESS(count, l), old, b);
            break;
          case 1:
            made = add_f16((uint16_t)old, (uint16_t)b);
            break;
          case 2:
            made = add_bf16((uint16_t)old, (uint16_t)b);
            break;
          case 3:
            made = add_f16((uint16_t)old, (uint16_t)b) | (uint32_t)add_f16(old >> 16, b >> 16)
                                                             << 16;
            break;
          default:
            made = add_bf16((uint16_t)old, (uint16_t)b) | (uint32_t)add_bf16(old >> 16, b >> 16)
                                                              << 16;
            break;
          }
          memcpy(at + k * size, &made, size);
          ROW(k)[l] = old;
        })
  w->block->m->progress = w->block->m->steps;
}

/* 128 bits are two rows. */
static void wide(Warp *w, const Instr *i, uint32_t mask, bool compares) {
  uint64_t *d = ROW(0);
  const uint64_t *b = ROW(3), *c = compares ? ROW(4) : b;
  LANES(char *at = atomic_at(w, i, l, ADDRESS(1, l), 16); uint64_t old[2]; memcpy(old, at, 16);
        bool writes = !compares || (old[0] == b[l] && old[1] == b[l + kLanes]); if (writes) {
          uint64_t made[2] = {c[l], c[l + kLanes]};
          memcpy(at, made, 16);
          w->block->m->progress = w->block->m->steps;
        } d[l] = old[0];
        d[l + kLanes] = old[1];)
}
OP(atom_exch_b128) { wide(w, i, mask, false); }
OP(atom_cas_b128) { wide(w, i, mask, true); }
