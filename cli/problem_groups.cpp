#include "cli/problem_groups.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "base/text.h"

namespace voxswap::cli {

namespace {

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = 0; !what.empty() && (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

}  // namespace

std::vector<ProblemGroup> grouped(const std::vector<data::Problem>& problems, const fs::path& root) {
  std::vector<ProblemGroup> groups;
  std::map<std::vector<std::string>, std::size_t> known;
  for (data::Problem problem : problems) {
    problem.what = replaced(problem.what, root.string() + "/", "");
    const std::string start = format("case {}: ", problem.case_id);
    if (problem.what.starts_with(start)) problem.what = problem.what.substr(start.size());
    const std::string what = replaced(problem.what, problem.case_id, "CASE");
    std::string pattern;
    for (const char c : what)
      if (!std::isdigit(static_cast<unsigned char>(c)) && c != '.') pattern += c;
    const bool alone = problem.case_id.empty();
    const auto [found, fresh] = known.try_emplace(
        alone ? std::vector{problem.what} : std::vector{problem.severity, pattern, problem.fix},
        groups.size());
    if (fresh) groups.push_back({problem, {}, what});
    ProblemGroup& group = groups[found->second];
    group.cases.push_back(problem.case_id);
    if (group.what != what) group.what.clear();
  }
  return groups;
}

std::string sentence(const ProblemGroup& group, std::size_t of_cases) {
  constexpr std::size_t most = 3;
  const data::Problem& first = group.first;
  if (group.cases.size() == 1)
    return first.case_id.empty() ? first.what : format("{}: {}", first.case_id, first.what);
  std::vector<std::string> names(
      group.cases.begin(),
      group.cases.begin() + static_cast<std::ptrdiff_t>(std::min(most, group.cases.size())));
  if (group.cases.size() > most) names.push_back(format("{} more", group.cases.size() - most));
  return format("{} of {} ({}): {}", group.cases.size(), counted(static_cast<std::int64_t>(of_cases), "case"),
                join(names, ", "), group.what.empty() ? format("e.g. {}", first.what) : group.what);
}

}  // namespace voxswap::cli
