#include "data/formats/raster_writing.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <limits>

#include "data/volumes/picture.h"

namespace voxswap::data {

void write_raster_labels(const fs::path& path, const LabelMap& labels) {
  const Size3& size = labels.geometry.size;
  assert(size[2] == 1);
  const auto [low, high] = std::minmax_element(labels.voxels.begin(), labels.voxels.end());
  assert(low == labels.voxels.end() || *low >= 0);
  if (high == labels.voxels.end() || *high <= std::numeric_limits<std::uint8_t>::max())
    write_grey_png(path, size[0], size[1],
                   std::vector<std::uint8_t>(labels.voxels.begin(), labels.voxels.end()));
  else
    write_grey_png(path, size[0], size[1],
                   std::vector<std::uint16_t>(labels.voxels.begin(), labels.voxels.end()));
}

void write_raster_image(const fs::path& path, const std::vector<Image>& channels,
                        const std::vector<float>& white) {
  const Size3& size = channels.front().geometry.size;
  assert(size[2] == 1 && (channels.size() == 1 || channels.size() == 3) && white.size() == channels.size());
  std::vector<std::uint8_t> pixels(channels.front().voxels.size() * channels.size());
  for (std::size_t c = 0; c < channels.size(); ++c) {
    for (std::size_t i = 0; i < channels[c].voxels.size(); ++i) {
      const float part = std::clamp(channels[c].voxels[i] / white[c], 0.0F, 1.0F);
      pixels[i * channels.size() + c] = static_cast<std::uint8_t>(std::lround(255 * part));
    }
  }
  if (channels.size() == 1)
    write_grey_png(path, size[0], size[1], pixels);
  else
    write_png(path, size[0], size[1], pixels);
}

}  // namespace voxswap::data
