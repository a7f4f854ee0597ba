// Transfers images and targets to the device: converted to the network's type and cut into the slabs of the
// step (net/steps/slabs.h). Images and targets are whole volumes, sample after sample.
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

// A slab of a volume that a step reads, starting at first_plane.
struct InputSlab {
  net::Value value;
  std::int64_t first_plane = 0, depth = 0;  // depth: of the whole volume
  std::int64_t turn = 0, turns = 1;         // index of the volume in the batch, and their number
  net::ValueId id = net::none;
  bool streams = false;  // read by copies during the step (swap/plan/plan.h)
};
constexpr std::int64_t slab_alignment = 256;  // bytes, of each slab in a block of memory

// `turns`: number of consecutive volumes, all cut alike. `first_plane`: of the first slab. `depth`: of the
// volumes; 0: the total depth of one volume's slabs.
std::vector<InputSlab> input_slabs(const net::Graph& graph, const swap::Plan& plan,
                                   const std::vector<net::ValueId>& slabs, std::int64_t turns = 1,
                                   std::int64_t first_plane = 0, std::int64_t depth = 0);

// Address of the slab inside the volume if the network reads exactly these bytes; otherwise null.
const std::byte* found_in(std::span<const float> image, const InputSlab& slab);
const std::byte* found_in(std::span<const std::uint8_t> target, const InputSlab& slab);
// Writes value.bytes() bytes. REQUIRES: the volumes have the shape the slabs were cut from.
void stage(std::span<const float> image, const InputSlab& slab, std::byte* to);
void stage(std::span<const std::uint8_t> target, const InputSlab& slab, std::byte* to);

// Writes images and targets into a step that starts when they are complete. Each slab is copied directly from
// the volume if the network reads exactly those bytes, or converted on the host first.
class InputWriter {
 public:
  explicit InputWriter(net::Backend& backend) : backend_(&backend) {}

  // The volume may be read until the step has finished.
  void write(swap::Executor& executor, const std::vector<InputSlab>& slabs, std::span<const float> image);
  void write(swap::Executor& executor, const std::vector<InputSlab>& slabs,
             std::span<const std::uint8_t> target);

 private:
  using Block = std::unique_ptr<net::Memory>;
  template <class T>
  void write_volume(swap::Executor& executor, const std::vector<InputSlab>& slabs, std::span<const T> volume,
                    Block& waiting);
  void take(Block& block, std::int64_t bytes);

  net::Backend* backend_;
  Block staging_;                         // buffer for one slab at a time
  Block waiting_image_, waiting_target_;  // slabs that the step streams
};

// Addresses of a batch's slabs, on the device or the host.
struct InputPlaces {
  std::vector<const std::byte*> image, target;
};

// Uploads a batch to a device with memory of its own, also while a step runs there: converts it on the host
// and copies it into spare device memory on a separate stream. The step that trains on the batch only copies
// within the device. Slabs that the step streams (swap/plan/plan.h) stay on the host. The previous batch is
// read during the step, so they are double-buffered.
class Upload {
 public:
  // `image`, `target`: the slabs of images and target bits. `spare_bytes`: device memory that may be used; if
  // it is too small, the batch waits in pinned host memory.
  Upload(net::Backend& backend, std::vector<InputSlab> image, std::vector<InputSlab> target,
         std::int64_t spare_bytes);
  ~Upload();
  Upload(const Upload&) = delete;
  Upload& operator=(const Upload&) = delete;

  // Replaces an upload that has begun. Returns when images and targets are no longer read.
  void begin(std::span<const float> images, std::span<const std::uint8_t> targets);
  // Waits for the upload. The places are valid until the next begin(); of streamed slabs until the one after
  // it.
  InputPlaces finish();

 private:
  std::byte* host_place(const InputSlab& slab, std::int64_t place) const;

  std::vector<InputSlab> image_, target_;
  std::int64_t bytes_ = 0,
               streamed_bytes_ = 0;  // declared before the offsets, whose initialisers increase them
  std::vector<std::int64_t> image_places_, target_places_;
  std::unique_ptr<net::Memory> pinned_, device_;  // null if unused; device_ also if too little memory is free
  std::array<std::unique_ptr<net::Memory>, 2> streamed_;
  std::size_t turn_ = 0;                 // index of the streamed_ buffer for the next begin()
  std::unique_ptr<net::Stream> stream_;  // last: destroyed first, which drains it
};

}  // namespace voxswap::pipeline
