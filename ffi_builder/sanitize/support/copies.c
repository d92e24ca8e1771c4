// Copies tensors for `sanitize=`, and finds out what the kernel has done to the copies.
//
// A copy has three regions. The kernel gets the first one: a guard zone, the elements, and another
// guard zone. The second region has the bytes of the first before the call. check_outside uses the
// third.
//
// If elements are not whole bytes, all bytes from the first to the last element are copied, and
// each byte counts as an element. A dimension with stride 0 counts as 1, since all of its elements
// are the same.

typedef struct {
  const TVMFFIObject *object; // for the kernel: the tensor below, or the argument if not copied
  unsigned char *data;        // for the kernel; it includes the byte_offset
  unsigned char *memory;      // from malloc; NULL if nothing was copied
  unsigned char *region;      // the first region
  int64_t size, step;         // bytes of a region, and from one region to the next
  int64_t span;               // bytes from the first to the last element
  uint64_t pattern;           // 8 bytes that are repeated, beginning at `data`
  int64_t width;              // bytes of an element
  int64_t count;              // number of elements
  int64_t misplaced, foreign; // results of check_outside
  int64_t origin;             // bytes from the data to the first byte of the elements
  int64_t is_certain;         // a result of unwritten_element
  DLTensor tensor;
} Copy;

// Generated code reads these fields: sanitize/copies.py.
_Static_assert(sizeof(Copy) == 160, "the size of a copy");
_Static_assert(offsetof(Copy, object) == 0 && offsetof(Copy, data) == 8 &&
                   offsetof(Copy, memory) == 16 && offsetof(Copy, span) == 48 &&
                   offsetof(Copy, misplaced) == 80 && offsetof(Copy, foreign) == 88 &&
                   offsetof(Copy, origin) == 96 && offsetof(Copy, is_certain) == 104,
               "the fields of a copy");

// More bytes than a process can have. Three times as many still fit an int64_t.
#define TOO_MANY_BYTES ((uint64_t)1 << 56)

// The pattern for all dtypes but floats, before it is salted. No two bytes are equal, since data
// often has runs of equal values. No byte is 0 or 1, which are the valid bools.
#define POISON_BYTES 0x1BF2489E61D73CA5

enum { SALTS = 16 }; // a salt changes the low four bits of each number of a pattern

// A dtype of floats. A number is NaN if `((number ^ flip) & mask) > greatest`.
typedef struct {
  uint8_t code, bits;
  uint8_t size; // bytes of a number; a complex element has two numbers
  uint8_t flip;
  uint64_t mask, greatest;
  uint64_t poison; // the number in the pattern, a signalling NaN; 0 if the dtype has none
} Floats;

static const Floats FLOATS[] = {
    {kDLFloat, 16, 2, 0, 0x7FFF, 0x7C00, 0x7D5A},
    {kDLBfloat, 16, 2, 0, 0x7FFF, 0x7F80, 0x7FA5},
    {kDLFloat, 32, 4, 0, 0x7FFFFFFF, 0x7F800000, 0x7FA5A5A5},
    {kDLFloat, 64, 8, 0, INT64_MAX, 0x7FF0000000000000, 0x7FF4A5A5A5A5A5A5},
    {kDLComplex, 32, 2, 0, 0x7FFF, 0x7C00, 0x7D5A},
    {kDLComplex, 64, 4, 0, 0x7FFFFFFF, 0x7F800000, 0x7FA5A5A5},
    {kDLComplex, 128, 8, 0, INT64_MAX, 0x7FF0000000000000, 0x7FF4A5A5A5A5A5A5},
    {kDLFloat8_e3m4, 8, 1, 0, 0x7F, 0x70, 0},
    {kDLFloat8_e4m3, 8, 1, 0, 0x7F, 0x78, 0},
    {kDLFloat8_e5m2, 8, 1, 0, 0x7F, 0x7C, 0},
    {kDLFloat8_e4m3fn, 8, 1, 0, 0x7F, 0x7E, 0},
    {kDLFloat8_e4m3b11fnuz, 8, 1, 0x7F, 0xFF, 0xFE, 0},
    {kDLFloat8_e4m3fnuz, 8, 1, 0x7F, 0xFF, 0xFE, 0},
    {kDLFloat8_e5m2fnuz, 8, 1, 0x7F, 0xFF, 0xFE, 0},
    {kDLFloat8_e8m0fnu, 8, 1, 0, 0xFF, 0xFE, 0},
};

static bool has_dtype(const DLTensor *tensor, int32_t code, int32_t bits) {
  return tensor->dtype.code == code && tensor->dtype.bits == bits;
}

