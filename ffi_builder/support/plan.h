// Made by `make support` from tools/plan_header.py. Do not edit.

#ifndef FFI_BUILDER_PLAN_H
#define FFI_BUILDER_PLAN_H

#include <stdint.h>

enum {
  HEAD_FRAME = 0,
  HEAD_CODE = 4,
  HEAD_TEXT = 8,
  HEAD_LENGTH = 12,
  HEAD_NAME = 16,
  HEAD_NAME_LENGTH = 20,
  HEAD_BACKTRACE = 22,
  HEAD_SLOTS = 24,
  HEAD_ARGUMENTS = 26,
  HEAD_SIZE = 28,
};

enum {
  SOURCE_NDIM = 1,
  SOURCE_DTYPE = 2,
  SOURCE_DEVICE_TYPE = 3,
  SOURCE_DEVICE_ID = 4,
  SOURCE_SHAPE = 5,
  SOURCE_STRIDES = 6,
  SOURCE_DATA = 8,
  SOURCE_ENTRY = 9,
  SOURCE_COUNT = 10,
  SOURCE_ARGUMENTS = 11,
  SOURCE_OBJECT = 12,
  SOURCE_LENGTH = 13,
  SOURCE_CELLS = 14,
  SOURCE_ELEMENTS = 15,
  SOURCE_CONTIGUOUS = 16,
  SOURCE_PRESENT = 17,
};

enum {
  CODE_END = 0,
  CODE_SYMBOL = 1,
  CODE_CONSTANT = 2,
  CODE_ADD = 3,
  CODE_SUB = 4,
  CODE_MUL = 5,
  CODE_FLOORDIV = 6,
  CODE_MOD = 7,
  CODE_CEILDIV = 8,
  CODE_MAX = 9,
  CODE_MIN = 10,
  CODE_COMPARE = 11,
  CODE_AND = 12,
  CODE_OR = 13,
  CODE_NOT = 14,
};

enum {
  STYLE_INT = 0,
  STYLE_UINT = 1,
  STYLE_FLOAT = 2,
  STYLE_HEX = 3,
  STYLE_BOOL = 4,
  STYLE_DTYPE = 5,
  STYLE_CHOICE = 6,
  STYLE_PROPERTY = 16,
};

enum {
  ROUNDING_FLOAT64 = 0,
  ROUNDING_FLOAT32 = 1,
  ROUNDING_FLOAT16 = 2,
  ROUNDING_BFLOAT16 = 3,
};

enum {
  ACCEPTED_ANY = 0,
  ACCEPTED_BY_KEY = 1,
  ACCEPTED_MAPPING = 2,
};

enum {
  PART_VALUE = 0,
  PART_NDIM = 1,
  PART_DTYPE = 2,
  PART_DEVICE_TYPE = 3,
  PART_DEVICE_ID = 4,
  PART_SHAPE = 5,
  PART_STRIDES = 6,
  PART_BYTE_OFFSET = 7,
  PART_DATA = 8,
  PART_ENTRY = 9,
  PART_COUNT = 10,
  PART_ARGUMENTS = 11,
  PART_LENGTH = 15,
  PART_CONTIGUOUS = 16,
  PART_PRESENT = 17,
};

