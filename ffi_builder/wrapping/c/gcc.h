/* What libclang lacks of GCC. */
#define _Float32 float
#define _Float64 double
#define _Float32x double
#define _Float64x long double
#ifdef __SIZEOF_FLOAT128__
#define _Float128 __float128
#else
#define _Float128 long double
#endif
