#include "data/formats/nifti_header.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "data/formats/file_bytes.h"
#include "data/formats/voxel_bytes.h"
#include "data/volumes/orientation.h"

namespace voxswap::data {

namespace {

// Byte offsets of the fields in struct nifti_1_header of nifti1.h and in struct nifti_2_header of nifti2.h,
// where most fields are wider.
struct Fields {
  std::size_t header_bytes, magic, dim, dim_bytes, datatype, pixdim, real_bytes, vox_offset, slope, intercept,
      qform, code_bytes, sform, quaternion, srow, units;
};
constexpr Fields nifti_1{348, 344, 40, 2, 70, 76, 4, 108, 112, 116, 252, 2, 254, 256, 280, 123};
constexpr Fields nifti_2{540, 4, 16, 8, 12, 104, 8, 168, 176, 184, 344, 4, 348, 352, 400, 500};

// The data types of nifti1.h that are scalars of at most eight bytes.
constexpr std::array<std::pair<int, const char*>, 10> scalar_types{{{2, "uint8"},
                                                                    {4, "int16"},
                                                                    {8, "int32"},
                                                                    {16, "float32"},
                                                                    {64, "float64"},
                                                                    {256, "int8"},
                                                                    {512, "uint16"},
                                                                    {768, "uint32"},
                                                                    {1024, "int64"},
                                                                    {1280, "uint64"}}};

class Reader {
 public:
  Reader(std::string_view bytes, bool swapped) : bytes_(bytes), swapped_(swapped) {}

  std::int64_t whole(std::size_t offset, std::size_t width) const {
    if (width == 1) return static_cast<unsigned char>(bytes_[offset]);
    if (width == 2) return raw<std::int16_t>(offset);
    if (width == 4) return raw<std::int32_t>(offset);
    return raw<std::int64_t>(offset);
  }
  double real(std::size_t offset, std::size_t width) const {
    return width == 4 ? static_cast<double>(raw<float>(offset)) : raw<double>(offset);
  }

 private:
  template <class T>
  T raw(std::size_t offset) const {
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof(T));
    return swapped_ ? swap_bytes(value) : value;
  }
  std::string_view bytes_;
  bool swapped_;
};

bool is_finite(const Affine& affine) {
  return std::all_of(affine.begin(), affine.end(), [](double value) { return std::isfinite(value); });
}

class NiftiHeaderParser {
 public:
  NiftiHeaderParser(const fs::path& path, std::string_view bytes) : path_(path), bytes_(bytes) {}

  NiftiHeader parse() {
    recognise();
    read_extent();
    read_voxels();
    read_place();
    read_placement();
    return std::move(header_);
  }

 private:
  [[noreturn]] void damaged(const std::string& how) const {
    fail(Exit::bad_data, "{}: is damaged: {}", path_.string(), how);
  }

  void recognise() {
    if (bytes_.size() < nifti_1.header_bytes) {
      fail(Exit::bad_data, "{}: is truncated: {}, less than a NIfTI header. Fetch or copy the file again",
           path_.string(), counted(bytes_.size(), "byte"));
    }
    for (const Fields* fields : {&nifti_1, &nifti_2}) {
      for (const bool swapped : {false, true}) {
        const auto size = static_cast<std::int64_t>(fields->header_bytes);
        if (Reader(bytes_, swapped).whole(0, 4) == size && bytes_.size() >= fields->header_bytes) {
          at_ = *fields;
          header_.swapped = swapped;
        }
      }
    }
    const std::string_view magic = at_.header_bytes == 0 ? std::string_view() : bytes_.substr(at_.magic, 4);
    if (magic == std::string_view("ni1\0", 4) || magic == std::string_view("ni2\0", 4)) {
      fail(Exit::bad_data,
           "{}: is only the header of an image whose voxels are in another file. Convert the pair to one "
           ".nii.gz file",
           path_.string());
    }
    if (magic != std::string_view("n+1\0", 4) && magic != std::string_view("n+2\0", 4)) {
      fail(Exit::bad_data, "{}: is not a single-file NIfTI image, despite its name", path_.string());
    }
    reader_.emplace(bytes_, header_.swapped);
  }

