// A model: the network of a finished run, in one file that another machine installs.
//
// It has what prediction needs and nothing of the patients: experiment.yaml without paths and names of cases,
// dataset.json, identity.json, split.csv, postprocessing.json, README.md and the predicting weights of every
// repeat. The file is a safetensors file (pipeline/record/checkpoint.h) with checksums: text files as
// metadata `file:PATH`, metadata of weights as JSON in `weights:PATH`, tensors as `PATH:NAME`. Unpacked, it
// is the folder of a run.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/file.h"
#include "pipeline/record/checkpoint.h"

namespace voxswap::library {

inline constexpr const char* readme_file = "README.md";

struct Model {
  std::map<std::string, std::string> files;             // content by path in the folder
  std::map<std::string, pipeline::Checkpoint> weights;  // by path in the folder
};

// `readme`: about the network, for its users: data, licence, authors. `only`: the repeat (counted from 1)
// that becomes the model's only one. Throws Exit::bad_data if the folder is not a finished run, Exit::usage
// if it has no such repeat.
Model model_of(const fs::path& run, const std::string& readme,
               std::optional<std::int64_t> only = std::nullopt);

void write_model(const fs::path& file, const Model& model);
// Throws Exit::bad_data if the file is damaged or is not a model.
Model read_model(const fs::path& file);

// The first thing that prediction needs and the model lacks, for messages; empty if it is complete.
std::string missing_in(const Model& model);

// Throws Exit::bad_data for paths that model_of() does not give.
void check_model_path(const std::string& path, const fs::path& file);

// Writes the files into the existing folder.
void unpack(const Model& model, const fs::path& folder);

}  // namespace voxswap::library
