// An image on its way to the device: in the type in which the network reads it, in the pieces into which the
// step cuts it (net/steps/pieces.h). Images and targets are whole volumes, sample after sample.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "net/backends/backend.h"
#include "net/graph/graph.h"
#include "swap/execute/executor.h"
#include "swap/plan/plan.h"

namespace voxswap::pipeline {

// A piece of a volume that a step reads: from this plane on.
struct InputPiece {
  net::Value value;
  std::int64_t first_plane = 0, depth = 0;  // depth: of the whole volume
  std::int64_t turn = 0, turns = 1;  // which of the volumes that lie one after the other, and of how many
  net::ValueId id = net::none;
  bool streams = false;  // read by copies during the step (swap/plan/plan.h)
};
// `turns`: of so many volumes, one after the other, all cut alike. `first_plane`: of the first piece.
// `depth`: of the volumes; 0: that of all pieces of one.
std::vector<InputPiece> input_pieces(const net::Graph& graph, const swap::Plan& plan,
                                     const std::vector<net::ValueId>& pieces, std::int64_t turns = 1,
                                     std::int64_t first_plane = 0, std::int64_t depth = 0);

// Where the piece lies in the volume's own bytes, if those are what the network reads; null if they are not.
const std::byte* found_in(std::span<const float> image, const InputPiece& piece);
const std::byte* found_in(std::span<const std::uint8_t> target, const InputPiece& piece);
// Writes value.bytes() bytes. REQUIRES: volumes of the shape that the pieces are of.
void stage(std::span<const float> image, const InputPiece& piece, std::byte* to);
void stage(std::span<const std::uint8_t> target, const InputPiece& piece, std::byte* to);

// Images and targets on their way into a step that begins when they are there: each piece from where it lies
// in the volume, if the network reads just those bytes, or converted on the host (staging.h).
class InputWriter {
 public:
  explicit InputWriter(net::Backend& backend) : backend_(&backend) {}

  // What lies in the volume may be read until the step is done.
  void write(swap::Executor& executor, const std::vector<InputPiece>& pieces, std::span<const float> image);
  void write(swap::Executor& executor, const std::vector<InputPiece>& pieces,
             std::span<const std::uint8_t> target);

 private:
  using Block = std::unique_ptr<net::Memory>;
  template <class T>
  void write_volume(swap::Executor& executor, const std::vector<InputPiece>& pieces,
                    std::span<const T> volume, Block& waiting);
  void take(Block& block, std::int64_t bytes);

  net::Backend* backend_;
  Block staging_;                         // one piece after the other
  Block waiting_image_, waiting_target_;  // pieces that the step streams
};

// A batch on its way to a device with a memory of its own, also while a step runs there: converted on the
// host, and copied into spare memory of the device by a stream of its own. The step that trains on it then
// has only to copy it within the device. Of pieces that the step streams (swap/plan/plan.h) those of the
// batch before are read while it runs, so there are two blocks for them on the host, one for every other
// batch, and none on the device.
class Upload {
 public:
  // Of images and target bits in these pieces. `spare_bytes`: what may be taken of the device's memory; where
  // that is too little, the batch waits in pinned memory of the host.
  Upload(net::Backend& backend, std::vector<InputPiece> image, std::vector<InputPiece> target,
         std::int64_t spare_bytes);
  ~Upload();
  Upload(const Upload&) = delete;
  Upload& operator=(const Upload&) = delete;

  // In place of what was begun before. Returns when the batch is not read any more.
  void begin(std::span<const float> images, std::span<const std::uint8_t> targets);
  // Of each piece; of the device or the host, until the next begin(), of what streams until the one after
  // that.
  struct Places {
    std::vector<const std::byte*> image, target;
  };
  Places finish();  // waits until it is there

 private:
  std::byte* host_place(const InputPiece& piece, std::int64_t place) const;

  std::vector<InputPiece> image_, target_;
  std::int64_t bytes_ = 0, streamed_bytes_ = 0;  // before the places, which add to them
  std::vector<std::int64_t> image_places_, target_places_;
  std::unique_ptr<net::Memory> pinned_, device_;  // null where nothing is for it; device_: or too little free
  std::array<std::unique_ptr<net::Memory>, 2> streamed_;
  std::size_t turn_ = 0;                 // of those, for the next begin()
  std::unique_ptr<net::Stream> stream_;  // last: ends first, and drains
};

}  // namespace voxswap::pipeline
