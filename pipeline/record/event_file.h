// What TensorBoard reads: numbers over steps, pictures and texts, as records of protocol buffers.
//
// The format is small and frozen (tensorflow/core/util/event.proto, summary.proto, and TFRecord files), so it
// is written here: a library that writes it would bring TensorFlow along.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/journal.h"

namespace voxswap::pipeline {

// CRC-32C (Castagnoli), rotated and shifted as such records have it, so that a checksum of checksums is one.
std::uint32_t masked_crc32c(std::string_view bytes);

class EventFile {
 public:
  EventFile() = default;  // of nothing
  // A new file in `folder`, named after now, this machine and process. Where `first_step` is above 0, what
  // earlier files of the folder have from that step on does not count any more.
  explicit EventFile(const fs::path& folder, std::int64_t first_step = 0);

  void number(std::string_view tag, std::int64_t step, double value);
  // `png` is the bytes of the file, `description` what TensorBoard shows beside it, in Markdown.
  void picture(std::string_view tag, std::int64_t step, std::string_view png, std::string_view description);
  void text(std::string_view tag, std::string_view markdown);

 private:
  void add(std::int64_t step, std::string_view field);

  Journal journal_;
};

}  // namespace voxswap::pipeline
