#include "pipeline/predict/predictor.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

#include "base/error.h"
#include "base/keys.h"
#include "base/log.h"
#include "base/shape.h"
#include "data/volumes/channel_loops.h"
#include "net/networks/networks.h"
#include "pipeline/cases/cases.h"
#include "pipeline/cases/patches.h"
#include "pipeline/cases/windows.h"
#include "pipeline/report/tables.h"

namespace voxswap::pipeline {

namespace {

constexpr std::int64_t decided_bytes = std::int64_t{64} << 20;  // bytes of a Decision (predict.h)

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
        session(experiment, {ranks}, {channels, outputs}, Session::Purpose::inference),
        given_channels(static_cast<std::size_t>(channels)) {}

  void load(const BestWeights& weights) {
    if (loaded == weights.where) return;
    session.load(weights.checkpoint, weights.where, false);
    loaded = weights.where;
  }

  // Time of a window of zeros with all that is done to its results: the shortest of three after a warm-up,
  // since other programs may slow one down, or fewer if they take long. `several`: windows of a larger
  // volume.
  double window_seconds(std::int64_t outputs, bool several) {
    if (measured_seconds) return *measured_seconds;
    constexpr double enough_seconds = 10;
    Size3 size = inference.window;
    if (several) size[2] *= 5;  // a layer has one window
    const auto zeros = [&](const VoxelBox& box) {
      return std::vector<float>(index(voxels_in(box.size)) * given_channels);
    };
    std::unique_ptr<Inference> one;
    double shortest = 0, spent = 0;
    for (int turn = 0; turn < 4 && spent < enough_seconds; ++turn) {
      Scratch scratch;
      if (!one || one->is_done())
        one = std::make_unique<Inference>(std::vector<InferenceMember>{{session, zeros}}, size,
                                          static_cast<std::int64_t>(given_channels), outputs, inference,
                                          scratch);
      const auto begin = std::chrono::steady_clock::now();
      one->advance([](auto) {});
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
      shortest = turn < 2 ? taken.count() : std::min(shortest, taken.count());
      spent += taken.count();
    }
    measured_seconds = shortest;
    return shortest;
  }

  TrainedRun given;
  Experiment experiment;  // with the window used for prediction
  InferenceOptions inference;
  Session session;
  std::string loaded;  // path of the weights it has loaded
  std::size_t given_channels;
  std::optional<double> measured_seconds;
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
  networks_.push_back(
      std::make_unique<Network>(run, input_channels(dataset_, run.experiment), outputs_, how_, ranks_));
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

// The inference of a case by a team, whose networks others may use between two layers of windows.
class Predictor::TeamInference {
 public:
  TeamInference(const Team& team, const data::PreparedCase& prepared, std::int64_t outputs, Scratch& scratch)
      : inference_(members(team, prepared), box(team, prepared).size, prepared.channels, outputs,
                   team.front()->network->inference, scratch) {
    const VoxelBox all = box(team, prepared);
    const TakePlanes forward = [this](std::span<const float> planes) { take_(planes); };
    const bool is_padded = all.size != prepared.size && !team.front()->network->inference.of_images;
    take_inner_ =
        is_padded ? planes_of(without_padding(all, prepared.size), all.size, outputs, forward) : forward;
  }
  TeamInference(const TeamInference&) = delete;
  TeamInference& operator=(const TeamInference&) = delete;

  bool is_done() const { return inference_.is_done(); }
  // Passes on the next planes of the case without padding; there may be none yet.
  void advance(const TakePlanes& take) {
    take_ = take;
    inference_.advance(take_inner_);
  }

 private:
  static VoxelBox box(const Team& team, const data::PreparedCase& prepared) {
    return network_box(prepared.size, team.front()->network->experiment);
  }
  // Each normalises a box at a time, so that members do not hold a copy of the case each.
  static std::vector<InferenceMember> members(const Team& team, const data::PreparedCase& prepared) {
    std::vector<InferenceMember> members;
    for (const Loaded* one : team) {
      const auto read = [&prepared, start = box(team, prepared).start,
                         how = data::normalization_for(prepared, one->network->experiment.preprocess,
                                                       one->weights.normalization)](VoxelBox box) {
        for (std::size_t axis = 0; axis < 3; ++axis) box.start[axis] += start[axis];
        return data::normalize(cut_case(prepared, box), how).image;
      };
      members.push_back({one->network->session, read, [one] { one->network->load(one->weights); }});
    }
    return members;
  }

