// Lists every file that commands write, with the columns of tables, for the reference pages.
#pragma once

#include <string>
#include <vector>

#include "base/csv.h"

namespace voxswap::cli {

struct FileDescription {
  std::string name, meaning;  // CASE, N and NAME are placeholders
  std::vector<CsvColumn> columns{};
};

struct FileGroup {
  std::string heading;  // "Files of a run"
  std::string written_by;
  std::vector<FileDescription> files;
};

std::vector<FileGroup> file_list();

}  // namespace voxswap::cli
