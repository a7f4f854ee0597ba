#include "pipeline/cases/random_cases.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "base/philox.h"
#include "base/progress.h"
#include "base/text.h"
#include "data/prepare/prepare.h"
#include "net/networks/networks.h"

namespace voxswap::pipeline {

namespace {

constexpr std::int64_t most_cases = 4, memory_for_cases = 512 << 20;

// The experiment without its data set's names and files.
Experiment without_files(Experiment experiment) {
  experiment.cache.clear();
  experiment.preprocess.bias_correction.clear();
  experiment.training.targets = Targets::labels;
  experiment.training.epochs = std::int64_t{1} << 31;  // a measurement ends before
  return experiment;
}

bool classifies(const Experiment& experiment) {
  return net::classifies_images(experiment.network.name);
}

// Labels of the ground truth: all outputs but the background of a loss of classes.
std::int64_t label_count(const Experiment& experiment, std::int64_t outputs) {
  const bool background = net::loss_options(experiment.training.loss).classes && !classifies(experiment);
  return background ? outputs - 1 : outputs;
}

std::int64_t case_count(const Experiment& experiment, std::int64_t channels) {
  const Size3& side = experiment.preprocess.resolution;
  return std::clamp<std::int64_t>(memory_for_cases / (voxels_in(side) * (4 * channels + 2)), 1, most_cases);
}

data::Dataset dataset_of(const Experiment& experiment, std::int64_t channels, std::int64_t outputs) {
  data::Dataset dataset;
  dataset.layout = "random";
  dataset.classes = classifies(experiment);
  dataset.images =
      net::takes_images(experiment.network.name) && experiment.preprocess.slices == data::Slices::none;
  for (std::int64_t c = 1; c <= channels; ++c) dataset.modalities.push_back(format("channel{}", c));
  const std::int64_t labels = label_count(experiment, outputs);
  for (int value = 1; value <= labels; ++value) dataset.labels.push_back({format("label{}", value), value});
  for (int i = 0; i < case_count(experiment, channels); ++i) {
    data::CaseFiles& files = dataset.cases.emplace_back();
    files.id = format("random{}", i + 1);
    if (dataset.classes) files.label = 1 + i % static_cast<int>(labels);
  }
  return dataset;
}

// Labels of blocks of 8^3 voxels, half of them background, since labels of a ground truth are in regions.
data::LabelMap random_labels(const data::Geometry& geometry, std::int64_t labels, const Philox& random) {
  constexpr std::int64_t side = 8;
  data::LabelMap map{geometry, std::vector<std::int16_t>(static_cast<std::size_t>(geometry.count()))};
  const Size3& size = geometry.size;
  const std::int64_t columns = (size[0] + side - 1) / side, rows = (size[1] + side - 1) / side;
  for (std::int64_t z = 0; z < size[2]; ++z)
    for (std::int64_t y = 0; y < size[1]; ++y)
      for (std::int64_t x = 0; x < size[0]; ++x) {
        const std::int64_t block = (z / side * rows + y / side) * columns + x / side;
        const std::int64_t drawn = random.word(static_cast<std::uint64_t>(block)) % (2 * labels + 2);
        // The first block has a label, so that every case has one.
        map.at(x, y, z) = static_cast<std::int16_t>(block == 0 ? std::min<std::int64_t>(labels, 1)
                                                               : (drawn <= labels ? drawn : 0));
      }
  return map;
}

data::PreparedCase random_case(const Experiment& experiment, const data::Dataset& dataset,
                               std::size_t number) {
  data::Volume volume;
  volume.id = dataset.cases[number].id;
  data::Geometry geometry;
  geometry.size = experiment.preprocess.resolution;
  if (experiment.preprocess.by_spacing())
    geometry.spacing = data::spacing_for(experiment.preprocess.spacing, geometry.spacing);
  const std::uint64_t seed = experiment.training.seed;
  for (std::size_t c = 0; c < dataset.modalities.size(); ++c) {
    const Philox random(seed, number, static_cast<std::uint32_t>(c));
    data::Image image{geometry, std::vector<float>(static_cast<std::size_t>(geometry.count()))};
    for (std::size_t i = 0; i < image.voxels.size(); ++i) image.voxels[i] = random.uniform(i);
    volume.channels.push_back(std::move(image));
  }
  if (!dataset.classes)
    volume.truth =
        random_labels(geometry, static_cast<std::int64_t>(dataset.labels.size()), {seed, number, 0x1abe1});
  data::PrepareOptions options;  // the volume is on the training grid already
  options.resolution = geometry.size;
  options.crop = data::Crop::none;
  return data::prepare(volume, options);
}

std::vector<std::size_t> all_of(const Cases& cases) {
  std::vector<std::size_t> all(cases.dataset().cases.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

std::unique_ptr<Cases> make_cases(const Experiment& experiment, std::int64_t channels, std::int64_t outputs) {
  const Doing doing("making random cases");
  auto cases = std::make_unique<Cases>(experiment, dataset_of(experiment, channels, outputs));
  const std::vector<std::size_t> all = all_of(*cases);
  for (const std::size_t i : all) cases->keep(i, random_case(experiment, cases->dataset(), i));
  cases->prepare_all(all, {});
  return cases;
}

EpochSampler sampler_of(const Experiment& experiment, Cases& cases) {
  const std::vector<std::size_t> all = all_of(cases);
  return {experiment, {}, experiment.training.seed, all, all.size(), cases.sample_counts(all)};
}

}  // namespace

std::vector<std::size_t> RandomCases::all() const {
  return all_of(*cases_);
}

RandomCases::RandomCases(const Experiment& experiment, std::int64_t channels, std::int64_t outputs)
    : cases_(make_cases(without_files(experiment), channels, outputs)),
      sampler_(sampler_of(without_files(experiment), *cases_)) {}

}  // namespace voxswap::pipeline
