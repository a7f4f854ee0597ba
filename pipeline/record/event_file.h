// Writes TensorBoard event files: scalars over steps, images and texts, as protocol buffer records. The
// format is small and frozen (tensorflow/core/util/event.proto, summary.proto, and TFRecord files); a library
// for it would depend on TensorFlow.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/file.h"
#include "base/journal.h"

namespace voxswap::pipeline {

// CRC-32C (Castagnoli), rotated and offset as TFRecord requires, so that checksums of data with embedded
// checksums are safe.
std::uint32_t masked_crc32c(std::string_view bytes);

class EventFile {
 public:
  EventFile() = default;  // writes nothing
  // Creates a file in `folder`, named after time, host and process. If `first_step` is above 0, TensorBoard
  // discards events from that step on in earlier files of the folder.
  explicit EventFile(const fs::path& folder, std::int64_t first_step = 0);

  void number(std::string_view tag, std::int64_t step, double value);
  // `png`: bytes of the file. `description`: Markdown shown beside the image.
  void picture(std::string_view tag, std::int64_t step, std::string_view png, std::string_view description);
  void text(std::string_view tag, std::string_view markdown);

 private:
  void add(std::int64_t step, std::string_view field);

  Journal journal_;
};

}  // namespace voxswap::pipeline
