#include <algorithm>
#include <numeric>
#include <regex>
#include <set>

#include "base/csv.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "base/keys.h"
#include "base/log.h"
#include "base/parallel.h"
#include "base/philox.h"
#include "base/text.h"
#include "data/formats/dicom.h"
#include "data/formats/image_io.h"
#include "pipeline/cases/split.h"

namespace voxswap::pipeline {

namespace {

constexpr const char* place_of_patient = "{patient}";

// Reads a column of the table, keyed by case.
std::map<std::string, std::string> column_of(const SplitOptions& options, const std::string& name) {
  const std::string where = options.table.string();
  const Csv csv = read_csv(options.table);
  const std::size_t id = csv.column("case", where), column = csv.column(name, where);
  std::map<std::string, std::string> values;
  for (const auto& row : csv.rows) values[row[id]] = row[column];
  return values;
}

const std::string& value_of(const std::map<std::string, std::string>& column, const std::string& id,
                            const SplitOptions& options) {
  const auto found = column.find(id);
  if (found == column.end())
    fail(Exit::bad_data, "{}: has no row for the case '{}'", options.table.string(), id);
  return found->second;
}

// * matches anything, ? one character.
std::regex regex_of(const std::string& pattern) {
  std::string text;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern.compare(i, std::string(place_of_patient).size(), place_of_patient) == 0) {
      text += "(.+?)";
      i += std::string(place_of_patient).size() - 1;
    } else if (pattern[i] == '*') {
      text += ".*";
    } else if (pattern[i] == '?') {
      text += ".";
    } else {
      if (std::string("^$\\.+()[]{}|").find(pattern[i]) != std::string::npos) text += '\\';
      text += pattern[i];
    }
  }
  return std::regex(text);
}

std::map<std::string, std::string> patients_by_name(const data::Dataset& dataset,
                                                    const std::string& pattern) {
  const std::regex regex = regex_of(pattern);
  std::map<std::string, std::string> patients;
  for (const data::CaseFiles& files : dataset.cases) {
    std::smatch match;
    if (!std::regex_match(files.id, match, regex))
      fail(Exit::usage, "{}: the name of the case '{}' does not match '{}'", key::data_split_patient,
           files.id, pattern);
    patients[files.id] = match[1];
  }
  return patients;
}

// Sessions of BIDS are sub-01_ses-2; follow-ups of BraTS since 2023 are BraTS-GLI-00005-101; a DICOM series
// has a PatientID, which is a person's: the patient is called after the first case in `first_cases` that has
// it. Other cases are patients of their own.
std::string known_patient(const data::CaseFiles& files, std::map<std::string, std::string>& first_cases) {
  static const std::regex known("(?:(sub-[^_]+)_ses-.*|(BraTS-[A-Za-z]+-[0-9]+)-[0-9]+)");
  std::smatch match;
  if (std::regex_match(files.id, match, known)) return match[1].matched ? match[1] : match[2];
  error_code ignored;
  if (files.channels.empty() || !fs::is_directory(files.first_channel(), ignored)) return files.id;
  const std::string number = data::dicom_patient(files.first_channel());
  return number.empty() ? files.id : first_cases.try_emplace(number, files.id).first->second;
}

std::map<std::string, std::string> known_patients(const data::Dataset& dataset, std::size_t parts) {
  std::map<std::string, std::string> patients, first_cases;
  std::set<std::string> labelled;
  std::size_t cases = 0;
  for (const data::CaseFiles& files : dataset.cases) {
    const std::string patient = known_patient(files, first_cases);
    patients[files.id] = patient;
    if (!files.labelled()) continue;
    labelled.insert(patient);
    ++cases;
  }
  const bool anonymised = labelled.size() == 1 && first_cases.size() == 1;  // one PatientID for all
  if (labelled.size() == cases || anonymised) return {};
  if (labelled.size() >= parts) return patients;
  log::warn("{} of {}: too few patients to keep all cases of each in one part, so scores are too high",
            counted(static_cast<std::int64_t>(cases), "case"),
            counted(static_cast<std::int64_t>(labelled.size()), "patient"));
  return {};
}

// A group of cases that stay together.
struct Patient {
  std::vector<std::size_t> cases;
  std::string stratum;
  double foreground = 0;  // mm^3, the mean over the cases
  std::uint32_t random = 0;
};

std::vector<Patient> patients_among(const data::Dataset& dataset, const std::vector<std::size_t>& cases,
                                    const SplitOptions& options) {
  const std::map<std::string, std::string> names = patients_of(dataset, options);
  std::map<std::string, std::size_t> places;
  std::vector<Patient> patients;
  for (const std::size_t index : cases) {
    const std::string& id = dataset.cases[index].id;
    const std::string name = names.empty() ? id : names.at(id);
    const auto [found, fresh] = places.try_emplace(name, patients.size());
    if (fresh) patients.emplace_back();
    patients[found->second].cases.push_back(index);
  }
  return patients;
}