enum {
  OP_DONE = 0,
  OP_PARAM = 1,
  OP_ARG = 2,
  OP_ELEM = 3,
  OP_TENSOR = 4,
  OP_HEAD = 5,
  OP_SHAPED = 6,
  OP_DIM = 7,
  OP_DIMS = 8,
  OP_LAYOUT = 9,
  OP_DATA = 10,
  OP_SAME_DEVICE = 11,
  OP_DTYPES = 12,
  OP_CONTAINER = 13,
  OP_SAVE = 14,
  OP_RESTORE = 15,
  OP_SCALAR = 16,
  OP_FLOAT = 17,
  OP_READ = 18,
  OP_ENTRY = 19,
  OP_SCALE = 20,
  OP_EQ = 21, // CheckCount
  OP_EQ8 = 22,
  OP_NONZERO = 23,
  OP_EXPR = 24,
  OP_CONDITION = 25,
  OP_OPTIONAL = 26,
  OP_VARIANT = 27,
  OP_ALTERNATIVE = 28,
  OP_GUARD = 29,
  OP_TEXT = 30,
  OP_OBJECT = 31,
  OP_MAP = 32,
  OP_EACH = 33,
  OP_USUAL = 34,
  OP_NEXT = 35,
  OP_ITEM = 36,
  OP_FIRST = 37,
  OP_BACK = 38,
  OP_SAME_DTYPE = 39,
  OP_COUNT = 40, // CheckLeastCount
  OP_CHOICE = 41, // CheckChoice
  OP_BOOL = 42, // CheckBool
  OP_FITS = 43, // Fits
  OP_EQFLOAT = 44, // EqualFloat
  OP_MIN = 45, // AtLeast
  OP_MAX = 46, // AtMost
  OP_DIVISIBLE = 47, // Divisible
  OP_BIND = 48, // Bind
  OP_EQSYM = 49, // EqualSymbol
  OP_BINDEQ = 50, // BindOrEqual
  OP_SOLVE = 51, // Solve
  OP_ALIGN = 52, // CheckAlignment
  OP_ALIGN_ELEMENTS = 53, // CheckElementAlignment
  OP_SMALL = 54, // CheckSmall
  OP_BYTES = 55, // CheckBytes
  OP_NONNEGATIVE = 56, // NotNegative
};

enum {
  WORDS_DECODE_VARIANT = 0,
  WORDS_DECODE_TENSOR = 1,
  WORDS_DECODE_SHAPE = 2,
  WORDS_DECODE_TUPLE = 3,
  WORDS_DECODE_LIST_OF_ANY = 4,
  WORDS_DECODE_LIST_OF_BOOLS = 5,
  WORDS_DECODE_LIST_OF_BYTES = 6,
  WORDS_DECODE_LIST_OF_FLOATS = 7,
  WORDS_DECODE_LIST_OF_INTS = 8,
  WORDS_DECODE_LIST_OF_LISTS = 9,
  WORDS_DECODE_LIST_OF_STRS = 10,
  WORDS_DECODE_LIST = 11,
  WORDS_DECODE_TEXT_OF_BYTES = 12,
  WORDS_DECODE_TEXT_OF_STR = 13,
  WORDS_DECODE_OBJECT = 0,
  WORDS_DECODE_ENTRY = 14,
  WORDS_CHECK_COUNT = 15,
  WORDS_CHECK_LEAST_COUNT = 16,
  WORDS_CHECK_ARGUMENTS = 17,
  WORDS_CHECK_CHOICE = 18,
  WORDS_CHECK_BOOL = 19,
  WORDS_FITS = 20,
  WORDS_EQUAL_INT_OF_STRIDE = 21,
  WORDS_EQUAL_INT_PLAIN = 22,
  WORDS_EQUAL_FLOAT = 22,
  WORDS_AT_LEAST = 23,
  WORDS_AT_MOST = 24,
  WORDS_DIVISIBLE = 25,
  WORDS_EQUAL_SYMBOL_OF_STRIDE = 26,
  WORDS_EQUAL_SYMBOL_PLAIN = 27,
  WORDS_BIND_OR_EQUAL_OF_STRIDE = 26,
  WORDS_BIND_OR_EQUAL_PLAIN = 27,
  WORDS_SOLVE = 28,
  WORDS_EQUAL_EXPR_OF_STRIDE = 29,
  WORDS_EQUAL_EXPR_OVERFLOW = 30,
  WORDS_EQUAL_EXPR_PLAIN = 31,
  WORDS_CHECK_CONDITION_OF_SEVERAL = 32,
  WORDS_CHECK_CONDITION_OF_TWO = 33,
  WORDS_CHECK_CONDITION_OVERFLOW = 34,
  WORDS_CHECK_CONDITION_PLAIN = 35,
  WORDS_CHECK_SHAPE_POINTER = 17,
  WORDS_CHECK_DATA = 36,
  WORDS_CHECK_ALIGNMENT = 37,
  WORDS_CHECK_ELEMENT_ALIGNMENT = 38,
  WORDS_CHECK_OVERLAP = 39,
  WORDS_CHECK_PACKED = 40,
  WORDS_NOT_NULL = 41,
  WORDS_CHECK_SMALL = 42,
  WORDS_CHECK_BYTES = 43,
  WORDS_CHECK_LENGTH = 44,
  WORDS_CHECK_CELLS = 43,
  WORDS_NOT_NEGATIVE = 45,
  WORDS_CHECK_NDIM = 22,
  WORDS_CHECK_DTYPE_SEVERAL = 46,
  WORDS_CHECK_DTYPE_SINGLE = 47,
  WORDS_CHECK_SAME_DTYPE = 48,
  WORDS_CHECK_DEVICE_TYPE = 49,
  WORDS_CHECK_SAME_DEVICE = 50,
  WORDS_CHECK_DIMS = 45,
  WORDS_CHECK_CONTIGUOUS_COLUMN_MAJOR = 51,
  WORDS_CHECK_CONTIGUOUS_ROW_MAJOR = 52,
  WORDS_CHECK_NUMEL = 53,
  WORDS_CHECK_OFFSET = 54,
  WORDS_KIND_INT = 14,
  WORDS_KIND_BOOL = 55,
  WORDS_KIND_FLOAT = 56,
  WORDS_KIND_HANDLE = 57,
  WORDS_KIND_POINTER = 58,
  WORDS_KIND_STREAM = 58,
  WORDS_KIND_DTYPE = 59,
  WORDS_KIND_DEVICE = 60,
  WORDS_KIND_CONST_NONE = 61,
  WORDS_KIND_CONST_INT = 14,
  WORDS_KIND_CONST_BOOL = 55,
  WORDS_KIND_CONST_FLOAT = 56,
};

