/* The frame around every function of the driver. */
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fake.h"

static __thread Thread me;

unsigned this_thread_number(void) {
  static atomic_uint threads;
  if (me.number == 0) me.number = atomic_fetch_add(&threads, 1) + 1;
  return me.number;
}

/* With the lock held. */
Thread* this_thread(void) {
  this_thread_number();
  if (me.epoch != driver.epoch) {
    me.epoch = driver.epoch;
    me.depth = 0;
    me.mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  }
  return &me;
}

unsigned fake_stack_depth(void) {
  lock();
  unsigned depth = this_thread()->depth;
  unlock();
  return depth;
}

static CUresult needed(unsigned needs) {
  if (needs == kNothing) return CUDA_SUCCESS;
  if (driver.finished) return CUDA_ERROR_DEINITIALIZED;
  if (driver.forked || !driver.initialized) return CUDA_ERROR_NOT_INITIALIZED;
  if ((needs & kContext) == kContext) {
    Context* context;
    CUresult result = context_current(&context);
    if (result != CUDA_SUCCESS) return result;
  }
  return needs & kUnsafe ? capture_forbids_unsafe() : CUDA_SUCCESS;
}

CUresult call_begin(Call* call, const char* symbol, unsigned needs, const char* format, ...) {
  *call = (Call){.symbol = symbol};
  size_t size = 0;
  FILE* out = must(open_memstream(&call->arguments, &size));
  va_list list;
  va_start(list, format);
  vfprintf(out, format, list);
  va_end(list);
  if (fclose(out) != 0) must(NULL);

  lock();
  unsigned delay = plan_delay(symbol);
  if (delay > 0) {
    unlock(); /* others go on meanwhile */
    usleep(delay);
    lock();
  }
  CUresult result = plan_next(symbol);
  return result != CUDA_SUCCESS ? result : needed(needs);
}

CUresult call_end(Call* call, CUresult result) {
  log_line("call", call->symbol, result, call->arguments);
  free(call->arguments);
  unlock();
  while (call->run != NULL) {
    Launch* launch = call->run;
    call->run = launch->next;
    launch_run(launch);
    launch_free(launch);
  }
  return result;
}
