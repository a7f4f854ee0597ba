// Writes images through ITK's writers, without its templates. The file is written under a temporary name,
// verified and renamed.
#include "data/formats/image_writing.h"

#include <itkMetaImageIO.h>
#include <itkNiftiImageIO.h>
#include <itkNrrdImageIO.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/file.h"
#include "data/formats/formats.h"
#include "data/formats/gzip_file.h"
#include "data/formats/itk_buffer.h"
#include "data/formats/nifti_placement.h"
#include "data/formats/nifti_voxels.h"
#include "data/formats/raster_writing.h"
#include "data/formats/raw_voxels.h"

namespace voxswap::data {

namespace {

itk::ImageIOBase::Pointer io_for(ImageFormat format) {
  if (format == ImageFormat::nifti) return itk::NiftiImageIO::New().GetPointer();
  if (format == ImageFormat::nrrd) return itk::NrrdImageIO::New().GetPointer();
  return itk::MetaImageIO::New().GetPointer();
}

// These libraries ignore write errors, so the written file is read back.
bool is_whole(const fs::path& path, std::size_t volumes) {
  try {
    if (is_nifti(path))
      check_nifti(path);
    else
      raw_volumes(path, [&](const ImageHeader&) {
        return VolumeRange{0, static_cast<std::int64_t>(std::max<std::size_t>(volumes, 1))};
      });
    return true;
  } catch (const Error& error) {
    if (error.exit() != Exit::bad_data) throw;
    return false;
  }
}

bool has_room(const fs::path& file, std::size_t bytes) {
  error_code unknown;
  const fs::space_info space =
      fs::space(file.has_parent_path() ? file.parent_path() : fs::path("."), unknown);
  if (!unknown && space.available < bytes) return false;
  rlimit limit{};
  return ::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur >= bytes;
}

[[noreturn]] void fail_to_write(const fs::path& path, std::size_t bytes, const std::string& why) {
  if (has_room(path, bytes)) fail(Exit::failed, "{}: cannot be written: {}", path.string(), why);
  fail(Exit::does_not_fit, "{}: cannot be written: {}: the disk seems to be full. Free some space",
       path.string(), why);
}

// `volumes` > 0 makes it 4D. Throws itk::ExceptionObject.
void write_by_itk(const fs::path& file, ImageFormat format, const Geometry& geometry,
                  itk::IOComponentEnum type, const void* voxels, std::size_t volumes) {
  start_itk();
  const unsigned dimensions = volumes > 0 ? 4 : 3;
  const itk::ImageIOBase::Pointer io = io_for(format);
  io->SetNumberOfDimensions(dimensions);
  io->SetComponentType(type);
  io->SetPixelType(itk::IOPixelEnum::SCALAR);
  io->SetNumberOfComponents(1);
  io->SetUseCompression(!has_extension(file, {".nii"}));
  itk::ImageIORegion region(dimensions);
  for (unsigned axis = 0; axis < dimensions; ++axis) {
    std::vector<double> direction(dimensions, 0.0);
    for (unsigned row = 0; row < dimensions; ++row) {
      direction[row] = axis < 3 && row < 3 ? geometry.direction[row * 3 + axis] : (row == axis ? 1.0 : 0.0);
    }
    const auto extent = axis < 3 ? static_cast<std::size_t>(geometry.size[axis]) : volumes;
    io->SetDimensions(axis, extent);
    region.SetSize(axis, extent);
    io->SetSpacing(axis, axis < 3 ? geometry.spacing[axis] : 1.0);
    io->SetOrigin(axis, axis < 3 ? geometry.origin[axis] : 0.0);
    io->SetDirection(axis, direction);
  }
  io->SetIORegion(region);
  io->SetFileName(file.string());
  io->WriteImageInformation();
  io->Write(voxels);
}

// The header of a NIfTI-1 file with this type, grid and position.
std::string nifti_1_header(const fs::path& scratch, const Geometry& geometry, itk::IOComponentEnum type,
                           const std::optional<NiftiPlacement>& placement) {
  constexpr std::size_t bytes = 352, sides = 42;  // 348 of the header, no extensions; dim[1] to dim[3]
  Geometry one = geometry;
  one.size = {1, 1, 1};
  const float voxel = 0;
  try {
    write_by_itk(scratch, ImageFormat::nifti, one, type, &voxel, 0);
  } catch (const itk::ExceptionObject& error) {
    fail_to_write(scratch, bytes, plain_message(error.GetDescription()));
  }
  std::string header(bytes, '\0');
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzdopen(open_file(scratch).release(), "rb"),
                                                        gzclose_r);
  if (!file || gzread(file.get(), header.data(), bytes) != static_cast<int>(bytes))
    fail_to_write(scratch, bytes, "only a part of it was written");
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto side = static_cast<std::int16_t>(geometry.size[axis]);
    std::memcpy(header.data() + sides + axis * sizeof side, &side, sizeof side);
  }
  if (placement) put(*placement, header);
  return header;
}

