#include "experiments/configure.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "base/error.h"
#include "base/json.h"
#include "base/keys.h"
#include "base/log.h"
#include "base/text.h"
#include "base/units.h"
#include "experiments/candidates.h"
#include "experiments/configure_warnings.h"
#include "experiments/growth.h"
#include "experiments/hours.h"
#include "experiments/training_grid.h"
#include "experiments/value_types.h"
#include "pipeline/cases/split.h"
#include "pipeline/plan/forecast.h"
#include "pipeline/plan/target.h"

namespace voxswap::experiments {

namespace {

using pipeline::Fingerprint;

// A grid is planned if its number of steps, estimated from its voxels, is at least this part of enough.
constexpr double worth_planning = 0.7;
// With a third of the time at twice the voxel size, where a step takes at least an eighth of the time.
constexpr double most_gain_of_growth = 2.0 / 3 + 8.0 / 3;

// The choices, the last one of each key, overridden by the user's settings.
Settings settings_of(const std::vector<Choice>& choices, const Settings& asked_for) {
  Settings settings;
  for (const Choice& choice : choices)
    settings[choice.key] = parse_yaml_value(choice.value, "chosen by configure");
  for (const auto& [key, value] : asked_for) settings[key] = value;
  return settings;
}

Settings asked_for(const ConfigureRequest& request) {
  Settings settings;
  for (const std::string& assignment : request.overrides) override_setting(settings, assignment);
  return settings;
}

bool is_on_gpu(const ConfigureRequest& request, const Settings& asked_for) {
  if (!request.as.empty()) return true;
  const auto device = asked_for.find("memory.device");
  const auto backend = pipeline::open_device(device == asked_for.end() ? "auto" : device->second.text);
  return std::string(backend->name()).starts_with("cuda");
}

bool has_key(const std::vector<Choice>& choices, const std::string& key) {
  return std::any_of(choices.begin(), choices.end(), [&](const Choice& one) { return one.key == key; });
}

class Chooser {
 public:
  Chooser(const Fingerprint& fingerprint, const ConfigureRequest& request, const fs::path& split)
      : fingerprint_(fingerprint), request_(request), split_(split), asked_(asked_for(request)) {
    result_.choices = data_choices(fingerprint, request);
    if (asked_.contains("data.split.file") || asked_.contains("data.split.validation"))
      std::erase_if(result_.choices, [](const Choice& one) { return one.key.starts_with("data.split."); });
    // If the user sets a resolution, cases are resized to it.
    const auto spacing = asked_.find("preprocess.spacing");
    const bool resize = spacing == asked_.end() ? asked_.contains("preprocess.resolution")
                                                : value_types::is_word(spacing->second, "none");
    add(preprocess_choices(fingerprint, resize));
    add(training_choices(fingerprint, request, is_on_gpu(request, asked_)));
  }

  Configuration choose() {
    plan_all();
    pick();
    if (may_be_coarser()) choose_for_few_steps();
    warn_of_little_context(result_.candidates[result_.chosen]);
    if (!fingerprint_.dataset.classes) warn_of_rare_labels(fingerprint_, result_.folds);
    const Candidate& chosen = result_.candidates[result_.chosen];
    choose_networks(chosen);
    add({epochs_within(chosen, request_.hours, networks_)});
    if (!asked_.contains(key::training_epochs)) warn_of_few_steps(chosen, request_.hours, networks_);
    add(chosen.choices);
    for (Choice& choice : result_.choices)
      if (choice.key == "training.patch")
        choice.why =
            format("largest context that fits and takes at most {} times the shortest time per voxel",
                   most_time_per_voxel);
    if (!split_.empty()) {
      std::erase_if(result_.choices, [](const Choice& one) { return one.key == "data.split.folds"; });
      result_.choices.push_back(
          {"data.split.file", yaml_scalar(fs::absolute(split_).string()),
           format("split without unreadable cases ({})", counted(fingerprint_.unreadable.size(), "case"))});
    }
    write_down();
    return std::move(result_);
  }

 private:
  void add(const std::vector<Choice>& choices) {
    result_.choices.insert(result_.choices.end(), choices.begin(), choices.end());
  }

  LoadedExperiment run(const std::vector<Choice>& more) const {
    std::vector<Choice> choices = result_.choices;
    choices.insert(choices.end(), more.begin(), more.end());
    LoadedExperiment experiment = make_experiment(request_.file, settings_of(choices, asked_));
    resolve(experiment);
    return experiment;
  }

