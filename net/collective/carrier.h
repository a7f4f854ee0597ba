// Where the rows of an exchange lie, and how they come to another rank: memory of the host through what joins
// the ranks, or that of GPUs which talk to one another.
#pragma once

#include <memory>
#include <string>

#include "net/backends/backend.h"
#include "net/collective/ranks.h"

namespace voxswap::net {

class Carrier {
 public:
  virtual ~Carrier() = default;
  virtual bool on_host()
      const = 0;  // its calls are done when they return; else enqueued on the current stream

  // Memory for rows of so many bytes, at least; the same for all that reserve.
  virtual void reserve(std::int64_t bytes) = 0;
  virtual std::byte* rows() = 0;
  virtual std::int64_t bytes() const = 0;

  // From the plan's memory to a row and back; settle(): what was taken and given so far is there.
  virtual void take(void* row, const void* value, std::int64_t bytes) = 0;
  virtual void give(void* value, const void* row, std::int64_t bytes) = 0;
  virtual void settle() = 0;

  // Within rows; `add` of one type or the other.
  virtual void copy(void* to, const void* from, std::int64_t bytes) = 0;
  virtual void add(float* to, const float* from, std::int64_t count) = 0;
  virtual void add(double* to, const double* from, std::int64_t count) = 0;
  // Ranks::swap() of rows.
  virtual void swap(int other, const void* sent, std::int64_t sent_count, void* received,
                    std::int64_t received_count) = 0;
};

// Through `ranks`; rows of a device that does not compute in host memory go through some of its own there.
// `backend`: null for one that does.
std::unique_ptr<Carrier> carry_through_host(Ranks& ranks, Backend* backend);

// From GPU to GPU, where all ranks have one; null where not, and, with one line, where GPUs cannot talk to
// one another. All ranks call it.
std::unique_ptr<Carrier> carry_between_devices(Ranks& ranks, Backend& backend);

}  // namespace voxswap::net
