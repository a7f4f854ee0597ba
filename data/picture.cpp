#include "data/picture.h"

#include <itkPNGImageIO.h>

#include <cassert>

#include "base/error.h"
#include "base/file.h"

namespace voxswap {

void write_png(const std::filesystem::path& path, std::int64_t width, std::int64_t height,
               std::span<const std::uint8_t> rgb) {
  assert(width > 0 && height > 0 && rgb.size() == static_cast<std::size_t>(width * height * 3));
  write_through(path, [&](const std::filesystem::path& temporary) {
    // The image IO is used by itself: no factory has to be registered for it, and no image has to be built.
    const auto io = itk::PNGImageIO::New();
    io->SetFileName(temporary.string());
    io->SetNumberOfDimensions(2);
    io->SetDimensions(0, static_cast<unsigned>(width));
    io->SetDimensions(1, static_cast<unsigned>(height));
    io->SetPixelType(itk::IOPixelEnum::RGB);
    io->SetComponentType(itk::IOComponentEnum::UCHAR);
    io->SetNumberOfComponents(3);
    itk::ImageIORegion region(2);
    region.SetSize(0, static_cast<itk::ImageIORegion::SizeValueType>(width));
    region.SetSize(1, static_cast<itk::ImageIORegion::SizeValueType>(height));
    io->SetIORegion(region);
    io->SetUseCompression(true);
    io->SetCompressionLevel(9);
    try {
      io->Write(rgb.data());
    } catch (const itk::ExceptionObject& problem) {
      fail(Exit::failed, "{}: cannot write this picture: {}", path.string(), problem.GetDescription());
    }
  });
}

}  // namespace voxswap
