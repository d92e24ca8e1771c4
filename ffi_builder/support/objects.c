// Reads objects, strs and bytes.

// Return the object that an rvalue reference holds. Return NULL if it holds none, or if the value
// is no rvalue reference.
static const TVMFFIObject *inside(const TVMFFIAny *any) {
  if (any->type_index != kTVMFFIObjectRValueRef || any->v_ptr == NULL)
    return NULL;
  return *(TVMFFIObject *const *)any->v_ptr;
}

// Return the object that an rvalue reference holds, or NULL if its type is not in `kinds`. Bit
// (type index - kTVMFFIStaticObjectBegin) of `kinds` stands for a type; all 64 bits stand for all
// types, dynamic ones too.
RARE const TVMFFIObject *SHARED(moved_object)(uint64_t kinds, const TVMFFIAny *any) {
  const TVMFFIObject *moved = inside(any);
  if (moved == NULL || moved->type_index < kTVMFFIStaticObjectBegin)
    return NULL;
  if (kinds == UINT64_MAX)
    return moved;
  int32_t kind = moved->type_index - kTVMFFIStaticObjectBegin;
  return kind < 64 && (kinds >> kind & 1) != 0 ? moved : NULL;
}

static uint64_t kind_bit(int32_t type_index) {
  return (uint64_t)1 << (type_index - kTVMFFIStaticObjectBegin);
}

// Return the elements of an Array or List, moved or not, if they are `size` ints and bools, else
// NULL. Return the object if `size` is 0, since the elements may then be NULL.
RARE const void *SHARED(integers)(int64_t size, const TVMFFIAny *any) {
  const TVMFFIObject *object = any->v_obj;
  if (any->type_index != kTVMFFIArray && any->type_index != kTVMFFIList)
    object = SHARED(moved_object)(kind_bit(kTVMFFIArray) | kind_bit(kTVMFFIList), any);
  if (object == NULL)
    return NULL;
  const TVMFFISeqCell *sequence = list_cell(object);
  if (sequence->size != size)
    return NULL;
  if (size == 0)
    return object;
  const TVMFFIAny *cells = sequence->data;
  if (cells == NULL)
    return NULL;
  for (int64_t index = 0; index < size; ++index)
    if (cells[index].type_index != kTVMFFIInt && cells[index].type_index != kTVMFFIBool)
      return NULL;
  return cells;
}

// ---- types

static bool is_key(const TVMFFITypeInfo *type, const char *key, int64_t length) {
  return (int64_t)type->type_key.size == length && same_bytes(type->type_key.data, key, length);
}

// Return whether a registered type has the type key, or derives from a type that has it.
static bool has_key(int32_t type_index, const char *key, int64_t length) {
  const TVMFFITypeInfo *type = TVMFFIGetTypeInfo(type_index);
  if (is_key(type, key, length))
    return true;
  for (int32_t depth = 0; depth < type->type_depth; ++depth)
    if (is_key(type->type_ancestors[depth], key, length))
      return true;
  return false;
}

// Return an object, moved or not, if its type has the type key or derives from a type that has it,
// else NULL. `static_index` is the type index that belongs to the key if that is static, else 0.
RARE const TVMFFIObject *SHARED(typed_object)(const TVMFFIAny *any, const char *key, int64_t length,
                                              int32_t static_index) {
  const TVMFFIObject *object = any->v_obj;
  int32_t type_index = any->type_index;
  if (type_index < kTVMFFIStaticObjectBegin) {
    object = inside(any);
    if (object == NULL)
      return NULL;
    type_index = object->type_index;
  }
  if (object == NULL || type_index < kTVMFFIStaticObjectBegin)
    return NULL;
  if (type_index == static_index)
    return object;
  // tvm-ffi ends the process when it is asked about an index that is not registered. So the
  // object's own header must have the type index of the argument.
  bool is_registered = type_index >= kTVMFFIDynObjectBegin && object->type_index == type_index;
  return is_registered && has_key(type_index, key, length) ? object : NULL;
}

// ---- maps

typedef struct {
  TVMFFIObject header;
  TVMFFISeqCell cell;
} MadeArray;

// The keys and the values of a Map, as a tuple of two Arrays. Nothing counts these; whoever asks
// for them frees them all at once. The elements are those of the Map, which keeps them.
typedef struct MapItems {
  MadeArray tuple;
  MadeArray lists[2];
  TVMFFIAny both[2];
  struct MapItems *next; // for the diagnosis
  TVMFFIAny elements[];
} MapItems;

static MadeArray made_array(TVMFFIAny *elements, int64_t size) {
  return (MadeArray){.header = {.combined_ref_count = 1, .type_index = kTVMFFIArray},
                     .cell = {.data = elements, .size = size, .capacity = size}};
}

// Call a function with one argument, and store its result, which the caller owns.
static bool call_with(TVMFFIObjectHandle function, TVMFFIAny argument, TVMFFIAny *result) {
  *result = (TVMFFIAny){.type_index = kTVMFFINone};
  if (TVMFFIFunctionCall(function, &argument, 1, result) == 0)
    return true;
  TVMFFIObjectHandle error = NULL;
  TVMFFIErrorMoveFromRaised(&error);
  if (error != NULL)
    TVMFFIObjectDecRef(error);
  return false;
}

