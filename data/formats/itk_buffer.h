// What DICOM reading and writing share of ITK: conversion of its raw buffers to our grids, and of its
// exceptions to our messages.
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

// A lack of memory is no damage: Exit::does_not_fit.
[[noreturn]] void no_memory_for(const fs::path& path);

// Runs `step`, turning whatever ITK throws into one message about the file (Exit::bad_data, or, where there
// was not the memory, Exit::does_not_fit).
void reading(const fs::path& path, const std::function<void()>& step);

// The first three axes. ITK allows a negative spacing; ours is positive and the axis turned instead.
Geometry geometry_of(const fs::path& path, const itk::ImageIOBase& io);

std::vector<char> read_buffer(const fs::path& path, itk::ImageIOBase& io);

// One volume of the buffer as float; `voxels` has its size.
void convert(const fs::path& path, const itk::ImageIOBase& io, const std::vector<char>& buffer,
             std::int64_t volume, std::vector<float>& voxels);

}  // namespace voxswap::data
