#include "pipeline/plan/forecast.h"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "base/file.h"
#include "base/keys.h"
#include "base/parallel.h"
#include "base/text.h"
#include "base/units.h"
#include "data/augment/augment.h"
#include "data/formats/image_io.h"
#include "data/layouts/open_dataset.h"
#include "data/volumes/orientation.h"
#include "net/graph/graph.h"
#include "net/graph/operation.h"
#include "net/networks/networks.h"
#include "net/steps/rank_slabs.h"
#include "net/steps/slabs.h"
#include "pipeline/cases/cases.h"
#include "pipeline/cases/label_decoder.h"
#include "pipeline/cases/loss_settings.h"
#include "pipeline/cases/patches.h"
#include "pipeline/cases/sample_graph.h"
#include "pipeline/cases/split.h"
#include "pipeline/cases/windows.h"
#include "pipeline/record/routines.h"
#include "swap/model/simulator.h"
#include "swap/planners/planner.h"

namespace voxswap::pipeline {

namespace {

DataShape shape_without_data(const Experiment& experiment) {
  const bool by_region = experiment.training.targets == Targets::regions;
  data::Dataset named;
  named.labels = experiment.data.labels;
  named.regions = experiment.data.regions;
  named.classes = net::classifies_images(experiment.network.name);
  const char* const outputs = by_region ? key::data_regions : key::data_labels;
  DataShape shape;
  shape.found = false;
  shape.channels = static_cast<std::int64_t>(experiment.data.modalities.size());
  if (!(by_region ? named.regions.empty() : named.labels.empty())) {
    shape.outputs = output_count(named, experiment.training);
    shape.labels = label_options(experiment, named);
  }
  if (shape.channels == 0 || shape.outputs == 0)
    fail(Exit::bad_data,
         "{}: folder not found ({}). Without the data set, set {} and {} to name the channels and outputs, "
         "e.g. {}=[t1,t2] {}={}",
         experiment.data.root.string(), key::data_root, key::data_modalities, outputs, key::data_modalities,
         outputs, by_region ? "{whole: [1, 2]}" : "{core: 1, edge: 2}");
  return shape;
}

// Samples per epoch when training on slices; ignores slices that cropping may remove.
std::int64_t labelled_slices(const data::Dataset& dataset, const std::vector<std::size_t>& cases) {
  std::int64_t count = 0;
  for (const std::size_t index : cases) {
    const data::LabelMap truth = data::canonical(data::read_label_map(dataset.cases[index].truth));
    const auto plane = static_cast<std::ptrdiff_t>(truth.geometry.size[0] * truth.geometry.size[1]);
    for (auto at = truth.voxels.begin(); at < truth.voxels.end(); at += plane)
      count += std::any_of(at, at + plane,
                           [&](std::int16_t label) { return label != 0 && label != dataset.ignore_label; });
  }
  return count;
}

PlannableStep with_costs(PlannableStep step, const Target& target, const Experiment& experiment,
                         const ForecastOptions& how) {
  const bool measured = target.backend && !how.estimate;
  set_costs(step, measured ? measure(step, target, experiment, how.remember)
                           : estimate(step, target, experiment.memory));
  return step;
}

}  // namespace

DataShape data_shape(const Experiment& experiment) {
  check_trains(experiment);
  error_code error;
  if (!fs::exists(experiment.data.root, error)) return shape_without_data(experiment);
  return data_shape(experiment, open_dataset(experiment));
}

DataShape data_shape(const Experiment& experiment, const data::Dataset& dataset) {
  const Split split = make_split(dataset, experiment.split);
  DataShape shape;
  shape.channels = static_cast<std::int64_t>(dataset.modalities.size());
  check_suits(experiment, dataset);
  shape.outputs = output_count(dataset, experiment.training);
  weights_by_name(experiment.training, dataset);  // checks them
  shape.unknown = unknown_in(dataset);
  shape.labels = label_options(experiment, dataset);
  shape.training_cases = static_cast<std::int64_t>(split.training.size());
  shape.validation_cases = static_cast<std::int64_t>(split.validation.size());
  if (experiment.preprocess.slices != data::Slices::none)
    shape.labelled_slices = labelled_slices(dataset, split.training);
  return shape;
}

StepForecast::StepForecast(const Experiment& experiment, const DataShape& data, const ForecastOptions& how)
    : experiment_(experiment),
      target_(open_target(experiment, how.as, how.tuned || !how.estimate, how.ranks.all())),
      exchange_(how.ranks.all(), target_.backend.get(), static_cast<int>(how.ranks.slab_ranks().count)) {
  target_.network = how.network;
  if (target_.network) {
    if (target_.network->local_rate == 0) target_.network->local_rate = target_.rates->link_rate;
    target_.network->ranks = static_cast<int>(how.ranks.replicas());
    target_.network->slabs = static_cast<int>(how.ranks.slab_ranks().count);
  }
  if (target_.backend) take_routines(*target_.backend, experiment, /*of_the_run=*/false);
  Steps steps = build_steps(experiment_, data, target_, true, how.ranks);
  averaged_weights_bytes_ = pipeline::averaged_weights_bytes(experiment, steps);
  leave_room(target_, experiment.memory, averaged_weights_bytes_);
  leave_samples_free(target_, experiment, data.channels);
  for (const net::ValueId id : steps.training->trained)
    trained_ += steps.training->graph.value(id).shape.count();
  inference_ = plannable_inference(target_, experiment.memory, steps.inference, &exchange_);
  set_costs(inference_, estimate(inference_, target_, experiment.memory));
  training_ =
      with_costs(plannable_training(target_, experiment.memory, steps, exchange_), target_, experiment, how);
  if (target_.backend && how.remember) remember_routines(*target_.backend, experiment);
}

swap::Plan StepForecast::plan(const std::string& planner, bool quick) const {
  return plan_step(planner, training_.problem, experiment_, quick);
}

double StepForecast::compute_seconds() const {
  return training_.costs->all_nodes();
}

std::int64_t StepForecast::inference_peak(bool quick) const {
  if (const auto staying = plan_staying(inference_.problem)) return staying->peak_bytes;
  return plan_step(experiment_.memory.planner, inference_.problem, experiment_, quick).peak_bytes;
}

std::vector<PlannerRow> compare_planners(const StepForecast& step) {
  std::vector<PlannerRow> rows;
  for (const std::string& planner : swap::planner_names()) {
    PlannerRow row{planner, std::nullopt, ""};
    try {
      row.plan = step.plan(planner);
    } catch (const Error& error) {
      if (error.exit() != Exit::does_not_fit) throw;
      row.why_not = error.what();
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

// Device memory that plan and samples leave.
std::int64_t memory_for_cases_there(const Target& target, const Experiment& experiment, const DataShape& data,
                                    std::int64_t arena_bytes) {
  const std::int64_t samples =
      sample_bytes({experiment.training.augment, input_size(experiment), data.channels, 1, target.precision},
                   experiment.training.batch_size);
  const std::int64_t spare = target.budgets.device - arena_bytes - samples;
  return std::max<std::int64_t>(0, std::min(spare, experiment.cases_bytes.value_or(spare)));
}

Forecast forecast(const StepForecast& step, const DataShape& data, const Experiment& experiment) {
  const Target& target = step.target();
  Forecast forecast;
  forecast.plan = step.plan(experiment.memory.planner);
  forecast.bound = step.bound();
  forecast.budgets = target.budgets;
  forecast.device = target.description();
  forecast.precision = net::element_name(target.precision);
  forecast.costs = step.costs().source;
  forecast.slabs = net::slabs_text(step.graph());
  forecast.data = data;
  forecast.parameters = net::parameter_count(step.graph());
  forecast.free_bytes = target.backend ? target.backend->free_bytes() : 0;
  forecast.trained = step.trained();
  forecast.averaged_weights_bytes = step.averaged_weights_bytes();
  forecast.arena_bytes = std::max(forecast.plan.peak_bytes, step.inference_peak());
  const Size3& side = experiment.preprocess.resolution;
  const std::int64_t voxels = voxels_in(side);
  const std::int64_t cases = data.training_cases + data.validation_cases;
  forecast.case_bytes = voxels * (4 * data.channels + 2);
  forecast.cache_bytes = experiment.cache.empty() ? 0 : forecast.case_bytes * cases;
  forecast.cases_bytes = memory_for_cases(target, experiment, forecast.arena_bytes,
                                          forecast.plan.host_bytes + forecast.plan.streamed_bytes, 1);
  if (target.has_own_memory())
    forecast.device_cases_bytes = memory_for_cases_there(target, experiment, data, forecast.arena_bytes);
  // Checkpoints: last holds weights and two moments, best holds weights, each with an average if enabled, and
  // the previous one of each is kept. Label maps compress to about a tenth of their voxels.
  const std::int64_t kept = experiment.training.averaging.name == Averaging::none ? 4 : 6;
  forecast.output_bytes = experiment.training.repeats *
                          (2 * 4 * kept * forecast.parameters + data.validation_cases * voxels / 10);
  const std::vector<net::Node>& nodes = step.graph().nodes();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    forecast.step_flops += net::node_flops(step.graph(), nodes[i]);
    if (nodes[i].phase == net::Phase::forward || nodes[i].phase == net::Phase::loss)
      forecast.forward_seconds +=
          step.costs().node_seconds[i] / static_cast<double>(experiment.training.batch_size);
  }
  return forecast;
}

std::int64_t epoch_steps(const Forecast& forecast, const Experiment& experiment) {
  const std::int64_t samples = experiment.preprocess.slices != data::Slices::none
                                   ? forecast.data.labelled_slices
                                   : forecast.data.training_cases * patches_per_case(experiment);
  return std::max<std::int64_t>(1, samples / experiment.training.batch_size);
}

double epoch_seconds(const Forecast& forecast, const Experiment& experiment) {
  return static_cast<double>(epoch_steps(forecast, experiment)) * forecast.plan.predicted_seconds;
}

double validation_seconds(const Forecast& forecast, const Experiment& experiment) {
  const Size3 input = input_size(experiment),
              whole = padded_box(experiment.preprocess.resolution, input).size;
  const DataShape& data = forecast.data;
  // Networks of slices predict all slices; at least those with a label.
  const auto inputs = experiment.preprocess.slices != data::Slices::none
                          ? data.labelled_slices / std::max<std::int64_t>(data.training_cases, 1)
                          : static_cast<std::int64_t>(make_windows(whole, input, 0).count());
  return static_cast<double>(data.validation_cases * inputs) * forecast.forward_seconds;
}

double augmenting_seconds(const Experiment& experiment, const DataShape& data) {
  if (!open_device(experiment.memory.device)->computes_on_host()) return 0;
  constexpr std::uint64_t tries = 8;  // several, since most draws skip most augmentations
  data::NormalizedCase noise;
  noise.size = input_size(experiment);
  noise.channels = data.channels;
  const std::int64_t voxels = voxels_in(noise.size);
  noise.image.resize(static_cast<std::size_t>(voxels * noise.channels));
  for (std::size_t i = 0; i < noise.image.size(); ++i) noise.image[i] = static_cast<float>(i % 251);
  noise.truth.resize(static_cast<std::size_t>(voxels));
  SampleGraph graph(experiment.training.augment, noise.size, noise.channels);
  const auto started = std::chrono::steady_clock::now();
  for (std::uint64_t i = 0; i < tries; ++i) {
    const data::AugmentKey key{1, i, 0};
    graph.make(data::draw_augmentation(experiment.training.augment, key, noise.size, noise.channels), noise,
               {{0, 0, 0}, noise.size});
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - started;
  return elapsed.count() / static_cast<double>(tries) * static_cast<double>(experiment.training.batch_size) /
         usable_core_count();
}

double sample_seconds(const Experiment& experiment, const DataShape& data, const swap::DeviceRates& device) {
  const Size3 size = input_size(experiment);
  const SampleNodes nodes =
      sample_nodes({experiment.training.augment, size, data.channels, 1}, voxels_in(size), 0);
  return swap::estimate_costs(nodes.graph, device).all_nodes() *
         static_cast<double>(experiment.training.batch_size);
}

double megavoxels_per_step(const Experiment& experiment) {
  const Size3 side = input_size(experiment);
  return static_cast<double>(experiment.training.batch_size * voxels_in(side)) / 1e6;
}

namespace {

class PlannedRanks final : public net::Ranks {
 public:
  PlannedRanks(int count, int rank) : count_(count), rank_(rank) {}
  int rank() const override { return rank_; }
  int count() const override { return count_; }
  int on_this_machine() const override { return 1; }  // budgets are per rank
  void send(int, const void*, std::int64_t) override { assert(false && "ranks are only planned"); }
  void receive(int, void*, std::int64_t) override { assert(false && "ranks are only planned"); }
  bool has_sent(int) override { return false; }

 private:
  int count_, rank_;
};

void check_share(std::int64_t batch, std::int64_t ranks) {
  if (batch % ranks == 0) return;
  const std::int64_t less = batch / ranks * ranks, more = less + ranks;
  fail(Exit::usage, "{}: {} cannot be divided equally among {}. The nearest possible: {}{}",
       key::training_batch_size, counted(batch, "sample"), counted(ranks, "rank"),
       less > 0 ? format("{} and ", less) : "", more);
}

}  // namespace

void check_ranks(const Experiment& experiment, const RankGroups& ranks) {
  const std::int64_t count = ranks.all().count(), slabs = ranks.slab_ranks().count;
  if (slabs > count || count % slabs != 0)
    fail(Exit::usage, "{}: {} cannot be divided into groups of {}. Start a multiple of {}, or set it to auto",
         key::ranks_slabs, counted(count, "rank"), slabs, counted(slabs, "rank"));
  check_share(experiment.training.batch_size, ranks.replicas());
}

std::unique_ptr<net::Ranks> planned_ranks(int count, int slabs) {
  return std::make_unique<PlannedRanks>(count, slabs == 0 ? count / 2 : slabs / 2);
}

std::string RanksForecast::limit() const {
  if (exposed_seconds() < 0.001 * step_seconds) return "computation: communication is fully overlapped";
  swap::Network instant = network;
  instant.message_seconds = 0;
  const double by_rate = swap::exchange_seconds(exchanged_bytes, instant);
  const std::string what = network.ranks == 1 ? "halos and partial sums"
                           : by_rate > exchange_seconds - by_rate
                               ? network.machines > 1 ? "network bandwidth" : "link bandwidth"
                               : "latency of messages, once per level of the tree";
  return exchange_seconds > alone_seconds
             ? format("{}: communication takes longer than computation", what)
             : format("{}: {} of communication are not overlapped with computation", what,
                      format_seconds(exposed_seconds()));
}

RanksForecast forecast_ranks(const StepForecast& step, const Forecast& forecast, const Experiment& experiment,
                             const DataShape& data, const ForecastOptions& how) {
  RanksForecast result;
  result.network = *step.target().network;
  const swap::Simulation simulation = swap::simulate(forecast.plan, step.costs());
  result.step_seconds = simulation.seconds;
  result.exchange_seconds = simulation.busy_seconds[static_cast<std::size_t>(swap::Lane::exchange)];
  for (const net::Node& node : step.graph().nodes())
    if (net::is_exchange(node))
      for (const net::ValueId sum : node.outputs) result.exchanged_bytes += step.graph().value(sum).bytes();

  result.halo_bytes = net::sent_in_step(step.graph()).halos;

  Experiment alone = experiment;
  alone.training.batch_size = experiment.training.batch_size / how.ranks.replicas();
  ForecastOptions without = how;
  without.ranks = {};
  without.network.reset();
  const StepForecast one(alone, data, without);
  // One rank may not have enough memory for whole volumes.
  const std::int64_t slabs = how.ranks.slab_ranks().count;
  result.alone_seconds = slabs > 1 ? one.compute_seconds() / static_cast<double>(slabs)
                                   : swap::simulate(one.plan(experiment.memory.planner), one.costs()).seconds;
  return result;
}

}  // namespace voxswap::pipeline
