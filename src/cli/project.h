// The templates of `wasinn new`: folders PREFIX/share/wasinn/new/LANG[-component][-serve or -text] of files, and template.json with
// what programs in that language need. It may name another template as its "base", whose settings it changes.
#pragma once

#include <expected>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>
#include <wasinn/wasinn.hpp>

#include "cli/diagnosis.h"

namespace wasinn::cli {

struct ProjectModel {
  std::string name;  // by which the guest loads it
  std::string path;  // as the build file has it
  Signature signature;
};

struct Project {
  std::map<std::filesystem::path, std::string> files;  // what is to be written; a path relative to the project's folder
  std::map<std::filesystem::path, std::filesystem::path>
      copies;  // files and folders of the kit that come along, by where
};

// "c", "c++-text", "c-component", "go-serve", …
std::vector<std::string> TemplateNames();

// `command`: how its build file calls wasinn. Error: a type of the model that the language cannot pass, or a broken
// installation. Outputs that are texts are left out.
std::expected<Project, std::string> MakeProject(const std::string& template_name, const std::string& name,
                                                const ProjectModel& model, const std::string& command);

// The programs that build projects of one template, or of all.
std::vector<Finding> DiagnoseGuests(const std::string& template_name);
std::vector<Finding> DiagnoseGuests();

}  // namespace wasinn::cli
