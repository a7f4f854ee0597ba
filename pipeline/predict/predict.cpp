#include "pipeline/predict/predict.h"

#include <algorithm>
#include <numeric>

namespace voxswap::pipeline {

namespace {

// The voxels of a box take their places in a grid.
template <class T>
void place(const std::vector<T>& voxels, const data::Box& box, data::Grid<T>& whole) {
  auto row = voxels.begin();
  for (std::int64_t z = 0; z < box.size[2]; ++z) {
    for (std::int64_t y = 0; y < box.size[1]; ++y, row += box.size[0])
      std::copy(row, row + box.size[0], &whole.at(box.start[0], box.start[1] + y, box.start[2] + z));
  }
}

}  // namespace

LabelDecoder make_decoder(const data::Dataset& dataset, const TrainingOptions& training) {
  LabelDecoder decoder;
  if (training.targets != Targets::regions) {
    for (const std::vector<int>& value : output_classes(dataset, training)) {
      decoder.sequence.push_back(decoder.values.size());
      decoder.values.push_back(static_cast<std::int16_t>(value.front()));
    }
    if (decoder.values.front() == 0) decoder.least = 0;
    return decoder;
  }
  decoder.exclusive = false;
  const data::Regions& regions = dataset.regions;
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

void LabelDecoder::take(std::size_t channel, std::span<const float> probabilities, std::span<float> largest,
                        std::span<std::int16_t> labels) const {
  const std::int16_t value = values[channel];
  for (std::size_t v = 0; v < labels.size(); ++v) {
    const float p = probabilities[v];
    if (!exclusive) {
      if (p >= least) labels[v] = value;
    } else if (p > largest[v]) {
      largest[v] = p;
      if (p >= least) labels[v] = value;
    }
  }
}

std::vector<std::int16_t> LabelDecoder::decode(std::span<const float> probabilities) const {
  const std::size_t channels = values.size(), voxels = probabilities.size() / channels;
  std::vector<std::int16_t> labels(voxels);
  std::vector<float> largest(voxels), one(voxels);
  for (const std::size_t channel : sequence) {
    for (std::size_t v = 0; v < voxels; ++v) one[v] = probabilities[v * channels + channel];
    take(channel, one, largest, labels);
  }
  return labels;
}

std::string label_map_name(const data::Dataset& dataset, const std::string& id) {
  return id + (dataset.images ? ".png" : ".nii.gz");
}

ProbabilityMaps probability_maps(const data::PreparedCase& prepared, std::span<const float> probabilities) {
  const auto voxels = static_cast<std::size_t>(prepared.size[0] * prepared.size[1] * prepared.size[2]);
  ProbabilityMaps maps;
  maps.channels.assign(probabilities.size() / voxels, {prepared.training_geometry(), {}});
  for (std::size_t c = 0; c < maps.channels.size(); ++c) {
    std::vector<float>& map = maps.channels[c].voxels;
    map.resize(voxels);
    for (std::size_t v = 0; v < voxels; ++v) map[v] = probabilities[v * maps.channels.size() + c];
  }
  return maps;
}

// Labels are decided on the crop's own grid, where borders are finer than voxels.
Prediction decide(const ProbabilityMaps& maps, const data::PreparedCase& prepared,
                  const LabelDecoder& decoder) {
  Prediction prediction;
  prediction.on_training_grid.geometry = prepared.training_geometry();
  prediction.on_training_grid.voxels.resize(maps.channels.front().voxels.size());
  std::vector<float> largest(prediction.on_training_grid.voxels.size());
  for (const std::size_t c : decoder.sequence)
    decoder.take(c, maps.channels[c].voxels, largest, prediction.on_training_grid.voxels);

  const data::Box& box = prepared.box;
  const std::int64_t plane = box.size[0] * box.size[1];
  const std::int64_t planes_at_once = std::max<std::int64_t>(1, (std::int64_t{1} << 22) / plane);
  prediction.native.geometry = prepared.original;
  prediction.native.voxels.resize(static_cast<std::size_t>(prepared.original.count()));
  for (std::int64_t first = 0; first < box.size[2]; first += planes_at_once) {
    const std::int64_t planes = std::min(planes_at_once, box.size[2] - first);
    std::vector<std::int16_t> labels(static_cast<std::size_t>(planes * plane));
    largest.assign(labels.size(), 0);
    for (const std::size_t c : decoder.sequence)
      decoder.take(c, data::resample_linear_planes(maps.channels[c], box.size, first, planes).voxels, largest,
                   labels);
    place(labels, {{box.start[0], box.start[1], box.start[2] + first}, {box.size[0], box.size[1], planes}},
          prediction.native);
  }
  return prediction;
}

data::Image native_probability(const data::Image& channel, const data::PreparedCase& prepared) {
  data::Image whole{prepared.original,
                    std::vector<float>(static_cast<std::size_t>(prepared.original.count()))};
  place(data::resample_linear(channel, prepared.box.size).voxels, prepared.box, whole);
  return whole;
}

}  // namespace voxswap::pipeline
