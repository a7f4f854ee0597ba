#include "pipeline/predict/predictor.h"

#include "base/error.h"
#include "base/float16.h"
#include "base/keys.h"
#include "base/log.h"
#include "net/networks/networks.h"
#include "pipeline/cases/cases.h"
#include "pipeline/cases/patches.h"
#include "pipeline/report/tables.h"

namespace voxswap::pipeline {

namespace {

// The run with its input size replaced by the requested window.
Experiment with_window(Experiment experiment, const PredictOptions& how) {
  if (net::classifies_images(experiment.network.name) && how.window)
    fail(Exit::usage, "--window: {} predicts one class per image, from the whole of it. Leave it out",
         experiment.network.name);
  if (how.whole) experiment.training.patch.reset();
  if (how.window) experiment.training.patch = how.window;
  if (how.window && net::takes_images(experiment.network.name)) (*experiment.training.patch)[2] = 1;
  const net::Along multiples = net::side_multiples(experiment.network);
  const Size3 window = input_size(experiment);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (window[axis] % multiples[axis] != 0)
      fail(Exit::usage, "--window: {} voxels do not fit the network. Each side must be a multiple of {}",
           resolution_text(window), net::side_multiples_text(experiment.network));
    if (!experiment.preprocess.by_spacing() && window[axis] > experiment.preprocess.resolution[axis])
      fail(Exit::usage, "--window: {} voxels exceed the prepared volume ({})", resolution_text(window),
           resolution_text(experiment.preprocess.resolution));
  }
  return experiment;
}

void check_raw_weights(const Experiment& experiment, const PredictOptions& how) {
  if (how.raw_weights && experiment.training.averaging.name == Averaging::none)
    fail(Exit::usage,
         "--raw-weights: this run has no averaged weights ({} is none), so its weights are raw already. "
         "Leave it out",
         key::training_averaging_name);
}

// The keys that determine a run's network and its input size.
std::vector<std::string> network_keys(const TrainedRun& run) {
  std::vector<std::string> values;
  for (const Setting& setting : run.settings)
    if (setting.key == key::training_patch ||
        (setting.key.starts_with(key::network_section) && setting.key != key::network_init))
      values.push_back(setting.key + " " + setting.value);
  const Experiment& experiment = run.experiment;
  if (!experiment.training.patch) values.push_back(resolution_text(experiment.preprocess.resolution));
  return values;
}

}  // namespace

// Mirrored prediction is only meaningful along axes that were mirrored in training.
std::array<bool, 3> axes_to_mirror(const Experiment& experiment, const PredictOptions& how) {
  if (!how.mirror && !experiment.evaluate.tta) return {};
  std::array<bool, 3> axes = data::mirrored_axes(experiment.training.augment);
  axes[2] = axes[2] && input_size(experiment)[2] > 1;  // a 2D image has no depth axis to mirror
  if (axes == std::array<bool, 3>{})
    fail(Exit::usage,
         "--tta: this run was trained without mirroring ({} is false, flip is 0), so predictions of mirrored "
         "images are unreliable. Leave --tta out",
         key::training_augment_symmetries);
  std::string names;
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (axes[axis]) names += std::string(names.empty() ? "" : ", ") + "xyz"[axis];
  log::info("predictions are averaged over inputs mirrored along {}, as in training", names);
  return axes;
}

struct Predictor::Network {
  Network(const TrainedRun& run, std::int64_t channels, std::int64_t outputs, const PredictOptions& how,
          const RankGroups& ranks)
      : given(run),
        experiment(with_window(run.experiment, how)),
        inference{input_size(experiment),          how.overlap,
                  axes_to_mirror(experiment, how), net::classifies_images(experiment.network.name),
                  ranks.all().is_alone(),          experiment.evaluate.average == Average::nnunet},
        session(experiment, {ranks}, {channels, outputs}, Session::Purpose::inference) {}

