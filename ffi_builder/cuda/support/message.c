// Messages of errors. They are composed of pieces.

#include "cuda.h"

typedef struct {
  size_t length;
  char text[4096];
} CudaMessage;

static char *cuda_end(CudaMessage *message) { return message->text + message->length; }

static size_t cuda_room(const CudaMessage *message) {
  return sizeof message->text - message->length;
}

// Counts the characters that snprintf wrote at cuda_end; it has dropped what did not fit. A
// variadic function of our own would need a va_list, whose layout depends on the machine.
static void cuda_say(CudaMessage *message, int wanted) {
  // snprintf returns the length that the text has without truncation.
  size_t most = cuda_room(message) - 1;
  message->length += wanted >= 0 && (size_t)wanted < most ? (size_t)wanted : most;
}

// Appends text with a format, as printf does.
#define CUDA_SAY(message, ...)                                                                     \
  cuda_say(message, snprintf(cuda_end(message), cuda_room(message), __VA_ARGS__))

// Appends the signature, sets the error, and returns what the wrapper is to return.
static int32_t cuda_raise(CudaMessage *message, const char *kind, const CudaSite *site) {
  CUDA_SAY(message, "%s", site->suffix);
  return site->raiser(kind, (int64_t)strlen(kind), message->text, (int64_t)message->length,
                      site->backtrace, site->backtrace_size);
}
