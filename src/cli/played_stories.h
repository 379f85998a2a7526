// Played scenarios on the command line.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <vector>

#include "simulate/played.h"

namespace pawl::cli {

struct PlayedStory {
  std::string path;  // of the file that the scenario stands in
  Played played;
};

std::size_t passed_of(const std::vector<PlayedStory>& stories);

// For people; each ends with its differences, all with how many passed. Quiet: without timelines.
void print_timelines(const std::vector<PlayedStory>& stories, bool quiet, std::ostream& out);

// As Mermaid pictures; what else there is to say stands in comments.
void print_gantt(const std::vector<PlayedStory>& stories, std::ostream& out);

// As one JSON object, with the pictures when they are asked for.
void print_json(const std::vector<PlayedStory>& stories, bool gantt, std::ostream& out);

}  // namespace pawl::cli
