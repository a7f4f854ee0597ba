#include "data/decoders/compressed_slice.h"

#include <gdcmImageReader.h>
#include <gdcmTrace.h>

#include <sstream>
#include <stdexcept>
#include <string>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "data/formats/voxel_bytes.h"

namespace voxswap::data {

namespace {

constexpr std::uint32_t fragment = 0xfffee000;

// GDCM prints warnings to stderr without a file name; the relevant checks are made here.
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

// A minimal DICOM file: the elements that GDCM needs, and the pixels.
std::string bare_file(const DicomElements& elements, const std::string& stream) {
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
  file += tag_bytes(0x7fe00010) + "OB" + std::string(2, '\0') +
          little_endian(DicomElements::in_fragments, 4) + tag_bytes(fragment) + little_endian(0, 4);
  return file + tag_bytes(fragment) + little_endian(static_cast<std::uint32_t>(stream.size()), 4) + stream +
         tag_bytes(0xfffee0dd) + little_endian(0, 4);
}

// The properties that a stream's header declares.
struct StreamHeader {
  std::uint32_t columns = 0, rows = 0, components = 0, bits = 0;
};

// The frame header of JPEG and JPEG-LS: ISO 10918-1, B.2.2, and ISO 14495-1, C.2.2.
StreamHeader jpeg_header(const std::string& stream) {
  for (std::size_t at = 2; number_at(stream, at, 1, true) == 0xff;) {
    const std::uint32_t marker = number_at(stream, at + 1, 1, true);
    const bool frame = marker == 0xf7 || (marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 &&
                                          marker != 0xc8 && marker != 0xcc);
    if (frame)
      return {number_at(stream, at + 7, 2, true), number_at(stream, at + 5, 2, true),
              number_at(stream, at + 9, 1, true), number_at(stream, at + 4, 1, true)};
    at += marker == 0xff ? 1 : 2 + number_at(stream, at + 2, 2, true);  // 0xff may be repeated
  }
  return {};
}

// The SIZ segment of JPEG 2000, first in its code stream: ISO 15444-1, A.5.1.
StreamHeader jpeg_2000_header(const std::string& stream) {
  const std::size_t siz = stream.find("\xff\x4f\xff\x51");
  if (siz == std::string::npos) return {};
  const auto at = [&](std::size_t offset, std::size_t size) {
    return number_at(stream, siz + offset, size, true);
  };
  return {at(8, 4) - at(16, 4), at(12, 4) - at(20, 4), at(40, 2), (at(42, 1) & 0x7f) + 1};
}

// GDCM writes the pixels of the stream into a buffer sized by the elements, so both must agree.
void check_stream(const DicomSlice& slice, const std::string& stream) {
  StreamHeader header;
  try {
    header = stream.starts_with("\xff\xd8") ? jpeg_header(stream) : jpeg_2000_header(stream);
  } catch (const std::out_of_range&) {
    // The stream ends within its header.
  }
  const std::size_t bytes = header.bits <= 8 ? 1 : header.bits <= 16 ? 2 : 4;
  const Size3& size = slice.geometry.size;
  if (header.columns != size[0] || header.rows != size[1] || header.components != 1 ||
      bytes != bytes_of_element(slice.element))
    refuse_file(slice.path,
                format("is damaged: its compressed pixels are {}x{} of {} bits and {}, but its "
                       "header declares {}x{} of {} bits. Fetch or copy the file again",
                       header.columns, header.rows, header.bits, counted(header.components, "component"),
                       size[0], size[1], 8 * bytes_of_element(slice.element)));
}

}  // namespace

std::vector<float> decompressed_voxels(const DicomSlice& slice) {
  const std::string stream = compressed_stream(slice);
  check_stream(slice, stream);
  silence_gdcm();
  std::string bytes(pixel_bytes(slice), '\0');
  std::istringstream file(bare_file(slice.elements, stream));
  gdcm::ImageReader reader;
  reader.SetStream(file);
  if (!reader.Read() || reader.GetImage().GetBufferLength() != bytes.size() ||
      !reader.GetImage().GetBuffer(bytes.data()))
    cannot_unpack(slice);
  return rescaled(slice, bytes);
}

}  // namespace voxswap::data
