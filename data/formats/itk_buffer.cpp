#include "data/formats/itk_buffer.h"

#include <itkMetaImageIO.h>

#include <cmath>
#include <new>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "data/formats/formats.h"

namespace voxswap::data {

namespace {

[[noreturn]] void fail_unreadable(const fs::path& path, const std::string& why) {
  fail(Exit::bad_data,
       "{}: cannot be read as an image: {}. Check that it is complete and has the right format",
       path.string(), why);
}

// One volume of the buffer as float. The components of a voxel are adjacent, further axes are outermost.
template <class T>
void convert_as(const std::vector<char>& buffer, std::int64_t volume, std::int64_t components,
                std::vector<float>& voxels) {
  const T* values =
      reinterpret_cast<const T*>(buffer.data()) +
      static_cast<std::size_t>(volume / components) * voxels.size() * static_cast<std::size_t>(components) +
      volume % components;
  for (std::size_t i = 0; i < voxels.size(); ++i) {
    voxels[i] = static_cast<float>(values[i * static_cast<std::size_t>(components)]);
  }
}

}  // namespace

void start_itk() {
  static const bool started = [] {
    // ITK prints warnings to stderr without a file name; the relevant checks are made here.
    itk::Object::GlobalWarningDisplayOff();
    itk::MetaImageIO::New();  // with the factories of all objects, time stamps and its own precision
    return true;
  }();
  static_cast<void>(started);
}

void no_memory_for(const fs::path& path) {
  fail(Exit::does_not_fit,
       "{}: not enough memory to read it. Free some memory; the file itself may be intact", path.string());
}

void reading(const fs::path& path, const std::function<void()>& step) {
  start_itk();
  try {
    step();
  } catch (const itk::MemoryAllocationError&) {
    no_memory_for(path);
  } catch (const itk::ExceptionObject& error) {
    fail_unreadable(path, plain_message(error.GetDescription()));
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    no_memory_for(path);
  } catch (const std::exception& error) {
    fail_unreadable(path, error.what());
  }
}

// ITK allows negative spacings; here spacings are positive and the axis is flipped instead.
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
      fail(Exit::bad_data, "{}: its header gives axis {} with {} of {} mm, starting at {} mm", path.string(),
           axis, counted(geometry.size[axis], "voxel"), spacing, geometry.origin[axis]);
    }
  }
  return geometry;
}

std::vector<char> read_buffer(const fs::path& path, itk::ImageIOBase& io) {
  std::vector<char> buffer;
  reading(path, [&] {
    const unsigned dimensions = io.GetNumberOfDimensions();
    itk::ImageIORegion region(dimensions);
    for (unsigned axis = 0; axis < dimensions; ++axis) region.SetSize(axis, io.GetDimensions(axis));
    io.SetIORegion(region);
    buffer.resize(static_cast<std::size_t>(io.GetImageSizeInBytes()));
    io.Read(buffer.data());
  });
  return buffer;
}

void convert(const fs::path& path, const itk::ImageIOBase& io, const std::vector<char>& buffer,
             std::int64_t volume, std::vector<float>& voxels) {
  const std::int64_t components = io.GetNumberOfComponents();
  switch (io.GetComponentType()) {
    case itk::IOComponentEnum::UCHAR:
      return convert_as<unsigned char>(buffer, volume, components, voxels);
    case itk::IOComponentEnum::CHAR:
      return convert_as<signed char>(buffer, volume, components, voxels);
    case itk::IOComponentEnum::USHORT:
      return convert_as<unsigned short>(buffer, volume, components, voxels);
    case itk::IOComponentEnum::SHORT:
      return convert_as<short>(buffer, volume, components, voxels);
    case itk::IOComponentEnum::UINT:
      return convert_as<unsigned int>(buffer, volume, components, voxels);
    case itk::IOComponentEnum::INT:
      return convert_as<int>(buffer, volume, components, voxels);
    case itk::IOComponentEnum::ULONG:
      return convert_as<unsigned long>(buffer, volume, components, voxels);
    case itk::IOComponentEnum::LONG:
      return convert_as<long>(buffer, volume, components, voxels);
    case itk::IOComponentEnum::ULONGLONG:
      return convert_as<unsigned long long>(buffer, volume, components, voxels);
    case itk::IOComponentEnum::LONGLONG:
      return convert_as<long long>(buffer, volume, components, voxels);
    case itk::IOComponentEnum::FLOAT:
      return convert_as<float>(buffer, volume, components, voxels);
    case itk::IOComponentEnum::DOUBLE:
      return convert_as<double>(buffer, volume, components, voxels);
    default:
      fail(Exit::bad_data, "{}: its voxel type is not a number", path.string());
  }
}

}  // namespace voxswap::data
