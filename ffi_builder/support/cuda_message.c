// Texts of errors, which are written piece by piece.

#include "cuda.h"

typedef struct {
  size_t length;
  char text[4096];
} CudaMessage;

static char *cuda_end(CudaMessage *message) { return message->text + message->length; }

static size_t cuda_room(const CudaMessage *message) {
  return sizeof message->text - message->length;
}

// Appends what snprintf wrote at cuda_end; text that did not fit is dropped. A va_list of our own
// would make this code depend on the machine.
static void cuda_say(CudaMessage *message, int wanted) {
  // snprintf returns the length without truncation.
  size_t most = cuda_room(message) - 1;
  message->length += wanted >= 0 && (size_t)wanted < most ? (size_t)wanted : most;
}

// Appends as printf does.
#define CUDA_SAY(message, ...)                                                                     \
  cuda_say(message, snprintf(cuda_end(message), cuda_room(message), __VA_ARGS__))

// Appends the signature, sets the error, and returns the status for the wrapper to return.
static int32_t cuda_raise(CudaMessage *message, const char *kind, const CudaSite *site) {
  CUDA_SAY(message, "%s", site->suffix);
  return site->raiser(kind, (int64_t)strlen(kind), message->text, (int64_t)message->length,
                      site->backtrace, site->backtrace_size);
}