enum {
  PUT_EXPECTED = 1,
  PUT_GOT = 2,
  PUT_SYMBOL = 3,
  PUT_ORIGIN = 4,
  PUT_TEXT = 5,
  PUT_BINDINGS = 6,
  PUT_PATH = 7,
  PUT_TYPE = 8,
  PUT_DTYPE = 9,
  PUT_DEVICE = 10,
  PUT_EXPECTED_DTYPE = 11,
  PUT_EXPECTED_DEVICE = 12,
  PUT_RANGE = 13,
  PUT_SHAPE = 14,
  PUT_STRIDES = 15,
  PUT_ADDRESS = 16,
  PUT_OFFSET = 17,
  PUT_ALIGNMENT = 18,
  PUT_SUBJECT = 19,
  PUT_ARGUMENT = 20,
  PUT_SIGNATURE = 21,
  PUT_WANTED = 22,
  PUT_ACTUAL = 23,
  PUT_BOUND = 24,
  PUT_OR_NONE = 25,
  PUT_STRING = 26,
  PUT_NEAREST = 27,
  PUT_BYTES = 28,
  PUT_OTHER_BYTES = 29,
};

enum {
  NO_INDEX = 65535,
  LATER = 65535,
  OBJECT_BITS = 48,
  MOVABLE_TYPES = 147193856,
  SLOT_SIZE = 24,
  STACK_DEPTH = 64,
  SIGNATURE_LIMIT = 400,
  SHOWN_ENTRIES = 64,
  LONGEST_TYPE_KEY = 255,
  LONGEST_NEAREST = 63,
};

// Bits of the dtypes whose name implies them, by code; 0 for the others.
static const uint8_t FIXED_BITS[] = {
    0,
    0,
    0,
    0,
    0,
    0,
    8,
    8,
    8,
    8,
    8,
    8,
    8,
    8,
    8,
    6,
    6,
    4,
};

