// The layouts that phantoms can be written in.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/file.h"
#include "data/volumes/volume.h"

namespace voxswap::data {

struct PhantomOptions {
  fs::path out;
  int cases = 20;
  Size3 size{64, 64, 64};
  std::uint64_t seed = 1;
  std::string layout = "brats2021";  // a row of phantom_layouts()
};

struct PhantomLayout {
  std::string name;
  std::string looks_like;  // for help texts
  // The files of a case, relative to the data set's root.
  std::function<std::vector<fs::path>(const PhantomOptions& options, int index)> files;
  std::function<void(const fs::path& root, int index, const Volume& volume)> write_case;
  // dataset.json; empty if the layout has none.
  std::function<std::string(const PhantomOptions& options)> description;
  bool of_slices = false;  // one slice per subject instead of volumes
  bool of_ct = false;      // CT instead of the four sequences
};

// A subject as CT (phantom_ct.cpp).
Image hounsfield(const Volume& volume);

std::span<const PhantomLayout> phantom_layouts();
const PhantomLayout& phantom_layout(const std::string& name);  // throws Exit::usage for unknown ones

}  // namespace voxswap::data
