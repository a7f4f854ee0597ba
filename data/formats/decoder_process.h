// Decoders of third parties (GDCM, libpng, libjpeg and libtiff with ITK) run in a process of their own: a
// damaged file can make them overwrite memory, loop or abort, which then ends nothing but that process.
//
// The process is the program voxswap-decode. One that has read a file is kept for the next. Where it then
// fails, a new one reads that file again, so that no file suffers from what another did to the memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/file.h"
#include "data/formats/header_text.h"
#include "data/volumes/volume.h"

namespace voxswap::data {

// What is asked for: what to do with which file, seen from which folder.
struct DecodeRequest {
  enum class Kind { raster_header, raster_volumes, raster_labels, dicom_slice };
  Kind kind;
  std::string folder, path;
  std::int64_t first = 0, count = 0;
};
// As it goes through the socket, with its length first, and back.
std::string request_bytes(const DecodeRequest& request);
DecodeRequest request_of(const std::string& bytes);  // REQUIRES: made above, without its length

// Comes before the answer: an image or header, or the message of an error.
struct DecodeReply {
  std::uint64_t size = 0;  // of what follows
  std::int64_t exit = 0;   // 0, or the Exit of the error
};

// Those of raster.h, and slice_voxels() of a DICOM slice, in another process. They throw as the functions
// themselves do; Exit::bad_data naming the file where the decoder crashed or took too long.
ImageHeader decoded_header(const fs::path& path);
std::vector<Image> decoded_volumes(const fs::path& path, std::int64_t first, std::int64_t count);
Image decoded_labels(const fs::path& path);
std::vector<float> decoded_slice(const fs::path& path);

}  // namespace voxswap::data
