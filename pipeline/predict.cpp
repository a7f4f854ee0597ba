#include "pipeline/predict.h"

#include <algorithm>
#include <numeric>

namespace voxswap {

LabelDecoder make_decoder(const Dataset& dataset, const std::string& targets) {
  LabelDecoder decoder;
  if (targets != "regions") {
    for (const auto& [name, value] : dataset.labels)
      decoder.values.push_back(static_cast<std::int16_t>(value));
    return decoder;
  }
  decoder.exclusive = false;
  const Regions& regions = dataset.regions;
  const auto contains = [&](std::size_t outer, int value) {
    return std::find(regions[outer].second.begin(), regions[outer].second.end(), value) !=
           regions[outer].second.end();
  };
  for (std::size_t i = 0; i < regions.size(); ++i) {
    std::vector<int> left = regions[i].second;
    for (std::size_t j = 0; j < regions.size(); ++j) {
      if (regions[j].second.size() < regions[i].second.size()) {
        std::erase_if(left, [&](int value) { return contains(j, value); });
      }
    }
    decoder.values.push_back(
        static_cast<std::int16_t>(left.empty() ? regions[i].second.front() : left.front()));
  }
  decoder.sequence.resize(regions.size());
  std::iota(decoder.sequence.begin(), decoder.sequence.end(), std::size_t{0});
  std::stable_sort(decoder.sequence.begin(), decoder.sequence.end(), [&](std::size_t a, std::size_t b) {
    return regions[a].second.size() > regions[b].second.size();
  });
  return decoder;
}

std::vector<std::int16_t> LabelDecoder::decode(std::span<const float> probabilities) const {
  const std::size_t channels = values.size(), voxels = probabilities.size() / channels;
  std::vector<std::int16_t> labels(voxels, 0);
  for (std::size_t v = 0; v < voxels; ++v) {
    const float* p = probabilities.data() + v * channels;
    if (exclusive) {
      const std::size_t best = static_cast<std::size_t>(std::max_element(p, p + channels) - p);
      if (p[best] >= 0.5f) labels[v] = values[best];
    } else {
      for (std::size_t channel : sequence) {
        if (p[channel] >= 0.5f) labels[v] = values[channel];
      }
    }
  }
  return labels;
}

Prediction predict_case(Session& session, const PreparedCase& prepared, const LabelDecoder& decoder) {
  const std::vector<float> probabilities = session.predict(prepared.image);
  const std::size_t channels = decoder.values.size();
  Prediction prediction;
  prediction.on_training_grid.geometry = prepared.training_geometry();
  prediction.on_training_grid.voxels = decoder.decode(probabilities);

  // A channel at a time onto the crop's own grid; labels are decided there, where borders are finer than
  // voxels.
  const std::size_t voxels =
      static_cast<std::size_t>(prepared.box.size[0] * prepared.box.size[1] * prepared.box.size[2]);
  std::vector<float> fine(voxels * channels);
  for (std::size_t c = 0; c < channels; ++c) {
    Image channel{prediction.on_training_grid.geometry, std::vector<float>(probabilities.size() / channels)};
    for (std::size_t v = 0; v < channel.voxels.size(); ++v)
      channel.voxels[v] = probabilities[v * channels + c];
    const Image resampled = resample_linear(channel, prepared.box.size);
    for (std::size_t v = 0; v < voxels; ++v) fine[v * channels + c] = resampled.voxels[v];
  }
  LabelMap on_box;
  on_box.geometry = prepared.original;
  on_box.geometry.size = prepared.box.size;
  on_box.voxels = decoder.decode(fine);
  prediction.native = restore(on_box, prepared.box, prepared.original);
  return prediction;
}

}  // namespace voxswap
