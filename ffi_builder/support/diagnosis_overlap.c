// Compares the memory of tensors. It finds the first tensor that overlaps with another one, and the
// first tensor with which that one overlaps.

// The current tensor or list, and the others with which it is compared.
typedef struct {
  Slot own;              // the current tensor or list
  const uint8_t *others; // entries in the table: u16 slot, u32 text, u16 length
  uint16_t count;        // of the others
} Comparison;

enum { OTHER_SIZE = 8 };

static bool is_own(const uint8_t *other) { return table_u16(other) == LATER; }

// Return the slot of another tensor or list. LATER stands for the later elements of the own list.
static const Slot *other_slot(const State *s, const Comparison *compared, const uint8_t *other) {
  return is_own(other) ? &compared->own : &s->slots[table_u16(other)];
}

// Return the number of tensors of a slot: the elements of a list, 1 for a tensor, 0 if it is
// absent.
static int64_t count_tensors(const Slot *slot) {
  if (!slot->value)
    return 0;
  return is_list(slot->object_type) ? list_cell(slot_object(slot))->size : 1;
}

// Store the extent of a tensor, or of an element of a list. Return whether there is anything to
// compare.
static bool extent_at(const Slot *slot, int64_t index, Extent *extent) {
  const TVMFFIObject *object = slot_object(slot);
  return is_list(slot->object_type) ? extent_in(list_cell(object), index, extent)
                                    : SHARED(extent)(object, extent);
}

// Return an element's number, from 1 on, which errors show; 0 for a tensor that is in no list.
static int64_t number_at_index(const Slot *slot, int64_t index) {
  return is_list(slot->object_type) ? index + 1 : 0;
}

// Compare the own tensor at an index with each of the others, in order.
static bool check_others(State *s, const Comparison *compared, int64_t index) {
  Extent own, other;
  if (!extent_at(&compared->own, index, &own))
    return true;
  for (uint16_t i = 0; i < compared->count; ++i) {
    const uint8_t *at = compared->others + OTHER_SIZE * i;
    const Slot *slot = other_slot(s, compared, at);
    const int64_t count = count_tensors(slot);
    for (int64_t step = is_own(at) ? index + 1 : 0; step < count; ++step) {
      if (!extent_at(slot, step, &other) || !meet(&own, &other))
        continue;
      s->element = number_at_index(&compared->own, index);
      s->other = number_at_index(slot, step);
      s->text = at + 2;
      s->value = (int64_t)own.first;
      s->expected = (int64_t)own.last;
      s->other_bytes[0] = other.first;
      s->other_bytes[1] = other.last;
      return fail(s, WORDS_CHECK_OVERLAP);
    }
  }
  return true;
}

// ---- long lists

// All tensors that are compared, in a numbered sequence: first the own ones, then the others.
typedef struct {
  Extent *extents; // of each tensor
  Extent *order;   // of each with something to compare: its first address, and its number as `last`
  int64_t room;    // for as many tensors
  int64_t count;   // of `extents`
  int64_t found;   // of `order`
} Tensors;

// Append the tensors of a slot as far as there is room.
static void add_tensors(Tensors *all, const Slot *slot) {
  const int64_t count = least(count_tensors(slot), all->room - all->count);
  for (int64_t index = 0; index < count; ++index) {
    Extent *extent = &all->extents[all->count];
    if (extent_at(slot, index, extent))
      all->order[all->found++] = (Extent){extent->first, (uint64_t)all->count};
    ++all->count;
  }
}

// Return the number of the first own tensor that overlaps with another tensor, or `own` if there is
// none. The first `own` tensors are the own ones. They are compared with the others; if `within`,
// also with each other.
//
// Two passes over the tensors, which are sorted by their first address, find the overlaps. The
// first pass goes forward: a tensor overlaps with an earlier one if the greatest last address until
// then reaches its first. The second pass goes backward: a tensor overlaps with a later one if its
// last address reaches the first address of the next one.
static int64_t find_first(const Tensors *all, int64_t own, bool within) {
  int64_t first = own;
  const Extent *farthest = NULL, *next = NULL;
  for (int64_t at = 0; at < all->found; ++at) {
    const int64_t number = (int64_t)all->order[at].last;
    const Extent *extent = &all->extents[number];
    if (farthest && farthest->last >= extent->first)
      first = least(first, number);
    if ((within || number >= own) && (!farthest || farthest->last < extent->last))
      farthest = extent;
  }
  for (int64_t at = all->found - 1; at >= 0; --at) {
    const int64_t number = (int64_t)all->order[at].last;
    const Extent *extent = &all->extents[number];
    if (next && next->first <= extent->last)
      first = least(first, number);
    if (within || number >= own)
      next = extent;
  }
  return first;
}

// Return how many elements at the start of the own list certainly overlap with no later element and
// with none of the others. Return 0 for a tensor that is in no list, or if there is no memory.
//
// Elements are compared with earlier ones of their list, too. That changes nothing: an earlier
// element that overlaps would itself be the first one.
static int64_t count_apart(const State *s, const Comparison *compared, int64_t length) {
  if (!is_list(compared->own.object_type))
    return 0;
  bool within = false;
  Tensors all = {.room = length};
  for (uint16_t i = 0; i < compared->count; ++i) {
    const uint8_t *other = compared->others + OTHER_SIZE * i;
    within |= is_own(other);
    all.room += is_own(other) ? 0 : count_tensors(other_slot(s, compared, other));
  }
  // malloc may return NULL for 0 bytes.
  all.extents = malloc((size_t)(3 * all.room + 1) * sizeof *all.extents);
  if (!all.extents)
    return 0;
  all.order = all.extents + all.room;
  add_tensors(&all, &compared->own);
  for (uint16_t i = 0; i < compared->count; ++i) {
    const uint8_t *other = compared->others + OTHER_SIZE * i;
    if (!is_own(other))
      add_tensors(&all, other_slot(s, compared, other));
  }
  sort(all.order, all.order + all.room, all.found);
  const int64_t apart = find_first(&all, length, within);
  free(all.extents);
  return apart;
}

// ---- the check

static bool check_overlap(State *s) {
  set_parameter(s);
  Comparison compared = {.own = *read_slot(s)};
  compared.count = read_u16(s);
  compared.others = s->pc;
  s->pc += OTHER_SIZE * compared.count;
  const int64_t length = count_tensors(&compared.own);
  for (int64_t index = count_apart(s, &compared, length); index < length; ++index) {
    if (!check_others(s, &compared, index))
      return false;
  }
  return true;
}

// Make the comparisons that the table lists at a position, between objects that its instructions
// have saved.
static bool check_overlaps(State *s, int32_t position) {
  s->pc = s->table + position + sizeof(uint32_t);
  for (int32_t count = read_u16(s); count > 0; --count) {
    if (!check_overlap(s))
      return false;
  }
  return true;
}
