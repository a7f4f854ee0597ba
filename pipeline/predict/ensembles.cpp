#include "pipeline/predict/ensembles.h"

#include <algorithm>
#include <map>
#include <optional>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/progress.h"
#include "data/cases/read_case.h"
#include "data/layouts/open_dataset.h"
#include "pipeline/cases/cases.h"
#include "pipeline/cases/split.h"
#include "pipeline/predict/case_scores.h"
#include "pipeline/predict/predict.h"
#include "pipeline/predict/predictor.h"
#include "pipeline/record/resume.h"

namespace voxswap::pipeline {

namespace {

class EnsembleScorer {
 public:
  EnsembleScorer(const std::vector<TrainedRun>& runs, const std::vector<RunPair>& pairs)
      : pairs_(pairs), scores_(pairs.size()), held_out_(runs.size()) {
    for (const TrainedRun& run : runs) {
      runs_.push_back(confirmed_for_prediction(run));
      trained_.push_back(trained_on(runs_.back().experiment));
    }
    for (std::size_t p = 0; p < pairs.size(); ++p) check_pair(p);
  }

  std::vector<EnsembleScores> score() {
    if (!reference_) return std::move(scores_);
    const Experiment& reference = runs_[*reference_].experiment;
    Cases cases(reference, open_dataset(reference));
    const data::Dataset& dataset = cases.dataset();
    for (TrainedRun& run : runs_) run.experiment.evaluate.ignored = dataset.ignore_label;
    decoder_ = make_decoder(dataset, reference);
    Predictor predictor(runs_[*reference_], trained_[*reference_], {});
    use_runs(predictor, dataset);
    std::vector<std::size_t> used;
    for (std::size_t i = 0; i < dataset.cases.size(); ++i)
      for (std::size_t p = 0; p < pairs_.size(); ++p)
        if (holds_out(p, i) && (used.empty() || used.back() != i)) used.push_back(i);
    Progress progress("predicting", "cases", static_cast<std::int64_t>(used.size()));
    for (const std::size_t i : used) {
      throw_if_interrupted();
      score_case(i, cases, predictor);
      progress.advance();
    }
    return std::move(scores_);
  }

 private:
  // All pairs predict in one session, so every pair must be compatible with the first valid one.
  void check_pair(std::size_t p) {
    const auto [a, b] = pairs_[p];
    std::vector<std::size_t> together = {a, b};
    if (reference_) together.insert(together.begin(), *reference_);
    std::vector<TrainedRun> runs;
    std::vector<data::Dataset> trained;
    for (const std::size_t run : together) {
      runs.push_back(runs_[run]);
      trained.push_back(trained_[run]);
      if (runs.back().experiment.data.root != runs.front().experiment.data.root)
        scores_[p].why_not =
            format("{} and {} were trained on data in different folders",
                   runs.front().experiment.output.string(), runs.back().experiment.output.string());
    }
    if (trained.front().classes) scores_[p].why_not = "runs with one class per image have no Dice";
    try {
      check_alike(runs, trained, {});
    } catch (const Error& error) {
      scores_[p].why_not = error.what();
    }
    if (scores_[p].why_not.empty() && !reference_) reference_ = a;
  }

  // Reads the weights of all runs that occur in valid pairs, and their validation cases.
  void use_runs(Predictor& predictor, const data::Dataset& dataset) {
    std::vector<Member> members;
    for (std::size_t p = 0; p < pairs_.size(); ++p) {
      if (!scores_[p].why_not.empty()) continue;
      for (const std::size_t run : {pairs_[p].first, pairs_[p].second}) {
        if (!held_out_[run].empty()) continue;
        const Experiment& experiment = runs_[run].experiment;
        SplitOptions split = experiment.split;
        split.file = experiment.output / "split.csv";
        held_out_[run].resize(dataset.cases.size());
        for (const std::size_t i : make_split(dataset, split).validation) held_out_[run][i] = true;
        for (std::int64_t repeat = 1; repeat <= experiment.training.repeats; ++repeat) {
          places_[{run, repeat}] = members.size();
          members.push_back({&runs_[run], repeat});
        }
      }
    }
    predictor.use_members(members);
  }

  bool holds_out(std::size_t pair, std::size_t index) const {
    const auto [a, b] = pairs_[pair];
    return scores_[pair].why_not.empty() && held_out_[a][index] && held_out_[b][index];
  }

  void score_case(std::size_t index, Cases& cases, Predictor& predictor) {
    const data::Dataset& dataset = cases.dataset();
    const data::CaseFiles& files = dataset.cases[index];
    const auto prepared = cases.prepared(index);
    const data::Volume volume = data::read_case(dataset, files);
    std::map<std::size_t, std::vector<float>> found;  // probabilities by member
    const auto probabilities = [&](std::size_t run, std::int64_t repeat) -> const std::vector<float>& {
      const std::size_t member = places_.at({run, repeat});
      if (!found.contains(member)) found[member] = predictor.probabilities(*prepared, member);
      return found[member];
    };
    for (std::size_t p = 0; p < pairs_.size(); ++p) {
      if (!holds_out(p, index)) continue;
      const auto [a, b] = pairs_[p];
      const std::vector<Team> first = predicting_teams(runs_[a].experiment),
                              second = predicting_teams(runs_[b].experiment);
      for (std::size_t i = 0; i < std::max(first.size(), second.size()); ++i) {
        const Team &of_a = first[i % first.size()], &of_b = second[i % second.size()];
        std::vector<float> mean;
        const auto add = [&](const std::vector<float>& one) {
          mean.resize(one.size());
          for (std::size_t v = 0; v < one.size(); ++v) mean[v] += one[v];
        };
        for (const std::int64_t repeat : of_a) add(probabilities(a, repeat));
        for (const std::int64_t repeat : of_b) add(probabilities(b, repeat));
        const auto members = static_cast<float>(of_a.size() + of_b.size());
        for (float& value : mean) value /= members;
        const std::vector<DiceRow> rows =
            case_scores(runs_[a].experiment, (first.size() < second.size() ? of_b : of_a).front(), dataset,
                        files, volume, *prepared, decide(mean, *prepared, decoder_));
        scores_[p].rows.insert(scores_[p].rows.end(), rows.begin(), rows.end());
      }
    }
  }

  std::vector<TrainedRun> runs_;
  std::vector<data::Dataset> trained_;
  const std::vector<RunPair>& pairs_;
  std::vector<EnsembleScores> scores_;  // by pair
  std::optional<std::size_t> reference_;
  std::vector<std::vector<bool>> held_out_;  // by run and case
  std::map<std::pair<std::size_t, std::int64_t>, std::size_t>
      places_;  // index in the predictor, by run and repeat
  LabelDecoder decoder_;
};

}  // namespace

std::vector<EnsembleScores> score_ensembles(const std::vector<TrainedRun>& runs,
                                            const std::vector<RunPair>& pairs) {
  return EnsembleScorer(runs, pairs).score();
}

}  // namespace voxswap::pipeline
