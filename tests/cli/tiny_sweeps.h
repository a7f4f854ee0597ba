// A data set and an experiment so small that a sweep over it takes seconds.
#pragma once

#include "base/text.h"
#include "tests/cli/program.h"

namespace voxswap::cli {

class TinySweeps : public ProgramInAFolder {
 protected:
  explicit TinySweeps(int epochs) {
    phantoms("5", "16");
    write("experiment.yaml", format(R"(name: tiny
data: {{root: data, modalities: [flair, t1ce]}}
preprocess: {{resolution: 8}}
network: {{base_filters: 2, depth: 2}}
training: {{epochs: {}}}
memory: {{planner: keep}}
)",
                                    epochs));
  }
};

}  // namespace voxswap::cli
