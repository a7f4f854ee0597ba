// Predicts label maps of new cases with the networks of finished runs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace voxswap {

struct PredictOptions {
  std::optional<std::array<std::int64_t, 3>> window{};  // voxels x, y, z per pass; nullopt: as in training
  bool whole = false;     // the whole volume in one pass, even if trained on patches
  double overlap = 0.5;   // between windows, 0 to 0.9
  bool mirror = false;    // average over the mirrorings used in training, as with evaluate.tta
  bool ensemble = false;  // average over a run's repeats, as with evaluate.ensemble; false: a folder for each
  bool probabilities = false;           // also write probabilities
  bool segmentations = false;           // also write CASE.seg.nrrd with names and colours
  bool dicom_segmentations = false;     // also write DICOM segmentation objects
  bool bids = false;                    // name files as a BIDS derivative
  std::vector<std::string> subjects{};  // only these subjects of a BIDS data set, without sub-; empty: all
  bool raw_weights = false;             // use the weights of the best epoch instead of averaged ones
  bool force = false;                   // overwrite files that voxswap did not write
  // File with post-processing steps, or "none"; empty: postprocessing.json of the run, if there is one.
  std::string postprocessing{};
  std::vector<std::string> largest{};  // regions to reduce to their largest component; "all": every region
  std::string models{};                // folder of the installed models; empty: ~/.local/share/voxswap/models
};

// Writes OUT/CASE.nii.gz on each case's own grid. `runs`: folders of finished runs or sweeps, or names of
// installed models; their probabilities are averaged. `input`: a data set, the folder of a case, or a 4D
// file. `overrides`: "data.…=value" keys that describe the new images.
void predict(const std::vector<std::string>& runs, const std::string& input, const std::string& out,
             const PredictOptions& options = {}, const std::vector<std::string>& overrides = {});

// Predicts the cases in the folder `watched` and those that arrive there, until a signal (Ctrl-C) ends it
// with Exit::interrupted; networks are loaded once. A case is predicted when its files did not change for
// `settle_seconds`, and again when they change. Cases that an earlier call predicted are left out. `runs`
// that are not averaged need options.ensemble.
void predict_arriving(const std::vector<std::string>& runs, const std::string& watched,
                      const std::string& out, const PredictOptions& options = {},
                      const std::vector<std::string>& overrides = {}, double settle_seconds = 10);

// Memory and time of predict() with these arguments, without predicting. Measures passes of each network.
struct PredictionForecast {
  std::size_t cases = 0, networks = 0;
  std::int64_t passes =
      0;  // of all networks that predict together, in the largest case: windows and mirrorings
  // Peaks: of the networks' memory plans, of further host memory, and of scratch files.
  std::int64_t device_bytes = 0, host_bytes = 0, disk_bytes = 0;
  double case_seconds = 0;  // all passes of the largest case
};
PredictionForecast forecast_prediction(const std::vector<std::string>& runs, const std::string& input,
                                       const PredictOptions& options = {},
                                       const std::vector<std::string>& overrides = {});

// An image in memory.
struct ImageView {
  const float* voxels = nullptr;       // C,D,H,W: x fastest
  std::int64_t channels = 0;           // in the order of the network's channels
  std::array<std::int64_t, 3> size{};  // voxels x, y, z
  // Maps voxel indices to millimetres right, anterior and superior, as in NIfTI: row-major, 3 x 4.
  std::array<double, 12> affine{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
};

struct LabelledImage {
  std::vector<std::int16_t> labels;  // D,H,W, on the image's own grid
  std::vector<float> probabilities;  // outputs,D,H,W on the same grid; empty unless requested
};

// Networks of finished runs, loaded once, for images in memory. Results equal those of predict() for a file
// with the same voxels. Several threads may call predict(); one of them computes at a time, on all cores.
class Network {
 public:
  // `runs`: as for predict(), or results folders of nnU-Net 2. Options about files are ignored. Averages the
  // repeats of a run. Overrides: memory.budget, memory.host and memory.disk, by default in the folder for
  // temporary files.
  explicit Network(const std::vector<std::string>& runs, const PredictOptions& options = {},
                   const std::vector<std::string>& overrides = {});
  ~Network();
  Network(Network&&) noexcept;
  Network& operator=(Network&&) noexcept;

  const std::vector<std::string>& channels() const;
  const std::vector<std::pair<std::string, int>>& labels() const;  // names and values
  const std::vector<std::string>& outputs() const;                 // names of the probabilities

  // Throws Exit::bad_data for an image with another number of channels, without voxels, or with voxels that
  // are not finite.
  LabelledImage predict(const ImageView& image);
  // Writes the result to buffers of the caller; `probabilities` may be null.
  void predict(const ImageView& image, std::int16_t* labels, float* probabilities);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace voxswap
