#include "net/backends/backends.h"

#include <array>

#include "base/error.h"
#include "net/backends/backend.h"
#include "net/graph/fused_moments.h"

namespace voxswap::net {

namespace {

struct Row {
  std::string_view name;
  std::unique_ptr<Backend> (*make)(const BackendOptions&);
  int (*device_count)();
  std::string (*why_no_device)();
};

int one_processor() {
  return 1;
}
std::string nothing_is_missing() {
  return "";
}

#ifdef VOXSWAP_CUDA
constexpr Row cuda_row = {"cuda", make_cuda_backend, cuda_device_count, why_no_cuda_device};
#else
std::string no_cuda_in_this_build() {
  return "this build has no CUDA backend, because the CUDA toolkit was not found when it was built";
}
constexpr Row cuda_row = {"cuda",
                          [](const BackendOptions&) -> std::unique_ptr<Backend> {
                            fail(Exit::does_not_fit, "{}", no_cuda_in_this_build());
                          },
                          [] { return 0; }, no_cuda_in_this_build};
#endif

const std::array backend_table = {
    Row{"reference", [](const BackendOptions&) { return make_reference_backend(); }, one_processor,
        nothing_is_missing},
    Row{"onednn", [](const BackendOptions&) { return make_onednn_backend(); }, one_processor,
        nothing_is_missing},
    cuda_row,
};

std::vector<std::string> names(bool with_device) {
  std::vector<std::string> result;
  for (const Row& row : backend_table)
    if ((row.device_count() > 0) == with_device) result.emplace_back(row.name);
  return result;
}

const Row& find_row(const std::string& name) {
  for (const Row& row : backend_table) {
    if (row.name == name) return row;
  }
  std::vector<std::string> all;
  for (const Row& row : backend_table) all.emplace_back(row.name);
  const std::string near = nearest(name, all);
  fail(Exit::usage, "unknown backend '{}'. There are {}{}", name, join(all, ", "),
       near.empty() ? "" : format(". Did you mean '{}'?", near));
}

}  // namespace

std::vector<std::string> backend_names() {
  return names(true);
}
std::vector<std::string> backends_without_device() {
  return names(false);
}
int device_count(const std::string& backend) {
  return find_row(backend).device_count();
}
std::string why_no_device(const std::string& backend) {
  return find_row(backend).why_no_device();
}

std::unique_ptr<Backend> make_backend(const std::string& name, const BackendOptions& options) {
  return find_row(name).make(options);
}

void suit(const Backend& backend, Graph& graph) {
  const auto* const summing = dynamic_cast<const SummingBackend*>(&backend);
  if (summing == nullptr) return;
  fuse_moments(graph, [&](const Graph& of, const Node& node) { return summing->makes_moments(of, node); });
}

}  // namespace voxswap::net
