// Kernels that sum a volume plane by plane (passes.h): norm statistics, the sums of the norm's backward pass,
// and sums of channels.
#pragma once

#include "net/backends/onednn/kernels.h"
#include "net/backends/onednn/passes.h"

namespace voxswap::net::onednn {

// Workspace of a kernel that sums over planes.
struct SumPlaces {
  WorkspacePlan plan;
  std::int64_t sums, planes;  // of the passes; [N,D,C,kinds]
  SumPlaces(const RowLayout& layout, std::int64_t kinds)
      : sums(plan.book(sums_bytes(layout, kinds))), planes(plan.book(plane_sums_bytes(layout, kinds))) {}
};

// Every operation has two versions: one returns the sums of each plane, the other adds them up.
enum class Sums { of_planes, of_samples };

// The location of the sums of planes.
inline double* planes_of(const KernelArguments& arguments, const SumPlaces& places, Sums what) {
  return what == Sums::of_planes ? output<double>(arguments) : place<double>(arguments, places.planes);
}

// find(T, arguments, planes) computes the sums of planes, add(planes, output) adds them up.
template <class Find, class Add>
std::unique_ptr<Kernel> make_sums(const Graph& graph, const Node& node, const SumPlaces& places, Sums what,
                                  Find find, Add add) {
  return for_type(input_type(graph, node), node, [&]<class T>(T type) {
    return make_pass(
        [=](const KernelArguments& arguments) {
          double* planes = planes_of(arguments, places, what);
          find(type, arguments, planes);
          if (what == Sums::of_samples) add(planes, output<float>(arguments));
        },
        places.plan.bytes());
  });
}

}  // namespace voxswap::net::onednn