// Texts and templates of errors, each ending in NUL. Names of numbers are one text: the
// number as a byte, the name and NUL, for each.
static const char TEXTS[] =
    "TypeError\000"
    "ValueError\000"
    "type of \000"
    "\000"
    "length of \000"
    "\005\031\000"
    "Tensor\031\000"
    "Shape or list of ints\031\000"
    "tuple\031\000"
    "list\031\000"
    "list of bools\031\000"
    "list of bytes\031\000"
    "list of floats\031\000"
    "list of ints\031\000"
    "list of lists\031\000"
    "list of strs\031\000"
    "list of tensors\031\000"
    "bytes\031\000"
    "str\031\000"
    "int\031\000"
    "\001\000"
    "at least \001\000"
    "a non-NULL pointer\000"
    "one of \005\000"
    "True, False, 0 or 1\000"
    "a value that fits \013 (\015)\000"
    "at least \001 (min of \003)\000"
    "at most \001 (max of \003)\000"
    "a multiple of \001 (divisibility of \003)\000"
    "\001 (\003 = \004)\000"
    "a value of \005 for an integer \003\000"
    "\001 (\005 with \006)\000"
    "\005 within int64, with \006\000"
    "\005\000"
    "\005 with \006\000"
    "a non-NULL pointer, as \007 has elements\000"
    "an address aligned to \001 bytes (data_alignment of \007)\000"
    "an address aligned to \001 bytes, as elements of \007 are\000"
    "memory apart from that of \005 (no_overlap)\000"
    "at most \001 in magnitude, as elements are packed\000"
    "a non-NULL object\000"
    "at most 7, as it is held in place\000"
    "non-NULL elements\000"
    "a non-negative value\000"
    "\013\000"
    "\013 (dtype of \005)\000"
    "\014\000"
    "\001 (the device of \005)\000"
    "\001 (column-major contiguous)\000"
    "\001 (row-major contiguous)\000"
    "a product of dimensions that fits int64\000"
    "data + byte_offset within the address space\000"
    "bool\031\000"
    "float\031\000"
    "opaque pointer or None\000"
    "opaque pointer, None or int\000"
    "dtype\031\000"
    "device\031\000"
    "None\000"
    "\010\000"
    "\002\000"
    "NULL\000"
    "\032\033\000"
    "\002 (shape=\016, strides=\017)\000"
    "\006\000"
    "\002 and \001\000"
    "a value beyond int64\000"
    "\020 (aligned to \022)\000"
    "\034, where \005 has \035\000"
    "\011\000"
    "\012\000"
    "\016\000"
    "\020 + \021\000"
    "Mismatched \023 on argument #\024 when calling: `\025`, expected \026 but got \027\000"
    "Mismatched \023 when calling: `\025`, expected \026 but got \027\000"
    "\003 = \030 from \004\000"
    "\003 = \030\000"
    "an argument changed while it was being checked, perhaps by another thread\000"
    " or None\000"
    " (did you mean '\000"
    "'?)\000"
    "MemoryError\000"
    "There is no memory to say what is wrong with an argument\000"
    "RuntimeError\000"
    " to \000"
    " in \000"
    ", \000"
    "...\000"
    "..., \000"
    ", ...\000"
    "0x\000"
    "nan\000"
    "True\000"
    "False\000"
    "an int beyond 64 bits\000"
    "device type \000"
    "type index \000"
    "dtype(code=\000"
    ", bits=\000"
    ", lanes=\000"
    "\000None\000\001int\000\002bool\000\003float\000\004opaque pointer\000\005dtype\000\006device\000\007DLTensor*\000\010char*\000\011TVMFFIByteArray*\000\012moved object\000\013str\000\014bytes\000\015Unchanged\000@ffi.Object\000Astr\000Bbytes\000Cffi.Error\000Dffi.Function\000Effi.Shape\000Fffi.Tensor\000Glist\000Hdict\000Iffi.Module\000JPython object\000Kffi.List\000Lffi.Dict\000Mffi.VisitInterrupt\000Nint beyond int64\000\000\000"
    "\000int\000\001uint\000\002float\000\003handle\000\004bfloat\000\005complex\000\006bool\000\007float8_e3m4\000\010float8_e4m3\000\011float8_e4m3b11fnuz\000\012float8_e4m3fn\000\013float8_e4m3fnuz\000\014float8_e5m2\000\015float8_e5m2fnuz\000\016float8_e8m0fnu\000\017float6_e2m3fn\000\020float6_e3m2fn\000\021float4_e2m1fn\000\000\000"
    "\001cpu\000\002cuda\000\003cuda_host\000\004opencl\000\007vulkan\000\010metal\000\011vpi\000\012rocm\000\013rocm_host\000\014ext_dev\000\015cuda_managed\000\016oneapi\000\017webgpu\000\020hexagon\000\021maia\000\022trn\000\000\000"
    "\001.ndim\000\002.dtype\000\003.device_type\000\004.device_id\000\005.shape\000\006.strides\000\007.byte_offset\000\010.data\000\020.contiguous\000\021.present\000\012number of arguments\000\013argument array\000\000\000";

