#include "pipeline/predict/prediction_files.h"

#include "base/text.h"
#include "data/formats/bids_writing.h"
#include "pipeline/predict/predict.h"
#include "pipeline/report/palette.h"

namespace voxswap::pipeline {

namespace {

// A case of BIDS keeps its name, sub-01_ses-1; others become subjects.
std::string subject_of(const std::string& id) {
  return id.starts_with("sub-") ? id.substr(0, id.find('_')) : "sub-" + data::bids_label(id);
}
std::string session_of(const std::string& id) {
  const std::size_t at = id.find("_ses-");
  return id.starts_with("sub-") && at != id.npos ? id.substr(at + 1) : "";
}

}  // namespace

PredictionFiles::PredictionFiles(fs::path folder, const data::Dataset& dataset, const PredictOptions& how)
    : folder_(std::move(folder)), dataset_(dataset), how_(how) {}

fs::path PredictionFiles::anat(const std::string& id, const std::string& what) const {
  const std::string subject = subject_of(id), session = session_of(id);
  const fs::path below = session.empty() ? fs::path(subject) : fs::path(subject) / session;
  const std::string name = session.empty() ? subject : subject + "_" + session;
  return folder_ / below / "anat" / (name + "_" + what);
}

fs::path PredictionFiles::label_map(const std::string& id) const {
  if (how_.bids) return anat(id, "desc-voxswap_dseg.nii.gz");
  return folder_ / (dataset_.classes ? "classes.csv" : label_map_name(dataset_, id));
}

fs::path PredictionFiles::probability(const std::string& id, const std::string& output) const {
  if (how_.bids) return anat(id, "label-" + data::bids_label(output) + "_desc-voxswap_probseg.nii.gz");
  return folder_ / "probabilities" / format("{}_{}.nii.gz", id, output);
}

fs::path PredictionFiles::segmentation(const std::string& id) const {
  return folder_ / (id + ".seg.nrrd");
}

fs::path PredictionFiles::dicom_segmentation(const std::string& id) const {
  return folder_ / (id + ".seg.dcm");
}

std::vector<fs::path> PredictionFiles::of_case(const std::string& id,
                                               const std::vector<std::string>& outputs) const {
  std::vector<fs::path> files = {label_map(id)};
  if (how_.segmentations) files.push_back(segmentation(id));
  if (how_.dicom_segmentations) files.push_back(dicom_segmentation(id));
  if (how_.probabilities)
    for (const std::string& output : outputs) files.push_back(probability(id, output));
  return files;
}

std::vector<std::pair<fs::path, std::string>> PredictionFiles::shared() const {
  std::vector<std::pair<fs::path, std::string>> files;
  if (how_.segmentations)
    files.emplace_back(folder_ / "itksnap_labels.txt", data::itk_snap_labels(segments_of(dataset_)));
  if (!how_.bids) return files;
  files.emplace_back(folder_ / data::bids_description_file,
                     data::bids_description("Predictions", "voxswap", how_.version));
  files.emplace_back(folder_ / "dseg.tsv", data::bids_labels(dataset_.labels));
  files.emplace_back(folder_ / ".bidsignore", "prediction.json\n**/.voxswap\n");
  return files;
}

std::vector<data::Segment> segments_of(const data::Dataset& dataset) {
  std::vector<data::Segment> segments;
  std::size_t next = dataset.regions.size();
  for (const auto& [name, value] : dataset.labels) {
    const auto same = std::find_if(dataset.regions.begin(), dataset.regions.end(), [&](const auto& region) {
      return region.second == std::vector<int>{value};
    });
    const auto place = static_cast<std::size_t>(same - dataset.regions.begin());
    segments.push_back({name, value, palette_color(place < dataset.regions.size() ? place : next++)});
  }
  return segments;
}

}  // namespace voxswap::pipeline
