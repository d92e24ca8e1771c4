// Compares the memory of tensors by the rules of docs/checks.md.

// Store the extent of a tensor, which may be absent; return whether there is anything to compare.
RARE bool SHARED(extent)(const TVMFFIObject *object, Extent *extent) {
  return extent_of(object, extent);
}

static bool meet(const Extent *one, const Extent *other) {
  return one->first <= other->last && other->first <= one->last;
}

// Return whether two tensors, which may be absent, have no byte in common.
RARE bool SHARED(apart)(const TVMFFIObject *object, const TVMFFIObject *other_object) {
  Extent one, other;
  return !SHARED(extent)(object, &one) || !SHARED(extent)(other_object, &other) ||
         !meet(&one, &other);
}

// ---- lists

// Store the extent of an element of an Array or List.
static bool extent_in(const TVMFFISeqCell *list, int64_t index, Extent *extent) {
  return SHARED(extent)(SHARED(tensor_object)((const TVMFFIAny *)list->data + index), extent);
}

// Return whether no element of an Array or List has a byte in common with a tensor. Both may be
// absent.
RARE bool SHARED(list_apart)(const TVMFFIObject *list_object, const TVMFFIObject *object) {
  Extent own, other;
  if (list_object == NULL || !SHARED(extent)(object, &own))
    return true;
  const TVMFFISeqCell *list = list_cell(list_object);
  int64_t length = list->size;
  for (int64_t index = 0; index < length; ++index)
    if (extent_in(list, index, &other) && meet(&own, &other))
      return false;
  return true;
}

// Return the end of the run of sorted extents that begins at an index.
static int64_t end_of_run(const Extent *extents, int64_t at, int64_t count) {
  while (at < count && (++at == count || extents[at - 1].first <= extents[at].first)) {
  }
  return at;
}

// Sort extents by the first address: merge pairs of adjacent sorted runs until one run is left.
// `space` has room for `count` extents.
static void sort(Extent *extents, Extent *space, int64_t count) {
  Extent *from = extents, *to = space;
  while (end_of_run(from, 0, count) < count) {
    for (int64_t at = 0; at < count;) {
      int64_t left = at;
      const int64_t middle = end_of_run(from, left, count);
      int64_t right = middle;
      const int64_t end = end_of_run(from, middle, count);
      while (at < end) {
        const bool is_left =
            right == end || (left < middle && from[left].first <= from[right].first);
        to[at++] = from[is_left ? left++ : right++];
      }
    }
    Extent *merged = to;
    to = from;
    from = merged;
  }
  if (from != extents)
    memcpy(extents, from, (size_t)count * sizeof *extents);
}

// Store the extents of the first `length` elements of an Array or List, sorted by the first
// address. Leave out elements with nothing to compare; return the number of the others. The list
// may be absent.
//
// `extents` has room for twice `length`. The length is not read again, since another thread may
// append to a List.
RARE int64_t SHARED(sort_extents)(const TVMFFIObject *list, int64_t length, Extent *extents) {
  if (list == NULL)
    return 0;
  int64_t count = 0;
  for (int64_t index = 0; index < length; ++index)
    count += extent_in(list_cell(list), index, &extents[count]);
  sort(extents, extents + length, count);
  return count;
}

// Return whether no two of these sorted extents have a byte in common.
RARE bool SHARED(each_apart)(const Extent *extents, int64_t count) {
  for (int64_t index = 1; index < count; ++index)
    if (extents[index].first <= extents[index - 1].last)
      return false;
  return true;
}

// Return whether no extent has a byte in common with one of the others. Both are sorted. So an
// extent that ends before one of the others begins also ends before all later ones.
RARE bool SHARED(lists_apart)(const Extent *extents, int64_t count, const Extent *others,
                              int64_t number) {
  const Extent *one = extents, *other = others;
  while (one < extents + count && other < others + number) {
    if (one->last < other->first)
      ++one;
    else if (other->last < one->first)
      ++other;
    else
      return false;
  }
  return true;
}
