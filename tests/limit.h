// A short time limit for tests that would otherwise hang: they end by SIGALRM, long before the limit of the
// suite.
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
  static constexpr unsigned seconds = 60;  // generous: the tests take milliseconds
};

}  // namespace voxswap::test
