// Third-party decoders (GDCM, libpng, and libjpeg and libtiff through ITK) run in a separate process: a
// damaged file can make them corrupt memory, loop or abort, which then only ends that process.
//
// The process is the program voxswap-decode, which alone is linked to these libraries (data/decoders). After
// reading a file it is kept for the next one. If a reused process fails, a new one reads that file again, so
// that an earlier file's memory corruption cannot affect it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/file.h"
#include "data/formats/header_text.h"
#include "data/volumes/volume.h"

namespace voxswap::data {

// A request: what to do with which file, relative to which folder.
struct DecodeRequest {
  enum class Kind { raster_header, raster_volumes, raster_labels, dicom_slice };
  Kind kind;
  std::string folder, path;
  std::int64_t first = 0, count = 0;
};
// Serialisation for the socket, starting with the length, and its inverse.
std::string request_bytes(const DecodeRequest& request);
DecodeRequest request_of(const std::string& bytes);  // REQUIRES: output of request_bytes, without the length

// Precedes the answer: an image, a header, or an error message.
struct DecodeReply {
  std::uint64_t size = 0;  // of the answer
  std::int64_t exit = 0;   // 0, or the Exit of the error
};

// open_raster() and decompressed_voxels() (data/decoders), run in another process. They throw like
// those functions, and Exit::bad_data naming the file if the decoder crashed or took too long.
ImageHeader decoded_header(const fs::path& path);
std::vector<Image> decoded_volumes(const fs::path& path, const ChooseVolumes& choose);
Image decoded_labels(const fs::path& path);
std::vector<float> decoded_slice(const fs::path& path);

}  // namespace voxswap::data
