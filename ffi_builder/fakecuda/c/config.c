/* What a kernel may be launched with: grid, block, cluster, shared memory, attributes. */
#include <string.h>

#include "fake.h"

static int limit(int device, CUdevice_attribute attribute) {
  return device_attribute(device, attribute);
}

static bool within(const uint32_t* size, int device, CUdevice_attribute x, CUdevice_attribute y,
                   CUdevice_attribute z) {
  const CUdevice_attribute axes[] = {x, y, z};
  for (int i = 0; i < 3; ++i) {
    if (size[i] == 0 || size[i] > (uint32_t)limit(device, axes[i])) return false;
  }
  return true;
}

static CUresult check_size(const Launch* launch, const KernelInfo* info) {
  const FakeLaunch* all = &launch->public;
  int device = all->device;
  if (!within(all->grid, device, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X,
              CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z) ||
      !within(all->block, device, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X,
              CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  uint64_t threads = (uint64_t)all->block[0] * all->block[1] * all->block[2];
  if (threads > (uint64_t)limit(device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (info->max_threads != 0 && threads > info->max_threads) return CUDA_ERROR_INVALID_VALUE;
  /* Registers are given to warps of 32 threads, in eights for each. */
  uint64_t registers = (threads + 31) / 32 * 32 * ((info->registers + 7) / 8 * 8);
  return registers > (uint64_t)limit(device, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK)
             ? CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES
             : CUDA_SUCCESS;
}

static CUresult check_shared(const Launch* launch, const KernelInfo* info,
                             const Settings* settings) {
  int value = 0;
  int device = launch->public.device;
  CUresult result = settings_get(settings, NULL, info, device,
                                 CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, &value);
  if (result != CUDA_SUCCESS) return result;
  return launch->public.shared > (uint32_t)value ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

/* The cluster that the attributes of a launch ask for, and the one it would like; zeros: none. */
typedef struct Asked {
  unsigned cluster[3], preferred[3];
  bool portable;
} Asked;

static CUresult allow(bool valid) { return valid ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE; }

static CUresult read_cluster(const void* from, unsigned* cluster) {
  memcpy(cluster, from, 3 * sizeof(*cluster));
  return allow(cluster[0] != 0 && cluster[1] != 0 && cluster[2] != 0);
}

/* An event is recorded without CU_EVENT_RECORD_EXTERNAL, and measures no time. */
static CUresult read_event(CUevent handle, int flags) {
  const Event* event = object_find(handle, kKindEvent);
  if (event == NULL) return CUDA_ERROR_INVALID_HANDLE;
  return allow(flags == 0 && (event->flags & CU_EVENT_DISABLE_TIMING) != 0 &&
               (event->flags & CU_EVENT_INTERPROCESS) == 0);
}

static CUresult read_window(const CUaccessPolicyWindow* window, int device) {
  return allow(window->hitRatio >= 0 && window->hitRatio <= 1 &&
               (unsigned)window->hitProp <= CU_ACCESS_PROPERTY_PERSISTING &&
               (unsigned)window->missProp <= CU_ACCESS_PROPERTY_STREAMING &&
               window->num_bytes <=
                   (size_t)limit(device, CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE));
}

static CUresult read_attribute(const CUlaunchAttribute* attribute, const Where* where,
                               Launch* launch, Asked* asked) {
  enum { kPortableMode = 17, kSharedMode = 18, kDomains = 4 }; /* newer than CUDA 13.0 */
  const CUlaunchAttributeValue* value = &attribute->value;
  int number;
  memcpy(&number, value, sizeof(number));
  switch ((int)attribute->id) {
    case CU_LAUNCH_ATTRIBUTE_IGNORE:
    case CU_LAUNCH_ATTRIBUTE_PRIORITY: /* one that is too large is taken for the largest */
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
      return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
      return read_window(&value->accessPolicyWindow, launch->public.device);
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      return allow(number >= 0 && number <= 3);
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
      return allow(value->memSyncDomainMap.default_ < kDomains &&
                   value->memSyncDomainMap.remote < kDomains);
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
    case 16: /* CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING */
      return allow(number == 0 || number == 1);
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
      return read_cluster(value, asked->preferred);
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
      launch->cooperative = value->cooperative != 0;
      return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
      return read_cluster(value, asked->cluster);
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      return allow(value->sharedMemCarveout <= 100);
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE: /* of captured launches only */
      return where->stream == NULL || where->stream->capture == NULL ? CUDA_ERROR_INVALID_VALUE
                                                                     : CUDA_ERROR_NOT_SUPPORTED;
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
      return read_event(value->programmaticEvent.event, value->programmaticEvent.flags);
    case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
      return read_event(value->launchCompletionEvent.event, value->launchCompletionEvent.flags);
    case kPortableMode:
      asked->portable = number == 1;
      return allow(number >= 0 && number <= 2);
    case kSharedMode:
      return allow(number >= 0 && number <= 4);
    default: /* of streams, newer than CUDA 13.5, or none */
      return CUDA_ERROR_INVALID_VALUE;
  }
}

static CUresult read_attributes(const CUlaunchConfig* config, const Where* where, Launch* launch,
                                Asked* asked) {
  const unsigned most = sizeof(launch->attributes) / sizeof(launch->attributes[0]);
  unsigned count = config->numAttrs;
  if (count == 0) return CUDA_SUCCESS;
  if (config->attrs == NULL || count > most) return CUDA_ERROR_INVALID_VALUE;
  if (!readable(config->attrs, count * sizeof(*config->attrs))) {
    violation("attribute-memory", "the launch attributes at %p cannot be read",
              (void*)config->attrs);
    return CUDA_ERROR_INVALID_VALUE;
  }
  for (unsigned i = 0; i < count; ++i) {
    CUresult result = read_attribute(&config->attrs[i], where, launch, asked);
    if (result != CUDA_SUCCESS) return result;
    launch->attributes[launch->attribute_count++] = config->attrs[i];
  }
  return CUDA_SUCCESS;
}

static CUresult check_cluster(const Asked* asked, const KernelInfo* info, const Settings* settings,
                              Launch* launch) {
  enum { kPortable = 8, kMost = 16 };
  const unsigned* fixed = info->cluster[0] != 0 ? info->cluster : settings->cluster;
  const unsigned* cluster = asked->cluster[0] != 0 ? asked->cluster : fixed;
  if (cluster[0] == 0) return CUDA_SUCCESS;
  FakeLaunch* all = &launch->public;
  if (limit(all->device, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH) == 0) return CUDA_ERROR_INVALID_VALUE;
  uint64_t size = 1;
  for (int i = 0; i < 3; ++i) {
    if (fixed[0] != 0 && cluster[i] != fixed[i]) return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    if (cluster[i] == 0 || cluster[i] > kMost || all->grid[i] % cluster[i] != 0) {
      return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    }
    size *= cluster[i];
    all->cluster[i] = cluster[i];
  }
  bool more = settings->non_portable && !asked->portable;
  return size > (more ? kMost : kPortable) ? CUDA_ERROR_INVALID_CLUSTER_SIZE : CUDA_SUCCESS;
}

/* A preferred cluster is a multiple of the cluster, of the same z, and divides the grid. Without a
 * cluster it has no effect. */
static CUresult check_preferred(const Asked* asked, const Launch* launch) {
  const FakeLaunch* all = &launch->public;
  const unsigned* preferred = asked->preferred;
  if (preferred[0] == 0 || asked->cluster[0] == 0) return CUDA_SUCCESS;
  for (int i = 0; i < 3; ++i) {
    if (preferred[i] % all->cluster[i] != 0 || all->grid[i] % preferred[i] != 0) {
      return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    }
  }
  return preferred[2] == all->cluster[2] ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CLUSTER_SIZE;
}

/* All blocks of a cooperative launch are on the device at once. */
static CUresult check_cooperative(const Launch* launch, const KernelInfo* info) {
  const FakeLaunch* all = &launch->public;
  int device = all->device;
  uint64_t threads = (uint64_t)all->block[0] * all->block[1] * all->block[2];
  uint64_t shared = (uint64_t)all->shared + info->shared + kReservedShared;
  uint64_t blocks =
      (uint64_t)limit(device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR) / threads;
  uint64_t by_shared =
      (uint64_t)limit(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR) / shared;
  uint64_t most = (uint64_t)limit(device, CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
  if (blocks > by_shared) blocks = by_shared;
  if (blocks > most) blocks = most;
  blocks *= (uint64_t)limit(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  uint64_t asked = (uint64_t)all->grid[0] * all->grid[1];
  return asked > blocks || asked * all->grid[2] > blocks ? CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE
                                                         : CUDA_SUCCESS;
}

CUresult config_check(const CUlaunchConfig* config, const KernelInfo* info,
                      const Settings* settings, const Where* where, Launch* launch) {
  FakeLaunch* all = &launch->public;
  const uint32_t grid[] = {config->gridDimX, config->gridDimY, config->gridDimZ};
  const uint32_t block[] = {config->blockDimX, config->blockDimY, config->blockDimZ};
  memcpy(all->grid, grid, sizeof(grid));
  memcpy(all->block, block, sizeof(block));
  for (int i = 0; i < 3; ++i) all->cluster[i] = 1;
  all->shared = config->sharedMemBytes;
  Asked asked = {0};
  CUresult result = check_size(launch, info);
  if (result == CUDA_SUCCESS) result = check_shared(launch, info, settings);
  if (result == CUDA_SUCCESS) result = read_attributes(config, where, launch, &asked);
  if (result == CUDA_SUCCESS) result = check_cluster(&asked, info, settings, launch);
  if (result == CUDA_SUCCESS) result = check_preferred(&asked, launch);
  if (result == CUDA_SUCCESS && launch->cooperative) result = check_cooperative(launch, info);
  return result;
}
