// Selects the convolution implementation through the environment, like a user.
#pragma once

#include <cstdlib>
#include <string>
#include <string_view>

namespace voxswap::net {

// Sets VOXSWAP_CONVOLUTIONS while it exists.
class Forced {
 public:
  explicit Forced(std::string_view convolutions) {
    if (const char* before = std::getenv(variable)) before_ = before;
    ::setenv(variable, std::string(convolutions).c_str(), 1);
  }
  ~Forced() { ::setenv(variable, before_.c_str(), 1); }

 private:
  static constexpr const char* variable = "VOXSWAP_CONVOLUTIONS";
  std::string before_;
};

}  // namespace voxswap::net
