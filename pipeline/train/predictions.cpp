// Predicts the validation cases in rounds: in each, every group of slab ranks predicts one case, and all
// ranks stop together if one is interrupted. The first rank of a group writes and scores.
#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>

#include "base/error.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/own_folder.h"
#include "base/progress.h"
#include "data/cases/read_case.h"
#include "data/formats/image_writing.h"
#include "data/formats/label_map_writer.h"
#include "data/volumes/orientation.h"
#include "pipeline/cases/patches.h"
#include "pipeline/predict/case_scores.h"
#include "pipeline/predict/inference.h"
#include "pipeline/predict/postprocessing.h"
#include "pipeline/predict/predict.h"
#include "pipeline/predict/predictor.h"
#include "pipeline/record/resume.h"
#include "pipeline/report/reliability.h"
#include "pipeline/report/slice_view.h"
#include "pipeline/report/tables.h"
#include "pipeline/report/viewer_case.h"
#include "pipeline/report/written_files.h"
#include "pipeline/train/validation.h"

namespace voxswap::pipeline {

namespace {

// PredictionScores of a prediction.
struct PredictionScores {
  std::vector<DiceRow> dice;                // per grid and region
  std::vector<CalibrationRow> calibration;  // per output
  std::vector<ReliabilityRow> reliability;  // per output and bin
};

template <class Row>
void move_into(std::vector<Row>& all, std::vector<Row> rows) {
  std::move(rows.begin(), rows.end(), std::back_inserter(all));
}

// A validation case to be predicted by a team of repeats.
struct Turn {
  Team team;
  std::size_t index = 0;  // of the case in the data set

  std::int64_t repeat() const { return team.front(); }
};

std::vector<Turn> turns_of(const Experiment& experiment, const Split& split) {
  std::vector<Turn> turns;
  for (const Team& team : predicting_teams(experiment))
    for (const std::size_t index : split.validation) turns.push_back({team, index});
  return turns;
}

// Calibration of the annotated outputs, updated as probabilities arrive. Voxels with the label `ignored` are
// excluded (0: none).
class Reliability {
 public:
  Reliability(const std::vector<std::int16_t>& truth, const std::vector<std::vector<int>>& outputs,
              const data::CaseFiles& files, int ignored)
      : truth_(truth),
        bits_(data::target_bits(truth, outputs)),
        bytes_((outputs.size() + 7) / 8),
        ignored_(ignored),
        found_(outputs.size()) {
    for (const std::vector<int>& values : outputs) annotated_.push_back(files.is_annotated(values) ? 1 : 0);
  }

  void add(std::span<const float> planes) {
    for (std::size_t i = 0; i < planes.size(); i += found_.size(), ++voxel_) {
      if (ignored_ != 0 && truth_[voxel_] == ignored_) continue;
      for (std::size_t c = 0; c < found_.size(); ++c)
        if (annotated_[c] != 0)
          found_[c].add(static_cast<double>(planes[i + c]),
                        (bits_[voxel_ * bytes_ + c / 8] >> c % 8 & 1U) != 0);
    }
  }
  const std::vector<metrics::Calibration>& outputs() const { return found_; }

 private:
  const std::vector<std::int16_t>& truth_;
  std::vector<std::uint8_t> bits_;  // of the ground truth
  std::size_t bytes_, voxel_ = 0;   // bytes per voxel; number of voxels processed
  int ignored_;
  std::vector<char> annotated_;  // per output
  std::vector<metrics::Calibration> found_;
};

class CasePredictor {
 public:
  CasePredictor(const TrainedRun& run, const RankGroups& ranks, Cases& cases, std::size_t viewed)
      : experiment_(run.experiment),
        ranks_(ranks),
        viewer_bytes_(cases.dataset().labels.size() > most_viewed_labels
                          ? 0
                          : experiment_.viewer_bytes /
                                static_cast<std::int64_t>(std::max<std::size_t>(viewed, 1))),
        dataset_(cases.dataset()),
        cases_(cases),
        decoder_(make_decoder(dataset_, experiment_)),
        outputs_(output_names(dataset_, experiment_.training)),
        predictor_(run, dataset_, {}, ranks) {}

  // Predicts a case, writes its files and returns its scores.
  PredictionScores predict(const Turn& turn) {
    if (turn.team != team_) predictor_.use(team_ = turn.team);
    const data::CaseFiles& files = dataset_.cases[turn.index];
    const auto prepared = cases_.prepared(turn.index);
    if (!ranks_.is_first_of_group()) {
      predictor_.predict(*prepared, [](auto) {});  // passes its planes to the first rank
      return {};
    }
    Reliability reliability(prepared->truth, output_classes(dataset_, experiment_.training), files,
                            dataset_.ignore_label);
    const Prediction prediction = write_prediction(turn, *prepared, files.first_channel(), reliability);
    const data::Volume volume = data::read_case(dataset_, files);
    if (turn.repeat() == 1) write_pictures(files.id, volume, *prepared, prediction);
    PredictionScores scores{
        case_scores(experiment_, turn.repeat(), dataset_, files, volume, *prepared, prediction), {}, {}};
    add_calibration(turn.repeat(), files.id, reliability, scores);
    return scores;
  }

