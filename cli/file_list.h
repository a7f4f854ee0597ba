// What commands leave behind: every file, and of its tables every column. For the reference pages.
#pragma once

#include <string>
#include <vector>

#include "base/csv.h"

namespace voxswap::cli {

struct FileDescription {
  std::string name, meaning;  // CASE, N, NAME stand for names of the data
  std::vector<CsvColumn> columns{};
};

struct FileGroup {
  std::string heading;  // "Files of a run"
  std::string written_by;
  std::vector<FileDescription> files;
};

std::vector<FileGroup> file_list();

}  // namespace voxswap::cli
