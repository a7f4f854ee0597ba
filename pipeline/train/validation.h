// Validation after an epoch: the loss, and Dice per region on the training grid or, for image classification,
// whether the class is correct. Labels of a whole volume are decided and counted on the device. A network
// trained on patches or slices processes the volume in adjacent windows: the host decides the labels from
// their probabilities, and the loss is their mean.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "data/layouts/dataset.h"
#include "pipeline/cases/cases.h"
#include "pipeline/cases/experiment.h"
#include "pipeline/device/session.h"
#include "pipeline/predict/predict.h"
#include "pipeline/train/schedule.h"

namespace voxswap::pipeline {

// Receives a case: ground truth and label map on the training grid. It is called for the first cases of each
// rank only, so that few label maps are copied from the device.
constexpr std::size_t most_looked_at = 3;
using Look = std::function<void(const data::PreparedCase&, std::vector<std::int16_t> truth,
                                std::vector<std::int16_t> labels)>;

class Validation {
 public:
  // `count`: number of cases.
  Validation(const data::Dataset& dataset, const Experiment& experiment, const RankGroups& ranks,
             std::size_t count);

  // Cases are distributed over groups of slab ranks in rounds. position() is the case of this group in a
  // round; nullopt if there are no more.
  std::size_t rounds() const;
  std::optional<std::size_t> position(std::size_t round) const;
  // Collective within the group. `sample`: the whole case. `with_labels`: returns the label map on the first
  // rank; never for image classification.
  std::vector<std::int16_t> add(Session& session, Cases& cases, const Sample& sample, std::size_t position,
                                bool with_labels);
  void gather();  // all-gathers the results

  // Means over the cases. REQUIRES: all cases were added and gathered. A region that is empty in both ground
  // truth and prediction has Dice 1, in one of them 0: the rule `brats` of metrics/overlap.h.
  double loss() const;
  bool of_classes() const { return dataset_.classes; }
  std::vector<std::pair<std::string, double>> dice() const;  // in the order of the data set's regions
  double mean_dice() const;
  double accuracy() const;  // REQUIRES: a classification data set, which has no Dice
  std::vector<std::pair<std::string, double>> scores() const;  // Dice of regions, or {"accuracy", 0.95}
  std::string summary() const;                                 // "Dice 0.871", "accuracy 0.950"
  std::string progress(const char* what, bool is_best) const;  // "validation 0.3021 (best)  Dice 0.871"

 private:
  void add_image(Session& session, const Sample& sample, double* numbers);
  std::vector<std::int16_t> add_volume(Session& session, const data::PreparedCase& prepared,
                                       const Sample& sample, bool with_labels, double* numbers);
  std::vector<std::int16_t> add_windows(Session& session, const data::PreparedCase& prepared,
                                        const Sample& sample, const Windows& windows, double* numbers);
  void score(const data::CaseFiles& files, std::span<const metrics::LabelPair> pairs, double* numbers) const;
  double mean(std::size_t number) const;

  const data::Dataset& dataset_;
  const Experiment& experiment_;
  const RankGroups& ranks_;
  LabelDecoder decoder_;
  LabelCounts counts_;
  std::size_t
      width_;  // numbers per case: the loss, and Dice of every region or, for classification, 1 if correct
  std::vector<double> numbers_;  // of all cases, in order
};

// From values of all ranks, those of the first rank of each group.
std::vector<std::string> of_groups(const RankGroups& ranks, const std::vector<std::string>& all);

// Validates these cases with the session's present weights; nullopt if any rank was interrupted. `look` may
// be empty, and is not called for image classification.
std::optional<Validation> validate(const Experiment& experiment, const RankGroups& ranks, Session& session,
                                   Cases& cases, const std::vector<std::size_t>& validated, TimeLeft& left,
                                   const Look& look = {});

// Pictures of the first validation cases during training for logs: slices with outlines of ground truth and
// prediction.
class ValidationPictures {
 public:
  explicit ValidationPictures(const data::Dataset& dataset) : dataset_(dataset) {}

  // A callback for validate() that draws the cases it receives, on the training grid.
  Look look();
  // Case ids and PNG bytes since the last call.
  std::vector<std::pair<std::string, std::string>> take() { return std::exchange(made_, {}); }

 private:
  const data::Dataset& dataset_;
  std::vector<std::pair<std::string, std::string>> made_;
};

// The part of a run after training: the best weights of every repeat, or of all together (evaluate.ensemble),
// predict the validation cases. Label maps and pictures are written and scored. Cases are distributed over
// the ranks.

// Collective, after the first rank has written the weights; the first rank writes dice.csv.
void predict_and_score(const Experiment& experiment, const RunContext& context, Cases& cases,
                       const Split& split);
// For image classification: writes classes.csv and confusion.csv. Only the first rank does the work.
void predict_and_count(const Experiment& experiment, const RunContext& context, Cases& cases,
                       const Split& split);

}  // namespace voxswap::pipeline
