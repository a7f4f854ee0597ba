#include "pipeline/slices.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/error.h"
#include "data/picture.h"

namespace voxswap {

namespace {

constexpr std::int64_t gap = 6;  // pixels between the views

using Color = std::array<std::uint8_t, 3>;

// Bright on grey and apart for any colour vision; neighbours in a tumour (1, 2, 4) are far from each other.
Color label_color(std::int16_t label) {
  static constexpr Color colors[] = {{230, 159, 0},  {86, 180, 233}, {0, 190, 140},  {255, 90, 170},
                                     {240, 228, 66}, {213, 94, 0},   {160, 130, 255}};
  const int index = (label - 1) % static_cast<int>(std::size(colors));
  return colors[index < 0 ? index + static_cast<int>(std::size(colors)) : index];
}

struct Pixels {
  std::int64_t width = 0, height = 0;
  std::vector<std::uint8_t> rgb;
  Pixels(std::int64_t w, std::int64_t h)
      : width(w), height(h), rgb(static_cast<std::size_t>(w * h * 3), std::uint8_t{0}) {}
  void set(std::int64_t x, std::int64_t y, const Color& color) {
    std::copy(color.begin(), color.end(), rgb.begin() + (y * width + x) * 3);
  }
};

// Which voxel axis runs along each axis of the world (L, P, S), and whether it runs the same way.
struct Orientation {
  std::array<int, 3> axis{0, 1, 2};
  std::array<bool, 3> same{true, true, true};
};

Orientation orientation_of(const Geometry& geometry) {
  Orientation best;
  double best_score = -1;
  std::array<int, 3> axes{0, 1, 2};
  const auto cosine = [&](int world, int axis) {
    return geometry.direction[static_cast<std::size_t>(3 * world + axis)];
  };
  do {
    double score = 0;
    for (int world = 0; world < 3; ++world)
      score += std::fabs(cosine(world, axes[static_cast<std::size_t>(world)]));
    if (score <= best_score) continue;
    best_score = score;
    best.axis = axes;
    for (std::size_t world = 0; world < 3; ++world)
      best.same[world] = cosine(static_cast<int>(world), axes[world]) >= 0;
  } while (std::next_permutation(axes.begin(), axes.end()));
  return best;
}

// A plane of the body as radiologists look at it: the patient's left on the right, anterior or superior up;
// in sagittal views anterior is on the left.
struct View {
  int normal, right, down;  // axes of the world
  bool right_positive, down_positive;
};
constexpr View views[] = {{2, 0, 1, true, true}, {1, 0, 2, true, false}, {0, 1, 2, true, false}};

// The slice across voxel axis `axis` with the most labelled voxels; the middle one when nothing is labelled.
std::int64_t fullest_slice(const LabelMap& labels, int axis) {
  const Size3& size = labels.geometry.size;
  std::vector<std::int64_t> counts(static_cast<std::size_t>(size[static_cast<std::size_t>(axis)]), 0);
  for (std::int64_t z = 0; z < size[2]; ++z) {
    for (std::int64_t y = 0; y < size[1]; ++y) {
      for (std::int64_t x = 0; x < size[0]; ++x) {
        if (labels.at(x, y, z) != 0)
          ++counts[static_cast<std::size_t>(std::array{x, y, z}[static_cast<std::size_t>(axis)])];
      }
    }
  }
  const auto most = std::max_element(counts.begin(), counts.end());
  return *most > 0 ? most - counts.begin() : static_cast<std::int64_t>(counts.size()) / 2;
}

struct Window {
  float low = 0, high = 1;
  std::uint8_t grey(double value) const {
    return static_cast<std::uint8_t>(std::lround(255 * std::clamp((value - low) / (high - low), 0.0, 1.0)));
  }
};

// From the 1st to the 99th percentile of what differs from the corner voxel: else the background decides.
Window window_of(const Image& image) {
  std::vector<float> values;
  for (float value : image.voxels) {
    if (value != image.voxels.front()) values.push_back(value);
  }
  if (values.empty()) return {image.voxels.front() - 1, image.voxels.front() + 1};
  const auto percentile = [&](double part) {
    const auto at =
        values.begin() + static_cast<std::ptrdiff_t>(part * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), at, values.end());
    return *at;
  };
  Window window{percentile(0.01), percentile(0.99)};
  if (window.high <= window.low) window.high = window.low + 1;
  return window;
}

// Looks up the plane of a view: screen pixel -> voxel coordinates.
class Plane {
 public:
  Plane(const Geometry& geometry, const View& view, const Orientation& orientation, std::int64_t slice,
        double pixel)
      : normal_(index(orientation, view.normal)),
        right_(index(orientation, view.right)),
        down_(index(orientation, view.down)),
        flip_right_(orientation.same[static_cast<std::size_t>(view.right)] != view.right_positive),
        flip_down_(orientation.same[static_cast<std::size_t>(view.down)] != view.down_positive),
        slice_(slice),
        size_(geometry.size),
        width_(extent(geometry, right_, pixel)),
        height_(extent(geometry, down_, pixel)) {}

  std::int64_t width() const { return width_; }
  std::int64_t height() const { return height_; }

