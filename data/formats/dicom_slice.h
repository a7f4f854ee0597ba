// One DICOM file as one slice: its header, its position and its values.
//
// The elements and pixels that are not compressed are read here, without GDCM, which believes what files say
// of themselves. It unpacks compressed pixels, in another process.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/file.h"
#include "data/volumes/volume.h"

namespace voxswap::data {

// The elements of a DICOM file, one after the other up to its pixels, as DICOM's part 5 (chapter 7) and part
// 10 lay them out. Nothing is believed that does not lie within the file: GDCM, which reads slices, fills
// what a truncated file lacks with zeros, and ends the program at some damage to headers.
struct DicomElements {
  std::map<std::uint32_t, std::string>
      values;          // of short elements before the pixels: 0x00280010 -> its bytes
  std::string syntax;  // the transfer syntax
  bool big_endian = false;
  bool deflated = false;  // the elements lie in a stream of their own: none was read

  std::uint32_t pixel_length = 0;  // as the file says; in_fragments when they are compressed
  std::int64_t pixel_begin = 0;    // where they lie, in bytes, and
  std::int64_t pixel_end = 0;      // where they end

  static constexpr std::uint32_t in_fragments = 0xffffffff;
  std::string text(std::uint32_t tag) const;  // without what fills it up; empty when there is none
  std::int64_t number(std::uint32_t tag, std::int64_t otherwise) const;  // of two bytes, or as text
  std::vector<double> numbers(std::uint32_t tag) const;  // texts with \ between; empty when one is no number
};

// Walks up to the pixels and, where they are compressed, to their end. Throws Exit::bad_data naming the file
// for one that ends before, or whose pixels do.
DicomElements read_elements(const fs::path& path);

// Up to the element `last` alone, and as far as the file goes: what it has of these, without a word about the
// rest.
DicomElements read_elements_up_to(const fs::path& path, std::uint32_t last);

struct DicomSlice {
  fs::path path;
  DicomElements elements;
  Geometry geometry;    // of this slice alone
  std::string element;  // how a voxel is stored: "int16"
  double height = 0;    // of its centre along the normal of its series, mm

  std::string name() const { return path.filename().string(); }
};

// Throws Exit::bad_data naming the file.
[[noreturn]] void refuse_file(const fs::path& path, const std::string& why);

// Reads all but the pixels. Throws Exit::bad_data naming the file for one that is truncated, that does not
// say where it lies, or that holds something else than one slice of numbers.
DicomSlice open_slice(const fs::path& path);

// Whether its pixels take a decoder of others, which runs in another process alone (decoder_process.h).
bool needs_decoder(const DicomSlice& slice);

// Its values, rescaled as it says.
std::vector<float> slice_voxels(const DicomSlice& slice);

// The SeriesDescription alone; empty when the file has none.
std::string series_description(const fs::path& path);

// The transfer syntax whose pixels need no decoder of others.
inline constexpr const char* run_lengths = "1.2.840.10008.1.2.5";

// Compressed pixels: run lengths are unpacked here; JPEG, JPEG-LS and JPEG 2000 by GDCM, if their own header
// has the size that the elements have. `fragments`: the file's bytes from the first item to the end of the
// sequence. Gives `promised` bytes in the order of little-endian files. Throws Exit::bad_data naming the file
// when they are not what comes out.
std::string unpacked_pixels(const DicomSlice& slice, const std::string& fragments, std::size_t promised);

}  // namespace voxswap::data
