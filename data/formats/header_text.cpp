#include "data/formats/header_text.h"

#include <cmath>

#include "base/error.h"
#include "base/file.h"
#include "base/units.h"

namespace voxswap::data {

std::optional<std::string> next_line(std::string_view& text) {
  if (text.empty()) return std::nullopt;
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string line(text.substr(0, end));
  text.remove_prefix(std::min(end + 1, text.size()));
  if (!line.empty() && line.back() == '\r') line.pop_back();
  return line;
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (const std::string& part : split(text, ' ')) {
    if (const std::string word = trim(part); !word.empty()) words.push_back(word);
  }
  return words;
}

std::optional<std::vector<double>> numbers_of(const std::string& text) {
  std::vector<double> numbers;
  for (const std::string& word : words_of(text)) {
    const auto value = parse_number<double>(std::string_view(word).substr(word[0] == '+' ? 1 : 0));
    if (!value) return std::nullopt;
    numbers.push_back(*value);
  }
  return numbers;
}

std::vector<std::int64_t> extents_of(const fs::path& path, const std::string& text) {
  constexpr double most_voxels = 1e12;  // prevents overflow of products
  const auto numbers = numbers_of(text);
  const auto wrong = [&] {
    fail(Exit::bad_data, "{}: is damaged: its header gives the extents \"{}\"", path.string(),
         text.substr(0, 80));
  };
  if (!numbers || numbers->empty() || numbers->size() > 16) wrong();
  std::vector<std::int64_t> extents;
  double total = 1;
  for (const double extent : *numbers) {
    if (!(extent >= 1 && extent <= most_voxels) || extent != std::floor(extent)) wrong();
    total *= extent;
    if (total > most_voxels) wrong();
    extents.push_back(static_cast<std::int64_t>(extent));
  }
  return extents;
}

}  // namespace voxswap::data
