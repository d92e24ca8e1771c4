// Tensor maps: checks what a call brings, has the driver encode the map, and keeps the last ones.
//
// A call site keeps CUDA_MAP_SLOTS maps in a variable of the module, each with what it was made of.
// A slot is a sequence lock: its first word is odd while a thread writes, and 0 before the first.
// Readers copy a map and look at that word before and after; no reader waits. A thread that finds
// another one writing to its slot does not keep its map. Nothing is allocated, so nothing is freed
// while it is read.

#include "cuda.h"

// clang unrolls with -Os only what is marked; it halves the time of a map that is found.
#ifdef __clang__
#define UNROLLED _Pragma("clang loop unroll(full)")
#else
#define UNROLLED
#endif

enum { CUDA_MAP_WORDS = CUDA_TENSOR_MAP_SIZE / 8 };

// Returns a slot: its sequence, `count` words of the key, the words of the map.
static int64_t *cuda_map_slot(int64_t *cache, int64_t index, int32_t count) {
  return cache + 1 + index * (1 + count + CUDA_MAP_WORDS);
}

static int64_t cuda_word(const int64_t *word) { return __atomic_load_n(word, __ATOMIC_RELAXED); }

static bool cuda_has_key(const int64_t *slot, const int64_t *key, int32_t count) {
  for (int32_t i = 0; i < count; ++i)
    if (cuda_word(slot + 1 + i) != key[i])
      return false;
  return true;
}

// Copies the map that was made of the key; returns whether there is one.
int32_t SHARED(cuda_find_map)(int64_t *cache, const int64_t *key, int32_t count, int64_t *map) {
  for (int64_t index = 0; index < CUDA_MAP_SLOTS; ++index) {
    int64_t *slot = cuda_map_slot(cache, index, count);
    int64_t sequence = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
    if (sequence & 1 || !cuda_has_key(slot, key, count))
      continue;
    const int64_t *words = slot + 1 + count;
    UNROLLED
    for (int i = 0; i < CUDA_MAP_WORDS; ++i)
      map[i] = cuda_word(words + i);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (sequence != 0 && cuda_word(slot) == sequence)
      return 1;
  }
  return 0;
}

