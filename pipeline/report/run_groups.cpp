#include "pipeline/report/run_groups.h"

#include <algorithm>
#include <cassert>
#include <set>

#include "base/keys.h"
#include "base/text.h"
#include "pipeline/report/lists.h"
#include "pipeline/report/tables.h"

namespace voxswap::pipeline {

namespace {

const char* const name_as_key = "run";  // key for runs without a known experiment

std::string value_of(const RunInTable& run, const std::string& key) {
  if (run.keys.empty()) return key == name_as_key ? run.run : "";
  const auto found = run.keys.find(key);
  return found == run.keys.end() ? "" : found->second;
}

std::vector<std::string> differing_keys(const std::vector<RunInTable>& runs) {
  std::set<std::string> names;
  for (const RunInTable& run : runs) {
    if (run.keys.empty()) names.insert(name_as_key);
    for (const auto& [key, value] : run.keys) names.insert(key);
  }
  std::vector<std::string> differing;
  std::ranges::copy_if(names, std::back_inserter(differing), [&](const std::string& key) {
    return std::ranges::any_of(
        runs, [&](const RunInTable& run) { return value_of(run, key) != value_of(runs.front(), key); });
  });
  return differing;
}

using Values = std::vector<std::string>;

Values values_of(const RunInTable& run, const std::vector<std::string>& keys) {
  Values values{run.resolution};
  for (const std::string& key : keys) values.push_back(value_of(run, key));
  return values;
}

std::size_t groups_by(const std::vector<RunInTable>& runs, const std::vector<std::string>& keys) {
  std::set<Values> different;
  for (const RunInTable& run : runs) different.insert(values_of(run, keys));
  return different.size();
}

// Drops keys that are determined by the resolution and other keys, such as a budget that always changes with
// the planner.
std::vector<std::string> enough(const std::vector<RunInTable>& runs, std::vector<std::string> keys) {
  const std::size_t groups = groups_by(runs, keys);
  for (std::size_t i = 0; i < keys.size();) {
    std::vector<std::string> without = keys;
    without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
    if (groups_by(runs, without) == groups)
      keys = without;
    else
      ++i;
  }
  return keys;
}

// "[2, 2, 2]" -> "2"
std::string without_repetition(const std::string& value) {
  if (!value.starts_with('[') || !value.ends_with(']')) return value;
  const std::vector<std::string> items = split(std::string_view(value).substr(1, value.size() - 2), ',');
  const std::string first = trim(items.front());
  return std::ranges::all_of(items, [&](const std::string& item) { return trim(item) == first; }) ? first
                                                                                                  : value;
}

// "memory.planner", "tflms" -> "planner tflms"; a path is reduced to its last component.
std::string part_of_setting(const std::string& key, std::string value) {
  constexpr std::size_t longest = 32;
  value = without_repetition(value);
  if (const std::size_t slash = value.rfind('/');
      slash != value.npos && slash + 1 < value.size() && value[0] == '/')
    value.erase(0, slash + 1);
  if (value.size() > longest) value = value.substr(0, longest - 3) + "...";
  std::string name = key.substr(key.rfind('.') + 1);
  if (name == "name" && key.size() > name.size()) {  // "schedule poly", not "name poly"
    const std::string section = key.substr(0, key.rfind('.'));
    name = section.substr(section.rfind('.') + 1);
  }
  return name == name_as_key ? value : format("{} {}", name, value);
}

// All keys that distinguish the group, distinguishing_keys first. For data sets, the folder is sufficient.
std::string full_setting(const RunGroup& group) {
  constexpr std::size_t most_keys = 5;
  std::vector<std::string> parts;
  const auto add = [&](const std::string& key) {
    const std::string& value = group.keys.at(key);
    if (!value.empty() && key != name_as_key) parts.push_back(part_of_setting(key, value));
  };
  for (const std::string& key : group.distinguishing_keys) add(key);
  for (const auto& [key, value] : group.keys)
    if (!is_among(key, group.distinguishing_keys) && !key.starts_with(key::data_section)) add(key);
  return listed(parts, most_keys);
}

// True if the run's name is made from its setting, as for cells of a sweep ("resolution-64_planner-tflms").
bool is_named_by_its_setting(const RunGroup& group, const std::string& run) {
  if (group.distinguishing_keys.empty()) return run == "resolution-" + group.resolution;
  return std::ranges::all_of(group.distinguishing_keys, [&](const std::string& key) {
    return run.find(key.substr(key.rfind('.') + 1) + "-") != run.npos;
  });
}

bool are_named_by_their_setting(const RunGroup& group) {
  return std::ranges::all_of(group.runs,
                             [&](const std::string& run) { return is_named_by_its_setting(group, run); });
}

std::string run_names(const RunGroup& group) {
  constexpr std::size_t most_names = 2;
  if (group.runs.size() <= most_names) return join(group.runs, " and ");
  return format("{} and {}", group.runs[0], counted(group.runs.size() - 1, "more run"));
}

std::string with_resolution(const RunGroup& group, const std::string& setting, bool resolutions_differ) {
  return resolutions_differ ? group_label("resolution " + group.resolution, setting) : setting;
}

std::string full_name(const RunGroup& group, bool resolutions_differ) {
  const std::string setting = with_resolution(group, full_setting(group), resolutions_differ);
  if (setting.empty()) return run_names(group);
  return are_named_by_their_setting(group) ? setting : format("{} ({})", run_names(group), setting);
}

std::string short_name(const RunGroup& group, bool resolutions_differ, bool nothing_else_does) {
  const std::string setting = with_resolution(group, group.setting, resolutions_differ);
  if (are_named_by_their_setting(group) && !setting.empty()) return setting;
  return run_names(group) + (nothing_else_does ? format(" (resolution {})", group.resolution) : "");
}

void name_groups(std::vector<RunGroup>& groups) {
  const std::size_t resolutions = distinct(groups, &RunGroup::resolution).size();
  const bool differ = resolutions > 1, nothing_else_does = differ && resolutions == groups.size();
  for (RunGroup& group : groups) {
    group.name = full_name(group, differ);
    group.label = short_name(group, differ, nothing_else_does);
  }
  if (distinct(groups, &RunGroup::label).size() == groups.size()) return;
  for (RunGroup& group : groups) group.label = group.name;
}

}  // namespace

std::vector<RunGroup> group_runs(const std::vector<RunInTable>& runs) {
  const std::vector<std::string> differing = differing_keys(runs),
                                 distinguishing_keys = enough(runs, differing);
  std::vector<RunGroup> groups;
  std::map<Values, std::size_t> places;
  for (const RunInTable& run : runs) {
    const auto [found, fresh] = places.try_emplace(values_of(run, differing), groups.size());
    if (fresh) {
      RunGroup& group = groups.emplace_back();
      group.resolution = run.resolution;
      group.distinguishing_keys = distinguishing_keys;
      for (const std::string& key : differing) group.keys[key] = value_of(run, key);
      group.setting = setting_text(group);
    }
    place_in(groups[found->second].runs, run.run);
  }
  name_groups(groups);
  std::ranges::stable_sort(groups, {},
                           [](const RunGroup& group) { return resolution_voxels(group.resolution); });
  return groups;
}

std::string setting_text(const RunGroup& group, const std::string& without) {
  std::vector<std::string> parts;
  for (const std::string& key : group.distinguishing_keys) {
    const std::string& value = group.keys.at(key);
    if (!key.starts_with(without) && !value.empty()) parts.push_back(part_of_setting(key, value));
  }
  return join(parts, ", ");
}

std::size_t group_of(const std::vector<RunGroup>& groups, const std::string& run,
                     const std::string& resolution) {
  const auto found = std::ranges::find_if(groups, [&](const RunGroup& group) {
    return group.resolution == resolution && is_among(run, group.runs);
  });
  assert(found != groups.end());
  return static_cast<std::size_t>(found - groups.begin());
}

std::size_t group_with(const std::vector<RunGroup>& groups, const std::string& resolution,
                       const std::string& setting) {
  const auto found = std::ranges::find_if(groups, [&](const RunGroup& group) {
    return group.resolution == resolution && group.setting == setting;
  });
  return static_cast<std::size_t>(found - groups.begin());
}

std::string group_label(const std::string& resolution, const std::string& setting) {
  if (setting.empty()) return resolution;
  return resolution.empty() ? setting : format("{}, {}", resolution, setting);
}

}  // namespace voxswap::pipeline
