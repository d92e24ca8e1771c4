/* The control functions of the fake driver, which no real driver has, and what emulated kernels get.
 *
 * Configured before the first call by the environment too, for processes that cannot call these:
 *
 *     FAKE_CUDA_DEVICES=2                 how many devices there are, 0 to 8
 *     FAKE_CUDA_VERSION=13050             as fake_driver_version
 *     FAKE_CUDA_LOG=FILE                  every line of the log is appended here as well
 *     FAKE_CUDA_FAIL=SYMBOL:NTH:RESULT,…  as fake_fail
 *     FAKE_CUDA_DELAY=SYMBOL:US,…         as fake_delay
 */
#ifndef FAKE_CONTROL_H
#define FAKE_CONTROL_H

#include <stddef.h>
#include <stdint.h>

/* One kernel parameter: the bytes that were copied when the kernel was launched. */
typedef struct FakeParameter {
  uint32_t offset;      /* in the kernel's parameter space, bytes */
  uint32_t size;        /* bytes */
  uint64_t address;     /* what kernelParams pointed to; 0 if they came in a buffer */
  const void* bytes;
} FakeParameter;

/* One run of a kernel. Valid while the emulation runs. */
typedef struct FakeLaunch {
  const char* kernel;
  uint32_t grid[3], block[3], cluster[3]; /* a cluster of (1, 1, 1) is none */
  uint32_t shared;                        /* dynamic shared memory, bytes */
  int32_t device;
  uint64_t context, stream;
  uint32_t count;
  const FakeParameter* parameters;
  const char* ptx;         /* the text that the kernel is in; NULL: none, or it is compressed */
  uint64_t library;
  uint32_t cooperative;
} FakeLaunch;

/* Memory of a device, and where the host finds it. */
typedef struct FakeExtent {
  uint64_t address, size;
  char* host;
} FakeExtent;

/* What a kernel does, on the host. What it returns, a CUresult, is how the kernel ended: an error
 * stays with the context, as on a device. Runs in the thread that launches, with no lock held. */
typedef int (*FakeKernel)(const FakeLaunch* launch, void* user);

/* Forget everything but the memory of fake_allocate: objects, log, failures, delays, kernels; no
 * cuInit. Handles are never used again, so an old one stays invalid. With host_access the device's memory is readable and writable
 * at its own addresses; without, a host that touches it crashes, as it does with a real driver. */
void fake_reset(int devices, int host_access);

/* The calls number nth (1 is the next one; 0 is each) of a function return this, and do nothing. */
void fake_fail(const char* symbol, unsigned nth, int result);
/* Each call of a function sleeps before anything else. */
void fake_delay(const char* symbol, unsigned microseconds);
/* How many devices there are, 0 to 8, without forgetting anything. */
void fake_devices(int devices);
/* A device attribute (CUdevice_attribute), for example a compute capability or a limit. */
void fake_attribute(int device, int attribute, int value);
/* What cuDriverGetVersion says, and what decides the newest PTX that is taken; 1000 * major +
 * 10 * minor. 0 is that of the cuda.h that this was built from, which is also the default. */
void fake_driver_version(int version);
/* Run this when a kernel of that name is launched; NULL to run nothing. */
void fake_kernel(const char* name, FakeKernel emulation, void* user);
/* Run this for each kernel that has none of its own, and without a kernel where the host asks for a
 * variable of a library with PTX; NULL to run nothing. */
void fake_executor(FakeKernel executor, void* user);
/* All that a tensor map was encoded from. */
typedef struct FakeTensorMap {
  uint64_t digest, address, dims[5], strides[4];
  uint32_t rank, type, bits, interleave, swizzle, fill;
  uint32_t box[5], steps[5]; /* of im2col: the channels, the pixels */
  int32_t lower[3], upper[3];
  uint32_t im2col; /* 0: tiles; 1; 2: wide */
} FakeTensorMap;
/* By the digest that is in a map; NULL: no map has it. */
const FakeTensorMap* fake_tensor_map(uint64_t digest);
/* The address of a variable of a library that is size bytes in a context; fresh: whether nobody has
 * asked for it before, so that its initial value has to be written. 0: there is no memory. */
uint64_t fake_global(uint64_t context, uint64_t library, const char* name, size_t size, int* fresh);
/* What a device has, in the order of addresses: copies at most room, and returns how many there are.
 * Between fake_lock and fake_unlock, when nothing else comes or goes. */
size_t fake_extents(int device, FakeExtent* to, size_t room);
void fake_lock(void);
void fake_unlock(void);
/* Forget which kernels have failed: their contexts work again, as in another process. */
void fake_recover(void);

/* The log: a line each, "KIND \t THREAD \t NAME \t RESULT \t DETAILS", where KIND is
 *     call       a call of the driver NAME has returned RESULT; DETAILS are its arguments
 *     run        the kernel NAME has been run, DETAILS are all of the launch
 *     captured   the same, but it went into a graph
 *     violation  the rule NAME was broken where a driver would not say so
 * Copies up to size bytes, ends them with NUL, and returns how many all of it has without that. */
size_t fake_log(char* buffer, size_t size);
void fake_clear_log(void);
/* How often a function has been called, and how many violations there were, since fake_reset. */
unsigned fake_count(const char* symbol);
unsigned fake_violations(void);
/* How many objects are alive: "context", "stream", "library", "module", "graph", "graph_exec" or
 * "memory"; "primary" is the sum of the primary contexts' counts. */
unsigned fake_live(const char* kind);
/* How many contexts are on the calling thread's stack. */
unsigned fake_stack_depth(void);

/* Device memory without a context, for tests to put data in, until fake_free; not logged. 0: no
 * more. */
uint64_t fake_allocate(int device, size_t size);
void fake_free(uint64_t address);
/* Whoever executes PTX may touch these bytes of what was allocated there, and no others. */
void fake_limit(uint64_t address, size_t begin, size_t end);
/* Where the host finds size bytes of device memory; NULL if that device (-1: any) has them not. */
void* fake_host(uint64_t address, size_t size, int device);
/* How many bytes there are from an address to the end of what was allocated there; 0 if none. */
size_t fake_extent(uint64_t address, int device);

#endif
