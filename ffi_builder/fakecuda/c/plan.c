/* Failures and delays that a test asks for, and how often each function was called. */
#include <stdlib.h>
#include <string.h>

#include "fake.h"

typedef struct Failure {
  unsigned at; /* a number of calls; 0: each */
  CUresult result;
  struct Failure* next;
} Failure;

typedef struct Plan {
  char* symbol;
  unsigned calls, delay;
  Failure* failures;
  struct Plan* next;
} Plan;

static Plan* plans;

static Plan* plan_of(const char* symbol) {
  for (Plan* plan = plans; plan != NULL; plan = plan->next) {
    if (strcmp(plan->symbol, symbol) == 0) return plan;
  }
  Plan* plan = must(calloc(1, sizeof(*plan)));
  plan->symbol = must(strdup(symbol));
  plan->next = plans;
  return plans = plan;
}

unsigned plan_delay(const char* symbol) { return plan_of(symbol)->delay; }

CUresult plan_next(const char* symbol) {
  Plan* plan = plan_of(symbol);
  ++plan->calls;
  for (const Failure* failure = plan->failures; failure != NULL; failure = failure->next) {
    if (failure->at == 0 || failure->at == plan->calls) return failure->result;
  }
  return CUDA_SUCCESS;
}

void plan_clear(void) {
  while (plans != NULL) {
    Plan* plan = plans;
    plans = plan->next;
    while (plan->failures != NULL) {
      Failure* failure = plan->failures;
      plan->failures = failure->next;
      free(failure);
    }
    free(plan->symbol);
    free(plan);
  }
}

void fake_fail(const char* symbol, unsigned nth, int result) {
  lock();
  Plan* plan = plan_of(symbol);
  Failure* failure = must(calloc(1, sizeof(*failure)));
  failure->at = nth == 0 ? 0 : plan->calls + nth;
  failure->result = (CUresult)result;
  failure->next = plan->failures;
  plan->failures = failure;
  unlock();
}

void fake_delay(const char* symbol, unsigned microseconds) {
  lock();
  plan_of(symbol)->delay = microseconds;
  unlock();
}

unsigned fake_count(const char* symbol) {
  lock();
  unsigned calls = plan_of(symbol)->calls;
  unlock();
  return calls;
}
