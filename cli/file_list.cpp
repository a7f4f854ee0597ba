#include "cli/file_list.h"

#include "base/keys.h"
#include "base/text.h"
#include "pipeline/cases/data_warnings.h"
#include "pipeline/cases/split.h"
#include "pipeline/report/class_tables.h"
#include "pipeline/report/comparison.h"
#include "pipeline/report/folds.h"
#include "pipeline/report/reliability.h"
#include "pipeline/report/tables.h"
#include "pipeline/sweep/sweep_results.h"

namespace voxswap::cli {

namespace {

using namespace pipeline;

FileGroup run_files() {
  return {
      "Files of a run",
      "`voxswap run` and `train`",
      {{"experiment.yaml", "every key with its value, and the versions and device of the run"},
       {"split.csv", "the split", split_columns()},
       {"dataset.json", "layout, channels, labels and regions of the training data"},
       {"warnings.csv", "warnings of `voxswap check` for the cases of the split, and of the training",
        warning_columns()},
       {"identity.json", "hashes of experiment, data and split, which a resumed run must match"},
       {"checksums.json", "hashes of the tables, the experiment and the plan"},
       {".voxswap_written", "size, time and hash of each file written, to detect edited files"},
       {"plan.json", "the memory plan: every instruction and allocation"},
       {"arena.svg", "the device arena over one step, as a picture"},
       {"memory.csv", "planned memory over one step", described<MemoryRow>()},
       {"timeline.json", "one step for Perfetto; only with --trace"},
       {"routines.txt", "routines of GPU libraries that were chosen by measuring; only on GPUs"},
       {"epochs.csv", "one row per epoch", described<EpochRow>()},
       {"validation.csv", "Dice after every epoch, one row per output", described<ValidationRow>()},
       {"accuracy.csv", "accuracy after every epoch; only for classifiers", described<AccuracyRow>()},
       {"checkpoints/last.safetensors", "weights, optimiser state and position, from which a run resumes"},
       {"checkpoints/best.safetensors", "weights of the epoch with the lowest validation loss"},
       {"checkpoints/averaged.safetensors", "averaged weights; only with weight averaging"},
       {"checkpoints/*.previous.safetensors", "previous generation, used if the newest is damaged"},
       {"previous_stage/", "the first run of a cascade imported from nnU-Net"},
       {"growth/", "the run on a coarser grid that was trained first; only with training.growth"},
       {"growth/.run.yaml", "the experiment of the run itself, for resuming before it has begun"},
       {"predictions/CASE.nii.gz", "label map of a validation case on its own grid"},
       {"dice.csv", "scores, one row per case and region", described<DiceRow>()},
       {"calibration.csv", "calibration, one row per case and output", described<CalibrationRow>()},
       {"reliability.csv", "bins of reliability diagrams, one row per output and bin",
        described<ReliabilityRow>()},
       {"classes.csv", "predicted classes, one row per image; only for classifiers", described<ClassRow>()},
       {"confusion.csv", "confusion matrix; only for classifiers", described<ConfusionRow>()},
       {"postprocessing.json", "post-processing that `voxswap predict` applies"},
       {"timing.csv", "speed and traffic, one row per repeat", described<TimingRow>()},
       {"phases.csv", "time per phase of the run", described<PhaseRow>()},
       {"slices/CASE.png", "slices with ground truth and prediction"},
       {"viewer/CASE.json", "volumes of a case for the viewer in the report"},
       {"boxplot.csv", "box statistics of every metric", described<BoxRow>()},
       {"boxplot.svg, .png", "Dice per region"},
       {"reliability.svg, .png", "reliability diagrams: observed frequency against predicted probability"},
       {"epochs.svg, .png", "losses, Dice, learning rate and seconds per epoch"},
       {"validation.svg, .png", "Dice over training time"},
       {"timing.svg, .png", "time of epochs and steps; only for several groups of runs"},
       {"memory.svg, .png", "memory over one step"},
       {"report.html", "one self-contained page of all results"},
       {"run.log", "all messages with times"},
       {"log.jsonl", "one JSON object per step and epoch; only with the log jsonl"},
       {"tensorboard/events.out.*", "events for TensorBoard; only with the log tensorboard"},
       {".lock", "lock file that exists while a process writes to the folder"}}};
}

FileGroup report_files() {
  return {"Files of a report",
          "`voxswap report`, which merges the tables of the runs",
          {{"comparison.csv", "paired comparison of groups of runs", described<ComparisonRow>()},
           {"dice.svg, .png", "Dice per region against resolution, or of every setting"},
           {"pareto.svg, .png", "Dice against epoch time and device memory"},
           {"folds.csv", "scores per fold of a cross-validation", described<FoldRow>()},
           {"ensembles.csv", "scores of ensembles of two runs, as in dice.csv; only with --ensembles"},
           {"FIGURES/*.svg, *.pdf", "every plot at the width of a journal's column; only with --figures"},
           {"FIGURES/methods.md",
            "data, preprocessing, network, training, evaluation and software in words; only with "
            "--figures"}}};
}

FileGroup sweep_files() {
  return {"Files of a sweep",
          "`voxswap sweep`, with the files of a report",
          {{"CELL/", "the files of a run, one folder per combination"},
           {"CELL/cell.yaml", "command and keys of the cell"},
           {"CELL/outcome.json", "exit code and message of the cell"},
           {"CELL/log.txt", "output of the cell"},
           {"split.csv", "the split that all cells share", split_columns()},
           {"sweep.csv", "results; the swept keys are columns after the first", cell_columns()},
           {"halving.csv", "decisions of successive halving; only with sweep.stop",
            pipeline::described<pipeline::HalvingRow>()},
           {"published.csv", "published results to compare with; only if the sweep has them"},
           {"sweep.svg, .png", format("plot of the sweep; only with {}", key::sweep_plot)}}};
}

FileGroup prediction_files() {
  return {"Files of a prediction",
          "`voxswap predict`; several repeats have a folder each",
          {{"CASE.nii.gz", "label map on the case's own grid"},
           {"probabilities/CASE_OUTPUT.nii.gz", "probabilities of an output; only with --probabilities"},
           {"CASE.seg.nrrd", "segmentation for 3D Slicer; only with --segmentations"},
           {"itksnap_labels.txt", "names and colours of labels for ITK-SNAP; only with --segmentations"},
           {"CASE.seg.dcm", "DICOM segmentation object; only with --dicom-seg"},
           {"classes.csv", "image, predicted class and probabilities; only for classifiers"},
           {"prediction.json", "run, options and cases of the prediction"}}};
}

FileGroup plan_files() {
  return {"Files of a plan and of a measurement",
          "`voxswap plan --out` and `bench --out`",
          {{"forecast.json", "figures of the plan; only by plan"},
           {"largest.json", "largest sizes that fit; only by plan with --max-…"},
           {"bench.json", "measured steps, with --epoch also the parts of an epoch; only by bench"},
           {"plan.json", "the memory plan: every instruction and allocation"},
           {"arena.svg", "the device arena over one step, as a picture; only by plan"},
           {"timeline.json", "one step for Perfetto"}}};
}

}  // namespace

std::vector<FileGroup> file_list() {
  return {run_files(), report_files(), sweep_files(), prediction_files(), plan_files()};
}

}  // namespace voxswap::cli
