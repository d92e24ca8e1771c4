/* Reading PTX as far as its entries' parameters, and the sizes of its variables: .version, .target,
 * .entry NAME ( .param … ), .global .u32 NAME[4]. What else there is, initial values and functions,
 * is skipped. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"

typedef struct Text {
  const char* at;
  bool wrong;
} Text;

/* Past blanks, comments and lines of a preprocessor. */
static void skip(Text* text) {
  for (;;) {
    while (isspace((unsigned char)*text->at)) ++text->at;
    if (strncmp(text->at, "//", 2) == 0 || *text->at == '#') {
      text->at += strcspn(text->at, "\n");
    } else if (strncmp(text->at, "/*", 2) == 0) {
      const char* end = strstr(text->at + 2, "*/");
      if (end == NULL) text->wrong = true;
      text->at = end == NULL ? strchr(text->at, '\0') : end + 2;
    } else {
      return;
    }
  }
}

/* Of a name, or of a directive with its dot. */
static size_t word_length(const char* at) {
  size_t length = *at == '.';
  while (isalnum((unsigned char)at[length]) || (at[length] != '\0' && strchr("_$%", at[length]))) {
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

static void need(Text* text, const char* token) {
  if (!take(text, token)) text->wrong = true;
}

/* Decimal, hexadecimal, octal or binary; a U may follow. */
static unsigned number(Text* text) {
  skip(text);
  bool binary = text->at[0] == '0' && (text->at[1] == 'b' || text->at[1] == 'B');
  const char* digits = binary ? text->at + 2 : text->at;
  char* end = (char*)digits;
  unsigned value = 0;
  if (isdigit((unsigned char)*digits)) value = (unsigned)strtoul(digits, &end, binary ? 2 : 0);
  if (end == digits) text->wrong = true;
  text->at = *end == 'U' ? end + 1 : end;
  return value;
}

static const char* name(Text* text, size_t* length) {
  skip(text);
  const char* found = text->at;
  *length = word_length(found);
  if (*length == 0 || *found == '.' || isdigit((unsigned char)*found)) text->wrong = true;
  text->at += *length;
  return found;
}

static void skip_string(Text* text) {
  need(text, "\"");
  text->at += strcspn(text->at, "\"");
  if (*text->at == '\0') text->wrong = true;
  else ++text->at;
}

/* To the first of these characters that is in no brackets, string or comment. */
static void skip_to(Text* text, const char* ends) {
  unsigned depth = 0;
  for (skip(text); *text->at != '\0' && !text->wrong; skip(text)) {
    if (depth == 0 && strchr(ends, *text->at) != NULL) return;
    if (*text->at == '"') {
      skip_string(text);
      continue;
    }
    if (strchr("({[", *text->at) != NULL) ++depth;
    if (strchr(")}]", *text->at) != NULL && depth-- == 0) break;
    ++text->at;
  }
  text->wrong = true;
}

static void skip_past(Text* text, const char* end) {
  skip_to(text, end);
  need(text, end);
}

/* Past NAME[SIZE] = {1, generic(x)+4, 0xFF(y)}, and whatever else ends with a semicolon. A brace that
 * is not behind "=" belongs to the next kernel: the semicolon is missing. */
static void skip_declaration(Text* text) {
  for (;;) {
    skip_to(text, "=;{");
    if (text->wrong || take(text, ";")) return;
    need(text, "=");
    if (take(text, "{")) skip_past(text, "}");
  }
}

/* .param [.align N] .TYPE [.ptr …] NAME[SIZE] */
static void read_parameter(Text* text, KernelInfo* kernel, uint32_t* space) {
  uint32_t alignment = 0, size = 0;
  size_t length;
  bool pointer = false; /* behind .ptr it is the alignment of what is pointed to */
  need(text, ".param");
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
  name(text, &length);
  if (alignment == 0) alignment = size;
  if (take(text, "[")) {
    size *= number(text);
    need(text, "]");
  }
  if (size == 0 || alignment == 0) text->wrong = true;
  if (text->wrong) return;
  *space = (*space + alignment - 1) / alignment * alignment;
  kernel->parameters =
      must(realloc(kernel->parameters, (kernel->count + 1) * sizeof(*kernel->parameters)));
  kernel->parameters[kernel->count].offset = *space;
  kernel->parameters[kernel->count++].size = size;
  *space += size;
}

/* What is between the parameters and the body: .maxntid 256, 1, 1 .explicitcluster … */
static void read_directives(Text* text, KernelInfo* kernel) {
  for (skip(text); *text->at == '.' && !text->wrong; skip(text)) {
    if (take(text, ".pragma")) {
      skip_past(text, ";");
      continue;
    }
    bool threads = take(text, ".maxntid") || take(text, ".reqntid");
    bool cluster = !threads && take(text, ".reqnctapercluster");
    if (!threads && !cluster) text->at += word_length(text->at);
    skip(text);
    if (!threads && !cluster && !isdigit((unsigned char)*text->at)) continue;
    unsigned found[3] = {1, 1, 1};
    for (unsigned i = 0; i < 3 && (i == 0 || take(text, ",")); ++i) found[i] = number(text);
    if (threads) kernel->max_threads = found[0] * found[1] * found[2];
    if (cluster) memcpy(kernel->cluster, found, sizeof(found));
    if ((threads || cluster) && found[0] * found[1] * found[2] == 0) text->wrong = true;
  }
}

/* False if it is declared only. */
static bool skip_body(Text* text) {
  if (take(text, ";")) return false;
  need(text, "{");
  skip_past(text, "}");
  return true;
}

static void read_entry(Text* text, Image* image) {
  KernelInfo kernel = {0};
  size_t length;
  uint32_t space = 0;
  const char* found = name(text, &length);
  if (take(text, "(") && !take(text, ")")) {
    do read_parameter(text, &kernel, &space);
    while (!text->wrong && take(text, ","));
    need(text, ")");
  }
  read_directives(text, &kernel);
  unsigned before = image->count;
  if (!skip_body(text) || text->wrong) return;
  KernelInfo* made = image_kernel(image, found, length);
  if (image->count == before) text->wrong = true; /* it is defined twice */
  kernel.name = made->name;
  *made = kernel;
}

/* .func (RESULT) NAME (PARAMETERS) */
static void skip_function(Text* text) {
  KernelInfo none = {0};
  skip_to(text, ".{;");
  read_directives(text, &none);
  skip_body(text);
}

/* .global [.align N] [.attribute(…)] [.v2] .TYPE NAME[SIZE], of which nothing is consumed. */
static void look_at_variable(Text text, Image* image) {
  uint64_t size = 0, elements = 1;
  size_t length;
  if (!take(&text, ".global") && !take(&text, ".const")) return;
  for (skip(&text); *text.at == '.'; skip(&text)) {
    if (take(&text, ".align")) {
      number(&text);
      continue;
    }
    if (take(&text, ".attribute")) {
      skip_past(&text, "(");
      skip_past(&text, ")");
      continue;
    }
    const char* type = text.at + 1;
    text.at += word_length(text.at);
    uint64_t found = isdigit((unsigned char)type[1]) ? strtoul(type + 1, NULL, 10) : 0;
    if (*type == 'v') elements = found;
    else size = found / 8;
  }
  const char* found = name(&text, &length);
  while (take(&text, "[") && !text.wrong) {
    elements *= number(&text); /* wrong for an array that its values give the size */
    need(&text, "]");
  }
  if (!text.wrong && size * elements > 0) image_global(image, found, length, size * elements, NULL);
}

static void read_statement(Text* text, Image* image) {
  bool linkage = false, external = false;
  for (;; linkage = true) {
    if (take(text, ".extern")) external = true;
    else if (!take(text, ".visible") && !take(text, ".weak") && !take(text, ".common")) break;
  }
  if (!external) look_at_variable(*text, image);
  if (take(text, ".entry")) {
    read_entry(text, image);
  } else if (take(text, ".func")) {
    skip_function(text);
  } else if (linkage) {
    skip_declaration(text);
  } else if (take(text, ".address_size")) {
    number(text);
  } else if (take(text, ".file")) {
    number(text);
    skip_string(text);
    while (take(text, ",")) number(text);
  } else if (take(text, ".section")) {
    skip_past(text, "{");
    skip_past(text, "}");
  } else if (*text->at == '.') {
    skip_declaration(text);
  } else {
    text->wrong = true;
  }
}

/* .target sm_90a, debug */
static void read_target(Text* text, Image* image) {
  size_t length;
  need(text, ".target");
  if (!take(text, "sm_")) need(text, "compute_");
  image->sm = (int)number(text);
  image->exact = *text->at == 'a';
  image->family = *text->at == 'f';
  if (image->exact || image->family) ++text->at;
  while (take(text, ",")) name(text, &length);
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
  need(&text, ".");
  image->ptx += (int)number(&text);
  read_target(&text, image);
  while (skip(&text), *text.at != '\0' && !text.wrong) read_statement(&text, image);
  if (!text.wrong) {
    image->text = must(strdup(code));
    return CUDA_SUCCESS;
  }
  unsigned line = 1;
  for (const char* at = code; at < text.at; ++at) line += *at == '\n';
  return explain(CUDA_ERROR_INVALID_PTX,
                 "a PTX JIT compilation failed. FakeCuda can read it up to line %u", line);
}
