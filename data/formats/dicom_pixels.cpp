// The pixels of a DICOM slice, uncompressed or as run lengths. Other compressed pixels are decompressed in
// another process (data/decoders).
#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

#include "base/error.h"
#include "base/text.h"
#include "data/formats/dicom_slice.h"
#include "data/formats/file_bytes.h"
#include "data/formats/voxel_bytes.h"

namespace voxswap::data {

namespace {

// Tags from DICOM part 6.
constexpr std::uint32_t rescale_intercept = 0x00281052, rescale_slope = 0x00281053;
// The compressed transfer syntax that is decoded without third-party code.
constexpr const char* run_lengths = "1.2.840.10008.1.2.5";

double rescaling(const DicomSlice& slice, std::uint32_t tag, double otherwise) {
  const std::vector<double> values = slice.elements.numbers(tag);
  return values.size() == 1 && std::isfinite(values[0]) ? values[0] : otherwise;
}

// Shifts the stored bits to the bottom and extends the sign.
template <class T>
void keep_stored_bits(std::string& bytes, bool swapped, int shift, int bits) {
  constexpr int width = static_cast<int>(8 * sizeof(T));
  if (bits == width) return;
  for (std::size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
    std::make_unsigned_t<T> value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      const std::size_t place =
          swapped == (std::endian::native == std::endian::little) ? i : sizeof(T) - 1 - i;
      value =
          static_cast<std::make_unsigned_t<T>>((value << 8) | static_cast<unsigned char>(bytes[at + place]));
    }
    const int up = width - shift - bits;
    const T kept =
        static_cast<T>(static_cast<T>(static_cast<std::make_unsigned_t<T>>(value << up)) >> (width - bits));
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      const std::size_t place =
          swapped == (std::endian::native == std::endian::little) ? sizeof(T) - 1 - i : i;
      bytes[at + place] = static_cast<char>(static_cast<std::make_unsigned_t<T>>(kept) >> (8 * i) & 0xff);
    }
  }
}

void keep_stored_bits(std::string& bytes, const DicomSlice& slice) {
  const bool swapped = slice.elements.big_endian == (std::endian::native == std::endian::little);
  const std::string& element = slice.element;
  if (element == "uint8") keep_stored_bits<std::uint8_t>(bytes, swapped, slice.shift, slice.bits);
  if (element == "int8") keep_stored_bits<std::int8_t>(bytes, swapped, slice.shift, slice.bits);
  if (element == "uint16") keep_stored_bits<std::uint16_t>(bytes, swapped, slice.shift, slice.bits);
  if (element == "int16") keep_stored_bits<std::int16_t>(bytes, swapped, slice.shift, slice.bits);
  if (element == "uint32") keep_stored_bits<std::uint32_t>(bytes, swapped, slice.shift, slice.bits);
  if (element == "int32") keep_stored_bits<std::int32_t>(bytes, swapped, slice.shift, slice.bits);
}

std::string bytes_at(const DicomSlice& slice, std::int64_t begin, std::int64_t count) {
  std::string bytes(static_cast<std::size_t>(count), '\0');
  FileBytes file(slice.path);
  file.seek(begin);
  if (!file.read(bytes.data(), count))
    refuse_file(slice.path, "is truncated: it became shorter while it was read");
  return bytes;
}

// Run-length decoding: each segment has one byte of every pixel, highest first (DICOM, part 5, G).
std::string unpacked_runs(const DicomSlice& slice, const std::string& stream) {
  const std::size_t promised = pixel_bytes(slice), planes = bytes_of_element(slice.element),
                    pixels = promised / planes;
  std::string bytes(promised, '\0');
  try {
    if (number_at(stream, 0, 4, false) != planes) cannot_unpack(slice);
    for (std::size_t plane = 0; plane < planes; ++plane) {
      std::size_t at = number_at(stream, 4 + 4 * plane, 4, false);
      for (std::size_t pixel = 0; pixel < pixels;) {
        const auto head = static_cast<signed char>(stream.at(at++));
        if (head == -128) continue;
        const std::size_t count = head < 0 ? 1U - head : 1U + head;
        if (count > pixels - pixel) cannot_unpack(slice);
        for (std::size_t i = 0; i < count; ++i)
          bytes[(pixel++) * planes + planes - 1 - plane] = stream.at(head < 0 ? at : at + i);
        at += head < 0 ? 1 : count;
      }
      const std::size_t end = plane + 1 < planes ? number_at(stream, 8 + 4 * plane, 4, false) : stream.size();
      for (; at < end; ++at)  // only padding may follow
        if (stream.at(at) != '\0' && stream.at(at) != '\x80') cannot_unpack(slice);
    }
  } catch (const std::out_of_range&) {
    cannot_unpack(slice);
  }
  return bytes;
}

}  // namespace

std::uint32_t number_at(const std::string& bytes, std::size_t at, std::size_t size, bool big_endian) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < size; ++i)
    value = value << 8 | static_cast<unsigned char>(bytes.at(at + (big_endian ? i : size - 1 - i)));
  return value;
}

void cannot_unpack(const DicomSlice& slice) {
  refuse_file(slice.path, format("is damaged: its compressed pixels (transfer syntax {}) cannot be "
                                 "decompressed. Fetch or copy the file again",
                                 slice.elements.syntax));
}

std::size_t pixel_bytes(const DicomSlice& slice) {
  return static_cast<std::size_t>(slice.geometry.count()) * bytes_of_element(slice.element);
}

std::vector<float> rescaled(const DicomSlice& slice, std::string bytes) {
  StoredVoxels stored;
  stored.element = slice.element;
  stored.slope = rescaling(slice, rescale_slope, 1);
  stored.intercept = rescaling(slice, rescale_intercept, 0);
  keep_stored_bits(bytes, slice);
  stored.bytes = bytes;
  stored.swapped = slice.elements.big_endian == (std::endian::native == std::endian::little);
  return decode(stored, static_cast<std::size_t>(slice.geometry.count()));
}

// The first item is an offset table. read_elements() has checked that all are complete.
std::string compressed_stream(const DicomSlice& slice) {
  const std::string fragments =
      bytes_at(slice, slice.elements.pixel_begin, slice.elements.pixel_end - slice.elements.pixel_begin);
  std::string stream;
  for (std::size_t at = 0, number = 0; at + 8 <= fragments.size(); ++number) {
    const std::uint32_t size = number_at(fragments, at + 4, 4, false);
    if (number > 0) stream.append(fragments, at + 8, size);
    at += 8 + size;
  }
  if (stream.size() % 2 == 1) stream += '\0';
  return stream;
}

bool needs_decoder(const DicomSlice& slice) {
  return slice.elements.pixel_length == DicomElements::in_fragments && slice.elements.syntax != run_lengths;
}

std::vector<float> slice_voxels(const DicomSlice& slice) {
  if (slice.elements.pixel_length == DicomElements::in_fragments)
    return rescaled(slice, unpacked_runs(slice, compressed_stream(slice)));
  return rescaled(slice,
                  bytes_at(slice, slice.elements.pixel_begin, static_cast<std::int64_t>(pixel_bytes(slice))));
}

}  // namespace voxswap::data
