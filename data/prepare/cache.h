// Cache of prepared cases on disk, keyed by file contents and options, so that a second run starts at once.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "base/file.h"
#include "data/layouts/dataset.h"
#include "data/prepare/prepare.h"

namespace voxswap::data {

// prepare(read_case(…)) with a cache folder; an empty path disables the cache. A damaged cache file is
// replaced, and an unwritable folder is used read-only; both give a warning.
class PreparedCache {
 public:
  PreparedCache(Dataset dataset, PrepareOptions options, fs::path folder);
  PreparedCase get(const CaseFiles& files) const;  // thread safe
  // Hash of all files of the case, which are read once. Thread safe.
  std::string content(const CaseFiles& files) const;
  const Dataset& dataset() const { return dataset_; }
  const PrepareOptions& options() const { return options_; }

 private:
  std::string key(const CaseFiles& files) const;
  Dataset dataset_;
  PrepareOptions options_;
  fs::path folder_;
  bool writable_ = true;
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::string> contents_;  // by case
};

}  // namespace voxswap::data
