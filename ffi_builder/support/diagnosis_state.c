// The state of a diagnosis, and how it reads the table of a wrapper.
//
// ffi_builder/diagnosis/table.py describes the table: numbers are little-endian and packed.

// The part of an argument that a message is about, or where a symbol was bound.
typedef struct {
  uint32_t parameter; // position in the table of the operands of PARAM, or 0 if it is no argument
  uint16_t index;     // or NO_INDEX
  uint8_t part;       // PART_…
  bool solved;        // whether an expression was solved for the symbol
} Place;

// A slot: a symbol, a saved object, or an Optional.
typedef struct {
  int64_t value; // of the symbol; the object's address; the type index of what an Optional holds
  union {
    Place place;         // where the symbol was bound
    int64_t object_type; // type index of the object
  };
  int16_t state;   // of a symbol: UNBOUND, PROVISIONAL or BOUND
  bool from_none;  // whether the argument that bound it was None
  int32_t element; // where the symbol was bound: number of a list's element, from 1 on, or 0
} Slot;
_Static_assert(sizeof(Slot) == SLOT_SIZE, "the table says how much memory slots need");

// The state of a symbol. Its value is provisional if it was read where checks do not apply.
enum { UNBOUND, PROVISIONAL, BOUND };

// The range of an int.
enum {
  BIG_NONE,     // int64
  BIG_UNSIGNED, // from 2^63 to 2^64 - 1; the value has its bits
  BIG_BEYOND,   // greater, or the BigInt is NULL
  BIG_NEGATIVE, // below -2^63
};

struct State;
typedef bool OpenMap(struct State *);

// The state of a diagnosis. Fields that are read most often come first, since instructions that
// address them are shorter.
typedef struct State {
  const uint8_t *table;
  const uint8_t *pc; // next byte of the table
  Slot *slots;

  // The current argument or element. If `inner` is set, it is a moved reference, and the type and
  // the payload are those of the object in it.
  const TVMFFIAny *any;
  int64_t payload;
  int32_t type;
  bool inner;
  bool optional; // whether None is right, too
  // The current object.
  const TVMFFIObject *object;
  int64_t object_type;
  // The number of the current element of a list, from 1 on; 0 outside of lists.
  int64_t element;
  // In a list of lists, the number of the list that has the element; 0 elsewhere.
  int64_t outer;
  // What turns to the lists of a Map: only wrappers that have some need its code.
  OpenMap *open_map;
  MapItems *maps; // what was read of them, to be freed

  // The value that was read last, as an int64, or the bits of a float64.
  int64_t value;
  int64_t expected;
  int32_t big;   // BIG_…
  int32_t style; // STYLE_…
  // When checks apply to the value. 0: always. -1: unless the tensor is empty. 1 more than the axis
  // of a stride: unless the stride is free.
  int64_t free;
  Place place;

  // More that errors show.
  uint32_t symbol;
  const uint8_t *text;     // a text operand
  const uint8_t *bindings; // a list of symbols or of choices: u16 count, then each
  int64_t other;           // if `text` names a list: number of its element, from 1 on, or 0
  const Row *row;          // positions in TEXTS of the templates
  const char *data;        // the bytes of a str or bytes
  uint64_t size;           // of the data
  uint64_t other_bytes[2]; // in errors about overlaps: the extent of the other tensor

  const TVMFFIAny *args;
  int64_t num_args;
  TVMFFIAny number; // an int of a Shape, when it is the current element

  // The error.
  const char *kind;    // its class; NULL if there is no error
  const char *message; // its start
  char *cursor;        // the end of the message so far
  const char *end;     // of the memory for the message
} State;

// ---- numbers of the table

static uint16_t table_u16(const uint8_t *at) {
  uint16_t number;
  memcpy(&number, at, sizeof number);
  return number;
}

static uint32_t table_u32(const uint8_t *at) {
  uint32_t number;
  memcpy(&number, at, sizeof number);
  return number;
}

static int64_t table_i64(const uint8_t *at) {
  int64_t number;
  memcpy(&number, at, sizeof number);
  return number;
}

// The next functions each read an operand of the current instruction.

static uint8_t read_u8(State *s) { return *s->pc++; }

static uint16_t read_u16(State *s) {
  s->pc += 2;
  return table_u16(s->pc - 2);
}

static uint32_t read_u32(State *s) {
  s->pc += 4;
  return table_u32(s->pc - 4);
}

static int32_t read_i32(State *s) { return (int32_t)read_u32(s); }

static int64_t read_i64(State *s) {
  s->pc += 8;
  return table_i64(s->pc - 8);
}

static Slot *read_slot(State *s) { return &s->slots[read_u16(s)]; }

// Return a text operand: u32 position, u16 length.
static const uint8_t *read_text(State *s) {
  s->pc += 6;
  return s->pc - 6;
}

static const char *text_data(const State *s, const uint8_t *text) {
  return (const char *)s->table + table_u32(text);
}

static uint16_t text_size(const uint8_t *text) { return table_u16(text + 4); }

// Return a symbol's entry in the table: u32 position and u16 length of its name, u16 style.
static const uint8_t *symbol_entry(const State *s, uint32_t symbol) {
  return s->table + HEAD_SIZE + 8 * symbol;
}

static int32_t symbol_style(const State *s, uint32_t symbol) {
  return table_u16(symbol_entry(s, symbol) + 6);
}

// ---- addresses and floats as int64

static const void *address(int64_t number) { return (const void *)(intptr_t)number; }

static const TVMFFIObject *slot_object(const Slot *slot) { return address(slot->value); }

static int64_t number_of(const void *pointer) { return (int64_t)(intptr_t)pointer; }

static double as_float(int64_t bits) { return double_of((uint64_t)bits); }

static int64_t float_bits(double number) {
  int64_t bits;
  memcpy(&bits, &number, sizeof bits);
  return bits;
}

// Return whether two floats are equal. A NaN equals any NaN.
static bool same_float(double one, double other) {
  return one == other || (one != one && other != other);
}

// ---- the value that is read

// Make this part the place of the value that is read next.
static void turn_to(State *s, uint8_t part, uint16_t index) {
  s->free = 0;
  s->big = BIG_NONE;
  s->style = STYLE_INT;
  s->place = (Place){s->place.parameter, index, part, false};
}
