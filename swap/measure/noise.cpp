#include "swap/measure/noise.h"

#include <algorithm>
#include <sstream>

#include "base/file.h"

namespace voxswap::swap {
namespace {

std::map<std::string, std::int64_t> waited() {
  std::map<std::string, std::int64_t> nanoseconds;
  error_code error;
  for (fs::directory_iterator task("/proc/self/task", error), end; !error && task != end;
       task.increment(error)) {
    std::istringstream file(read_if_possible(task->path() / "schedstat"));
    std::int64_t ran = 0, waited = 0;
    if (file >> ran >> waited) nanoseconds[task->path().filename().string()] = waited;
  }
  return nanoseconds;
}

}  // namespace

WaitsForCores::WaitsForCores() : before_(waited()), begin_(std::chrono::steady_clock::now()) {}

double WaitsForCores::share() const {
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin_;
  std::int64_t longest = 0;
  for (const auto& [thread, nanoseconds] : waited()) {
    const auto before = before_.find(thread);
    longest = std::max(longest, nanoseconds - (before == before_.end() ? 0 : before->second));
  }
  return std::min(1.0, 1e-9 * static_cast<double>(longest) / std::max(elapsed.count(), 1e-9));
}

double spread(std::vector<double> seconds) {
  const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
  std::nth_element(seconds.begin(), middle, seconds.end());
  return *middle / *std::min_element(seconds.begin(), seconds.end()) - 1;
}

}  // namespace voxswap::swap
