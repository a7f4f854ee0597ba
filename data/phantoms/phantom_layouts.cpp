#include "data/phantoms/phantom_layouts.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/keys.h"
#include "data/formats/bids_writing.h"
#include "data/formats/dicom_writing.h"
#include "data/formats/image_writing.h"
#include "data/formats/raster_writing.h"

namespace voxswap::data {

namespace {

using Values = std::array<std::int16_t, 5>;  // new values of the labels 0 to 4

constexpr std::array<const char*, 4> modalities = {"t1", "t1ce", "t2", "flair"};  // channels of phantom()
constexpr Values same_values = {0, 1, 2, 0, 4};
constexpr Values values_since_2023 = {0, 1, 2, 0, 3};

LabelMap relabelled(const LabelMap& truth, const Values& values) {
  LabelMap result = truth;
  for (std::int16_t& label : result.voxels) label = values[static_cast<std::size_t>(label)];
  return result;
}

void make_folder_of(const fs::path& file) {
  make_directories(file.parent_path());
}

// --- One file per channel and one for the ground truth, named after the case

struct Naming {
  const char* name;
  std::string looks_like;
  fs::path (*stem)(int index);          // common start of all file names, without suffix
  std::array<const char*, 5> suffixes;  // t1, t1ce, t2, flair, truth
  Values values;
};

fs::path in_folder(const std::string& id, const std::string& above = "") {
  return fs::path(above) / id / id;
}
std::string grade(int index) {
  return index % 2 == 0 ? "HGG" : "LGG";
}

const std::array<Naming, 8> namings{{
    {"brats2017",
     "HGG/Brats17_TCIA_000_1/Brats17_TCIA_000_1_t1.nii.gz",
     [](int i) { return in_folder(format("Brats17_TCIA_{:03}_1", i), grade(i)); },
     {"_t1.nii.gz", "_t1ce.nii.gz", "_t2.nii.gz", "_flair.nii.gz", "_seg.nii.gz"},
     same_values},
    {"brats2018",
     "as brats, uncompressed: …_t1.nii",
     [](int i) { return in_folder(format("Brats18_TCIA_{:03}_1", i), grade(i)); },
     {"_t1.nii", "_t1ce.nii", "_t2.nii", "_flair.nii", "_seg.nii"},
     same_values},
    {"brats2020",
     "BraTS20_Training_001/BraTS20_Training_001_t1.nii",
     [](int i) { return in_folder(format("BraTS20_Training_{:03}", i + 1)); },
     {"_t1.nii", "_t1ce.nii", "_t2.nii", "_flair.nii", "_seg.nii"},
     same_values},
    {"brats2021",
     "BraTS2021_00000/BraTS2021_00000_t1.nii.gz",
     [](int i) { return in_folder(format("BraTS2021_{:05}", i)); },
     {"_t1.nii.gz", "_t1ce.nii.gz", "_t2.nii.gz", "_flair.nii.gz", "_seg.nii.gz"},
     same_values},
    {"brats2023",
     "BraTS-GLI-00000-000/BraTS-GLI-00000-000-t1n.nii.gz; enhancing tumour is 3",
     [](int i) { return in_folder(format("BraTS-GLI-{:05}-000", i)); },
     {"-t1n.nii.gz", "-t1c.nii.gz", "-t2w.nii.gz", "-t2f.nii.gz", "-seg.nii.gz"},
     values_since_2023},
    {"brats2024",
     "BraTS-GLI-00000-100/…, follow-up scans",
     [](int i) { return in_folder(format("BraTS-GLI-{:05}-100", i)); },
     {"-t1n.nii.gz", "-t1c.nii.gz", "-t2w.nii.gz", "-t2f.nii.gz", "-seg.nii.gz"},
     values_since_2023},
    {"nrrd",
     format("phantom_000/t1.nrrd, for patterns in {}", key::data_files),
     [](int i) { return fs::path(format("phantom_{:03}/", i)); },
     {"t1.nrrd", "t1ce.nrrd", "t2.nrrd", "flair.nrrd", "truth.nrrd"},
     same_values},
    {"mha",
     format("phantom_000/t1.mha, for patterns in {}", key::data_files),
     [](int i) { return fs::path(format("phantom_{:03}/", i)); },
     {"t1.mha", "t1ce.mha", "t2.mha", "flair.mha", "truth.mha"},
     same_values},
}};

std::vector<fs::path> named_files(const Naming& naming, int index) {
  std::vector<fs::path> files;
  for (const char* suffix : naming.suffixes) files.push_back(naming.stem(index) += suffix);
  return files;
}

PhantomLayout file_per_channel(const Naming& naming) {
  const auto files = [&naming](const PhantomOptions&, int index) { return named_files(naming, index); };
  const auto write = [&naming](const fs::path& root, int index, const Volume& volume) {
    const std::vector<fs::path> paths = named_files(naming, index);
    make_folder_of(root / paths[0]);
    for (std::size_t m = 0; m < modalities.size(); ++m) write_image(root / paths[m], volume.channels[m]);
    write_label_map(root / paths.back(), relabelled(volume.truth, naming.values));
  };
  return {naming.name, naming.looks_like, files, write, {}};
}

// --- BIDS: images by subject, ground truth as a derivative

std::vector<fs::path> bids_files(const PhantomOptions&, int index) {
  const std::string id = format("sub-{:03}", index);
  std::vector<fs::path> files;
  for (const char* name : {"T1w", "ce-gadolinium_T1w", "T2w", "FLAIR"})
    files.push_back(fs::path(id) / "anat" / format("{}_{}.nii.gz", id, name));
  files.push_back(fs::path("derivatives/truth") / id / "anat" / format("{}_dseg.nii.gz", id));
  if (index > 0) return files;
  for (const char* name : {"dataset_description.json", "README", "derivatives/truth/dataset_description.json",
                           "derivatives/truth/dseg.tsv", ".bidsignore"})
    files.emplace_back(name);  // once per data set
  return files;
}

void write_bids_case(const fs::path& root, int index, const Volume& volume) {
  const std::vector<fs::path> files = bids_files({}, index);
  for (std::size_t m = 0; m < modalities.size(); ++m) {
    make_folder_of(root / files[m]);
    write_image(root / files[m], volume.channels[m]);
  }
  make_folder_of(root / files[4]);
  write_label_map(root / files[4], volume.truth);
  if (index > 0) return;
  const std::array<std::string, 5> texts = {
      bids_description("Brain phantoms"), "Synthetic brain phantoms, not images of a person.\n",
      bids_description("True labels", "phantom", "1"),
      bids_labels({{"necrosis", 1}, {"oedema", 2}, {"enhancing", 4}}), "phantom.json\n"};
  for (std::size_t i = 0; i < texts.size(); ++i) write_file(root / files[5 + i], texts[i]);
}

// --- The Decathlon's Task01_BrainTumour, with its own order of channels and labels

constexpr std::array<std::size_t, 4> msd_channels = {3, 0, 1, 2};  // FLAIR, T1w, t1gd, T2w
constexpr Values msd_values = {0, 2, 1, 0, 3};

std::vector<fs::path> msd_files(const PhantomOptions&, int index) {
  const std::string name = format("BRATS_{:03}.nii.gz", index + 1);
  return {fs::path("imagesTr") / name, fs::path("labelsTr") / name};
}

void write_msd_case(const fs::path& root, int index, const Volume& volume) {
  const std::vector<fs::path> files = msd_files({}, index);
  for (const fs::path& file : files) make_folder_of(root / file);
  std::vector<Image> channels;
  for (const std::size_t source : msd_channels) channels.push_back(volume.channels[source]);
  write_images_4d(root / files[0], channels);
  write_label_map(root / files[1], relabelled(volume.truth, msd_values));
}

std::string msd_description(const PhantomOptions& options) {
  Json json = {
      {"name", "phantoms"},
      {"description",
       "Synthetic brain tumours laid out as Task01_BrainTumour of the Medical Segmentation Decathlon"},
      {"tensorImageSize", "4D"},
      {"modality", {{"0", "FLAIR"}, {"1", "T1w"}, {"2", "t1gd"}, {"3", "T2w"}}},
      {"labels",
       {{"0", "background"}, {"1", "edema"}, {"2", "non-enhancing tumor"}, {"3", "enhancing tumour"}}},
      {"numTraining", options.cases},
      {"numTest", 0},
      {"training", Json::array()},
      {"test", Json::array()}};
  for (int i = 0; i < options.cases; ++i) {
    const std::vector<fs::path> files = msd_files(options, i);
    json["training"].push_back({{"image", "./" + files[0].string()}, {"label", "./" + files[1].string()}});
  }
  return json.dump(2) + "\n";
}

// --- The same folders with one CT image per subject

void write_ct_case(const fs::path& root, int index, const Volume& volume) {
  const std::vector<fs::path> files = msd_files({}, index);
  for (const fs::path& file : files) make_folder_of(root / file);
  write_image(root / files[0], hounsfield(volume));
  write_label_map(root / files[1], relabelled(volume.truth, {0, 2, 1, 0, 2}));
}

std::string ct_description(const PhantomOptions& options) {
  Json json = checked_json(msd_description(options));
  json["description"] = "Synthetic brain tumours on CT laid out as the Medical Segmentation Decathlon";
  json["tensorImageSize"] = "3D";
  json["modality"] = {{"0", "CT"}};
  json["labels"] = {{"0", "background"}, {"1", "edema"}, {"2", "tumor"}};
  return json.dump(2) + "\n";
}

// --- nnU-Net, with regions

std::vector<fs::path> nnunet_files(const PhantomOptions&, int index) {
  const std::string id = format("PHANTOM_{:03}", index);
  std::vector<fs::path> files;
  for (std::size_t m = 0; m < modalities.size(); ++m)
    files.push_back(fs::path("imagesTr") / format("{}_{:04}.nii.gz", id, m));
  files.push_back(fs::path("labelsTr") / (id + ".nii.gz"));
  return files;
}

void write_nnunet_case(const fs::path& root, int index, const Volume& volume) {
  const std::vector<fs::path> files = nnunet_files({}, index);
  for (const fs::path& file : files) make_folder_of(root / file);
  for (std::size_t m = 0; m < modalities.size(); ++m) write_image(root / files[m], volume.channels[m]);
  write_label_map(root / files.back(), relabelled(volume.truth, values_since_2023));
}

std::string nnunet_description(const PhantomOptions& options) {
  const Json json = {
      {"name", "phantoms"},
      {"channel_names", {{"0", "T1"}, {"1", "T1ce"}, {"2", "T2"}, {"3", "FLAIR"}}},
      {"labels",
       {{"background", 0}, {"whole_tumor", {1, 2, 3}}, {"tumor_core", {1, 3}}, {"enhancing_tumor", {3}}}},
      {"regions_class_order", {2, 1, 3}},
      {"numTraining", options.cases},
      {"file_ending", ".nii.gz"}};
  return json.dump(2) + "\n";
}

// --- One folder of DICOM slices per series

fs::path dicom_case(int index) {
  return format("phantom_{:03}", index);
}

std::vector<fs::path> dicom_layout_files(const PhantomOptions& options, int index) {
  std::vector<fs::path> files;
  for (const char* modality : modalities) {
    for (const std::string& name : dicom_names(options.size[2]))
      files.push_back(dicom_case(index) / modality / name);
  }
  files.push_back(dicom_case(index) / "seg.nii.gz");
  return files;
}

void write_dicom_case(const fs::path& root, int index, const Volume& volume) {
  for (std::size_t m = 0; m < modalities.size(); ++m) {
    const fs::path folder = root / dicom_case(index) / modalities[m];
    make_directories(folder);
    write_dicom(folder, volume.channels[m], modalities[m], format("{}.{}", index + 1, m + 1));
  }
  write_label_map(root / dicom_case(index) / "seg.nii.gz", volume.truth);
}

// --- Axial slices as 2D images

template <class T>
Grid<T> plane_of(const Grid<T>& volume, std::int64_t z) {
  const auto voxels = static_cast<std::ptrdiff_t>(volume.geometry.size[0] * volume.geometry.size[1]);
  Grid<T> plane;
  plane.geometry.size = {volume.geometry.size[0], volume.geometry.size[1], 1};
  plane.voxels.assign(volume.voxels.begin() + z * voxels, volume.voxels.begin() + (z + 1) * voxels);
  return plane;
}

// The slice with most tumour, or the tumour-free slice with most brain.
std::int64_t slice_of(const Volume& volume, bool with_tumour) {
  const auto count = [](const auto& plane) {
    return std::count_if(plane.voxels.begin(), plane.voxels.end(), [](auto value) { return value != 0; });
  };
  std::int64_t best = 0, most = -1;
  for (std::int64_t z = 0; z < volume.geometry().size[2]; ++z) {
    const std::int64_t tumour = count(plane_of(volume.truth, z));
    if (!with_tumour && tumour > 0) continue;
    const std::int64_t found = with_tumour ? tumour : count(plane_of(volume.channels[0], z));
    if (found > most) std::tie(best, most) = std::pair(z, found);
  }
  return best;
}

void write_slice(const fs::path& path, const Volume& volume, const std::vector<std::size_t>& channels,
                 std::int64_t z) {
  make_folder_of(path);
  std::vector<Image> planes;
  std::vector<float> white;
  for (const std::size_t c : channels) {
    const std::vector<float>& voxels = volume.channels[c].voxels;
    white.push_back(*std::max_element(voxels.begin(), voxels.end()));
    planes.push_back(plane_of(volume.channels[c], z));
  }
  write_raster_image(path, planes, white);
}

std::vector<fs::path> mask_files(const PhantomOptions&, int index) {
  const std::string name = format("phantom_{:03}.png", index);
  return {fs::path("images") / name, fs::path("masks") / name};
}

void write_masks_case(const fs::path& root, int index, const Volume& volume) {
  const std::vector<fs::path> files = mask_files({}, index);
  const std::int64_t z = slice_of(volume, /*with_tumour=*/true);
  write_slice(root / files[0], volume, {1, 2, 3}, z);
  make_folder_of(root / files[1]);
  write_label_map(root / files[1], plane_of(volume.truth, z));
}

bool has_tumour(int index) {
  return index % 2 == 0;
}

std::vector<fs::path> class_files(const PhantomOptions&, int index) {
  return {fs::path(has_tumour(index) ? "tumor" : "healthy") / format("phantom_{:03}.png", index)};
}

void write_classes_case(const fs::path& root, int index, const Volume& volume) {
  write_slice(root / class_files({}, index)[0], volume, {3}, slice_of(volume, has_tumour(index)));
}

}  // namespace

std::span<const PhantomLayout> phantom_layouts() {
  static const std::vector<PhantomLayout> table = [] {
    std::vector<PhantomLayout> rows;
    for (const Naming& naming : namings) rows.push_back(file_per_channel(naming));
    rows.push_back({"msd",
                    "imagesTr/BRATS_001.nii.gz in 4D, labelsTr and dataset.json, as Task01_BrainTumour",
                    msd_files, write_msd_case, msd_description});
    rows.push_back({"ct", "as msd, with one CT image in Hounsfield units instead of four sequences",
                    msd_files, write_ct_case, ct_description,
                    /*of_slices=*/false,
                    /*of_ct=*/true});
    rows.push_back({"nnunet", "imagesTr/PHANTOM_000_0000.nii.gz, labelsTr and dataset.json with regions",
                    nnunet_files, write_nnunet_case, nnunet_description});
    rows.push_back({"bids",
                    "sub-000/anat/sub-000_T1w.nii.gz, and labels in derivatives/truth",
                    bids_files,
                    write_bids_case,
                    {}});
    rows.push_back({"dicom",
                    "phantom_000/t1/*.dcm and phantom_000/seg.nii.gz",
                    dicom_layout_files,
                    write_dicom_case,
                    {}});
    rows.push_back({"masks",
                    "images/phantom_000.png, an axial slice in red (t1ce), green (t2) and blue (flair), and "
                    "masks/phantom_000.png",
                    mask_files,
                    write_masks_case,
                    {},
                    /*of_slices=*/true});
    rows.push_back({"classes",
                    "tumor/phantom_000.png and healthy/phantom_001.png, axial slices of flair",
                    class_files,
                    write_classes_case,
                    {},
                    /*of_slices=*/true});
    return rows;
  }();
  return table;
}

const PhantomLayout& phantom_layout(const std::string& name) {
  std::vector<std::string> names;
  for (const PhantomLayout& layout : phantom_layouts()) {
    if (name == layout.name) return layout;
    names.push_back(layout.name);
  }
  fail(Exit::usage, "--layout: expected one of {1}, found '{0}'", name, join(names, ", "));
}

}  // namespace voxswap::data
