// Each part of a plane is summed by the thread that made it, while it is in cache. The sums of a plane's
// parts are merged in order (Chan, Golub & LeVeque 1979). Parts depend only on the shape of a plane, so
// results do not depend on threads or slabs.
#include "net/backends/convolution/volume_convolution.h"
#include "net/backends/onednn/kernels.h"
#include "net/backends/onednn/passes.h"
#include "net/graph/operation.h"

namespace voxswap::net::onednn {

namespace {

using convolution::ObservableKernel;
using convolution::PartMade;
using convolution::PlanePart;

enum Kind { mean, squares, voxels, kinds };  // stored per part and channel

// The sums of all parts: [planes][parts][kinds][C].
struct PartSums {
  const void* y = nullptr;
  double* sums = nullptr;
  std::int64_t height = 1, row_voxels = 1, channels = 1, parts = 1;

  double* of(std::int64_t plane, std::int64_t part) const {
    return sums + (plane * parts + part) * kinds * channels;
  }
};

// Sums of differences from the part's first voxel, in f32 over a part of a row, then in double.
template <class T>
struct SumPart {
  const PartSums& to;
  const PlanePart& part;

  template <class Floats>
  VOXSWAP_INLINE void operator()(std::int64_t, std::int64_t) const {
    std::int64_t c = 0;
    for (; c + lane_count <= part.outputs; c += lane_count) sum_channels<Floats>(part.first_output + c);
    for (; c < part.outputs; ++c) sum_channels<float>(part.first_output + c);
  }

 private:
  VOXSWAP_INLINE const T* voxel(std::int64_t row, std::int64_t first) const {
    return static_cast<const T*>(to.y) +
           ((part.plane * to.height + row) * to.row_voxels + first) * to.channels;
  }
  template <class V>
  VOXSWAP_INLINE void sum_channels(std::int64_t channel) const {
    const V center = load<V>(voxel(part.row, part.voxel) + channel);
    double sums[2][lane_count] = {}, centers[lane_count] = {};
    add_to(centers, center);
    for (std::int64_t row = part.row; row < part.row + part.rows; ++row)
      for (std::int64_t first = 0; first < part.voxels; first += summed_rows) {
        const std::int64_t end = first + summed_rows < part.voxels ? first + summed_rows : part.voxels;
        const T* x = voxel(row, part.voxel + first) + channel;
        V sum{}, of_squares{};
        for (std::int64_t v = first; v < end; ++v, x += to.channels) {
          const V difference = load<V>(x) - center;
          sum += difference;
          of_squares += difference * difference;
        }
        add_to(sums[0], sum);
        add_to(sums[1], of_squares);
      }
    const auto count = static_cast<double>(part.rows * part.voxels);
    double* const found = to.of(part.plane, part.part) + channel;
    for (std::int64_t lane = 0; lane < lanes<V>; ++lane) {
      const double offset = sums[0][lane] / count, left = sums[1][lane] - offset * offset * count;
      found[mean * to.channels + lane] = centers[lane] + offset;
      found[squares * to.channels + lane] = left < 0 ? 0 : left;
      found[voxels * to.channels + lane] = count;
    }
  }
};

template <class T>
void sum_part(const void* context, const PlanePart& part) {
  run_task(SumPart<T>{*static_cast<const PartSums*>(context), part}, 0, 1);
}

// Merges the parts of a plane, [C,2].
struct AddParts {
  const PartSums& from;
  double* to;

