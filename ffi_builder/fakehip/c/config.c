/* What a kernel may be launched with: grid, block, LDS, and whether all blocks are there at once. */
#include <string.h>

#include "hip.h"

static CUresult check_size(const FakeLaunch* all, const KernelInfo* info) {
  uint64_t threads = 1;
  for (int i = 0; i < 3; ++i) {
    if (all->grid[i] == 0) return CUDA_ERROR_INVALID_VALUE;
    if (all->block[i] == 0) return (CUresult)hipErrorInvalidConfiguration;
    if ((uint64_t)all->grid[i] * all->block[i] > UINT32_MAX) {
      return (CUresult)hipErrorInvalidConfiguration;
    }
    threads *= all->block[i];
    if (threads > UINT32_MAX) return CUDA_ERROR_LAUNCH_FAILED;
  }
  unsigned most = info->max_threads == 0 ? kMostThreads : info->max_threads;
  return threads > most ? CUDA_ERROR_LAUNCH_FAILED : CUDA_SUCCESS;
}

/* HIP runs the kernel, which computes with the block that it was compiled for. */
static void check_block(const FakeLaunch* all, const KernelInfo* info) {
  if (info->block[0] == 0 || memcmp(all->block, info->block, sizeof(info->block)) == 0) return;
  violation("required-block", "'%s' is compiled for blocks of %u x %u x %u, and launched with "
            "%u x %u x %u", info->name, info->block[0], info->block[1], info->block[2],
            all->block[0], all->block[1], all->block[2]);
}

static CUresult check_cooperative(const FakeLaunch* all, const KernelInfo* info) {
  enum { kBlocks = 32, kUnits = 96 };
  uint64_t threads = (uint64_t)all->block[0] * all->block[1] * all->block[2];
  uint64_t blocks = 2 * kMostThreads / threads;
  uint64_t lds = all->shared + info->shared;
  if (lds > 0 && blocks > (uint64_t)hip_lds(all->device) / lds) {
    blocks = (uint64_t)hip_lds(all->device) / lds;
  }
  if (blocks > kBlocks) blocks = kBlocks;
  uint64_t asked = (uint64_t)all->grid[0] * all->grid[1];
  bool fits = asked <= blocks * kUnits && asked * all->grid[2] <= blocks * kUnits;
  return fits ? CUDA_SUCCESS : CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
}

CUresult config_check(const CUlaunchConfig* config, const KernelInfo* info,
                      const Settings* settings, const Where* where, Launch* launch) {
  (void)settings;
  (void)where;
  FakeLaunch* all = &launch->public;
  const uint32_t grid[] = {config->gridDimX, config->gridDimY, config->gridDimZ};
  const uint32_t block[] = {config->blockDimX, config->blockDimY, config->blockDimZ};
  memcpy(all->grid, grid, sizeof(grid));
  memcpy(all->block, block, sizeof(block));
  for (int i = 0; i < 3; ++i) all->cluster[i] = 1;
  all->shared = config->sharedMemBytes;
  CUresult result = check_size(all, info);
  if (result != CUDA_SUCCESS) return result;
  if ((uint64_t)all->shared + info->shared > (uint64_t)hip_lds(all->device)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  check_block(all, info);
  if (config->numAttrs == 0) return CUDA_SUCCESS;
  launch->attributes[launch->attribute_count++] = config->attrs[0];
  launch->cooperative = true;
  return check_cooperative(all, info);
}
