// File names and messages of image formats: what reading and writing share.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>

namespace voxswap {

bool has_extension(const std::filesystem::path& path, std::initializer_list<std::string_view> extensions);
bool is_nifti(const std::filesystem::path& path);
bool is_raw_image(const std::filesystem::path& path);  // NRRD and MetaImage

// The name without its extension when it is that of a NIfTI, NRRD or MetaImage file; else empty.
std::string image_stem(const std::string& name);

// What an exception of ITK says, without its decoration ("ITK ERROR: NiftiImageIO(0x55…): …") and in one
// line.
std::string plain_message(std::string text);

}  // namespace voxswap
