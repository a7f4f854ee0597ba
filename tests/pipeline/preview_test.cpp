// Tests the sheet of prepared and augmented cases, and its caption.
#include "pipeline/cases/preview.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
#include "data/decoders/raster.h"
#include "data/phantoms/phantom.h"
#include "data/volumes/picture.h"
#include "tests/expect.h"
#include "tests/folder.h"

namespace voxswap::pipeline {
namespace {

class Previews : public test::InAFolder {
 protected:
  void SetUp() override {
    data::write_phantoms({.out = folder_ / "phantom", .cases = 3, .size = {16, 16, 16}, .seed = 3});
    experiment_.data.root = folder_ / "phantom";
    experiment_.preprocess.resolution = {12, 12, 12};
  }

  data::PngPixels sheet(const PreviewOptions& what, const std::string& name) const {
    preview(experiment_, what, folder_ / name);
    return data::read_png(folder_ / name, data::PngPart::header, data::RasterMeaning::brightness);
  }

  Experiment experiment_;
};

TEST_F(Previews, HaveAColumnPerEpochAndABlockPerCase) {
  const auto small = sheet({.cases = 1, .epochs = 2}, "a.png"),
             wide = sheet({.cases = 1, .epochs = 4}, "b.png"),
             tall = sheet({.cases = 2, .epochs = 2}, "c.png");
  EXPECT_GT(wide.width, small.width);
  EXPECT_EQ(tall.width, small.width);
  EXPECT_GT(tall.height, 3 * small.height / 2);
}

TEST_F(Previews, ShowTheAugmentationOfTheSeed) {
  sheet({.cases = 1, .epochs = 2}, "a.png");
  sheet({.cases = 1, .epochs = 2}, "again.png");
  experiment_.training.seed = 2;
  sheet({.cases = 1, .epochs = 2}, "other.png");
  EXPECT_EQ(read_file(folder_ / "a.png"), read_file(folder_ / "again.png"));
  EXPECT_NE(read_file(folder_ / "a.png"), read_file(folder_ / "other.png"));
}

TEST_F(Previews, RefuseACaseThatIsNotThere) {
  test::expect_failure([&] { preview(experiment_, {.case_names = {"BraTS2021_0000"}}, folder_ / "x.png"); },
                       Exit::usage, {"Did you mean 'BraTS2021_0000"});
}

TEST_F(Previews, SayInWordsWhatTheirRowsColumnsAndColoursAre) {
  experiment_.training.augment.symmetries = true;
  const std::string caption = preview(experiment_, {.cases = 1, .epochs = 1}, folder_ / "a.png");
  EXPECT_EQ(data::png_text(read_file(folder_ / "a.png"), "Description"), caption);
  EXPECT_TRUE(test::contains(caption, "BraTS2021_0000", ", rows from the top: t1, t1ce, t2, flair\n",
                             "column 1: as prepared\n",
                             "column 2: epoch 1: ", "Outlines: whole_tumor orange, tumor_core sky blue"));
}

}  // namespace
}  // namespace voxswap::pipeline