// Writes voxels of one element type; `volumes` > 0 makes it 4D.
void write_voxels(const fs::path& path, const Geometry& geometry, itk::IOComponentEnum type,
                  std::size_t element_bytes, const void* voxels, std::size_t volumes,
                  const fs::path& like = {}) {
  const ImageExtension* const extension = image_extension(path);
  if (extension == nullptr || !extension->written) {
    fail(Exit::usage, "{}: this format cannot be written. Use one of {}", path.string(),
         image_extensions_text([](const ImageExtension& known) { return known.written; }));
  }
  // NIfTI's library reports a missing folder only on stderr.
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    fail(Exit::failed, "{}: cannot be written: {}: {}", path.string(), folder.string(), std::strerror(errno));
  }
  const std::size_t bytes =
      static_cast<std::size_t>(geometry.count()) * std::max<std::size_t>(volumes, 1) * element_bytes;
  const std::optional<NiftiPlacement> placement =
      is_nifti(path) && !like.empty() ? nifti_placement(like, geometry) : std::nullopt;
  write_through(path, [&](const fs::path& temporary) {
    if (placement) {
      const std::string header = nifti_1_header(temporary, geometry, type, placement);
      GzipFile file(temporary, path, !has_extension(path, {".nii"}));
      file.append(header.data(), header.size());
      file.append(voxels, bytes);
      file.close();
    } else {
      try {
        write_by_itk(temporary, extension->format, geometry, type, voxels, volumes);
      } catch (const itk::ExceptionObject& error) {
        fail_to_write(path, bytes, plain_message(error.GetDescription()));
      }
    }
    if (!is_whole(temporary, volumes)) fail_to_write(path, bytes, "only a part of it was written");
  });
}

}  // namespace

void write_image(const fs::path& path, const Image& image, const fs::path& like) {
  write_voxels(path, image.geometry, itk::IOComponentEnum::FLOAT, sizeof(float), image.voxels.data(), 0,
               like);
}

void write_label_map(const fs::path& path, const LabelMap& labels, const fs::path& like) {
  if (has_extension(path, {".png"}) && labels.geometry.size[2] == 1) return write_raster_labels(path, labels);
  const auto [low, high] = std::minmax_element(labels.voxels.begin(), labels.voxels.end());
  if (low != labels.voxels.end() && (*low < 0 || *high > 255)) {
    write_voxels(path, labels.geometry, itk::IOComponentEnum::SHORT, sizeof(std::int16_t),
                 labels.voxels.data(), 0, like);
    return;
  }
  const std::vector<std::uint8_t> bytes(labels.voxels.begin(), labels.voxels.end());
  write_voxels(path, labels.geometry, itk::IOComponentEnum::UCHAR, 1, bytes.data(), 0, like);
}

std::string nifti_label_header(const fs::path& scratch, const Geometry& geometry, bool wide,
                               const fs::path& like) {
  return nifti_1_header(scratch, geometry, wide ? itk::IOComponentEnum::SHORT : itk::IOComponentEnum::UCHAR,
                        like.empty() ? std::nullopt : nifti_placement(like, geometry));
}

void write_images_4d(const fs::path& path, const std::vector<Image>& images) {
  if (images.empty()) fail(Exit::failed, "{}: no images to write", path.string());
  std::vector<float> voxels;
  voxels.reserve(images.size() * images.front().voxels.size());
  for (const Image& image : images) voxels.insert(voxels.end(), image.voxels.begin(), image.voxels.end());
  write_voxels(path, images.front().geometry, itk::IOComponentEnum::FLOAT, sizeof(float), voxels.data(),
               images.size());
}

}  // namespace voxswap::data