  // Replaces automatic spacing and resolution by values from the fingerprint.
  void resolve(pipeline::Experiment& experiment) const {
    data::PrepareOptions& preprocess = experiment.preprocess;
    if (preprocess.automatic_spacing) preprocess.spacing = fingerprint_.target_spacing();
    preprocess.automatic_spacing = false;
    if (preprocess.automatic_resolution) resolve_resolution(experiment, case_sizes(fingerprint_, preprocess));
  }

  pipeline::ForecastOptions how_to_plan() const { return {.estimate = request_.estimate, .as = request_.as}; }

  // Plans the candidate and fills in the results.
  void plan(Candidate& candidate) {
    log::info("candidate: {}, {}, batch {}", candidate.context, list_text(candidate.size), candidate.batch);
    const LoadedExperiment experiment = run(candidate.choices);
    plan(experiment, candidate);
    if (candidate.why_not.empty())  // if the user has set growth
      candidate.growth_seconds = seconds_of(forecast_growth(experiment, data_, how_to_plan()));
  }

  void plan(const pipeline::Experiment& experiment, Candidate& candidate) {
    try {
      // Check with estimated costs first, so that a step that does not fit is not measured.
      const bool measured = !request_.estimate && request_.as.empty();
      if (measured)
        pipeline::StepForecast(experiment, data_, {.estimate = true, .as = ""})
            .plan(experiment.memory.planner, /*quick=*/true);
      const pipeline::StepForecast step(experiment, data_, how_to_plan());
      const pipeline::Forecast forecast = pipeline::forecast(step, data_, experiment);
      candidate.memory_bytes = forecast.arena_bytes;
      candidate.step_seconds = forecast.plan.predicted_seconds;
      candidate.epoch_steps = pipeline::epoch_steps(forecast, experiment);
      // Inference takes about a third of a training step.
      const double augmenting = measured ? pipeline::augmenting_seconds(experiment, data_) : 0;
      candidate.epoch_seconds =
          pipeline::epoch_seconds(forecast, experiment) * (1 + augmenting / candidate.step_seconds) *
          (1 + static_cast<double>(data_.validation_cases) / (3 * static_cast<double>(data_.training_cases)));
      result_.device = forecast.device;
      result_.precision = forecast.precision;
      result_.costs = forecast.costs;
    } catch (const Error& error) {
      if (error.exit() != Exit::does_not_fit) throw;
      candidate.why_not = error.what();
    }
  }

  // Options without the network's levels, which depend on each candidate's size.
  pipeline::Experiment run_of_any_size() const {
    Settings settings = settings_of(result_.choices, asked_);
    std::erase_if(settings, [](const auto& one) {
      return one.first.starts_with("network.") && one.first != "network.name";
    });
    if (!fingerprint_.dataset.images) {
      settings["network.depth"] = parse_yaml_value("2", on_the_line);
      settings["network.strides"] = parse_yaml_value("[1, 1]", on_the_line);
    }
    return make_experiment(request_.file, settings);
  }

  // Plans whole volumes and parts of the median case, down to 1/most_parts or until one fits. Returns true if
  // one fits.
  bool plan_grid(const TrainingGrid& grid, std::int64_t most_parts,
                 const std::vector<std::int64_t>& batches) {
    bool fits = false;
    for (std::int64_t parts = first_part_; parts <= most_parts || !fits;
         parts = std::max<std::int64_t>(1, 2 * parts)) {
      if (parts == 1 && grid.largest == grid.median) continue;
      const std::size_t before = result_.candidates.size();
      for (const std::int64_t batch : batches) {
        Candidate candidate = candidate_of(fingerprint_, grid, parts, std::min(batch, data_.training_cases));
        const auto same = [&](const Candidate& other) {
          return other.size == candidate.size && other.batch == candidate.batch &&
                 other.spacing == candidate.spacing;
        };
        if (std::any_of(result_.candidates.begin(), result_.candidates.end(), same)) continue;
        plan(candidate);
        fits = fits || candidate.why_not.empty();
        result_.candidates.push_back(std::move(candidate));
      }
      if (fingerprint_.dataset.images || result_.candidates.size() == before) break;  // no smaller candidates
    }
    return fits;
  }