  void load(const BestWeights& weights) {
    if (loaded == weights.where) return;
    session.load(weights.checkpoint, weights.where, false);
    loaded = weights.where;
  }

  TrainedRun given;
  Experiment experiment;  // with the window used for prediction
  InferenceOptions inference;
  Session session;
  std::string loaded;  // path of the weights it has loaded
};

Predictor::Predictor(const TrainedRun& run, const data::Dataset& dataset, const PredictOptions& how,
                     const RankGroups& ranks)
    : how_(how), ranks_(ranks), dataset_(dataset), outputs_(output_count(dataset, run.experiment.training)) {
  network_of(run);
  check_raw_weights(run.experiment, how);
}

Predictor::~Predictor() = default;

Predictor::Network& Predictor::network_of(const TrainedRun& run) {
  for (const auto& one : networks_)
    if (network_keys(one->given) == network_keys(run)) return *one;
  for (const auto& one : networks_)
    one->session.allocate();  // allocate first, so that the next network sees the remaining memory
  networks_.push_back(std::make_unique<Network>(run, static_cast<std::int64_t>(dataset_.modalities.size()),
                                                outputs_, how_, ranks_));
  return *networks_.back();
}

void Predictor::use(const std::vector<std::int64_t>& repeats) {
  std::vector<Member> members;
  for (const std::int64_t repeat : repeats) members.push_back({&networks_.front()->given, repeat});
  use_members(members);
}

void Predictor::use_members(const std::vector<Member>& members) {
  members_.clear();
  for (const auto& one : networks_) one->loaded.clear();
  for (const Member& member : members)
    members_.push_back(
        {best_weights(*member.run, dataset_, member.repeat, how_.raw_weights), &network_of(*member.run)});
  for (const Loaded& member : members_) log::debug("predicting with {}", member.weights.where);
  members_.front().network->load(members_.front().weights);
}

void Predictor::predict(const Loaded& member, const data::PreparedCase& prepared, const TakePlanes& take) {
  Network& network = *member.network;
  network.load(member.weights);
  const VoxelBox all = network_box(prepared.size, network.experiment);
  const data::NormalizedCase normal = data::normalize(
      cut_case(prepared, all),
      data::normalization_for(prepared, network.experiment.preprocess, member.weights.normalization));
  if (all.size == prepared.size || network.inference.of_images)
    return infer(network.session, normal, outputs_, network.inference, take);
  infer(network.session, normal, outputs_, network.inference,
        planes_of(without_padding(all, prepared.size), all.size, outputs_, take));
}

void Predictor::predict(const data::PreparedCase& prepared, const TakePlanes& take) {
  if (members_.size() == 1) return predict(members_.front(), prepared, take);
  const bool half = members_.front().network->inference.as_nnunet;  // nnU-Net's sums are
  const auto kept = [half](float value) { return half ? from_float16(to_float16(value)) : value; };
  std::vector<float> sum;
  for (const Loaded& member : members_) {
    std::size_t at = 0;
    const bool is_first = &member == &members_.front();
    predict(member, prepared, [&](std::span<const float> planes) {
      if (is_first) return void(sum.insert(sum.end(), planes.begin(), planes.end()));
      for (const float value : planes) {
        sum[at] = kept(sum[at] + value);
        ++at;
      }
    });
  }
  for (float& value : sum) value = kept(value / static_cast<float>(members_.size()));
  take(sum);
}

std::vector<float> Predictor::probabilities(const data::PreparedCase& prepared) {
  std::vector<float> whole;
  predict(prepared,
          [&](std::span<const float> planes) { whole.insert(whole.end(), planes.begin(), planes.end()); });
  return whole;
}

std::vector<float> Predictor::probabilities(const data::PreparedCase& prepared, std::size_t member) {
  std::vector<float> whole;
  predict(members_[member], prepared,
          [&](std::span<const float> planes) { whole.insert(whole.end(), planes.begin(), planes.end()); });
  return whole;
}

}  // namespace voxswap::pipeline
