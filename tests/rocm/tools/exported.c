// An object as FlyDSL's `export_to_c` writes it: its function writes what it got to `out`.
#include <stdint.h>
#include <string.h>

static int32_t device = 7, loaded = -9, inits;

int32_t hipGetDevice(int32_t *id) { *id = device; return 0; }
int32_t hipSetDevice(int32_t id) { device = id; return id > 8 ? 101 : 0; }
int32_t facts__module_init(void) { ++inits; return 0; }
int32_t facts__module_load(int32_t id) { loaded = id; return 0; }
int32_t facts__module_unload(void) { return 0; }

struct __attribute__((packed)) layout {
  int32_t shape[1];
  int64_t stride[1];
};

int32_t facts(void **args) {
  const struct layout *layout = args[1];
  float factor = *(float *)args[2];
  int64_t *out = *(int64_t **)args[5];
  int64_t found[9] = {*(intptr_t *)args[0], layout->shape[0], layout->stride[0], factor * 4,
                      *(uint8_t *)args[3], *(uint16_t *)args[4], device, loaded, inits};
  memcpy(out, found, sizeof found);
  return *(void **)args[6] ? 43 : factor < 0 ? 42 : 0;
}

#ifndef ABI
#define ABI \
  "{\"arg_name\":\"x\",\"kind\":\"tensor_data\",\"ctype\":\"pointer\"}," \
  "{\"arg_name\":\"x\",\"kind\":\"tensor_layout\",\"ctype\":\"bytes\",\"shape_bits\":32,\"shape_dims\":[1]," \
  "\"stride_bits\":64,\"stride_dims\":[0]}," \
  "{\"arg_name\":\"factor\",\"kind\":\"scalar\",\"ctype\":\"float\"}," \
  "{\"arg_name\":\"options\",\"field\":\"flag\",\"kind\":\"scalar\",\"ctype\":\"bool\"}," \
  "{\"arg_name\":\"half\",\"kind\":\"scalar\",\"ctype\":\"uint16\",\"encoding\":\"float16_bits\"}," \
  "{\"arg_name\":\"out\",\"kind\":\"tensor_data\",\"ctype\":\"pointer\"}," \
  "{\"arg_name\":null,\"kind\":\"stream\",\"ctype\":\"pointer\"}"
#endif
#ifndef VERSION
#define VERSION "2"
#endif
const char facts__metadata[] =
    "{\"abi\":[" ABI "],\"arch\":\"gfx942\",\"schema_version\":" VERSION ",\"symbol\":\"facts\"}";
