// Installed models: folders of runs with a name, which commands accept in place of a run's folder.
#pragma once

#include <string>
#include <vector>

#include "base/file.h"
#include "data/layouts/dataset.h"

namespace voxswap::library {

struct InstalledModel {
  std::string name;
  fs::path folder;        // a run
  data::Dataset dataset;  // channels, labels and regions
};

// The user's models: XDG_DATA_HOME or ~/.local/share, then /voxswap/models. Throws Exit::usage if neither is
// set.
fs::path users_models();

// Those in `own` (empty: users_models()), and those that came with the program, by name; of two with the same
// name, the one in `own`. Damaged ones are left out with a warning.
std::vector<InstalledModel> installed_models(const fs::path& own);

// Unpacks a model file (model.h) to `own`/NAME and returns that folder. Empty `name`: that of the file.
// Throws Exit::usage if there is one already.
fs::path install_model(const fs::path& file, std::string name, const fs::path& own);

// `text` if such a path exists, otherwise the folder of the model with this name; `text` if no model has a
// similar one. Throws Exit::bad_data that names the model with a similar name.
fs::path run_or_model(const std::string& text, const fs::path& own);

}  // namespace voxswap::library
