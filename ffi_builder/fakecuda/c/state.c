/* What there is: the driver, its lock, and everything that has a handle. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fake.h"

enum { kHandleStep = 64, kHandleSpace = 1 << 30 };

Driver driver;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static Object** objects;
static size_t object_count, object_room;
static uintptr_t handles; /* memory that nobody may touch: a handle is no pointer to the caller */
static unsigned violations;

void lock(void) { pthread_mutex_lock(&mutex); }
void unlock(void) { pthread_mutex_unlock(&mutex); }

void* must(void* memory) {
  if (memory == NULL || memory == MAP_FAILED) {
    fprintf(stderr, "fake driver: no memory: %s\n", strerror(errno));
    abort();
  }
  return memory;
}

void* object_new(Kind kind, size_t size) {
  if (handles == 0) {
    handles = (uintptr_t)must(
        mmap(NULL, kHandleSpace, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  }
  if (object_count == kHandleSpace / kHandleStep - 1) {
    errno = ENOMEM;
    must(NULL);
  }
  if (object_count == object_room) {
    object_room = object_room * 2 + 64;
    objects = must(realloc(objects, object_room * sizeof(*objects)));
  }
  Object* object = must(calloc(1, size));
  object->kind = kind;
  object->alive = true;
  object->handle = handles + kHandleStep * (object_count + 1);
  objects[object_count++] = object;
  return object;
}

Object* object_of(const void* handle) {
  uintptr_t value = (uintptr_t)handle;
  if (handles == 0 || value <= handles || value % kHandleStep != handles % kHandleStep) return NULL;
  size_t index = (value - handles) / kHandleStep - 1;
  return index < object_count ? objects[index] : NULL;
}

void* object_find(const void* handle, Kind kind) {
  Object* object = object_of(handle);
  if (object == NULL || object->kind != kind || !object->alive) return NULL;
  return object;
}

Object* object_at(size_t index) { return index < object_count ? objects[index] : NULL; }

void violation(const char* rule, const char* format, ...) {
  char text[512];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof(text), format, list);
  va_end(list);
  ++violations;
  log_line("violation", rule, CUDA_SUCCESS, text);
}

/* The kernel copies from the caller's memory, and says so where that cannot be read. */
bool readable(const void* address, size_t size) {
  static int pipes[2] = {-1, -1};
  enum { kPage = 4096 };
  if (address == NULL) return false;
  if (pipes[0] < 0 && pipe2(pipes, O_CLOEXEC | O_NONBLOCK) != 0) return true;
  const char* at = address;
  const char* end = at + size;
  if (end < at) return false;
  while (at < end) {
    char byte;
    if (write(pipes[1], at, 1) != 1) return false;
    if (read(pipes[0], &byte, 1) != 1) return false;
    at += kPage - (uintptr_t)at % kPage;
  }
  return true;
}

/* A child process of one that has called cuInit cannot use the driver. */
static void before_fork(void) { lock(); }
static void after_fork(void) { unlock(); }
static void in_child(void) {
  driver.forked = driver.initialized;
  unlock();
}

static unsigned from_environment(const char* name, unsigned otherwise) {
  const char* text = getenv(name);
  return text == NULL || *text == '\0' ? otherwise : (unsigned)strtoul(text, NULL, 10);
}

/* Calls apply(symbol, first, second) for each SYMBOL:FIRST[:SECOND] of a list. */
static void for_each(const char* name, void (*apply)(const char*, unsigned, int)) {
  const char* text = getenv(name);
  if (text == NULL) return;
  char* list = must(strdup(text));
  char* rest = list;
  for (char* item; (item = strsep(&rest, ",")) != NULL;) {
    char* symbol = strsep(&item, ":");
    char* first = strsep(&item, ":");
    if (first == NULL) continue;
    apply(symbol, (unsigned)strtoul(first, NULL, 10), item == NULL ? 0 : atoi(item));
  }
  free(list);
}

static void delay(const char* symbol, unsigned first, int second) {
  (void)second;
  fake_delay(symbol, first);
}

static void defaults(int devices, int host_access) {
  ++driver.epoch;
  driver.initialized = driver.forked = false;
  driver.host_access = host_access != 0;
  driver.device_count = devices < 0 ? 0 : devices > kDevices ? kDevices : devices;
  driver.version = CUDA_VERSION;
  violations = 0;
  for (int i = 0; i < kDevices; ++i) device_defaults(&driver.devices[i]);
}

__attribute__((constructor)) static void start(void) {
  pthread_atfork(before_fork, after_fork, in_child);
  defaults((int)from_environment("FAKE_CUDA_DEVICES", 2), 0);
  fake_driver_version((int)from_environment("FAKE_CUDA_VERSION", 0));
  log_open();
  for_each("FAKE_CUDA_FAIL", fake_fail);
  for_each("FAKE_CUDA_DELAY", delay);
}

void fake_reset(int devices, int host_access) {
  lock();
  for (size_t i = 0; i < object_count; ++i) objects[i]->alive = false;
  memory_clear();
  log_clear();
  plan_clear();
  launch_clear();
  error_clear();
  defaults(devices, host_access);
  unlock();
}

unsigned fake_violations(void) {
  lock();
  unsigned count = violations;
  unlock();
  return count;
}

unsigned fake_live(const char* kind) {
  static const char* const names[] = {
      [kKindContext] = "context", [kKindStream] = "stream", [kKindEvent] = "event",         [kKindLibrary] = "library",
      [kKindModule] = "module",   [kKindGraph] = "graph",           [kKindGraphExec] = "graph_exec",
      [kKindKernel] = "kernel",   [kKindFunction] = "function",     [kKindCode] = "code"};
  unsigned count = 0;
  lock();
  if (strcmp(kind, "memory") == 0) count = memory_live();
  if (strcmp(kind, "primary") == 0) {
    for (int i = 0; i < kDevices; ++i) count += driver.devices[i].retained;
  }
  for (size_t i = 0; i < object_count; ++i) {
    count += objects[i]->alive && strcmp(names[objects[i]->kind], kind) == 0;
  }
  unlock();
  return count;
}