void measure_foreground(const data::Dataset& dataset, std::vector<Patient>& patients) {
  parallel_for(patients.size(), [&](std::size_t i) {
    for (const std::size_t index : patients[i].cases) {
      throw_if_interrupted();
      const data::LabelMap truth = data::read_label_map(dataset.cases[index].truth);
      const auto labelled = truth.voxels.size() -
                            static_cast<std::size_t>(std::count(truth.voxels.begin(), truth.voxels.end(), 0));
      const auto& spacing = truth.geometry.spacing;
      patients[i].foreground += static_cast<double>(labelled) * spacing[0] * spacing[1] * spacing[2] /
                                static_cast<double>(patients[i].cases.size());
    }
  });
  std::vector<std::size_t> order(patients.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return patients[a].foreground < patients[b].foreground;
  });
  constexpr std::size_t fifths = 5;
  for (std::size_t i = 0; i < order.size(); ++i)
    patients[order[i]].stratum = std::to_string(i * fifths / order.size());
}

void set_strata(const data::Dataset& dataset, const SplitOptions& options, std::vector<Patient>& patients) {
  if (options.stratify.empty()) return;
  if (options.stratify == SplitOptions::by_foreground) {
    if (dataset.classes)
      fail(Exit::usage, "{}: these images have a class each and no labelled voxels. Name a column",
           key::data_split_stratify);
    return measure_foreground(dataset, patients);
  }
  const std::map<std::string, std::string> column = column_of(options, options.stratify);
  for (Patient& patient : patients)  // the first case decides if they differ
    patient.stratum = value_of(column, dataset.cases[patient.cases.front()].id, options);
}

// Validation cases with folds.
std::vector<std::size_t> of_fold(const std::vector<Patient>& patients, const SplitOptions& options) {
  const auto folds = static_cast<std::size_t>(options.folds);
  std::vector<std::size_t> all(folds, 0), of_stratum(folds, 0), validating;
  for (std::size_t i = 0; i < patients.size(); ++i) {
    if (i == 0 || patients[i].stratum != patients[i - 1].stratum) of_stratum.assign(folds, 0);
    std::size_t least = 0;
    for (std::size_t fold = 1; fold < folds; ++fold)
      if (std::pair(of_stratum[fold], all[fold]) < std::pair(of_stratum[least], all[least])) least = fold;
    all[least] += patients[i].cases.size();
    of_stratum[least] += patients[i].cases.size();
    if (least == static_cast<std::size_t>(options.fold))
      validating.insert(validating.end(), patients[i].cases.begin(), patients[i].cases.end());
  }
  return validating;
}

// Validation cases without folds.
std::vector<std::size_t> of_share(const std::vector<Patient>& patients, const SplitOptions& options) {
  std::vector<std::size_t> validating;
  double seen = 0;
  for (const Patient& patient : patients) {
    const auto cases = static_cast<double>(patient.cases.size());
    seen += cases;
    if (static_cast<double>(validating.size()) + cases / 2 <= options.validation * seen)
      validating.insert(validating.end(), patient.cases.begin(), patient.cases.end());
  }
  if (validating.empty() && patients.size() > 1) validating = patients.front().cases;
  return validating;
}

}  // namespace

std::map<std::string, std::string> patients_of(const data::Dataset& dataset, const SplitOptions& options) {
  if (options.patient.empty()) return {};
  if (options.patient == SplitOptions::known)
    return known_patients(dataset, static_cast<std::size_t>(std::max<std::int64_t>(2, options.folds)));
  if (options.patient.find(place_of_patient) != std::string::npos)
    return patients_by_name(dataset, options.patient);
  const std::map<std::string, std::string> column = column_of(options, options.patient);
  std::map<std::string, std::string> patients;
  for (const data::CaseFiles& files : dataset.cases)
    if (files.labelled()) patients[files.id] = value_of(column, files.id, options);
  return patients;
}

std::vector<std::size_t> stratified_validation(const data::Dataset& dataset,
                                               const std::vector<std::size_t>& cases,
                                               const SplitOptions& options) {
  std::vector<Patient> patients = patients_among(dataset, cases, options);
  if (options.folds > static_cast<std::int64_t>(patients.size()))
    fail(Exit::bad_data, "{}: {}: {} cannot be divided into {}", dataset.root.string(), key::data_split_folds,
         counted(patients.size(), "patient"), counted(options.folds, "fold"));
  set_strata(dataset, options, patients);
  const Philox random(options.seed, 0x5711);
  for (std::size_t i = 0; i < patients.size(); ++i) patients[i].random = random.word(i);
  // Patients with many cases first, while smaller ones can still balance the parts.
  std::stable_sort(patients.begin(), patients.end(), [](const Patient& a, const Patient& b) {
    if (a.stratum != b.stratum) return a.stratum < b.stratum;
    if (a.cases.size() != b.cases.size()) return a.cases.size() > b.cases.size();
    return a.random < b.random;
  });
  return options.folds > 0 ? of_fold(patients, options) : of_share(patients, options);
}

}  // namespace voxswap::pipeline
