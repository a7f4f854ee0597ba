// Included before everything else where Clang compiles, for fuzzing: Debian's ITK was configured with GCC and
// has its answers of what parts of the language a compiler knows for no other. They hold for Clang 16, too.
#if __has_include(<itk_compiler_detection.h>)
#pragma push_macro("__clang__")
#pragma push_macro("__GNUC__")
#undef __clang__
#undef __GNUC__
#define __GNUC__ 12
#include <itk_compiler_detection.h>
#pragma pop_macro("__GNUC__")
#pragma pop_macro("__clang__")
#endif
