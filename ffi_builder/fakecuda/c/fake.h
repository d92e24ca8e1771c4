/* What the files of the fake driver share.
 *
 * Every function of the driver is one line, API(needs, body, arguments…): `call_begin` waits, counts,
 * fails if that was asked for, takes the lock and checks what the function needs; the body runs with
 * the lock held; `call_end` writes the log, lets go of the lock, and then runs kernels.
 */
#ifndef FAKE_H
#define FAKE_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fake_control.h"

enum { kDevices = 8, kStack = 64, kAttributes = CU_DEVICE_ATTRIBUTE_MAX, kReservedShared = 1024 };

/* What a function needs. */
enum {
  kNothing = 0,   /* works before cuInit */
  kInit = 1,      /* cuInit */
  kContext = 3,   /* cuInit, and a current context that is alive and in which nothing has failed */
  kUnsafe = 4,    /* and no stream capture that forbids what is potentially unsafe */
};

typedef enum Kind {
  kKindContext = 1, kKindStream, kKindEvent, kKindLibrary, kKindKernel, kKindModule, kKindFunction, kKindGraph,
  kKindGraphExec, kKindCode,
} Kind;

/* Begins whatever has a handle. Objects are never freed: an old handle can be told from a wrong one. */
typedef struct Object {
  Kind kind;
  bool alive;
  uint64_t handle;
} Object;

typedef struct Context {
  Object object;
  int device;
  bool primary;
  CUresult failed; /* by a kernel; every later call in the context returns it */
} Context;

typedef struct Launch {
  FakeLaunch public;
  Object* code;   /* the Kernel or Function: its library must stay as long as this is in a graph */
  Context* context;
  CUlaunchAttribute attributes[16];
  unsigned attribute_count;
  bool cooperative;
  struct Launch* next;
} Launch;

typedef struct Graph {
  Object object;
  Launch* first;
} Graph;

typedef struct Stream {
  Object object;
  Context* context;
  unsigned flags;
  int priority;
  unsigned thread; /* of a per-thread stream; 0: none */
  /* The capture under way; NULL: none */
  Graph* capture;
  bool invalidated;
  CUstreamCaptureMode mode;
  unsigned capturer; /* the thread that began it */
  uint64_t capture_id;
} Stream;

typedef struct Event {
  Object object;
  unsigned flags;
} Event;

/* What an image says of one kernel. */
typedef struct KernelInfo {
  char* name;
  unsigned count;
  struct { uint32_t offset, size; } *parameters;
  uint32_t base;        /* where the parameters begin in constant bank 0: alignment counts from there */
  unsigned max_threads, registers, shared, local;
  unsigned cluster[3];  /* fixed when it was compiled; zeros: not */
  unsigned block[3];    /* the same, for AMD's kernels */
} KernelInfo;

/* A variable of an image: a global or a constant. */
typedef struct GlobalInfo {
  char* name;
  size_t size;
  void* bytes; /* its initial value; NULL: zeros */
} GlobalInfo;

typedef struct Image {
  int sm;        /* 90 for sm_90 */
  bool exact;    /* sm_90a: runs on no other */
  bool family;   /* PTX of sm_100f: runs where a cubin of sm_100 does */
  int ptx;       /* the version of PTX, 85 for 8.5; 0 for a cubin */
  char target[64]; /* of AMD's code: gfx90a:xnack+ */
  char* text;    /* of PTX */
  unsigned count;
  KernelInfo* kernels;
  unsigned global_count;
  GlobalInfo* globals;
} Image;

/* What cuKernelSetAttribute and cuFuncSetAttribute set. */
typedef struct Settings {
  int max_dynamic; /* -1: not set */
  int non_portable;
  int carveout;
  unsigned cluster[3];
} Settings;

typedef struct Library {
  Object object; /* kKindCode if a module owns it: then it counts as no library */
  unsigned image_count; /* several in a fatbin */
  Image* images;
} Library;

/* A CUkernel, of a library and no context. */
typedef struct Kernel {
  Object object;
  Library* library;
  const char* name;
  Settings settings[kDevices];
} Kernel;

typedef struct Module {
  Object object;
  Context* context;
  Library* library; /* that it was got from, or one of its own */
  bool own;
} Module;

/* A CUfunction, of one context. */
typedef struct Function {
  Object object;
  Context* context;
  Kernel* kernel; /* of its module's library */
  Settings settings;
} Function;

typedef struct Device {
  int attributes[kAttributes];
  unsigned retained;
  Context* primary; /* the same object as long as the process lives, alive or not */
} Device;

typedef struct Driver {
  bool initialized, finished, forked, host_access;
  int device_count, version;
  unsigned epoch; /* counts fake_reset: what threads remember from before is void */
  Device devices[kDevices];
} Driver;