  void plan_all() {
    pipeline::Experiment experiment = run_of_any_size();
    resolve(experiment);
    const TrainingGrid grid = training_grid(fingerprint_, experiment.preprocess);
    data_ = pipeline::data_shape(experiment, fingerprint_.dataset);
    result_.folds = experiment.split.folds;
    const bool images = fingerprint_.dataset.images;
    // Parts smaller than a quarter are tried only if nothing larger fits.
    first_part_ = !asked_.contains(key::training_patch) &&
                  warn_of_outliers(fingerprint_, grid, experiment.preprocess.spacing);
    const bool fits = plan_grid(grid, images ? 0 : 4,
                                images ? std::vector<std::int64_t>{8, 16} : std::vector<std::int64_t>{1, 2});
    if (!fits) {
      const Candidate& least = *std::min_element(
          result_.candidates.begin(), result_.candidates.end(), [](const auto& a, const auto& b) {
            return a.voxels() * static_cast<double>(a.batch) < b.voxels() * static_cast<double>(b.batch);
          });
      fail(Exit::does_not_fit, "no candidate fits into memory. The smallest ({}, batch {}): {}",
           list_text(least.size), least.batch, least.why_not);
    }
  }

  void pick() {
    std::vector<const Candidate*> best;
    while (static_cast<std::int64_t>(best.size()) < request_.candidates) {
      const Candidate* next = best_beside(result_.candidates, best);
      if (next == nullptr) break;
      best.push_back(next);
      result_.swept.push_back(static_cast<std::size_t>(next - result_.candidates.data()));
    }
    result_.chosen = result_.swept.front();
    if (result_.swept.size() == 1) result_.swept.clear();
  }

  // Not if the user has decided what a step or an epoch is.
  bool may_be_coarser() const {
    for (const char* key :
         {key::preprocess_spacing, key::preprocess_resolution, key::training_patch, key::training_epochs})
      if (asked_.contains(key)) return false;
    return !fingerprint_.dataset.images && !result_.candidates.empty();
  }

  // Not if the user has decided with which weights training begins.
  bool may_grow() const { return !asked_.contains(key::training_growth) && !asked_.contains("network.init"); }

  // Plans the candidate's first epochs, on a grid that is twice as coarse.
  void grow(Candidate& candidate, double hours) {
    std::vector<Choice> choices = candidate.choices;
    choices.push_back({key::training_growth, growth_text(1), ""});
    Candidate coarser = candidate;
    log::info("candidate: {}, after epochs at twice the voxel size", candidate.context);
    plan(*growth_stage(run(choices)), coarser);
    add_growth(candidate, coarser.epoch_seconds, hours);
  }

  // If too few steps fit into the hours, lets the grid grow, and chooses the finest one on which enough steps
  // fit, else the coarsest.
  void choose_for_few_steps() {
    const double hours = request_.hours / static_cast<double>(run({}).training.repeats);
    const Candidate fine = result_.candidates[result_.chosen];
    if (possible_steps(fine, hours) >= enough_steps) return;
    pipeline::Experiment experiment = run_of_any_size();
    resolve(experiment);
    const Spacing finest = experiment.preprocess.spacing;
    std::vector<Spacing> spacings = coarser_spacings(fingerprint_, finest);
    spacings.insert(spacings.begin(), finest);
    for (const Spacing& spacing : spacings) {
      // A step takes time in proportion to its voxels: grids that are far too fine are not planned.
      const double steps = static_cast<double>(possible_steps(fine, hours)) * voxel_volume(spacing) /
                           voxel_volume(finest) * (may_grow() ? most_gain_of_growth : 1);
      if (&spacing != &spacings.back() && steps < worth_planning * enough_steps) continue;
      if (spacing != finest) {
        experiment.preprocess.spacing = spacing;
        const std::size_t first = result_.candidates.size();
        TrainingGrid grid = training_grid(fingerprint_, experiment.preprocess);
        grid.is_coarser = true;
        plan_grid(grid, /*most_parts=*/1, {1});
        const Candidate* best = best_beside(std::span(result_.candidates).subspan(first), {});
        if (best == nullptr) continue;
        result_.chosen = static_cast<std::size_t>(best - result_.candidates.data());
      }
      Candidate& chosen = result_.candidates[result_.chosen];
      if (may_grow()) grow(chosen, hours);
      if (possible_steps(chosen, hours) >= enough_steps) break;
    }
    Candidate& chosen = result_.candidates[result_.chosen];
    if (!result_.swept.empty()) result_.swept.front() = result_.chosen;
    if (chosen.spacing == fine.spacing) return;
    const std::string why =
        format("coarser than the median voxel size: at {} mm, {} fit into {}, fewer than {}; here {}",
               value_types::spacing_text(finest), counted(possible_steps(fine, hours), "step"),
               format_seconds(hours * 3600), enough_steps, possible_steps(chosen, hours));
    for (Choice& choice : chosen.choices)
      if (choice.key == key::preprocess_spacing) choice.why = why;
    log::info("{} {}: {}", key::preprocess_spacing, value_types::spacing_text(chosen.spacing), why);
  }

