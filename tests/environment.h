// Environment variables that a test sets, for itself and the programs it starts.
#pragma once

#include <cstdlib>
#include <map>
#include <optional>
#include <string>

namespace voxswap::test {

// Its variables have their former values again at its end.
class Environment {
 public:
  Environment() = default;
  Environment(const std::string& name, const std::string& value) { set(name, value); }
  ~Environment() {
    for (const auto& [name, value] : before_) put(name, value);
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  void set(const std::string& name, const std::optional<std::string>& value) {  // nullopt: is not set
    const char* const before = std::getenv(name.c_str());
    before_.emplace(name, before == nullptr ? std::nullopt : std::optional<std::string>(before));
    put(name, value);
  }

 private:
  static void put(const std::string& name, const std::optional<std::string>& value) {
    value ? ::setenv(name.c_str(), value->c_str(), 1) : ::unsetenv(name.c_str());
  }

  std::map<std::string, std::optional<std::string>> before_;
};

}  // namespace voxswap::test
