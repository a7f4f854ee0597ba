#include "pipeline/record/event_file.h"

#include <unistd.h>

#include <bit>
#include <boost/crc.hpp>
#include <chrono>

#include "base/text.h"

namespace voxswap::pipeline {

namespace {

// Little-endian, independent of the processor.
template <class Word>
std::string fixed(Word word) {
  std::string bytes;
  for (std::size_t i = 0; i < sizeof word; ++i) bytes += static_cast<char>(word >> (8 * i) & 255);
  return bytes;
}

// --- Protocol buffers: a field is its number and wire type, followed by its content.

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value > 127; value >>= 7) bytes += static_cast<char>(value | 128);
  return bytes + static_cast<char>(value);
}

std::string key(int field, int kind) {
  return varint(static_cast<std::uint64_t>(field) << 3 | static_cast<std::uint64_t>(kind));
}

std::string whole(int field, std::int64_t value) {
  return key(field, 0) + varint(static_cast<std::uint64_t>(value));
}
std::string real(int field, double value) {
  return key(field, 1) + fixed(std::bit_cast<std::uint64_t>(value));
}
std::string single(int field, float value) {
  return key(field, 5) + fixed(std::bit_cast<std::uint32_t>(value));
}
std::string bytes(int field, std::string_view content) {
  return key(field, 2) + varint(content.size()) + std::string(content);
}

// --- TensorBoard messages. Event: wall_time 1, step 2, file_version 3, summary 5, session_log 7.

std::string event(std::int64_t step, std::string_view what) {
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  return real(1, now.count()) + whole(2, step) + std::string(what);
}

// Summary: value 1. Value: tag 1, simple_value 2, image 4, tensor 8, metadata 9. Metadata: plugin 1,
// description 3.
std::string summary(std::string_view tag, std::string_view value) {
  return bytes(5, bytes(1, bytes(1, tag) + std::string(value)));
}

// A TFRecord: length, its checksum, content, its checksum.
std::string record(std::string_view content) {
  const std::string length = fixed(static_cast<std::uint64_t>(content.size()));
  return length + fixed(masked_crc32c(length)) + std::string(content) + fixed(masked_crc32c(content));
}

std::string event_file_name() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  char host[256] = "host";
  ::gethostname(host, sizeof host - 1);
  return format("events.out.tfevents.{:010}.{}.{}",
                std::chrono::duration_cast<std::chrono::seconds>(now).count(), host, ::getpid());
}

// Width or height from a PNG's IHDR chunk.
std::int64_t side(std::string_view png, std::size_t at) {
  std::int64_t value = 0;
  for (std::size_t i = 0; i < 4 && at + i < png.size(); ++i)
    value = value << 8 | static_cast<unsigned char>(png[at + i]);
  return value;
}

}  // namespace

std::uint32_t masked_crc32c(std::string_view bytes) {
  boost::crc_optimal<32, 0x1edc6f41, 0xffffffff, 0xffffffff, true, true> sum;  // CRC-32C
  sum.process_bytes(bytes.data(), bytes.size());
  const std::uint32_t crc = sum.checksum();
  return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

EventFile::EventFile(const fs::path& folder, std::int64_t first_step) : journal_(folder / event_file_name()) {
  journal_.add(record(event(0, bytes(3, "brain.Event:2"))));
  constexpr int start = 1;  // value of SessionLog.status
  if (first_step > 0) add(first_step, bytes(7, whole(1, start)));
}

void EventFile::number(std::string_view tag, std::int64_t step, double value) {
  add(step, summary(tag, single(2, static_cast<float>(value))));
}

void EventFile::picture(std::string_view tag, std::int64_t step, std::string_view png,
                        std::string_view description) {
  constexpr int rgb = 3;
  const std::string image = whole(1, side(png, 20)) + whole(2, side(png, 16)) + whole(3, rgb) + bytes(4, png);
  add(step, summary(tag, bytes(4, image) + bytes(9, bytes(3, description))));
}

void EventFile::text(std::string_view tag, std::string_view markdown) {
  constexpr int string_type = 7;
  const std::string one = bytes(2, bytes(2, whole(1, 1)));  // shape [1]
  const std::string tensor = whole(1, string_type) + one + bytes(8, markdown);
  add(0, summary(tag, bytes(8, tensor) + bytes(9, bytes(1, bytes(1, "text")))));
}

void EventFile::add(std::int64_t step, std::string_view field) {
  journal_.add(record(event(step, field)));
}

}  // namespace voxswap::pipeline
