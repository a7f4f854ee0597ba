// The faults of a plan that verification has found, as text.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/text.h"

namespace voxswap::swap {

class Violations {
 public:
  template <class... Arguments>
  void add(fmt::format_string<Arguments...> pattern, Arguments&&... arguments) {
    list_.push_back(fmt::format(pattern, std::forward<Arguments>(arguments)...));
  }
  bool empty() const { return list_.empty(); }
  std::vector<std::string> take() { return std::move(list_); }

 private:
  std::vector<std::string> list_;
};

}  // namespace voxswap::swap
