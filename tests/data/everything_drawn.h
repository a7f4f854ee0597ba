// Options of augmentation that draw every change often.
#pragma once

#include "data/augment/augment.h"

namespace voxswap::data {

inline AugmentOptions everything() {
  AugmentOptions options = nnunet_augmentation();
  options.scale = 0.25;
  options.intensity = 0.1;
  options.elastic = {1, 3, 1};
  options.elastic_grid = 8;
  for (Draw* draw : {&options.rotation, &options.zoom, &options.noise, &options.blur, &options.brightness,
                     &options.contrast, &options.low_resolution, &options.inverted_gamma, &options.gamma})
    draw->probability = 0.7;
  return options;
}

}  // namespace voxswap::data
