// Compares the memory of tensors, to find the first one that overlaps with another, and the first
// of these others.

// What the current tensor or list is compared with.
typedef struct {
  Slot own;              // the current tensor or list
  const uint8_t *others; // in the table: for each u16 slot, u32 text, u16 length
  uint16_t count;
} Comparison;

enum { OTHER_SIZE = 8 };

static bool is_own(const uint8_t *other) { return table_u16(other) == LATER; }

// The slot of another tensor or list. LATER stands for the later elements of the own list.
static const Slot *other_slot(const State *s, const Comparison *compared, const uint8_t *other) {
  return is_own(other) ? &compared->own : &s->slots[table_u16(other)];
}

// Count the tensors of a list; any other object is one tensor, and an absent one is none.
static int64_t count_tensors(const Slot *slot) {
  if (!slot->value)
    return 0;
  return is_list(slot->object_type) ? list_cell(slot_object(slot))->size : 1;
}

// Store the extent of a tensor, or of an element of a list.
static bool extent_at(const Slot *slot, int64_t index, Extent *extent) {
  const TVMFFIObject *object = slot_object(slot);
  return is_list(slot->object_type) ? extent_in(list_cell(object), index, extent)
                                    : SHARED(extent)(object, extent);
}

// The number of an element that errors show, from 1 on; 0 of a tensor that is in no list.
static int64_t number_at_index(const Slot *slot, int64_t index) {
  return is_list(slot->object_type) ? index + 1 : 0;
}

// Compare the tensor with this index with each of the others, in order.
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

// All tensors that are compared, by number: first the own ones, then the others.
typedef struct {
  Extent *extents; // of each
  Extent *order;   // of those that have something to compare: the first address, then the number
  int64_t room, count, found;
} Tensors;

// Append the tensors of a slot, as far as there is room.
static void add_tensors(Tensors *all, const Slot *slot) {
  const int64_t count = least(count_tensors(slot), all->room - all->count);
  for (int64_t index = 0; index < count; ++index) {
    Extent *extent = &all->extents[all->count];
    if (extent_at(slot, index, extent))
      all->order[all->found++] = (Extent){extent->first, (uint64_t)all->count};
    ++all->count;
  }
}

// Find the first of the own tensors, which are the first `own` ones, that overlaps with one that it
// is compared with: with an other or, if `within`, with an own one. Return `own` if there is none.
//
// With a tensor that begins before it, it overlaps if the farthest such one reaches it. With a
// tensor that begins after it, it overlaps if it reaches the next such one.
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

// Say how many elements of the own list certainly overlap with no later one and with none of the
// others. Without the memory to find out, or of a tensor that is in no list, it is none.
//
// Earlier elements of the list are compared, too. If one overlapped, it would be the first itself.
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

// Compare what the table has at this position, of objects that its instructions have saved.
static bool check_overlaps(State *s, int32_t position) {
  s->pc = s->table + position + sizeof(uint32_t);
  for (int32_t count = read_u16(s); count > 0; --count) {
    if (!check_overlap(s))
      return false;
  }
  return true;
}
