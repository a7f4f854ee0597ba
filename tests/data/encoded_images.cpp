#include "tests/data/encoded_images.h"

#include <gdcmImageChangeTransferSyntax.h>
#include <gdcmImageReader.h>
#include <gdcmImageWriter.h>
#include <itkJPEGImageIO.h>
#include <itkTIFFImageIO.h>

#include <sstream>
#include <stdexcept>
#include <utility>

#include "data/volumes/picture.h"
#include "tests/data/dicom_bytes.h"

namespace voxswap::test {

namespace {

constexpr int columns = 24, rows = 20;

void write_compressed(const fs::path& path, gdcm::TransferSyntax::TSType syntax, int bits) {
  SliceBytes slice;
  slice.columns = columns;
  slice.rows = rows;
  slice.stored_bits = bits;
  std::istringstream plain(DicomBytes(slice).bytes());
  gdcm::ImageReader reader;
  reader.SetStream(plain);
  gdcm::ImageChangeTransferSyntax change;
  change.SetTransferSyntax(syntax);
  gdcm::ImageWriter writer;
  writer.SetFileName(path.c_str());
  if (!reader.Read()) throw std::runtime_error("GDCM cannot read the slice");
  change.SetInput(reader.GetImage());
  if (!change.Change()) throw std::runtime_error(path.string() + ": GDCM cannot compress the slice");
  writer.SetFile(reader.GetFile());
  writer.SetImage(change.GetOutput());
  if (!writer.Write()) throw std::runtime_error(path.string() + ": GDCM cannot write the slice");
}

void write_picture(const fs::path& path, itk::ImageIOBase& io, const std::vector<std::uint8_t>& pixels) {
  io.SetNumberOfDimensions(2);
  io.SetComponentType(itk::IOComponentEnum::UCHAR);
  io.SetPixelType(itk::IOPixelEnum::RGB);
  io.SetNumberOfComponents(3);
  itk::ImageIORegion region(2);
  for (unsigned axis = 0; axis < 2; ++axis) {
    const std::size_t extent = axis == 0 ? columns : rows;
    io.SetDimensions(axis, extent);
    region.SetSize(axis, extent);
  }
  io.SetIORegion(region);
  io.SetFileName(path.string());
  io.Write(pixels.data());
}

}  // namespace

std::vector<std::string> write_encoded_images(const fs::path& folder) {
  using Syntax = gdcm::TransferSyntax;
  std::vector<std::string> names;
  const auto path_of = [&](const char* name) { return folder / names.emplace_back(name); };
  write_compressed(path_of("jpeg_2000.dcm"), Syntax::JPEG2000Lossless, 16);
  write_compressed(path_of("jpeg_2000_lossy.dcm"), Syntax::JPEG2000, 16);
  write_compressed(path_of("jpeg_ls.dcm"), Syntax::JPEGLSLossless, 16);
  write_compressed(path_of("jpeg_lossless.dcm"), Syntax::JPEGLosslessProcess14_1, 16);
  write_compressed(path_of("jpeg_lossy.dcm"), Syntax::JPEGExtendedProcess2_4, 12);
  write_compressed(path_of("run_lengths.dcm"), Syntax::RLELossless, 16);
  std::vector<std::uint8_t> pixels(columns * rows * 3);
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::uint8_t>(i * 7 % 251);
  data::write_png(path_of("deflate.png"), columns, rows, pixels);
  write_picture(path_of("jpeg.jpg"), *itk::JPEGImageIO::New(), pixels);
  for (const auto& [name, how] : {std::pair{"plain.tif", ""}, std::pair{"packbits.tif", "PACKBITS"},
                                  std::pair{"deflate.tif", "DEFLATE"}, std::pair{"jpeg.tif", "JPEG"}}) {
    const auto io = itk::TIFFImageIO::New();
    io->SetUseCompression(*how != '\0');
    if (io->GetUseCompression()) io->SetCompressor(how);
    write_picture(path_of(name), *io, pixels);
  }
  return names;
}

}  // namespace voxswap::test
