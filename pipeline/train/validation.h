// What a network gets right after an epoch: the loss, and Dice per region where the network computes, or of
// images that get one class whether it is the right one. One trained on patches, or on slices, sees the
// volume in windows side by side; its loss is the mean of theirs.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "data/layouts/dataset.h"
#include "pipeline/cases/cases.h"
#include "pipeline/cases/options.h"
#include "pipeline/device/session.h"
#include "pipeline/predict/predict.h"
#include "pipeline/train/schedule.h"

namespace voxswap::pipeline {

// Gets to see a case: truth and label map on the grid on which the network computes.
using Look = std::function<void(const data::PreparedCase&, std::vector<std::int16_t> truth,
                                std::vector<std::int16_t> labels)>;

class Validation {
 public:
  // Of so many cases.
  Validation(const data::Dataset& dataset, const RunOptions& options, std::size_t count);

  // Cases are shared out: of each round, in which every group of ranks that share volumes has one, this is
  // the case at `position`; none where there are no more.
  std::size_t rounds() const;
  std::optional<std::size_t> position(std::size_t round) const;
  // `look` may be empty; it is shown nothing of images that get one class.
  void add(Session& session, Cases& cases, std::size_t index, std::size_t position, const Look& look);
  void gather();  // what all ranks found

  // Means over the cases, all of which were added and gathered. A region that is empty in truth and
  // prediction counts as 1, in one of both as 0: the rule `brats` of metrics/overlap.h.
  double loss() const;
  bool of_classes() const { return dataset_.classes; }
  std::vector<std::pair<std::string, double>> dice() const;  // in the order of the data set's regions
  double mean_dice() const;
  double accuracy() const;  // REQUIRES: a data set of classes, in which there is no Dice
  std::vector<std::pair<std::string, double>> scores() const;  // Dice of regions, or {"accuracy", 0.95}
  std::string summary() const;                                 // "Dice 0.871", "accuracy 0.950"

 private:
  void add_image(Session& session, const data::Sample& sample, double* numbers);
  double mean(std::size_t number) const;

  const data::Dataset& dataset_;
  const RunOptions& options_;
  LabelDecoder decoder_;
  std::size_t width_;  // numbers of a case: the loss, and Dice of every region; or 1 for the right class
  std::vector<double> numbers_;  // of all cases, in their order
};

// Of what every rank has, that of the first rank of each group that shares volumes.
std::vector<std::string> of_groups(const RunOptions& options, const std::vector<std::string>& all);

// Of these cases, with the weights that the session has; nothing where a signal came to any rank. `look` is
// shown those of this rank, in their order.
std::optional<Validation> validate(const RunOptions& options, Session& session, Cases& cases,
                                   const std::vector<std::size_t>& validated, TimeLeft& left,
                                   const Look& look = {});

// Predictions of the first validation cases during training: slices with ground truth and prediction as
// outlines, for logs with pictures.
class ValidationPictures {
 public:
  explicit ValidationPictures(const data::Dataset& dataset) : dataset_(dataset) {}

  // For validate(): makes pictures of the first three cases that it shows, on the grid on which the network
  // computes.
  Look look();
  // Ids of cases and the bytes of their PNGs, since the last time.
  std::vector<std::pair<std::string, std::string>> take() { return std::exchange(made_, {}); }

 private:
  const data::Dataset& dataset_;
  std::vector<std::pair<std::string, std::string>> made_;
};

// The part of a run after training: the best weights of every repeat, or of all together (evaluate.ensemble),
// predict the validation cases, whose label maps and pictures are written and scored. The cases are divided
// among ranks.

// All ranks call it when the first has written the weights; it writes dice.csv.
void predict_and_score(const RunOptions& options, Cases& cases, const Split& split);
// The same of images that get one class: classes.csv and confusion.csv. The first rank does it alone.
void predict_and_count(const RunOptions& options, Cases& cases, const Split& split);

}  // namespace voxswap::pipeline
