// What the verbs on a stopped store have in common.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/cli.h"
#include "store/sqlite/sqlite_store.h"
#include "store/sqlite/transfer.h"
#include "store/verify.h"

namespace pawl::cli {

// Of a directory that has a store already.
Result<std::unique_ptr<SqliteStore>> open_existing_store(const std::string& directory,
                                                         const Surroundings& surroundings);
SqliteOptions store_options(const std::string& directory, const Surroundings& surroundings);

// On one line that is written over and over, for people only.
TransferProgress progress_line(const std::string& what, const Surroundings& surroundings);
void end_progress_line(const Surroundings& surroundings);

std::string text_of(const Violation& violation);
void print_violations(const std::vector<Violation>& violations, std::ostream& out);
std::string violations_json(const std::vector<Violation>& violations);

// What a restore or an import has to say.
ExitCode print_restored(const Restored& restored, const std::string& from,
                        const std::string& directory, bool json, const Surroundings& surroundings);

}  // namespace pawl::cli
