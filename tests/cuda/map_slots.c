/* Eight threads find and make the maps of one call site: more of them than it keeps.
 *
 * It is compiled with the functions in C that wrappers call, and a driver that fills a map with the
 * address that it was asked for. It exits with 1 if a thread gets the map of another address. */
#include <pthread.h>

#include "support.c"

enum { THREADS = 8, TENSORS = 12, TURNS = 40000 };

static int64_t cache[1 + CUDA_MAP_SLOTS * (1 + 1 + CUDA_MAP_WORDS)];
static CudaState state;
static CudaMapPlan *plan;
static int64_t made, wrong;

static CUresult encode(void *map, int32_t type, uint32_t rank, void *address, const uint64_t *sizes,
                       const uint64_t *strides, const uint32_t *box, const uint32_t *steps,
                       int32_t interleave, int32_t swizzle, int32_t promotion, int32_t fill) {
  (void)type, (void)rank, (void)sizes, (void)strides, (void)box, (void)steps, (void)interleave;
  (void)swizzle, (void)promotion, (void)fill;
  __atomic_fetch_add(&made, 1, __ATOMIC_RELAXED);
  for (int i = 0; i < CUDA_MAP_WORDS; ++i)
    ((int64_t *)map)[i] = (int64_t)(uintptr_t)address;
  return CUDA_SUCCESS;
}

static CUresult current(CUcontext *context) {
  *context = (CUcontext)&state;
  return CUDA_SUCCESS;
}

static void *work(void *first) {
  int64_t key = (int64_t)(intptr_t)first, map[CUDA_MAP_WORDS];
  for (int turn = 0; turn < TURNS; ++turn) {
    /* Mostly the same few, which are found; now and then others, which put them out. */
    key = 16 * (1 + (key / 16 + (turn % 64 == 0 ? 5 : turn % 3)) % TENSORS);
    if (!SHARED(cuda_find_map)(cache, &key, 1, map))
      SHARED(cuda_make_map)(&state, plan, cache, &key, map, -1, "k", "", NULL, "", "", 0);
    for (int i = 0; i < CUDA_MAP_WORDS; ++i)
      if (map[i] != key)
        __atomic_store_n(&wrong, 1, __ATOMIC_RELAXED);
  }
  return NULL;
}

int main(void) {
  pthread_t threads[THREADS];
  state.driver.cuCtxGetCurrent = current;
  state.driver.cuTensorMapEncodeTiled = encode;
  plan = calloc(1, sizeof *plan + sizeof plan->values[0]);
  plan->function = NUMBER_cuTensorMapEncodeTiled;
  plan->rank = plan->count = 1;
  plan->values[0] = (CudaMapValue){0, INT64_MAX, 16, CUDA_MAP_ADDRESS, 1, 1, 0};
  for (intptr_t i = 0; i < THREADS; ++i)
    pthread_create(&threads[i], NULL, work, (void *)(16 * i));
  for (int i = 0; i < THREADS; ++i)
    pthread_join(threads[i], NULL);
  printf("%lld of %d were made\n", (long long)made, THREADS * TURNS);
  free(plan);
  return wrong != 0 || made == 0 || made == THREADS * TURNS;
}
