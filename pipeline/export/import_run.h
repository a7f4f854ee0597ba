// `voxswap import`: creates a run with weights trained by another program, for `voxswap predict`.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "data/layouts/dataset.h"
#include "net/networks/network.h"
#include "pipeline/record/resume.h"

namespace voxswap::pipeline {

// Writes a new folder `out` with the run's experiment, identity, split, data description and best weights;
// the weights of `repeat` come from `file`. Throws Exit::usage if `out` is not empty, Exit::bad_data if the
// weights do not match the run's network.
void import_run(const TrainedRun& run, std::int64_t repeat, const fs::path& file, const fs::path& out);

// A run made of weights that another program trained, without a run of voxswap.
struct ImportedRun {
  Experiment experiment{};  // output: the run's folder; a repeat for each set of weights
  SettingList settings{};   // every key
  std::string resolved{};   // content of experiment.yaml
  data::Dataset dataset{};  // description of the training data; no cases
  std::string from{};       // for the metadata
};
// Writes the run's files into `part`, which becomes its folder; `weights` reads those of a repeat, counted
// from 1.
void write_imported_run(const ImportedRun& run, const fs::path& part,
                        const std::function<std::vector<Tensor>(std::int64_t repeat)>& weights);
// The graph whose parameters the weights are; that of training also has the heads of deep supervision.
net::ForwardGraph imported_network(const Experiment& experiment, const data::Dataset& dataset,
                                   bool training = true);

// The parameters of the network among `given`, of which none may be missing or of another shape, and none
// left. `where` names their file. Throws as imported_weights().
std::vector<Tensor> matched_weights(std::vector<Tensor> given, const std::string& where,
                                    const net::ForwardGraph& network);
// True for tensors that nnU-Net stores twice (matched_weights() drops them).
bool is_nnunet_copy(std::string_view name);

// Reads weights trained by another program from a safetensors file, or one of PyTorch (record/torch_file.h):
// exactly the network's parameters. Strips
// prefixes of PyTorch's wrappers (module., _orig_mod.); 2D kernels may be O,I,H,W, dense layers O,I. Drops
// nnU-Net's duplicate tensors and its segmentation layers on levels where our network has none. Throws
// Exit::bad_data that lists all missing, unexpected and differently shaped tensors.
std::vector<Tensor> imported_weights(const fs::path& file, const net::ForwardGraph& network);

}  // namespace voxswap::pipeline
