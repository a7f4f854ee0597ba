// Bytes of each memory that a plan may use.
#pragma once

#include <cstdint>

#include "swap/plan/plan.h"

namespace voxswap::swap {

struct Budgets {
  std::int64_t device = unlimited;
  std::int64_t host = 0;  // 0: none
  std::int64_t disk = 0;  // 0: none
};

}  // namespace voxswap::swap
