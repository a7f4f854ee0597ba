// DICOM slices whose pixels are compressed as JPEG, JPEG-LS or JPEG 2000, through GDCM.
#pragma once

#include <vector>

#include "data/formats/dicom_slice.h"

namespace voxswap::data {

// Its values after rescaling. Throws Exit::bad_data naming the file if the stream's header does not agree
// with the elements, or if decompression gives anything else than they declare. REQUIRES:
// needs_decoder(slice).
std::vector<float> decompressed_voxels(const DicomSlice& slice);

}  // namespace voxswap::data
