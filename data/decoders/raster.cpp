// TIFF and JPEG through ITK's readers, without its templates; PNG through libpng. libjpeg fills the missing
// part of a truncated file with grey and reports success, so the end of the file is checked here.
#include "data/decoders/raster.h"

#include <itkJPEGImageIO.h>
#include <itkTIFFImageIO.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "data/formats/formats.h"
#include "data/formats/itk_buffer.h"

namespace voxswap::data {

namespace {

bool is_png(const fs::path& path) {
  return has_extension(path, {".png"});
}
bool is_jpeg(const fs::path& path) {
  return has_extension(path, {".jpg", ".jpeg"});
}

itk::ImageIOBase::Pointer io_for(const fs::path& path) {
  if (is_jpeg(path)) return itk::JPEGImageIO::New().GetPointer();
  return itk::TIFFImageIO::New().GetPointer();
}

// The image itself is the last scan of the file; thumbnails may precede it.
void check_end_of_jpeg(const fs::path& path) {
  const std::string bytes = read_file(path);
  const auto scan = bytes.rfind("\xff\xda");
  if (scan == std::string::npos || bytes.find("\xff\xd9", scan) == std::string::npos)
    fail(Exit::bad_data, "{}: cannot be read as an image: it ends early. Check that it is complete",
         path.string());
}

// The declared size is accepted only if the file could contain it at the highest possible compression.
void check_promise(const fs::path& path, const itk::ImageIOBase& io) {
  constexpr std::uintmax_t packed = 5000, least = 1 << 20;
  const auto promised = static_cast<std::uintmax_t>(io.GetImageSizeInBytes());
  const std::uintmax_t there = fs::file_size(path);
  if (promised / packed > there + least)
    fail(Exit::bad_data,
         "{}: its header declares {} of pixels, but the file has {}. Check that it is complete",
         path.string(), counted(promised, "byte"), there);
}

itk::ImageIOBase::Pointer open(const fs::path& path, RasterMeaning meaning) {
  static_cast<void>(open_file(path));          // its library opens it by name; this reports errors first
  if (is_jpeg(path)) check_end_of_jpeg(path);  // before libjpeg prints its own message
  const itk::ImageIOBase::Pointer io = io_for(path);
  reading(path, [&] {
    io->SetExpandRGBPalette(meaning == RasterMeaning::brightness);
    io->SetFileName(path.string());
    io->ReadImageInformation();
  });
  const unsigned dimensions = io->GetNumberOfDimensions();
  if (dimensions > 2 && io->GetDimensions(2) > 1)
    fail(Exit::bad_data, "{}: holds {}. Expected one image", path.string(),
         counted(io->GetDimensions(2), "page"));
  check_promise(path, *io);
  return io;
}

// With two or four components, the last one is alpha.
std::int64_t colours(const itk::ImageIOBase& io) {
  const std::int64_t components = io.GetNumberOfComponents();
  return components % 2 == 0 ? components - 1 : components;
}

Geometry plane_of(std::int64_t width, std::int64_t height) {
  Geometry geometry;
  geometry.size = {width, height, 1};
  return geometry;
}

RasterImage open_by_itk(const fs::path& path, RasterMeaning meaning) {
  const itk::ImageIOBase::Pointer io = open(path, meaning);
  const Geometry plane = plane_of(static_cast<std::int64_t>(io->GetDimensions(0)),
                                  static_cast<std::int64_t>(io->GetDimensions(1)));
  const auto read = [path, io, plane](const VolumeRange& wanted) {
    const std::vector<char> buffer = read_buffer(path, *io);
    std::vector<Image> images;
    for (std::int64_t colour = wanted.first; colour < wanted.first + wanted.count; ++colour) {
      Image image{plane, {}};
      image.voxels.resize(static_cast<std::size_t>(plane.count()));
      convert(path, *io, buffer, colour, image.voxels);
      images.push_back(std::move(image));
    }
    return images;
  };
  return {{plane, colours(*io), itk::ImageIOBase::GetComponentTypeAsString(io->GetComponentType()), {}},
          read};
}

template <class T>
Image channel_of(const PngPixels& pixels, std::int64_t channel) {
  Image image{plane_of(pixels.width, pixels.height), {}};
  const auto count = static_cast<std::size_t>(image.geometry.count()),
             channels = static_cast<std::size_t>(pixels.channels);
  image.voxels.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value,
                pixels.rows.data() + (i * channels + static_cast<std::size_t>(channel)) * sizeof value,
                sizeof value);
    image.voxels[i] = value;
  }
  return image;
}

RasterImage open_png(const fs::path& path, RasterMeaning meaning) {
  const PngPixels header = read_png(path, PngPart::header, meaning);
  const auto read = [=](const VolumeRange& wanted) {
    const PngPixels pixels = read_png(path, PngPart::pixels, meaning);
    std::vector<Image> images;
    for (std::int64_t c = wanted.first; c < std::min(wanted.first + wanted.count, pixels.channels); ++c)
      images.push_back(pixels.bytes == 2 ? channel_of<std::uint16_t>(pixels, c)
                                         : channel_of<std::uint8_t>(pixels, c));
    return images;
  };
  return {
      {plane_of(header.width, header.height), header.channels, header.bytes == 2 ? "uint16" : "uint8", {}},
      read};
}

}  // namespace

RasterImage open_raster(const fs::path& path, RasterMeaning meaning) {
  RasterImage image = is_png(path) ? open_png(path, meaning) : open_by_itk(path, meaning);
  if (meaning == RasterMeaning::numbers && image.header.volumes != 1)
    fail(Exit::bad_data,
         "{}: is a colour image, but a mask holds label numbers. Save it in greyscale or with a palette",
         path.string());
  return image;
}

}  // namespace voxswap::data
