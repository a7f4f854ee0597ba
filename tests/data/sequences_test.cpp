// Series names from real scanners and hospitals. The meaning of each is stated in its test.
#include "data/layouts/sequences.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace voxswap::data {
namespace {

std::string sequence_text(const std::string& name) {
  const SequenceName found = sequence_of(name);
  return found.certain ? join(found.could_be, "/") : "unclear: " + join(found.could_be, "/");
}

// For comma-separated names.
void expect_all(const std::string& sequence, const std::string& names) {
  for (const std::string& name : split(names, ',')) EXPECT_EQ(sequence_text(trim(name)), sequence) << name;
}

TEST(Sequences, WithoutContrastAreT1WhateverWordSaysSo) {
  expect_all("t1",
             "T1, t1n, T1w, T1 PRE-CONTRAST, T1 without contrast, T1 non-contrast, T1 no Gd, T1 pre Gad, "
             "T1 C-, T1C-, C- T1, AX T1 (-C), AX T1 FLAIR, T1FLAIR sag, T1pre_reg, T1 W/O CONTRAST, "
             "T1 wo, T1 noncon, T1 precontrast, T1_vor_KM, T1 ohne KM, T1 nativ, T1 sans gado, "
             "T1 senza mdc, MPRAGE, MP-RAGE, 3D BRAVO, Sag SPGR, FSPGR 3D pre, t1_mpr_sag_iso, t1_se_tra, "
             "AXT1, SAG 3D T1 w/o iv contrast, T1 POST-OP, T1 preop, T1 w/o fs, t1_tse_fs");
}

TEST(Sequences, WithContrastAreT1ceWhateverWordSaysSo) {
  expect_all("t1ce",
             "T1ce, t1c, T1Gd, T1 gd, T1post, T1 POST, T1+C, T1 + C, T1 C+, AX T1 +C FS, "
             "ax T1 TSE +C gadovist, T1 POST GAD, T1 GADO, T1 KM, T1 nach KM, t1_mpr_km, MPRAGE CE, "
             "BRAVO +C, SPGR POST, T1 with contrast, T1 w contrast, T1 postcontrast, T1 FLAIR +C, "
             "T1 post op +C, T1w CE, AX T1 dotarem, T1 enhanced, Ax T1 C");
}

TEST(Sequences, AreT2AndFlair) {
  expect_all("t2", "T2, T2w, AX T2 FSE, t2_tse_tra, T2 FS POST GAD, SAG T2 CUBE");
  expect_all("flair",
             "FLAIR, T2 FLAIR, t2f, T2FLAIR, AX T2 FLAIR, t2_space_dark-fluid_sag, "
             "t2_tirm_tra_dark-fluid, FLAIR +C, 3D CUBE T2 FLAIR");
}

TEST(Sequences, OfOtherKindsAreNone) {
  expect_all("",
             "localizer, ep2d_diff_3scan_trace_p2, ADC, T2*, T2 star GRE, T2* GRE, SWI, T1 map, T1rho, "
             "DCE T1, T1 perfusion, phase contrast, TOF 3D, T1 SUB, T2 STIR, 0003, AX PD, set1, unit2, "
             "scan, post-processed");
}

TEST(Sequences, ThatAreAmbiguousAreNotDecided) {
  expect_all("unclear: t1/t1ce",
             "T1-C, T1 PRE AND POST GAD, T1 W/WO, T1 +/- C, T1 with and without contrast, T1 WAW, "
             "T1 post - pre");
  expect_all("unclear: t1/t1ce/t2", "T1 T2, T1/T2 dual");
  expect_all("unclear: t2", "PD/T2, AX T2 PD");
  expect_all("unclear: t1ce", "AX POST GAD, +C 3D");
}

TEST(Sequences, AreRecognisedByFolderAndDescriptionTogether) {
  EXPECT_TRUE(sequence_of("t1ce", "whatever T2").exact);
  EXPECT_EQ(sequence_of("0003", "AX T1 POST").could_be, (std::vector<std::string>{"t1ce"}));
  EXPECT_EQ(sequence_of("AX_T1", "").could_be, (std::vector<std::string>{"t1"}));
  const SequenceName both = sequence_of("AX_T1", "AX T1 POST GAD");
  EXPECT_FALSE(both.certain);
  EXPECT_EQ(both.could_be, (std::vector<std::string>{"t1ce", "t1"}));
  EXPECT_EQ(both.why, "its folder and its description name different sequences");
  EXPECT_FALSE(sequence_of("5_ax_t1", "AX T1").exact);
}

}  // namespace
}  // namespace voxswap::data
