// Elementwise operations.
#include "net/backends/onednn/kernels.h"
#include "net/backends/onednn/lanes.h"
#include "net/backends/onednn/passes.h"

namespace voxswap::net::onednn {

namespace {

struct LeakyRelu {
  float slope;
  template <class V>
  VOXSWAP_INLINE V operator()(const V& x) const {
    return choose(x > 0.0f, x, V(x * slope));
  }
};
struct LeakyReluGradient {
  float slope;
  template <class V>
  VOXSWAP_INLINE V operator()(const V& y, const V& dy) const {
    return choose(y > 0.0f, dy, V(dy * slope));
  }
};
struct Sigmoid {
  template <class V>
  VOXSWAP_INLINE V operator()(const V& x) const {
    return sigmoid_from<V>(x, exp_of_negative<V>(-magnitude(x)));
  }
};
struct SigmoidGradient {
  template <class V>
  VOXSWAP_INLINE V operator()(const V& y, const V& dy) const {
    return dy * y * (1.0f - y);
  }
};
struct Sum {
  template <class V>
  VOXSWAP_INLINE V operator()(const V& a, const V& b) const {
    return a + b;
  }
};
struct Same {
  template <class V>
  VOXSWAP_INLINE V operator()(const V& x) const {
    return x;
  }
};

// The output may overlap an input: every element is read before it is written.
template <class From, class To, class Function>
struct Map {
  const From* x;
  To* y;
  Function function;

  template <class V>
  VOXSWAP_INLINE void rows(const Rows& at) const {
    for (std::int64_t i = at.offset; i < at.offset + at.rows * at.wide; i += lanes<V>) {
      store(y + i, V(function(load<V>(x + i))));
    }
  }
};
template <class T, class Function>
struct MapPairs {
  const T *a, *b;
  T* y;
  Function function;

  template <class V>
  VOXSWAP_INLINE void rows(const Rows& at) const {
    for (std::int64_t i = at.offset; i < at.offset + at.rows * at.wide; i += lanes<V>) {
      store(y + i, V(function(load<V>(a + i), load<V>(b + i))));
    }
  }
};

template <class From, class To, class Function>
std::unique_ptr<Kernel> map_kernel(const Graph& graph, const Node& node, Function function) {
  const RowLayout layout = flat_layout(input_shape(graph, node).count());
  return make_pass([=](const KernelArguments& arguments) {
    for_each_chunk(layout,
                   Map<From, To, Function>{input<From>(arguments, 0), output<To>(arguments), function});
  });
}
template <class Function>
std::unique_ptr<Kernel> map(const Graph& graph, const Node& node, Function function) {
  return for_type(input_type(graph, node), node,
                  [&]<class T>(T) { return map_kernel<T, T>(graph, node, function); });
}

template <class Function>
std::unique_ptr<Kernel> map_pairs(const Graph& graph, const Node& node, Function function) {
  const RowLayout layout = flat_layout(input_shape(graph, node).count());
  return for_type(input_type(graph, node), node, [&]<class T>(T) {
    return make_pass([=](const KernelArguments& arguments) {
      for_each_chunk(layout, MapPairs<T, Function>{input<T>(arguments, 0), input<T>(arguments, 1),
                                                   output<T>(arguments), function});
    });
  });
}

float slope_of(const Node& node) {
  return static_cast<float>(node.attributes.real("slope"));
}

}  // namespace

std::unique_ptr<Kernel> make_leaky_relu(const Graph& graph, const Node& node) {
  return map(graph, node, LeakyRelu{slope_of(node)});
}
std::unique_ptr<Kernel> make_leaky_relu_gradient(const Graph& graph, const Node& node) {
  return map_pairs(graph, node, LeakyReluGradient{slope_of(node)});
}
std::unique_ptr<Kernel> make_sigmoid(const Graph& graph, const Node& node) {
  return map(graph, node, Sigmoid{});
}
std::unique_ptr<Kernel> make_sigmoid_gradient(const Graph& graph, const Node& node) {
  return map_pairs(graph, node, SigmoidGradient{});
}
std::unique_ptr<Kernel> make_add(const Graph& graph, const Node& node) {
  return map_pairs(graph, node, Sum{});
}
std::unique_ptr<Kernel> make_cast(const Graph& graph, const Node& node) {
  return for_type(input_type(graph, node), node, [&]<class From>(From) {
    return for_type(graph.value(node.outputs[0]).type, node,
                    [&]<class To>(To) { return map_kernel<From, To>(graph, node, Same{}); });
  });
}

}  // namespace voxswap::net::onednn
