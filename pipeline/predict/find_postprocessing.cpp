#include <algorithm>
#include <map>
#include <set>

#include "base/csv.h"
#include "base/error.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/progress.h"
#include "base/text.h"
#include "data/formats/image_io.h"
#include "data/volumes/orientation.h"
#include "data/volumes/transforms.h"
#include "metrics/box_statistics.h"
#include "metrics/metrics.h"
#include "metrics/paired_test.h"
#include "pipeline/predict/postprocessing.h"
#include "pipeline/predict/predict.h"
#include "pipeline/predict/smallest_regions.h"
#include "pipeline/record/resume.h"
#include "pipeline/report/tables.h"

namespace voxswap::pipeline {

namespace {

// Joint histogram: voxels by pair of labels (ground truth, prediction).
using Meetings = std::map<std::pair<std::int16_t, std::int16_t>, std::int64_t>;

bool is_among_values(std::int16_t value, const std::vector<int>& region) {
  return std::find(region.begin(), region.end(), value) != region.end();
}

double dice_of(const Meetings& meetings, const std::vector<int>& region) {
  const auto holds = [&](std::int16_t value) { return is_among_values(value, region); };
  metrics::Overlap overlap;
  for (const auto& [labels, voxels] : meetings) {
    const bool in_truth = holds(labels.first), in_prediction = holds(labels.second);
    if (in_truth) overlap.truth += voxels;
    if (in_prediction) overlap.prediction += voxels;
    if (in_truth && in_prediction) overlap.intersection += voxels;
  }
  return metrics::dice(overlap, metrics::EmptyRule::brats);
}

std::vector<double> dice_of(const Meetings& meetings, const data::Regions& regions) {
  std::vector<double> dice;
  for (const auto& [name, values] : regions) dice.push_back(dice_of(meetings, values));
  return dice;
}

Meetings meetings_of(const TruthAndPrediction& one) {
  Meetings meetings;
  for (const metrics::LabelPair& pair :
       metrics::label_pairs(one.truth.voxels, one.prediction.voxels, one.prediction.geometry.size))
    meetings[{pair.truth, pair.prediction}] += pair.voxels;
  return meetings;
}

// Joint histogram of each component of a region.
std::vector<Meetings> meetings_of(const TruthAndPrediction& one, const RegionParts& parts) {
  std::vector<Meetings> meetings(parts.components.sizes.size());
  auto component = parts.components.labels.begin();
  for (std::int64_t z = parts.box.start[2]; z < parts.box.end()[2]; ++z)
    for (std::int64_t y = parts.box.start[1]; y < parts.box.end()[1]; ++y)
      for (std::int64_t x = parts.box.start[0]; x < parts.box.end()[0]; ++x, ++component)
        if (*component != 0)
          ++meetings[static_cast<std::size_t>(*component - 1)]
                    [{one.truth.at(x, y, z), one.prediction.at(x, y, z)}];
  return meetings;
}

// A post-processing step under test, and its results so far.
struct Candidate {
  PostStep step;
  std::vector<double> dice;  // per region, summed over cases
  std::size_t better = 0, worse = 0;
  std::map<std::size_t, double> gains;  // of mean Dice, by case
};

std::vector<Candidate> candidates_of(const std::string& region, std::size_t regions) {
  std::vector<Candidate> candidates;
  const auto add = [&](Removal remove, double below) {
    Candidate& candidate = candidates.emplace_back();
    candidate.step = {region, remove, below, 0};
    candidate.dice.assign(regions, 0.0);
  };
  add(Removal::all_but_largest, 0);
  for (const Removal remove : {Removal::small_components, Removal::small_whole})
    for (const double below : {10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0, 2000.0, 5000.0})
      add(remove, below);
  return candidates;
}

// Sets of regions without common labels, largest regions first: a step on one region of a set does not affect
// the others.
std::vector<data::Regions> sets_of(const data::Regions& regions) {
  std::vector<data::Regions> sets;
  const auto share = [](const std::vector<int>& a, const std::vector<int>& b) {
    return std::any_of(a.begin(), a.end(),
                       [&](int value) { return std::find(b.begin(), b.end(), value) != b.end(); });
  };
  for (const auto& region : choose_regions(regions, {"all"})) {
    const bool fits =
        !sets.empty() && std::none_of(sets.back().begin(), sets.back().end(),
                                      [&](const auto& other) { return share(region.second, other.second); });
    if (!fits) sets.emplace_back();
    sets.back().push_back(region);
  }
  return sets;
}

class PostprocessingSearch {
 public:
  PostprocessingSearch(std::size_t count, const std::function<TruthAndPrediction(std::size_t)>& read,
                       const data::Regions& regions, const std::vector<PostStep>& given)
      : given_(given),
        count_(count),
        read_(read),
        regions_(regions),
        sets_(sets_of(regions)),
        holding_(regions.size()) {}

