// Writes a DICOM series for phantoms, so that prediction from hospital files can be tested without patient
// data. Each element states its type, so that DCMTK needs no dictionary.
#include "data/formats/dicom_writing.h"

#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmdata/dctk.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "data/formats/dcmtk.h"

namespace voxswap::data {

namespace {

// 2.25.<a UUID as a number> is a root that needs no registration; this one is for voxswap's phantoms.
const std::string uid_root = "2.25.302743117839465120934857102938475601";

std::vector<Uint16> slice_of(const Image& image, std::int64_t z) {
  const auto count = static_cast<std::size_t>(image.geometry.size[0] * image.geometry.size[1]);
  std::vector<Uint16> pixels(count);
  for (std::size_t i = 0; i < count; ++i) {
    const float value = image.voxels[static_cast<std::size_t>(z) * count + i];
    if (!(value >= 0 && value <= 65535 && value == std::round(value)))
      fail(Exit::failed, "{} cannot be stored as DICOM. Use whole numbers from 0 to 65535", number(value));
    pixels[i] = static_cast<Uint16>(value);
  }
  return pixels;
}

// Numbers of one element, separated as DICOM does.
std::string decimals(const std::vector<double>& values) {
  std::vector<std::string> texts;
  for (const double value : values) texts.push_back(decimal_string(value));
  return join(texts, "\\");
}

struct Element {
  Uint16 group, element;
  DcmEVR type;
  std::string value;
};

// Empty values are those of elements that an MR image must have (DICOM, part 3, table A.4-1).
std::vector<Element> elements_of(const Geometry& grid, std::int64_t z, const std::string& description,
                                 const std::string& series) {
  const std::string study = series.substr(0, series.rfind('.'));
  const std::array<double, 3> at = plane_position(grid, z);
  const auto& d = grid.direction;
  return {{0x0008, 0x0016, EVR_UI, UID_MRImageStorage},
          {0x0008, 0x0018, EVR_UI, format("{}.{}", series, z + 1)},
          {0x0008, 0x0020, EVR_DA, "20170101"},
          {0x0008, 0x0030, EVR_TM, "120000"},
          {0x0008, 0x0050, EVR_SH, ""},
          {0x0008, 0x0060, EVR_CS, "MR"},
          {0x0008, 0x0070, EVR_LO, ""},
          {0x0008, 0x0090, EVR_PN, ""},
          {0x0008, 0x103e, EVR_LO, description},
          {0x0010, 0x0010, EVR_PN, "Phantom"},
          {0x0010, 0x0020, EVR_LO, ""},
          {0x0010, 0x0030, EVR_DA, ""},
          {0x0010, 0x0040, EVR_CS, ""},
          {0x0018, 0x0050, EVR_DS, decimals({grid.spacing[2]})},
          {0x0020, 0x000d, EVR_UI, study},
          {0x0020, 0x000e, EVR_UI, series},
          {0x0020, 0x0010, EVR_SH, ""},
          {0x0020, 0x0011, EVR_IS, ""},
          {0x0020, 0x0013, EVR_IS, std::to_string(z + 1)},
          {0x0020, 0x0032, EVR_DS, decimals({at[0], at[1], at[2]})},
          {0x0020, 0x0037, EVR_DS, decimals({d[0], d[3], d[6], d[1], d[4], d[7]})},
          {0x0020, 0x0052, EVR_UI, study + ".0"},
          {0x0028, 0x0002, EVR_US, "1"},
          {0x0028, 0x0004, EVR_CS, "MONOCHROME2"},
          {0x0028, 0x0010, EVR_US, std::to_string(grid.size[1])},
          {0x0028, 0x0011, EVR_US, std::to_string(grid.size[0])},
          {0x0028, 0x0030, EVR_DS, decimals({grid.spacing[1], grid.spacing[0]})},
          {0x0028, 0x0100, EVR_US, "16"},
          {0x0028, 0x0101, EVR_US, "16"},
          {0x0028, 0x0102, EVR_US, "15"},
          {0x0028, 0x0103, EVR_US, "0"}};
}

}  // namespace

void write_dicom(const fs::path& folder, const Image& image, const std::string& description,
                 const std::string& uid) {
  const Geometry& grid = image.geometry;
  const std::vector<std::string> names = dicom_names(grid.size[2]);
  for (std::int64_t z = 0; z < grid.size[2]; ++z) {
    const fs::path path = folder / names[static_cast<std::size_t>(z)];
    DcmFileFormat file;
    DcmDataset& dataset = *file.getDataset();
    for (const Element& one : elements_of(grid, z, description, uid_root + "." + uid))
      check_dcmtk(dataset.putAndInsertString(DcmTag(one.group, one.element, one.type), one.value.c_str()),
                  path, "an element");
    const std::vector<Uint16> pixels = slice_of(image, z);
    check_dcmtk(dataset.putAndInsertUint16Array(DcmTag(0x7fe0, 0x0010, EVR_OW), pixels.data(), pixels.size()),
                path, "pixels");
    save_dicom(file, DicomTypes::implied, path);
  }
}

}  // namespace voxswap::data
