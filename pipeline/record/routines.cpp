#include "pipeline/record/routines.h"

#include <set>

#include "base/checksummed_file.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "pipeline/record/resume.h"

namespace voxswap::pipeline {

namespace {

constexpr const char* routines_file = "routines.txt";
constexpr const char* metadata_key = "routines";

std::string chosen(const net::Backend& backend) {
  const auto* const device = dynamic_cast<const net::TuningBackend*>(&backend);
  return device == nullptr ? "" : device->routines();
}

// Empty if the checkpoint is damaged: resume reports that, and the previous checkpoint has the same routines.
std::string of_checkpoint(const fs::path& file) {
  if (!fs::exists(file)) return "";
  try {
    return read_checkpoint_header(file).entry(metadata_key);
  } catch (const Error&) {
    return "";
  }
}

// Routines in the last checkpoint or, for a run killed before its first checkpoint, in the folder.
std::string of_run(const Experiment& experiment) {
  for (std::int64_t repeat = experiment.training.repeats; repeat >= 1; --repeat)
    for (const char* name : {"last.safetensors", "last.previous.safetensors"})
      if (std::string text = of_checkpoint(checkpoint_folder(experiment, repeat) / name); !text.empty())
        return text;
  const fs::path file = experiment.output / routines_file;
  return fs::exists(file) ? read_file(file) : "";
}

// Cache file for this device and library version.
fs::path cache_file(const net::Backend& backend, const Experiment& experiment) {
  return experiment.cache / "routines" / (Hasher().add(backend.description()).digest() + ".routines");
}

}  // namespace

void take_routines(net::Backend& backend, const Experiment& experiment, bool of_the_run, net::Ranks& ranks) {
  auto* const device = dynamic_cast<net::TuningBackend*>(&backend);
  if (device == nullptr) return;
  std::string known;
  if (ranks.is_first()) {
    if (of_the_run) known = of_run(experiment);
    if (!experiment.cache.empty()) known += read_checksummed(cache_file(backend, experiment)).value_or("");
  }
  known = net::broadcast(ranks, known);
  if (!known.empty()) device->take_routines(known);
}

bool agree_on_routines(net::Backend& backend, net::Ranks& ranks) {
  auto* const device = dynamic_cast<net::TuningBackend*>(&backend);
  if (device == nullptr) return false;
  std::string all;
  for (const std::string& text : net::gather(ranks, device->routines())) all += text;
  return device->replace_routines(all);
}

// Existing entries are kept.
void remember_routines(const net::Backend& backend, const Experiment& experiment) {
  const std::string text = chosen(backend);
  if (text.empty() || experiment.cache.empty()) return;
  const fs::path file = cache_file(backend, experiment);
  std::string all = read_checksummed(file).value_or("");
  const auto problem_of = [](const std::string& line) { return line.substr(line.find('\t') + 1); };
  std::set<std::string> known;
  for (const std::string& line : split(all, '\n')) known.insert(problem_of(line));
  bool is_new = false;
  for (const std::string& line : split(text, '\n')) {
    if (line.empty() || !known.insert(problem_of(line)).second) continue;
    all += line + "\n";
    is_new = true;
  }
  if (!is_new) return;
  try {
    make_writable_directory(file.parent_path());
    write_checksummed(file, all);
  } catch (const Error& error) {
    log::warn("the fastest routines cannot be cached: {}", error.what());
  }
}

void write_routines(const net::Backend& backend, const Experiment& experiment) {
  if (const std::string text = chosen(backend); !text.empty())
    write_file(experiment.output / routines_file, text);
}

std::map<std::string, std::string> routines_metadata(const net::Backend& backend) {
  const std::string text = chosen(backend);
  if (text.empty()) return {};
  return {{metadata_key, text}};
}

}  // namespace voxswap::pipeline