  Postprocessing run() {
    Progress progress("post-processing", "cases",
                      static_cast<std::int64_t>(count_ * (given_.size() + sets_.size() + 1)));
    for (const PostStep& step : given_) take_unless_worse(step, progress);
    for (const data::Regions& set : sets_) try_set(set, progress);
    Postprocessing result{steps_, cases_.size(), {}};
    const auto [before, after] = with_all_steps(progress);
    bool helps = true;
    for (std::size_t r = 0; r < regions_.size(); ++r) helps = helps && after[r] >= before[r] - rounding;
    if (!helps) result.steps.clear();
    for (std::size_t r = 0; r < regions_.size(); ++r)
      result.gains.push_back(
          {regions_[r].first, before[r], helps ? after[r] : before[r], holding_[r].size()});
    return result;
  }

 private:
  static constexpr double rounding = 1e-12;
  static constexpr double least_gain = 5e-4;  // of mean Dice; smaller gains may be chance

  // Reads a case and applies the steps selected so far.
  TruthAndPrediction one(std::size_t i) const {
    throw_if_interrupted();
    TruthAndPrediction found = read_(i);
    for (const PostStep& step : steps_) apply_step(found.prediction, step, regions_);
    return found;
  }

  void take_unless_worse(PostStep step, Progress& progress) {
    std::vector<double> before(regions_.size(), 0.0), after = before;
    bool harms = false;
    for (std::size_t i = 0; i < count_; ++i) {
      TruthAndPrediction made = one(i);
      const std::vector<double> raw = dice_of(meetings_of(made), regions_);
      apply_step(made.prediction, step, regions_);
      const std::vector<double> found = dice_of(meetings_of(made), regions_);
      for (std::size_t r = 0; r < regions_.size(); ++r) harms = harms || found[r] < raw[r] - rounding;
      step.gain += (metrics::mean(found) - metrics::mean(raw)) / static_cast<double>(count_);
      progress.advance();
    }
    if (!harms) steps_.push_back(step);
  }

  void try_set(const data::Regions& set, Progress& progress) {
    std::vector<std::vector<Candidate>> candidates;
    for (const auto& [name, values] : set) candidates.push_back(candidates_of(name, regions_.size()));
    std::vector<double> before(regions_.size(), 0.0);
    for (std::size_t i = 0; i < count_; ++i) {
      const TruthAndPrediction made = one(i);
      const Meetings meetings = meetings_of(made);
      const std::vector<double> dice = dice_of(meetings, regions_);
      for (std::size_t r = 0; r < dice.size(); ++r) before[r] += dice[r];
      note_case(made.case_number, meetings);
      for (std::size_t k = 0; k < set.size(); ++k) try_region(made, meetings, dice, set[k], candidates[k]);
      progress.advance();
    }
    for (std::size_t k = 0; k < set.size(); ++k)
      if (holding_[number_of(set[k].first)].size() >= fewest_cases) take_best(candidates[k], before);
  }

  std::size_t number_of(const std::string& region) const {
    return static_cast<std::size_t>(
        std::find_if(regions_.begin(), regions_.end(), [&](const auto& one) { return one.first == region; }) -
        regions_.begin());
  }

  void note_case(std::size_t case_number, const Meetings& meetings) {
    cases_.insert(case_number);
    for (std::size_t r = 0; r < regions_.size(); ++r)
      for (const auto& [labels, voxels] : meetings)
        if (voxels > 0 && is_among_values(labels.first, regions_[r].second)) holding_[r].insert(case_number);
  }

