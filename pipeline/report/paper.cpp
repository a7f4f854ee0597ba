#include "pipeline/report/paper.h"

#include <cmath>

#include "base/log.h"
#include "base/text.h"

namespace voxswap::pipeline {

namespace {

constexpr double points_per_millimetre = 72 / 25.4, letters_points = 7, least_points = 5;

}  // namespace

std::vector<NamedPicture> draw_pictures(const ReportParts& parts, int width) {
  std::vector<NamedPicture> pictures;
  const auto add = [&](const char* name, Picture picture) {
    if (!picture.svg.empty()) pictures.push_back({name, std::move(picture)});
  };
  if (!parts.dice.empty()) add("dice", dice_plot(parts.boxes, parts.groups, width));
  add("pareto", pareto_plot(parts.ranking, parts.timing, parts.groups, width));
  if (!parts.dice.empty()) add("boxplot", box_plot(parts.boxes, parts.groups, width));
  if (!parts.epochs.empty()) add("epochs", epochs_plot(parts.epochs, parts.validation, parts.groups, width));
  if (!parts.validation.empty()) add("validation", validation_plot(parts.validation, parts.groups, width));
  add("reliability", reliability_plot(parts.reliability, parts.groups, width));
  add("timing", timing_plot(parts.timing, parts.groups, width));
  if (!parts.memory.empty()) add("memory", memory_plot(parts.memory, parts.groups, width));
  return pictures;
}

void write_paper(const ReportParts& parts, const Paper& paper, const Outputs& outputs) {
  make_writable_directory(paper.folder);
  const auto write = [&](const std::string& name, const std::string& content) {
    const fs::path file = paper.folder / name;
    outputs.write(file, [&] { write_file(file, content); });
  };
  const double points = paper.width_millimetres * points_per_millimetre;
  const int width = static_cast<int>(std::lround(points / letters_points * letter_height));
  for (const auto& [name, picture] : draw_pictures(parts, width)) {
    const PaperPicture drawn = draw_for_paper(picture, points);
    write(name + ".svg", drawn.svg);
    write(name + ".pdf", drawn.pdf);
    if (const double height = points / picture.width * letter_height; height < least_points)
      log::warn("{}.pdf: its text is {:.1f} points high at this width. Set a larger --width", name, height);
  }
  write("methods.md", paper.methods(parts.runs));
}

}  // namespace voxswap::pipeline
