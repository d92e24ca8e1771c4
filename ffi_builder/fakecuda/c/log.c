/* What happened, as text: see fake_control.h. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake.h"

static char* text;
static size_t used, room;
static int file = -1;

void log_open(void) {
  const char* path = getenv("FAKE_CUDA_LOG");
  if (path == NULL || *path == '\0') return;
  file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
}

void log_line(const char* kind, const char* name, CUresult result, const char* details) {
  static const char format[] = "%s\t%u\t%s\t%d\t%s\n";
  unsigned thread = this_thread_number();
  size_t line = (size_t)snprintf(NULL, 0, format, kind, thread, name, (int)result, details);
  if (used + line + 1 > room) {
    room = (used + line + 1) * 2;
    text = must(realloc(text, room));
  }
  snprintf(text + used, line + 1, format, kind, thread, name, (int)result, details);
  /* One write, so that lines of several processes do not mix. */
  if (file >= 0 && write(file, text + used, line) < 0) file = -1;
  used += line;
}

static void print_bytes(FILE* out, const void* data, size_t size) {
  const unsigned char* bytes = data;
  for (size_t i = 0; i < size; ++i) fprintf(out, "%02x", bytes[i]);
}

void log_launch(const char* kind, const Launch* launch) {
  const FakeLaunch* all = &launch->public;
  char* details = NULL;
  size_t size = 0;
  FILE* out = must(open_memstream(&details, &size));
  fprintf(out, "grid=%u,%u,%u block=%u,%u,%u cluster=%u,%u,%u shared=%u device=%d", all->grid[0],
          all->grid[1], all->grid[2], all->block[0], all->block[1], all->block[2], all->cluster[0],
          all->cluster[1], all->cluster[2], all->shared, all->device);
  fprintf(out, " context=0x%" PRIx64 " stream=0x%" PRIx64, all->context, all->stream);
  for (unsigned i = 0; i < launch->attribute_count; ++i) {
    fprintf(out, " a=%d:", (int)launch->attributes[i].id);
    print_bytes(out, &launch->attributes[i].value, sizeof(launch->attributes[i].value));
  }
  for (uint32_t i = 0; i < all->count; ++i) {
    const FakeParameter* parameter = &all->parameters[i];
    fprintf(out, " p=%u:%u:0x%" PRIx64 ":", parameter->offset, parameter->size, parameter->address);
    print_bytes(out, parameter->bytes, parameter->size);
  }
  if (fclose(out) != 0) must(NULL);
  log_line(kind, all->kernel, CUDA_SUCCESS, details);
  free(details);
}

void log_clear(void) { used = 0; }

void fake_clear_log(void) {
  lock();
  log_clear();
  unlock();
}

size_t fake_log(char* buffer, size_t size) {
  lock();
  size_t length = used;
  if (size > 0) {
    size_t copied = length < size - 1 ? length : size - 1;
    if (copied > 0) memcpy(buffer, text, copied);
    buffer[copied] = '\0';
  }
  unlock();
  return length;
}
