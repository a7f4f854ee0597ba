#include "base/units.h"

#include <charconv>
#include <cmath>

#include "base/error.h"
#include "base/text.h"

namespace voxswap {

namespace {

struct Unit {
  std::string_view name;
  double factor;
};

// True for likely typing errors: GB, gib and G for GiB; GiB/s for GB/s. They are rejected rather than
// accepted, since powers of 1000 are not powers of 1024.
bool is_likely_slip(std::string_view written, std::string_view unit) {
  const auto bare = [](std::string_view name) {
    std::string text = lower(name);
    std::erase(text, 'i');
    return text;
  };
  return !written.empty() && (bare(written) == bare(unit) || bare(written) + "b" == bare(unit));
}

template <size_t N>
double parse(std::string_view original, const Unit (&units)[N], std::string_view kind) {
  const std::string text = trim(original);
  double value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string unit =
      trim(std::string_view(rest, static_cast<size_t>(text.data() + text.size() - rest)));
  if (error == std::errc{} && std::isfinite(value) && value >= 0) {
    for (const Unit& candidate : units) {
      if (unit == candidate.name && value * candidate.factor < 9.2e18) return value * candidate.factor;
    }
  }
  for (const Unit& candidate : units) {
    if (error == std::errc{} && unit != candidate.name && is_likely_slip(unit, candidate.name))
      fail(Exit::usage, "'{}' is not a {}. Did you mean {}{}?", original, kind,
           std::string_view(text.data(), rest), candidate.name);
  }
  std::string names;
  for (const Unit& candidate : units) names += (names.empty() ? "" : ", ") + std::string(candidate.name);
  fail(Exit::usage, "'{}' is not a {}. Write a number followed by one of {}", original, kind, names);
}

}  // namespace

std::int64_t parse_bytes(std::string_view text) {
  constexpr Unit units[] = {
      {"B", 1.0}, {"KiB", 1024.0}, {"MiB", 1048576.0}, {"GiB", 1073741824.0}, {"TiB", 1099511627776.0}};
  return std::llround(parse(text, units, "size"));
}

double parse_rate(std::string_view text) {
  constexpr Unit units[] = {{"MB/s", 1e6}, {"GB/s", 1e9}};
  return parse(text, units, "rate");
}

std::string format_bytes(std::int64_t bytes) {
  constexpr const char* names[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  while (std::fabs(value) >= 1024 && unit < 4) {
    value /= 1024;
    ++unit;
  }
  return unit == 0 ? format("{} B", bytes) : format("{:.2f} {}", value, names[unit]);
}

std::string format_seconds(double seconds) {
  if (seconds < 1) return format("{:.0f} ms", seconds * 1000);
  if (seconds < 60) return format("{:.1f} s", seconds);
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 3600) return format("{} min {:02d} s", whole / 60, whole % 60);
  return format("{} h {:02d} min", whole / 3600, whole / 60 % 60);
}

}  // namespace voxswap
