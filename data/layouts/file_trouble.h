// Checks whether the files of a case exist and can be used, before any of them is read.
#pragma once

#include <cstddef>
#include <string>

#include "data/layouts/dataset.h"

namespace voxswap::data {

// What is wrong with the file of a channel, or with the truth, before it is read: it is not there, is no
// file, or it is not clear which one it is. Empty when all is well.
struct FileTrouble {
  std::string what, fix;
  explicit operator bool() const { return !what.empty(); }
};
FileTrouble channel_trouble(const Dataset& dataset, const CaseFiles& files, std::size_t channel);
FileTrouble truth_trouble(const CaseFiles& files);

}  // namespace voxswap::data
