// Errors are thrown where they are detected and caught once, in main().
//
// A message says what was expected, what was found, where, and what to do. Programming errors are asserts
// instead.
#pragma once

#include "base/text.h"
#include "voxswap/error.h"

namespace voxswap {

// fail(Exit::bad_data, "{}: expected {} channels, found {}", path, 4, 3);
template <class... Arguments>
[[noreturn]] void fail(Exit exit, fmt::format_string<Arguments...> pattern, Arguments&&... arguments) {
  throw Error(exit, fmt::format(pattern, std::forward<Arguments>(arguments)...));
}

}  // namespace voxswap
