// Builds DICOM files byte by byte (DICOM, part 10: explicit VR, little endian), with optional irregularities.
#pragma once

#include <array>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/text.h"

namespace voxswap::test {

struct SliceBytes {
  std::string description = "t1_se_tra", series = "1.2.3.4.1";
  std::optional<std::array<double, 3>> position{{-10, -20, 0}};
  std::optional<std::array<double, 6>> cosines{{1, 0, 0, 0, 1, 0}};  // of rows, then of columns
  double spacing = 1;                                                // pixel spacing, mm
  int number = 1, columns = 6, rows = 4, stored_bits = 16, sign = 0;
  std::vector<std::uint16_t> pixels;            // empty: 1, 2, 3, …
  std::optional<std::uint32_t> promised_bytes;  // declared pixel bytes; nullopt: the actual number
  std::vector<std::string> fragments;           // of compressed pixels, instead of `pixels`
  std::string syntax = "1.2.840.10008.1.2.1";   // explicit VR, little endian
};

class DicomBytes {
 public:
  explicit DicomBytes(const SliceBytes& slice) {
    const std::string kind = "1.2.840.10008.5.1.4.1.1.4", uid = format("{}.{}", slice.series, slice.number);
    begin(kind, uid, slice.syntax);
    add(0x0008, 0x0008, "CS", "ORIGINAL\\PRIMARY\\M");
    add(0x0008, 0x0016, "UI", kind);
    add(0x0008, 0x0018, "UI", uid);
    add(0x0008, 0x0060, "CS", "MR");
    add(0x0008, 0x103e, "LO", slice.description);
    add(0x0020, 0x000d, "UI", "1.2.3.4");
    add(0x0020, 0x000e, "UI", slice.series);
    add(0x0020, 0x0013, "IS", std::to_string(slice.number));
    if (slice.position) add(0x0020, 0x0032, "DS", numbers(*slice.position));
    if (slice.cosines) add(0x0020, 0x0037, "DS", numbers(*slice.cosines));
    add(0x0028, 0x0002, "US", two(1));
    add(0x0028, 0x0004, "CS", "MONOCHROME2");
    add(0x0028, 0x0010, "US", two(slice.rows));
    add(0x0028, 0x0011, "US", two(slice.columns));
    add(0x0028, 0x0030, "DS", format("{}\\{}", slice.spacing, slice.spacing));
    for (const auto& [element, value] : {std::pair{0x0100, 16},
                                         {0x0101, slice.stored_bits},
                                         {0x0102, slice.stored_bits - 1},
                                         {0x0103, slice.sign}})
      add(0x0028, element, "US", two(value));
    pixels(slice);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  static std::string two(int value) {
    return {static_cast<char>(value & 0xff), static_cast<char>(value >> 8 & 0xff)};
  }
  static std::string four(std::uint32_t value) {
    return two(static_cast<int>(value & 0xffff)) + two(static_cast<int>(value >> 16));
  }
  template <class Values>
  static std::string numbers(const Values& values) {
    std::vector<std::string> texts;
    for (const double value : values) texts.push_back(format("{:g}", value));
    return join(texts, "\\");
  }
  void add(int group, int element, const std::string& type, std::string value) {
    if (value.size() % 2 == 1) value += type == "UI" ? '\0' : ' ';
    bytes_ += two(group) + two(element) + type + two(static_cast<int>(value.size())) + value;
  }
  void begin(const std::string& kind, const std::string& uid, const std::string& syntax) {
    add(0x0002, 0x0002, "UI", kind);
    add(0x0002, 0x0003, "UI", uid);
    add(0x0002, 0x0010, "UI", syntax);
    add(0x0002, 0x0012, "UI", "1.2.3.4");
    const std::string meta = std::move(bytes_);
    bytes_ = std::string(128, '\0') + "DICM";
    add(0x0002, 0x0000, "UL", four(static_cast<std::uint32_t>(meta.size())));
    bytes_ += meta;
  }
  void pixels(const SliceBytes& slice) {
    const std::string tag = two(0x7fe0) + two(0x0010);
    if (!slice.fragments.empty()) {
      const std::string item = two(0xfffe) + two(0xe000);
      bytes_ += tag + "OB" + two(0) + four(0xffffffff) + item + four(0);
      for (const std::string& one : slice.fragments)
        bytes_ += item + four(static_cast<std::uint32_t>(one.size())) + one;
      bytes_ += two(0xfffe) + two(0xe0dd) + four(0);
      return;
    }
    std::string values;
    for (int i = 0; i < slice.rows * slice.columns; ++i)
      values += two(slice.pixels.empty() ? i + 1 : slice.pixels[static_cast<std::size_t>(i)]);
    const auto there = static_cast<std::uint32_t>(values.size());
    bytes_ += tag + "OW" + two(0) + four(slice.promised_bytes.value_or(there)) + values;
  }

  std::string bytes_;
};

inline void write_slice(const fs::path& path, const SliceBytes& slice) {
  fs::create_directories(path.parent_path());
  fs::ofstream(path, std::ios::binary) << DicomBytes(slice).bytes();
}

}  // namespace voxswap::test
