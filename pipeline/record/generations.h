// The checkpoints of a repeat: `last` and `best`, which belong together, and the previous version of each.
// With averaged weights (training.averaging), `averaged` is the best average, handled like `best`.
//
// `last` contains the digest of its `best`. Before a file is written, the existing one becomes
// `NAME.previous.safetensors`; best is written before last. At every moment, therefore, some `last` is
// complete and has its `best`, even if the newest file is damaged later:
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
  // Throws Exit::bad_data if a checkpoint is intact but does not belong here.
  using Check = std::function<void(const Checkpoint& checkpoint, const std::string& where)>;

  explicit Generations(fs::path folder) : folder_(std::move(folder)) {}

  // The newest intact `last` that passes its check and whose `best` exists and passes its own; both get their
  // usual names back. Warns if an older one had to be used. Returns nullopt if there is no `last` yet. Throws
  // Exit::bad_data if none is usable.
  std::optional<Checkpoint> resume(const Check& check_last, const Check& check_best);

  // Write new best and averaged weights first: write_last() adds the digests of the current ones.
  void write_best(const Checkpoint& best);
  void write_averaged(const Checkpoint& averaged);
  void write_last(Checkpoint last);

  fs::path last_file() const;

 private:
  fs::path folder_;
  std::string best_digest_, averaged_digest_;
};

// True if averaged weights have been written.
bool has_averaged(const fs::path& folder);

// The weights with this name for prediction: those that `last` refers to. A `best` without `last` is
// accepted, so that it can be shared without the other files; so is a file without checksums, whose digest is
// empty. Throws Exit::bad_data with advice if the file is missing, damaged or not the one referred to.
Checkpoint read_best(const fs::path& folder, const Generations::Check& check,
                     const char* name = best_weights_name);

}  // namespace voxswap::pipeline
