#include "experiments/sweep_words.h"

#include "base/text.h"

namespace voxswap::experiments {

namespace {

const std::vector<std::string> question_words = {"as",    "largest", "devices", "devices_per_link",
                                                 "steps", "trace"};
const std::vector<std::string> statement_words = {"command", "title", "plot", "published",
                                                  "volumes", "stop",  "eta",  "first_rung"};

}  // namespace

bool is_sweep_question(const std::string& word) {
  return is_among(word, question_words);
}

bool is_sweep_statement(const std::string& word) {
  return is_among(word, statement_words);
}

std::vector<std::string> sweep_words() {
  std::vector<std::string> words = statement_words;
  words.insert(words.end(), question_words.begin(), question_words.end());
  return words;
}

bool is_swept(const std::string& path, const Yaml& entry) {
  return (entry.kind == Yaml::Kind::list || entry.kind == Yaml::Kind::map) && !is_sweep_statement(path);
}

}  // namespace voxswap::experiments
