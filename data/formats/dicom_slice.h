// One DICOM file as one slice: header, position and values.
//
// Elements and uncompressed pixels are read without GDCM, which trusts the declarations in a file. GDCM
// decompresses pixels, in another process.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/file.h"
#include "data/volumes/volume.h"

namespace voxswap::data {

// The elements of a DICOM file up to its pixels, as defined in DICOM part 5 (chapter 7) and part 10.
// Everything is checked against the size of the file: GDCM pads truncated files with zeros and aborts on some
// damaged headers.
struct DicomElements {
  std::map<std::uint32_t, std::string> values;  // short elements before the pixels: 0x00280010 -> its bytes
  std::string syntax;                           // the transfer syntax
  bool big_endian = false;
  bool deflated = false;  // the elements are a compressed stream; none was read

  std::uint32_t pixel_length = 0;  // as declared; in_fragments if compressed
  std::int64_t pixel_begin = 0;    // position in the file
  std::int64_t pixel_end = 0;      // position of the end

  static constexpr std::uint32_t in_fragments = 0xffffffff;
  std::string text(std::uint32_t tag) const;                             // without padding; empty if absent
  std::int64_t number(std::uint32_t tag, std::int64_t otherwise) const;  // stored in two bytes or as text
  std::vector<double> numbers(std::uint32_t tag) const;  // backslash-separated; empty if one is invalid
};

// Reads up to the pixels and, if they are compressed, to their end. Throws Exit::bad_data naming the file if
// it ends earlier, or within the pixels.
DicomElements read_elements(const fs::path& path);

// Reads only up to element `last`, or as far as possible; errors are ignored.
DicomElements read_elements_up_to(const fs::path& path, std::uint32_t last);

struct DicomSlice {
  fs::path path;
  DicomElements elements;
  Geometry geometry;    // of this slice only
  std::string element;  // stored element type: "int16"
  int bits = 16;        // of it that are used, from bit `shift`
  int shift = 0;
  double height = 0;  // mm, position of its centre along the series' normal

  std::string name() const { return path.filename().string(); }
};

// Throws Exit::bad_data naming the file.
[[noreturn]] void refuse_file(const fs::path& path, const std::string& why);

// Reads everything but the pixels. Throws Exit::bad_data naming the file if it is truncated, has no position,
// or does not contain one greyscale slice.
DicomSlice open_slice(const fs::path& path);

// Whether its pixels need a third-party decoder, which runs in another process (decoder_process.h).
bool needs_decoder(const DicomSlice& slice);

// Its values after rescaling. REQUIRES: !needs_decoder(slice).
std::vector<float> slice_voxels(const DicomSlice& slice);

// The text of one element; empty if the file does not have it.
std::string element_text(const fs::path& path, std::uint32_t tag);

// For decoders. The items of its compressed pixels as one stream, and the values of its decompressed ones,
// pixel_bytes() in the byte order of the file.
std::string compressed_stream(const DicomSlice& slice);
std::size_t pixel_bytes(const DicomSlice& slice);
std::vector<float> rescaled(const DicomSlice& slice, std::string bytes);
[[noreturn]] void cannot_unpack(const DicomSlice& slice);

// An unsigned number in a stream. Throws std::out_of_range at its end.
std::uint32_t number_at(const std::string& bytes, std::size_t at, std::size_t size, bool big_endian);

}  // namespace voxswap::data