  void read_extent() {
    const auto dimensions = reader_->whole(at_.dim, at_.dim_bytes);
    if (dimensions < 1 || dimensions > 7)
      damaged(format("its header describes {}", counted(dimensions, "dimension")));
    constexpr double most_voxels = 1e12;  // prevents overflow of the product below
    double total = 1;
    Size3& size = header_.image.geometry.size;
    size = {1, 1, 1};
    for (std::size_t axis = 1; axis <= static_cast<std::size_t>(dimensions); ++axis) {
      const auto extent = reader_->whole(at_.dim + axis * at_.dim_bytes, at_.dim_bytes);
      if (extent < 1) damaged(format("its header gives axis {} an extent of {}", axis, extent));
      total *= static_cast<double>(extent);
      if (total > most_voxels) damaged(format("its header declares more than {:g} voxels", most_voxels));
      if (axis <= 3) {
        size[axis - 1] = extent;
      } else {
        header_.image.volumes *= extent;
      }
    }
  }

  void read_voxels() {
    const auto code = reader_->whole(at_.datatype, 2);
    for (const auto& [of_type, name] : scalar_types) {
      if (of_type == code) header_.image.element = name;
    }
    if (header_.image.element.empty()) {
      fail(Exit::bad_data, "{}: its voxel type is not supported (NIfTI data type {})", path_.string(), code);
    }
    const double offset = at_.dim_bytes == 8 ? static_cast<double>(reader_->whole(at_.vox_offset, 8))
                                             : reader_->real(at_.vox_offset, 4);
    if (!(offset >= static_cast<double>(at_.header_bytes) && offset < 1e9))
      damaged(format("its header says that the voxels start at byte {}", offset));
    header_.offset = static_cast<std::size_t>(offset);
    // nifti1.h: a slope of 0 means no scaling.
    const double slope = reader_->real(at_.slope, at_.real_bytes);
    const double intercept = reader_->real(at_.intercept, at_.real_bytes);
    if (slope != 0 && std::isfinite(slope) && std::isfinite(intercept)) {
      header_.slope = slope;
      header_.intercept = intercept;
    }
  }

  // Millimetres per unit of the header; an unknown unit is treated as millimetres, as other readers do.
  double unit() {
    switch (reader_->whole(at_.units, at_.code_bytes == 4 ? 4 : 1) & 7) {
      case 1:
        note("its unit is the metre; lengths are converted to mm");
        return 1000;
      case 3:
        note("its unit is the micrometre; lengths are converted to mm");
        return 0.001;
      default:
        return 1;
    }
  }

  void note(const std::string& oddity) { header_.image.oddities.push_back(oddity); }

  double pixdim(std::size_t axis) const {
    return reader_->real(at_.pixdim + axis * at_.real_bytes, at_.real_bytes);
  }

  Affine sform() const {
    Affine affine;
    for (std::size_t i = 0; i < 12; ++i) {
      affine[i] = reader_->real(at_.srow + i * at_.real_bytes, at_.real_bytes);
    }
    return affine;
  }

  // nifti1.h, method 2: a unit quaternion (a, b, c, d), voxel sizes, and a flip of the third axis.
  Affine qform() const {
    std::array<double, 6> values;
    for (std::size_t i = 0; i < 6; ++i) {
      values[i] = reader_->real(at_.quaternion + i * at_.real_bytes, at_.real_bytes);
    }
    auto [b, c, d, x, y, z] = values;
    double a = 1 - (b * b + c * c + d * d);
    if (a < 1e-7) {
      const double norm = std::sqrt(b * b + c * c + d * d);
      b /= norm, c /= norm, d /= norm, a = 0;
    } else {
      a = std::sqrt(a);
    }
    const double dx = pixdim(1), dy = pixdim(2), dz = pixdim(0) < 0 ? -pixdim(3) : pixdim(3);
    return {(a * a + b * b - c * c - d * d) * dx,
            2 * (b * c - a * d) * dy,
            2 * (b * d + a * c) * dz,
            x,
            2 * (b * c + a * d) * dx,
            (a * a + c * c - b * b - d * d) * dy,
            2 * (c * d - a * b) * dz,
            y,
            2 * (b * d - a * c) * dx,
            2 * (c * d + a * b) * dy,
            (a * a + d * d - c * c - b * b) * dz,
            z};
  }

