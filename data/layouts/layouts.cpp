#include "data/layouts/layouts.h"

#include <algorithm>
#include <array>

#include "base/keys.h"
#include "base/text.h"

namespace voxswap::data {

namespace {

// `auto` tries them in this order; explicit patterns come before detection.
const Layout table_of_layouts[] = {
    {"files", format("files that match the patterns in {}", key::data_files), recognise_files, list_files},
    {"brats",
     "one folder per case, named as in BraTS 2017 to 2024, e.g. BraTS2021_00000/BraTS2021_00000_t1.nii.gz",
     recognise_brats, list_brats},
    {"nnunet",
     "dataset.json with channel_names, imagesTr/CASE_0000.nii.gz and labelsTr/CASE.nii.gz, as in nnU-Net",
     recognise_nnunet, list_nnunet},
    {"msd", "dataset.json, imagesTr and labelsTr, as in the Medical Segmentation Decathlon", recognise_msd,
     list_msd},
    {"bids", "one folder per subject with its images in anat, as in BIDS, e.g. sub-01/anat/sub-01_T1w.nii.gz",
     recognise_bids, list_bids},
    {"dicom", "one folder per case, one folder of DICOM slices per series, e.g. patient/t1", recognise_dicom,
     list_dicom},
    {"masks", "2D images (PNG, TIFF, JPEG) in images, and masks with the same names in masks",
     recognise_masks, list_masks},
    {"classes", "one folder of 2D images per class, e.g. benign/001.png, malignant/001.png",
     recognise_classes, list_classes},
};

}  // namespace

std::span<const Layout> layouts() {
  return table_of_layouts;
}

}  // namespace voxswap::data
