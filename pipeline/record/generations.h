// The checkpoints of one repeat: `last` and `best`, which belong together, and of each the one before. Where
// weights are averaged (training.averaging), `averaged` is the best of the averages, and is to `last` what
// `best` is.
//
// `last` holds the digest of the `best` that it goes with. Before a file is written, the one that is there
// becomes `NAME.previous.safetensors`; best is written before last. So at every moment some `last` is whole
// and has its `best`, also when the newest one is damaged later:
//
//     before        best A  last(A)
//     best written  best B  last(A)   best.previous A
//     last written  best B  last(B)   best.previous A   last.previous(A)
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/file.h"
#include "pipeline/record/checkpoint.h"

namespace voxswap::pipeline {

inline constexpr const char *best_weights_name = "best", *averaged_weights_name = "averaged";

class Generations {
 public:
  // Says what is wrong with a checkpoint that is whole, by throwing Exit::bad_data.
  using Check = std::function<void(const Checkpoint& checkpoint, const std::string& where)>;

  explicit Generations(fs::path folder) : folder_(std::move(folder)) {}

  // The newest `last` that is whole, passes its check, and has its best, which passes its own; both have
  // their names again afterwards. A warning tells where an older one had to stand in. Nothing: there is no
  // `last` yet. Throws Exit::bad_data when there is one and none can be used.
  std::optional<Checkpoint> resume(const Check& check_last, const Check& check_best);

  // A new best, and a new average, if there is one, is written first; `last` gets the digests of those that
  // are there then.
  void write_best(const Checkpoint& best);
  void write_averaged(const Checkpoint& averaged);
  void write_last(Checkpoint last);

  fs::path last_file() const;

 private:
  fs::path folder_;
  std::string best_digest_, averaged_digest_;
};

// Whether there are averaged weights by now.
bool has_averaged(const fs::path& folder);

// The best weights for prediction, of this name: those that `last` tells of. A `best` by itself is taken as
// it is, so that it can be handed on without the rest; so is one without checksums, whose digest is empty.
// Throws Exit::bad_data, saying what to do, when it is missing, damaged, or not the one.
Checkpoint read_best(const fs::path& folder, const Generations::Check& check,
                     const char* name = best_weights_name);

}  // namespace voxswap::pipeline
