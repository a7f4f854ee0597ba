// Cases of convolutions and their gradients (net/ops/convolution.cpp).
#include <algorithm>
#include <array>

#include "net/graph/axes.h"
#include "net/graph/block_sums.h"
#include "tests/conformance/cases/cases.h"

namespace voxswap::net::cases {

namespace {

// A geometry that gives a case to each of the three operations.
struct Geometry {
  std::string name;
  Shape x;  // N,D,H,W,I
  std::int64_t outputs;
  KernelAxes axes;
  bool bias;

  Shape w() const { return {outputs, x[4], axes[0].kernel, axes[1].kernel, axes[2].kernel}; }
  Attributes attributes() const { return attributes_of(axes); }
  Shape y() const { return output_shape(x, axes, outputs); }
};

KernelAxes anisotropic(std::int64_t kernel, const std::array<std::int64_t, 3>& strides) {
  KernelAxes axes = cube(kernel, 1, kernel / 2);
  for (std::size_t i = 0; i < 3; ++i) axes[i].stride = strides[i];
  return axes;
}

const std::vector<Geometry>& geometries() {
  static const std::vector<Geometry> list = {
      {"one voxel", {1, 1, 1, 1, 1}, 1, cube(1, 1, 0), true},
      {"kernel larger than the volume", {1, 2, 1, 2, 5}, 3, cube(3, 1, 1), true},
      {"odd channels, unequal sides", {1, 5, 7, 6, 3}, 5, cube(3, 1, 1), true},
      {"odd channels, stride 2, odd sides", {2, 7, 6, 9, 3}, 4, cube(3, 2, 1), true},
      {"batch of two, no bias", {2, 4, 5, 6, 4}, 20, cube(3, 1, 1), false},
      {"no padding", {1, 5, 6, 4, 4}, 3, cube(3, 1, 0), true},
      {"20 to 16, long row", {1, 3, 4, 35, 20}, 16, cube(3, 1, 1), true},
      {"kernel 1, odd channels", {2, 3, 5, 7, 5}, 3, cube(1, 1, 0), true},
      {"kernel 2, stride 2", {1, 6, 4, 8, 16}, 32, cube(2, 2, 0), false},
      {"kernel 2, stride 2, odd channels, batch of two", {2, 4, 6, 2, 3}, 5, cube(2, 2, 0), true},
      {"isensee2017 first: 4 to 16", {1, 8, 10, 12, 4}, 16, cube(3, 1, 1), true},
      {"one channel to 16", {1, 6, 8, 10, 1}, 16, cube(3, 1, 1), true},
      {"isensee2017 16 to 16", {1, 8, 10, 12, 16}, 16, cube(3, 1, 1), true},
      {"several tiles, batch of two: 16 to 16", {2, 5, 9, 19, 16}, 16, cube(3, 1, 1), true},
      {"several tiles: 8 to 16", {1, 6, 10, 18, 8}, 16, cube(3, 1, 1), true},
      {"isensee2017 16 to 32, stride 2", {1, 8, 12, 10, 16}, 32, cube(3, 2, 1), true},
      {"isensee2017 32 to 16", {1, 6, 8, 10, 32}, 16, cube(3, 1, 1), true},
      {"isensee2017 32 to 32", {1, 6, 4, 8, 32}, 32, cube(3, 1, 1), true},
      {"isensee2017 32 to 32, kernel 1", {1, 6, 8, 10, 32}, 32, cube(1, 1, 0), true},
      {"isensee2017 head: 16 to 3, kernel 1", {1, 8, 10, 12, 16}, 3, cube(1, 1, 0), true},
      {"head whose voxels divide by 8 alone: 16 to 3, kernel 1", {1, 1, 10, 12, 16}, 3, cube(1, 1, 0), false},
      {"three planes become two: 17 to 5, stride 2", {1, 3, 6, 7, 17}, 5, cube(3, 2, 1), true},
      {"isensee2017 deep: 64 to 128, stride 2", {1, 4, 4, 6, 64}, 128, cube(3, 2, 1), true},
      {"image, 3x3, odd channels", {2, 1, 7, 9, 3}, 5, square(3, 1, 1), true},
      {"image, 3x3, 16 to 32", {1, 1, 10, 12, 16}, 32, square(3, 1, 1), false},
      {"image, 7x7, stride 2: 3 to 64", {1, 1, 15, 18, 3}, 64, square(7, 2, 3), false},
      {"image, 3x3, stride 2: 16 to 16", {2, 1, 9, 12, 16}, 16, square(3, 2, 1), false},
      {"image, 1x1, stride 2: 16 to 32", {2, 1, 8, 7, 16}, 32, square(1, 2, 0), false},
      {"image, 1x1, stride 2, odd channels", {1, 1, 5, 6, 5}, 3, square(1, 2, 0), true},
      {"image, 3x3, dilation 2: 16 to 32", {1, 1, 9, 11, 16}, 32, square(3, 1, 2, 2), false},
      {"image, 3x3, dilation 6: 32 to 16", {1, 1, 14, 13, 32}, 16, square(3, 1, 6, 6), false},
      {"image, 3x3, dilation 12, wider than the image", {2, 1, 9, 17, 16}, 16, square(3, 1, 12, 12), true},
      {"image, 3x3, stride 2, dilation 2, odd channels", {1, 1, 11, 10, 3}, 5, square(3, 2, 2, 2), true},
      {"dilation 2 along all axes", {1, 7, 6, 8, 4}, 16, cube(3, 1, 2, 2), true},
      {"flat kernel over planes", {1, 4, 6, 7, 16}, 16, square(3, 1, 1), true},
      {"flat kernel, stride 1x2x2: 16 to 32", {1, 5, 8, 7, 16}, 32, square(3, 2, 1), false},
      {"3x3x3, stride 1x2x2: 16 to 32", {1, 5, 8, 9, 16}, 32, anisotropic(3, {1, 2, 2}), true},
      {"3x3x3, stride 2x1x2, odd channels", {2, 5, 4, 7, 3}, 5, anisotropic(3, {2, 1, 2}), true},
      {"image of rows as planes, 7x7, stride 2: 3 to 64", {1, 15, 1, 18, 3}, 64, of_rows(7, 2, 3), false},
      {"image of rows as planes, 3x3, stride 2, odd channels", {2, 9, 1, 7, 5}, 3, of_rows(3, 2, 1), true},
      {"image of rows as planes, 3x3, dilation 6: 32 to 16",
       {1, 14, 1, 13, 32},
       16,
       of_rows(3, 1, 6, 6),
       false},
      {"image of rows as planes, 3x3, dilation 12, wider than the image",
       {2, 9, 1, 17, 16},
       16,
       of_rows(3, 1, 12, 12),
       true},
      {"image of one row, 3x3: 4 to 16", {1, 1, 1, 9, 4}, 16, of_rows(3, 1, 1), false},
      {"image, 7x7, few rows: 3 to 8", {1, 1, 6, 9, 3}, 8, square(7, 1, 3), true},
      {"flat kernel, stride 1x2x1, rows of one voxel: 32 to 16",
       {2, 6, 1, 4, 32},
       16,
       {KernelAxis{}, {3, 2, 1, 1, 1}, {3, 1, 1, 1, 1}},
       true},
      {"kernel 1x2x2, stride 1x2x2", {1, 3, 4, 6, 16}, 8, square(2, 2, 0), false},
  };
  return list;
}

// No voxel is covered by two kernels.
bool is_patchwise(const KernelAxes& axes) {
  return std::all_of(axes.begin(), axes.end(), [](const KernelAxis& axis) {
    return axis.kernel == axis.stride && axis.before == 0 && axis.behind == 0;
  });
}

}  // namespace

Cases conv3d() {
  Cases cases;
  for (const Geometry& g : geometries()) {
    OperationCase example{g.name, {activation(g.x), full(g.w())}, g.attributes(), {}};
    if (g.bias) example.inputs.push_back(full({g.outputs}));
    cases.push_back(std::move(example));
  }
  return cases;
}

Cases conv3d_sum() {
  Cases cases;
  for (const Geometry& g : geometries())
    cases.push_back({g.name, {activation(g.x), full(g.w()), activation(g.y())}, g.attributes(), {}});
  return cases;
}

Cases conv3d_data_gradient() {
  Cases cases;
  for (const Geometry& g : geometries()) {
    OperationCase example{g.name, {activation(g.y()), full(g.w())}, g.attributes(), {}};
    example.attributes.set("d", static_cast<double>(g.x[1]));
    example.attributes.set("h", static_cast<double>(g.x[2]));
    example.attributes.set("w", static_cast<double>(g.x[3]));
    cases.push_back(example);
    // The transposed convolution has a bias.
    if (is_patchwise(g.axes) || g.name.starts_with("odd")) {
      example.name += ", with bias";
      example.inputs.push_back(full({g.x[4]}));
      cases.push_back(std::move(example));
    }
  }
  return cases;
}

Cases conv3d_weight_gradient() {
  Cases cases;
  for (const Geometry& g : geometries()) {
    OperationCase example{g.name, {activation(g.x), activation(g.y())}, g.attributes(), {}};
    set_kernel(example.attributes, g.axes);
    example.attributes.set("bias", g.bias);
    const std::int64_t planes = g.y()[1], block = 2;
    if (planes > block) {  // the last block is shorter if the number of planes is odd
      set_sum_blocks(example.attributes, block, (planes + block - 1) / block);
    }
    cases.push_back(std::move(example));
  }
  return cases;
}

}  // namespace voxswap::net::cases
