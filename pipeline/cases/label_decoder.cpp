#include "pipeline/cases/label_decoder.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "base/parallel.h"
#include "data/volumes/channel_loops.h"
#include "pipeline/cases/cases.h"

namespace voxswap::pipeline {

LabelDecoder make_decoder(const data::Dataset& dataset, const TrainingOptions& training) {
  LabelDecoder decoder;
  const std::vector<std::vector<int>> outputs = output_classes(dataset, training);
  decoder.nested = region_outputs(dataset, training);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    std::vector<int> left = outputs[i];
    for (std::size_t j = 0; j < decoder.nested && i < decoder.nested; ++j)
      if (outputs[j].size() < outputs[i].size()) {
        std::erase_if(left, [&](int value) {
          return std::find(outputs[j].begin(), outputs[j].end(), value) != outputs[j].end();
        });
      }
    decoder.values.push_back(static_cast<std::int16_t>(left.empty() ? outputs[i].front() : left.front()));
  }
  if (decoder.nested == 0 && decoder.values.front() == 0) decoder.least = 0;
  decoder.sequence.resize(outputs.size());
  std::iota(decoder.sequence.begin(), decoder.sequence.end(), std::size_t{0});
  const auto labels = decoder.sequence.begin() + static_cast<std::ptrdiff_t>(decoder.nested);
  std::stable_sort(decoder.sequence.begin(), labels,
                   [&](std::size_t a, std::size_t b) { return outputs[a].size() > outputs[b].size(); });
  return decoder;
}

LabelDecoder make_decoder(const data::Dataset& dataset, const Experiment& experiment) {
  LabelDecoder decoder = make_decoder(dataset, experiment.training);
  if (experiment.preprocess.recipe == data::Recipe::nnunet) decoder.spacing = experiment.preprocess.spacing;
  if (experiment.evaluate.average == Average::probabilities) return decoder;
  decoder.logits = true;
  decoder.softmax = net::loss_options(experiment.training.loss).classes;
  decoder.lowest = std::numeric_limits<float>::lowest();
  // nnU-Net's regions have a probability above 0.5.
  decoder.least = decoder.least > 0 ? std::numeric_limits<float>::denorm_min() : decoder.lowest;
  return decoder;
}

std::vector<float> probabilities_of(std::span<const float> values, const LabelDecoder& decoder) {
  std::vector<float> result(values.begin(), values.end());
  if (!decoder.logits) return result;
  if (!decoder.softmax) {
    for (float& value : result) value = 1 / (1 + std::exp(-value));
    return result;
  }
  const std::size_t channels = decoder.values.size();
  for (std::size_t v = 0; v < result.size(); v += channels) {
    const std::span<float> voxel = std::span(result).subspan(v, channels);
    const float most = *std::max_element(voxel.begin(), voxel.end());
    float sum = 0;
    for (float& value : voxel) sum += value = std::exp(value - most);
    for (float& value : voxel) value /= sum;
  }
  return result;
}

void LabelDecoder::decode_voxels(std::span<const float> probabilities, std::span<std::int16_t> labels) const {
  const std::size_t channels = values.size();
  const std::span regions = std::span(sequence).first(nested);
  for (std::int16_t& label : labels) {
    label = 0;
    for (const std::size_t channel : regions)
      if (probabilities[channel] >= least) label = values[channel];
    const data::Largest largest =
        data::largest_channel(probabilities.subspan(nested, channels - nested), lowest);
    if (largest.value > lowest && largest.value >= least) label = values[nested + largest.channel];
    probabilities = probabilities.subspan(channels);
  }
}

std::vector<std::int16_t> LabelDecoder::decode(std::span<const float> probabilities) const {
  const std::size_t channels = values.size();
  std::vector<std::int16_t> labels(probabilities.size() / channels);
  parallel_ranges(labels.size(), data::elements_per_thread / channels,
                  [&](std::size_t begin, std::size_t end) {
                    decode_voxels(probabilities.subspan(begin * channels, (end - begin) * channels),
                                  std::span(labels).subspan(begin, end - begin));
                  });
  return labels;
}

net::LabelOptions label_options(const Experiment& experiment, const data::Dataset& dataset) {
  if (dataset.classes || experiment.training.patch || experiment.preprocess.slices != data::Slices::none)
    return {};
  const LabelDecoder decoder = make_decoder(dataset, experiment.training);
  net::LabelOptions options;
  options.nested = static_cast<std::int64_t>(decoder.nested);
  options.least = static_cast<double>(decoder.least);
  options.channels.resize(2 * decoder.values.size());
  for (std::size_t i = 0; i < decoder.sequence.size(); ++i) {
    const std::size_t channel = decoder.sequence[i];
    options.channels[2 * channel] = static_cast<double>(decoder.values[channel]);
    options.channels[2 * channel + 1] = static_cast<double>(i);
  }
  std::set<int> values = {0};
  for (const auto& [name, value] : dataset.labels) values.insert(value);
  int other = 1;  // stands for labels of the ground truth that the data set does not name
  while (values.contains(other)) ++other;
  options.values.assign(values.begin(), values.end());
  options.values.push_back(static_cast<double>(other));
  options.probabilities = experiment.preprocess.by_spacing();
  return options;
}

LabelCounts::LabelCounts(const net::LabelOptions& labels, int ignore_label)
    : counted_(std::size_t{1} << 16, static_cast<std::int16_t>(labels.none() ? 0 : labels.values.back())) {
  for (const double value : labels.values) {
    values_.push_back(static_cast<std::int16_t>(value));
    counted_[static_cast<std::uint16_t>(values_.back())] = values_.back();
  }
  if (ignore_label != 0) counted_[static_cast<std::uint16_t>(ignore_label)] = -1;
}

std::vector<std::int16_t> LabelCounts::truth(const std::vector<std::int16_t>& truth, const Size3& size,
                                             const VoxelBox& box) const {
  std::vector<std::int16_t> result(static_cast<std::size_t>(voxels_in(box.size)), -1);
  auto from = truth.begin();
  for (std::int64_t z = 0; z < size[2]; ++z)
    for (std::int64_t y = 0; y < size[1]; ++y, from += size[0])
      std::transform(
          from, from + size[0],
          result.begin() + ((z - box.start[2]) * box.size[1] + y - box.start[1]) * box.size[0] - box.start[0],
          [&](std::int16_t label) { return counted_[static_cast<std::uint16_t>(label)]; });
  return result;
}

std::vector<metrics::LabelPair> LabelCounts::pairs(std::span<const double> confusion) const {
  std::vector<metrics::LabelPair> pairs;
  for (std::size_t i = 0; i < confusion.size(); ++i) {
    const std::int16_t truth = values_[i / values_.size()], label = values_[i % values_.size()];
    if (confusion[i] > 0 && (truth != 0 || label != 0))
      pairs.push_back({truth, label, static_cast<std::int64_t>(confusion[i]), {}});
  }
  return pairs;
}

}  // namespace voxswap::pipeline
