#include "voxswap/experiment.h"

#include "base/error.h"
#include "base/text.h"
#include "library/content.h"
#include "voxswap/version.h"

namespace voxswap {

Experiment holding(experiments::LoadedExperiment experiment) {
  return Experiment(std::make_shared<const Experiment::Content>(Experiment::Content{std::move(experiment)}));
}

Experiment Experiment::read(const std::string& file, const std::vector<std::string>& overrides) {
  return holding(experiments::load_experiment(file, overrides));
}

Experiment Experiment::of_run(const std::string& folder) {
  return holding(experiments::load_run(folder));
}

std::string Experiment::text() const {
  return content().experiment.resolved;
}

std::string Experiment::setting(const std::string& key) const {
  std::vector<std::string> names;
  for (const pipeline::Setting& setting : content().experiment.settings) {
    if (setting.key == key) return setting.value;
    names.push_back(setting.key);
  }
  const std::string guess = nearest(key, names);
  fail(Exit::usage, "unknown key '{}'{}", key, guess.empty() ? "" : ". Did you mean '" + guess + "'?");
}

std::string Experiment::folder() const {
  return content().experiment.output.string();
}

const char* version() {
  return VOXSWAP_VERSION;
}

}  // namespace voxswap
