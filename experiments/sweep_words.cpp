#include "experiments/sweep_words.h"

#include "base/text.h"

namespace voxswap::experiments {

namespace {

const std::vector<std::string> questions = {"as", "largest", "devices", "devices_per_link", "steps", "trace"};
const std::vector<std::string> statements = {"command", "title", "plot", "published", "volumes"};

}  // namespace

bool is_sweep_question(const std::string& word) {
  return is_among(word, questions);
}

bool is_sweep_statement(const std::string& word) {
  return is_among(word, statements);
}

bool is_swept(const std::string& path, const Yaml& entry) {
  return (entry.kind == Yaml::Kind::list || entry.kind == Yaml::Kind::map) && !is_sweep_statement(path);
}

}  // namespace voxswap::experiments
