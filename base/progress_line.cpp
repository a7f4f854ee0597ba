#include "base/progress_line.h"

#include <algorithm>
#include <vector>

#include "base/terminal.h"
#include "base/text.h"
#include "base/units.h"

namespace voxswap {

namespace {

constexpr std::size_t longest_bar = 24, shortest_bar = 6;

std::string one_of(const std::string& unit) {
  return unit.ends_with('s') ? unit.substr(0, unit.size() - 1) : unit;
}

std::string rate_text(const ProgressState& state) {
  if (state.rate <= 0) return "";
  if (state.rate >= 1) return format("{:.2f} {}/s", state.rate, state.unit);
  const double seconds = 1 / state.rate;
  return format("{}/{}", seconds < 60 ? format("{:.2f} s", seconds) : format_seconds(seconds),
                one_of(state.unit));
}

std::string left_text(const ProgressState& state) {
  return state.seconds_left ? format_seconds(*state.seconds_left) + " left" : "";
}

std::string joined(std::vector<std::string> parts) {
  std::erase(parts, "");
  return join(parts, ", ");
}

std::string bar(const ProgressState& state, std::size_t width) {
  const std::int64_t all = std::max<std::int64_t>(state.total, 1),
                     done = std::clamp<std::int64_t>(state.done, 0, all);
  const auto filled = static_cast<std::size_t>(static_cast<double>(width) * static_cast<double>(done) /
                                               static_cast<double>(all));
  return "[" + std::string(filled, '#') + std::string(width - filled, '.') + "]";
}

}  // namespace

std::string progress_figures(const ProgressState& state) {
  return joined({format("{}/{} {}", state.done, state.total, state.unit), rate_text(state), left_text(state),
                 state.note});
}

std::string progress_line(const ProgressState& state, std::size_t columns) {
  const std::string count = format("{}/{}", state.done, state.total), counted = count + " " + state.unit;
  // From the longest to the shortest.
  const std::vector<std::string> choices = {
      progress_figures(state), joined({counted, rate_text(state), left_text(state)}),
      joined({counted, left_text(state)}), joined({count, left_text(state)}), count};
  for (const std::string& figures : choices) {
    const std::size_t bare = shown_width(state.what) + 1 + shown_width(figures);
    if (bare > columns) continue;
    const std::size_t room = columns - bare;  // for the bar, its brackets and a space
    if (room < shortest_bar + 3) return state.what + " " + figures;
    return state.what + " " + bar(state, std::min(longest_bar, room - 3)) + " " + figures;
  }
  return cut_to_width(state.what + " " + count, columns);
}

}  // namespace voxswap
