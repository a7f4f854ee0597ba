// Splits tensors into chunks, combines their sums, and selects the instruction set of the passes.

#include "net/backends/onednn/passes.h"

#include <cstring>
#include <numeric>

namespace voxswap::net::onednn {

namespace {

constexpr std::int64_t chunk_elements = 1 << 16;

void cut(RowLayout& layout) {
  layout.group = 16 / std::gcd<std::int64_t>(layout.channels, 16);
  layout.wide = layout.group * layout.channels;
  layout.chunk = std::max<std::int64_t>(1, chunk_elements / layout.channels / 16) * 16;
  layout.chunks = (layout.voxels + layout.chunk - 1) / layout.chunk;
}

}  // namespace

InstructionSet instruction_set() {
#if defined(__x86_64__)
  static const InstructionSet best = [] {
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
      return InstructionSet::avx512;
    }
    return __builtin_cpu_supports("avx2") ? InstructionSet::avx2 : InstructionSet::baseline;
  }();
  return best;
#else
  return InstructionSet::baseline;
#endif
}

std::string pass_name() {
  switch (instruction_set()) {
    case InstructionSet::avx512:
      return "pass:avx512";
    case InstructionSet::avx2:
      return "pass:avx2";
    case InstructionSet::baseline:
      break;
  }
  return "pass:baseline";
}

RowLayout row_layout(const Shape& shape) {
  RowLayout layout;
  layout.samples = shape[0];
  layout.channels = shape[-1];
  layout.voxels = shape.count() / (layout.samples * layout.channels);
  cut(layout);
  return layout;
}

RowLayout plane_layout(const Shape& shape) {
  RowLayout layout = row_layout({shape[0] * shape[1], 1, shape[2], shape[3], shape[4]});
  layout.sharing = shape[1];
  return layout;
}

RowLayout flat_layout(std::int64_t elements) {
  RowLayout layout;
  layout.voxels = elements;
  cut(layout);
  return layout;
}

void combine_sums(const RowLayout& layout, std::int64_t kinds, double* sums) {
  const std::int64_t size = kinds * layout.wide;
  for (std::int64_t sample = 0; sample < layout.samples; ++sample) {
    double* total = sums + sample * layout.chunks * size;
    for (std::int64_t chunk = 1; chunk < layout.chunks; ++chunk) {
      for (std::int64_t i = 0; i < size; ++i) total[i] += total[chunk * size + i];
    }
    for (std::int64_t k = 0; k < kinds; ++k) {
      double* kind = total + k * layout.wide;
      for (std::int64_t lane = layout.channels; lane < layout.wide; ++lane) {
        kind[lane % layout.channels] += kind[lane];
      }
    }
  }
}

namespace {

struct CopyBlocks {
  static constexpr std::int64_t block = 4096;
  std::byte* to;
  const std::byte* from;
  std::int64_t bytes;
  VOXSWAP_INLINE void operator()(std::int64_t begin, std::int64_t end) const {
    std::memcpy(to + begin * block, from + begin * block,
                static_cast<std::size_t>(std::min(end * block, bytes) - begin * block));
  }
};
}  // namespace

void copy(void* to, const void* from, std::int64_t bytes) {
  parallel((bytes + CopyBlocks::block - 1) / CopyBlocks::block, 16,
           CopyBlocks{static_cast<std::byte*>(to), static_cast<const std::byte*>(from), bytes});
}

}  // namespace voxswap::net::onednn