  // True if the gain is statistically significant.
  static bool gains_surely(const Candidate& candidate) {
    std::vector<double> gains;
    for (const auto& [number, gain] : candidate.gains) gains.push_back(gain);
    return metrics::bootstrap_mean(gains).low > 0;
  }

  void try_region(const TruthAndPrediction& made, const Meetings& meetings, const std::vector<double>& dice,
                  const data::Regions::value_type& region, std::vector<Candidate>& candidates) const {
    const RegionParts parts = parts_of(made.prediction, region.second);
    const std::vector<Meetings> of_parts = meetings_of(made, parts);
    const std::int16_t replacement = left_over(region.second, regions_);
    std::vector<bool> last;  // several candidates remove the same components
    std::vector<double> found = dice;
    for (Candidate& candidate : candidates) {
      const std::vector<bool> removed =
          removed_parts(parts, candidate.step, voxel_volume(made.prediction.geometry.spacing));
      if (removed != last || &candidate == &candidates.front()) {
        Meetings changed = meetings;
        for (std::size_t p = 0; p < removed.size(); ++p)
          for (const auto& [labels, voxels] : removed[p] ? of_parts[p] : Meetings{}) {
            changed[labels] -= voxels;
            changed[{labels.first, replacement}] += voxels;
          }
        found = dice_of(changed, regions_);
        last = removed;
      }
      for (std::size_t r = 0; r < found.size(); ++r) candidate.dice[r] += found[r];
      candidate.gains[made.case_number] += metrics::mean(found) - metrics::mean(dice);
      candidate.better += metrics::mean(found) > metrics::mean(dice) + rounding ? 1 : 0;
      candidate.worse += metrics::mean(found) < metrics::mean(dice) - rounding ? 1 : 0;
    }
  }

  void take_best(const std::vector<Candidate>& candidates, const std::vector<double>& before) {
    const Candidate* best = nullptr;
    for (const Candidate& candidate : candidates) {
      bool sound =
          candidate.better > candidate.worse &&
          metrics::mean(candidate.dice) - metrics::mean(before) >= least_gain * static_cast<double>(count_);
      for (std::size_t r = 0; r < before.size(); ++r)
        sound = sound && candidate.dice[r] >= before[r] - rounding * static_cast<double>(count_);
      if (sound && (best == nullptr || metrics::mean(candidate.dice) > metrics::mean(best->dice)) &&
          gains_surely(candidate))
        best = &candidate;
    }
    if (best == nullptr) return;
    steps_.push_back(best->step);
    steps_.back().gain = (metrics::mean(best->dice) - metrics::mean(before)) / static_cast<double>(count_);
  }

  std::pair<std::vector<double>, std::vector<double>> with_all_steps(Progress& progress) const {
    std::vector<double> before(regions_.size(), 0.0), after = before;
    for (std::size_t i = 0; i < count_; ++i) {
      TruthAndPrediction made = read_(i);
      const std::vector<double> raw = dice_of(meetings_of(made), regions_);
      for (const PostStep& step : steps_) apply_step(made.prediction, step, regions_);
      const std::vector<double> found = dice_of(meetings_of(made), regions_);
      for (std::size_t r = 0; r < regions_.size(); ++r) {
        before[r] += raw[r] / static_cast<double>(count_);
        after[r] += found[r] / static_cast<double>(count_);
      }
      progress.advance();
    }
    return {before, after};
  }

