/* Reading a code object: an ELF-64 file for machine 224, whose note of type 32 has the metadata as
 * MessagePack. Of these only what a launch needs is looked at. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hip.h"

enum { kMachine = 224, kNote = 32, kDeepest = 16, kMostArguments = 1024 };

/* Bytes that are read as MessagePack. After damage `ok` is false, and all that is read is 0. */
typedef struct Reader {
  const unsigned char *at, *end;
  bool ok;
} Reader;

typedef struct Text {
  const char* at;
  size_t size;
} Text;

static uint64_t big(Reader* reader, unsigned size) {
  uint64_t value = 0;
  if (!reader->ok || (size_t)(reader->end - reader->at) < size) {
    reader->ok = false;
    return 0;
  }
  for (unsigned i = 0; i < size; ++i) value = value << 8 | *reader->at++;
  return value;
}

static unsigned peek(const Reader* reader) {
  return reader->ok && reader->at < reader->end ? *reader->at : 0xC1; /* which is never used */
}

/* The number of pairs of a map, or of elements of a list; 0 for another value. */
static uint64_t count_of(Reader* reader, unsigned fixed, unsigned wide) {
  unsigned tag = (unsigned)big(reader, 1);
  if ((tag & 0xF0) == fixed) return tag & 0xF;
  if (tag == wide) return big(reader, 2);
  if (tag == wide + 1) return big(reader, 4);
  reader->ok = false;
  return 0;
}

static uint64_t map_size(Reader* reader) { return count_of(reader, 0x80, 0xDE); }
static uint64_t list_size(Reader* reader) { return count_of(reader, 0x90, 0xDC); }

static Text text_of(Reader* reader) {
  unsigned tag = (unsigned)big(reader, 1);
  uint64_t size = (tag & 0xE0) == 0xA0 ? tag & 0x1F
                  : tag >= 0xD9 && tag <= 0xDB ? big(reader, 1u << (tag - 0xD9))
                                               : UINT64_MAX;
  if (!reader->ok || size > (uint64_t)(reader->end - reader->at)) {
    reader->ok = false;
    return (Text){"", 0};
  }
  Text text = {(const char*)reader->at, size};
  reader->at += size;
  return text;
}

static uint64_t number_of(Reader* reader) {
  unsigned tag = (unsigned)big(reader, 1);
  if (tag < 0x80) return tag;
  if (tag >= 0xCC && tag <= 0xCF) return big(reader, 1u << (tag - 0xCC));
  reader->ok = false;
  return 0;
}

static void skip(Reader* reader, int depth) {
  unsigned tag = peek(reader);
  bool is_map = (tag & 0xF0) == 0x80 || tag == 0xDE || tag == 0xDF;
  bool is_list = (tag & 0xF0) == 0x90 || tag == 0xDC || tag == 0xDD;
  if (depth == 0) reader->ok = false;
  if (is_map || is_list) {
    uint64_t count = is_map ? 2 * map_size(reader) : list_size(reader);
    for (uint64_t i = 0; i < count && reader->ok; ++i) skip(reader, depth - 1);
  } else if ((tag & 0xE0) == 0xA0 || (tag >= 0xD9 && tag <= 0xDB)) {
    text_of(reader);
  } else {
    static const unsigned char sizes[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 8, 1, 2, 4, 8, 1, 2, 4, 8};
    big(reader, 1);
    if (tag >= 0xC0 && tag < 0xC0 + sizeof(sizes)) big(reader, sizes[tag - 0xC0]);
    else if (tag >= 0x80 && tag < 0xE0) reader->ok = false;
  }
}

static bool is(Text text, const char* word) {
  return text.size == strlen(word) && memcmp(text.at, word, text.size) == 0;
}

static bool begins(Text text, const char* word) {
  return text.size >= strlen(word) && memcmp(text.at, word, strlen(word)) == 0;
}

/* Hidden arguments follow the others, and the runtime fills them. */
static void read_argument(Reader* reader, KernelInfo* info) {
  uint64_t offset = 0, size = 0;
  bool hidden = false;
  for (uint64_t left = map_size(reader); left > 0 && reader->ok; --left) {
    Text key = text_of(reader);
    if (is(key, ".offset")) offset = number_of(reader);
    else if (is(key, ".size")) size = number_of(reader);
    else if (is(key, ".value_kind")) hidden = begins(text_of(reader), "hidden_");
    else skip(reader, kDeepest);
  }
  if (hidden || !reader->ok || info->count == kMostArguments) return;
  info->parameters = must(realloc(info->parameters, (info->count + 1) * sizeof(*info->parameters)));
  info->parameters[info->count].offset = (uint32_t)offset;
  info->parameters[info->count++].size = (uint32_t)size;
}

