// Writes a DICOM series for phantoms, so that prediction from hospital files can be tested without patient
// data.
#include "data/formats/dicom_writing.h"

#include <itkGDCMImageIO.h>
#include <itkMetaDataObject.h>

#include <cmath>

#include "base/error.h"
#include "base/file.h"
#include "data/formats/itk_buffer.h"
#include "data/formats/libraries.h"

namespace voxswap::data {

namespace {

// 2.25.<a UUID as a number> is a root that needs no registration; this one is for voxswap's phantoms.
const std::string uid_root = "2.25.302743117839465120934857102938475601";

std::vector<std::uint16_t> slice_of(const Image& image, std::int64_t z) {
  const auto count = static_cast<std::size_t>(image.geometry.size[0] * image.geometry.size[1]);
  std::vector<std::uint16_t> pixels(count);
  for (std::size_t i = 0; i < count; ++i) {
    const float value = image.voxels[static_cast<std::size_t>(z) * count + i];
    if (!(value >= 0 && value <= 65535 && value == std::round(value)))
      fail(Exit::failed, "{} cannot be stored as DICOM. Use whole numbers from 0 to 65535", number(value));
    pixels[i] = static_cast<std::uint16_t>(value);
  }
  return pixels;
}

void describe_slice(itk::MetaDataDictionary& tags, const std::string& description, const std::string& series,
                    std::int64_t z) {
  const auto set = [&](const char* key, const std::string& value) {
    itk::EncapsulateMetaData<std::string>(tags, key, value);
  };
  set("0008|0060", "MR");
  set("0008|0020", "20170101");  // fixed, because the default is the current date and time
  set("0008|0030", "120000");
  set("0028|0004", "MONOCHROME2");
  set("0008|0018", format("{}.{}", series, z + 1));  // SOPInstanceUID
  set("0020|000e", series);                          // SeriesInstanceUID
  set("0020|000d", series.substr(0, series.rfind('.')));
  set("0020|0052", series.substr(0, series.rfind('.')) + ".0");  // FrameOfReferenceUID
  set("0008|103e", description);
  set("0010|0010", "Phantom");
  set("0020|0013", std::to_string(z + 1));
}

}  // namespace

std::vector<std::string> dicom_names(std::int64_t slices) {
  std::vector<std::string> names;
  for (std::int64_t z = 0; z < slices; ++z) names.push_back(format("IM{:04}.dcm", z + 1));
  return names;
}

void write_dicom(const fs::path& folder, const Image& image, const std::string& description,
                 const std::string& uid) {
  const auto turn = gdcm_turn();
  start_itk();
  const Geometry& geometry = image.geometry;
  const std::vector<std::string> names = dicom_names(geometry.size[2]);
  for (std::int64_t z = 0; z < geometry.size[2]; ++z) {
    const auto io = itk::GDCMImageIO::New();
    io->SetNumberOfDimensions(3);
    io->SetComponentType(itk::IOComponentEnum::USHORT);
    io->SetPixelType(itk::IOPixelEnum::SCALAR);
    io->SetNumberOfComponents(1);
    io->SetUseCompression(false);
    io->KeepOriginalUIDOn();
    itk::ImageIORegion region(3);
    for (unsigned axis = 0; axis < 3; ++axis) {
      const auto extent = axis < 2 ? static_cast<std::size_t>(geometry.size[axis]) : std::size_t{1};
      io->SetDimensions(axis, extent);
      region.SetSize(axis, extent);
      io->SetSpacing(axis, geometry.spacing[axis]);
      std::vector<double> direction(3);
      for (unsigned row = 0; row < 3; ++row) direction[row] = geometry.direction[row * 3 + axis];
      io->SetDirection(axis, direction);
      io->SetOrigin(axis, geometry.origin[axis] + static_cast<double>(z) * geometry.spacing[2] *
                                                      geometry.direction[axis * 3 + 2]);
    }
    io->SetIORegion(region);
    describe_slice(io->GetMetaDataDictionary(), description, uid_root + "." + uid, z);
    const std::vector<std::uint16_t> pixels = slice_of(image, z);
    write_through(folder / names[static_cast<std::size_t>(z)], [&](const fs::path& temporary) {
      reading(temporary, [&] {
        io->SetFileName(temporary.string());
        io->WriteImageInformation();
        io->Write(pixels.data());
      });
      if (fs::file_size(temporary) <= pixels.size() * sizeof pixels[0])  // the header precedes the pixels
        fail(Exit::does_not_fit,
             "{}: only a part could be written: the disk seems to be full. Free some space", folder.string());
    });
  }
}

}  // namespace voxswap::data
