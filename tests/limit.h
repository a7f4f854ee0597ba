// A short limit for a test of which the fault would be that it waits for ever: it then ends at once, by
// SIGALRM, and not only when the suite's patience does.
#pragma once

#include <unistd.h>

namespace voxswap::test {

class Limit {
 public:
  Limit() { ::alarm(seconds); }
  ~Limit() { ::alarm(0); }
  Limit(const Limit&) = delete;
  Limit& operator=(const Limit&) = delete;

 private:
  static constexpr unsigned seconds = 60;  // what takes milliseconds, on a machine however busy
};

}  // namespace voxswap::test
