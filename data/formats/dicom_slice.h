// One DICOM file as one slice: header, position and values.
//
// Elements and uncompressed pixels are read here without GDCM, which trusts the declarations in a file. GDCM
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
  double height = 0;    // mm, position of its centre along the series' normal

  std::string name() const { return path.filename().string(); }
};

// Throws Exit::bad_data naming the file.
[[noreturn]] void refuse_file(const fs::path& path, const std::string& why);

// Reads everything but the pixels. Throws Exit::bad_data naming the file if it is truncated, has no position,
// or does not contain one greyscale slice.
DicomSlice open_slice(const fs::path& path);

// Whether its pixels need a third-party decoder, which runs in another process (decoder_process.h).
bool needs_decoder(const DicomSlice& slice);

// Its values after rescaling.
std::vector<float> slice_voxels(const DicomSlice& slice);

// The text of one element; empty if the file does not have it.
std::string element_text(const fs::path& path, std::uint32_t tag);

// The compressed transfer syntax that is decoded without third-party code.
inline constexpr const char* run_lengths = "1.2.840.10008.1.2.5";

// Decompresses pixels: run lengths here; JPEG, JPEG-LS and JPEG 2000 by GDCM, if the stream's header agrees
// with the elements. `fragments`: the file's bytes from the first item to the end of the sequence. Returns
// `promised` little-endian bytes. Throws Exit::bad_data naming the file if decompression gives anything else.
std::string unpacked_pixels(const DicomSlice& slice, const std::string& fragments, std::size_t promised);

}  // namespace voxswap::data
