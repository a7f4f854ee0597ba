// The error of a step that does not fit into memory: facts, and settings that help. Callers know further
// ones.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace voxswap::swap {

class DoesNotFit : public Error {
 public:
  // REQUIRES: at least one remedy, such as "a memory.budget of at least 485MiB".
  DoesNotFit(const std::string& facts, const std::vector<std::string>& remedies)
      : Error(Exit::does_not_fit, format("{}. Set {}", facts, alternatives(remedies))),
        facts_(facts),
        remedies_(remedies) {}

  // The same error with more remedies.
  DoesNotFit with(const std::vector<std::string>& more) const {
    std::vector<std::string> all = remedies_;
    all.insert(all.end(), more.begin(), more.end());
    return {facts_, all};
  }

 private:
  static std::string alternatives(std::vector<std::string> list) {
    if (list.size() > 1) list.back() = "or " + list.back();
    return join(list, ", ");
  }
  std::string facts_;
  std::vector<std::string> remedies_;
};

}  // namespace voxswap::swap