// Keeps a map in the slot that was written longest ago, unless another thread is writing there.
static void cuda_keep_map(int64_t *cache, const int64_t *key, int32_t count, const int64_t *map) {
  int64_t turn = __atomic_fetch_add(cache, 1, __ATOMIC_RELAXED);
  int64_t *slot = cuda_map_slot(cache, turn & (CUDA_MAP_SLOTS - 1), count);
  int64_t sequence = cuda_word(slot);
  if (sequence & 1 || !__atomic_compare_exchange_n(slot, &sequence, sequence + 1, false,
                                                   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
    return;
  __atomic_thread_fence(__ATOMIC_RELEASE);
  for (int32_t i = 0; i < count; ++i)
    __atomic_store_n(slot + 1 + i, key[i], __ATOMIC_RELAXED);
  for (int i = 0; i < CUDA_MAP_WORDS; ++i)
    __atomic_store_n(slot + 1 + count + i, map[i], __ATOMIC_RELAXED);
  __atomic_store_n(slot, sequence + 2, __ATOMIC_RELEASE);
}

static const char *cuda_map_text(const CudaMapPlan *plan, int32_t offset) {
  return (const char *)plan + offset;
}

static int32_t cuda_refuse_value(const CudaMapPlan *plan, const CudaMapValue *limits, int64_t value,
                                 const CudaSite *site) {
  const char *subject = cuda_map_text(plan, limits->text);
  const char *expected = subject + strlen(subject) + 1;
  CudaMessage message;
  message.length = 0;
  CUDA_SAY(&message, limits->place == CUDA_MAP_ADDRESS ? "%s is 0x%llx" : "%s is %lld", subject,
           (long long)value);
  CUDA_SAY(&message, ", but the tensor map of %s needs %s", cuda_map_text(plan, plan->name),
           expected);
  return cuda_raise(&message, "ValueError", site);
}

// Puts what a call brings into the driver's arguments, if each value is within its limits.
static int32_t cuda_check_values(const CudaMapPlan *plan, const int64_t *key, int64_t *arguments,
                                 const CudaSite *site) {
  memcpy(arguments, plan->fixed, sizeof plan->fixed);
  for (int32_t i = 0; i < plan->count; ++i) {
    const CudaMapValue *limits = &plan->values[i];
    if (key[i] < limits->low || key[i] > limits->high || key[i] % limits->multiple != 0)
      return cuda_refuse_value(plan, limits, key[i], site);
    if (limits->place >= 0)
      arguments[limits->place] = key[i] * limits->numerator / limits->denominator;
  }
  return 0;
}

static CUresult cuda_call_encoder(const CudaDriver *driver, const CudaMapPlan *plan,
                                  const int64_t *arguments, void *map) {
  void *address = (void *)(uintptr_t)arguments[CUDA_MAP_ADDRESS];
  uint64_t sizes[CUDA_MAP_RANK], strides[CUDA_MAP_RANK];
  uint32_t box[CUDA_MAP_RANK], steps[CUDA_MAP_RANK];
  int32_t lower[CUDA_MAP_RANK], upper[CUDA_MAP_RANK];
  for (int32_t i = 0; i < plan->rank; ++i) {
    sizes[i] = (uint64_t)arguments[CUDA_MAP_SIZES + i];
    strides[i] = (uint64_t)arguments[CUDA_MAP_STRIDES + i];
    box[i] = (uint32_t)arguments[CUDA_MAP_BOX + i];
    steps[i] = (uint32_t)arguments[CUDA_MAP_STEPS + i];
    lower[i] = (int32_t)arguments[CUDA_MAP_LOWER + i];
    upper[i] = (int32_t)arguments[CUDA_MAP_UPPER + i];
  }
  uint32_t rank = (uint32_t)plan->rank, channels = (uint32_t)arguments[CUDA_MAP_CHANNELS];
  uint32_t pixels = (uint32_t)arguments[CUDA_MAP_PIXELS];
  switch (plan->function) {
  case NUMBER_cuTensorMapEncodeIm2col:
    return driver->cuTensorMapEncodeIm2col(map, plan->type, rank, address, sizes, strides, lower,
                                           upper, channels, pixels, steps, plan->interleave,
                                           plan->swizzle, plan->promotion, plan->fill);
  case NUMBER_cuTensorMapEncodeIm2colWide:
    return driver->cuTensorMapEncodeIm2colWide(
        map, plan->type, rank, address, sizes, strides, lower[0], upper[0], channels, pixels, steps,
        plan->interleave, plan->mode, plan->swizzle, plan->promotion, plan->fill);
  }
  return driver->cuTensorMapEncodeTiled(map, plan->type, rank, address, sizes, strides, box, steps,
                                        plan->interleave, plan->swizzle, plan->promotion,
                                        plan->fill);
}

static int32_t cuda_raise_no_maps(const CudaState *state, const CudaMapPlan *plan,
                                  const CudaSite *site) {
  int32_t version = 0;
  state->driver.cuDriverGetVersion(&version);
  CudaMessage message;
  message.length = 0;
  CUDA_SAY(&message,
           CUDA_LIBRARY " has no %s, which the tensor map of %s for kernel '%s' needs: the NVIDIA "
                        "driver is of CUDA %d.%d; update it to one of CUDA %s or later",
           cuda_function_names[plan->function], cuda_map_text(plan, plan->name), site->name,
           version / 1000, version % 1000 / 10,
           plan->function == NUMBER_cuTensorMapEncodeIm2colWide ? CUDA_FIRST_WIDE : CUDA_OLDEST);
  return cuda_raise(&message, "RuntimeError", site);
}

static void cuda_add_list(CudaMessage *message, const char *name, const int64_t *values,
                          int32_t count) {
  CUDA_SAY(message, ", %s=(", name);
  for (int32_t i = 0; i < count; ++i)
    CUDA_SAY(message, i == 0 ? "%lld" : ", %lld", (long long)values[i]);
  CUDA_SAY(message, ")");
}

// Says what the driver was asked for. Lists begin with the innermost dimension.
static int32_t cuda_raise_no_map(const CudaState *state, const CudaMapPlan *plan,
                                 const int64_t *arguments, int32_t status, const CudaSite *site) {
  CudaMessage message;
  message.length = 0;
  cuda_add_failure(&message, state, status);
  CUDA_SAY(&message, " for the tensor map of %s for kernel '%s': address=0x%llx",
           cuda_map_text(plan, plan->name), site->name,
           (unsigned long long)arguments[CUDA_MAP_ADDRESS]);
  cuda_add_list(&message, "sizes", arguments + CUDA_MAP_SIZES, plan->rank);
  cuda_add_list(&message, "strides", arguments + CUDA_MAP_STRIDES, plan->rank - 1);
  if (plan->function == NUMBER_cuTensorMapEncodeTiled) {
    cuda_add_list(&message, "box", arguments + CUDA_MAP_BOX, plan->rank);
  } else {
    int32_t corners = plan->function == NUMBER_cuTensorMapEncodeIm2col ? plan->rank - 2 : 1;
    cuda_add_list(&message, "lower", arguments + CUDA_MAP_LOWER, corners);
    cuda_add_list(&message, "upper", arguments + CUDA_MAP_UPPER, corners);
    CUDA_SAY(&message, ", channels=%lld, pixels=%lld", (long long)arguments[CUDA_MAP_CHANNELS],
             (long long)arguments[CUDA_MAP_PIXELS]);
  }
  cuda_add_list(&message, "element_strides", arguments + CUDA_MAP_STEPS, plan->rank);
  CUDA_SAY(&message, ", type=%d, interleave=%d, swizzle=%d, l2_promotion=%d, oob_fill=%d",
           plan->type, plan->interleave, plan->swizzle, plan->promotion, plan->fill);
  return cuda_raise(&message, "RuntimeError", site);
}

// Encodes a map, with a context of the device current, and keeps it.
int32_t SHARED(cuda_make_map)(CudaState *state, const CudaMapPlan *plan, int64_t *cache,
                              const int64_t *key, int64_t *map, CUdevice device,
                              CUDA_SITE_PARAMETERS) {
  const CudaSite *site = CUDA_SITE;
  if (state->addresses[plan->function] == NULL)
    return cuda_raise_no_maps(state, plan, site);
  int64_t arguments[CUDA_MAP_PLACES];
  int32_t refused = cuda_check_values(plan, key, arguments, site);
  if (refused != 0)
    return refused;
  bool pushed;
  int32_t status = cuda_enter(state, device, &pushed);
  if (status == 0) {
    CUresult result = cuda_call_encoder(&state->driver, plan, arguments, map);
    cuda_leave(state, pushed);
    status = cuda_status(plan->function, result);
  }
  if (status != 0)
    return cuda_raise_no_map(state, plan, arguments, status, site);
  cuda_keep_map(cache, key, plan->count, map);
  return 0;
}
