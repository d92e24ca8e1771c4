/* Reading a cubin: an ELF-64 file for machine 190, with a section .text.NAME for each kernel, and in
 * .nv.info.NAME what the driver must know of it.
 *
 * .nv.info sections are a list of (format, attribute, 16-bit value); format 4 means that the value is
 * a size, and that as many bytes follow. Which attribute is which can be seen by compiling with NVRTC
 * and looking; tests/cuda/test_images.py does so. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"

enum {
  kMachine = 190,
  kSized = 4,
  kMaxThreads = 0x05,    /* three 32-bit numbers */
  kParamBank = 0x0A,     /* symbol, 16-bit offset in constant bank 0, 16-bit size */
  kParamInfo = 0x17,     /* index, 16-bit ordinal, 16-bit offset, flags with the size from bit 18 */
  kRegisters = 0x2F,     /* symbol, number: in .nv.info, for all kernels */
  kCluster = 0x3D,       /* three 32-bit numbers */
  kParamInfoLarge = 0x45, /* as kParamInfo, but the last word is the size */
  kCompatExact = 9,      /* of .nv.compat: 1 for sm_90a and the like */
  kFlagExact = 0x800,    /* of e_flags, up to ABI version 7 */
};

/* The driver launches tile kernels by the threads and the cluster that this has. */
static const char kTiles[] = "___NV_TILE_LAUNCH_META_DATA___";

typedef struct Elf {
  const unsigned char* code;
  const Elf64_Ehdr* header;
  const Elf64_Shdr* sections;
} Elf;

typedef struct Attribute {
  unsigned id, value, size;
  const unsigned char* data;
} Attribute;

static const char* name_of(const Elf* elf, const Elf64_Shdr* section) {
  return (const char*)elf->code + elf->sections[elf->header->e_shstrndx].sh_offset +
         section->sh_name;
}

static uint32_t word(const unsigned char* at) {
  uint32_t value;
  memcpy(&value, at, sizeof(value));
  return value;
}

static unsigned half(const unsigned char* at) { return at[0] | (unsigned)at[1] << 8; }

/* The section PREFIX + name; NULL: there is none. */
static const Elf64_Shdr* section(const Elf* elf, const char* prefix, const char* name) {
  size_t length = strlen(prefix);
  for (unsigned i = 1; i < elf->header->e_shnum; ++i) {
    const char* found = name_of(elf, &elf->sections[i]);
    if (strncmp(found, prefix, length) == 0 && strcmp(found + length, name) == 0) {
      return &elf->sections[i];
    }
  }
  return NULL;
}

static bool open_elf(const unsigned char* code, Elf* elf) {
  if (!readable(code, sizeof(Elf64_Ehdr))) return false;
  *elf = (Elf){code, (const Elf64_Ehdr*)code, NULL};
  const Elf64_Ehdr* header = elf->header;
  if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
      header->e_ident[EI_DATA] != ELFDATA2LSB || header->e_machine != kMachine ||
      header->e_shentsize != sizeof(Elf64_Shdr) || header->e_shstrndx >= header->e_shnum) {
    return false;
  }
  if (!readable(code + header->e_shoff, header->e_shnum * sizeof(Elf64_Shdr))) return false;
  elf->sections = (const Elf64_Shdr*)(code + header->e_shoff);
  for (unsigned i = 0; i < header->e_shnum; ++i) {
    const Elf64_Shdr* each = &elf->sections[i];
    if (each->sh_type == SHT_NOBITS || each->sh_size == 0) continue;
    if (!readable(code + each->sh_offset, each->sh_size)) return false;
  }
  return true;
}

/* Calls each(attribute, what) for the attributes of a section; false: they do not fit it. */
static bool for_each(const Elf* elf, const Elf64_Shdr* from,
                     bool (*each)(const Attribute* attribute, void* what), void* what) {
  const unsigned char* at = elf->code + from->sh_offset;
  const unsigned char* end = at + from->sh_size;
  while (end - at >= 4) {
    Attribute attribute = {at[1], half(at + 2), 0, at + 4};
    if (at[0] == kSized) attribute.size = attribute.value;
    at += 4 + attribute.size;
    if (at > end || !each(&attribute, what)) return false;
  }
  return true;
}

static bool add_parameter(KernelInfo* kernel, const Attribute* attribute) {
  if (attribute->size != 12) return false;
  unsigned ordinal = half(attribute->data + 4);
  if (ordinal >= kernel->count) {
    kernel->parameters =
        must(realloc(kernel->parameters, (ordinal + 1) * sizeof(*kernel->parameters)));
    for (unsigned i = kernel->count; i <= ordinal; ++i) kernel->parameters[i].size = 0;
    kernel->count = ordinal + 1;
  }
  uint32_t last = word(attribute->data + 8);
  kernel->parameters[ordinal].offset = half(attribute->data + 6);
  kernel->parameters[ordinal].size = attribute->id == kParamInfo ? last >> 18 : last;
  return true;
}