  Inference inference_;
  TakePlanes take_, take_inner_;
};

std::vector<Predictor::Team> Predictor::teams(const Size3& size) const {
  std::vector<Team> teams;
  const auto box = [&](const Loaded& one) { return network_box(size, one.network->experiment).size; };
  for (const Loaded& member : members_) {
    const InferenceOptions& how = member.network->inference;
    const bool has_windows = !how.as_nnunet && !how.of_images && how.window != box(member);
    const auto same = std::find_if(teams.begin(), teams.end(), [&](const Team& team) {
      const Loaded& first = *team.front();
      return has_windows && first.network->inference.window == how.window && box(first) == box(member);
    });
    if (same == teams.end())
      teams.push_back({&member});
    else
      same->push_back(&member);
  }
  return teams;
}

Predictor::Planes Predictor::planes_of_sum(const Size3& size) const {
  if (members_.front().network->inference.of_images) return {outputs_, 1};
  Planes planes{size[0] * size[1] * outputs_, 0};
  for (const Loaded& member : members_) {
    const Size3& window = member.network->inference.window;
    const bool in_one_pass = window == network_box(size, member.network->experiment).size;
    planes.depth = std::max(planes.depth, in_one_pass ? size[2] : window[2]);
  }
  return planes;
}

void Predictor::predict(const data::PreparedCase& prepared, const TakePlanes& take, Scratch scratch) {
  const auto count = static_cast<float>(members_.size());
  const std::vector<Team> teams = this->teams(prepared.size);
  if (teams.size() == 1) {
    TeamInference all(teams.front(), prepared, outputs_, scratch);
    const TakePlanes take_mean = [&](std::span<const float> planes) {
      std::vector<float> mean(planes.begin(), planes.end());
      data::divide(mean, count);
      take(mean);
    };
    while (!all.is_done()) all.advance(members_.size() == 1 ? take : take_mean);
    return;
  }
  const bool half = members_.front().network->inference.as_nnunet;  // nnU-Net's sums are
  const Planes of_sum = planes_of_sum(prepared.size);
  PlaneRing sum(of_sum.values, of_sum.depth, scratch);
  struct Summed {
    std::unique_ptr<TeamInference> team;
    std::int64_t planes = 0;
  };
  std::vector<Summed> all;
  for (const Team& team : teams)
    all.push_back({std::make_unique<TeamInference>(team, prepared, outputs_, scratch)});
  // In the order of the teams, as far as their windows allow.
  const auto is_slower = [](const Summed& a, const Summed& b) {
    return std::pair(a.team->is_done(), a.planes) < std::pair(b.team->is_done(), b.planes);
  };
  for (auto next = all.begin(); !next->team->is_done();
       next = std::min_element(all.begin(), all.end(), is_slower)) {
    next->team->advance([&](std::span<const float> planes) {
      for (; !planes.empty(); planes = planes.subspan(index(of_sum.values))) {
        const std::span<float> to = sum.planes(next->planes++);
        data::add(planes.first(index(of_sum.values)), to);
        if (half) data::round_to_half(to);
      }
      sum.release();
    });
    std::int64_t finished = all.front().planes;
    for (const Summed& one : all) finished = std::min(finished, one.planes);
    sum.take_until(finished, [&](std::int64_t, std::span<float> planes) {
      data::divide(planes, count);
      if (half) data::round_to_half(planes);
      take(planes);
    });
  }
}

PredictionCost Predictor::cost(const Size3& size, Scratch scratch) {
  PredictionCost cost;
  for (const auto& network : networks_) {
    cost.device_bytes += network->session.arena_bytes();
    cost.host_bytes += network->session.host_bytes();
  }
  constexpr auto value = static_cast<std::int64_t>(sizeof(float));
  const auto hold = [&](std::int64_t bytes) {
    const bool in_memory = scratch.takes(bytes);
    (in_memory ? cost.host_bytes : cost.disk_bytes) += bytes;
    if (!in_memory) cost.host_bytes += scratch.resident_bytes;
  };
  const std::vector<Team> teams = this->teams(size);
  if (teams.size() > 1) {
    const Planes sum = planes_of_sum(size);
    hold(sum.values * sum.depth * value);
  }
  std::int64_t window_bytes = 0;
  for (const Team& team : teams) {
    const InferenceOptions& how = team.front()->network->inference;
    const Size3 whole = network_box(size, team.front()->network->experiment).size;
    const std::size_t windows = make_windows(whole, how.window, how.overlap).count();
    const std::int64_t mirrorings = std::int64_t{1}
                                    << std::count(how.mirrored.begin(), how.mirrored.end(), true);
    const std::int64_t passes = static_cast<std::int64_t>(windows) * mirrorings;
    for (const Loaded* member : team) {
      cost.passes += passes;
      cost.seconds +=
          static_cast<double>(windows) * member->network->window_seconds(outputs_, how.window != whole);
    }
    if (how.as_nnunet || windows > 1) hold(whole[0] * whole[1] * how.window[2] * outputs_ * value);
    if (how.as_nnunet) hold(whole[0] * whole[1] * how.window[2] * value);  // weights
    if (mirrorings > 1) window_bytes = std::max(window_bytes, voxels_in(how.window) * outputs_ * value);
  }
  if (members_.size() > 1) cost.host_bytes += scratch.resident_bytes;  // planes that are divided
  const std::int64_t plane = size[0] * size[1] * outputs_ * value;
  cost.host_bytes += window_bytes + std::max(decided_bytes, plane) + 2 * plane;  // planes that are decided
  return cost;
}

std::vector<float> Predictor::probabilities(const data::PreparedCase& prepared) {
  std::vector<float> whole;
  predict(prepared,
          [&](std::span<const float> planes) { whole.insert(whole.end(), planes.begin(), planes.end()); });
  return whole;
}

std::vector<float> Predictor::probabilities(const data::PreparedCase& prepared, std::size_t member) {
  std::vector<float> whole;
  Scratch scratch;
  TeamInference one({&members_[member]}, prepared, outputs_, scratch);
  while (!one.is_done())
    one.advance(
        [&](std::span<const float> planes) { whole.insert(whole.end(), planes.begin(), planes.end()); });
  return whole;
}

}  // namespace voxswap::pipeline