// Where they are.
enum {
  FRAME = 1156,
  FRAME_WITHOUT_ARGUMENT = 1224,
  BINDING = 1277,
  PROPERTY = 1290,
  UNDECIDED = 1296,
  OR_NONE = 1370,
  BEFORE_NEAREST = 1379,
  BEHIND_NEAREST = 1396,
  LENGTH_OF = 31,
  MEMORY_ERROR = 1400,
  NO_MEMORY = 1412,
  RUNTIME_ERROR = 1469,
  TO = 1482,
  IN = 1487,
  COMMA = 1492,
  ELLIPSIS = 1495,
  BEFORE_ARGUMENT = 1499,
  BEHIND_ARGUMENT = 1505,
  HEX = 1511,
  NOT_A_NUMBER = 1514,
  NO_POINTER = 1048,
  NONE = 1039,
  TRUE = 1518,
  FALSE = 1523,
  BIG_INT = 1529,
  DEVICE_TYPE = 1551,
  TYPE_INDEX = 1564,
  DTYPE_CODE = 1576,
  DTYPE_BITS = 1588,
  DTYPE_LANES = 1596,
  TYPE_NAMES = 1605,
  DTYPE_NAMES = 1904,
  DEVICE_NAMES = 2124,
  SUFFIXES = 2252,
};

// Where the texts of an error are: the class, the place's prefix, expected, got.
typedef struct {
  uint8_t kind, prefix;
  uint16_t expected, got;
} Row;

static const Row WORDS[] = {
    {0, 21, 42, 1044},
    {0, 21, 45, 1044},
    {0, 21, 53, 1044},
    {0, 21, 76, 1044},
    {0, 21, 83, 1044},
    {0, 21, 89, 1044},
    {0, 21, 104, 1044},
    {0, 21, 119, 1044},
    {0, 21, 135, 1044},
    {0, 21, 149, 1044},
    {0, 21, 164, 1044},
    {0, 21, 178, 1044},
    {0, 21, 195, 1044},
    {0, 21, 202, 1044},
    {0, 21, 207, 1044},
    {0, 30, 212, 1046},
    {0, 30, 214, 1046},
    {10, 30, 225, 1048},
    {10, 30, 244, 1053},
    {10, 30, 253, 1046},
    {10, 30, 273, 1046},
    {10, 30, 212, 1056},
    {10, 30, 212, 1046},
    {10, 30, 297, 1046},
    {10, 30, 319, 1046},
    {10, 30, 340, 1046},
    {10, 30, 376, 1056},
    {10, 30, 376, 1046},
    {10, 30, 386, 1046},
    {10, 30, 416, 1056},
    {10, 30, 429, 1046},
    {10, 30, 416, 1046},
    {10, 30, 452, 1079},
    {10, 30, 454, 1081},
    {10, 30, 454, 1089},
    {10, 30, 454, 1046},
    {10, 30, 463, 1048},
    {10, 30, 501, 1110},
    {10, 30, 553, 1110},
    {10, 30, 605, 1127},
    {10, 30, 646, 1046},
    {10, 30, 693, 1048},
    {10, 31, 711, 1046},
    {10, 30, 745, 1048},
    {10, 31, 212, 1046},
    {10, 30, 763, 1046},
    {0, 30, 244, 1144},
    {0, 30, 784, 1144},
    {0, 30, 786, 1144},
    {10, 30, 801, 1146},
    {10, 30, 803, 1046},
    {10, 30, 823, 1056},
    {10, 30, 851, 1056},
    {10, 30, 876, 1148},
    {10, 30, 916, 1150},
    {0, 21, 960, 1044},
    {0, 21, 966, 1044},
    {0, 21, 973, 1044},
    {0, 21, 996, 1044},
    {0, 21, 1024, 1044},
    {0, 21, 1031, 1044},
    {0, 21, 1039, 1044},
};

#endif
