/* Declarations that are easily read as something else. Those of names with `no_` are refused. */
#include <complex.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* numbers */
unsigned long int long order(long unsigned int a, int short b, char signed c, int long long d);
long signed fixed(int32_t a, uint_least16_t b, int_fast8_t c, intptr_t d, ptrdiff_t e, wchar_t f);
int qualified(const int a, volatile unsigned b, register short c, const volatile char *const d);
_Bool truth(bool a, _Bool *b, const bool *c);
__signed__ char gnu(__signed char a, __const int *b, __volatile__ long c, __complex__ double *d);
__extension__ typedef long long extended;
extended extension(extended a);
typedef int di __attribute__((mode(DI))), qi __attribute__((mode(QI)));
typedef unsigned word __attribute__((mode(word)));
typedef float df __attribute__((mode(DF)));
di modes(di a, qi b, word *c, di *d, df e, df *f);
typedef __typeof__(1UL << 3) typed;
typed typeofs(typed a, __typeof__(1.0f) b, __typeof__(&(int){0}) c, __typeof__(sizeof 1) d);
_Float64 floats(_Float32 a, _Float32x b, _Float64 *c, _Float16 *d);
typedef int int_a[3], (*int_f)(int), *int_p;
int_p pointers(int_a a, int_a *b, int_f c, int_p *d, const int_a e, const int_p f);
typedef const double constant;
constant *constants(constant a, constant *b, constant c[], constant *const *d);

/* enums */
enum plain { PLAIN } enums(enum plain a, enum plain *b);
enum negative { BELOW = -1 } negatives(enum negative a, enum negative *b);
enum large { LARGE = 0x100000000LL } larges(enum large a, enum large *b);
enum largest { LOW = -1, HIGH = 1LL << 40 } largests(enum largest a, enum largest *b);
enum __attribute__((packed)) small { SMALL } smalls(enum small a, enum small *b);
enum __attribute__((packed)) middle { MIDDLE = 300 } middles(enum middle a, enum middle *b);
typedef enum { WORD } word_t __attribute__((mode(HI)));
word_t words(word_t a, word_t *b);
typedef enum { first, second } choice;
choice choices(choice a, const choice *b);

/* arrays */
enum { ROWS = 4 };
float array(float a[], float b[3], float c[static 3], float d[const], float e[restrict 4]);
double rows(double a[][5], double b[2][ROWS], double (*c)[ROWS + 1], double d[][2][3]);
typedef double pair[2], matrix[3][4];
pair *pairs(pair a, pair *b, const pair *c, pair d[], matrix e, const matrix *f);
int sized(float a[sizeof(double)], float b['\3'], float c[0x10ul], float d[1 ? 2 : 3][8 / 2]);
char *strings(char *a[], const char *const *b, char **restrict c, char (*d)[8]);

/* pointers */
float complex *complexes(double complex *a, const float _Complex *b, complex double c[2]);
void *memory(void *a, const void *b, void *restrict c, void **d, unsigned char *e, signed char *f);
void (*function(int (*a)(float), void b(int), int_f *c))(int);
struct opaque *opaque(struct opaque *a, const struct opaque *b, union either *c);
typedef struct { int a; } nameless;
nameless *namelesses(nameless *a, const nameless *b, nameless c[3]);
typedef float v4 __attribute__((vector_size(16)));
void vectors(v4 *a, const v4 *b);
void wide(long double *a, __int128 *b, unsigned __int128 *c, long double _Complex *d);
void atomic(_Atomic int *a, _Atomic(double) *b);
void volatiles(volatile float *a, volatile const double *b, float volatile c[4]);
void unused(double *a __attribute__((unused)), const float *__restrict b);
typedef double unaligned __attribute__((aligned(1)));
void unaligneds(unaligned *a, unaligned b);
int varargs(va_list *a);

/* declarators and attributes */
int (parenthesised)(int(a)), (*returned(int a))(int), several(int a), *more(int b);
int *(*nested(int *(*a)(int *)))[3];
extern __inline__ __attribute__((gnu_inline)) int inlined(int a) { return a; }
int later(int) __attribute__((const)), sooner(float a) __attribute__((nonnull, pure, cold));
int labelled(int a) __asm__("other_symbol");
int pasted(int a) __asm__("other" "_name") __attribute__((nothrow));
#pragma redefine_extname renamed another_name
int renamed(int a);
typedef int shape(int, const float *);
shape shaped;
int twice(int), twice(int a), twice(int b);
int merged(int (*a)[]), merged(int (*a)[3]);
int composed(double[], int), composed(double a[restrict], int n);
__attribute__((sysv_abi)) int same(int a, double b);
__attribute__((visibility("hidden"))) int hidden(int a);
__attribute__((deprecated("no"), warn_unused_result)) int old(int a);
#define DECLARE(type, name) type name##_##type(type a, type *b)
DECLARE(float, made);
DECLARE(int, made);
#define API(type) __attribute__((visibility("default"))) type
API(int) exported(API(float) *a);
int digraph(int a<:3:>, float b<::>);
int spli\
ced(int a);
_Noreturn void gone(int a);

/* structs by value */
struct value { int a; } by_value(void);
int by_values(struct value a);
float complex by_complex(void);
int by_complexes(double complex a);
nameless by_nameless(void);

/* what no parameter of a signature is, or what is not called as C is */
v4 no_vector(v4 a);
float no_vectors(v4 a);
struct bits { int a : 3; } no_bits(void);
long double _Complex no_wide_complex(void);
int no_packed(struct __attribute__((packed)) { char a; int b; } a);
int no_union(union { int a; float b; } a);
long double no_wide(void);
int no_int128(__int128 a);
unsigned __int128 no_result(void);
_Atomic int no_atomic(void);
int no_prototype();
int no_prototypes(), no_prototypes();
int no_count(int a, ...);
#ifdef __x86_64__
__attribute__((ms_abi)) int no_windows(int a);
__attribute__((ms_abi)) long no_registers(long a, long b);
#endif
