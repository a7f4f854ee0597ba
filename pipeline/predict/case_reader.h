// Reads the cases of a prediction in their order.
#pragma once

#include <cstddef>
#include <functional>
#include <future>

#include "data/volumes/prepared_case.h"

namespace voxswap::pipeline {

class CaseReader {
 public:
  // `read` is called for one case at a time. With `ahead`, another thread calls it while the case before is
  // predicted.
  CaseReader(std::size_t count, std::function<data::PreparedCase(std::size_t)> read, bool ahead = true);
  // Throws what reading this case threw. REQUIRES: called for 0, 1, …, count - 1.
  data::PreparedCase next();

 private:
  std::size_t count_, taken_ = 0;
  std::function<data::PreparedCase(std::size_t)> read_;
  bool reads_ahead_;
  std::future<data::PreparedCase> ahead_;
};

}  // namespace voxswap::pipeline
