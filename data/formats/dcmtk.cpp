#include "data/formats/dcmtk.h"

#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmdata/dcostrmb.h>
#include <dcmtk/dcmdata/dctk.h>

#include "base/error.h"
#include "base/text.h"

namespace voxswap::data {

void check_dcmtk(const OFCondition& condition, const fs::path& path, const char* what) {
  if (condition.bad()) fail(Exit::failed, "{}: {}: {}", path.string(), what, condition.text());
}

std::string decimal_string(double value) {
  std::string text = number(value);
  for (int digits = 12; text.size() > 16; --digits) text = format("{:.{}g}", value, digits);
  return text;
}

std::array<double, 3> plane_position(const Geometry& grid, std::int64_t plane) {
  std::array<double, 3> at = grid.origin;
  for (std::size_t world = 0; world < 3; ++world)
    at[world] += static_cast<double>(plane) * grid.spacing[2] * grid.direction[3 * world + 2];
  return at;
}

// DCMTK's own writing to a file does not tell a full disk from other errors.
void save_dicom(DcmFileFormat& file, DicomTypes types, const fs::path& path) {
  const E_TransferSyntax syntax =
      types == DicomTypes::stated ? EXS_LittleEndianExplicit : EXS_LittleEndianImplicit;
  check_dcmtk(file.validateMetaInfo(syntax), path, "its meta information");
  std::string bytes(file.calcElementLength(syntax, EET_ExplicitLength), '\0');
  DcmOutputBufferStream stream(bytes.data(), static_cast<offile_off_t>(bytes.size()));
  file.transferInit();
  check_dcmtk(file.write(stream, syntax, EET_ExplicitLength, nullptr, EGL_recalcGL, EPD_withoutPadding), path,
              "cannot be written");
  file.transferEnd();
  bytes.resize(static_cast<std::size_t>(stream.tell()));
  write_file(path, bytes);
}

}  // namespace voxswap::data
