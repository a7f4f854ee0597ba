// Shared uses of ITK: its start, its raw buffers as our grids, and its exceptions as our messages.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/file.h"
#include "data/volumes/volume.h"

namespace itk {
class ImageIOBase;
}

namespace voxswap::data {

// Creates ITK's global objects. ITK 5.2 creates each on its first use, without a lock, so call this before
// any use of ITK. Takes no time when called again.
void start_itk();

// A lack of memory is not a damaged file: Exit::does_not_fit.
[[noreturn]] void no_memory_for(const fs::path& path);

// Runs `step` and converts exceptions of ITK into one message about the file (Exit::bad_data, or
// Exit::does_not_fit if memory was short).
void reading(const fs::path& path, const std::function<void()>& step);

// The first three axes. ITK allows negative spacings; here spacings are positive and the axis is flipped
// instead.
Geometry geometry_of(const fs::path& path, const itk::ImageIOBase& io);

std::vector<char> read_buffer(const fs::path& path, itk::ImageIOBase& io);

// One volume of the buffer as float; `voxels` has its size.
void convert(const fs::path& path, const itk::ImageIOBase& io, const std::vector<char>& buffer,
             std::int64_t volume, std::vector<float>& voxels);

}  // namespace voxswap::data
