/* Makes calls that are written in files, with each piece of memory in a block of exactly its size.
 *
 * A file has one line for each thing; bytes are hex:
 *
 *     call SYMBOL NUM_ARGS BLOCK      the array of arguments is this block; -1 is NULL
 *     words WORD ...                  the next block, from 0 on, of 8 bytes each: a number,
 *                                     LOW|HIGH of 4 bytes each, or @N, the address of block N
 *     bytes HEX                       the next block
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
static char* block_words[kMostBlocks];
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

static void* add_block(size_t size) {
  if (block_count == kMostBlocks) fail("too many blocks", "");
  block_words[block_count] = NULL;
  return blocks[block_count++] = malloc(size);
}

static void add_bytes(const char* hex) {
  size_t size = strlen(hex) / 2;
  unsigned char* block = add_block(size);
  for (size_t i = 0; i < size; ++i) {
    unsigned int byte;
    if (sscanf(hex + 2 * i, "%2x", &byte) != 1) fail("not hex", hex);
    block[i] = (unsigned char)byte;
  }
}

static void add_words(const char* text) {
  size_t count = 0;
  for (const char* at = text; *at; ++at) count += *at == ' ';
  add_block(8 * count);
  block_words[block_count - 1] = strcpy(malloc(strlen(text) + 1), text);
}

static uint64_t number(char** at) {
  return **at == '-' ? (uint64_t)strtoll(*at, at, 0) : strtoull(*at, at, 0);
}

/* Words are written once all blocks have an address. */
static void write_words(int index) {
  uint64_t* block = (uint64_t*)blocks[index];
  for (char* at = block_words[index]; *at == ' ';) {
    uint64_t word;
    if (*++at == '@') {
      ++at;
      word = (uint64_t)(uintptr_t)blocks[number(&at)];
    } else {
      word = number(&at);
      if (*at == '|') {
        ++at;
        word = (uint32_t)word | number(&at) << 32;
      }
    }
    if (*at != ' ' && *at != 0) fail("not a word", at);
    memcpy(block++, &word, sizeof(word));
  }
}

static void free_blocks(void) {
  while (block_count > 0) {
    free(blocks[--block_count]);
    free(block_words[block_count]);
  }
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
  FILE* file = argc == 2 ? fopen(argv[1], "r") : NULL;
  if (file == NULL) fail("usage", "harness FILE");
  while (fgets(line, sizeof(line), file) != NULL) {
    line[strcspn(line, "\n")] = 0;
    if (sscanf(line, "call %255s %d %d", name, &num_args, &array) == 3) {
      function = find(name);
    } else if (strncmp(line, "words", 5) == 0) {
      add_words(line + 5);
    } else if (strncmp(line, "bytes ", 6) == 0) {
      add_bytes(line + 6);
    } else if (strncmp(line, "error ", 6) == 0 || strcmp(line, "right") == 0) {
      const char* expected = *line == 'r' ? line : line + 6;
      for (int i = 0; i < block_count; ++i) {
        if (block_words[i] != NULL) write_words(i);
      }
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
  fclose(file);
  printf("%d calls, %d wrong\n", calls, wrong);
  return wrong != 0;
}