static void read_kernel(Reader* reader, Image* image) {
  KernelInfo info = {0};
  Text name = {"", 0};
  for (uint64_t left = map_size(reader); left > 0 && reader->ok; --left) {
    Text key = text_of(reader);
    if (is(key, ".name")) {
      name = text_of(reader);
    } else if (is(key, ".max_flat_workgroup_size")) {
      info.max_threads = (unsigned)number_of(reader);
    } else if (is(key, ".group_segment_fixed_size")) {
      info.shared = (unsigned)number_of(reader);
    } else if (is(key, ".private_segment_fixed_size")) {
      info.local = (unsigned)number_of(reader);
    } else if (is(key, ".vgpr_count")) {
      info.registers = (unsigned)number_of(reader);
    } else if (is(key, ".reqd_workgroup_size")) {
      uint64_t count = list_size(reader);
      for (uint64_t i = 0; i < count && reader->ok; ++i) {
        unsigned size = (unsigned)number_of(reader);
        if (i < 3) info.block[i] = size;
      }
    } else if (is(key, ".args")) {
      for (uint64_t count = list_size(reader); count > 0 && reader->ok; --count) {
        read_argument(reader, &info);
      }
    } else {
      skip(reader, kDeepest);
    }
  }
  KernelInfo* made = image_kernel(image, name.at, name.size);
  info.name = made->name;
  *made = info;
}

static bool read_metadata(Reader* reader, Image* image) {
  for (uint64_t left = map_size(reader); left > 0 && reader->ok; --left) {
    if (!is(text_of(reader), "amdhsa.kernels")) {
      skip(reader, kDeepest);
      continue;
    }
    for (uint64_t count = list_size(reader); count > 0 && reader->ok; --count) {
      read_kernel(reader, image);
    }
  }
  return reader->ok;
}

/* ---- targets: the processor is in the low byte of e_flags, settings are in bits 8 to 11 */

static const struct {
  unsigned char number;
  const char* name;
} kProcessors[] = {{0x2C, "gfx900"},  {0x2F, "gfx906"},  {0x30, "gfx908"},  {0x3F, "gfx90a"},
                   {0x4C, "gfx942"},  {0x4F, "gfx950"},  {0x33, "gfx1010"}, {0x36, "gfx1030"},
                   {0x41, "gfx1100"}, {0x46, "gfx1101"}, {0x47, "gfx1102"}, {0x48, "gfx1200"},
                   {0x4E, "gfx1201"}, {0x49, "gfx1250"}};

static void name_target(uint32_t flags, Image* image) {
  static const char* const settings[][4] = {{"", "", ":sramecc-", ":sramecc+"},
                                            {"", "", ":xnack-", ":xnack+"}};
  const char* processor = "another processor";
  for (size_t i = 0; i < sizeof(kProcessors) / sizeof(kProcessors[0]); ++i) {
    if (kProcessors[i].number == (flags & 0xFF)) processor = kProcessors[i].name;
  }
  snprintf(image->target, sizeof(image->target), "%s%s%s", processor, settings[0][flags >> 10 & 3],
           settings[1][flags >> 8 & 3]);
}

CUresult elf_read(const unsigned char* code, Image* image) {
  Elf64_Ehdr header;
  if (!readable(code, sizeof(header))) return CUDA_ERROR_INVALID_IMAGE;
  memcpy(&header, code, sizeof(header));
  if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_machine != kMachine ||
      header.e_type != ET_DYN) {
    return CUDA_ERROR_INVALID_IMAGE;
  }
  name_target(header.e_flags, image);
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    const unsigned char* at = code + header.e_phoff + i * sizeof(segment);
    if (!readable(at, sizeof(segment))) return CUDA_ERROR_INVALID_IMAGE;
    memcpy(&segment, at, sizeof(segment));
    const unsigned char* note = code + segment.p_offset;
    if (segment.p_type != PT_NOTE || !readable(note, segment.p_filesz)) continue;
    const unsigned char* end = note + segment.p_filesz;
    while ((size_t)(end - note) > sizeof(Elf64_Nhdr)) {
      Elf64_Nhdr found;
      memcpy(&found, note, sizeof(found));
      const unsigned char* data = note + sizeof(found) + (found.n_namesz + 3) / 4 * 4;
      if (data > end || found.n_descsz > (size_t)(end - data)) return CUDA_ERROR_INVALID_IMAGE;
      if (found.n_type == kNote) {
        Reader reader = {data, data + found.n_descsz, true};
        return read_metadata(&reader, image) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_IMAGE;
      }
      note = data + (found.n_descsz + 3) / 4 * 4;
    }
  }
  return CUDA_ERROR_INVALID_IMAGE;
}
