// The shadow of one memory: the content of every byte, its writer and its readers since, to judge every
// access of a plan. Ranges with the same history are one cell.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>

#include "swap/plan/plan.h"
#include "swap/plan/stream_order.h"

namespace voxswap::swap {

// The content of a range: byte `origin` + b of the memory is byte b of the value.
struct Content {
  net::ValueId value = net::none;  // none: must not be read
  int version = 0;                 // of a persistent value: number of updates
  std::int64_t origin = 0;
  bool operator==(const Content&) const = default;
};

class ShadowMemory {
 public:
  // The fault of an access, in bytes [begin, end) of the memory.
  struct Fault {
    enum class Kind {
      other_content,           // not the content to be read
      read_before_write_done,  // `other` wrote it and is not ordered before the read
      write_before_read_done,  // `other` reads the old content and is not ordered before
      write_before_write_done  // `other` wrote the old content and is not ordered before
    } kind = Kind::other_content;
    std::int64_t begin = 0, end = 0;
    Content found;
    std::int32_t other = net::none;
  };

  ShadowMemory(std::int64_t bytes, const StreamOrder& order);

  void put(std::int64_t begin, std::int64_t bytes, const Content& content);  // before the step
  // An access of `instruction`. Returns the first fault, if any. Call in the order of the plan's list.
  // REQUIRES: inside the memory, at least one byte.
  std::optional<Fault> read(std::int64_t begin, std::int64_t bytes, std::int32_t instruction,
                            const std::optional<Content>& expected);  // none: any content
  std::optional<Fault> write(std::int64_t begin, std::int64_t bytes, std::int32_t instruction,
                             const Content& content);
  // Whether the memory has this content at the end of the step.
  std::optional<Fault> holds(std::int64_t begin, std::int64_t bytes, const Content& expected) const;

 private:
  struct Cell {
    std::int64_t end = 0;
    Content content;
    std::int32_t writer = net::none;                 // none: before the step
    std::array<std::int32_t, lane_count> readers{};  // since the write: the last one of every lane
  };
  using Cells = std::map<std::int64_t, Cell>;
  Cells::iterator cut(std::int64_t at);  // the cell that begins there afterwards
  bool unordered(std::int32_t other, std::int32_t instruction) const;
  void replace(Cells::iterator first, Cells::iterator last, const Cell& cell);

  const StreamOrder& order_;
  Cells cells_;  // by begin; they cover the memory
};

}  // namespace voxswap::swap