  // Trains several networks and averages their predictions if time allows, unless the user has set epochs or
  // repeats.
  void choose_networks(const Candidate& candidate) {
    networks_ = run(candidate.choices).training.repeats;
    if (asked_.contains(key::training_repeats) || asked_.contains(key::training_epochs)) return;
    networks_ = networks_within(candidate, request_.hours);
    add(choices_for_networks(networks_));
  }

  // The section `sweep` of the file: choices of each candidate except those set by the user.
  std::string sweep_text() const {
    if (result_.swept.empty()) return "";
    std::string text = "# the best candidates, for `voxswap sweep`\nsweep:\n  settings:\n";
    for (const std::size_t index : result_.swept) {
      const Candidate& one = result_.candidates[index];
      std::string label =
          join(std::vector<std::string>{std::to_string(one.size[0]), std::to_string(one.size[1]),
                                        std::to_string(one.size[2])},
               "x");
      if (one.batch > 1) label += format("_batch_{}", one.batch);
      text += format("    # {}\n    {}:\n", one.context, label);
      std::vector<Choice> choices = one.choices;
      // Otherwise it would inherit those of the chosen candidate.
      for (const auto& [key, unset] : {std::pair{"network.strides", "auto"},
                                       {"network.kernels", "auto"},
                                       {key::preprocess_spacing, "auto"},
                                       {key::training_growth, "none"}})
        if (has_key(result_.candidates[result_.chosen].choices, key) && !has_key(choices, key))
          choices.push_back({key, unset, ""});
      choices.push_back(epochs_within(one, request_.hours, networks_));
      for (const Choice& choice : choices)
        if (!asked_.contains(choice.key)) text += format("      {}: {}\n", choice.key, choice.value);
    }
    return text;
  }

  void write_down() {
    result_.experiment = make_experiment(request_.file, settings_of(result_.choices, asked_));
    const LoadedExperiment& experiment = result_.experiment;
    result_.epochs = experiment.training.epochs;
    result_.networks = experiment.training.repeats;
    const Candidate& chosen = result_.candidates[result_.chosen];
    result_.training_seconds =
        static_cast<double>(result_.networks) *
        (chosen.growth_seconds + static_cast<double>(result_.epochs) * chosen.epoch_seconds);
    std::map<std::string, std::string> comments;
    for (const Choice& choice : result_.choices) comments[choice.key] = choice.why;
    for (const auto& [key, value] : asked_) comments[key] = "set on the command line";
    pipeline::SettingList written;
    result_.choices.clear();
    for (const pipeline::Setting& setting : experiment.settings) {
      if (!comments.contains(setting.key)) continue;
      written.push_back(setting);
      result_.choices.push_back({setting.key, setting.value, comments[setting.key]});
    }
    result_.text = "# Written by `voxswap configure`: every key with the reason for its value.\n" +
                   experiment_text(written, comments) + sweep_text();
    resolve(result_.experiment);
    write_settings(result_.experiment);
  }

  const Fingerprint& fingerprint_;
  const ConfigureRequest& request_;
  const fs::path split_;
  const Settings asked_;
  pipeline::DataShape data_;
  std::int64_t networks_ = 1;
  std::int64_t first_part_ = 0;  // 1: no whole volumes, because of outliers
  Configuration result_;
};

}  // namespace

LoadedExperiment unconfigured(const ConfigureRequest& request) {
  Settings settings = asked_for(request);
  std::erase_if(settings, [](const auto& setting) {
    return setting.first != "name" && !setting.first.starts_with("data.") &&
           !setting.first.starts_with("output.");
  });
  const fs::path root = plain(fs::absolute(request.root));
  settings.try_emplace("name", yaml_text(name_of(root), on_the_line));
  settings["data.root"] = yaml_text(root.string(), on_the_line);
  return make_experiment(request.file, settings);
}

Configuration configure(const Fingerprint& fingerprint, const ConfigureRequest& request,
                        const fs::path& split) {
  return Chooser(fingerprint, request, split).choose();
}

std::string splits_text(const Fingerprint& fingerprint, std::int64_t folds) {
  const data::Dataset& dataset = fingerprint.dataset;
  Json all = Json::array();
  for (std::int64_t fold = 0; fold < folds; ++fold) {
    pipeline::SplitOptions options;
    options.folds = folds;
    options.fold = fold;
    const pipeline::Split split = pipeline::make_split(dataset, options);
    Json one = {{"train", Json::array()}, {"val", Json::array()}};
    for (const std::size_t index : split.training) one["train"].push_back(dataset.cases[index].id);
    for (const std::size_t index : split.validation) one["val"].push_back(dataset.cases[index].id);
    all.push_back(one);
  }
  return all.dump(1) + "\n";
}

}  // namespace voxswap::experiments
