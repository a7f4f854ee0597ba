#include "data/itk_image.h"

#include <itkMetaImageIO.h>
#include <itkNrrdImageIO.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <mutex>
#include <new>

#include "base/error.h"
#include "data/formats.h"

namespace voxswap {

namespace fs = std::filesystem;

namespace {

// Explicit, because ITK's factories register themselves behind a library's back.
itk::ImageIOBase::Pointer io_for(const fs::path& path) {
  // Warnings of ITK go to stderr without a file name; what matters is checked here.
  static const bool warnings_off = (itk::Object::GlobalWarningDisplayOff(), true);
  static_cast<void>(warnings_off);
  if (has_extension(path, {".nrrd", ".nhdr"})) return itk::NrrdImageIO::New().GetPointer();
  return itk::MetaImageIO::New().GetPointer();
}

[[noreturn]] void fail_unreadable(const fs::path& path, const std::string& why) {
  fail(Exit::bad_data, "{}: cannot be read as an image: {}. Is it whole, and what its name says?",
       path.string(), why);
}

// Runs `step`, turning whatever ITK throws into one message about the file.
template <class Step>
auto reading(const fs::path& path, Step step) {
  try {
    return step();
  } catch (const itk::ExceptionObject& error) {
    fail_unreadable(path, plain_message(error.GetDescription()));
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    fail_unreadable(path, "its header asks for more memory than there is");
  } catch (const std::exception& error) {
    fail_unreadable(path, error.what());
  }
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

itk::ImageIOBase::Pointer open_header(const fs::path& path) {
  itk::ImageIOBase::Pointer io = io_for(path);
  io->SetFileName(path.string());
  const SilentMetaIO silent(path);
  reading(path, [&] {
    io->ReadImageInformation();
    return 0;
  });
  return io;
}

// ITK allows a negative spacing; ours is positive and the axis turned instead.
Geometry geometry_of(const fs::path& path, const itk::ImageIOBase& io) {
  Geometry geometry;
  const unsigned dimensions = std::min(3U, io.GetNumberOfDimensions());
  geometry.size = {1, 1, 1};
  for (unsigned axis = 0; axis < dimensions; ++axis) {
    geometry.size[axis] = static_cast<std::int64_t>(io.GetDimensions(axis));
    geometry.origin[axis] = io.GetOrigin(axis);
    const double spacing = io.GetSpacing(axis);
    geometry.spacing[axis] = std::fabs(spacing);
    const std::vector<double> direction = io.GetDirection(axis);
    for (unsigned row = 0; row < 3; ++row) {
      const double cosine = row < direction.size() ? direction[row] : (row == axis ? 1.0 : 0.0);
      geometry.direction[row * 3 + axis] = spacing < 0 ? -cosine : cosine;
    }
    if (geometry.size[axis] < 1 || !std::isfinite(spacing) || spacing == 0 ||
        !std::isfinite(geometry.origin[axis])) {
      fail(Exit::bad_data, "{}: its header gives axis {} {} voxels of {} mm at {}", path.string(), axis,
           geometry.size[axis], spacing, geometry.origin[axis]);
    }
  }
  return geometry;
}

// Axes beyond the third, and the components of a voxel, both count as volumes.
std::int64_t volumes_of(const itk::ImageIOBase& io) {
  std::int64_t volumes = io.GetNumberOfComponents();
  for (unsigned axis = 3; axis < io.GetNumberOfDimensions(); ++axis) {
    volumes *= static_cast<std::int64_t>(io.GetDimensions(axis));
  }
  return volumes;
}

std::vector<char> read_buffer(const fs::path& path, itk::ImageIOBase& io) {
  const SilentMetaIO silent(path);
  return reading(path, [&] {
    const unsigned dimensions = io.GetNumberOfDimensions();
    itk::ImageIORegion region(dimensions);
    for (unsigned axis = 0; axis < dimensions; ++axis) region.SetSize(axis, io.GetDimensions(axis));
    io.SetIORegion(region);
    const auto bytes = static_cast<std::size_t>(io.GetImageSizeInBytes());
    std::error_code ignored;
    if (has_extension(path, {".mha"}) && !io.GetUseCompression() && fs::file_size(path, ignored) < bytes) {
      fail(Exit::bad_data, "{}: is truncated: {} bytes of voxels expected. Fetch or copy the file again",
           path.string(), bytes);
    }
    std::vector<char> buffer(bytes);
    io.Read(buffer.data());
    return buffer;
  });
}

// One volume of the buffer as float. Components of a voxel lie side by side in it, further axes lie
// outermost.
template <class T>
void convert(const std::vector<char>& buffer, std::int64_t volume, std::int64_t components,
             std::vector<float>& voxels) {
  const T* values =
      reinterpret_cast<const T*>(buffer.data()) +
      static_cast<std::size_t>(volume / components) * voxels.size() * static_cast<std::size_t>(components) +
      volume % components;
  for (std::size_t i = 0; i < voxels.size(); ++i) {
    voxels[i] = static_cast<float>(values[i * static_cast<std::size_t>(components)]);
  }
}

void convert(const fs::path& path, const itk::ImageIOBase& io, const std::vector<char>& buffer,
             std::int64_t volume, std::vector<float>& voxels) {
  const std::int64_t components = io.GetNumberOfComponents();
  switch (io.GetComponentType()) {
    case itk::IOComponentEnum::UCHAR:
      return convert<unsigned char>(buffer, volume, components, voxels);
    case itk::IOComponentEnum::CHAR:
      return convert<signed char>(buffer, volume, components, voxels);
    case itk::IOComponentEnum::USHORT:
      return convert<unsigned short>(buffer, volume, components, voxels);
    case itk::IOComponentEnum::SHORT:
      return convert<short>(buffer, volume, components, voxels);
    case itk::IOComponentEnum::UINT:
      return convert<unsigned int>(buffer, volume, components, voxels);
    case itk::IOComponentEnum::INT:
      return convert<int>(buffer, volume, components, voxels);
    case itk::IOComponentEnum::ULONG:
      return convert<unsigned long>(buffer, volume, components, voxels);
    case itk::IOComponentEnum::LONG:
      return convert<long>(buffer, volume, components, voxels);
    case itk::IOComponentEnum::ULONGLONG:
      return convert<unsigned long long>(buffer, volume, components, voxels);
    case itk::IOComponentEnum::LONGLONG:
      return convert<long long>(buffer, volume, components, voxels);
    case itk::IOComponentEnum::FLOAT:
      return convert<float>(buffer, volume, components, voxels);
    case itk::IOComponentEnum::DOUBLE:
      return convert<double>(buffer, volume, components, voxels);
    default:
      fail(Exit::bad_data, "{}: its voxels are of a type that is no number", path.string());
  }
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
