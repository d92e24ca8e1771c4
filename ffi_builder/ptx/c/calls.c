/* What CUDA's compilers call and no PTX defines: printf and failed asserts. */
#include "engine.h"

#include <stdlib.h>

enum { kMostText = 4096 };

static char *local_of(const Warp *w, unsigned lane) {
  return w->local + (size_t)lane * w->block->m->c.local_size;
}

static uint64_t argument(const Warp *w, unsigned lane, uint32_t at, unsigned size) {
  uint64_t value = 0;
  memcpy(&value, local_of(w, lane) + at, size);
  return value;
}

/* Copies a text of the device, which ends with a NUL. */
static void text_at(Warp *w, const Instr *i, unsigned lane, uint64_t address, char to[kMostText]) {
  size_t at = 0;
  for (; at < kMostText - 1; ++at) {
    to[at] = *memory_at(w, i, lane, kGeneric, address + at, 1, kRead);
    if (to[at] == 0)
      return;
  }
  to[at] = 0;
}

typedef struct Printer {
  Warp *w;
  const Instr *i;
  unsigned lane;
  uint64_t list; /* the next argument */
} Printer;

static uint64_t next_argument(Printer *p, unsigned size) {
  uint64_t value = 0;
  p->list = (p->list + size - 1) / size * size;
  memcpy(&value, memory_at(p->w, p->i, p->lane, kGeneric, p->list, size, kRead), size);
  p->list += size;
  return value;
}

/* One conversion, whose specification is made anew of what is known; returns what is behind it. */
static const char *convert(Printer *p, const char *at) {
  char spec[64], out[kMostText + 512], text[kMostText];
  size_t length = 0;
  int longs = 0, size;
  spec[length++] = '%';
  while (*at != 0 && strchr("-+ #0123456789.*hlLjztq", *at) != NULL) {
    if (strchr("lLjztq", *at) != NULL)
      ++longs;
    else if (*at == '*')
      length += (size_t)snprintf(spec + length, 16, "%d", (int)next_argument(p, 4) % 512);
    else if (*at != 'h' && length < 24)
      spec[length++] = *at;
    ++at;
    if (length > 40)
      break;
  }
  for (size_t digits = 0, k = 0; k <= length; ++k) { /* no width of more than three digits */
    digits = k < length && spec[k] >= '0' && spec[k] <= '9' ? digits + 1 : 0;
    if (digits > 3)
      return at;
  }
  char kind = *at;
  if (kind == 0)
    return at;
  if (strchr("diouxXc", kind) != NULL) {
    bool wide = longs > 0 && kind != 'c';
    uint64_t value = next_argument(p, wide ? 8 : 4);
    snprintf(spec + length, 8, wide ? "ll%c" : "%c", kind);
    size = wide ? snprintf(out, sizeof(out), spec, (long long)value)
                : snprintf(out, sizeof(out), spec, (int)value);
  } else if (strchr("fFeEgGaA", kind) != NULL) {
    snprintf(spec + length, 8, "%c", kind);
    size = snprintf(out, sizeof(out), spec, f64_of(next_argument(p, 8)));
  } else if (kind == 's') {
    text_at(p->w, p->i, p->lane, next_argument(p, 8), text);
    snprintf(spec + length, 8, "s");
    size = snprintf(out, sizeof(out), spec, text);
  } else if (kind == 'p') {
    snprintf(spec + length, 8, "p");
    size = snprintf(out, sizeof(out), spec, (void *)(uintptr_t)next_argument(p, 8));
  } else {
    size = snprintf(out, sizeof(out), "%%%c", kind);
    if (kind == '%')
      size = snprintf(out, sizeof(out), "%%");
  }
  if (size > (int)sizeof(out) - 1)
    size = (int)sizeof(out) - 1;
  if (size > 0)
    print_text(p->w->block->m, out, (size_t)size);
  return at + 1;
}

/* op: the places in local memory of the format, of the pointer to the arguments, and of the result.
 */
OP(call_vprintf) {
  for (uint32_t m = mask; m != 0; m &= m - 1) {
    unsigned l = (unsigned)__builtin_ctz(m);
    char format[kMostText];
    text_at(w, i, l, argument(w, l, i->op[0], 8), format);
    Printer p = {w, i, l, argument(w, l, i->op[1], 8)};
    for (const char *at = format; *at != 0;) {
      const char *end = at + strcspn(at, "%");
      print_text(w->block->m, at, (size_t)(end - at));
      at = *end == 0 ? end : convert(&p, end + 1);
    }
    if (i->count > 2)
      memset(local_of(w, l) + i->op[2], 0, 4);
  }
}

/* op: the places of the message, the file, the line and the function. */
OP(call_assertfail) {
  unsigned l = (unsigned)__builtin_ctz(mask);
  char message[kMostText], file[kMostText], function[kMostText];
  text_at(w, i, l, argument(w, l, i->op[0], 8), message);
  text_at(w, i, l, argument(w, l, i->op[1], 8), file);
  text_at(w, i, l, argument(w, l, i->op[3], 8), function);
  fault(w, i, l, kAssert, "%.200s:%u: %.100s: assertion `%.150s` failed", file,
        (uint32_t)argument(w, l, i->op[2], 4), function, message);
}