// Return the entry of FLOATS for the tensor's dtype with any number of lanes, or NULL.
static const Floats *floats_of(const DLTensor *tensor) {
  const Floats *end = FLOATS + sizeof FLOATS / sizeof *FLOATS;
  for (const Floats *floats = FLOATS; floats < end; ++floats)
    if (has_dtype(tensor, floats->code, floats->bits))
      return floats;
  return NULL;
}

// ---- elements

static bool is_narrow(const DLTensor *tensor) { return bits_of(tensor) % 8 != 0; }

// Return the number of different elements along an axis.
static int64_t steps_along(const DLTensor *tensor, int64_t axis) {
  int64_t dim = tensor->shape[axis];
  return dim != 0 && stride_of(tensor, axis) == 0 ? 1 : dim;
}

static int64_t count_elements(const DLTensor *tensor) {
  int64_t count = 1;
  for (int64_t axis = 0; axis < tensor->ndim; ++axis)
    count *= steps_along(tensor, axis);
  return count;
}

// Return the distance in bytes from the data to an element. `number` counts elements in row-major
// order.
static int64_t element_offset(const Copy *copy, int64_t number) {
  const DLTensor *tensor = &copy->tensor;
  if (is_narrow(tensor))
    return copy->origin + number;
  int64_t distance = 0;
  for (int64_t axis = tensor->ndim - 1; axis >= 0; --axis) {
    int64_t steps = steps_along(tensor, axis);
    distance += number % steps * stride_of(tensor, axis);
    number /= steps;
  }
  return distance * copy->width;
}

// Return the address of an element in region 0, 1 or 2.
static unsigned char *element_at(const Copy *copy, int64_t number, int64_t region) {
  return copy->data + (element_offset(copy, number) + region * copy->step);
}

static bool has_changed(const Copy *copy, int64_t number) {
  return !same_bytes(element_at(copy, number, 0), element_at(copy, number, 1), copy->width);
}

static void copy_region(const Copy *copy, int64_t to, int64_t from) {
  unsigned char *target = copy->region + to * copy->step;
  memcpy(target, copy->region + from * copy->step, (size_t)copy->size);
}

// Return the byte of the pattern at an address in the first region.
static unsigned char pattern_at(const Copy *copy, const unsigned char *address) {
  int64_t distance = address - copy->data;
  return (unsigned char)(copy->pattern >> 8 * (distance & 7));
}

static void fill(const Copy *copy, unsigned char *start, int64_t size) {
  for (unsigned char *address = start; address < start + size; ++address)
    *address = pattern_at(copy, address);
}

// ---- before the call

// Find the bytes of the elements, and store the address of the first one. Without elements it is
// the data pointer, which may have any value. Return false if there are too many bytes.
static bool find_span(Copy *copy, const TVMFFIObject *given, uint64_t *first) {
  Extent extent;
  uint64_t address = (uintptr_t)copy->data;
  copy->span = copy->origin = 0;
  *first = address;
  if (!extent_of(given, &extent))
    return true;
  if (extent.last - extent.first >= TOO_MANY_BYTES)
    return false;
  *first = extent.first;
  copy->span = (int64_t)(extent.last - extent.first) + 1;
  copy->origin = (int64_t)(extent.first - address);
  return true;
}

// Allocate three regions. The elements of the copy are as far from a multiple of `alignment` as
// those of the given tensor.
static bool allocate(Copy *copy, uint64_t first, int64_t guard, int64_t alignment) {
  copy->size = copy->span + 2 * guard;
  copy->step = (copy->size + 7) & -8;
  copy->memory = malloc((size_t)(3 * copy->step + alignment));
  if (copy->memory == NULL)
    return false;
  uint64_t distance = first - (uint64_t)guard - (uintptr_t)copy->memory;
  copy->region = copy->memory + (distance & (uint64_t)(alignment - 1));
  return true;
}

// Fill in the tensor that the kernel gets, and the number and width of its elements.
static void describe(Copy *copy, const DLTensor *given, unsigned char *data) {
  copy->tensor = *given;
  copy->tensor.data = data;
  copy->tensor.byte_offset = 0;
  copy->object = (const TVMFFIObject *)&copy->tensor - 1;
  copy->data = data;
  copy->width = is_narrow(given) ? 1 : (int64_t)bits_of(given) / 8;
  copy->count = is_narrow(given) ? copy->span : count_elements(given);
}

// Return 8 bytes in which a number of `size` bytes is repeated.
static uint64_t repeated(uint64_t number, int32_t size) {
  for (; size < 8; size *= 2)
    number |= number << 8 * size;
  return number;
}