static bool call_global(const char *name, TVMFFIAny argument, TVMFFIAny *result) {
  const TVMFFIByteArray text = {name, strlen(name)};
  TVMFFIObjectHandle function = NULL;
  if (TVMFFIFunctionGetGlobal(&text, &function) != 0 || function == NULL)
    return false;
  const bool done = call_with(function, argument, result);
  TVMFFIObjectDecRef(function);
  return done;
}

// Store what the iterator of a Map has: its key for the command 0, its value for 1. The Map goes on
// holding it.
static bool read_item(TVMFFIObjectHandle iterator, int64_t command, TVMFFIAny *item) {
  const TVMFFIAny argument = {.type_index = kTVMFFIInt, .v_int64 = command};
  if (!call_with(iterator, argument, item))
    return false;
  if (item->type_index >= kTVMFFIStaticObjectBegin)
    TVMFFIObjectDecRef(item->v_obj);
  return true;
}

static bool is_dict(const TVMFFIAny map) { return map.type_index == kTVMFFIDict; }

static bool read_items(const TVMFFIAny map, int64_t size, MapItems *items) {
  TVMFFIAny iterator, more;
  if (size == 0)
    return true;
  const char *iterate = is_dict(map) ? "ffi.DictForwardIterFunctor" : "ffi.MapForwardIterFunctor";
  if (!call_global(iterate, map, &iterator))
    return false;
  bool done = true;
  for (int64_t index = 0; done && index < size; ++index)
    done = read_item(iterator.v_obj, 0, &items->elements[index]) &&
           read_item(iterator.v_obj, 1, &items->elements[size + index]) &&
           read_item(iterator.v_obj, 2, &more); // to the next
  TVMFFIObjectDecRef(iterator.v_obj);
  return done;
}

// Return the keys and the values of a Map or Dict in memory from malloc, or NULL if there is none,
// or if an int32 cannot count them.
const void *SHARED(map_items)(const TVMFFIObject *map) {
  const int32_t type = map->type_index == kTVMFFIDict ? kTVMFFIDict : kTVMFFIMap;
  const TVMFFIAny argument = {.type_index = type, .v_obj = (TVMFFIObject *)map};
  TVMFFIAny size;
  if (!call_global(is_dict(argument) ? "ffi.DictSize" : "ffi.MapSize", argument, &size) ||
      size.v_int64 > INT32_MAX)
    return NULL;
  const int64_t count = size.v_int64;
  MapItems *items = malloc(sizeof *items + 2 * sizeof(TVMFFIAny) * (size_t)count);
  if (items == NULL)
    return NULL;
  items->tuple = made_array(items->both, 2);
  for (int part = 0; part < 2; ++part) {
    items->lists[part] = made_array(items->elements + part * count, count);
    items->both[part] =
        (TVMFFIAny){.type_index = kTVMFFIArray, .v_obj = &items->lists[part].header};
  }
  if (read_items(argument, count, items))
    return items;
  free(items);
  return NULL;
}

// Free what the function above has returned. A module may have a `free` of its own.
RARE void SHARED(free_map_items)(void *items) { free(items); }

// ---- texts

enum { SMALL_CAPACITY = 7 }; // bytes in a TVMFFIAny

static bool read_array(const TVMFFIByteArray *array, TVMFFIByteArray *text) {
  *text = *array;
  return array->data != NULL || array->size == 0;
}

// Read a str, or bytes if `binary` is 1. Return whether the value is one and has data.
RARE bool SHARED(text)(const TVMFFIAny *any, int32_t binary, TVMFFIByteArray *text) {
  // Each type index of bytes is 1 more than that of a str.
  _Static_assert(kTVMFFISmallBytes == kTVMFFISmallStr + 1 && kTVMFFIBytes == kTVMFFIStr + 1 &&
                     kTVMFFIByteArrayPtr == kTVMFFIRawStr + 1,
                 "the type indices of strs and bytes are pairs");
  int32_t kind = any->type_index - binary;
  if (kind == kTVMFFISmallStr) {
    *text = (TVMFFIByteArray){.data = any->v_bytes, .size = any->small_str_len};
    return text->size <= SMALL_CAPACITY;
  }
  const TVMFFIObject *object = any->v_obj;
  if (kind == kTVMFFIRawStr) {
    if (any->v_ptr == NULL)
      return false;
    if (binary != 0)
      return read_array(any->v_ptr, text);
    *text = (TVMFFIByteArray){.data = any->v_c_str, .size = strlen(any->v_c_str)};
    return true;
  }
  if (kind != kTVMFFIStr)
    object = SHARED(moved_object)(kind_bit(kTVMFFIStr + binary), any);
  // The cell of a str and of bytes is a TVMFFIByteArray.
  return object != NULL && read_array((const TVMFFIByteArray *)(object + 1), text);
}

// Read an int64 from a table. Tables are packed, so the address may be unaligned.
static int64_t unaligned(const char *address) {
  int64_t number;
  memcpy(&number, address, sizeof number);
  return number;
}

// Look a text up in a table of choices, and store its value. Return whether it is in the table. The
// table has the number of choices, then for each its value, its length and its bytes.
RARE bool SHARED(choose)(const TVMFFIByteArray *text, const char *choices, int64_t *value) {
  const char *choice = choices + sizeof(int64_t);
  for (int64_t count = unaligned(choices); count > 0; --count) {
    int64_t length = unaligned(choice + sizeof(int64_t));
    const char *bytes = choice + 2 * sizeof(int64_t);
    if (length == (int64_t)text->size && same_bytes(text->data, bytes, length)) {
      *value = unaligned(choice);
      return true;
    }
    choice = bytes + length;
  }
  return false;
}
