// Uses DCMTK, which handles the many elements of such an object. It reads no file from outside: what the
// object takes from the series was read by DicomElements.
#include "data/formats/dicom_segmentation.h"

#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmdata/dctk.h>
#include <dcmtk/dcmfg/fgderimg.h>
#include <dcmtk/dcmfg/fgfracon.h>
#include <dcmtk/dcmfg/fgpixmsr.h>
#include <dcmtk/dcmfg/fgplanor.h>
#include <dcmtk/dcmfg/fgplanpo.h>
#include <dcmtk/dcmseg/segdoc.h>
#include <dcmtk/dcmseg/segment.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "data/formats/dcmtk.h"
#include "data/formats/dicom.h"
#include "data/formats/dicom_slice.h"

namespace voxswap::data {

namespace {

// The slice of the series nearest to a plane: readers accept slices that are not quite evenly spaced.
const DicomSlice& slice_at(const std::vector<DicomSlice>& slices, const std::array<double, 3>& at,
                           double spacing, const fs::path& source) {
  const auto distance = [&](const DicomSlice& slice) {
    double far = 0;
    for (std::size_t world = 0; world < 3; ++world)
      far = std::max(far, std::fabs(slice.geometry.origin[world] - at[world]));
    return far;
  };
  const auto nearest = std::min_element(
      slices.begin(), slices.end(), [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
  if (distance(*nearest) < spacing / 4) return *nearest;
  fail(Exit::bad_data, "{}: has no slice at ({}, {}, {}) mm, where the label map has a plane",
       source.string(), number(at[0]), number(at[1]), number(at[2]));
}

// The texts of a slice on patient, study, frame of reference and instance, which DCMTK copies and refers to.
std::unique_ptr<DcmDataset> texts_of(const DicomSlice& slice, const fs::path& path) {
  auto dataset = std::make_unique<DcmDataset>();
  for (const auto& [number, bytes] : slice.elements.values) {
    const DcmTag tag(static_cast<Uint16>(number >> 16), static_cast<Uint16>(number & 0xffff));
    const bool wanted = tag.getGroup() == 0x0008 || tag.getGroup() == 0x0010 || tag.getGroup() == 0x0020;
    if (wanted && DcmVR(tag.getEVR()).isaString())
      check_dcmtk(dataset->putAndInsertOFStringArray(tag, slice.elements.text(number).c_str()), path,
                  "texts of the series");
  }
  return dataset;
}

// Shared by all frames: voxel size and plane orientation.
void add_shared(DcmSegmentation& object, const Geometry& grid, const fs::path& path) {
  FGPixelMeasures measures;
  measures.setPixelSpacing(
      (decimal_string(grid.spacing[1]) + "\\" + decimal_string(grid.spacing[0])).c_str());
  measures.setSliceThickness(decimal_string(grid.spacing[2]).c_str());
  measures.setSpacingBetweenSlices(decimal_string(grid.spacing[2]).c_str());
  check_dcmtk(object.addForAllFrames(measures), path, "pixel measures");
  const auto axis = [&](std::size_t world, std::size_t a) {
    return OFString(decimal_string(grid.direction[3 * world + a]).c_str());
  };
  const std::unique_ptr<FGPlaneOrientationPatient> orientation(FGPlaneOrientationPatient::createMinimal(
      axis(0, 0), axis(1, 0), axis(2, 0), axis(0, 1), axis(1, 1), axis(2, 1)));
  check_dcmtk(object.addForAllFrames(*orientation), path, "plane orientation");
}

// Category and type are "tissue", as no code fits; the segment's name is the label's.
Uint16 add_segment(DcmSegmentation& object, const Segment& segment, const fs::path& path) {
  const CodeSequenceMacro category("85756007", "SCT", "Tissue"), type("85756007", "SCT", "Tissue");
  constexpr std::size_t longest_text = 64;  // of SegmentLabel
  const std::string label = segment.name.substr(0, longest_text);
  DcmSegment* made = nullptr;
  check_dcmtk(DcmSegment::create(made, label.c_str(), category, type, DcmSegTypes::SAT_AUTOMATIC, "voxswap"),
              path, "a segment");
  Uint16 index = 0;
  check_dcmtk(object.addSegment(made, index), path, "a segment");
  return index;
}

void add_frame(DcmSegmentation& object, Uint16 segment, std::vector<Uint8>& mask,
               const std::array<double, 3>& at, std::size_t plane, const DicomSlice& slice,
               const fs::path& path) {
  const std::unique_ptr<FGPlanePosPatient> position(FGPlanePosPatient::createMinimal(
      decimal_string(at[0]).c_str(), decimal_string(at[1]).c_str(), decimal_string(at[2]).c_str()));
  FGFrameContent content;
  content.setStackID("1");
  content.setInStackPositionNumber(static_cast<Uint32>(plane + 1));
  content.setDimensionIndexValues(segment, 0);
  content.setDimensionIndexValues(static_cast<Uint32>(plane + 1), 1);
  FGDerivationImage derivation;
  DerivationImageItem* item = nullptr;
  check_dcmtk(derivation.addDerivationImageItem(CodeSequenceMacro("113076", "DCM", "Segmentation"), "", item),
              path, "derivation");
  SourceImageItem* source = nullptr;
  check_dcmtk(item->addSourceImageItem(
                  texts_of(slice, path).get(),
                  CodeSequenceMacro("121322", "DCM", "Source image for image processing operation"), source),
              path, "the source image");
  OFVector<FGBase*> groups;
  groups.push_back(position.get());
  groups.push_back(&content);
  groups.push_back(&derivation);
  check_dcmtk(object.addFrame(mask.data(), segment, groups), path, "a frame");
}

// Packs frames as bits without padding in between, the first pixel in the lowest bit. DCMTK (3.6.7) can do
// this too, but loses bits of the last frame if a frame is not a whole number of bytes.
class FrameBits {
 public:
  void add(const std::vector<Uint8>& mask) {
    for (const Uint8 pixel : mask) {
      if (count_ % 8 == 0) bytes_.push_back(0);
      if (pixel != 0) bytes_.back() = static_cast<Uint8>(bytes_.back() | 1 << count_ % 8);
      ++count_;
    }
  }
  std::vector<Uint8> even() const {
    std::vector<Uint8> bytes = bytes_;
    if (bytes.size() % 2 != 0) bytes.push_back(0);
    return bytes;
  }

 private:
  std::vector<Uint8> bytes_;
  std::size_t count_ = 0;
};

// The series and those of its slices that frames refer to (DICOM part 3, C.12.2).
void refer_to(DcmSegmentation& object, const std::set<const DicomSlice*>& slices, const fs::path& path) {
  constexpr std::uint32_t of_class = 0x00080016, of_instance = 0x00080018, of_series = 0x0020000e;
  auto series = std::make_unique<IODSeriesAndInstanceReferenceMacro::ReferencedSeriesItem>();
  check_dcmtk(series->setSeriesInstanceUID((*slices.begin())->elements.text(of_series).c_str()), path,
              "the series");
  for (const DicomSlice* slice : slices) {
    auto instance = std::make_unique<SOPInstanceReferenceMacro>();
    check_dcmtk(instance->setReferencedSOPClassUID(slice->elements.text(of_class).c_str()), path, "a slice");
    check_dcmtk(instance->setReferencedSOPInstanceUID(slice->elements.text(of_instance).c_str()), path,
                "a slice");
    series->getReferencedInstanceItems().push_back(instance.release());
  }
  object.getCommonInstanceReference().getReferencedSeriesItems().push_back(series.release());
}

void save_object(DcmSegmentation& object, const FrameBits& bits, const fs::path& path) {
  DcmFileFormat file;
  check_dcmtk(object.writeDataset(*file.getDataset()), path, "cannot be put together");
  const std::vector<Uint8> pixels = bits.even();
  check_dcmtk(file.getDataset()->putAndInsertUint8Array(DCM_PixelData, pixels.data(), pixels.size()), path,
              "pixels");
  save_dicom(file, DicomTypes::stated, path);
}

// Dimensions by which viewers sort frames: segment and plane.
void add_dimensions(DcmSegmentation& object, const fs::path& path) {
  char uid[100];
  dcmGenerateUniqueIdentifier(uid, SITE_INSTANCE_UID_ROOT);
  IODMultiframeDimensionModule& dimensions = object.getDimensions();
  check_dcmtk(dimensions.addDimensionIndex(DCM_ReferencedSegmentNumber, uid,
                                           DCM_SegmentIdentificationSequence, "Segment"),
              path, "dimensions");
  check_dcmtk(dimensions.addDimensionIndex(DCM_InStackPositionNumber, uid, DCM_FrameContentSequence, "Plane"),
              path, "dimensions");
}

// DCMTK reads its dictionary of DICOM elements from a file of its package. Without that file, the dictionary
// of the bundle is used (cmake/bundle.sh).
bool load_dictionary() {
  OFLog::configure(OFLogger::OFF_LOG_LEVEL);  // a missing dictionary is not an error yet
  bool loaded = dcmDataDict.isDictionaryLoaded();
  if (!loaded) {
    error_code no_such_link;
    const fs::path program = fs::read_symlink("/proc/self/exe", no_such_link);
    const fs::path dictionary = program.parent_path().parent_path() / "share" / "dicom.dic";
    loaded = dcmDataDict.wrlock().loadDictionary(dictionary.c_str());
    dcmDataDict.wrunlock();
  }
  OFLog::configure(OFLogger::ERROR_LOG_LEVEL);  // ignore warnings about missing elements in series
  return loaded;
}

bool has_dictionary() {
  static const bool loaded = load_dictionary();
  return loaded;
}

std::unique_ptr<DcmSegmentation> new_object(const Geometry& grid, const DicomSlice& source_slice,
                                            const std::string& version, const fs::path& path) {
  const IODGeneralEquipmentModule::EquipmentInfo equipment("voxswap", "voxswap", "0", version.c_str());
  const ContentIdentificationMacro content("1", "SEGMENTATION", "Labels of a network", "voxswap");
  DcmSegmentation* made = nullptr;
  check_dcmtk(
      DcmSegmentation::createBinarySegmentation(made, static_cast<Uint16>(grid.size[1]),
                                                static_cast<Uint16>(grid.size[0]), equipment, content),
      path, "a segmentation object");
  std::unique_ptr<DcmSegmentation> object(made);
  check_dcmtk(object->importHierarchy(*texts_of(source_slice, path), OFTrue, OFTrue, OFTrue, OFFalse), path,
              "patient and study of the series");
  object->getSeries().setSeriesNumber("1000");
  object->getSeries().setSeriesDescription("Segmentation by voxswap");
  return object;
}

}  // namespace

bool writes_dicom_segmentations() {
  return true;
}

void write_dicom_segmentation(const fs::path& path, const LabelMap& labels,
                              const std::vector<Segment>& segments, const fs::path& source,
                              const std::string& version) {
  if (!has_dictionary())
    fail(Exit::failed, "{}: DCMTK does not find its DICOM data dictionary. Install dcmtk, or set DCMDICTPATH",
         path.string());
  const Geometry& grid = labels.geometry;
  std::vector<DicomSlice> slices;
  for (const fs::path& file : dicom_files(source)) slices.push_back(open_slice(file));
  if (slices.empty()) fail(Exit::bad_data, "{}: contains no DICOM slices", source.string());
  constexpr std::uint32_t frame_of_reference = 0x00200052;
  if (slices.front().elements.text(frame_of_reference).empty())
    fail(Exit::bad_data,
         "{}: has no FrameOfReferenceUID, which a segmentation object needs. Write another format",
         source.string());
  const std::unique_ptr<DcmSegmentation> object = new_object(grid, slices.front(), version, path);
  add_dimensions(*object, path);
  add_shared(*object, grid, path);
  const auto pixels = static_cast<std::size_t>(grid.size[0] * grid.size[1]);
  std::vector<Uint8> mask(pixels);
  FrameBits bits;
  std::set<const DicomSlice*> referenced;
  for (const Segment& segment : segments) {
    const Uint16 index = add_segment(*object, segment, path);
    for (std::int64_t z = 0; z < grid.size[2]; ++z) {
      const std::int16_t* plane = labels.voxels.data() + static_cast<std::size_t>(z) * pixels;
      std::transform(plane, plane + pixels, mask.begin(),
                     [&](std::int16_t label) { return static_cast<Uint8>(label == segment.value); });
      if (std::find(mask.begin(), mask.end(), 1) == mask.end()) continue;
      const std::array<double, 3> at = plane_position(grid, z);
      const DicomSlice& slice = slice_at(slices, at, grid.spacing[2], source);
      add_frame(*object, index, mask, at, static_cast<std::size_t>(z), slice, path);
      bits.add(mask);
      referenced.insert(&slice);
    }
  }
  if (referenced.empty())
    fail(Exit::bad_data, "{}: the label map is empty, and a segmentation object needs at least one frame",
         path.string());
  refer_to(*object, referenced, path);
  save_object(*object, bits, path);
}

}  // namespace voxswap::data
