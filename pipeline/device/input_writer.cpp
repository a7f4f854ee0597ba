#include "pipeline/device/input_writer.h"

#include "swap/plan/arena.h"

namespace voxswap::pipeline {

void InputWriter::write(swap::Executor& executor, const std::vector<InputPiece>& pieces,
                        std::span<const float> image) {
  write_volume(executor, pieces, image, waiting_image_);
}

void InputWriter::write(swap::Executor& executor, const std::vector<InputPiece>& pieces,
                        std::span<const std::uint8_t> target) {
  write_volume(executor, pieces, target, waiting_target_);
}

template <class T>
void InputWriter::write_volume(swap::Executor& executor, const std::vector<InputPiece>& pieces,
                               std::span<const T> volume, Block& waiting) {
  std::vector<const std::byte*> found(pieces.size(), nullptr);
  std::int64_t bytes = 0;  // of what waits
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (backend_->computes_on_host()) found[i] = found_in(volume, pieces[i]);
    if (found[i] == nullptr && pieces[i].streams) bytes += swap::occupied(pieces[i].value.bytes());
  }
  if (bytes > 0) take(waiting, bytes);
  std::int64_t place = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const std::int64_t size = pieces[i].value.bytes();
    if (found[i] == nullptr) {
      if (!pieces[i].streams) take(staging_, size);
      std::byte* const to = pieces[i].streams ? waiting->data() + place : staging_->data();
      if (pieces[i].streams) place += swap::occupied(size);
      stage(volume, pieces[i], to);
      found[i] = to;
    }
    executor.lend(pieces[i].id, found[i], size);
  }
}

void InputWriter::take(Block& block, std::int64_t bytes) {
  if (!block || block->bytes() < bytes) block = backend_->allocate_host(bytes);
}

}  // namespace voxswap::pipeline
