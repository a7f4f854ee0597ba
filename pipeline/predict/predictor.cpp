#include "pipeline/predict/predictor.h"

#include "base/error.h"
#include "base/keys.h"
#include "base/log.h"
#include "net/networks/networks.h"
#include "pipeline/cases/cases.h"
#include "pipeline/cases/patches.h"
#include "pipeline/report/tables.h"

namespace voxswap::pipeline {

namespace {

// The run as if it had been trained with the window that is asked for.
RunOptions with_window(RunOptions options, const PredictOptions& how) {
  if (net::classifies_images(options.network.name) && how.window)
    fail(Exit::usage, "--window: {} predicts one class per image, from the whole of it. Leave it out",
         options.network.name);
  if (how.whole) options.training.patch.reset();
  if (how.window) options.training.patch = how.window;
  if (how.window && net::takes_images(options.network.name)) (*options.training.patch)[2] = 1;
  const net::Along multiples = net::side_multiples(options.network);
  const data::Size3 window = input_size(options);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (window[axis] % multiples[axis] != 0)
      fail(Exit::usage, "--window: {} voxels do not fit the network. Each side must be a multiple of {}",
           resolution_text(window), net::side_multiples_text(options.network));
    if (!options.preprocess.by_spacing() && window[axis] > options.preprocess.resolution[axis])
      fail(Exit::usage, "--window: {} voxels exceed the prepared volume ({})", resolution_text(window),
           resolution_text(options.preprocess.resolution));
  }
  return options;
}

void check_raw_weights(const RunOptions& options, const PredictOptions& how) {
  if (how.raw_weights && options.training.averaging.name == Averaging::none)
    fail(Exit::usage,
         "--raw-weights: this run has no averaged weights ({} is none), so its weights are raw already. "
         "Leave it out",
         key::training_averaging_name);
}

// A network knows nothing of mirrored volumes that it was never shown.
std::array<bool, 3> axes_to_mirror(const RunOptions& options, const PredictOptions& how) {
  if (!how.mirror) return {};
  std::array<bool, 3> axes = data::mirrored_axes(options.training.augment);
  axes[2] = axes[2] && input_size(options)[2] > 1;  // an image is the same from behind
  if (axes == std::array<bool, 3>{})
    fail(Exit::usage,
         "--tta: this run was trained without mirroring ({} is false, flip is 0), so predictions of mirrored "
         "images are unreliable. Leave --tta out",
         key::training_augment_symmetries);
  std::string names;
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (axes[axis]) names += std::string(names.empty() ? "" : ", ") + "xyz"[axis];
  log::info("--tta: mirroring along {}, as in training", names);
  return axes;
}

}  // namespace

Predictor::Predictor(const RunOptions& options, const data::Dataset& dataset, const PredictOptions& how)
    : options_(with_window(options, how)),
      given_(options),
      inference_{input_size(options_), how.overlap, axes_to_mirror(options_, how),
                 net::classifies_images(options.network.name)},
      dataset_(dataset),
      outputs_(output_count(dataset, options.training)),
      raw_weights_(how.raw_weights),
      session_(options_, static_cast<std::int64_t>(dataset.modalities.size()), outputs_,
               Session::Purpose::inference) {
  check_raw_weights(options, how);
}

void Predictor::use(const std::vector<std::int64_t>& repeats) {
  std::vector<Member> members;
  for (const std::int64_t repeat : repeats) members.push_back({&given_, repeat});
  use_members(members);
}

void Predictor::use_members(const std::vector<Member>& members) {
  members_.clear();
  for (const Member& member : members)
    members_.push_back(best_weights(*member.run, dataset_, member.repeat, raw_weights_));
  for (const BestWeights& member : members_) log::debug("predicting with {}", member.where);
  session_.load(members_.front().checkpoint, members_.front().where, false);
}

void Predictor::predict(const BestWeights& member, const data::PreparedCase& prepared,
                        const TakePlanes& take) {
  if (members_.size() > 1) session_.load(member.checkpoint, member.where, false);
  const data::Box all = network_box(prepared, options_);
  data::PreparedCase normal = cut_case(prepared, all);
  data::normalize(normal, data::normalization_for(prepared, options_.preprocess, member.normalization));
  if (all.size == prepared.size || inference_.of_images)
    return infer(session_, normal, outputs_, inference_, take);
  infer(session_, normal, outputs_, inference_,
        planes_of(without_padding(all, prepared.size), all.size, outputs_, take));
}

void Predictor::predict(const data::PreparedCase& prepared, const TakePlanes& take) {
  if (members_.size() == 1) return predict(members_.front(), prepared, take);
  std::vector<float> sum;
  for (const BestWeights& member : members_) {
    std::size_t at = 0;
    const bool is_first = &member == &members_.front();
    predict(member, prepared, [&](std::span<const float> planes) {
      if (is_first) return void(sum.insert(sum.end(), planes.begin(), planes.end()));
      for (const float value : planes) sum[at++] += value;
    });
  }
  for (float& value : sum) value /= static_cast<float>(members_.size());
  take(sum);
}

std::vector<float> Predictor::probabilities(const data::PreparedCase& prepared) {
  std::vector<float> whole;
  predict(prepared,
          [&](std::span<const float> planes) { whole.insert(whole.end(), planes.begin(), planes.end()); });
  return whole;
}

}  // namespace voxswap::pipeline
