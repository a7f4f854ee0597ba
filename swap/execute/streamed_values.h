// Host memory for values that a step streams (swap/plan/plan.h): inputs are read where they were lent, or
// from memory allocated here; outputs go to memory allocated here.
#pragma once

#include <map>
#include <memory>

#include "net/backends/backend.h"
#include "swap/plan/plan.h"

namespace voxswap::swap {

class StreamedValues {
 public:
  // Takes the memory of the results, pinned where the device has a memory of its own.
  StreamedValues(net::Backend& backend, const net::Graph& graph, const Plan& plan);

  bool is_input(net::ValueId value) const { return inputs_.contains(value); }
  // The bytes of the next step, which stay until it is done.
  void lend(net::ValueId input, const void* bytes);
  std::byte* own_memory(net::ValueId input);  // for bytes that do not stay
  void check_lent() const;                    // throws where an input was not lent since the last take_back()
  void take_back();

  // What copies of the input read from: set for every step.
  const std::byte* const* source(net::ValueId input) const { return &inputs_.at(input).bytes; }
  std::byte* result(net::ValueId value) const;  // null for a value that does not leave for good
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
  std::map<net::ValueId, std::int64_t> places_;  // of results, in their memory
  std::unique_ptr<net::Memory> results_;         // null where there are none
};

}  // namespace voxswap::swap
