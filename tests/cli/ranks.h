// The built program on several ranks, started by mpirun, and the output that must be identical for any number
// of ranks.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/cli/program.h"

namespace voxswap::cli {

class RanksOfMpi : public ProgramInAFolder {
 protected:
  void SetUp() override {
    if (std::string_view(VOXSWAP_MPIEXEC).empty()) GTEST_SKIP() << "built without MPI, or with sanitizers";
    // As in a container, and on fewer cores than ranks. Sums in libraries may depend on the number of
    // threads.
    for (const char* name : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
                             "OMPI_MCA_rmaps_base_oversubscribe", "OMP_NUM_THREADS"})
      setenv(name, "1", 1);
    setenv("OMPI_MCA_hwloc_base_binding_policy", "none", 1);
    phantoms("8", "16");
    write("experiment.yaml", R"(name: tiny
data: {root: data, modalities: [flair, t1ce], split: {validation: 0.4}}
preprocess: {resolution: 8}
network: {base_filters: 2, depth: 2}
training: {epochs: 3, seed: 5, batch_size: 12, precision: f32}
)");
  }

  pid_t begin_on(int ranks, const Words& arguments) {
    return start(Words{"-n", std::to_string(ranks), VOXSWAP_PROGRAM} + arguments, {.log = log_},
                 VOXSWAP_MPIEXEC);
  }
  Outcome on(int ranks, const Words& arguments) { return finish(begin_on(ranks, arguments), {.log = log_}); }

  // All tables and tensors that contain no times.
  std::string results(const std::string& out) {
    std::string text;
    for (const char* table : {"epochs.csv", "validation.csv"}) {
      const Csv csv = read_csv(folder_ / out / table);
      for (const auto& row : csv.rows)
        for (const char* column :
             {"repeat", "epoch", "train_loss", "validation_loss", "learning_rate", "region", "dice"})
          for (std::size_t i = 0; i < csv.header.size(); ++i)
            if (csv.header[i] == column) text += row[i] + " ";
    }
    for (const char* table : {"dice.csv", "reliability.csv"}) text += read_file(folder_ / out / table);
    for (const char* part : {"predictions", "slices"}) {
      std::vector<fs::path> files;
      for (const auto& entry : fs::directory_iterator(folder_ / out / part)) files.push_back(entry.path());
      std::sort(files.begin(), files.end());
      for (const fs::path& file : files) text += file.filename().string() + read_file(file);
    }
    for (const char* name : {"last", "best", "averaged"})  // without averaging there are two
      if (fs::exists(folder_ / out / "checkpoints" / (std::string(name) + ".safetensors")))
        text += tensors(out, name);
    return text;
  }

  // Processes of the program that train into this folder.
  std::vector<pid_t> ranks_here() {
    std::vector<pid_t> found;
    error_code ignored;
    for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
      const int id = std::atoi(entry.path().filename().c_str());
      if (id <= 0) continue;
      std::string line;
      try {
        line = read_file(entry.path() / "cmdline");
      } catch (const std::exception&) {
        continue;  // it has ended
      }
      if (line.starts_with(VOXSWAP_PROGRAM) && line.find(folder_.string()) != line.npos) found.push_back(id);
    }
    return found;
  }
};

}  // namespace voxswap::cli
