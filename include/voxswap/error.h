// Errors of the library, with the corresponding exit codes of the program.
#pragma once

#include <stdexcept>
#include <string>

namespace voxswap {

enum class Exit : int {
  done = 0,
  failed = 1,         // failed while running
  usage = 2,          // wrong usage or experiment file
  bad_data = 3,       // invalid data
  does_not_fit = 4,   // memory or disk
  interrupted = 130,  // Ctrl-C
};

// The message says what was expected, what was found, where, and what to do.
class Error : public std::runtime_error {
 public:
  Error(Exit exit, const std::string& message) : std::runtime_error(message), exit_(exit) {}
  Exit exit() const { return exit_; }

 private:
  Exit exit_;
};

}  // namespace voxswap
