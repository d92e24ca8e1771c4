// The diagnosis: finds out what is wrong with a call, and raises an error that says so.
//
// It starts with the first argument and checks in the declared order; the fast path may check in
// another order. It interprets the table of the wrapper (ffi_builder/diagnosis/table.py describes
// tables), and ends at the first check that fails.

#include "plan.h"

// clang-format off: each file may use those before it.
#include "diagnosis_state.c"
// Code that writes messages is small rather than fast: each exported object has a copy of it.
#ifdef __clang__
#pragma clang attribute push(__attribute__((minsize)), apply_to = function)
#endif
#include "diagnosis_texts.c"
#include "diagnosis_strings.c"
#include "diagnosis_report.c"
#include "diagnosis_decode.c"
#include "diagnosis_tensors.c"
#include "diagnosis_overlap.c"
#include "diagnosis_objects.c"
#include "diagnosis_checks.c"
#include "diagnosis_expressions.c"
#ifdef __clang__
#pragma clang attribute pop
#endif
// clang-format on

// Run the next instruction of the table. Return false at the end, or with an error.
static bool step(State *s) {
  switch (read_u8(s)) {
  case OP_PARAM:
    return set_parameter(s);
  case OP_ARG:
    return turn_to_any(s, s->args + read_u16(s));
  case OP_ELEM:
    return turn_to_any(s, list_element(s->object, read_u16(s)));
  case OP_TENSOR:
    return decode_tensor(s);
  case OP_HEAD:
    return check_head(s);
  case OP_SHAPED:
    return check_shape_pointer(s);
  case OP_DIM:
    return check_dim(s, read_u8(s));
  case OP_DIMS:
    return check_dims(s);
  case OP_LAYOUT:
    return check_layout(s);
  case OP_DATA:
    return check_data(s);
  case OP_ALIGN:
    return check_alignment(s);
  case OP_ALIGN_ELEMENTS:
    return check_element_alignment(s);
  case OP_SAME_DEVICE:
    return check_same_device(s);
  case OP_DTYPES:
    return check_dtypes(s);
  case OP_CONTAINER:
    return decode_container(s);
  case OP_SAVE:
    return save_in(read_slot(s), s);
  case OP_RESTORE:
    return restore_from(s, read_slot(s));
  case OP_SCALAR:
    return decode_scalar(s);
  case OP_FLOAT:
    return round_float(s);
  case OP_READ:
    return read_part(s, read_u8(s), NO_INDEX);
  case OP_ENTRY:
    return read_indexed(s);
  case OP_SCALE:
    return scale(s);
  case OP_EQ:
    return check_equal(s, read_i64(s));
  case OP_COUNT:
    return check_count(s);
  case OP_EQ8:
    return check_equal(s, read_u8(s));
  case OP_NONZERO:
    return check_nonzero(s);
  case OP_NONNEGATIVE:
    return check_nonnegative(s);
  case OP_BOOL:
    return check_bool(s);
  case OP_FITS:
    return check_fits(s);
  case OP_MIN:
    return check_min(s);
  case OP_MAX:
    return check_max(s);
  case OP_DIVISIBLE:
    return check_divisible(s);
  case OP_BIND:
    return bind(s, read_slot(s), BOUND);
  case OP_EQSYM:
    return check_symbol(s);
  case OP_BINDEQ:
    return bind_or_check(s);
  case OP_SOLVE:
    return solve(s);
  case OP_EXPR:
    return check_expression(s);
  case OP_CONDITION:
    return check_condition(s);
  case OP_EQFLOAT:
    return check_equal_float(s);
  case OP_OPTIONAL:
    return look_at_optional(s);
  case OP_VARIANT:
    return check_variant(s);
  case OP_ALTERNATIVE:
    return look_at_alternative(s);
  case OP_GUARD:
    return guard(s);
  case OP_TEXT:
    return decode_text(s);
  case OP_SMALL:
    return check_small(s);
  case OP_BYTES:
    return check_bytes(s);
  case OP_CHOICE:
    return check_choice(s);
  case OP_OBJECT:
    return decode_object(s);
  case OP_MAP:
    return s->open_map(s);
  case OP_EACH:
    return begin_elements(s);
  case OP_USUAL:
    return skip_usual(s);
  case OP_NEXT:
    return next_element(s);
  case OP_ITEM:
    return turn_to_element(s);
  case OP_FIRST:
    return save_first(s);
  case OP_BACK:
    return go_back(s);
  case OP_SAME_DTYPE:
    return check_same_dtype(s);
  default: // OP_DONE
    return false;
  }
}

// ---- memory

// Run the table's instructions from a position on. Allocate memory for slots and the message; the
// table says how much. If there is no memory, set an error that says so and return false.
static bool run(State *s, const TVMFFIAny *args, int32_t num_args, const char *table, uint32_t code,
                OpenMap *open_map) {
  *s = (State){
      .args = args, .num_args = num_args, .table = (const uint8_t *)table, .open_map = open_map};
  const size_t slots = (size_t)SLOT_SIZE * table_u16(s->table + HEAD_SLOTS);
  const size_t size = table_u32(s->table + HEAD_FRAME);
  char *memory = malloc(size);
  if (!memory) {
    no_memory(s);
    return false;
  }
  s->slots = (Slot *)(void *)memset(memory, 0, slots);
  s->message = s->cursor = memory + slots;
  s->end = memory + size;
  s->pc = s->table + code;
  while (step(s)) {
  }
  return true;
}

static uint32_t first_code(const char *table) {
  return table_u32((const uint8_t *)table + HEAD_CODE);
}

// ---- functions that generated code calls

