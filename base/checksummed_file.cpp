#include "base/checksummed_file.h"

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/part_files.h"

namespace voxswap {

namespace {

std::string seal_of(const fs::path& path, std::string_view text) {
  return "voxswap checksum " + Hasher().add(path.filename().string()).add(text).digest() + "\n";
}

}  // namespace

void write_checksummed(const fs::path& path, std::string_view text) {
  write_file(path, seal_of(path, text).append(text));
}

std::optional<std::string> read_checksummed(const fs::path& path) {
  remove_abandoned(path.parent_path().string());
  error_code error;
  if (!fs::exists(path, error)) return std::nullopt;
  try {
    const std::string content = read_file(path);
    const std::size_t end = content.find('\n');
    const std::string text = end == content.npos ? "" : content.substr(end + 1);
    if (content == seal_of(path, text) + text) return text;
    log::warn("{}: this cached file is damaged and is recomputed", path.string());
  } catch (const Error& trouble) {
    log::warn("{}. This cached file is recomputed", trouble.what());
  }
  return std::nullopt;
}

}  // namespace voxswap