typedef struct Thread {
  unsigned epoch, number; /* numbers count from 1 */
  Context* stack[kStack];
  unsigned depth;
  CUstreamCaptureMode mode;
} Thread;

typedef struct Call {
  const char* symbol;
  char* arguments;
  Launch* run; /* to be run after it */
} Call;

#define API(needs, body, ...)                                              \
  do {                                                                     \
    Call call;                                                             \
    CUresult result = call_begin(&call, __func__, (needs), __VA_ARGS__);   \
    if (result == CUDA_SUCCESS) result = (body);                           \
    return call_end(&call, result);                                        \
  } while (0)

#define HANDLE(type, pointer) ((type)(uintptr_t)(pointer)->object.handle)
#define PRINTF(at) __attribute__((format(printf, at, at + 1)))

/* call.c */
CUresult call_begin(Call* call, const char* symbol, unsigned needs, const char* format, ...) PRINTF(4);
CUresult call_end(Call* call, CUresult result);
Thread* this_thread(void);
unsigned this_thread_number(void);

/* state.c */
extern Driver driver;
void lock(void);
void unlock(void);
void* object_new(Kind kind, size_t size);
void* object_find(const void* handle, Kind kind); /* NULL: not alive, of another kind, or none */
Object* object_of(const void* handle);            /* alive or not */
Object* object_at(size_t index);                  /* NULL behind the last */
void violation(const char* rule, const char* format, ...) PRINTF(2);
bool readable(const void* address, size_t size);
void* must(void* memory); /* ends the process if it is NULL */

/* log.c */
void log_line(const char* kind, const char* name, CUresult result, const char* details);
void log_launch(const char* kind, const Launch* launch);
void log_clear(void);
void log_open(void);

/* plan.c */
unsigned plan_delay(const char* symbol);
CUresult plan_next(const char* symbol); /* counts; the failure that is due */
void plan_clear(void);

/* error.c */
CUresult explain(CUresult result, const char* format, ...) PRINTF(2); /* for cuGetErrorString */
void error_clear(void);

/* device.c */
void device_defaults(Device* device);
int device_attribute(int device, CUdevice_attribute attribute);

/* context.c */
CUresult context_current(Context** found); /* INVALID_CONTEXT, CONTEXT_IS_DESTROYED, what failed */
void context_end(Context* context);

/* stream.c, capture.c */
typedef struct Where {
  Context* context;
  Stream* stream; /* NULL: the legacy stream */
} Where;
CUresult stream_resolve(CUstream handle, bool per_thread, Where* where);
Stream* stream_new(Context* context, unsigned flags, int priority);
CUresult capture_forbids_unsafe(void);
CUresult capture_forbids_legacy(const Context* context);
CUresult capture_forbids_waiting(const Context* context, Stream* stream);
void capture_invalidate(Stream* stream);

/* graph.c */
void graph_add(Graph* graph, Launch* launch);

/* image.c, image_elf.c, image_ptx.c */
CUresult image_read(const void* code, unsigned* count, Image** images);
CUresult elf_read(const unsigned char* code, Image* image);
CUresult ptx_read(const char* code, Image* image);
KernelInfo* image_kernel(Image* image, const char* name, size_t length); /* found, or new */
void image_global(Image* image, const char* name, size_t length, size_t size, const void* bytes);
bool image_runs_on(const Image* image, int device);

/* library.c, function.c */
void library_end(Library* library);
CUresult library_load(const void* code, Library** library);
Kernel* library_kernel(Library* library, const char* name);
CUresult kernel_info(const Kernel* kernel, int device, const KernelInfo** found);
const char* kernel_ptx(const Kernel* kernel, int device); /* NULL: there is none */
void settings_clear(Settings* settings);
CUresult settings_set(Settings* settings, const KernelInfo* info, int device, int attribute, int value);
CUresult settings_get(const Settings* settings, const Library* library, const KernelInfo* info,
                      int device, int attribute, int* value);

/* config.c, arguments.c, launch.c */
CUresult config_check(const CUlaunchConfig* config, const KernelInfo* info, const Settings* settings,
                      const Where* where, Launch* launch);
CUresult arguments_read(void** params, void** extra, const KernelInfo* info, Launch* launch);
/* To let whoever executes PTX write the initial values of variables. NULL: there is no PTX. */
Launch* launch_variables(Context* context, const Library* library, const char* ptx);
Launch* launch_copy(const Launch* launch);
void launch_run(const Launch* launch);
void launch_free(Launch* launch);
void launch_clear(void);

/* memory.c */
void memory_clear(void);
void memory_end(const Context* context);
void memory_end_globals(const Library* library);
uint64_t memory_global(Context* context, const Library* library, const GlobalInfo* info);
unsigned memory_live(void);

#endif
