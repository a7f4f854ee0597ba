#include "data/formats/dicom_files.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/error.h"
#include "base/filesystem.h"
#include "data/formats/file_bytes.h"

namespace voxswap::data {

namespace {

// DICOM, part 10: 128 bytes of preamble, then these letters.
bool is_dicom_file(const fs::path& path) {
  std::array<char, 4> letters{};
  try {
    FileBytes file(path);
    file.seek(128);
    return file.read(letters.data(), 4) && std::string_view(letters.data(), 4) == "DICM";
  } catch (const Error& error) {
    if (error.exit() != Exit::bad_data) throw;  // a device that fails, no memory
    return false;                               // not ours to read
  }
}

}  // namespace

std::vector<fs::path> dicom_files(const fs::path& folder) {
  std::vector<fs::path> files;
  error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (fs::is_regular_file(entry.path(), ignored) && is_dicom_file(entry.path()))
      files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

bool is_dicom_folder(const fs::path& folder) {
  error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (fs::is_regular_file(entry.path(), ignored) && is_dicom_file(entry.path())) return true;
  }
  return false;
}

}  // namespace voxswap::data
