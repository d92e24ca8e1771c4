/* Calls wrappers with arguments from a corpus, laid out as blocks of memory of exactly their size.
 *
 * The corpus has one line for each thing; numbers are decimal, bytes are hex:
 *
 *     call SYMBOL NUM_ARGS BLOCK      the array of arguments is this block; -1 is NULL
 *     block HEX                       the next block, from 0 on; "-" has no bytes
 *     point BLOCK OFFSET TARGET       the 8 bytes there are the address of a block
 *     error KIND MESSAGE              what the call must raise, without the signature; or: right
 *
 * Each block is allocated by itself, so that valgrind sees any read beyond it. The functions are
 * linked in; functions.inc has one line FUNCTION(symbol) for each.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tvm/ffi/c_api.h>

typedef int (*Function)(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);

#define FUNCTION(symbol) int symbol(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
#include "functions.inc"
#undef FUNCTION

static const struct {
  const char* name;
  Function function;
} kFunctions[] = {
#define FUNCTION(symbol) {#symbol, symbol},
#include "functions.inc"
#undef FUNCTION
};

enum { kMostBlocks = 512 };

static unsigned char* blocks[kMostBlocks];
static int block_count;

static void fail(const char* what, const char* line) {
  fprintf(stderr, "%s: %s\n", what, line);
  exit(2);
}

static Function find(const char* name) {
  for (size_t i = 0; i < sizeof(kFunctions) / sizeof(kFunctions[0]); ++i) {
    if (strcmp(kFunctions[i].name, name) == 0) return kFunctions[i].function;
  }
  fail("no such function", name);
  return NULL;
}

static void add_block(const char* hex) {
  size_t size = *hex == '-' ? 0 : strlen(hex) / 2;
  if (block_count == kMostBlocks) fail("too many blocks", hex);
  unsigned char* block = malloc(size);
  for (size_t i = 0; i < size; ++i) {
    unsigned int byte;
    if (sscanf(hex + 2 * i, "%2x", &byte) != 1) fail("not hex", hex);
    block[i] = (unsigned char)byte;
  }
  blocks[block_count++] = block;
}

static void free_blocks(void) {
  while (block_count > 0) free(blocks[--block_count]);
}

/* Whether an error is "KIND MESSAGE", where `` stands for the signature in its quotes. */
static int is(const TVMFFIErrorCell* error, const char* expected) {
  const char* message = error->message.data;
  const char* signature = strstr(expected, "``");
  size_t kind = error->kind.size, size = error->message.size;
  if (signature == NULL || strncmp(expected, error->kind.data, kind) || expected[kind] != ' ') return 0;
  const char* head = expected + kind + 1;
  const char* tail = signature + 1;
  size_t before = (size_t)(signature + 1 - head), behind = strlen(tail);
  return size >= before + behind && memcmp(message, head, before) == 0 &&
         memcmp(message + size - behind, tail, behind) == 0;
}

static int check(Function function, int32_t num_args, int array, const char* expected) {
  TVMFFIAny result;
  memset(&result, 0xa5, sizeof(result));
  const TVMFFIAny* args = array < 0 ? NULL : (const TVMFFIAny*)blocks[array];
  int status = function(NULL, args, num_args, &result);
  if (status == 0) return strcmp(expected, "right") == 0;
  TVMFFIObjectHandle error = NULL;
  TVMFFIErrorMoveFromRaised(&error);
  if (status != -1 || error == NULL) return 0;
  TVMFFIErrorCell* cell = (TVMFFIErrorCell*)((char*)error + sizeof(TVMFFIObject));
  int same = is(cell, expected);
  if (!same) fprintf(stderr, "raised %.*s\n", (int)cell->message.size, cell->message.data);
  TVMFFIObjectDecRef(error);
  return same;
}

int main(int argc, char** argv) {
  static char line[1 << 20];
  char name[256];
  Function function = NULL;
  int num_args = 0, array = -1, calls = 0, wrong = 0;
  FILE* corpus = argc == 2 ? fopen(argv[1], "r") : NULL;
  if (corpus == NULL) fail("usage", "harness CORPUS");
  while (fgets(line, sizeof(line), corpus) != NULL) {
    line[strcspn(line, "\n")] = 0;
    int at, offset, target;
    if (sscanf(line, "call %255s %d %d", name, &num_args, &array) == 3) {
      function = find(name);
    } else if (strncmp(line, "block ", 6) == 0) {
      add_block(line + 6);
    } else if (sscanf(line, "point %d %d %d", &at, &offset, &target) == 3) {
      unsigned char* address = blocks[target];
      memcpy(blocks[at] + offset, &address, sizeof(address));
    } else if (strncmp(line, "error ", 6) == 0 || strcmp(line, "right") == 0) {
      const char* expected = *line == 'r' ? line : line + 6;
      ++calls;
      if (!check(function, num_args, array, expected)) {
        fprintf(stderr, "call %d of %s: expected %s\n", calls, name, expected);
        ++wrong;
      }
      free_blocks();
    } else if (*line != 0 && *line != '#') {
      fail("not understood", line);
    }
  }
  fclose(corpus);
  printf("%d calls, %d wrong\n", calls, wrong);
  return wrong != 0;
}
