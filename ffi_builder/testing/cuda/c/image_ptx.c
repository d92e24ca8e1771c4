/* Reading PTX as far as its entries' parameters: .version, .target, .entry NAME ( .param … ). */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"

typedef struct Text {
  const char* at;
  bool wrong;
} Text;

/* Past blanks and comments. */
static void skip(Text* text) {
  for (;;) {
    while (isspace((unsigned char)*text->at)) ++text->at;
    if (strncmp(text->at, "//", 2) == 0) {
      text->at += strcspn(text->at, "\n");
    } else if (strncmp(text->at, "/*", 2) == 0) {
      const char* end = strstr(text->at + 2, "*/");
      if (end == NULL) return;
      text->at = end + 2;
    } else {
      return;
    }
  }
}

static size_t word_length(const char* at) {
  size_t length = 0;
  while (isalnum((unsigned char)at[length]) || strchr("_$%.", at[length] == '\0' ? ' ' : at[length])) {
    ++length;
  }
  return length;
}

static bool take(Text* text, const char* token) {
  skip(text);
  size_t length = strlen(token);
  if (strncmp(text->at, token, length) != 0) return false;
  if (isalpha((unsigned char)token[length - 1]) && word_length(text->at) != length) return false;
  text->at += length;
  return true;
}

static unsigned number(Text* text) {
  skip(text);
  char* end;
  unsigned value = (unsigned)strtoul(text->at, &end, 0);
  if (end == text->at) text->wrong = true;
  text->at = end;
  return value;
}

/* Past one statement or one body in braces. */
static void skip_statement(Text* text) {
  unsigned depth = 0;
  for (; *text->at != '\0'; ++text->at) {
    skip(text);
    if (*text->at == '\0') return;
    if (*text->at == '"') text->at += 1 + strcspn(text->at + 1, "\"");
    if (*text->at == '{') ++depth;
    if ((*text->at == '}' && --depth == 0) || (*text->at == ';' && depth == 0)) {
      ++text->at;
      return;
    }
  }
  text->wrong = true;
}

/* .param [.align N] .TYPE [.ptr …] NAME[SIZE] */
static void read_parameter(Text* text, KernelInfo* kernel, uint32_t* space) {
  uint32_t alignment = 0, size = 0;
  bool pointer = false; /* behind .ptr it is the alignment of what is pointed to */
  if (!take(text, ".param")) text->wrong = true;
  for (;;) {
    skip(text);
    if (*text->at != '.') break;
    if (take(text, ".align")) {
      unsigned found = number(text);
      if (!pointer) alignment = found;
      continue;
    }
    if (take(text, ".ptr")) {
      pointer = true;
      continue;
    }
    const char* type = text->at + 1;
    text->at += word_length(text->at);
    if (isdigit((unsigned char)type[1])) size = (uint32_t)strtoul(type + 1, NULL, 10) / 8;
  }
  text->at += word_length(text->at);
  if (alignment == 0) alignment = size;
  if (take(text, "[")) {
    size *= number(text);
    if (!take(text, "]")) text->wrong = true;
  }
  if (size == 0 || alignment == 0) {
    text->wrong = true;
    return;
  }
  *space = (*space + alignment - 1) / alignment * alignment;
  kernel->parameters =
      must(realloc(kernel->parameters, (kernel->count + 1) * sizeof(*kernel->parameters)));
  kernel->parameters[kernel->count].offset = *space;
  kernel->parameters[kernel->count++].size = size;
  *space += size;
}

static void read_entry(Text* text, Image* image) {
  skip(text);
  size_t length = word_length(text->at);
  KernelInfo* kernel = image_kernel(image, text->at, length);
  text->at += length;
  uint32_t space = 0;
  if (take(text, "(") && !take(text, ")")) {
    do read_parameter(text, kernel, &space);
    while (!text->wrong && take(text, ","));
    if (!take(text, ")")) text->wrong = true;
  }
  for (;;) {
    unsigned found[3] = {1, 1, 1};
    bool threads = take(text, ".maxntid") || take(text, ".reqntid");
    if (!threads && !take(text, ".reqnctapercluster")) break;
    for (unsigned i = 0; i < 3 && (i == 0 || take(text, ",")); ++i) found[i] = number(text);
    if (threads) kernel->max_threads = found[0] * found[1] * found[2];
    else memcpy(kernel->cluster, found, sizeof(found));
  }
  skip_statement(text);
}

/* The text ends with a NUL, which must be in memory that can be read. */
static bool terminated(const char* code) {
  enum { kPage = 4096 };
  for (;;) {
    size_t rest = kPage - (uintptr_t)code % kPage;
    if (!readable(code, 1)) return false;
    if (memchr(code, '\0', rest) != NULL) return true;
    code += rest;
  }
}

CUresult ptx_read(const char* code, Image* image) {
  if (!terminated(code)) return CUDA_ERROR_INVALID_IMAGE;
  Text text = {code, false};
  if (!take(&text, ".version")) return CUDA_ERROR_INVALID_IMAGE;
  image->ptx = (int)number(&text) * 10;
  if (!take(&text, ".")) return CUDA_ERROR_INVALID_PTX;
  image->ptx += (int)number(&text);
  if (!take(&text, ".target") || (skip(&text), strncmp(text.at, "sm_", 3) != 0)) {
    return CUDA_ERROR_INVALID_PTX;
  }
  text.at += 3;
  image->sm = (int)number(&text);
  image->exact = *text.at == 'a';
  text.at += strcspn(text.at, "\n");
  while (skip(&text), *text.at != '\0') {
    if (take(&text, ".visible") || take(&text, ".weak")) continue;
    if (take(&text, ".address_size")) {
      number(&text);
    } else if (take(&text, ".entry")) {
      read_entry(&text, image);
    } else if (take(&text, ".file")) {
      text.at += strcspn(text.at, "\n");
    } else if (*text.at == '.') {
      skip_statement(&text);
    } else {
      text.wrong = true;
    }
    if (text.wrong) return CUDA_ERROR_INVALID_PTX;
  }
  return CUDA_SUCCESS;
}
