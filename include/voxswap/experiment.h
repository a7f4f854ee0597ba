// An experiment: data, network and training, with all keys of the YAML file.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace voxswap {

class Experiment {
 public:
  // Reads a YAML file and applies "key=value" overrides in order. Throws Error with Exit::usage that names
  // file, line and key.
  static Experiment read(const std::string& file, const std::vector<std::string>& overrides = {});
  // The experiment of a finished run. Throws Exit::bad_data for a folder without a run.
  static Experiment of_run(const std::string& folder);

  std::string text() const;                           // YAML with every key
  std::string setting(const std::string& key) const;  // "training.epochs" -> "80"; throws Exit::usage
  std::string folder() const;                         // of the run: output.dir

  struct Content;  // private to the library
  explicit Experiment(std::shared_ptr<const Content> content) : content_(std::move(content)) {}
  const Content& content() const { return *content_; }

 private:
  std::shared_ptr<const Content> content_;
};

}  // namespace voxswap