  const std::vector<PostStep>& given_;
  std::size_t count_;
  const std::function<TruthAndPrediction(std::size_t)>& read_;
  const data::Regions& regions_;
  std::vector<data::Regions> sets_;
  std::vector<PostStep> steps_;
  std::set<std::size_t> cases_;
  std::vector<std::set<std::size_t>> holding_;  // per region, cases whose ground truth contains it
};

// A run's validation case and its prediction by one team of repeats.
struct Predicted {
  fs::path truth, prediction;
  std::string id;
};

std::vector<Predicted> predicted_by(const Experiment& run, const data::Dataset& dataset) {
  std::map<std::string, const data::CaseFiles*> by_id;
  for (const data::CaseFiles& files : dataset.cases) by_id[files.id] = &files;
  const fs::path split = run.output / "split.csv";
  const Csv csv = read_csv(split);
  const std::size_t id = csv.column("case", split.string()), part = csv.column("part", split.string());
  std::vector<Predicted> all;
  for (const auto& row : csv.rows) {
    if (row[part] != "validation") continue;
    const auto found = by_id.find(row[id]);
    if (found == by_id.end())
      fail(Exit::bad_data, "{}: case '{}' is not in the data set at {}", split.string(), row[id],
           dataset.root.string());
    const data::CaseFiles& files = *found->second;
    const bool has_all_regions =
        std::all_of(dataset.regions.begin(), dataset.regions.end(),
                    [&](const auto& region) { return files.is_annotated(region.second); });
    if (!has_all_regions) continue;
    for (const Team& team : predicting_teams(run))
      all.push_back({files.truth, prediction_folder(run, team) / label_map_name(dataset, row[id]), row[id]});
  }
  return all;
}

}  // namespace

Postprocessing find_postprocessing(std::size_t count,
                                   const std::function<TruthAndPrediction(std::size_t)>& read,
                                   const data::Regions& regions, const std::vector<PostStep>& given) {
  return PostprocessingSearch(count, read, regions, given).run();
}

Postprocessing find_postprocessing(const std::vector<Experiment>& runs, const data::Dataset& dataset) {
  std::vector<Predicted> all;
  for (const Experiment& run : runs) {
    const std::vector<Predicted> more = predicted_by(run, dataset);
    all.insert(all.end(), more.begin(), more.end());
  }
  std::map<std::string, std::size_t> numbers;
  for (const Predicted& one : all) numbers.try_emplace(one.id, numbers.size());
  const auto read = [&](std::size_t i) {
    TruthAndPrediction made{data::canonical(data::read_label_map(all[i].truth)),
                            data::canonical(data::read_label_map(all[i].prediction)), numbers.at(all[i].id)};
    if (dataset.align && !data::same_grid(made.truth.geometry, made.prediction.geometry))
      made.truth = data::resample_onto(made.prediction.geometry, made.truth);
    if (made.truth.geometry.size != made.prediction.geometry.size)
      fail(Exit::bad_data, "{} and {} differ in size: {} and {} voxels", all[i].truth.string(),
           all[i].prediction.string(), resolution_text(made.truth.geometry.size),
           resolution_text(made.prediction.geometry.size));
    if (dataset.ignore_label != 0)
      metrics::leave_out(dataset.ignore_label, made.truth.voxels, made.prediction.voxels);
    return made;
  };
  if (all.empty()) return {};  // no case is annotated for all regions
  return find_postprocessing(all.size(), read, dataset.regions, steps_for_smallest(runs.front(), dataset));
}

void write_postprocessing(const std::vector<Experiment>& runs, const data::Dataset& dataset,
                          const fs::path& folder) {
  const Postprocessing found = find_postprocessing(runs, dataset);
  write_file(folder / postprocessing_file, postprocessing_json(found));
  for (const Postprocessing::Gain& gain : found.gains)
    if (gain.holding < fewest_cases)
      log::info("post-processing: {} is in {}, too few to select steps (at least {})", gain.region,
                counted(gain.holding, "validation case"), fewest_cases);
  if (found.steps.empty())
    return log::info("post-processing: no step improves the Dice of the {} significantly",
                     counted(found.cases, "validation case"));
  double before = 0, after = 0;
  for (const Postprocessing::Gain& gain : found.gains) {
    before += gain.before / static_cast<double>(found.gains.size());
    after += gain.after / static_cast<double>(found.gains.size());
  }
  log::info("post-processing: mean Dice {:.4f} without and {:.4f} with {} on the {}", before, after,
            (folder / postprocessing_file).string(), counted(found.cases, "validation case"));
  for (const PostStep& step : found.steps)
    log::info("post-processing: {} (+{:.4f})", step_words(step), step.gain);
}

}  // namespace voxswap::pipeline