static bool add_attribute(const Attribute* attribute, void* what) {
  KernelInfo* kernel = what;
  switch (attribute->id) {
    case kParamInfo:
    case kParamInfoLarge:
      return add_parameter(kernel, attribute);
    case kParamBank:
      if (attribute->size < 8) return false;
      kernel->base = half(attribute->data + 4);
      return true;
    case kMaxThreads:
      if (attribute->size != 12) return false;
      kernel->max_threads =
          word(attribute->data) * word(attribute->data + 4) * word(attribute->data + 8);
      return true;
    case kCluster:
      if (attribute->size != 12) return false;
      for (int i = 0; i < 3; ++i) kernel->cluster[i] = word(attribute->data + 4 * i);
      return true;
    default:
      return true;
  }
}

typedef struct Registers {
  unsigned symbol, count;
} Registers;

static bool find_registers(const Attribute* attribute, void* what) {
  Registers* registers = what;
  if (attribute->id == kRegisters && attribute->size == 8 &&
      word(attribute->data) == registers->symbol) {
    registers->count = word(attribute->data + 4);
  }
  return true;
}

static bool read_kernel(const Elf* elf, Image* image, const char* name, unsigned symbol) {
  KernelInfo* kernel = image_kernel(image, name, strlen(name));
  const Elf64_Shdr* info = section(elf, ".nv.info.", name);
  if (info != NULL && !for_each(elf, info, add_attribute, kernel)) return false;
  for (unsigned i = 0; i < kernel->count; ++i) {
    if (kernel->parameters[i].size == 0) return false; /* an ordinal is missing */
  }
  const Elf64_Shdr* shared = section(elf, ".nv.shared.", name);
  if (shared != NULL) kernel->shared = (unsigned)shared->sh_size;
  /* From sm_90 on the 1 KiB that the system keeps is at the start of the section. */
  if (image->sm >= 90 && kernel->shared >= kReservedShared) kernel->shared -= kReservedShared;
  const Elf64_Shdr* common = section(elf, ".nv.info", "");
  Registers registers = {symbol, 0};
  if (common != NULL && !for_each(elf, common, find_registers, &registers)) return false;
  kernel->registers = registers.count;
  return true;
}

/* Variables are in .nv.global, .nv.global.init and .nv.constant3. */
static void read_global(const Elf* elf, Image* image, const char* name, const Elf64_Sym* symbol) {
  if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= elf->header->e_shnum) return;
  const Elf64_Shdr* in = &elf->sections[symbol->st_shndx];
  bool fits = symbol->st_size > 0 && symbol->st_value <= in->sh_size &&
              symbol->st_size <= in->sh_size - symbol->st_value;
  const char* section_name = name_of(elf, in);
  if (!fits || (strncmp(section_name, ".nv.global", 10) != 0 &&
                strcmp(section_name, ".nv.constant3") != 0)) {
    return;
  }
  const void* bytes =
      in->sh_type == SHT_NOBITS ? NULL : elf->code + in->sh_offset + symbol->st_value;
  image_global(image, name, strlen(name), symbol->st_size, bytes);
}

/* The architecture has moved in the file's header, and its "a" out of it. */
static bool read_architecture(const Elf* elf, Image* image) {
  uint32_t flags = elf->header->e_flags;
  if (elf->header->e_ident[EI_ABIVERSION] <= 7) {
    image->sm = flags & 0xFF;
    image->exact = (flags & kFlagExact) != 0;
    return true;
  }
  image->sm = flags >> 8 & 0xFF;
  const Elf64_Shdr* compat = section(elf, ".nv.compat", "");
  if (compat == NULL) return true;
  const unsigned char* at = elf->code + compat->sh_offset;
  const unsigned char* end = at + compat->sh_size;
  while (end - at >= 4) {
    if (at[1] == kCompatExact) image->exact = at[2] == 1;
    at += 4 + (at[0] == kSized ? half(at + 2) : 0);
  }
  return true;
}

CUresult elf_read(const unsigned char* code, Image* image) {
  Elf elf;
  if (!open_elf(code, &elf) || !read_architecture(&elf, image)) return CUDA_ERROR_INVALID_IMAGE;
  const Elf64_Shdr* symbols = section(&elf, ".symtab", "");
  if (symbols == NULL || symbols->sh_link >= elf.header->e_shnum) return CUDA_ERROR_INVALID_IMAGE;
  const char* names = (const char*)code + elf.sections[symbols->sh_link].sh_offset;
  bool has_tiles = false;
  for (unsigned i = 0; i < symbols->sh_size / sizeof(Elf64_Sym); ++i) {
    Elf64_Sym symbol;
    memcpy(&symbol, code + symbols->sh_offset + i * sizeof(symbol), sizeof(symbol));
    const char* name = names + symbol.st_name;
    if (strcmp(name, kTiles) == 0) has_tiles = true;
    if (ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT) read_global(&elf, image, name, &symbol);
    /* Those of C++ templates are weak. */
    if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || ELF64_ST_BIND(symbol.st_info) == STB_LOCAL ||
        section(&elf, ".text.", name) == NULL) {
      continue;
    }
    if (!read_kernel(&elf, image, name, i)) return CUDA_ERROR_INVALID_IMAGE;
  }
  for (unsigned i = 0; has_tiles && i < image->count; ++i) {
    KernelInfo* kernel = &image->kernels[i];
    kernel->max_threads = 1;
    kernel->shared = kernel->cluster[0] = 0;
  }
  return CUDA_SUCCESS;
}
