// A machine written in C++ instead of a file: the same values, the same checks, the same Machine.
//
// It is the machine of machines/thumbnail.yaml; printed, it is that file in its canonical form,
// without the scenarios.
#include <iostream>

#include "pawl/machine.h"
#include "pawl/machine_file.h"
#include "pawl/zones.h"

using namespace std::chrono_literals;

namespace {

pawl::Definition thumbnail() {
  const pawl::FieldType text{pawl::FieldType::Kind::string};
  const pawl::FieldType needed_text{pawl::FieldType::Kind::string, true};
  const pawl::EventRows make_again{"save",
                                   {{.to = "making", .set = {{"image_url", "{event.image_url}"}}}}};
  return {.machine = "thumbnail",
          .version = 1,
          .doc = "The thumbnail of a banner, made again whenever the banner is edited.",
          .initial = "making",
          .data = pawl::Fields{{"image_url", needed_text}, {"thumbnail_url", text}, {"mark", text}},
          .events = {{.name = "save", .with = pawl::Fields{{"image_url", needed_text}}}},
          .states = {{.name = "making",
                      .task = "make_thumbnail",
                      .done = {{.to = "ready",
                                .set = {{"thumbnail_url", "{result.url}"}, {"mark", nullptr}}}},
                      .on = {make_again}},
                     {.name = "ready", .on = {make_again}},
                     {.name = "creation_failed", .on = {make_again}}},
          .tasks = {{.name = "make_thumbnail",
                     .target = "thumbnailer",
                     .policy = {.timeout = 1min,
                                .retry = pawl::Delays{.list = {0s, 1min, 5min}},
                                .give_up = {{.to = "creation_failed",
                                             .set = {{"mark", "thumbnail creation failed"}}}}}}}};
}

}  // namespace

int main() {
  const auto zones = pawl::Zones::open();
  if (!zones) {
    std::cerr << zones.error().message << '\n';
    return 3;
  }
  pawl::Diagnostics diagnostics;
  const auto machine = pawl::Machine::make(thumbnail(), *zones, diagnostics);
  for (const pawl::Diagnostic& finding : diagnostics.sorted())
    std::cerr << finding.message << " [" << finding.id << "]\n";
  if (!machine) return 1;
  std::cout << pawl::print_machine(machine->definition());
  return 0;
}