// Each of the first three is the last call of a wrapper, so it need not preserve registers.

Raiser SHARED(raise); // add-ons rely on its type

// Raise an error with the given backtrace. Walking the stack instead would take hundreds of
// milliseconds for the first error.
__attribute__((cold)) int32_t SHARED(raise)(const char *kind, int64_t kind_size,
                                            const char *message, int64_t message_size,
                                            const char *backtrace, int64_t backtrace_size) {
  const TVMFFIByteArray kind_array = {kind, (size_t)kind_size};
  const TVMFFIByteArray message_array = {message, (size_t)message_size};
  const TVMFFIByteArray backtrace_array = {backtrace, (size_t)backtrace_size};
  TVMFFIObjectHandle error;
  if (TVMFFIErrorCreate(&kind_array, &message_array, &backtrace_array, &error))
    return -1;
  TVMFFIErrorSetRaised(error);
  TVMFFIObjectDecRef(error); // TVMFFIErrorSetRaised took a reference of its own
  return -1;
}

// Raise the error that was found, and free the memory.
static int32_t raise_found(State *s) {
  const uint8_t *table = s->table;
  SHARED(raise)(s->kind, (int64_t)strlen(s->kind), s->message, s->cursor - s->message,
                (const char *)table + table_u32(table + HEAD_NAME) +
                    table_u16(table + HEAD_NAME_LENGTH),
                table_u16(table + HEAD_BACKTRACE));
  free(s->slots);
  return -1;
}

static int32_t diagnose(State *s, const TVMFFIAny *args, int32_t num_args, const char *table,
                        OpenMap *open_map) {
  if (run(s, args, num_args, table, first_code(table), open_map) && !s->kind)
    undecided(s);
  return raise_found(s);
}

static bool nothing_is_wrong(State *s, const TVMFFIAny *args, int32_t num_args, const char *table,
                             OpenMap *open_map) {
  run(s, args, num_args, table, first_code(table), open_map);
  free(s->slots);
  return !s->kind;
}

static int32_t diagnose_overlaps(State *s, const TVMFFIAny *args, int32_t num_args,
                                 const char *table, int32_t overlaps, OpenMap *open_map) {
  const uint32_t code = table_u32((const uint8_t *)table + overlaps);
  if (run(s, args, num_args, table, code, open_map) && !s->kind && check_overlaps(s, overlaps))
    undecided(s);
  return raise_found(s);
}

__attribute__((cold)) int32_t SHARED(diagnose)(const TVMFFIAny *args, int32_t num_args,
                                               const char *table) {
  State state;
  return diagnose(&state, args, num_args, table, NULL);
}

// Return whether all checks but those of memory hold, for rare calls about which the fast path is
// in doubt. An error is found again, and raised, by the function above.
RARE bool SHARED(nothing_is_wrong)(const TVMFFIAny *args, int32_t num_args, const char *table) {
  State state;
  return nothing_is_wrong(&state, args, num_args, table, NULL);
}

// Do the same, and compare memory. Only wrappers with `no_overlap` call this function.
__attribute__((cold)) int32_t SHARED(diagnose_overlaps)(const TVMFFIAny *args, int32_t num_args,
                                                        const char *table, int32_t overlaps) {
  State state;
  return diagnose_overlaps(&state, args, num_args, table, overlaps, NULL);
}

// The same three for wrappers with Maps of numbers.

static void free_maps(State *s) {
  while (s->maps) {
    MapItems *items = s->maps;
    s->maps = items->next;
    free(items);
  }
}

__attribute__((cold)) int32_t SHARED(diagnose_with_maps)(const TVMFFIAny *args, int32_t num_args,
                                                         const char *table) {
  State state;
  const int32_t status = diagnose(&state, args, num_args, table, open_the_map);
  free_maps(&state);
  return status;
}

RARE bool SHARED(nothing_is_wrong_with_maps)(const TVMFFIAny *args, int32_t num_args,
                                             const char *table) {
  State state;
  const bool right = nothing_is_wrong(&state, args, num_args, table, open_the_map);
  free_maps(&state);
  return right;
}

__attribute__((cold)) int32_t SHARED(diagnose_overlaps_with_maps)(const TVMFFIAny *args,
                                                                  int32_t num_args,
                                                                  const char *table,
                                                                  int32_t overlaps) {
  State state;
  const int32_t status = diagnose_overlaps(&state, args, num_args, table, overlaps, open_the_map);
  free_maps(&state);
  return status;
}

// Find the error for Python, and do not raise it.
//
// `overlaps` is the position in the table of what to compare, or 0. Store the value of each slot,
// the error's class and its message. `room` is the room for the message in bytes; the size of the
// table's frame is always enough. Return the size of the message, -1 if all checks hold, or -2 if
// there is no memory. Nothing is stored as the error if all checks hold.
int64_t SHARED(find)(const TVMFFIAny *args, int32_t num_args, const char *table, int32_t overlaps,
                     int64_t *values, const char **kind, char *message, int64_t room) {
  State state;
  if (!run(&state, args, num_args, table, first_code(table), open_the_map))
    return -2;
  if (overlaps && !state.kind)
    check_overlaps(&state, overlaps);
  for (uint16_t slot = 0; slot < table_u16(state.table + HEAD_SLOTS); ++slot)
    values[slot] = state.slots[slot].value;
  int64_t size = -1;
  if (state.kind) {
    size = state.cursor - state.message;
    size = size < room ? size : room;
    *kind = state.kind;
    memcpy(message, state.message, (size_t)size);
  }
  free_maps(&state);
  free(state.slots);
  return size;
}
