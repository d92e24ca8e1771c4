/* FNV-1a, a hash of 64 bits: half of its results are beyond int64. */
#include <stddef.h>

unsigned long long f(const void *data, unsigned long long size, unsigned long long seed)
{
    unsigned long long found = 0xcbf29ce484222325ULL ^ seed;
    for (size_t i = 0; i < size; i++) found = (found ^ ((const unsigned char *)data)[i]) * 0x100000001b3ULL;
    return found;
}