  VOXSWAP_INLINE void operator()(std::int64_t begin, std::int64_t end) const {
    const std::int64_t channels = from.channels;
    for (std::int64_t plane = begin; plane < end; ++plane) {
      double* const first = from.of(plane, 0);
      for (std::int64_t part = 1; part < from.parts; ++part) {
        const double* const next = from.of(plane, part);
        for (std::int64_t c = 0; c < channels; ++c) {
          double *const at = first + c, before = at[voxels * channels];
          const double more = next[voxels * channels + c], all = before + more;
          const double difference = next[mean * channels + c] - at[mean * channels];
          at[mean * channels] += difference * (more / all);
          at[squares * channels] +=
              next[squares * channels + c] + difference * difference * before * (more / all);
          at[voxels * channels] = all;
        }
      }
      for (std::int64_t c = 0; c < channels; ++c) {
        to[2 * (plane * channels + c)] = first[mean * channels + c];
        to[2 * (plane * channels + c) + 1] = first[squares * channels + c];
      }
    }
  }
};
constexpr std::int64_t planes_at_once = 16;

template <class T>
class SummingConvolution final : public Kernel {
 public:
  SummingConvolution(std::unique_ptr<ObservableKernel> plain, const Shape& y)
      : plain_(std::move(plain)),
        planes_(y[0] * y[1]),
        sums_{nullptr, nullptr, y[2], y[3], y[4], plain_->parts()},
        inner_(plan_.book(plain_->workspace_bytes())),
        place_(plan_.book(planes_ * sums_.parts * kinds * y[4] * static_cast<std::int64_t>(sizeof(double)))) {
  }
  std::int64_t workspace_bytes() const override { return plan_.bytes(); }
  std::string implementation() const override { return plain_->implementation() + ", moments"; }

  void run(const KernelArguments& arguments) override {
    PartSums sums = sums_;
    sums.y = arguments.outputs[0];
    sums.sums = place<double>(arguments, place_);
    const PartMade made = {sum_part<T>, &sums};
    KernelArguments part = arguments;
    part.workspace = place<std::byte>(arguments, inner_);
    plain_->run_observed(part, &made);
    parallel(planes_, planes_at_once, AddParts{sums, output<double>(arguments, 1)});
  }

 private:
  WorkspacePlan plan_;
  std::unique_ptr<ObservableKernel> plain_;
  std::int64_t planes_;
  PartSums sums_;
  std::int64_t inner_, place_;
};

// The convolution and then a separate pass for the moments.
class ThenMoments final : public Kernel {
 public:
  ThenMoments(const Graph& graph, const Node& node, std::unique_ptr<Kernel> plain)
      : plain_(std::move(plain)) {
    const Value& made = graph.value(node.outputs[0]);
    Graph alone;
    const ValueId y = alone.add_value(made.name, made.shape, made.type, Role::input);
    moments_ = make_plane_moments(alone, alone.node(alone.add("plane_moments", node.name, {y})));
  }
  std::int64_t workspace_bytes() const override {
    return std::max(plain_->workspace_bytes(), moments_->workspace_bytes());
  }
  std::string implementation() const override { return plain_->implementation() + ", then moments"; }

  void run(const KernelArguments& arguments) override {
    KernelArguments convolving = arguments;
    convolving.outputs = arguments.outputs.first(1);
    plain_->run(convolving);
    KernelArguments summing = arguments;
    summing.inputs = arguments.outputs.first(1);
    summing.outputs = arguments.outputs.subspan(1);
    moments_->run(summing);
  }

 private:
  std::unique_ptr<Kernel> plain_, moments_;
};

}  // namespace

bool makes_moments(const Graph& graph, const Node& node) {
  const bool on_windows = node.operation->inner != nullptr;  // its volume comes last
  const Shape& w = input_shape(graph, node, on_windows ? 0 : 1);
  const ElementType type = graph.value(node.outputs[0]).type;
  return w.count_from(2) > 1 && w[0] % lane_count == 0 &&
         (type == ElementType::f32 || type == ElementType::bf16);
}

Graph without_moments(const Graph& graph, const Node& node) {
  Graph alone;
  std::vector<ValueId> inputs;
  for (const ValueId id : node.inputs) {
    const Value& value = graph.value(id);
    inputs.push_back(alone.add_value(value.name, value.shape, value.type, value.role));
  }
  Attributes attributes = node.attributes;
  attributes.set("moments", 0);
  alone.add(node.operation->name, node.name, inputs, attributes);
  return alone;
}

std::unique_ptr<Kernel> make_with_moments(const Graph& graph, const Node& node,
                                          std::unique_ptr<Kernel> plain) {
  const Shape& y = output_shape(graph, node);
  auto* const observable = dynamic_cast<ObservableKernel*>(plain.get());
  if (observable == nullptr) return std::make_unique<ThenMoments>(graph, node, std::move(plain));
  plain.release();
  std::unique_ptr<ObservableKernel> own(observable);
  return for_type(input_type(graph, node), node, [&]<class T>(T) -> std::unique_ptr<Kernel> {
    return std::make_unique<SummingConvolution<T>>(std::move(own), y);
  });
}

}  // namespace voxswap::net::onednn
