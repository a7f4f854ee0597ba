// Errors are thrown where the fact is known and caught once, in main().
//
// A message says what was expected, what was found, where, and what to do. Programmer faults are asserts
// instead.
#pragma once

#include <stdexcept>
#include <string>

#include "base/text.h"

namespace voxswap {

// The program's exit codes.
enum class Exit : int {
  done = 0,
  failed = 1,         // failed while running
  usage = 2,          // wrong usage or experiment file
  bad_data = 3,       // the data is not what it should be
  does_not_fit = 4,   // memory or disk
  interrupted = 130,  // Ctrl-C
};

class Error : public std::runtime_error {
 public:
  Error(Exit exit, const std::string& message) : std::runtime_error(message), exit_(exit) {}
  Exit exit() const { return exit_; }

 private:
  Exit exit_;
};

// fail(Exit::bad_data, "{}: expected {} channels, found {}", path, 4, 3);
template <class... Arguments>
[[noreturn]] void fail(Exit exit, fmt::format_string<Arguments...> pattern, Arguments&&... arguments) {
  throw Error(exit, fmt::format(pattern, std::forward<Arguments>(arguments)...));
}

}  // namespace voxswap