  // Voxel centres aligned as in resampling; clamped at the edges.
  std::array<double, 3> voxel(std::int64_t x, std::int64_t y) const {
    std::array<double, 3> at{};
    at[normal_] = static_cast<double>(slice_);
    at[right_] = coordinate(x, width_, size_[right_], flip_right_);
    at[down_] = coordinate(y, height_, size_[down_], flip_down_);
    return at;
  }
  double grey(const Image& image, std::int64_t x, std::int64_t y) const {  // bilinear
    const std::array<double, 3> at = voxel(x, y);
    const double a = at[right_], b = at[down_];
    const auto sample = [&](double i, double j) {
      std::array<std::int64_t, 3> v{};
      v[normal_] = slice_;
      v[right_] = static_cast<std::int64_t>(std::min(i, static_cast<double>(size_[right_] - 1)));
      v[down_] = static_cast<std::int64_t>(std::min(j, static_cast<double>(size_[down_] - 1)));
      return static_cast<double>(image.at(v[0], v[1], v[2]));
    };
    const double i = std::floor(a), j = std::floor(b), u = a - i, v = b - j;
    return (1 - v) * ((1 - u) * sample(i, j) + u * sample(i + 1, j)) +
           v * ((1 - u) * sample(i, j + 1) + u * sample(i + 1, j + 1));
  }
  std::int16_t label(const LabelMap& labels, std::int64_t x, std::int64_t y) const {  // nearest
    const std::array<double, 3> at = voxel(x, y);
    return labels.at(std::lround(at[0]), std::lround(at[1]), std::lround(at[2]));
  }

 private:
  static std::size_t index(const Orientation& orientation, int world) {
    return static_cast<std::size_t>(orientation.axis[static_cast<std::size_t>(world)]);
  }
  static std::int64_t extent(const Geometry& geometry, std::size_t axis, double pixel) {
    const double millimetres = static_cast<double>(geometry.size[axis]) * geometry.spacing[axis];
    return std::max<std::int64_t>(1, std::llround(millimetres / pixel));
  }
  static double coordinate(std::int64_t at, std::int64_t pixels, std::int64_t voxels, bool flip) {
    const std::int64_t along = flip ? pixels - 1 - at : at;
    const double part = (static_cast<double>(along) + 0.5) / static_cast<double>(pixels);
    return std::clamp(part * static_cast<double>(voxels) - 0.5, 0.0, static_cast<double>(voxels - 1));
  }

  std::size_t normal_, right_, down_;
  bool flip_right_, flip_down_;
  std::int64_t slice_;
  Size3 size_;
  std::int64_t width_, height_;
};

// The image with the inner boundary of every label, one pixel wide.
void paint(Pixels& picture, std::int64_t left, std::int64_t top, const Plane& plane, const Image& image,
           const Window& window, const LabelMap& labels) {
  for (std::int64_t y = 0; y < plane.height(); ++y) {
    for (std::int64_t x = 0; x < plane.width(); ++x) {
      const std::int16_t label = plane.label(labels, x, y);
      const auto differs = [&](std::int64_t dx, std::int64_t dy) {
        const std::int64_t u = x + dx, v = y + dy;
        if (u < 0 || v < 0 || u >= plane.width() || v >= plane.height()) return true;
        return plane.label(labels, u, v) != label;
      };
      const bool edge = label != 0 && (differs(-1, 0) || differs(1, 0) || differs(0, -1) || differs(0, 1));
      const std::uint8_t grey = window.grey(plane.grey(image, x, y));
      picture.set(left + x, top + y, edge ? label_color(label) : Color{grey, grey, grey});
    }
  }
}

// Millimetres per pixel: four pixels per voxel on small grids, fewer on large ones.
double pixel_size(const Geometry& geometry) {
  const double finest = *std::min_element(geometry.spacing.begin(), geometry.spacing.end());
  double longest = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    longest = std::max(longest, static_cast<double>(geometry.size[axis]) * geometry.spacing[axis] / finest);
  }
  return finest / std::clamp(std::floor(480 / longest), 1.0, 4.0);
}

}  // namespace

void write_slices(const std::filesystem::path& png, const Image& image, const LabelMap& truth,
                  const LabelMap& prediction) {
  const bool with_truth = !truth.voxels.empty();
  if (!same_grid(image.geometry, prediction.geometry) ||
      (with_truth && !same_grid(image.geometry, truth.geometry))) {
    fail(Exit::bad_data, "{}: image ({}), truth and prediction are not on one grid", png.string(),
         describe(image.geometry));
  }
  const bool truth_is_labelled =
      std::any_of(truth.voxels.begin(), truth.voxels.end(), [](auto v) { return v != 0; });
  const LabelMap& guide = truth_is_labelled ? truth : prediction;
  const Orientation orientation = orientation_of(image.geometry);
  std::vector<Plane> planes;
  std::int64_t column = 0, height = -gap;
  for (const View& view : views) {
    const int axis = orientation.axis[static_cast<std::size_t>(view.normal)];
    planes.emplace_back(image.geometry, view, orientation, fullest_slice(guide, axis),
                        pixel_size(image.geometry));
    column = std::max(column, planes.back().width());
    height += planes.back().height() + gap;
  }
  Pixels picture(with_truth ? 2 * column + gap : column, height);
  const Window window = window_of(image);
  std::int64_t top = 0;
  for (const Plane& plane : planes) {
    const std::int64_t inset = (column - plane.width()) / 2;
    if (with_truth) paint(picture, inset, top, plane, image, window, truth);
    paint(picture, inset + (with_truth ? column + gap : 0), top, plane, image, window, prediction);
    top += plane.height() + gap;
  }
  write_png(png, picture.width, picture.height, picture.rgb);
}

}  // namespace voxswap