 private:
  // Decides and writes planes as the network produces them; the whole label map is only kept for scoring.
  Prediction write_prediction(const Turn& turn, const data::PreparedCase& prepared, const fs::path& like,
                              Reliability& reliability) {
    const fs::path folder = prediction_folder(experiment_, turn.team);
    make_directories(folder);
    const fs::path file = folder / label_map_name(dataset_, prepared.id);
    Prediction made{{prepared.original, {}}, {prepared.training_geometry(), {}}};
    TakeLabels native = append_to(made.native.voxels);
    std::optional<data::LabelMapWriter> writer;
    const bool canonical = prepared.original == data::canonical(prepared.stored);
    if (canonical && data::LabelMapWriter::can_write(file, prepared.stored)) {
      writer.emplace(file, prepared.stored, like);
      native = [&](auto planes) { writer->add(planes); };
    }
    Decision decision(prepared, decoder_, native, append_to(made.on_training_grid.voxels));
    const auto take = [&](std::span<const float> planes) {
      decision.add(planes);
      reliability.add(decoder_.logits ? probabilities_of(planes, decoder_) : planes);
    };
    predictor_.predict(prepared, take, scratch_for(experiment_.memory, folder));
    decision.finish();
    if (writer) {
      writer->finish();
      made.native.voxels = writer->labels();
    } else {
      made.native = data::canonical(std::move(made.native));
      data::write_label_map(file, data::as_stored(made.native, prepared.stored), like);
    }
    return made;
  }

  void add_calibration(std::int64_t repeat, const std::string& id, const Reliability& reliability,
                       PredictionScores& scores) const {
    for (std::size_t c = 0; c < outputs_.size(); ++c) {
      CalibrationRow& row = scores.calibration.emplace_back();
      row.run = experiment_.name;
      row.repeat = repeat;
      row.resolution = resolution_text(experiment_.preprocess.resolution);
      row.case_id = id;
      row.output = outputs_[c];
      set_scores(row, reliability.outputs()[c]);
      move_into(scores.reliability, reliability_rows({row, row.output}, reliability.outputs()[c]));
    }
  }

  // Writes the case's pictures and viewer data for the report.
  void write_pictures(const std::string& id, const data::Volume& volume, const data::PreparedCase& prepared,
                      const Prediction& prediction) const {
    make_directories(experiment_.output / "slices");
    write_slices(experiment_.output / "slices" / (id + ".png"),
                 {id, dataset_.modalities.back(), volume.channels.back(), volume.truth, prediction.native,
                  dataset_.regions, prepared.stored});
    if (viewer_bytes_ == 0) return;
    make_directories(experiment_.output / viewer_folder);
    write_file(
        experiment_.output / viewer_folder / (id + ".json"),
        viewed_case({volume, prediction.native, dataset_.modalities, dataset_.labels, dataset_.regions},
                    viewer_bytes_));
  }

