#include "pipeline/train/validation_pictures.h"

#include "data/prepare/prepare.h"
#include "pipeline/report/slices.h"

namespace voxswap::pipeline {

namespace {

constexpr std::size_t most_cases = 3;

data::Image last_channel(const data::PreparedCase& prepared) {
  data::Image image{prepared.training_geometry(), {}};
  const auto channels = static_cast<std::size_t>(prepared.channels);
  image.voxels.reserve(prepared.image.size() / channels);
  for (std::size_t i = channels - 1; i < prepared.image.size(); i += channels)
    image.voxels.push_back(prepared.image[i]);
  return image;
}

}  // namespace

Look ValidationPictures::look() {
  return [this](const data::PreparedCase& prepared, std::vector<std::int16_t> truth,
                std::vector<std::int16_t> labels) {
    if (made_.size() == most_cases) return;
    const data::Image image = last_channel(prepared);
    const data::Geometry& grid = image.geometry;
    made_.emplace_back(prepared.id, slices_png({prepared.id,
                                                dataset_.modalities.back(),
                                                image,
                                                {grid, std::move(truth)},
                                                {grid, std::move(labels)},
                                                dataset_.regions,
                                                grid}));
  };
}

}  // namespace voxswap::pipeline