// Return the pattern of a tensor. Its salt makes it differ from the patterns of other tensors, so
// that a kernel that copies the pattern of another tensor has written something.
static uint64_t salted_pattern(const DLTensor *tensor, uint64_t salt) {
  const Floats *floats = floats_of(tensor);
  if (floats != NULL && floats->poison != 0)
    return repeated(floats->poison ^ salt, floats->size);
  return POISON_BYTES ^ repeated(salt, 1);
}

static void copy_elements(const Copy *copy, unsigned char *to, const unsigned char *from) {
  for (int64_t number = 0; number < copy->count; ++number) {
    int64_t distance = element_offset(copy, number);
    memcpy(to + distance, from + distance, (size_t)copy->width);
  }
}

// Copy a tensor if it is on the CPU. Return false if there is no memory. With `poison` the kernel
// gets the pattern in place of the elements.
RARE bool SHARED(copy_tensor)(const TVMFFIObject *object, Copy *copy, int64_t guard,
                              int64_t alignment, int64_t salt, bool poison) {
  copy->memory = NULL;
  copy->object = object;
  copy->data = NULL;
  if (object == NULL)
    return true;
  const DLTensor *given = dl_tensor(object);
  unsigned char *data = data_of(given);
  copy->data = data;
  if (given->device.device_type != kDLCPU)
    return true;
  uint64_t first;
  if (!find_span(copy, object, &first) || !allocate(copy, first, guard, alignment))
    return false;
  uint64_t moved = (uintptr_t)(copy->region + guard) - first;
  describe(copy, given, (unsigned char *)((uintptr_t)data + moved));
  copy->pattern = salted_pattern(given, (uint64_t)salt);
  fill(copy, copy->region, copy->size);
  if (!poison)
    copy_elements(copy, copy->data, data);
  copy_region(copy, 1, 0);
  return true;
}

// ---- after the call

// Return whether the kernel has written no byte outside of the elements. If it has, store how many
// such bytes there are as `foreign`, and the first one's distance from the data as `misplaced`.
RARE bool SHARED(check_outside)(Copy *copy) {
  // Fill the elements with the pattern. All bytes of the region that differ from the pattern are
  // then outside of the elements. The third region keeps the elements meanwhile.
  copy_region(copy, 2, 0);
  for (int64_t number = 0; number < copy->count; ++number)
    fill(copy, element_at(copy, number, 0), copy->width);
  copy->foreign = 0;
  for (unsigned char *byte = copy->region; byte < copy->region + copy->size; ++byte)
    if (*byte != pattern_at(copy, byte) && copy->foreign++ == 0)
      copy->misplaced = byte - copy->data;
  copy_region(copy, 0, 2);
  return copy->foreign == 0;
}

// Return the number of the first element that the call has changed, or -1.
RARE int64_t SHARED(changed_element)(const Copy *copy) {
  for (int64_t number = 0; number < copy->count; ++number)
    if (has_changed(copy, number))
      return number;
  return -1;
}

// Return how many adjacent elements have at least `size` bytes. One is enough if the pattern is a
// signalling NaN, or if the dtype is bool, since no byte of the pattern is a valid bool.
static int64_t elements_of(const Copy *copy, int64_t size) {
  const Floats *floats = floats_of(&copy->tensor);
  bool is_nan_or_bool = floats == NULL ? has_dtype(&copy->tensor, kDLBool, 8) : floats->poison != 0;
  return is_nan_or_bool ? 1 : (copy->width + size - 1) / copy->width;
}

// Return the number of the first element of a row of elements that hold the pattern, or -1. A row
// has at least 4 bytes. If it has at least 8, `is_certain` is set: no kernel writes 8 such bytes by
// chance.
RARE int64_t SHARED(unwritten_element)(Copy *copy) {
  int64_t possible = elements_of(copy, 4), certain = elements_of(copy, 8);
  int64_t number = 0, row = 0;
  for (; number < copy->count; ++number) {
    if (!has_changed(copy, number))
      ++row;
    else if (row < possible)
      row = 0;
    else
      break;
  }
  copy->is_certain = row >= certain;
  return row >= possible ? number - row : -1;
}

// Write the elements that have changed back to the tensor. With `every`, write all elements.
RARE void SHARED(give_copy_back)(const TVMFFIObject *object, const Copy *copy, bool every) {
  if (copy->memory == NULL)
    return;
  unsigned char *data = data_of(dl_tensor(object));
  for (int64_t number = 0; number < copy->count; ++number)
    if (every || has_changed(copy, number))
      memcpy(data + element_offset(copy, number), element_at(copy, number, 0), (size_t)copy->width);
}

RARE void SHARED(free_copy)(const Copy *copy) { free(copy->memory); }
