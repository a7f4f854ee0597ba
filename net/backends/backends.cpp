// The table of backends.
#include <array>

#include "base/error.h"
#include "net/backend.h"
#include "net/backends/onednn/onednn_backend.h"
#include "net/backends/reference/reference_backend.h"

namespace voxswap {

namespace {

struct Row {
  std::string_view name;
  std::unique_ptr<Backend> (*make)();
};

constexpr std::array backend_table = {
    Row{"reference", make_reference_backend},
    Row{"onednn", make_onednn_backend},
};

}  // namespace

std::vector<std::string> backend_names() {
  std::vector<std::string> names;
  for (const Row& row : backend_table) names.emplace_back(row.name);
  return names;
}

std::unique_ptr<Backend> make_backend(const std::string& name) {
  for (const Row& row : backend_table) {
    if (row.name == name) return row.make();
  }
  const std::string near = nearest(name, backend_names());
  fail(Exit::usage, "there is no backend '{}'; there are {}{}", name, join(backend_names(), ", "),
       near.empty() ? "" : format(". Did you mean '{}'?", near));
}

}  // namespace voxswap
