// Host memory of streamed values (swap/plan/plan.h). Inputs are read from memory lent by the caller or
// allocated here; results go to memory allocated here.
#pragma once

#include <map>
#include <memory>

#include "net/backends/backend.h"
#include "swap/plan/plan.h"

namespace voxswap::swap {

class StreamedValues {
 public:
  // Allocates memory for the results, pinned if the device has its own memory.
  StreamedValues(net::Backend& backend, const net::Graph& graph, const Plan& plan);

  bool is_input(net::ValueId value) const { return inputs_.contains(value); }
  // Lends the bytes of an input until the next step is done.
  void lend(net::ValueId input, const void* bytes);
  std::byte* own_memory(net::ValueId input);  // for bytes that the caller cannot lend
  void check_lent() const;                    // throws if an input was not lent since the last take_back()
  void take_back();

  // Address from which copies of the input read; set for every step.
  const std::byte* const* source(net::ValueId input) const { return &inputs_.at(input).bytes; }
  std::byte* result(net::ValueId value) const;  // null for a value that is not a streamed result
  std::byte* results() const { return results_ ? results_->data() : nullptr; }
  std::int64_t result_bytes() const { return results_ ? results_->bytes() : 0; }

 private:
  struct Input {
    const std::byte* bytes = nullptr;
    std::unique_ptr<net::Memory> own = nullptr;
  };
  net::Backend& backend_;
  const net::Graph& graph_;
  std::map<net::ValueId, Input> inputs_;
  std::map<net::ValueId, std::int64_t> places_;  // offsets of results in `results_`
  std::unique_ptr<net::Memory> results_;         // null if there are none
};

}  // namespace voxswap::swap
