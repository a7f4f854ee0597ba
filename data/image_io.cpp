// ITK's image readers and writers, used without its templates: the raw buffer is converted here, once, for
// every element type. Everything ITK has to say becomes one message of ours.
#include "data/image_io.h"

#include <itkMetaImageIO.h>
#include <itkNiftiImageIO.h>
#include <itkNrrdImageIO.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>

#include "base/error.h"
#include "base/file.h"
#include "data/completeness.h"

namespace voxswap {

namespace fs = std::filesystem;

namespace {

const char* const readable_formats = ".nii, .nii.gz, .nrrd, .nhdr, .mha, .mhd, .hdr and .img";
const char* const writable_formats = ".nii.gz, .nii, .nrrd and .mha";

bool has_extension(const fs::path& path, std::initializer_list<std::string_view> extensions) {
  const std::string name = lower(path.filename().string());
  return std::any_of(extensions.begin(), extensions.end(),
                     [&](auto extension) { return ends_with(name, extension); });
}

// The format is told by the name; null when it is none of ours. Explicit, because ITK's factories register
// themselves behind a library's back.
itk::ImageIOBase::Pointer io_for(const fs::path& path) {
  // Warnings of ITK go to stderr without a file name; what matters is checked here.
  itk::Object::GlobalWarningDisplayOff();
  itk::ImageIOBase::Pointer io;
  if (has_extension(path, {".nii", ".nii.gz", ".hdr", ".img", ".img.gz"})) io = itk::NiftiImageIO::New();
  if (has_extension(path, {".nrrd", ".nhdr"})) io = itk::NrrdImageIO::New();
  if (has_extension(path, {".mha", ".mhd"})) io = itk::MetaImageIO::New();
  return io;
}

// What an exception of ITK says, without its decoration ("ITK ERROR: NiftiImageIO(0x55…): …") and in one
// line.
std::string plain(const itk::ExceptionObject& error) {
  std::string text = error.GetDescription();
  if (const auto at = text.find("): "); text.starts_with("ITK ERROR") && at != std::string::npos) {
    text = text.substr(at + 3);
  }
  std::replace(text.begin(), text.end(), '\n', ' ');
  return trim(text);
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
    fail_unreadable(path, plain(error));
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    fail_unreadable(path, "its header asks for more memory than there is");
  } catch (const std::exception& error) {
    fail_unreadable(path, error.what());
  }
}

itk::ImageIOBase::Pointer open_header(const fs::path& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) fail(Exit::bad_data, "{}: no such file", path.string());
  if (fs::is_directory(path, ignored))
    fail(Exit::bad_data, "{}: is a directory, not an image", path.string());
  itk::ImageIOBase::Pointer io = io_for(path);
  if (!io) fail(Exit::bad_data, "{}: unknown image format; known are {}", path.string(), readable_formats);
  io->SetFileName(path.string());
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
int volumes_of(const itk::ImageIOBase& io) {
  std::int64_t volumes = io.GetNumberOfComponents();
  for (unsigned axis = 3; axis < io.GetNumberOfDimensions(); ++axis) {
    volumes *= static_cast<std::int64_t>(io.GetDimensions(axis));
  }
  return static_cast<int>(volumes);
}

std::vector<char> read_buffer(const fs::path& path, itk::ImageIOBase& io) {
  if (const std::string trouble = incomplete(path); !trouble.empty()) {
    fail(Exit::bad_data, "{}: {}. Fetch or copy the file again", path.string(), trouble);
  }
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
void convert(const std::vector<char>& buffer, int volume, int components, std::vector<float>& voxels) {
  const T* values =
      reinterpret_cast<const T*>(buffer.data()) +
      static_cast<std::size_t>(volume / components) * voxels.size() * static_cast<std::size_t>(components) +
      volume % components;
  for (std::size_t i = 0; i < voxels.size(); ++i) {
    voxels[i] = static_cast<float>(values[i * static_cast<std::size_t>(components)]);
  }
}

void convert(const fs::path& path, const itk::ImageIOBase& io, const std::vector<char>& buffer, int volume,
             std::vector<float>& voxels) {
  const int components = static_cast<int>(io.GetNumberOfComponents());
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

}  // namespace

Geometry read_geometry(const fs::path& path) {
  return geometry_of(path, *open_header(path));
}

int count_volumes(const fs::path& path) {
  return volumes_of(*open_header(path));
}

std::vector<Image> read_images(const fs::path& path) {
  const itk::ImageIOBase::Pointer io = open_header(path);
  const Geometry geometry = geometry_of(path, *io);
  const std::vector<char> buffer = read_buffer(path, *io);
  std::vector<Image> images(static_cast<std::size_t>(volumes_of(*io)));
  for (std::size_t volume = 0; volume < images.size(); ++volume) {
    images[volume].geometry = geometry;
    images[volume].voxels.resize(static_cast<std::size_t>(geometry.count()));
    convert(path, *io, buffer, static_cast<int>(volume), images[volume].voxels);
  }
  return images;
}

Image read_image(const fs::path& path, int component) {
  const itk::ImageIOBase::Pointer io = open_header(path);
  const int volumes = volumes_of(*io);
  if (component < 0 && volumes != 1) {
    fail(Exit::bad_data, "{}: holds {} volumes where one 3D image was expected", path.string(), volumes);
  }
  if (component >= volumes) {
    fail(Exit::bad_data, "{}: holds {} volumes, but number {} (counted from 0) was asked for", path.string(),
         volumes, component);
  }
  Image image;
  image.geometry = geometry_of(path, *io);
  const std::vector<char> buffer = read_buffer(path, *io);
  image.voxels.resize(static_cast<std::size_t>(image.geometry.count()));
  convert(path, *io, buffer, std::max(component, 0), image.voxels);
  return image;
}

LabelMap read_label_map(const fs::path& path) {
  const Image image = read_image(path);
  LabelMap labels;
  labels.geometry = image.geometry;
  labels.voxels.resize(image.voxels.size());
  for (std::size_t i = 0; i < image.voxels.size(); ++i) {
    const float value = image.voxels[i], whole = std::round(value);
    if (!(std::fabs(value - whole) <= 1e-3F) || std::fabs(whole) > std::numeric_limits<std::int16_t>::max()) {
      fail(Exit::bad_data,
           "{}: voxel value {} is no label: a label map holds small whole numbers. Is it an image?",
           path.string(), number(value));
    }
    labels.voxels[i] = static_cast<std::int16_t>(whole);
  }
  return labels;
}

namespace {

// Writes voxels of one element type; `volumes` > 0 makes it 4D.
void write_voxels(const fs::path& path, const Geometry& geometry, itk::IOComponentEnum type,
                  std::size_t element_bytes, const void* voxels, std::size_t volumes) {
  if (!has_extension(path, {".nii.gz", ".nii", ".nrrd", ".mha"})) {
    fail(Exit::usage, "{}: cannot write this format; name it with one of {}", path.string(),
         writable_formats);
  }
  const unsigned dimensions = volumes > 0 ? 4 : 3;
  const itk::ImageIOBase::Pointer io = io_for(path);
  io->SetNumberOfDimensions(dimensions);
  io->SetComponentType(type);
  io->SetPixelType(itk::IOPixelEnum::SCALAR);
  io->SetNumberOfComponents(1);
  io->SetUseCompression(!has_extension(path, {".nii"}));
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
  const std::size_t bytes =
      static_cast<std::size_t>(geometry.count()) * std::max<std::size_t>(volumes, 1) * element_bytes;
  write_through(path, [&](const fs::path& temporary) {
    try {
      io->SetFileName(temporary.string());
      io->WriteImageInformation();
      io->Write(voxels);
    } catch (const itk::ExceptionObject& error) {
      fail(Exit::failed, "{}: cannot be written: {}. Does the folder exist, may it be written to?",
           path.string(), plain(error));
    }
    std::error_code missing;
    const auto written = fs::file_size(temporary, missing);
    // A full disk is no error to these libraries, so what was written is looked at.
    if (missing)
      fail(Exit::failed, "{}: cannot be written: is the folder there and writable?", path.string());
    if (!incomplete(temporary).empty() || (!io->GetUseCompression() && written < bytes)) {
      fail(Exit::does_not_fit, "{}: only a part could be written: the disk seems to be full. Free some space",
           path.string());
    }
  });
}

}  // namespace

void write_image(const fs::path& path, const Image& image) {
  write_voxels(path, image.geometry, itk::IOComponentEnum::FLOAT, sizeof(float), image.voxels.data(), 0);
}

void write_label_map(const fs::path& path, const LabelMap& labels) {
  const auto [low, high] = std::minmax_element(labels.voxels.begin(), labels.voxels.end());
  if (low != labels.voxels.end() && (*low < 0 || *high > 255)) {
    write_voxels(path, labels.geometry, itk::IOComponentEnum::SHORT, sizeof(std::int16_t),
                 labels.voxels.data(), 0);
    return;
  }
  const std::vector<std::uint8_t> bytes(labels.voxels.begin(), labels.voxels.end());
  write_voxels(path, labels.geometry, itk::IOComponentEnum::UCHAR, 1, bytes.data(), 0);
}

void write_images_4d(const fs::path& path, const std::vector<Image>& images) {
  if (images.empty()) fail(Exit::failed, "{}: no images to write", path.string());
  std::vector<float> voxels;
  voxels.reserve(images.size() * images.front().voxels.size());
  for (const Image& image : images) voxels.insert(voxels.end(), image.voxels.begin(), image.voxels.end());
  write_voxels(path, images.front().geometry, itk::IOComponentEnum::FLOAT, sizeof(float), voxels.data(),
               images.size());
}

}  // namespace voxswap
