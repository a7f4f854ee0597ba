#include <gdcmImageReader.h>
#include <gdcmTrace.h>

#include <sstream>

#include "base/error.h"
#include "base/file.h"
#include "data/formats/dicom_slice.h"
#include "data/formats/itk_buffer.h"
#include "data/formats/libraries.h"

namespace voxswap::data {

namespace {

// GDCM's warnings go to stderr without a file name; what matters is checked here.
void silence_gdcm() {
  static const bool silent = [] {
    gdcm::Trace::DebugOff();
    gdcm::Trace::WarningOff();
    gdcm::Trace::ErrorOff();
    return true;
  }();
  static_cast<void>(silent);
}

std::string little_endian(std::uint32_t value, std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xff);
  return text;
}

std::string tag_bytes(std::uint32_t tag) {
  return little_endian(tag >> 16, 2) + little_endian(tag & 0xffff, 2);
}

std::string element(std::uint32_t tag, const char* type, std::string value) {
  if (value.size() % 2 == 1) value += type == std::string("UI") ? '\0' : ' ';
  return tag_bytes(tag) + type + little_endian(static_cast<std::uint32_t>(value.size()), 2) + value;
}

// A file with nothing in it but what GDCM needs to know, and the pixels.
std::string bare_file(const DicomElements& elements, const std::string& fragments) {
  const std::string kind = "1.2.840.10008.5.1.4.1.1.4";  // an MR image
  const std::string first_group = element(0x00020002, "UI", kind) + element(0x00020003, "UI", "1.2") +
                                  element(0x00020010, "UI", elements.syntax) +
                                  element(0x00020012, "UI", "1.2");
  std::string file =
      std::string(128, '\0') + "DICM" +
      element(0x00020000, "UL", little_endian(static_cast<std::uint32_t>(first_group.size()), 4)) +
      first_group + element(0x00080016, "UI", kind) + element(0x00080018, "UI", "1.2");
  file += element(0x00280002, "US", little_endian(1, 2)) + element(0x00280004, "CS", "MONOCHROME2");
  for (const std::uint32_t tag : {0x00280010, 0x00280011, 0x00280100, 0x00280101, 0x00280102, 0x00280103})
    file += element(tag, "US", little_endian(static_cast<std::uint32_t>(elements.number(tag, 0)), 2));
  return file + tag_bytes(0x7fe00010) + "OB" + std::string(2, '\0') +
         little_endian(DicomElements::in_fragments, 4) + fragments;
}

}  // namespace

std::string unpacked_pixels(const fs::path& path, const DicomElements& elements, const std::string& fragments,
                            std::size_t promised) {
  const auto turn = gdcm_turn();
  silence_gdcm();
  std::string bytes(promised, '\0');
  reading(path, [&] {
    std::istringstream stream(bare_file(elements, fragments));
    gdcm::ImageReader reader;
    reader.SetStream(stream);
    if (!reader.Read() || reader.GetImage().GetBufferLength() != promised ||
        !reader.GetImage().GetBuffer(bytes.data()))
      fail(Exit::bad_data,
           "{}: is damaged: its compressed pixels (transfer syntax {}) cannot be decompressed. Fetch or copy "
           "the file again",
           path.string(), elements.syntax);
  });
  return bytes;
}

}  // namespace voxswap::data