  const Experiment& experiment_;
  const RankGroups& ranks_;
  std::int64_t viewer_bytes_;  // of report.html, per case
  const data::Dataset& dataset_;
  Cases& cases_;
  LabelDecoder decoder_;
  std::vector<std::string> outputs_;  // names
  Predictor predictor_;
  Team team_;  // whose weights are loaded
};

// True if all ranks see the weights that the first rank wrote, which requires a shared file system.
bool see_the_same(const Experiment& experiment, net::Ranks& ranks) {
  constexpr std::size_t header = 1 << 16;  // contains the checksums of all tensors
  net::wait_for_all(ranks);                // the first rank may still be writing
  std::string seen;
  for (std::int64_t repeat = 1; repeat <= experiment.training.repeats; ++repeat) {
    const fs::path file = predicting_file(experiment, repeat);
    error_code ignored;
    seen += fs::exists(file, ignored) ? read_file(file, header) : "nothing";
  }
  const std::vector<std::string> all = net::gather(ranks, Hasher().add(seen).digest());
  return std::all_of(all.begin(), all.end(), [&](const std::string& one) { return one == all.front(); });
}

// After a resume with another evaluate.ensemble, removes label maps in the folders of the other setting.
void remove_former_predictions(Experiment experiment, const data::Dataset& dataset, const Split& split) {
  if (experiment.training.repeats == 1) return;
  experiment.evaluate.ensemble = !experiment.evaluate.ensemble;
  error_code ignored;
  for (const Turn& turn : turns_of(experiment, split))
    remove_own(prediction_folder(experiment, turn.team) /
               label_map_name(dataset, dataset.cases[turn.index].id));
  for (const Team& team : predicting_teams(experiment))
    fs::remove(prediction_folder(experiment, team), ignored);
}

void stop_if_interrupted(net::Ranks& ranks) {
  if (!net::any(ranks, interrupted())) return;
  ranks.leave();  // together, as in training
  fail(Exit::interrupted, "interrupted while predicting. Continue with --resume");
}

// Collective. Merges the rows of all groups in the order of turns on rank 0.
template <class Row>
std::vector<Row> gathered(const RankGroups& ranks, std::vector<Row> mine, std::size_t turns,
                          std::size_t rows_each) {
  if (ranks.all().is_alone()) return mine;
  std::vector<std::vector<Row>> all;
  for (const std::string& text : of_groups(ranks, net::gather(ranks.all(), csv_text(csv_of(mine))))) {
    const std::string where = "predictions of a rank";
    all.push_back(rows_of<Row>(parse_csv(text, where), where));
  }
  std::vector<Row> rows;
  for (std::size_t turn = 0; turn < turns; ++turn) {
    const auto first =
        all[turn % all.size()].begin() + static_cast<std::ptrdiff_t>(turn / all.size() * rows_each);
    std::copy(first, first + static_cast<std::ptrdiff_t>(rows_each), std::back_inserter(rows));
  }
  return rows;
}

}  // namespace

void predict_and_score(const Experiment& experiment, const RunContext& context, Cases& cases,
                       const Split& split) {
  net::Ranks& ranks = context.ranks.all();
  const std::vector<Turn> turns = turns_of(experiment, split);
  if (ranks.is_first()) remove_former_predictions(experiment, cases.dataset(), split);
  const bool shared = see_the_same(experiment, ranks);
  if (!shared)
    log::info("the ranks do not share the folder {}: rank 0 predicts alone", experiment.output.string());
  const RankGroups groups = shared ? context.ranks : RankGroups();
  const TrainedRun run{experiment, context.settings, context.identity};
  const auto each = static_cast<std::size_t>(groups.replicas());
  const auto rank = static_cast<std::size_t>(shared ? groups.replica() : ranks.rank());
  std::unique_ptr<CasePredictor> predictor;
  // All slab ranks must connect, even without a turn.
  if (rank < (groups.slab_ranks().count > 1 ? each : std::min(each, turns.size())))
    predictor = std::make_unique<CasePredictor>(run, groups, cases, split.validation.size());
  Progress progress("predicting", "cases", static_cast<std::int64_t>(turns.size()));
  PredictionScores scores;
  for (std::size_t from = 0; from < turns.size(); from += each) {
    stop_if_interrupted(ranks);
    if (predictor && from + rank < turns.size()) {
      PredictionScores found = predictor->predict(turns[from + rank]);
      move_into(scores.dice, std::move(found.dice));
      move_into(scores.calibration, std::move(found.calibration));
      move_into(scores.reliability, std::move(found.reliability));
    }
    progress.advance(static_cast<std::int64_t>(std::min(each, turns.size() - from)));
  }
  const data::Dataset& dataset = cases.dataset();
  if (shared) {
    scores.dice = gathered(groups, std::move(scores.dice), turns.size(),
                           experiment.evaluate.at.size() * dataset.regions.size());
    const std::size_t outputs = output_names(dataset, experiment.training).size();
    scores.calibration = gathered(groups, std::move(scores.calibration), turns.size(), outputs);
    scores.reliability =
        gathered(groups, std::move(scores.reliability), turns.size(), outputs * metrics::Calibration::bins);
  }
  if (!ranks.is_first()) return;
  write_noted(experiment.output, {{"dice.csv", csv_text(csv_of(scores.dice))},
                                  {"calibration.csv", csv_text(csv_of(scores.calibration))},
                                  {"reliability.csv", csv_text(csv_of(summed(scores.reliability)))}});
  if (experiment.evaluate.postprocessing == FindPostprocessing::automatic)
    write_postprocessing({experiment}, dataset, experiment.output);
  settle_files(experiment.output);
}

void predict_and_count(const Experiment& experiment, const RunContext& context, Cases& cases,
                       const Split& split) {
  if (!context.ranks.all().is_first()) return;
  const data::Dataset& dataset = cases.dataset();
  Predictor predictor({experiment, context.settings, context.identity}, dataset, {}, context.ranks);
  std::vector<ClassRow> rows;
  Team team;  // whose weights are loaded
  for (const Turn& turn : turns_of(experiment, split)) {
    throw_if_interrupted();
    if (turn.team != team) predictor.use(team = turn.team);
    ClassRow& row = rows.emplace_back(
        class_row(dataset, dataset.cases[turn.index], predictor.probabilities(*cases.prepared(turn.index))));
    row.run = experiment.name;
    row.repeat = turn.repeat();
    row.resolution = resolution_text(experiment.preprocess.resolution);
  }
  write_noted(experiment.output, {{"classes.csv", csv_text(csv_of(rows))},
                                  {"confusion.csv", csv_text(csv_of(confusion_rows(confusions(rows))))}});
  settle_files(experiment.output);
}

}  // namespace voxswap::pipeline