  // The largest distance in mm between the positions of a voxel under two affines.
  double distance(const Affine& a, const Affine& b) const {
    double worst = 0;
    for (int corner = 0; corner < 8; ++corner) {
      std::array<double, 3> apart{};
      for (std::size_t row = 0; row < 3; ++row) {
        apart[row] = a[row * 4 + 3] - b[row * 4 + 3];
        for (std::size_t axis = 0; axis < 3; ++axis) {
          const auto last = static_cast<double>(header_.image.geometry.size[axis] - 1);
          apart[row] += (corner >> axis & 1 ? last : 0.0) * (a[row * 4 + axis] - b[row * 4 + axis]);
        }
      }
      worst = std::max(worst, std::hypot(apart[0], apart[1], apart[2]));
    }
    return worst;
  }

  Affine choose() {
    const bool has_sform = reader_->whole(at_.sform, at_.code_bytes) > 0;
    const bool has_qform = reader_->whole(at_.qform, at_.code_bytes) > 0;
    const Affine s = sform(), q = qform();
    const bool good_q = has_qform && is_finite(q) && skew(q) <= most_skew;
    if (has_sform && is_finite(s) && skew(s) <= most_skew) {
      constexpr double noticeable = 0.01;  // mm
      if (good_q && distance(s, q) > noticeable)
        note(format("its qform and sform disagree by up to {:.3g} mm; the sform is used", distance(s, q)));
      return s;
    }
    if (has_sform && good_q) {
      note("the axes of its sform are not at right angles or have no length; the qform is used");
      return q;
    }
    if (has_sform && is_finite(s) && skew(s) < 1)
      fail(Exit::bad_data,
           "{}: the axes of its sform are not at right angles, and it has no qform. Resample it onto a "
           "regular grid",
           path_.string());
    if (has_sform) damaged("an axis of its sform has no length");
    if (good_q) return q;
    if (has_qform) damaged("an axis of its qform has no length");
    note("it has neither qform nor sform, so its position and left and right are unknown");
    return {pixdim(1), 0, 0, 0, 0, pixdim(2), 0, 0, 0, 0, pixdim(3), 0};
  }

  void read_place() {
    Affine affine = choose();
    const double millimetres = unit();
    Size3& size = header_.image.geometry.size;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      // Some writers omit an axis with a single slice.
      if (length(affine, axis) == 0 && size[axis] == 1) affine[axis * 4 + axis] = 1;
    }
    for (std::size_t i = 0; i < 12; ++i) affine[i] *= i < 8 ? -millimetres : millimetres;  // RAS to LPS
    header_.image.geometry = geometry_from(path_, affine, size);
  }

  void read_placement() {
    const auto reals = [&](std::size_t offset, auto& values) {
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<float>(reader_->real(offset + i * at_.real_bytes, at_.real_bytes));
    };
    NiftiPlacement& placement = header_.placement;
    reals(at_.pixdim, placement.pixdim);
    reals(at_.quaternion, placement.quaternion);
    reals(at_.srow, placement.srow);
    placement.units = static_cast<std::uint8_t>(reader_->whole(at_.units, at_.code_bytes == 4 ? 4 : 1));
    placement.qform = static_cast<std::int16_t>(reader_->whole(at_.qform, at_.code_bytes));
    placement.sform = static_cast<std::int16_t>(reader_->whole(at_.sform, at_.code_bytes));
  }

  const fs::path& path_;
  std::string_view bytes_;
  Fields at_{};
  std::optional<Reader> reader_;
  NiftiHeader header_;
};

}  // namespace

std::size_t NiftiHeader::promised_bytes() const {
  return offset + voxels() * static_cast<std::size_t>(image.volumes) * bytes_of_element(image.element);
}

void put(const NiftiPlacement& placement, std::string& bytes) {
  const auto write = [&](std::size_t offset, const auto& value) {
    std::memcpy(bytes.data() + offset, &value, sizeof value);
  };
  write(nifti_1.pixdim, placement.pixdim);
  write(nifti_1.units, placement.units);
  write(nifti_1.qform, placement.qform);
  write(nifti_1.sform, placement.sform);
  write(nifti_1.quaternion, placement.quaternion);
  write(nifti_1.srow, placement.srow);
}

NiftiHeader parse_nifti_header(const fs::path& path, std::string_view begin) {
  return NiftiHeaderParser(path, begin).parse();
}

}  // namespace voxswap::data
