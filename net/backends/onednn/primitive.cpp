// oneDNN primitives, and weights in the library's format. A primitive is run through the C function, which
// takes an array of arguments. The C++ one would build one on each call.
#include "net/backends/onednn/convolution.h"

namespace voxswap::net::onednn {

const dnnl::engine& engine() {
  static const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

Primitive::Primitive(dnnl::primitive primitive, const dnnl::memory::desc& scratchpad, WorkspacePlan& plan)
    : primitive_(std::move(primitive)),
      stream_(engine()),
      scratchpad_(plan.book(static_cast<std::int64_t>(scratchpad.get_size()))) {
  argument(DNNL_ARG_SCRATCHPAD, scratchpad);
}

std::size_t Primitive::argument(int kind, const dnnl::memory::desc& description) {
  memories_.emplace_back(description, engine(), nullptr);
  arguments_.push_back({kind, memories_.back().get()});
  return memories_.size() - 1;
}

void Primitive::point(std::size_t argument, const void* data) {
  memories_[argument].set_data_handle(const_cast<void*>(data));  // inputs are only read
}

void Primitive::run(const KernelArguments& arguments) {
  if (memories_[0].get_desc().get_size() > 0) point(0, place<std::byte>(arguments, scratchpad_));
  const auto status = dnnl_primitive_execute(primitive_.get(), stream_.get(),
                                             static_cast<int>(arguments_.size()), arguments_.data());
  dnnl::error::wrap_c_api(status, "oneDNN could not run a primitive");
}

namespace {

using dnnl::memory;

// Locates the tap of (output, input) in the graph's weights.
struct GraphWeights {
  const float* from;
  std::int64_t outputs, inputs, taps;
  bool mirrored;

  VOXSWAP_INLINE const float* first(std::int64_t o, std::int64_t i) const {
    return mirrored ? from + (i * outputs + o) * taps + taps - 1 : from + (o * inputs + i) * taps;
  }
  VOXSWAP_INLINE std::int64_t step() const { return mirrored ? -1 : 1; }
};

// To O,I,taps.
struct MirrorWeights {
  GraphWeights weights;
  float* to;

  VOXSWAP_INLINE void operator()(std::int64_t begin, std::int64_t end) const {
    for (std::int64_t o = begin; o < end; ++o) {
      for (std::int64_t i = 0; i < weights.inputs; ++i) {
        const float* source = weights.first(o, i);
        float* target = to + (o * weights.inputs + i) * weights.taps;
        for (std::int64_t tap = 0; tap < weights.taps; ++tap) target[tap] = source[tap * weights.step()];
      }
    }
  }
};

// To O,taps,I in bf16.
struct RoundWeights {
  GraphWeights weights;
  Bf16* to;

  VOXSWAP_INLINE void operator()(std::int64_t begin, std::int64_t end) const {
    for (std::int64_t o = begin; o < end; ++o) {
      for (std::int64_t i = 0; i < weights.inputs; ++i) {
        const float* source = weights.first(o, i);
        Bf16* target = to + o * weights.taps * weights.inputs + i;
        for (std::int64_t tap = 0; tap < weights.taps; ++tap)
          store(target + tap * weights.inputs, source[tap * weights.step()]);
      }
    }
  }
};

// oneDNN 2.6 takes ten times as long to round and reorder f32 weights of 3^3 taps as to multiply with them on
// a volume of 4^3; from bf16 with innermost channels it takes an eighth of that. With 2^3 taps there is no
// gain.
constexpr std::int64_t most_taps_at_once = 8;

}  // namespace

dnnl::primitive_attr own_scratchpad() {
  dnnl::primitive_attr result;
  result.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return result;
}

ReorderedWeights::ReorderedWeights(const memory::desc& plain, const memory::desc& wanted, bool mirrored,
                                   WorkspacePlan& plan)
    : mirrored_(mirrored) {
  const memory::dims sides = plain.dims();
  outputs_ = sides[0], inputs_ = sides[1], taps_ = sides[2] * sides[3] * sides[4];
  memory::desc from = plain;
  if (mirrored) first_ = First::mirror;
  if (wanted.data_type() == memory::data_type::bf16 && taps_ > most_taps_at_once) {
    first_ = First::round;
    from = {sides, memory::data_type::bf16, memory::format_tag::odhwi};
  }
  if (first_ != First::nothing) arranged_ = plan.book(static_cast<std::int64_t>(from.get_size()));
  if (from == wanted) return;
  place_ = plan.book(static_cast<std::int64_t>(wanted.get_size()));
  const dnnl::reorder::primitive_desc description(engine(), from, engine(), wanted, own_scratchpad());
  reorder_.emplace(dnnl::reorder(description), description.scratchpad_desc(), plan);
  from_ = reorder_->argument(DNNL_ARG_FROM, from);
  to_ = reorder_->argument(DNNL_ARG_TO, wanted);
}

const void* ReorderedWeights::arranged(const KernelArguments& arguments, const float* weights) const {
  if (first_ == First::nothing) return weights;
  const GraphWeights of_graph = {weights, outputs_, inputs_, taps_, mirrored_};
  if (first_ == First::mirror)
    parallel(outputs_, 4, MirrorWeights{of_graph, place<float>(arguments, arranged_)});
  else
    parallel(outputs_, 4, RoundWeights{of_graph, place<Bf16>(arguments, arranged_)});
  return place<std::byte>(arguments, arranged_);
}

const void* ReorderedWeights::ready(const KernelArguments& arguments, const float* weights) {
  const void* const from = arranged(arguments, weights);
  if (!reorder_) return from;
  reorder_->point(from_, from);
  reorder_->point(to_, place<std::byte>(arguments, place_));
  reorder_->run(arguments);
  return place<std::byte>(arguments, place_);
}

}  // namespace voxswap::net::onednn
