#include "pipeline/record/zip_entries.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <stdexcept>

namespace voxswap::pipeline {

namespace {

constexpr std::uint32_t end_mark = 0x06054b50, end64_mark = 0x06064b50, end64_locator_mark = 0x07064b50,
                        central_mark = 0x02014b50, local_mark = 0x04034b50;
constexpr std::size_t end_size = 22, end64_size = 56, locator_size = 20, central_size = 46, local_size = 30;
constexpr std::size_t longest_comment = 0xffff;
constexpr std::uint32_t in_zip64 = 0xffffffff;

[[noreturn]] void damaged(const char* what) {
  throw std::runtime_error(what);
}

std::string_view part(std::string_view bytes, std::uint64_t at, std::uint64_t size) {
  if (at > bytes.size() || bytes.size() - at < size) damaged("it is truncated");
  return bytes.substr(at, size);
}

// A little-endian number at `at`.
template <class T>
T number_at(std::string_view bytes, std::uint64_t at) {
  T value;
  std::memcpy(&value, part(bytes, at, sizeof value).data(), sizeof value);
  return value;
}

struct Directory {
  std::uint64_t entries = 0, at = 0;
};

// The end record is the last one of the file, before an optional comment.
Directory find_directory(std::string_view archive) {
  if (archive.size() < end_size) damaged("it is truncated");
  const std::size_t first = archive.size() - std::min(archive.size(), end_size + longest_comment);
  std::size_t end = archive.size() - end_size;
  while (number_at<std::uint32_t>(archive, end) != end_mark) {
    if (end == first) damaged("it has no end record, so it is truncated or no zip archive");
    --end;
  }
  Directory directory{number_at<std::uint16_t>(archive, end + 10),
                      number_at<std::uint32_t>(archive, end + 16)};
  const bool large = directory.entries == 0xffff || directory.at == in_zip64;
  if (!large || end < locator_size) return directory;
  if (number_at<std::uint32_t>(archive, end - locator_size) != end64_locator_mark) return directory;
  const auto end64 = number_at<std::uint64_t>(archive, end - locator_size + 8);
  const std::string_view record = part(archive, end64, end64_size);
  if (number_at<std::uint32_t>(record, 0) != end64_mark) damaged("its zip64 end record is damaged");
  return {number_at<std::uint64_t>(record, 32), number_at<std::uint64_t>(record, 48)};
}

struct Entry {
  std::string name;
  std::uint64_t size = 0, stored = 0, local = 0;
};

// Sizes and positions of 4 GiB and more are in an extra field, in this order.
void read_zip64(std::string_view extra, Entry& entry) {
  while (extra.size() >= 4) {
    const auto kind = number_at<std::uint16_t>(extra, 0), length = number_at<std::uint16_t>(extra, 2);
    std::string_view field = part(extra, 4, length);
    extra.remove_prefix(4 + std::size_t{length});
    if (kind != 1) continue;
    for (std::uint64_t* value : {&entry.size, &entry.stored, &entry.local}) {
      if (*value != in_zip64) continue;
      *value = number_at<std::uint64_t>(field, 0);
      field.remove_prefix(sizeof *value);
    }
    return;
  }
}

std::string_view content_of(std::string_view archive, const Entry& entry) {
  const std::string_view header = part(archive, entry.local, local_size);
  if (number_at<std::uint32_t>(header, 0) != local_mark) damaged("the header of an entry is damaged");
  const std::uint64_t skipped =
      local_size + std::uint64_t{number_at<std::uint16_t>(header, 26)} + number_at<std::uint16_t>(header, 28);
  return part(archive.substr(entry.local), skipped, entry.size);
}

}  // namespace

std::map<std::string, std::string_view> zip_entries(std::string_view archive) {
  const Directory directory = find_directory(archive);
  std::map<std::string, std::string_view> entries;
  std::uint64_t at = directory.at;
  for (std::uint64_t i = 0; i < directory.entries; ++i) {
    const std::string_view header = part(archive, at, central_size);
    if (number_at<std::uint32_t>(header, 0) != central_mark) damaged("its list of entries is damaged");
    const auto flags = number_at<std::uint16_t>(header, 8), method = number_at<std::uint16_t>(header, 10),
               name_length = number_at<std::uint16_t>(header, 28),
               extra_length = number_at<std::uint16_t>(header, 30),
               comment_length = number_at<std::uint16_t>(header, 32);
    if (method != 0 || (flags & 1U) != 0)
      damaged("it has compressed or encrypted entries, which PyTorch does not write");
    Entry entry{std::string(part(archive, at + central_size, name_length)),
                number_at<std::uint32_t>(header, 24), number_at<std::uint32_t>(header, 20),
                number_at<std::uint32_t>(header, 42)};
    read_zip64(part(archive, at + central_size + name_length, extra_length), entry);
    if (entry.size != entry.stored) damaged("the sizes of an entry contradict each other");
    if (!entries.emplace(entry.name, content_of(archive, entry)).second)
      damaged("two entries have the same name");
    at += central_size + std::uint64_t{name_length} + extra_length + comment_length;
  }
  return entries;
}

}  // namespace voxswap::pipeline
