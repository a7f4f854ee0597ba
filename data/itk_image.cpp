#include "data/itk_image.h"

#include <itkMetaImageIO.h>
#include <itkNrrdImageIO.h>

#include <iostream>
#include <mutex>

#include "base/error.h"
#include "data/formats.h"
#include "data/itk_buffer.h"

namespace voxswap {

namespace fs = std::filesystem;

namespace {

// Explicit, because ITK's factories register themselves behind a library's back.
itk::ImageIOBase::Pointer io_for(const fs::path& path) {
  if (has_extension(path, {".nrrd", ".nhdr"})) return itk::NrrdImageIO::New().GetPointer();
  return itk::MetaImageIO::New().GetPointer();
}

// The MetaImage library tells its troubles to std::cerr; ours go elsewhere, and say more.
class SilentMetaIO {
 public:
  explicit SilentMetaIO(const fs::path& path) {
    if (!has_extension(path, {".mha", ".mhd"})) return;
    lock_ = std::unique_lock(one_at_a_time());
    before_ = std::cerr.rdbuf(nullptr);
  }
  ~SilentMetaIO() {
    if (lock_.owns_lock()) std::cerr.rdbuf(before_);  // clears the failed state as well
  }
  SilentMetaIO(const SilentMetaIO&) = delete;
  SilentMetaIO& operator=(const SilentMetaIO&) = delete;

 private:
  static std::mutex& one_at_a_time() {
    static std::mutex mutex;
    return mutex;
  }
  std::unique_lock<std::mutex> lock_;
  std::streambuf* before_ = nullptr;
};

// The bytes in which the voxels may lie: the file itself, or, for a header on its own, whatever lies beside
// it.
double bytes_on_disk(const fs::path& path) {
  std::error_code ignored;
  if (has_extension(path, {".nrrd", ".mha"})) return static_cast<double>(fs::file_size(path, ignored));
  double total = 0;
  for (const auto& entry : fs::directory_iterator(path.has_parent_path() ? path.parent_path() : ".", ignored))
    total += entry.is_regular_file(ignored) ? static_cast<double>(entry.file_size(ignored)) : 0;
  return total;
}

// A damaged header may promise any size, and memory for it is taken before the first voxel is read.
void check_promise(const fs::path& path, const itk::ImageIOBase& io) {
  constexpr double most_packed = 1032;  // what deflate packs at most into a byte
  double promised = static_cast<double>(io.GetComponentSize()) * io.GetNumberOfComponents();
  for (unsigned axis = 0; axis < io.GetNumberOfDimensions(); ++axis)
    promised *= static_cast<double>(io.GetDimensions(axis));
  const double there = bytes_on_disk(path);
  const bool meta = has_extension(path, {".mha", ".mhd"});  // NRRD's reader does not say what is packed
  if (promised > there * (meta && !io.GetUseCompression() ? 1 : most_packed)) {
    fail(Exit::bad_data,
         "{}: is truncated: its header promises {:.0f} bytes of voxels, the file has {:.0f}. "
         "Fetch or copy the file again",
         path.string(), promised, there);
  }
}

itk::ImageIOBase::Pointer open_header(const fs::path& path) {
  itk::ImageIOBase::Pointer io = io_for(path);
  io->SetFileName(path.string());
  const SilentMetaIO silent(path);
  reading(path, [&] { io->ReadImageInformation(); });
  check_promise(path, *io);
  return io;
}

// Axes beyond the third, and the components of a voxel, both count as volumes.
std::int64_t volumes_of(const itk::ImageIOBase& io) {
  std::int64_t volumes = io.GetNumberOfComponents();
  for (unsigned axis = 3; axis < io.GetNumberOfDimensions(); ++axis) {
    volumes *= static_cast<std::int64_t>(io.GetDimensions(axis));
  }
  return volumes;
}

ImageHeader header_of(const fs::path& path, const itk::ImageIOBase& io) {
  ImageHeader header;
  header.geometry = geometry_of(path, io);
  header.volumes = volumes_of(io);
  header.element = itk::ImageIOBase::GetComponentTypeAsString(io.GetComponentType());
  return header;
}

}  // namespace

ImageHeader itk_header(const fs::path& path) {
  return header_of(path, *open_header(path));
}

std::vector<Image> itk_volumes(const fs::path& path, std::int64_t first, std::int64_t count) {
  const itk::ImageIOBase::Pointer io = open_header(path);
  const Geometry geometry = geometry_of(path, *io);
  const SilentMetaIO silent(path);
  const std::vector<char> buffer = read_buffer(path, *io);
  std::vector<Image> images;
  for (std::int64_t volume = first; volume < first + count; ++volume) {
    Image& image = images.emplace_back();
    image.geometry = geometry;
    image.voxels.resize(static_cast<std::size_t>(geometry.count()));
    convert(path, *io, buffer, volume, image.voxels);
  }
  return images;
}

}  // namespace voxswap
