#include "voxswap/report.h"

#include "experiments/experiment.h"
#include "library/run_folder.h"
#include "pipeline/report/report.h"

namespace voxswap {

void report(const std::vector<std::string>& runs, const std::string& out, bool force) {
  const auto lock = library::lock_output(out);
  pipeline::report({runs.begin(), runs.end()}, out, experiments::read_settings_of_run, {}, Outputs(force));
}

}  // namespace voxswap
