// Shows the str that was passed, and the choice that is most like it.

// Append the str in quotes, with escapes. Append only the first bytes of a long one.
static void put_quoted(State *s) {
  put_byte(s, '\'');
  for (uint64_t i = 0; i < s->size && i < SHOWN_ENTRIES; ++i) {
    const uint8_t byte = (uint8_t)s->data[i];
    if (byte >= 0x20 && byte < 0x7F && byte != '\'' && byte != '"' && byte != '\\') {
      put_byte(s, (char)byte);
    } else {
      put_byte(s, '\\');
      put_byte(s, 'x');
      put_byte(s, digit(byte >> 4));
      put_byte(s, digit(byte & 15));
    }
  }
  put_byte(s, '\'');
  if (s->size > SHOWN_ENTRIES)
    put_text(s, ELLIPSIS);
}

static int64_t least(int64_t one, int64_t other) { return one < other ? one : other; }

// Return the Levenshtein distance between the str and a text, in bytes.
static int64_t distance(const State *s, const char *text, int64_t size) {
  // The distances from the bytes of the str so far to each prefix of the text.
  int64_t row[LONGEST_NEAREST + 1];
  for (int64_t column = 0; column <= size; ++column)
    row[column] = column;
  for (uint64_t i = 0; i < s->size; ++i) {
    int64_t diagonal = row[0];
    row[0] = (int64_t)i + 1;
    for (int64_t column = 0; column < size; ++column) {
      const int64_t above = row[column + 1];
      const int64_t replaced = diagonal + (s->data[i] != text[column]);
      row[column + 1] = least(replaced, least(above, row[column]) + 1);
      diagonal = above;
    }
  }
  return row[size];
}

// Append the nearest choice, the first of several, unless the distance is more than half of the
// longer length.
static void put_nearest(State *s) {
  // A str that is more than twice as long as any choice has a distance of more than half its
  // length.
  if (s->size > 2 * LONGEST_NEAREST)
    return;
  const uint8_t *nearest = NULL;
  int64_t best = INT64_MAX;
  for (int32_t i = 0; i < table_u16(s->bindings); ++i) {
    const uint8_t *choice = s->bindings + 2 + 6 * i;
    if (text_size(choice) > LONGEST_NEAREST)
      continue;
    const int64_t found = distance(s, text_data(s, choice), text_size(choice));
    if (found < best) {
      best = found;
      nearest = choice;
    }
  }
  if (!nearest)
    return;
  const int64_t size = (int64_t)s->size, longer = size - least(0, size - text_size(nearest));
  if (2 * best > longer)
    return;
  put_text(s, BEFORE_NEAREST);
  put_operand(s, nearest);
  put_text(s, BEHIND_NEAREST);
}
