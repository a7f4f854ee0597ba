#include "pipeline/export/import_run.h"

#include "base/error.h"
#include "base/file.h"
#include "base/folder_lock.h"
#include "pipeline/export/imported_weights.h"
#include "pipeline/export/trained_network.h"
#include "pipeline/record/run_folder.h"

namespace voxswap::pipeline {

namespace {

constexpr const char* best_file = "best.safetensors";

// What prediction reads of a run beside its weights.
void copy_record(const fs::path& from, const fs::path& to) {
  for (const char* name : {"experiment.yaml", description_file, "identity.json", "split.csv"})
    if (fs::exists(from / name)) write_file(to / name, read_file(from / name));
}

}  // namespace

void import_run(const RunOptions& run, std::int64_t repeat, const fs::path& file, const fs::path& out) {
  if (fs::exists(out) && holds_anything(out))
    fail(Exit::usage, "{}: is not empty. Choose a new folder with --out DIR", out.string());
  const TrainedNetwork network = trained_network(run, repeat, "");
  Checkpoint best{network.weights.checkpoint.metadata, imported_weights(file, network.graph)};
  best.metadata["imported"] = file.filename().string();
  RunOptions made = run;
  made.output = out;
  make_writable_directory(out);
  copy_record(run.output, out);
  for (std::int64_t i = 1; i <= run.training.repeats; ++i) {
    const fs::path folder = checkpoint_folder(made, i);
    make_directories(folder);
    if (i == repeat)
      write_checkpoint(folder / best_file, best);
    else
      write_file(folder / best_file, read_file(predicting_file(run, i)));
  }
}

}  // namespace voxswap::pipeline
