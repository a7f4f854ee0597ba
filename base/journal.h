// A file that other programs can follow while a command runs: entries are appended in one write and never
// change.
#pragma once

#include <string_view>

#include "base/descriptor.h"
#include "base/file.h"

namespace voxswap {

class Journal {
 public:
  Journal() = default;  // writes nothing
  // Opens `path` for appending and creates its parent folders. Throws Exit::failed if it cannot be opened.
  explicit Journal(const fs::path& path);

  // Appends `bytes`. A full disk stops the journal with a warning, not the command.
  void add(std::string_view bytes);

 private:
  fs::path path_;
  Descriptor file_;
};

}  // namespace voxswap
