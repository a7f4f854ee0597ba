#include <algorithm>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/keys.h"
#include "net/networks/network.h"

namespace voxswap::net {

namespace {

bool matches(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return name.empty() || name.front() == '.';
  if (pattern.front() != '*')
    return !name.empty() && pattern.front() == name.front() && matches(pattern.substr(1), name.substr(1));
  for (std::size_t taken = 0; taken <= name.size(); ++taken)
    if (matches(pattern.substr(1), name.substr(taken))) return true;
  return false;
}

constexpr std::string_view mean = ".running_mean", variance = ".running_var";

std::string other_statistic(const std::string& name) {
  if (name.ends_with(mean)) return name.substr(0, name.size() - mean.size()) + std::string(variance);
  if (name.ends_with(variance)) return name.substr(0, name.size() - variance.size()) + std::string(mean);
  return name;
}

// "encoder, decoder, head"
std::string parts_of(const ForwardGraph& network) {
  std::vector<std::string> parts;
  for (const ValueId id : network.parameters) {
    const std::string& name = network.graph.value(id).name;
    const std::string part = name.substr(0, name.find('.'));
    if (std::find(parts.begin(), parts.end(), part) == parts.end()) parts.push_back(part);
  }
  return join(parts, ", ");
}

}  // namespace

bool is_frozen(const NetworkOptions& options, const std::string& parameter) {
  return std::any_of(options.frozen.begin(), options.frozen.end(), [&](const std::string& pattern) {
    return matches(pattern, parameter) || matches(pattern, other_statistic(parameter));
  });
}

void check_frozen(const NetworkOptions& options, const ForwardGraph& network) {
  for (const std::string& pattern : options.frozen) {
    const bool known = std::any_of(network.parameters.begin(), network.parameters.end(), [&](ValueId id) {
      return matches(pattern, network.graph.value(id).name);
    });
    if (!known)
      fail(Exit::usage, "{}: '{}' is neither a parameter of {} nor the beginning of one. Its parts are {}",
           key::training_freeze, pattern, options.name, parts_of(network));
  }
  if (network.trained.empty())
    fail(Exit::usage, "{}: {} would have nothing left to train. Leave out one of its parts: {}",
         key::training_freeze, options.name, parts_of(network));
}

}  // namespace voxswap::net
