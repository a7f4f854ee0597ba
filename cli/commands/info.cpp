// voxswap info: prints versions, libraries and devices.
#include <sys/utsname.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <sstream>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/parallel.h"
#include "base/standard_streams.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/options.h"
#include "cli/ranks.h"
#include "cli/tables.h"
#include "data/formats/libraries.h"
#include "experiments/yaml.h"
#include "net/backends/backend.h"
#include "net/backends/backends.h"
#include "net/collective/launched.h"
#include "pipeline/export/onnx_graph.h"
#include "swap/measure/profile.h"

namespace voxswap::cli {

namespace {

std::string compiler() {
#ifdef __clang__
  return __VERSION__;  // includes the compiler's name
#else
  return "GCC " __VERSION__;
#endif
}

std::string processor() {
  std::istringstream file(read_if_possible("/proc/cpuinfo"));
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (line.starts_with("model name") && colon != line.npos) return trim(line.substr(colon + 1));
  }
  return "unknown";
}

using Pairs = std::vector<std::pair<std::string, std::string>>;

// Measures the copy rates between host and device.
void add_links(net::Backend& backend, Json& json, Pairs& rows) {
  const swap::CostModel costs = swap::measure_links(backend, {});
  json["link_to_host_gbps"] = costs.to_host.alone / 1e9;
  json["link_to_device_gbps"] = costs.to_device.alone / 1e9;
  rows.push_back({"  link", format("{:.2f} GB/s to the host, {:.2f} GB/s to the device, measured",
                                   costs.to_host.alone / 1e9, costs.to_device.alone / 1e9)});
}

void add_absence(const std::string& name, const std::string& why, Json& json, Pairs& rows) {
  json["no_device"][name] = why;
  rows.push_back({"backend " + name, "none: " + why});
}

// A device, named as in memory.device if there are several. If it cannot be used, lists the reason.
void add_device(const std::string& backend_name, int number, Json& json, Pairs& rows) {
  const std::string name = number == 0 ? backend_name : format("{}:{}", backend_name, number);
  std::unique_ptr<net::Backend> backend;
  try {
    backend = net::make_backend(backend_name, {.device = number});
  } catch (const Error& error) {
    if (error.exit() != Exit::does_not_fit) throw;
    return add_absence(name, error.what(), json, rows);
  }
  const std::string fastest(net::element_name(backend->fastest_type()));
  json["backends"][name] = {{"description", backend->description()},
                            {"fastest_precision", fastest},
                            {"free_bytes", backend->free_bytes()}};
  rows.push_back(
      {"backend " + name, format("{}; fastest precision {}; {} of memory free", backend->description(),
                                 fastest, format_bytes(backend->free_bytes()))});
  add_links(*backend, json["backends"][name], rows);
}

// Devices for `voxswap plan --as`.
void add_known_devices(Json& json, Pairs& rows) {
  for (const swap::DeviceRates& device : swap::known_devices()) {
    json["known_devices"][device.name] = device.details;
    rows.push_back({"plan --as " + device.name, device.details});
  }
}

std::string first_line_with(const char* file, std::string_view begin) {
  std::istringstream lines(read_if_possible(file));
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(begin)) {
      std::string value = trim(line.substr(begin.size()));
      std::erase(value, '"');
      return value;
    }
  return "unknown";
}

// Replaces the user's home folder by ~, for privacy in bug reports.
std::string without_home(std::string value) {
  const char* const home = std::getenv("HOME");
  const std::string folder = home == nullptr ? "" : home;
  if (folder.size() < 2) return value;
  for (std::size_t at = 0; (at = value.find(folder, at)) != value.npos; ++at)
    value.replace(at, folder.size(), "~");
  return value;
}

// Other information for bug reports: the system, and environment variables that affect the program.
void add_surroundings(Json& json, Pairs& rows) {
  utsname system = {};
  uname(&system);
  const auto add = [&](const std::string& name, const std::string& value) {
    json["surroundings"][name] = value;
    rows.push_back({name, value});
  };
  add("system", format("{}, {} {}", first_line_with("/etc/os-release", "PRETTY_NAME="), system.sysname,
                       system.release));
#ifdef __GLIBC__
  add("glibc", gnu_get_libc_version());
#endif
  add("memory", first_line_with("/proc/meminfo", "MemTotal:"));
  error_code error;
  const auto space = fs::space(fs::current_path(), error);
  if (!error) add("disk here", format("{} free", format_bytes(static_cast<std::int64_t>(space.available))));
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string text = *variable;
    for (const char* begin : {"VOXSWAP_", "OMP_", "GOMP_", "CUDA_", "NCCL_", "DNNL_",
                              "LD_PRELOAD=", "SLURM_NTASKS=", "LANG=", "LC_ALL="})
      if (text.starts_with(begin))
        add(text.substr(0, text.find('=')), without_home(text.substr(text.find('=') + 1)));
  }
}

}  // namespace

Exit info_command(const Arguments& arguments) {
  CLI::App app("Print version, libraries, devices, memory, measured link rates and ranks.", "voxswap info");
  CommonOptions common;
  bool report = false;
  app.add_flag("--report", report, "Print the information for a bug report, in Markdown");
  add_common(app, common, true);
  if (!parse(app, arguments, common)) return Exit::done;

  net::Ranks& ranks = net::launched_ranks();
  const Json list = ranks.is_alone() ? Json() : rank_list(ranks);
  if (!ranks.is_first()) return Exit::done;

  const std::string json_library = format("nlohmann-json {}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR,
                                          NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH);
  std::vector<std::string> libraries = {data::data_libraries(), experiments::yaml_library(),
                                        "CLI11 " CLI11_VERSION, json_library};
  if (const std::string onnx = pipeline::onnx_library(); !onnx.empty()) libraries.push_back(onnx);
  const unsigned cores = usable_core_count();
  Json json = {{"voxswap", VOXSWAP_VERSION},
               {"compiler", compiler()},
               {"libraries", libraries},
               {"processor", processor()},
               {"cores", cores}};
  Pairs rows = {{"voxswap", VOXSWAP_VERSION},
                {"compiler", compiler()},
                {"libraries", join(libraries, ", ")},
                {"processor", format("{}, {}", processor(), counted(cores, "core"))}};
  for (const std::string& name : net::backend_names()) {
    for (int device = 0; device < net::device_count(name); ++device) add_device(name, device, json, rows);
  }
  for (const std::string& name : net::backends_without_device())
    add_absence(name, net::why_no_device(name), json, rows);
  if (report)
    add_surroundings(json, rows);
  else
    add_known_devices(json, rows);
  if (!list.is_null()) {
    json["ranks"] = list;
    for (auto& line : rank_lines(list)) rows.push_back(std::move(line));
  }
  if (report && !common.json) {
    print("```\n{}```\n", two_columns(rows));
    return Exit::done;
  }
  common.json ? print_exactly(json.dump(2) + "\n") : print(two_columns(rows));
  return Exit::done;
}

}  // namespace voxswap::cli
