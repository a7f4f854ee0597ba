// A file that grows while work goes on, for who looks on meanwhile: what is added is whole and never changed.
#pragma once

#include <string_view>

#include "base/descriptor.h"
#include "base/filesystem.h"

namespace voxswap {

class Journal {
 public:
  Journal() = default;  // of nothing
  // Adds to the end of what is there, with the folders above it. Throws Exit::failed where it cannot be
  // opened.
  explicit Journal(const fs::path& path);

  // A disk that fills costs the rest of the journal, with a warning, and not the work.
  void add(std::string_view bytes);

 private:
  fs::path path_;
  Descriptor file_;
};

}  // namespace voxswap
